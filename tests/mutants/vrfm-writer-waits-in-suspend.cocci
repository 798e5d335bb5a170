// SPDX-License-Identifier: GPL-2.0
// Writers wait for slow peers while tasks are frozen for a suspend, and cannot be frozen.
//
// file: vrfm/write.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#Interface for programs
@@
expression us;
@@
  if (READ_ONCE(vrfm_suspending))
- 	us = 0;
+ 	us = min_t(u32, us, VRFM_OVERLOAD_US_MAX);
