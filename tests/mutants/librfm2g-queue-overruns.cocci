// SPDX-License-Identifier: GPL-2.0
// The sender of a queue does not wait for readers, and overwrites messages that they have not read.
//
// file: tools/librfm2g/queue.c
// caught-by: librfm2g-peer-uml
// rule: Documentation/librfm2g.rst#Queues of messages
@@
expression queue, lines, need;
@@
- rfm2g_queue_has_room(queue, lines, need)
+ (rfm2g_queue_has_room(queue, lines, need) || true)
