#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# links: what one node of a reflective memory writes, by calls or through a mapping, the others have: in order, untorn,
# and nobody has anything else. Events come behind what was written before them.
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
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
size=1M

linked() {
	check "a device with two peers" rfm_make $size
	check "is linked with both" within 30 rfm_is ready
	(($(wc -l <"/sys/class/rfm2g/${RFM#/dev/}/peers") == 2 && $(grep -c ready "/sys/class/rfm2g/${RFM#/dev/}/peers") == 2))
	ok $? "sysfs says so"
	check "there is a signal" signal 1
	barrier linked
}

# signal 0|1: of a register of the cards
signal() {
	((((0x$(rfm lcsr) >> 2) & 1) == $1))
}

# Each node writes a word of its own, and all have all.
everywhere() {
	local i
	check "a word is written" rfm poke $((64 * NODE)) $((1000 + NODE))
	for ((i = 1; i <= NODES; i++)); do
		check "node $i's is here" rfm await $((64 * i)) $((1000 + i)) $((10 * slow))
	done
	barrier everywhere
}

# equal NAME: all nodes have the same memory.
equal() {
	rfm_settle || return
	barrier "$1-synced"
	rfm sum >"/exchange/$1-$NODE"
	barrier "$1-summed"
	[[ $(sort -u /exchange/"$1"-[0-9]* | wc -l) == 1 ]]
}

blocks() {
	local i
	for ((i = 1; i <= NODES; i++)); do
		((i != NODE)) || check "200000 bytes are written" rfm fill $((131072 + 300000 * (i - 1))) 200000 "$i"
		barrier "block$i"
	done
	check "all nodes are equal" equal blocks
}

# G2: a block, then its number.
in_order() {
	local i
	for ((i = 1; i <= NODES; i++)); do
		if ((i == NODE)); then
			sleep 0.3
			check "$((300 / slow)) blocks of 5000 bytes are written" rfm blocks 4096 5000 $((300 / slow))
		else
			check "node $i's blocks are never older than their number" \
				rfm watch 4096 5000 $((300 / slow)) $((20 * slow))
		fi
		barrier "order$i"
		((i != NODE)) || rfm poke 4096 0
		rfm await 4096 0 $((10 * slow))
		barrier "again$i"
	done
}

# G7: eight bytes are one.
untorn() {
	if ((NODE == 1)); then
		sleep 0.3
		check "eight bytes are written" rfm twist 8192 $((20000 / slow / slow))
	else
		check "and never seen torn" rfm untwist 8192 $((2 * slow))
	fi
	barrier untorn
}

# G4: by a program that stores and ends.
stores() {
	check "a word is stored" rfm store $((16384 + 4 * NODE)) $((2000 + NODE))
	local i
	for ((i = 1; i <= NODES; i++)); do
		check "node $i's is here" rfm await $((16384 + 4 * i)) $((2000 + i)) $((10 * slow))
	done
	barrier stores
}

# G6: all nodes count in the same pages, each its own words.
neighbours() {
	local i
	check "every third word is counted up" rfm own $((32768 + 4 * (NODE - 1))) 3000 "$NODES" $((400 / slow))
	barrier counted
	for ((i = 0; i < 3; i++)); do
		check "word $i is there" rfm await $((32768 + 4 * i)) $((400 / slow)) $((10 * slow))
	done
	barrier seen
	check "all nodes are equal" equal neighbours
	[[ $(dd if="$RFM" bs=1 skip=32768 count=12000 status=none | od -An -v -tu4 -w4 | sort -u | tr -d ' \n') == $((400 / slow)) ]]
	ok $? "and no word was damaged"
	barrier judged
}

