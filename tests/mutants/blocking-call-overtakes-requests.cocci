// SPDX-License-Identifier: GPL-2.0
// A blocking send or write overtakes queued requests.
//
// file: krdma/sq.c
// caught-by: post-uml
// rule: Documentation/krdma.rst#Requests
@@
expression kwr, list;
@@
- if (kwr->follows)
+ if (op && !kwr->urgent)
  	list_move(&kwr->link, list);
