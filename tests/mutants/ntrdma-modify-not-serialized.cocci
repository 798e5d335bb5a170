// SPDX-License-Identifier: GPL-2.0
// Threads of a program may change the same QP at once.
//
// file: ntrdma/qp.c
// caught-by: ntr-user-uml-debug-ntr
// rule: Documentation/ntrdma.rst#ntrdma_qp.modify
@@
expression qp;
@@
- mutex_lock(&qp->modify);
+ mutex_acquire(&qp->modify.dep_map, 0, 0, _RET_IP_);
  ...
- mutex_unlock(&qp->modify);
+ mutex_release(&qp->modify.dep_map, _RET_IP_);
