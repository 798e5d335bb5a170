// SPDX-License-Identifier: GPL-2.0
// On siw a completion also ends earlier READs that are still in flight, and not each work request is signalled.
//
// file: krdma/quirks.c
// caught-by: post-uml-siw
// rule: krdma/quirks.c#LATE_READS
@@
@@
- return KRDMA_QUIRKS_SIW;
+ return KRDMA_QUIRKS_SIW & ~KRDMA_QUIRK_LATE_READS;
