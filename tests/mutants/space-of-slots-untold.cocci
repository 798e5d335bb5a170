// SPDX-License-Identifier: GPL-2.0
// Completions do not call write_space(): a refused request is not posted again.
//
// file: krdma/sq.c
// caught-by: post-uml
// rule: Documentation/krdma.rst#Without waiting
@@
expression conn, space;
@@
  krdma_wr_retire_locked(...);
  krdma_req_kick_locked(conn);
- space = krdma_space_begin_locked(conn);
+ space = false;
