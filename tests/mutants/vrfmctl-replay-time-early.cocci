// SPDX-License-Identifier: GPL-2.0
// The time of a replay begins before the image is written: the first writes come too late, and without their pauses.
//
// file: tools/vrfmctl/replay.c
// caught-by: vrfmctl-replay-uml
// rule: Documentation/tap.rst#Recording and replay
@@
struct ctl_replay *replay;
@@
- replay->start_ns = 0;
+ replay->start_ns = ctl_replay_now();
