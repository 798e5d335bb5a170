#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# librfm2g-peer: functions of the library that involve another node: data, events, callbacks, claims, states, rings,
# batches and queues. The tool sends and receives events. The programs of samples/rfm2g, compiled from a copy of that folder, work as
# documented, on one node and between two nodes.
#
#   each node for itself: block_counter, loop, callback, ... ---> librfm2g ---> /dev/rfm2gN
#   node 1: peer, handshake ---> librfm2g ---> /dev/rfm2gN --- /dev/rfm2gM <--- librfm2g <--- peer, handshake: node 2
#
# kernels: uml
# long: stock-6.1
# load: krdma vrfm
# library: librfm2g/peer librfm2g/rings librfm2g/queues
# programs: rfm2g/rfm
# tools: rfm2g_util
# samples: block_counter handshake loop callback publish display queue
# timeout: 500

# shellcheck source=tests/e2e/lib.sh
. lib.sh

other=$((3 - NODE))
unit=${RFM#/dev/rfm2g}
heard=0
export LD_LIBRARY_PATH=/add

# hears PROGRAM ARGUMENT...: start PROGRAM in the background on node 2. Both nodes wait until PROGRAM is ready.
hears() {
	if ((NODE == 2)); then
		"$@" >"$results/heard" &
		listener=$!
		sleep $slow
	fi
	heard=$((heard + 1))
	barrier "hears.$heard"
}

# heard PATTERN: wait until the program on node 2 ends; one case, which passes if its output matches PATTERN.
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

# Run the sample handshake: node 1 asks 100 questions, and node 2 answers them.
handshaking() {
	hears handshake "$RFM" answer $((5 * slow))
	on 1 says 0 "100 answers, each after * us" handshake "$RFM" ask 2 100
	heard "100 questions answered"
}

# Run the sample callback on node 2: its callback is called for each event of node 1.
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

# Run the samples display on node 2 and publish on node 1.
publishing() {
	hears display "$RFM" $((5 * slow))
	on 1 says 0 "* cycles, * began a cycle late" publish "$RFM" $((3 * slow))
	heard "*49: *changes shown, *notices"
}

# Run the sample queue: node 2 prints the lines that node 1 sends.
queueing() {
	local lines=/tmp/lines sender
	if ((NODE == 1)); then
		mkfifo $lines
		queue "$RFM" 0x90000 send <$lines &
		sender=$!
		exec 8>$lines
		check "queue creates its queue" within 10 rfm await 0x90010 65536 1
	fi
	barrier created
	hears queue "$RFM" 0x90000 receive 0 2
	if ((NODE == 1)); then
		printf 'first line\nsecond line\n' >&8
		exec 8>&-
		wait $sender
		ok $? "queue sends two lines"
	fi
	heard $'first line\nsecond line'
}

# rfm2g_util on node 2 waits for one event of node 1, and gets another one by a callback.
tool() {
	hears rfm2g_util -d "$unit" -c "enableevent 2" -c "wait 2 60000"
	on 1 says 0 "interrupt 2 sent to node 2 (0x02)" rfm2g_util -d "$unit" send 2 2 0x55
	heard "*interrupt 2 from node 1, data 0x00000055"
	hears rfm2g_util -d "$unit" -c "clearevent 3" -c "enableevent 3" -c "enablecallback 3" -c "enableevent 4" -c "wait 4 60000"
	on 1 says 0 "interrupt 3 sent to node 2 (0x02)" rfm2g_util -d "$unit" send 3 2 0x33
	# Give the callback for interrupt 3 time to print its line, because interrupt 4 ends the program.
	on 1 sleep $slow
	on 1 says 0 "interrupt 4 sent to all nodes" rfm2g_util -d "$unit" send 4 0xffff
	heard "*callback 1 for interrupt 3: node 2 got it from node 1, data 0x00000033*"
}

# Node 2 removes its device. Node 1 notices that, and calls the library without a linked peer.
leaving() {
	barrier last
	on 2 rfm_unmake
	barrier left
	if ((NODE == 1)); then
		check "node 1 notices that node 2 has removed its device" within 20 rfm_is down
		results peer "$RFM" "$NODE" "$other" 9 alone
		rfm_unmake
	fi
	barrier alone
}

# Run the samples on a device without peers.
samples() {
	local sample dir=$rfm_config/${RFM#/dev/}
	mount_configfs
	mkdir "$dir" && put "$dir/node_id" "$NODE" && put "$dir/size" 1M && put "$dir/enable" 1
	ok $? "a device of 1M is created"

	block_counter "$RFM" write $((4 * slow)) >"$results/written" &
	says 0 "*whole blocks*, 0 damaged" block_counter "$RFM" read $((2 * slow))
	wait $!
	ok $? "block_counter write succeeds: $(<"$results/written")"
	says 1 "0 whole blocks*" block_counter "$RFM" read 0.2
	says 0 "*10000 cycles, late by us: p50 * max *" loop "$RFM" 1
	says 0 "*100 cycles, late by us: p50 * max *" loop "$RFM" 0.1 1000
	says 0 "0 events, *" callback "$RFM" 0.5
	says 1 "*no answer: the call timed out" handshake "$RFM" ask 200 1
	says 0 "0 questions answered" handshake "$RFM" answer 0.5
	says 1 "*own node" handshake "$RFM" ask "$NODE" 1
	publish "$RFM" $((4 * slow)) >"$results/published" &
	says 0 "*49: *changes shown, *notices" display "$RFM" $((2 * slow))
	wait $!
	ok $? "publish succeeds: $(<"$results/published")"
	says 0 "0 changes shown, 0 notices" display "$RFM" 0.2
	for sample in block_counter handshake loop callback publish display queue; do
		says 2 "$sample: usage: *" "$sample"
	done
	says 1 "block_counter: /dev/rfm2g9: there is no such device" block_counter /dev/rfm2g9 read 1
	check "a closed device of 1M is disabled" put "$dir/enable" 0
	rmdir "$dir"
	barrier samples
}

samples
check "node $NODE creates a device" rfm_make 1M
check "node $NODE is linked" within 60 rfm_is ready
barrier linked
results peer "$RFM" "$NODE" "$other" 1
barrier shared
results peer-static "$RFM" "$NODE" "$other" 2
barrier static
results rings "$RFM" "$NODE" "$other"
barrier rings
results queues "$RFM" "$NODE" "$other"
barrier queue
handshaking
calling
publishing
queueing
tool
leaving
finish
