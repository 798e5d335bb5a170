// SPDX-License-Identifier: GPL-2.0
// A link stays although its key was removed.
//
// file: vrfm/security.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#Keys
@@
@@
vrfm_keys_check(...)
{
	<...
-	krdma_disconnect(cb);
	...>
}
