// SPDX-License-Identifier: GPL-2.0
// An image is complete although a peer that loads an image itself has more writes of departed nodes.
//
// file: vrfm/resync.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#Joining
@@
@@
vrfm_resync_check(...)
{
	<...
-	WRITE_ONCE(vdev->resync.incomplete, need != VRFM_RESYNC_NEEDLESS);
+	WRITE_ONCE(vdev->resync.incomplete, need == VRFM_RESYNC_BEGUN);
	...>
}
