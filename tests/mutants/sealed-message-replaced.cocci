// SPDX-License-Identifier: GPL-2.0
// Unmapping a receive buffer copies the bounce buffer over a message that was opened in place.
//
// file: krdma/msg.c
// caught-by: kunit-uml
// rule: krdma/msg.c#krdma_recv_unmap
@@
expression conn, ibdev, recv;
@@
- if (krdma_conn_is_sealed(conn))
- 	ib_dma_sync_single_for_device(ibdev, recv->dma, conn->p.buf_size, krdma_recv_dir(conn));
