// SPDX-License-Identifier: GPL-2.0
// The old key of a network is dropped although links use it, so these links end at the same time.
//
// file: tools/vrfmctl/key.c
// caught-by: rotate-uml
// rule: Documentation/vrfm.rst#Keys
@@
expression id, peer;
@@
- id != peer->key_id
+ id == peer->key_id + 1
