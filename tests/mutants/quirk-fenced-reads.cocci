// SPDX-License-Identifier: GPL-2.0
// On rxe a READ with a fence waits for itself after a spurious timeout.
//
// file: krdma/quirks.c
// caught-by: post-stock-6.1
// rule: krdma/quirks.c#FENCED_READS
@@
@@
- KRDMA_QUIRK_DEAD_RECEIVE | KRDMA_QUIRK_FENCED_READS
+ KRDMA_QUIRK_DEAD_RECEIVE
