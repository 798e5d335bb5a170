// SPDX-License-Identifier: GPL-2.0
// A tap sends no copies after a request has ended.
//
// file: krping/blk_tap.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Guarantees
@@
expression wq, work;
@@
- queue_delayed_work(wq, work, 1);
+ ;
