// SPDX-License-Identifier: GPL-2.0
// On siw a long message is sent from the caller's memory, which TCP still references after the call.
//
// file: krdma/quirks.c
// caught-by: rendezvous-uml-siw
// rule: krdma/quirks.c#SENDS_FREED
@@
@@
- return KRDMA_QUIRKS_SIW;
+ return KRDMA_QUIRKS_SIW & ~KRDMA_QUIRK_SENDS_FREED;
