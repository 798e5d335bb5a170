// SPDX-License-Identifier: GPL-2.0
// Memories with different parts of a departed node count as equal: they stay different.
//
// file: vrfm/history.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#Direct updates
@@
expression a, b, more;
@@
- if (more || !a->epoch || (a->synced && !a->direct))
- 	return more;
- return vrfm_cmp(b->tie_breaker, a->tie_breaker);
+ return more;
