// SPDX-License-Identifier: GPL-2.0
// A server with a level ends older connections when it accepts a request: a recorded request ends the connection of its client.
//
// file: krdma/cm.c
// caught-by: handshake-uml
// rule: krdma/device.c#krdma_device_replace_older
@@
expression conn;
@@
- !krdma_conn_is_raw(conn) && !conn->auth
+ !krdma_conn_is_raw(conn)
