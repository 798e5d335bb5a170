// SPDX-License-Identifier: GPL-2.0
// Messages are sent without a credit: the peer has no receive for them.
//
// file: krdma/credit.h
// caught-by: kunit-uml
// rule: Documentation/protocol.rst#Credits
@@
expression credit, reserved;
@@
- READ_ONCE(credit->avail) > (reserved ? 0 : 1)
+ true
