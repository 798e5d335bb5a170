#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# update-order: a node of a reflective memory writes words by calls or through a mapping. They arrive at the other nodes
# in order and untorn, and no other words change. Events arrive after the words that were written before them.
#
#   node 1 --- node 2
#       \       /
#        node 3
#
# nodes: 3
# kernels: uml uml/siw
# alone: stock-6.1 stock-6.12 stock-new stock-6.1-rt debug-6.1 debug-6.1/siw
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G1 G2 G3 G4 G5 G6 G7 G8
# security: encrypt
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
size=1M

linked() {
	# The order holds for peers that no writer leaves behind, and three machines may share one processor.
	check "node $NODE creates a device with two peers" rfm_make $size overload_ms=20000
	check "node $NODE is linked with both peers" within 30 rfm_is ready
	(($(wc -l <"/sys/class/rfm2g/${RFM#/dev/}/peers") == 2 && $(grep -c ready "/sys/class/rfm2g/${RFM#/dev/}/peers") == 2))
	ok $? "sysfs of node $NODE shows two ready peers"
	check "the card's register of node $NODE shows a signal" signal 1
	barrier linked
}

# signal 0|1: succeed if the signal bit of the register LCSR has this value.
signal() {
	((((0x$(rfm lcsr) >> 2) & 1) == $1))
}

# Each node writes a word of its own, and receives the words of the other nodes.
everywhere() {
	local i
	check "node $NODE writes a word" rfm poke $((64 * NODE)) $((1000 + NODE))
	for ((i = 1; i <= NODES; i++)); do
		check "node $NODE receives the word of node $i" rfm await $((64 * i)) $((1000 + i)) $((10 * slow))
	done
	barrier everywhere
}

blocks() {
	local i
	for ((i = 1; i <= NODES; i++)); do
		((i != NODE)) || check "node $i writes 200000 bytes" rfm fill $((131072 + 300000 * (i - 1))) 200000 "$i"
		barrier "block$i"
	done
	check "all nodes are equal after a block of each" rfm_equal blocks
}

# G2: a node writes a block and then the number of the block. The other nodes never see the number before its block.
in_order() {
	local i
	for ((i = 1; i <= NODES; i++)); do
		if ((i == NODE)); then
			sleep 0.3
			check "node $NODE writes $((300 / slow)) blocks of 5000 bytes" rfm blocks 4096 5000 $((300 / slow))
		else
			check "node $NODE sees no block of node $i that is older than its number" \
				rfm watch 4096 5000 $((300 / slow)) $((20 * slow))
		fi
		barrier "order$i"
		((i != NODE)) || rfm poke 4096 0
		rfm await 4096 0 $((10 * slow))
		barrier "again$i"
	done
}

# G7: an aligned write of eight bytes is not torn.
untorn() {
	if ((NODE == 1)); then
		sleep 0.3
		check "node 1 writes eight bytes" rfm twist 8192 $((20000 / slow / slow))
	else
		check "node $NODE never sees the eight bytes torn" rfm untwist 8192 $((2 * slow))
	fi
	barrier untorn
}

# G4: stores of a program through a mapping reach the other nodes although the program exits at once.
stores() {
	check "node $NODE stores a word" rfm store $((16384 + 4 * NODE)) $((2000 + NODE))
	local i
	for ((i = 1; i <= NODES; i++)); do
		check "node $NODE receives the stored word of node $i" rfm await $((16384 + 4 * i)) $((2000 + i)) $((10 * slow))
	done
	barrier stores
}

# G6: all nodes count in the same pages, each in its own words.
neighbours() {
	local i
	check "node $NODE counts up every third word" rfm own $((32768 + 4 * (NODE - 1))) 3000 "$NODES" $((400 / slow))
	barrier counted
	for ((i = 0; i < 3; i++)); do
		check "node $NODE receives the last count of word $i" rfm await $((32768 + 4 * i)) $((400 / slow)) $((10 * slow))
	done
	barrier seen
	check "all nodes are equal after counting in the same pages" rfm_equal neighbours
	[[ $(dd if="$RFM" bs=1 skip=32768 count=12000 status=none | od -An -v -tu4 -w4 | sort -u | tr -d ' \n') == $((400 / slow)) ]]
	ok $? "no word of the shared pages is damaged on node $NODE"
	barrier judged
}

# G3: an event arrives after the words that were written and stored before the event.
events() {
	local i word
	for ((i = 1; i <= NODES; i++)); do
		if ((i == NODE)); then
			within 10 test -e "/exchange/waits-$i-$((i % NODES + 1))" -a -e "/exchange/waits-$i-$(((i + 1) % NODES + 1))"
			sleep 0.3
			rfm fill 65536 60000 $((77 + i))
			rfm store $((12288 + 4 * i)) $((3000 + i))
			check "node $NODE sends an event to all" rfm event 65535 2 $((4000 + i))
		else
			: >"/exchange/waits-$i-$NODE"
			word=$(rfm wait 2 $((20000 * slow)))
			[[ $word == "$i $((4000 + i))" ]]
			ok $? "node $NODE receives the event of node $i: $word"
			[[ $(rfm peek $((12288 + 4 * i))) == $((3000 + i)) ]]
			ok $? "node $NODE has the word that node $i stored before its event"
		fi
		barrier "event$i"
	done
	check "all nodes are equal after the events" rfm_equal events
	if ((NODE == 1)); then
		check "node 1 sends an event to node 3" rfm event 3 1 7
		check "node 1 sends an event to a node that does not exist" rfm event 9 1 7
	elif ((NODE == 3)); then
		[[ $(rfm wait 1 $((20000 * slow))) == "1 7" ]]
		ok $? "node 3 receives the event for node 3"
	fi
	barrier directed
	if ((NODE == 2)); then
		! rfm wait 1 200 2>/dev/null
		ok $? "node 2 does not receive the event for node 3"
	fi
	barrier undirected
}

