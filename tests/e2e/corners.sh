#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# corners: stores into mappings that are unmapped in part, moved, protected, forked, held by the kernel, or whose program
# ends or is killed: each word reaches the other node, and no page stays watched for ever.
#
#   node 1 (stores) ---> node 2 (has it)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/corners
# append: ncpus=1
# guarantees: G4 G8
# timeout: 200

# The names of cases as arguments run only these.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
pages=16
room=$((pages * 4096))

# arrived OFFSET FIRST: word 0 of each page is FIRST and so on
arrived() {
	local i
	for ((i = 0; i < pages; i++)); do
		rfm await $(($1 + 4096 * i)) $(($2 + i)) $((10 * slow)) || return
	done
}

# there OFFSET FIRST: the same, at once
there() {
	local i
	for ((i = 0; i < pages; i++)); do
		[[ $(rfm peek $(($1 + 4096 * i))) == $(($2 + i)) ]] || return
	done
}

twins() {
	awk '$1 == "twins" { print $2 }' "/sys/kernel/debug/vrfm/${RFM#/dev/}/device"
}

calm() {
	[[ $(twins) == 0 ]]
}

# Killed anywhere in the middle, with all pages dirty.
killed() {
	local i pid
	for ((i = 0; i < 4; i++)); do
		/add/corners "$RFM" pound $((12 * room)) 60 &
		pid=$!
		sleep 0.$((i + 2))
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done
	ok 0 "programs that store are killed"
}

# seen CASE OFFSET: what node 2 must have when node 1 has done it
seen() {
	case $1 in
	# What is sent without a barrier takes a second of the second device.
	msync | event) check "$1: it is there already" there "$2" 1000 ;;
	*) check "$1: it is there" arrived "$2" 1000 ;;
	esac
	case $1 in
	held | fork) check "$1: so are the second words" arrived $(($2 + 4)) 2000 ;;
	esac
}

# An event is waited for before it is sent.
await_event() {
	: >"/exchange/awaits$1"
	[[ $(rfm wait 1 $((20000 * slow))) == "1 77" ]]
	ok $? "event: it comes"
}

(($# > 0)) || set -- unmap populate kernel held msync private fork mremap mprotect event exit
for us in 50 1000000; do
	check "a device with flush_us=$us" rfm_make 1M flush_us=$us
	check "is linked" within 30 rfm_is ready
	barrier "linked$us"
	at=0
	for case in "$@"; do
		if ((NODE == 2)) && [[ $case == event ]]; then
			await_event "$us"
		elif ((NODE == 1)); then
			[[ $case != event ]] || within 20 test -e "/exchange/awaits$us"
			echo "# $case"
			results /add/corners "$RFM" "$case" "$at"
		fi
		[[ $case == event ]] || barrier "$case$us"
		((NODE == 1)) || seen "$case" $at
		at=$((at + room))
		barrier "$case$us-seen"
	done
	((NODE != 1)) || killed
	((NODE != 1)) || check "no page is watched any more" within 30 calm
	check "all that was stored is sent" rfm_settle
	barrier "quiet$us"
	rfm sum >"/exchange/sum$us-$NODE"
	barrier "summed$us"
	[[ $(<"/exchange/sum$us-1") == "$(<"/exchange/sum$us-2")" ]]
	ok $? "both are equal: $(<"/exchange/sum$us-$NODE")"
	barrier "equal$us"
	check "the device goes" rfm_unmake
done
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
