// SPDX-License-Identifier: GPL-2.0
// A part may reach beyond the end of its message: the receiver writes beyond its buffer.
//
// file: krdma/wire.c
// caught-by: kunit-uml
// rule: Documentation/protocol.rst#DATA
@@
expression part, max, n;
@@
(
- part->msg_len > max || part->offset > part->msg_len || n > part->msg_len - part->offset
+ part->msg_len > max
|
- part->msg_len <= max && part->offset <= part->msg_len && n <= part->msg_len - part->offset
+ part->msg_len <= max
)
