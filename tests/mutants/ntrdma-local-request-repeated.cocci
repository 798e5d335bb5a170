// SPDX-License-Identifier: GPL-2.0
// A local request behind a message that is repeated is executed twice.
//
// file: ntrdma/req.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma.rst#Verbs
@@
identifier qp, wqe;
@@
- if (!wqe->done)
  	ntrdma_do_local(qp, wqe);
