// SPDX-License-Identifier: GPL-2.0
// A disk does not send again the requests that wait when the connection is back.
//
// file: krping/blk_link.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Guarantees
@@
expression link;
@@
- krping_blk_link_resend(link);
