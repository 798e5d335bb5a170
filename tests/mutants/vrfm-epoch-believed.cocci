// SPDX-License-Identifier: GPL-2.0
// A connect request that is not proved ends the link of the node that it names.
//
// file: vrfm/peer.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#Keys
@@
@@
vrfm_peer_doubt_locked(...)
{
	<...
-	bool proved = !link->vdev->params.security;
+	bool proved = true;
	...>
}
