#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# mmap-edge-cases: programs store into mappings that are unmapped in part, moved, protected, forked, or pinned by the kernel.
# Other processes map and unmap pages that are pinned. Programs exit after stores, or are killed during stores. cp, dd, od and
# Python use the device, which they do not know. Each word reaches the other node, and no page keeps its twin
# (the copy with which vrfm compares a page to find stores).
#
#   node 1 (stores) ---> node 2 (receives)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/corners
# add: ordinary-tools
# append: ncpus=1
# guarantees: G4 G8
# timeout: 220

# Arguments: names of the cases to run; without arguments, all cases run.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
pages=16
room=$((pages * 4096))

# arrived OFFSET FIRST: wait until the first words of the pages from OFFSET on are FIRST, FIRST + 1, and so on.
arrived() {
	local i
	for ((i = 0; i < pages; i++)); do
		rfm await $(($1 + 4096 * i)) $(($2 + i)) $((10 * slow)) || return
	done
}

# there OFFSET FIRST: succeed if the first words of the pages from OFFSET on are FIRST, FIRST + 1, and so on.
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

# Kill a program at different moments while it stores into all pages.
killed() {
	local i pid
	for ((i = 0; i < 4; i++)); do
		/add/corners "$RFM" pound $((12 * room)) 60 &
		pid=$!
		sleep 0.$((i + 2))
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done
	ok 0 "four storing programs are killed"
}

# seen CASE OFFSET: check on node 2 that it has the words of CASE.
seen() {
	case $1 in
	# With flush_us=1000000 a store is sent after a second, unless msync() or an event sends it at once.
	msync | event) check "$1: node 2 has the words at once" there "$2" 1000 ;;
	*) check "$1: node 2 receives the words" arrived "$2" 1000 ;;
	esac
	case $1 in
	held | mapped | fork) check "$1: node 2 receives the second words" arrived $(($2 + 4)) 2000 ;;
	esac
}

# await_event US: wait for an event on node 2. The file "awaits" lets node 1 send the event only after the wait has begun.
await_event() {
	: >"/exchange/awaits$1"
	[[ $(rfm wait 1 $((20000 * slow))) == "1 77" ]]
	ok $? "event: node 2 receives the event, flush_us=$1"
}

(($# > 0)) || set -- unmap populate kernel held mapped msync private fork mremap mprotect event exit
for us in 50 1000000; do
	check "flush_us=$us: node $NODE creates a device" rfm_make 1M flush_us=$us
	check "flush_us=$us: node $NODE is linked" within 30 rfm_is ready
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
	on 1 results python3 /add/ordinary-tools "$RFM" 1048576
	on 1 killed
	on 1 check "flush_us=$us: no page is watched after all programs have ended" within 30 calm
	check "flush_us=$us: all stores of node $NODE are sent" rfm_settle
	barrier "quiet$us"
	rfm sum >"/exchange/sum$us-$NODE"
	barrier "summed$us"
	[[ $(<"/exchange/sum$us-1") == "$(<"/exchange/sum$us-2")" ]]
	ok $? "flush_us=$us: both nodes are equal: $(<"/exchange/sum$us-$NODE")"
	barrier "equal$us"
	check "flush_us=$us: node $NODE removes its device" rfm_unmake
done
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
