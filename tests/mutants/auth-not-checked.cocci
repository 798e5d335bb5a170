// SPDX-License-Identifier: GPL-2.0
// AUTH is not checked, so a recorded request and any AUTH make a connection.
//
// file: krdma/exchange.c
// caught-by: handshake-uml
// rule: krdma/exchange.c#krdma_msg_prove
@@
expression conn, body, len;
@@
- krdma_auth_read(conn, body, len)
+ (krdma_auth_read(conn, body, len) & 0)
