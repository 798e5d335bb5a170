// SPDX-License-Identifier: GPL-2.0
// The backoff of a persistent connection has no maximum: attempts become too rare.
//
// file: krdma/backoff.c
// caught-by: kunit-uml
// rule: Documentation/krdma.rst#Staying connected
@@
expression failures, ms, max;
@@
- while (failures > 1 && ms < max) {
- 	ms = ms > max / 2 ? max : ms * 2;
+ while (failures > 1 && ms <= U32_MAX / 2) {
+ 	ms = ms * 2;
  	failures--;
  }
- return min(ms, max);
+ return ms;
