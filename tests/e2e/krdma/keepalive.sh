#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# keepalive: both ends detect that the peer has vanished, even if they have no data to send. A quiet connection stays
# up. A connection without keepalive stays up, and so does a connection over a slow link that is full of READs and
# WRITEs.
#
#   node 1 (echoes on 7000; on 7001 without keepalive) <--- cut for a while --- node 2 (waits for messages)
#   node 1 (exports a buffer on 7002)                  <--- slow ------------- node 2 (READs and WRITEs)
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

# queue_pairs: print the number of krdma's queue pairs on this node, which excludes the queue pair of the GSI.
queue_pairs() { rdma resource show qp 2>/dev/null | grep -c "$RDMADEV.*type RC"; }

# until_pairs N SECONDS: wait until this node has N queue pairs of krdma. Fail after SECONDS.
until_pairs() {
	local end=$((SECONDS + $2))
	until (($(queue_pairs) == $1)); do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# Drop all packets that leave this node, including acknowledgements.
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
	check "node 1 closes the connection of a silent peer" until_pairs 1 $((20 * slow))
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

# still_waits JOB WHAT: one case: the task of JOB still waits.
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
	kt_is ETIMEDOUT "a receive ends when the peer is silent"
	still_waits n "a connection without keepalive stays when the peer is silent"
	barrier missed
	expect 0 release q
	barrier back
	expect 0 send n 64
	kt_result n 20
	kt_is 64 "a connection without keepalive works after the cut"
	expect 0 release n
	kt rounds r "$server" 7000 3
	kt_is 0 "new connections work after the cut"
	kt release r
	barrier over
}

# A peer must not be declared dead because of bulk data, if the link transfers at least 4 MB/s. Answers to keepalive
# probes wait behind the data of WRITEs and READs, and a peer without an answer for four keepalive intervals is declared
# dead. So krdma limits the data in flight to the amount that a link of 4 MB/s transfers in one interval, or in 5 s if
# the interval is longer than this default.
#
# On "uml", an answer behind all data of this test would take longer than four intervals. The intervals of other kernels
# are longer, because a debug kernel may not reach 4 MB/s.
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
		# The send depth is larger than the number of requests, because some requests take two slots on siw.
		expect 0 connect c "$server" 7002 rw=1 max_msg=$size send_depth=128 keepalive_ms=$patience
	fi
	barrier bulk-connected
	network rate 48mbit
	ok $? "the link is limited to 48 Mbit/s"
	barrier bulk-slow
	for op in write read; do
		on 2 kt async c $op region $count 400000 chain=$count nowait=1
		on 2 kt_is 0 "$count ${op^^}s of 400 KB over a slow link complete ($kt_text, $kt_ms ms)"
		barrier "bulk-$op"
	done
	# Skip WRITEs in both directions on siw: krdma's limit does not count the data in the TCP buffers of both
	# directions.
	if [[ $LINK != siw ]]; then
		kt async $slot write region $both 400000 chain=$both
		kt_is 0 "$both WRITEs of 400 KB both ways over a slow link complete ($kt_text, $kt_ms ms)"
	fi
	if ((NODE == 2)); then
		kt async c write region $count 400000 nowait=1
		kt_is EAGAIN "KRDMA_NOWAIT requests beyond the limit of bulk data are refused ($kt_text)"
	fi
	barrier bulk-both
	network
	if ((NODE == 2)); then
		kt async c write region $((2 * long > size ? 1 : 2)) $long
		kt_is 0 "a single request may exceed the limit of bulk data ($kt_text)"
		kt async c write region $count 400000
		kt_is 0 "$count WRITEs complete after a request beyond the limit of bulk data ($kt_text)"
	fi
	barrier bulk-over
	kt release $slot
	on 1 expect 0 release b
}

network_ready
if ((NODE == 1)); then server; else client; fi
bulk
same_resources "$before" "resources are as before"
finish
