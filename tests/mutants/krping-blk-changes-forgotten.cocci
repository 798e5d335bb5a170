// SPDX-License-Identifier: GPL-2.0
// A disk does not note which chunks change while there is no connection.
//
// file: krping/blk_link.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Guarantees
@@
expression link, io;
@@
- krping_blk_dirty_mark(&link->dirty, io->offset, io->bytes);
+ ;
