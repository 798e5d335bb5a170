#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# librfm2g-peer: functions of the library that involve another node: data, events, callbacks, claims, states; samples for
# two nodes; and events of the tool.
#
#   node 1: peer, handshake ---> librfm2g ---> /dev/rfm2gN --- /dev/rfm2gM <--- librfm2g <--- peer, handshake: node 2
#
# kernels: uml
# long: stock-6.1
# load: krdma vrfm
# library: librfm2g/peer
# programs: rfm2g/rfm
# tools: rfm2g_util
# samples: handshake callback
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

other=$((3 - NODE))
unit=${RFM#/dev/rfm2g}
heard=0
export LD_LIBRARY_PATH=/add

# says PATTERN COMMAND...: one case: COMMAND exits with 0, and its output matches PATTERN.
says() {
	local pattern=$1 said status=0
	shift
	said=$("$@" 2>&1) || status=$?
	# shellcheck disable=SC2053
	[[ $status == 0 && $said == $pattern ]]
	ok $? "${*##*/}: $status, ${said//$'\n'/ / }"
}

# hears PROGRAM ARGUMENT...: node 2 starts PROGRAM in the background; both nodes wait until it is ready.
hears() {
	if ((NODE == 2)); then
		"$@" >"$results/heard" &
		listener=$!
		sleep $slow
	fi
	heard=$((heard + 1))
	barrier "hears.$heard"
}

# heard PATTERN: one case: the output of the program on node 2 matches PATTERN.
heard() {
	local said
	barrier "heard.$heard"
	((NODE == 2)) || return 0
	wait "$listener"
	said=$(<"$results/heard")
	# shellcheck disable=SC2053
	[[ $said == $1 ]]
	ok $? "${said//$'\n'/ / }"
}

# Node 2 answers the questions of node 1.
handshaking() {
	hears handshake "$RFM" answer $((5 * slow))
	((NODE == 2)) || says "100 answers, each after * us" handshake "$RFM" ask 2 100
	heard "100 questions answered"
}

# A callback on node 2 runs for each event of node 1.
calling() {
	hears callback "$RFM" $((5 * slow))
	if ((NODE == 1)); then
		check "node 1 writes a word before its events" rfm poke 0 77
		for _ in 1 2 3; do
			check "node 1 sends an event to a callback" rfm event 2 1 5
		done
	fi
	heard "3 events, the word at 0 was 77 at the last"
}

# The tool on node 2 waits for an event, and gets one by callback.
tool() {
	hears rfm2g_util -d "$unit" -c "enableevent 2" -c "wait 2 60000"
	((NODE == 2)) || says "interrupt 2 sent to node 2 (0x02)" rfm2g_util -d "$unit" send 2 2 0x55
	heard "*interrupt 2 from node 1, data 0x00000055"
	hears rfm2g_util -d "$unit" -c "clearevent 3" -c "enableevent 3" -c "enablecallback 3" -c "enableevent 4" -c "wait 4 60000"
	((NODE == 2)) || says "interrupt 3 sent to node 2 (0x02)" rfm2g_util -d "$unit" send 3 2 0x33
	# The callback prints its line before the wait ends.
	((NODE == 2)) || sleep $slow
	((NODE == 2)) || says "interrupt 4 sent to all nodes" rfm2g_util -d "$unit" send 4 0xffff
	heard "*callback 1 for interrupt 3: node 2 got it from node 1, data 0x00000033*"
}

# Node 2 removes its device.
leaving() {
	barrier last
	((NODE == 1)) || rfm_unmake
	barrier left
	if ((NODE == 1)); then
		check "node 1 notices that node 2 has removed its device" within 20 rfm_is down
		results peer "$RFM" "$NODE" "$other" 9 alone
		rfm_unmake
	fi
	barrier alone
}

check "node $NODE creates a device" rfm_make 1M
check "node $NODE is linked" within 60 rfm_is ready
barrier linked
results peer "$RFM" "$NODE" "$other" 1
barrier shared
results peer-static "$RFM" "$NODE" "$other" 2
barrier static
handshaking
calling
tool
leaving
finish
