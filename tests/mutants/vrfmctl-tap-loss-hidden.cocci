// SPDX-License-Identifier: GPL-2.0
// The end of a file of vrfmctl tap does not count the records that were dropped.
//
// file: tools/vrfmctl/tap.c
// caught-by: vrfmctl-tap-uml
// rule: Documentation/tap.rst#Format of the file
@@
expression out, n, lost, now;
@@
- ctl_pcapng_end(out, n, lost, now);
+ ctl_pcapng_end(out, n, 0, now);
