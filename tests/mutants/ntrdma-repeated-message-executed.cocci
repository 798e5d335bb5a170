// SPDX-License-Identifier: GPL-2.0
// A message that was executed is executed again when the requester repeats it.
//
// file: ntrdma/resp.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#NAK
@@
expression diff, qp, frame;
@@
- if (diff < 0) {
- 	ntrdma_ack_again(qp, frame);
- 	return true;
- }
