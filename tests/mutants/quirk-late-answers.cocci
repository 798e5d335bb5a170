// SPDX-License-Identifier: GPL-2.0
// On siw MRs are freed without waiting for invalidation: the peer still reads freed memory.
//
// file: krdma/quirks.c
// caught-by: rendezvous-uml-siw
// rule: krdma/quirks.c#LATE_ANSWERS
@@
@@
- return KRDMA_QUIRKS_SIW;
+ return KRDMA_QUIRKS_SIW & ~KRDMA_QUIRK_LATE_ANSWERS;
