// SPDX-License-Identifier: GPL-2.0
// The lanes and windows of a device are freed while polls may still run.
//
// file: ntrdma/lane.c
// caught-by: nverbs-uml-ntr
// rule: Documentation/ntrdma.rst#Design
@@
expression napi;
@@
- napi_disable(napi);
