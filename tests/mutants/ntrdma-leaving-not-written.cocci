// SPDX-License-Identifier: GPL-2.0
// A side that leaves does not write that it does: its peers wait until it is silent.
//
// file: ntrdma/link.c
// caught-by: ntr-link-uml-ntr
// rule: Documentation/ntrdma-protocol.rst#Session
@@
expression peer;
@@
- ntrdma_win_publish(peer, NTRDMA_WORD(state), NTRDMA_WIRE_LEAVING);
