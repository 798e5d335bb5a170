// SPDX-License-Identifier: GPL-2.0
// A child that closes the ring it has inherited ends the loop of its parent.
//
// file: vrfm/loop.c
// caught-by: loop-uml
// rule: Documentation/batches.rst#A thread that executes batches
@@
expression r, task;
@@
- r->loop.busy && r->loop.owner == task
+ r->loop.busy
