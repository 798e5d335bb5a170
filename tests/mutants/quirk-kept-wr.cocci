// SPDX-License-Identifier: GPL-2.0
// On siw a READ that the peer does not serve counts as not posted, although it blocks the send queue.
//
// file: krdma/quirks.c
// caught-by: post-uml-siw
// rule: krdma/quirks.c#KEPT_WR
@@
@@
- return KRDMA_QUIRKS_SIW;
+ return KRDMA_QUIRKS_SIW & ~KRDMA_QUIRK_KEPT_WR;
