// SPDX-License-Identifier: GPL-2.0
// A server acknowledges a request with FUA before its data are on the medium.
//
// file: krping/blk_target.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Guarantees
@@
expression req;
@@
- (req->flags & KRPING_BLK_FUA ? REQ_FUA : 0)
+ (req->flags & KRPING_BLK_FUA ? 0 : 0)
