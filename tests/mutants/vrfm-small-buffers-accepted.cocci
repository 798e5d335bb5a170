// SPDX-License-Identifier: GPL-2.0
// A peer with small receive buffers is linked: a batch may need more messages to it than a window has.
//
// file: vrfm/link.c
// caught-by: vrfm-protocol-violations-uml
// rule: Documentation/protocol.rst#vrfm
@@
expression caps;
@@
- caps.max_part < VRFM_MESSAGE_MIN
+ caps.max_part < 4096
