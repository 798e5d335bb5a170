// SPDX-License-Identifier: GPL-2.0
// On siw the two depths of READs are reported the wrong way around.
//
// file: krdma/quirks.c
// caught-by: post-uml-siw
// rule: krdma/quirks.c#SWAPPED_DEPTHS
@@
@@
- return KRDMA_QUIRKS_SIW;
+ return KRDMA_QUIRKS_SIW & ~KRDMA_QUIRK_SWAPPED_DEPTHS;
