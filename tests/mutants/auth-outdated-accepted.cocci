// SPDX-License-Identifier: GPL-2.0
// A late AUTH makes a connection although its client has proved a newer one: the client has given up the older connection.
//
// file: krdma/device.c
// caught-by: handshake-uml
// rule: krdma/device.c#krdma_device_replace_older
@@
identifier newer, conn;
expression e;
@@
  krdma_dev_is_outdated_by(const struct krdma_conn *newer, const struct krdma_conn *conn)
  {
- return e;
+ return false;
  }
