// SPDX-License-Identifier: GPL-2.0
// fsync() and msync() do not flush stores into mappings: they return too early.
//
// file: vrfm/barrier.c
// caught-by: mmap-uml
// rule: Documentation/vrfm.rst#Mapped stores
@@
expression rest;
@@
- vrfm_scan_all(...) ?: rest
+ rest
