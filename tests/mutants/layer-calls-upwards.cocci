// SPDX-License-Identifier: GPL-2.0
// The queue pair calls the layer of requests, which is above it.
//
// file: krdma/qp.c
// caught-by: layers
// rule: Documentation/krdma.rst#How it works inside
@@
expression conn;
@@
- if (conn->mode->drained)
- 	conn->mode->drained(conn);
+ krdma_req_end(conn);
