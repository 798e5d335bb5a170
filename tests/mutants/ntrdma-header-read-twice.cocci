// SPDX-License-Identifier: GPL-2.0
// The payload of a short frame is read from the ring again: the peer may have changed it since its length was checked.
//
// file: ntrdma/lane.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Rings
@@
identifier frame, hdr, cell;
@@
- frame.bytes <= NTRDMA_SHORT ? hdr.data : cell + NTRDMA_CELL
+ cell + (frame.bytes <= NTRDMA_SHORT ? offsetof(struct ntrdma_wire_hdr, data) : NTRDMA_CELL)
