// SPDX-License-Identifier: GPL-2.0
// Two threads execute the batches of a ring.
//
// file: vrfm/loop.c
// caught-by: loop-uml
// rule: Documentation/batches.rst#A thread that executes batches
@@
identifier loop;
@@
- if (!loop->busy) {
+ if (true) {
  ...
  }
