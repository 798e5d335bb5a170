// SPDX-License-Identifier: GPL-2.0
// A disk with bio_cgroup sends the requests of all control groups.
//
// file: krping/blk_opts.c
// caught-by: kunit-uml
// rule: Documentation/krping.rst#bio_cgroup=ID
@@
expression filter, subject;
@@
- if (filter->cgroup && !subject->in_cgroup)
- 	return false;
