// SPDX-License-Identifier: GPL-2.0
// The end of a run is computed in 32 bits: a run beyond the memory is accepted.
//
// file: vrfm/proto.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#G10
@@
@@
- offset > size || len > size - offset
+ offset + len > size
