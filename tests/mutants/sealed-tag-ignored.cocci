// SPDX-License-Identifier: GPL-2.0
// The header of a message is decoded, and the message delivered, although the message did not open.
//
// file: krdma/msg.c
// caught-by: tampered-uml
// rule: Documentation/security.rst#S4
@@
identifier ret;
expression seal, recv, len;
@@
  int ret = krdma_seal_open(seal, recv->buf, len);
...
- if (ret < 0)
- 	return ret;
+ if (ret < 0)
+ 	ret = len - KRDMA_SEAL_EXTRA;
