// SPDX-License-Identifier: GPL-2.0
// An event of a node that is behind is raised before the words that were written before it.
//
// file: vrfm/rx.c
// caught-by: kunit-uml
// rule: Documentation/vrfm.rst#G3
@@
expression rx;
statement raise, hold;
@@
- if (rx->synced)
+ if (rx->synced || !rx->nheld)
  	raise
  else
  	hold
