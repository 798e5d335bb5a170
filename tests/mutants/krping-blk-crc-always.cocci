// SPDX-License-Identifier: GPL-2.0
// A disk with bio_nocrc computes checksums.
//
// file: krping/blk_link.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Guarantees
@@
expression link, req, sum;
@@
- if (link->opts->no_crc)
- 	req->flags |= KRPING_BLK_NO_CRC;
- else
- 	req->crc = sum;
+ req->crc = sum;
