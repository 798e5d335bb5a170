// SPDX-License-Identifier: GPL-2.0
// Connections stay when their session ends: their owners are not notified.
//
// file: ntrdma/link.c
// caught-by: ntr-link-uml-ntr
// rule: Documentation/ntrdma-protocol.rst#Session
@@
expression peer;
@@
- ntrdma_qps_lost(peer);
+ (void)peer;
