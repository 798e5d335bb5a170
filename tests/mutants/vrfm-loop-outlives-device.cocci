// SPDX-License-Identifier: GPL-2.0
// A donated thread that sleeps does not notice that the device is removed.
//
// file: vrfm/sub.c
// caught-by: loop-uml
// rule: Documentation/batches.rst#A thread that executes batches
@@
expression ring;
@@
- wake_up_all(&ring->submits_wait);
