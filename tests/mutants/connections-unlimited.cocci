// SPDX-License-Identifier: GPL-2.0
// max_conns of a listener is ignored: peers open any number of connections.
//
// file: krdma/budget.c
// caught-by: isolation-uml
// rule: Documentation/krdma.rst#Limits of a listener
@@
expression budget;
@@
- atomic_add_unless(&budget->conns, 1, budget->max_conns)
+ atomic_add_unless(&budget->conns, 1, INT_MAX)
