// SPDX-License-Identifier: GPL-2.0
// After a QP of rxe could not move to RTR for lack of memory, the drain waits forever.
//
// file: krdma/quirks.c
// caught-by: alloc-failures-uml-debug
// rule: krdma/quirks.c#DEAD_RECEIVE
@@
@@
- KRDMA_QUIRK_DEAD_RECEIVE | KRDMA_QUIRK_FENCED_READS
+ KRDMA_QUIRK_FENCED_READS
