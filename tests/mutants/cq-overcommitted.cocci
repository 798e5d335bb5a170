// SPDX-License-Identifier: GPL-2.0
// A shared completion queue takes any number of connections: it overflows.
//
// file: krdma/cq.c
// caught-by: shared-cq-uml
// rule: Documentation/krdma.rst#Completion queues
@@
expression kcq, need, rest;
@@
- rest && kcq->size - kcq->used >= need
+ rest
