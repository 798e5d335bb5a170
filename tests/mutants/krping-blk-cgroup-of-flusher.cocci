// SPDX-License-Identifier: GPL-2.0
// A request is taken to be of the control group of the task that submits it, also if this task works for another group.
//
// file: krping/blk_cgroup.c
// caught-by: krping-blk-cgroup-stock-6.1
// rule: Documentation/krping.rst#bio_cgroup=ID
@@
expression css;
@@
- if (css && css != task_css(...))
- 	return css->cgroup;
+ (void)css;
