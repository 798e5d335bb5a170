// SPDX-License-Identifier: GPL-2.0
// A recording does not begin with the content of the first page of the memory.
//
// file: tools/vrfmctl/record.c
// caught-by: vrfmctl-replay-uml
// rule: Documentation/tap.rst#Recording and replay
@@
expression bytes, len;
@@
- if (ctl_is_zero(bytes, len))
+ if (ctl_is_zero(bytes, len) || !at)
	return true;
