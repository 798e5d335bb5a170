// SPDX-License-Identifier: GPL-2.0
// A load begins and nothing looks for a peer that never sends its own words: the load waits without a limit.
//
// file: vrfm/resync.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#Joining
@@
expression link, vdev;
@@
  vrfm_link_say(link, VRFM_SAY_LOADING);
- vrfm_resync_queue_in(vdev, VRFM_RESYNC_RETRY_MS);
