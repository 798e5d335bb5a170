// SPDX-License-Identifier: GPL-2.0
// A READ to a peer that serves no READs ends the connection with the errno of siw, which names no reason.
//
// file: krdma/quirks.c
// caught-by: rendezvous-uml-siw
// rule: krdma/quirks.c#KEPT_WR
@@
expression ret;
@@
- ret == -EINVAL ? -EOPNOTSUPP : krdma_quirk_post_errno(ret)
+ krdma_quirk_post_errno(ret)
