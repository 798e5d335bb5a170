// SPDX-License-Identifier: GPL-2.0
// Connections without a domain share a PD: a key is valid on other connections.
//
// file: krdma/device.c
// caught-by: regions-uml
// rule: Documentation/krdma.rst#Security
@@
expression kpd, own;
@@
- own && kpd->domain == own
+ kpd->domain == own
