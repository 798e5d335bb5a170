// SPDX-License-Identifier: GPL-2.0
// A peer may claim to have consumed more cells than were filled: this side overwrites frames.
//
// file: ntrdma/ring.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Rings
@@
expression new, ring;
@@
- new - ring->cons > ntrdma_ring_filled(ring)
+ false
