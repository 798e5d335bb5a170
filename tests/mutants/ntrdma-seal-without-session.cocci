// SPDX-License-Identifier: GPL-2.0
// The seal of a frame does not depend on the session: frames of the session before are taken.
//
// file: ntrdma/frame.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Frames
@@
expression hdr, at, number, cell;
@@
(
- hdr->seal = cpu_to_le32(cell ^ number);
+ hdr->seal = cpu_to_le32(cell);
|
- le32_to_cpu(hdr->seal) != (at->index ^ at->session)
+ le32_to_cpu(hdr->seal) != at->index
)
