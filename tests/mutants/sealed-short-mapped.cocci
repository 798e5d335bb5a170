// SPDX-License-Identifier: GPL-2.0
// No sealed message is sent inline: the adapter reads each of them from memory.
//
// file: krdma/tx.c
// caught-by: kunit-uml
// rule: krdma/tx.c#inline
@@
expression conn, len;
@@
- len <= conn->limits.max_inline
+ false
