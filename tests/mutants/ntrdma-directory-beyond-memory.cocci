// SPDX-License-Identifier: GPL-2.0
// A directory may describe more inboxes than the memory has.
//
// file: ntrdma/dir.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Directory
@@
expression bytes, inbox, members;
@@
- bytes >= NTRDMA_PAGE_BYTES && inbox <= (bytes - NTRDMA_PAGE_BYTES) / (members * (members - 1))
+ bytes >= NTRDMA_PAGE_BYTES
