// SPDX-License-Identifier: GPL-2.0
// The words before an event of an unacknowledged message are not sent again after a reconnect.
//
// file: vrfm/link.h
// caught-by: kunit-uml
// rule: Documentation/protocol.rst#Window and acknowledgment
@@
expression slot;
@@
- return slot->type == VRFM_WIRE_UPDATE || (slot->type == VRFM_WIRE_EVENT && slot->pack.count);
+ return slot->type == VRFM_WIRE_UPDATE;
