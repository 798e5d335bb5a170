#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# alive: a peer that vanishes without a word is missed, by both ends, although nobody has anything to send. A quiet
# connection stays, and so does one whose user does not want the peer to be asked.
#
#   node 1 (echoes on 7000; on 7001 for those who are not asked) <--- cut for a while --- node 2 (waits for messages)
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

network_ready
if ((NODE == 1)); then server; else client; fi
same_resources "$before" "resources are as before"
finish
