// SPDX-License-Identifier: GPL-2.0
// Connections use the initial network namespace instead of the caller's.
//
// file: krdma/life.c
// caught-by: messages-uml-debug
// rule: Documentation/krdma.rst#Network namespaces
@@
expression wanted;
@@
  conn->net =
- wanted ?: krdma_callers_net()
+ &init_net
