// SPDX-License-Identifier: GPL-2.0
// An event leaves in a message that was opened before the link was READY: the peer holds it until a later message.
//
// file: vrfm/backlog.c
// caught-by: kunit-uml
// rule: Documentation/protocol.rst#EVENT
@@
expression E;
identifier ready, slot;
@@
- E && ready == !!(slot->flags & VRFM_WIRE_SYNCED)
+ E
