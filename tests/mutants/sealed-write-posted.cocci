// SPDX-License-Identifier: GPL-2.0
// krdma_post() takes READs and WRITEs on a connection that seals its messages.
//
// file: krdma/req.c
// caught-by: sealed-uml
// rule: Documentation/krdma.rst#Levels of security
@@
expression conn, req;
@@
- if (krdma_conn_is_sealed(conn) && req->opcode != KRDMA_SEND)
- 	return -EOPNOTSUPP;
