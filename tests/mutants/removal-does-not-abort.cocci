// SPDX-License-Identifier: GPL-2.0
// Removing a device does not end its connections: the removal hangs.
//
// file: krdma/cm.c krdma/device.c
// caught-by: device-removal-uml
// rule: Documentation/krdma.rst#Lifetime
@@
expression conn;
@@
- krdma_conn_abort(conn, -ENODEV);
+ (void)conn;
