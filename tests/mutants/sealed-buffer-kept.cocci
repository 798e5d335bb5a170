// SPDX-License-Identifier: GPL-2.0
// A transmit buffer is not returned when its message has completed: after 16 messages nothing is sent any more.
//
// file: krdma/sq.c
// caught-by: sealed-uml
// rule: krdma/tx.c#buffers
@@
expression conn, kwr;
@@
- krdma_tx_release_locked(conn, kwr);
