#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# tell: writes that the other side is told of (KRDMA_WRITE_IMM), and keys that it takes back with a message
# (KRDMA_SEND_INV). What is told of is there, in order, once; a key that was given back is dead; who gives back what is
# not his to give back is not listened to any more.
#
#   node 1 (server by callbacks on 7000, with a shown buffer on 7001) <--- krdma ---> node 2 (writes, asks)
#
# kernels: uml
# long: uml/siw stock-6.1 uml-debug stock-new stock-6.12 debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)

# counter NAME [MEMBER]: of all connections on this node so far
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
counter() {
	awk -v name="$1${2:+.$2}" '$1 == name { print $2 }' /sys/kernel/debug/krdma/counters
}

# told N WHAT: so many writes the server was told of since memory was asked for, and all of them were there
told() {
	expect 0 ask w report
	[[ $kt_text == "told=$1 bad=0" ]]
	ok $? "the server was told of $1, $2 ($kt_text)"
}

# writes N LEN MEM [OPTION]...
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
	# More than there are credits and slots.
	writes $((2000 / slow)) 64 virt chain=100
	writes $((1000 / slow)) 700 pages
	# Over the border of two MRs.
	writes 47 65535 virt chain=47
	writes 47 65535 region
	kt async w write_imm none 1 0
	kt_is EINVAL "a write of nothing is refused"
}

# A peer that has nobody to be told.
unwanted() {
	kt connect u "$server" 7001 rw=1 max_msg=65536
	kt_is 0 "connected to one that has no callback"
	expect 0 query u
	[[ $kt_text == *" takes=0/1"* ]]
	ok $? "query says that it is not told ($kt_text)"
	kt async u write_imm virt 1 64
	kt_is EOPNOTSUPP "and it is not ($kt_text)"
	kt async u write virt 1 64
	kt_is 0 "but can be written to ($kt_text)"
	kt release u
}

inviting() {
	local invalidated
	invalidated=$(counter regions_invalidated)
	expect 0 ask w invite 60
	((invalidated + 60 == $(counter regions_invalidated)))
	ok $? "60 keys of this side were invalidated by the peer"
	expect 0 ask w back 60
	((invalidated + 60 == $(counter regions_invalidated) || NODE_SHARED))
	ok $? "and 60 of the peer's, none of ours"
	writes 10 4096 virt
}

# @1: what to ask, @2...: errors that are right
ends() {
	local what=$1 why
	shift
	# Else software adapters have another MR for each region.
	kt connect e "$server" 7000 mr_pool=4
	kt_is 0 "connected for $what"
	kt ask e "$what"
	for why in "$@"; do ((kt_ret != ${errno[$why]})) || break; done
	kt_is "$why" "$what ends the connection"
	kt until e CLOSED 10000
	kt_is 0 "it is over"
	kt release e
}

# Whatever it is doing, each request ends once.
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
		ok $? "disconnected under writes: each ends once: $kt_ret ($kt_text)"
		kt release d
	done
}

# One kernel for both nodes: one set of counters.
NODE_SHARED=0
[[ $KERNEL != uml-debug ]] || NODE_SHARED=1

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
	kt_is 0 "connected"
	expect 0 query w
	[[ $kt_text == *" takes=1/1"* ]]
	ok $? "query says that the peer is told, and gives back keys ($kt_text)"
	writing
	unwanted
	((NODE_SHARED)) || inviting
	expect 0 ask w invite 5
	expect 0 ask w back 5
	key=$(counter protocol_error key)
	ends foreign EPROTO
	((key + 1 == $(counter protocol_error key)))
	ok $? "and it is counted"
	ends twice EPROTO
	((key + 2 == $(counter protocol_error key)))
	ok $? "and it is counted, too"
	reused=$(counter mrs_reused)
	ends heir EPROTO
	((key + 3 == $(counter protocol_error key)))
	ok $? "and so is that of an MR whose key was for it once"
	((reused + 1 == $(counter mrs_reused)))
	ok $? "which was the same MR"
	# How it is told that it may not is the transport's business.
	ends stale EACCES ECONNRESET EIO
	writes 40 4096 virt
	kt release w
	endings
	barrier posted
	barrier floods
	# The peer returns credits by messages of their own, which take receives that nothing else gives back.
	for writes in 0 2 4 6 8; do
		kt stuck "$server" 7002 5 "$writes" recv_depth=8 max_msg=65536
		kt_is 0 "an owner that keeps 5 of 8 receives gets 5 messages, after $writes writes ($kt_text)"
	done
	barrier flooded
fi
same_resources "$before" "resources are as before"
finish
