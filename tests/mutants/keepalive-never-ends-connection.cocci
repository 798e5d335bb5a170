// SPDX-License-Identifier: GPL-2.0
// A silent peer is probed endlessly: a dead peer is not detected.
//
// file: krdma/control.c
// caught-by: connection-end-uml-siw
// rule: Documentation/protocol.rst#Keepalive
@@
expression msg;
@@
- msg->misses++ == KRDMA_ALIVE_MISSES
+ msg->misses++ > U32_MAX - 1
