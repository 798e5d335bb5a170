// SPDX-License-Identifier: GPL-2.0
// An event enters a ring before the notices that wait for free slots: a program gets it before those of earlier writes.
//
// file: vrfm/sub.c
// caught-by: rings-uml
// rule: Documentation/rings.rst#Notices of writes
@@
identifier record, ring, sub;
@@
- if (vrfm_ring_settle_locked(ring))
- 	record = vrfm_ring_add_locked(sub, VRFM_REC_EVENT);
+ record = vrfm_ring_add_locked(sub, VRFM_REC_EVENT);
