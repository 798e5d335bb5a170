// SPDX-License-Identifier: GPL-2.0
// Frames of any peer are taken by a QP, if they name its number and that of the QP to which it is connected.
//
// file: ntrdma/take.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Faults
@@
expression qp, p, rest;
@@
- rcu_access_pointer(qp->peer) == p && rest
+ rest
