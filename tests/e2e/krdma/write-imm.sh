#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# write-imm: writes that notify the peer (KRDMA_WRITE_IMM), and messages that invalidate a key of the peer
# (KRDMA_SEND_INV). Each notification arrives once, in order, after its data. An invalidated key cannot be used. A peer
# that invalidates a key without the right to do so is disconnected.
#
#   node 1 (server by callbacks on 7000, with an exported buffer on 7001) <--- krdma ---> node 2 (writes, asks)
#
# kernels: uml uml/ntr
# long: uml/siw stock-6.1 uml-debug stock-new stock-6.12 debug-6.1 debug-6.1/siw uml/ntr-small uml/ntr-order debug-6.1/ntr-dma uml/ntr-ntb
# load: krdma krdma_test
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)

# counter NAME [MEMBER]: print a counter of krdma, which sums over all connections of this node so far.
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
counter() {
	awk -v name="$1${2:+.$2}" '$1 == name { print $2 }' /sys/kernel/debug/krdma/counters
}

# told N WHAT: one case: the server was notified of N writes since it last described its memory, each with valid data.
told() {
	expect 0 ask w report
	[[ $kt_text == "told=$1 bad=0" ]]
	ok $? "the server was notified of $1 writes, $2 ($kt_text)"
}

# writes N LEN MEM [OPTION]...: two cases: N writes of LEN bytes from memory of kind MEM complete, and the server is
# notified of all writes.
writes() {
	local n=$1 len=$2 mem=$3
	shift 3
	kt async w write_imm "$mem" "$n" "$len" "$@"
	kt_is 0 "$n writes of $len bytes out of $mem, $* ($kt_text)"
	told "$n" "of $len bytes out of $mem"
}

writing() {
	local mem len
	for mem in virt pages sg region; do
		for len in 1 16 200 220 221 4096 65535; do writes 40 $len $mem chain=7; done
	done
	# Post more writes than there are credits and slots.
	writes $((2000 / slow)) 64 virt chain=100
	writes $((1000 / slow)) 700 pages
	# Write across the boundary of two MRs of the peer.
	writes 47 65535 virt chain=47
	writes 47 65535 region
	kt async w write_imm none 1 0
	kt_is EINVAL "a notifying write of 0 bytes is refused"
}

# Notifying writes to a peer without a receive callback are refused.
unwanted() {
	kt connect u "$server" 7001 rw=1 max_msg=65536
	kt_is 0 "connected to a peer without a callback"
	expect 0 query u
	[[ $kt_text == *" takes=0/1"* ]]
	ok $? "query says that a peer without a callback takes no notifications ($kt_text)"
	kt async u write_imm virt 1 64
	kt_is EOPNOTSUPP "a notifying write to a peer without a callback is refused ($kt_text)"
	kt async u write virt 1 64
	kt_is 0 "a plain write to a peer without a callback succeeds ($kt_text)"
	kt release u
}

inviting() {
	local invalidated
	invalidated=$(counter regions_invalidated)
	expect 0 ask w invite 60
	((invalidated + 60 == $(counter regions_invalidated)))
	ok $? "the peer has invalidated 60 keys of this side"
	expect 0 ask w back 60
	((invalidated + 60 == $(counter regions_invalidated) || NAMESPACES))
	ok $? "invalidating 60 keys of the peer invalidates none of this side"
	writes 10 4096 virt
}

# ends WHAT ERRNO...: three cases: the command "ask WHAT" ends the connection, with one of ERRNO.
ends() {
	local what=$1 why
	shift
	# Request a pool of MRs, because "ask heir" needs two regions that use the same MR one after the other. Without
	# a pool, software adapters use another MR for each region.
	kt connect e "$server" 7000 mr_pool=4
	kt_is 0 "connected for $what"
	kt ask e "$what"
	for why in "$@"; do ((kt_ret != ${errno[$why]})) || break; done
	kt_is "$why" "$what ends the connection"
	kt until e CLOSED 10000
	kt_is 0 "the connection is CLOSED after $what"
	kt release e
}

# invalid_key WHAT DESCRIPTION: the command "ask WHAT" invalidates a key that is not valid any more. If the adapter of the
# peer checks this, it ends the connection. Otherwise krdma does, and counts a protocol error.
invalid_key() {
	local key
	key=$(counter protocol_error key)
	if [[ $LINK == ntr ]]; then
		ends "$1" EACCES ECONNRESET EIO EPROTO
		return
	fi
	ends "$1" EPROTO
	((key + 1 == $(counter protocol_error key)))
	ok $? "$2 is counted as a protocol error"
}

# Disconnect at random times during writes. Each request completes once.
endings() {
	local round
	for round in 1 2 3 4 5 6; do
		kt connect d "$server" 7000
		kt_is 0 "connected, round $round"
		kt_start writing async d write_imm virt 2000 4096 chain=50
		sleep 0.0$((RANDOM % 10))
		kt disconnect d
		kt_result writing 40
		((kt_ret == 0 || kt_ret == errno[ESHUTDOWN] || kt_ret == errno[ENOTCONN] || kt_ret == errno[ENOENT]))
		ok $? "round $round: each write in flight completes once at a disconnect: $kt_ret ($kt_text)"
		kt release d
	done
}

if ((NODE == 1)); then
	expect 0 tell 0.0.0.0 7000 recv_depth=16
	expect 0 listen rw 0.0.0.0 7001 rw=1 max_msg=65536
	kt kthread hold hold rw
	barrier listening
	barrier posted
	expect 0 tell end
	expect 0 tell 0.0.0.0 7002 rw=1 recv_depth=4 max_msg=65536
	barrier floods
	barrier flooded
	expect 0 tell end
	kt stop hold
	kt_is EINTR "hold: $kt_text"
	expect 0 release rw
else
	barrier listening
	kt connect w "$server" 7000
	kt_is 0 "connected to a peer with callbacks"
	expect 0 query w
	[[ $kt_text == *" takes=1/1"* ]]
	ok $? "query says that the peer takes notifications, and invalidates keys ($kt_text)"
	writing
	unwanted
	((NAMESPACES)) || inviting
	expect 0 ask w invite 5
	expect 0 ask w back 5
	key=$(counter protocol_error key)
	ends foreign EPROTO
	((key + 1 == $(counter protocol_error key)))
	ok $? "invalidating a foreign key is counted as a protocol error"
	invalid_key twice "invalidating a key twice"
	reused=$(counter mrs_reused)
	invalid_key heir "invalidating a former key of a reused MR"
	((reused + 1 == $(counter mrs_reused)))
	ok $? "the MR of the former key was reused"
	# The errno after the use of an invalidated key depends on the transport.
	ends stale EACCES ECONNRESET EIO
	writes 40 4096 virt
	kt release w
	endings
	barrier posted
	barrier floods
	# The peer returns the credits of the writes in CREDIT messages, which have no data. CREDIT messages take
	# receives of this side, which grants these receives again only by CREDIT messages of its own.
	for writes in 0 2 4 6 8; do
		kt stuck "$server" 7002 5 "$writes" recv_depth=8 max_msg=65536
		kt_is 0 "an owner that keeps 5 of 8 receives gets 5 messages, after $writes writes ($kt_text)"
	done
	barrier flooded
fi
same_resources "$before" "resources are as before"
finish
