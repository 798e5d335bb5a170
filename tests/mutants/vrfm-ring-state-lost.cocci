// SPDX-License-Identifier: GPL-2.0
// The state of a peer is forgotten if the ring is full: a program never gets it.
//
// file: vrfm/sub.c
// caught-by: rings-uml
// rule: Documentation/rings.rst#Overflow
@@
expression links, node;
identifier record, sub;
@@
  record = vrfm_ring_add_locked(sub, VRFM_REC_LINK);
- if (!record)
- 	return;
+ if (!record) {
+ 	__clear_bit(node, links->pending);
+ 	continue;
+ }
  ...
  __clear_bit(node, links->pending);
