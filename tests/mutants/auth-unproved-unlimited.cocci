// SPDX-License-Identifier: GPL-2.0
// Recorded requests occupy any number of connections of a listener.
//
// file: krdma/budget.c
// caught-by: handshake-uml
// rule: krdma/budget.c#krdma_budget_add_unproved
@@
expression budget;
@@
- !atomic_add_unless(&budget->unproved, 1, budget->max_unproved)
+ !atomic_add_unless(&budget->unproved, 1, INT_MAX)
