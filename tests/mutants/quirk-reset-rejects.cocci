// SPDX-License-Identifier: GPL-2.0
// On siw a client does not learn why it was rejected.
//
// file: krdma/quirks.c
// caught-by: auth-uml-siw
// rule: krdma/quirks.c#krdma_quirk_reject_data
@@
identifier event;
@@
- event->status != -ECONNRESET
+ event->status