# G8: a node that removes its peers misses their writes, and receives these writes after it has added the peers again.
back() {
	local dir=$rfm_config/${RFM#/dev/}/peers
	barrier back
	if ((NODE == 2)); then
		check "node 2 removes its peer node 1" rmdir "$dir/1"
		check "node 2 removes its peer node 3" rmdir "$dir/3"
		[[ $(rfm take 9) == "3 0" ]]
		ok $? "the event of the second lost link replaces that of the first"
		! rfm take 9 2>/dev/null
		ok $? "two lost links leave one event"
		rfm poke 20480 5
	fi
	barrier left
	if ((NODE != 2)); then
		check "node $NODE notices that node 2 has left" within 20 rfm_is down 2
		rfm fill $((600000 + 100000 * NODE)) 50000 "$NODE"
		rfm store $((24576 + 4 * NODE)) $((6000 + NODE))
		rfm poke $((25600 + 4 * NODE)) $((7000 + NODE))
	fi
	barrier missed
	if ((NODE == 2)); then
		[[ $(rfm peek 25604) == 0 ]]
		ok $? "node 2 lacks a word that was written while it had no peers"
		check "node 2 without peers shows a signal" signal 1
		rfm_peer 9
		check "node 2 with an absent peer shows no signal" signal 0
		rmdir "$dir/9"
		check "node 2 adds its peers again" rfm_peers
	fi
	check "node $NODE is linked with both peers again" within 30 rfm_is ready
	barrier returned
	check "all nodes are equal after node 2 came back" rfm_equal back
	[[ $(rfm peek 25604) == 7001 && $(rfm peek 25612) == 7003 && $(rfm peek 24580) == 6001 && $(rfm peek 20480) == 5 ]]
	ok $? "node $NODE has all words that were written while node 2 had no peers"
	barrier equal
}

# A node that recreates its device loads the words of the other nodes.
reborn() {
	barrier reborn
	if ((NODE == 3)); then
		check "node 3 removes its device" rfm_unmake
		check "node 3 creates its device with a new epoch" rfm_make $size
	fi
	check "node $NODE is linked with the new device of node 3" within 30 rfm_is ready
	barrier alive
	[[ $(rfm peek 25604) == 7001 && $(rfm peek 64) == 1001 && $(rfm peek 128) == 1002 ]]
	ok $? "node $NODE has the words of nodes 1 and 2 after node 3 came back"
	barrier known
}

# While its transmitter is off, a node sends neither data nor events. After the transmitter is on again, the node sends
# new data and events.
dark() {
	if ((NODE == 1)); then
		check "node 1 disables its transmitter" rfm dark 1
		rfm poke 28672 8001
		check "sending an event without transmitter succeeds" rfm event 65535 3 8001
		rfm dark 0
		check "node 1 sends an event after enabling its transmitter" rfm event 65535 3 8002
	else
		[[ $(rfm wait 3 $((20000 * slow))) == "1 8002" ]]
		ok $? "node $NODE receives only the event that node 1 sent with its transmitter on"
		[[ $(rfm peek 28672) == 0 ]]
		ok $? "node $NODE lacks the word that node 1 wrote without transmitter"
	fi
	barrier lit
	# Overwrite the word that was not sent, so that all nodes are equal again.
	on 1 rfm poke 28672 0
	barrier undark
}

# traced PATTERN: one case, which passes if a line of the trace of this node matches PATTERN.
traced() {
	grep -q "$1" "$results/trace"
	ok $? "the trace of node $NODE has: $1"
}

# Node 1 traces its writes and events, the others trace what they receive.
traces() {
	local tracing=/sys/kernel/tracing dev=${RFM#/dev/}
	mountpoint -q $tracing || mount -t tracefs none $tracing 2>/dev/null
	if [[ ! -d $tracing/events/vrfm ]]; then
		skip "trace events" "no FTRACE"
		return
	fi
	echo >$tracing/trace
	echo 1 >$tracing/events/vrfm/enable
	barrier tracing
	if ((NODE == 1)); then
		rfm poke 36864 9001
		rfm store 40960 9002
		rfm event 65535 3 9003
		rfm sync
	else
		within 20 rfm await 36864 9001 5
	fi
	barrier traced
	echo 0 >$tracing/events/vrfm/enable
	cat $tracing/trace >"$results/trace"
	if ((NODE == 1)); then
		traced "vrfm_write: $dev offset=0x9000 len=4$"
		traced "vrfm_twin: $dev page=0xa000 made"
		traced "vrfm_scan: $dev page=0xa000 words=1$"
		traced "vrfm_event_sent: $dev node=65535 event=3 data=0x232b"
	else
		traced "vrfm_apply: $dev node=1 offset=0x9000 len=4"
		traced "vrfm_apply: $dev node=1 offset=0xa000 len=4"
		traced "vrfm_event_raised: $dev node=1 event=3 data=0x232b"
	fi
}

rings() {
	check "the ring of node $NODE is closed" rfm ring
	barrier rings
}

linked
everywhere
blocks
in_order
untorn
stores
neighbours
events
dark
traces
rings
back
reborn
barrier over
check "node $NODE removes its device" rfm_unmake
barrier gone
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
