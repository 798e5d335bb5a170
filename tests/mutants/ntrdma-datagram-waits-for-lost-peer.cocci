// SPDX-License-Identifier: GPL-2.0
// A datagram to a peer that cannot be reached waits until the session ends.
//
// file: ntrdma/lane.c
// caught-by: ntr-link-uml-ntr
// rule: Documentation/ntrdma.rst#Files and messages
@@
expression peer, blocked;
@@
- return !ntrdma_peer_is_usable(peer) || blocked;
+ return blocked;
