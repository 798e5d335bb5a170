// SPDX-License-Identifier: GPL-2.0
// An ACK is sent before the answers to earlier READs and atomics.
//
// file: ntrdma/req.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma-protocol.rst#Frames
@@
identifier answers, resp;
@@
- !answers && (READ_ONCE(resp->nak) || READ_ONCE(resp->ack))
+ READ_ONCE(resp->nak) || READ_ONCE(resp->ack)
