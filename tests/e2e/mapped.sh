#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# mapped: every word that programs store through mappings reaches the other node: within milliseconds; one here and there, every word of every
# page, by many programs at once, by one that is killed while it stores, with flush_us=0, and around a time in which the
# transmitter is off.
#
#   node 1 (stores) <---> node 2 (stores beside it)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G4 G5 G6
# timeout: 300

# The names of cases as arguments run only these.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)

# equal NAME: both nodes have the same memory.
equal() {
	local status=0
	# One that was too slow catches up for a while.
	barrier "$1-quiet"
	rfm_settle || status=1
	barrier "$1-synced"
	cat "$RFM" >"/exchange/$1-$NODE"
	barrier "$1-copied"
	cmp "/exchange/$1-1" "/exchange/$1-$NODE" || status=1
	barrier "$1-compared"
	return "$status"
}

# There and back takes two looks of the flushers, and what this machine takes to let all have their turn.
soon() {
	local us
	case $NODE in
	1)
		us=$(rfm bounce 786432 40)
		((us < 100000 * slow))
		ok $? "what is stored is there, and an answer here, after $us us"
		;;
	2) check "numbers are seen and answered" rfm reflect 786432 40 $((60 * slow)) ;;
	esac
	barrier "soon$1"
}

# The page is protected again and again while a program stores into it now and then.
now_and_then() {
	check "words here and there are stored and written" rfm scatter $((65536 * NODE)) 65536 5 "$NODE"
	check "both are equal" equal "now$1"
}

every_word() {
	check "every word of 64 pages is stored" rfm stain $((262144 * NODE)) 262144 2
	check "both are equal" equal "every$1"
}

# Eight programs on each node, each has every 16th word of the same pages.
side_by_side() {
	local i rounds=$((200 / slow)) pids=()
	for ((i = 0; i < 8; i++)); do
		rfm own $((16384 + 4 * (2 * i + NODE - 1))) 8192 16 "$rounds" &
		pids+=($!)
	done
	check "eight programs count" wait "${pids[@]}"
	barrier "counted$1"
	check "both are equal" equal "side$1"
	[[ $(dd if="$RFM" bs=4096 skip=4 count=8 status=none | od -An -v -tu4 -w4 | sort -u | tr -d ' \n') == "$rounds" ]]
	ok $? "and no word is damaged"
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
	check "both are equal after those who stored were killed" equal "killed$1"
}

# What is stored while the transmitter is off stays here, however late it is found.
eclipse() {
	if ((NODE == 1)); then
		check "stores before, while and after the transmitter is off" rfm eclipse 4096
	fi
	barrier "eclipse$1"
	if ((NODE == 2)); then
		check "what was stored before arrives" rfm await 4096 1 $((10 * slow))
		check "what was stored after, too" rfm await 4104 3 $((10 * slow))
		[[ $(rfm peek 4100) == 0 ]]
		ok $? "what was stored meanwhile does not"
	fi
	barrier "eclipsed$1"
}

(($# > 0)) || set -- soon now_and_then every_word side_by_side killed
for us in 50 0; do
	check "a device with flush_us=$us" rfm_make 1M flush_us=$us
	check "is linked" within 30 rfm_is ready
	barrier "linked$us"
	for case in "$@"; do
		$case "$us"
	done
	check "the device goes" rfm_unmake
	barrier "gone$us"
done
# A tenth of a second: the stores are not found before the calls look.
check "a device with flush_us=100000" rfm_make 1M flush_us=100000
check "is linked" within 30 rfm_is ready
barrier late
eclipse late
check "the device goes" rfm_unmake
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
