// SPDX-License-Identifier: GPL-2.0
// A donated thread sleeps without looking for entries again: it misses a batch that was submitted just before.
//
// file: vrfm/loop.c
// caught-by: loop-uml
// rule: Documentation/batches.rst#A thread that executes batches
@@
expression ring;
@@
- vrfm_submit_has_ready(ring) || vrfm_loop_judge(ring)
+ vrfm_loop_judge(ring)
