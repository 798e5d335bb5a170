// SPDX-License-Identifier: GPL-2.0
// A node with the id of a peer is accepted from any address.
//
// file: vrfm/peer.c
// caught-by: refused-peers-uml
// rule: Documentation/vrfm.rst#Links
@@
expression link, same;
@@
- link->peer.any || same
+ true
