// SPDX-License-Identifier: GPL-2.0
// A server stores data with a wrong checksum.
//
// file: krping/blk_conn.c
// caught-by: krping-blk-uml
// rule: Documentation/krping.rst#Guarantees
@@
expression conn, offset, bytes;
expression has, sum, crc;
@@
  krdma_region_sync_for_cpu(conn->ring, offset, bytes);
- if (has && sum != crc) {
- 	...
- }
