// SPDX-License-Identifier: GPL-2.0
// A server accepts requests beyond the end of the disk.
//
// file: krping/blk_wire.c
// caught-by: kunit-uml
// rule: Documentation/krping.rst#Protocol of block writes
@@
expression req, capacity;
@@
- req->offset <= capacity && req->bytes <= capacity - req->offset
+ req->offset + req->bytes <= capacity
