// SPDX-License-Identifier: GPL-2.0
// RFM2gClose() frees a handle while threads use it.
//
// file: tools/librfm2g/handle.c
// caught-by: librfm2g-uml
// rule: Documentation/librfm2g.rst#Guarantees
@@
expression h, moment;
@@
- while (rfm2g_is_used(h)) {
+ if (rfm2g_is_used(h) && moment.tv_nsec) {
  	rfm2g_waits_cancel(h);
  	rfm2g_watches_cancel(h);
- 	nanosleep(&moment, NULL);
  }
