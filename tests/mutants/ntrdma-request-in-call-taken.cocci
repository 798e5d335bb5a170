// SPDX-License-Identifier: GPL-2.0
// A program may pass requests, and so addresses of the kernel, in a system call.
//
// file: ntrdma/post.c
// caught-by: ntr-user-uml-ntr
// rule: Documentation/ntrdma.rst#Programs
@@
expression qp;
@@
- if (qp->sq.user) {
+ if (qp->sq.user && !wr) {
  ...
  }
