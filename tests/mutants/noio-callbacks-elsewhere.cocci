// SPDX-License-Identifier: GPL-2.0
// Callbacks of a noio connection run where their allocations may start I/O.
//
// file: krdma/handshake.c
// caught-by: callbacks-uml
// rule: Documentation/krdma.rst#Below a block device
@@
expression entry;
identifier noio;
@@
  struct krdma_conn *conn = container_of(entry, struct krdma_conn, work.call);
  struct krdma_noio noio =
- 	krdma_noio_enter(&conn->p)
+ 	{}
  ;
