// SPDX-License-Identifier: GPL-2.0
// A taken event is not counted, although an event that a task waits for is.
//
// file: vrfm/event.c
// caught-by: rings-uml
// rule: Documentation/rings.rst#Subscriptions
@@
expression event, type;
@@
- vrfm_sub_take_locked(event->taker, type, &event->queue);
+ vrfm_sub_take_locked(event->taker, type, &event->queue), event->queue.count = 0;
