// SPDX-License-Identifier: GPL-2.0
// A persistent connection continues to use the keys that it had at its start.
//
// file: krdma/reconnect.c
// caught-by: pairkeys-uml
// rule: Documentation/krdma.rst#Levels of security
@@
expression old, e;
@@
  old = reconn->p.keys;
- reconn->p.keys = e;
+ old = e;
