// SPDX-License-Identifier: GPL-2.0
// Later requests are posted between the parts of a message of krdma_post().
//
// file: krdma/sq.c
// caught-by: post-uml
// rule: Documentation/krdma.rst#How it works inside
@@
expression conn, req;
@@
- if (conn->sq.open_posted && !req->wr.follows) return KRDMA_TURN_STOP;
