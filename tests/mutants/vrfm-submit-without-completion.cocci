// SPDX-License-Identifier: GPL-2.0
// The record of a batch is dropped if the ring is full.
//
// file: vrfm/done.c
// caught-by: submit-uml
// rule: Documentation/batches.rst#Submitting through a ring
@@
expression done, ring;
@@
- if (!record)
- 	return false;
+ if (!record) {
+ 	list_move(&done->entry, &ring->dones.idle);
+ 	continue;
+ }
  vrfm_record_done(record, done);
  list_move(&done->entry, &ring->dones.idle);
