// SPDX-License-Identifier: GPL-2.0
// A reused MR keeps its key: a peer can use the key of a freed region.
//
// file: krdma/frwr.c
// caught-by: regions-uml
// rule: Documentation/krdma.rst#Keys and MRs
@@
expression mr;
@@
- ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
