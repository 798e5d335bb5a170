// SPDX-License-Identifier: GPL-2.0
// The prologue lacks the addresses, so two ends that disagree on them are connected.
//
// file: krdma/door.c
// caught-by: kunit-uml
// rule: krdma/door.c#krdma_door_prologue
@@
expression to, ends;
@@
- to = krdma_door_add(to, ends, sizeof(*ends));
