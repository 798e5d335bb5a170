// SPDX-License-Identifier: GPL-2.0
// closing() is called before the last messages are delivered.
//
// file: krdma/handshake.c
// caught-by: callbacks-uml
// rule: include/krdma.h#closing
@@
expression conn, rest;
@@
- rest && !(conn->mode->is_busy_locked && conn->mode->is_busy_locked(conn))
+ rest
