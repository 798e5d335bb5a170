// SPDX-License-Identifier: GPL-2.0
// A side that refuses a hello still accepts the session: its peer goes UP.
//
// file: ntrdma/session.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Page
@@
expression s, why;
@@
  s->reason = why;
- s->yours = 0;
