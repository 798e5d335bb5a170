#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# mmap-stores: every word that programs store through mappings reaches the other node within milliseconds. Programs store
# scattered words or every word of many pages, many programs store at once, or a program is killed. The cases are
# repeated with flush_us=0. Words are also stored before, while and after the transmitter is off.
#
#   node 1 (stores) <---> node 2 (stores into other words, of the same pages)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G4 G5 G6
# timeout: 300

# Arguments: names of the cases to run; without arguments, all cases run.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)

# equal NAME: wait until both nodes have all writes, and succeed if their memories are equal. NAME is part of names of
# barriers.
equal() {
	local status=0
	# Wait until no node writes any more. Then wait until peers that have fallen behind have caught up.
	barrier "$1-quiet"
	rfm_settle || status=1
	barrier "$1-synced"
	cat "$RFM" >"/exchange/$1-$NODE"
	barrier "$1-copied"
	cmp "/exchange/$1-1" "/exchange/$1-$NODE" || status=1
	barrier "$1-compared"
	return "$status"
}

# Node 1 stores numbers, and node 2 answers each number by a store. A round trip takes one interval of the scanner on
# each node, and the time until the tasks run.
soon() {
	local us
	case $NODE in
	1)
		us=$(rfm bounce 786432 40)
		((us < 100000 * slow))
		ok $? "flush_us=$1: a stored number is answered in time: $us us"
		;;
	2) check "flush_us=$1: node 2 answers the stored numbers of node 1" rfm reflect 786432 40 $((60 * slow)) ;;
	esac
	barrier "soon$1"
}

# A program stores so rarely that the page is write-protected again between its stores.
now_and_then() {
	check "flush_us=$1: node $NODE stores and writes scattered words" rfm scatter $((65536 * NODE)) 65536 5 "$NODE"
	check "flush_us=$1: both nodes are equal after scattered words" equal "now$1"
}

every_word() {
	check "flush_us=$1: node $NODE stores every word of 64 pages" rfm stain $((262144 * NODE)) 262144 2
	check "flush_us=$1: both nodes are equal after storing every word of 64 pages" equal "every$1"
}

# Eight programs run on each node, and each of them stores into every 16th word of the same pages.
side_by_side() {
	local i rounds=$((200 / slow)) pids=()
	for ((i = 0; i < 8; i++)); do
		rfm own $((16384 + 4 * (2 * i + NODE - 1))) 8192 16 "$rounds" &
		pids+=($!)
	done
	check "flush_us=$1: eight programs of node $NODE count in shared pages" wait "${pids[@]}"
	barrier "counted$1"
	check "flush_us=$1: both nodes are equal after counting in shared pages" equal "side$1"
	[[ $(dd if="$RFM" bs=4096 skip=4 count=8 status=none | od -An -v -tu4 -w4 | sort -u | tr -d ' \n') == "$rounds" ]]
	ok $? "flush_us=$1: no word of shared pages is damaged"
	barrier "judged$1"
}

killed() {
	local i pid
	for ((i = 0; i < 5; i++)); do
		/add/rfm "$RFM" stain $((65536 * NODE)) 65536 60 &
		pid=$!
		sleep 0.$((i + 2))
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done
	check "flush_us=$1: both nodes are equal after storing programs were killed" equal "killed$1"
}

# Words stored while the transmitter is off are not sent, even if the scanner finds them after the transmitter is on again.
eclipse() {
	if ((NODE == 1)); then
		check "node 1 stores words before, while and after its transmitter is off" rfm eclipse 4096
	fi
	barrier "eclipse$1"
	if ((NODE == 2)); then
		check "node 2 receives a word stored before the transmitter was off" rfm await 4096 1 $((10 * slow))
		check "node 2 receives a word stored after the transmitter was off" rfm await 4104 3 $((10 * slow))
		[[ $(rfm peek 4100) == 0 ]]
		ok $? "node 2 does not receive a word stored while the transmitter was off"
	fi
	barrier "eclipsed$1"
}

(($# > 0)) || set -- soon now_and_then every_word side_by_side killed
for us in 50 0; do
	check "flush_us=$us: node $NODE creates a device" rfm_make 1M flush_us=$us
	check "flush_us=$us: node $NODE is linked" within 30 rfm_is ready
	barrier "linked$us"
	for case in "$@"; do
		$case "$us"
	done
	check "flush_us=$us: node $NODE removes its device" rfm_unmake
	barrier "gone$us"
done
# Let the scanner compare only every tenth of a second, so that calls find the stores before the scanner does.
check "flush_us=100000: node $NODE creates a device" rfm_make 1M flush_us=100000
check "flush_us=100000: node $NODE is linked" within 30 rfm_is ready
barrier late
eclipse late
check "flush_us=100000: node $NODE removes its device" rfm_unmake
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
