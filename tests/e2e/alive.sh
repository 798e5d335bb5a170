#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# alive: a peer that vanishes without a word is missed, by both ends, although nobody has anything to send. A quiet
# connection stays, and so does one whose user does not want the peer to be asked, and one over a slow cable that is full of
# READs and WRITEs.
#
#   node 1 (echoes on 7000; on 7001 for those who are not asked) <--- cut for a while --- node 2 (waits for messages)
#   node 1 (shows 20 MB on 7002)                                 <--- slow ------------- node 2 (READs and WRITEs)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-new stock-6.12 uml-debug debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
interval=500
never=4294967295

# queue_pairs: those of krdma on this node. The GSI's is always there.
queue_pairs() { rdma resource show qp 2>/dev/null | grep -c "$RDMADEV.*type RC"; }

# until_pairs N SECONDS
until_pairs() {
	local end=$((SECONDS + $2))
	until (($(queue_pairs) == $1)); do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# Nothing leaves this node any more: the other one hears nothing, not even acknowledgements.
cut_off() {
	network loss 100%
	ok $? "node $NODE is cut off"
}

server() {
	expect 0 listen l 0.0.0.0 7000 keepalive_ms=$interval
	expect 0 listen quiet 0.0.0.0 7001 keepalive_ms=$never
	for i in 1 2; do kt kthread "serve$i" serve l; done
	kt kthread serve3 serve quiet
	barrier listening
	barrier connected
	barrier still-there
	cut_off
	barrier cut
	check "node 1 drops who does not answer" until_pairs 1 $((20 * slow))
	barrier missed
	network
	barrier back
	barrier over
	for i in 1 2 3; do
		kt stop "serve$i"
		kt_is EINTR "serve$i: $kt_text"
	done
	expect 0 release l
	expect 0 release quiet
}

# still_waits JOB WHAT
still_waits() {
	kt_result "$1" 0
	[[ $kt_text == "still running" ]]
	ok $? "$2 ($kt_ret $kt_text)"
}

client() {
	barrier listening
	expect 0 connect q "$server" 7000 keepalive_ms=$interval
	expect 0 connect n "$server" 7001 keepalive_ms=$never
	kt_start q receive q 64
	kt_start n receive n 64
	barrier connected
	sleep 6
	still_waits q "a quiet connection stays for ten intervals"
	barrier still-there
	barrier cut
	kt_result q $((20 * slow))
	kt_is ETIMEDOUT "who does not answer is missed"
	still_waits n "who does not want to know is left alone"
	barrier missed
	expect 0 release q
	barrier back
	expect 0 send n 64
	kt_result n 20
	kt_is 64 "and that connection works when the network does"
	expect 0 release n
	kt rounds r "$server" 7000 3
	kt_is 0 "new connections work"
	kt release r
	barrier over
}

# Of WRITEs the peer sees nothing, and the word of who posts them, or READs, that it is there waits behind that data: that
# must not be taken for death. Promised is that for 4 MB a second, and krdma has so much under way as that moves in an
# interval, but no more than in the default one of 5 s. A peer is given up after four; on "uml", waiting behind all data
# takes longer. A kernel that checks itself may not move 4 MB a second: there the interval is longer than the default. A
# machine that is busy with other things may not, either, for a while: so the interval is not too short.
bulk() {
	local slot=c op size count=90 both=50 patience=$((1000 * slow)) long
	((slow < 4)) || { count=60 both=30 patience=20000; }
	long=$((4000 * (patience < 5000 ? patience : 5000) + 1000000))
	size=$((count * 400000))
	if ((NODE == 1)); then
		slot=a
		expect 0 listen b 0.0.0.0 7002 rw=1 max_msg=$size keepalive_ms=$patience
		barrier bulk
		expect 0 accept a b 20000
	else
		barrier bulk
		# On siw some take two slots.
		expect 0 connect c "$server" 7002 rw=1 max_msg=$size send_depth=128 keepalive_ms=$patience
	fi
	barrier bulk-connected
	network rate 48mbit
	ok $? "a cable of 48 Mbit/s"
	barrier bulk-slow
	for op in write read; do
		((NODE == 1)) || kt async c $op region $count 400000 chain=$count nowait=1
		((NODE == 1)) || kt_is 0 "$count times 400 KB by ${op^^}s ($kt_text, $kt_ms ms)"
		barrier "bulk-$op"
	done
	# On siw what TCP has taken comes on top, both ways.
	if [[ $LINK != siw ]]; then
		kt async $slot write region $both 400000 chain=$both
		kt_is 0 "$both WRITEs both ways ($kt_text, $kt_ms ms)"
	fi
	if ((NODE == 2)); then
		kt async c write region $count 400000 nowait=1
		kt_is EAGAIN "who does not want to wait is told ($kt_text)"
	fi
	barrier bulk-both
	network
	if ((NODE == 2)); then
		kt async c write region $((2 * long > size ? 1 : 2)) $long
		kt_is 0 "a single one may be longer than all that may be under way ($kt_text)"
		kt async c write region $count 400000
		kt_is 0 "and nothing is left of it ($kt_text)"
	fi
	barrier bulk-over
	kt release $slot
	((NODE != 1)) || expect 0 release b
}

network_ready
if ((NODE == 1)); then server; else client; fi
bulk
same_resources "$before" "resources are as before"
finish
