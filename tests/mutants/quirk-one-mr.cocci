// SPDX-License-Identifier: GPL-2.0
// On siw a WRITE continues in a second MR: siw sends other memory.
//
// file: krdma/quirks.c
// caught-by: regions-uml-siw
// rule: krdma/quirks.c#ONE_MR
@@
@@
- return KRDMA_QUIRKS_SIW;
+ return KRDMA_QUIRKS_SIW & ~KRDMA_QUIRK_ONE_MR;
