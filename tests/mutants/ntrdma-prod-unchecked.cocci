// SPDX-License-Identifier: GPL-2.0
// A peer may claim more cells than a ring has: the receiver takes old cells for frames.
//
// file: ntrdma/ring.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Rings
@@
expression new, ring;
@@
- new - ring->cons > ring->cells || new - ring->cons < ntrdma_ring_filled(ring)
+ new - ring->cons < ntrdma_ring_filled(ring)
