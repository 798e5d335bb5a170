// SPDX-License-Identifier: GPL-2.0
// The tag of a connect request does not cover the addresses: a recorded request is valid at each server and from each host.
//
// file: krdma/door.c
// caught-by: kunit-uml
// rule: krdma/door.c#krdma_door_tag
@@
typedef u8;
expression ctx, ends;
@@
- blake2s_update(&ctx, (const u8 *)ends, sizeof(*ends));
