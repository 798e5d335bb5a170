// SPDX-License-Identifier: GPL-2.0
// The listener accepts the key of the device from a node that has a key of its own.
//
// file: vrfm/security.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#Keys
@@
expression a, b;
@@
vrfm_keys_choose(...)
{
	<...
-	return a ?: b;
+	return b;
	...>
}
