// SPDX-License-Identifier: GPL-2.0
// Data use the last credit: two ends that flood each other deadlock.
//
// file: krdma/credit.h
// caught-by: kunit-uml
// rule: Documentation/protocol.rst#Credits
@@
expression credit, reserved;
@@
- READ_ONCE(credit->avail) > (reserved ? 0 : 1)
+ credit->avail > 0
