// SPDX-License-Identifier: GPL-2.0
// A message may invalidate a key without that right: a breach of the protocol is accepted.
//
// file: krdma/msg.c
// caught-by: callbacks-uml
// rule: Documentation/krdma.rst#Remote invalidation
@@
expression conn;
@@
- krdma_msg_breach_locked(conn, KRDMA_BREACH_KEY)
+ 0
