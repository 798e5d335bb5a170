// SPDX-License-Identifier: GPL-2.0
// A server acknowledges a request before it does it, so the result of the request is lost.
//
// file: krping/blk_conn.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Guarantees
@@
expression conn, req, status;
@@
- status = krping_blk_conn_do(conn, req);
+ status = krping_blk_conn_ack(conn, req->seq, 0);
  ...
- return krping_blk_conn_ack(conn, req->seq, status);
+ krping_blk_conn_do(conn, req);
+ return status;
