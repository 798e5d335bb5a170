// SPDX-License-Identifier: GPL-2.0
// A page that the peer is just writing is taken for a page of one session: its words belong to two sessions.
//
// file: ntrdma/session.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Session
@@
expression number, look;
@@
- !number || number != look->before || number != look->again
+ !number
