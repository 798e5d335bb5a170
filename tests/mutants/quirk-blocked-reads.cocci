// SPDX-License-Identifier: GPL-2.0
// On siw READs in flight are not limited, and a fence waits in the adapter: two ends wait for each other.
//
// file: krdma/quirks.c
// caught-by: post-uml-siw
// rule: krdma/quirks.c#BLOCKED_READS
@@
@@
- return KRDMA_QUIRKS_SIW;
+ return KRDMA_QUIRKS_SIW & ~KRDMA_QUIRK_BLOCKED_READS;
