// SPDX-License-Identifier: GPL-2.0
// A run above max_p99 succeeds.
//
// file: krping/report.c
// caught-by: krping-runs-uml
// rule: Documentation/krping.rst#max_p99=N
@@
expression limit, good;
@@
- !limit || good
+ !limit || size
