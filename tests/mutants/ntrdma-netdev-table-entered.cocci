// SPDX-License-Identifier: GPL-2.0
// The device enters the table of the RDMA core by which rxe finds its devices: rxe uses it as its own.
//
// file: ntrdma/ib.c
// caught-by: ntr-user-uml-ntr
// rule: Documentation/ntrdma.rst#Design
@@
identifier ib, dev;
@@
  ib->num_comp_vectors = dev->lanes;
+ ib_device_set_netdev(ib, dev->config.netdev, 1);
