// SPDX-License-Identifier: GPL-2.0
// A disk sends all requests, also those that its filter excludes.
//
// file: krping/blk_disk.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Block writes
@@
expression disk, bio, op;
statement S;
@@
- if (krping_blk_disk_sends(disk, bio, op))
  	S
