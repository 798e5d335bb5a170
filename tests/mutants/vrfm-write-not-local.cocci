// SPDX-License-Identifier: GPL-2.0
// A write is sent to the peers, and does not change the memory of this node: readers here do not see it.
//
// file: vrfm/mem.c
// caught-by: rfm2g-uml
// rule: Documentation/vrfm.rst#G1
@@
expression to;
@@
+ if (own != VRFM_OWN_SET)
  	vrfm_copy(vdev->mem.vaddr + to, ...);
