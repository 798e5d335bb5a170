// SPDX-License-Identifier: GPL-2.0
// QPs are destroyed while work requests are in flight.
//
// file: krdma/qp.c
// caught-by: post-uml
// rule: Documentation/krdma.rst#Lifetime
@@
expression qp;
@@
(
- ib_drain_sq(qp);
+ (void)qp;
|
- ib_drain_qp(qp);
+ (void)qp;
)
