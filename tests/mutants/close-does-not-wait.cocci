// SPDX-License-Identifier: GPL-2.0
// krdma_close() does not wait for posted requests: messages before the close are lost.
//
// file: krdma/close.c
// caught-by: connection-end-uml
// rule: Documentation/krdma.rst#Results
@@
expression conn;
@@
(
- list_empty(&conn->sq.pending)
+ true
|
- !READ_ONCE(conn->sq.npending)
+ true
|
- READ_ONCE(conn->sq.avail) == conn->limits.send_depth
+ true
)

@@
expression kwr;
@@
- kwr->reserved
+ true
