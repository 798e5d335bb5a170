// SPDX-License-Identifier: GPL-2.0
// A replay runs although a recorded writer is linked.
//
// file: tools/vrfmctl/replay.c
// caught-by: vrfmctl-replay-uml
// rule: Documentation/tap.rst#Recording and replay
@@
identifier replay;
@@
- if (replay->options->force)
-	return true;
+ return true;