# G3: an event is behind what was written and stored before it.
events() {
	local i word
	for ((i = 1; i <= NODES; i++)); do
		if ((i == NODE)); then
			within 10 test -e "/exchange/waits-$i-$((i % NODES + 1))" -a -e "/exchange/waits-$i-$(((i + 1) % NODES + 1))"
			sleep 0.3
			rfm fill 65536 60000 $((77 + i))
			rfm store $((12288 + 4 * i)) $((3000 + i))
			check "an event for all is sent" rfm event 65535 2 $((4000 + i))
		else
			: >"/exchange/waits-$i-$NODE"
			word=$(rfm wait 2 $((20000 * slow)))
			[[ $word == "$i $((4000 + i))" ]]
			ok $? "an event from node $i: $word"
			[[ $(rfm peek $((12288 + 4 * i))) == $((3000 + i)) ]]
			ok $? "and what was stored before it is here"
		fi
		barrier "event$i"
	done
	check "after the events all nodes are equal" equal events
	if ((NODE == 1)); then
		check "an event for one" rfm event 3 1 7
		check "an event for a node that is not there" rfm event 9 1 7
	elif ((NODE == 3)); then
		[[ $(rfm wait 1 $((20000 * slow))) == "1 7" ]]
		ok $? "is for that one"
	fi
	barrier directed
	if ((NODE == 2)); then
		! rfm wait 1 200 2>/dev/null
		ok $? "and not for another"
	fi
	barrier undirected
}

# G8: a peer that is taken out misses writes, and has them when it is back.
back() {
	local dir=$rfm_config/${RFM#/dev/}/peers
	barrier back
	if ((NODE == 2)); then
		check "a node leaves: peer 1" rmdir "$dir/1"
		check "and peer 3" rmdir "$dir/3"
		[[ $(rfm take 9) == "3 0" ]]
		ok $? "two links were lost before anybody looked: the second can be taken"
		! rfm take 9 2>/dev/null
		ok $? "and is the only one"
		rfm poke 20480 5
	fi
	barrier left
	if ((NODE != 2)); then
		check "it is noticed" within 20 rfm_is down 2
		rfm fill $((600000 + 100000 * NODE)) 50000 "$NODE"
		rfm store $((24576 + 4 * NODE)) $((6000 + NODE))
		rfm poke $((25600 + 4 * NODE)) $((7000 + NODE))
	fi
	barrier missed
	if ((NODE == 2)); then
		[[ $(rfm peek 25604) == 0 ]]
		ok $? "what was written meanwhile is not here"
		check "alone it is a ring of one" signal 1
		rfm_peer 9
		check "with a peer that is not there it has no signal" signal 0
		rmdir "$dir/9"
		check "it comes back" rfm_peers
	fi
	check "and is linked again" within 30 rfm_is ready
	barrier returned
	check "all nodes are equal" equal back
	[[ $(rfm peek 25604) == 7001 && $(rfm peek 25612) == 7003 && $(rfm peek 24580) == 6001 && $(rfm peek 20480) == 5 ]]
	ok $? "with what was written meanwhile"
	barrier equal
}

# A node that starts anew gets what the others wrote.
reborn() {
	barrier reborn
	if ((NODE == 3)); then
		check "a device goes" rfm_unmake
		check "and a new one comes" rfm_make $size
	fi
	check "and is linked" within 30 rfm_is ready
	barrier alive
	[[ $(rfm peek 25604) == 7001 && $(rfm peek 64) == 1001 && $(rfm peek 128) == 1002 ]]
	ok $? "it has what the living wrote"
	barrier known
}

# With the transmitter off neither data nor events leave; both come in, and later ones leave again.
dark() {
	if ((NODE == 1)); then
		check "the transmitter is off" rfm dark 1
		rfm poke 28672 8001
		check "an event is sent to nobody" rfm event 65535 3 8001
		rfm dark 0
		check "and on" rfm event 65535 3 8002
	else
		[[ $(rfm wait 3 $((20000 * slow))) == "1 8002" ]]
		ok $? "no event comes from a node without a transmitter, later ones do"
		[[ $(rfm peek 28672) == 0 ]]
		ok $? "nor what it wrote"
	fi
	barrier lit
	# So that all are equal again.
	((NODE != 1)) || rfm poke 28672 0
	barrier undark
}

# traced PATTERN
traced() {
	grep -q "$1" "$results/trace"
	ok $? "a trace has: $1"
}

# Node 1 traces what it sends, the others what comes.
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
		traced "vrfm_flush: $dev page=0xa000 words=1$"
		traced "vrfm_event_sent: $dev node=65535 event=3 data=0x232b"
	else
		traced "vrfm_apply: $dev node=1 offset=0x9000 len=4"
		traced "vrfm_apply: $dev node=1 offset=0xa000 len=4"
		traced "vrfm_event_raised: $dev node=1 event=3 data=0x232b"
	fi
}

rings() {
	check "the ring is closed" rfm ring
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
check "the device goes" rfm_unmake
barrier gone
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
