// SPDX-License-Identifier: GPL-2.0
// A write with immediate data, which has no tag, is taken as a message on a connection that seals its messages.
//
// file: krdma/msg.c
// caught-by: tampered-uml
// rule: Documentation/protocol.rst#Levels of security
@@
expression wc, conn;
@@
- wc->opcode != IB_WC_RECV_RDMA_WITH_IMM || krdma_conn_is_sealed(conn)
+ wc->opcode != IB_WC_RECV_RDMA_WITH_IMM
