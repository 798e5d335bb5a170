// SPDX-License-Identifier: GPL-2.0
// A file of keys is used although other users have rights to it.
//
// file: tools/vrfmctl/keyfile.c
// caught-by: keyfile-uml
// rule: Documentation/vrfm.rst#Keys
@@
expression e;
@@
- e & 077
+ e & 0
