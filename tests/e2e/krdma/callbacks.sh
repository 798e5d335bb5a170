#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# callbacks: callbacks instead of calls that wait.
# - Connections: a server without a thread accepts many clients of one task, rejects some of them, and is notified when a
#   connection ends. Each attempt of a client causes one callback, or none if the client releases the connection before
#   the attempt has ended.
# - Messages: a server gets one message at a time, in order, keeps some messages for a while, and answers each one. A
#   server that keeps all messages blocks the sender. Messages that arrive before the end of the connection are delivered
#   before closing().
# - Notifications: writes that notify the peer (KRDMA_WRITE_IMM), and messages that invalidate a key of the peer
#   (KRDMA_SEND_INV). Each notification arrives once, in order, after its data. An invalidated key cannot be used. A peer
#   that invalidates a key without the right to do so is disconnected.
#
#   node 1 (servers by callbacks on 7000, with an exported buffer on 7001; 7002 never accepts) <--- krdma ---> node 2
#
# kernels: uml uml/ntr
# long: uml/siw uml-debug stock-6.1 stock-new stock-6.12 debug-6.1 debug-6.1/siw uml/ntr-small uml/ntr-order debug-6.1/ntr-dma uml/ntr-ntb
# load: krdma krdma_test
# timeout: 600

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
mount_debugfs

# ---- connections ----

# served WANTED...: one case: the text with the counts of the server ends with WANTED, in time.
served() {
	local end=$((SECONDS + 15 * slow))
	kt server
	until [[ $kt_text == *"$*" ]] || ((SECONDS > end)); do
		sleep 0.1
		kt server
	done
	[[ $kt_text == *"$*" ]]
	ok $? "server: $* ($kt_text)"
}

# lockdep_minds: succeed if lockdep warns when a listener ends before siw has accepted all of its connections, see
# tests/vm/README.rst.
lockdep_minds() { [[ $LINK == siw && -e /proc/lockdep ]]; }

connection_server() {
	local options
	for options in "rw=1 max_msg=65536 noio=1" ""; do
		# shellcheck disable=SC2086 # words of a command
		expect 0 server 0.0.0.0 7000 recv_depth=8 backlog=512 $options
		barrier listening
		barrier many
		served "accepted=65 rejected=1 failed=0 closed=65"
		if [[ $options == *noio* ]]; then [[ $kt_text == "io=0 "* ]]; else [[ $kt_text != "io=0 "* ]]; fi
		ok $? "allocations in callbacks may start I/O only without noio: $kt_text ($options)"
		barrier counted
		barrier left
		kt server
		echo "# $kt_text"
		expect 0 server end
	done
	expect 0 server 0.0.0.0 7000 recv_depth=8
	expect 0 listen deaf 0.0.0.0 7002
	barrier failures
	barrier failed
	expect 0 release deaf
	# Release the server while clients are connected or connecting.
	barrier going
	sleep 0.2
	expect 0 server end
	barrier gone
}

connection_client() {
	local options i
	for options in "rw=1 max_msg=65536 noio=1" ""; do
		barrier listening
		# shellcheck disable=SC2086 # words of a command
		{
			kt clients "$server" 7000 1 recv_depth=8 $options
			kt_is 0 "one client connects $options"
			kt clients "$server" 7000 64 recv_depth=8 $options connect_ms=60000
			kt_is 0 "64 clients connect at once $options"
			kt clients "$server" 7000 1 private=no $options
			kt_is ECONNREFUSED "a rejected client gets ECONNREFUSED $options"
		}
		barrier many
		barrier counted
		for i in 1 3 10 30 100; do
			# shellcheck disable=SC2086 # words of a command
			kt clients "$server" 7000 8 recv_depth=8 after=$i $options
			kt_is 0 "clients released after $i ms end $options"
		done
		barrier left
	done
	barrier failures
	kt clients "$server" 7009 4
	kt_is ECONNREFUSED "clients of a port without a listener are refused"
	kt clients "$server" 7002 4 connect_ms=1500
	kt_is ETIMEDOUT "clients of a server that does not accept time out"
	kt_within 1400 $((4000 + unanswered_ms)) "clients of a server that does not accept time out in time"
	kt clients 10.56.0.99 7000 2 addr_ms=1000
	is_one_of "$kt_ret" "${errno[ETIMEDOUT]}" "${errno[EHOSTUNREACH]}"
	ok $? "clients of a host that does not exist fail: $kt_ret"
	kt clients "$server" 7000 1 rw=1
	# iWARP does not carry the reason of a refused connect, so the client gets ECONNREFUSED.
	is_one_of "$kt_ret" "${errno[EPROTO]}" "${errno[ECONNREFUSED]}"
	ok $? "a client with another mode than the server is refused: $kt_ret"
	barrier failed
	barrier going
	if lockdep_minds; then
		skip "the server goes while clients connect" "siw"
	else
		kt clients "$server" 7000 32 recv_depth=8 connect_ms=20000
		echo "# clients of a server that goes: $kt_ret after $kt_ms ms"
		((kt_ms < 25000))
		ok $? "the server goes while clients connect: all of them end"
	fi
	barrier gone
}

connections() {
	if ((NODE == 1)); then connection_server; else connection_client; fi
}

# ---- messages ----

modes=("" "poll=1" "rw=1 max_msg=1048576")

# talks OPTIONS: node 2 sends six series of messages. Each series has a number of messages, their maximum length, and a
# window: the number of further messages that are sent before an answer is received. Node 1 checks in counts() that all
# messages have arrived.
talks() {
	local what
	# shellcheck disable=SC2086 # words of a command
	kt connect t "$server" 7000 $1
	kt_is 0 "connected for messages by callback: $1"
	for what in "200 0 1" "500 300 8" "500 4080 8" "200 20000 4" "60 300000 4" "10 1000000 1"; do
		# shellcheck disable=SC2086 # words of a command
		kt talk t $what
		kt_is 0 "talk $what $1: each message is answered in order ($kt_text)"
		barrier talked
		barrier counted
	done
	kt release t
}

# callback_got WORDS KEEP: one case: the counts of messages on node 1 are WORDS. From now on node 1 keeps KEEP messages.
callback_got() {
	kt rxcb "$2"
	[[ $kt_text == "$1" ]]
	ok $? "the receive callback got $1 ($kt_text)"
}

# The server keeps five messages. Short messages occupy five of the eight receives of the connection.
counts() {
	local n kept
	for n in 200 500 500 200 60 10; do
		barrier talked
		kept=5
		callback_got "messages=$n bad=0 unanswered=0 kept=$kept" 5
		barrier counted
	done
}

# A server that releases no message blocks the sender, until it releases messages.
keeps_all() {
	if ((NODE == 1)); then
		kt rxcb 100
		barrier full-begun
		barrier full
		callback_got "messages=7 bad=0 unanswered=0 kept=7" 0
		barrier emptied
		barrier refilled
		kt rxcb 0
		[[ $kt_text == "messages=1 "* ]]
		ok $? "a blocked message arrives after messages were returned ($kt_text)"
	else
		kt connect f "$server" 7000
		kt_is 0 "connected to a server that keeps all messages"
		barrier full-begun
		# The peer has eight receives and grants eight credits. The last credit is reserved for messages that
		# only return credits.
		kt async f send virt 7 100 chain=7
		kt_is 0 "7 messages are sent with 8 credits ($kt_text)"
		kt send f 100 500
		kt_is ETIMEDOUT "a message without a credit is not sent"
		barrier full
		barrier emptied
		kt send f 100 5000
		kt_is 0 "a message is sent after messages were returned"
		sleep 0.5
		barrier refilled
		kt release f
	fi
}

# Messages that have arrived are delivered before closing() is called. The owner may release them after the connection
# is freed.
messages_before_end() {
	local i lost=0
	for i in {1..20}; do
		if ((NODE == 1)); then
			kt rxcb 100
			barrier end-begun
			barrier ended
			wait_closed "$i"
			kt rxcb
			[[ $kt_text == "messages=40 bad=0 "* ]] || lost=$((lost + 1))
		else
			barrier end-begun
			kt connect e "$server" 7000 send_depth=64
			kt async e send virt 40 1000 chain=40
			kt_is 0 "round $i: 40 messages are sent before the end ($kt_text)"
			kt release e
			barrier ended
		fi
	done
	((NODE == 2)) && return
	# On siw a send can complete although its message does not arrive, so messages may be lost.
	((lost == 0)) || [[ $LINK == siw ]]
	ok $? "all acknowledged messages are delivered before the end: $lost of 20 rounds lost some"
}

# The messages arrive and the connection ends while the owner's callback connected() runs, which takes a second here.
# Only after that does a work item deliver the messages. krdma's queue for callbacks runs one work item at a time in
# this test, so the work item that calls closing() must not wait for the one that delivers.
one_worker() {
	local n
	for n in 1 2 3; do
		barrier "worker-$n"
		if ((NODE == 1)); then
			kt rxcb 100
			barrier "worker-listens-$n"
			barrier "worker-ended-$n"
			with_workers krdma-owner 1 wait_closed "$n"
			kt rxcb 0
			[[ $kt_text == "messages=8 bad=0 "* ]]
			ok $? "8 messages are delivered before the end if krdma's queue runs one work at a time ($kt_text)"
		else
			barrier "worker-listens-$n"
			kt connect w "$server" 7000 send_depth=64
			kt async w send virt 8 1000 chain=8
			kt_is 0 "round $n: 8 messages are sent before the end ($kt_text)"
			kt release w
			barrier "worker-ended-$n"
		fi
	done
}

# wait_closed N: one case: the server is notified of the end of N connections, in time.
wait_closed() {
	local end=$((SECONDS + 20 * slow))
	kt server
	until [[ $kt_text == *"closed=$1" ]] || ((SECONDS > end)); do
		sleep 0.1
		kt server
	done
	[[ $kt_text == *"closed=$1" ]]
	ok $? "the server is notified of the end of $1 connections ($kt_text)"
}

messages() {
	local mode
	if ((NODE == 1)); then
		expect 0 server 0.0.0.0 7000 rxcb=1 recv_depth=8 max_msg=1048576
		kt rxcb 5
		barrier listening
		counts
		expect 0 server end
		for mode in "${modes[@]:1}"; do
			# shellcheck disable=SC2086 # words of a command
			expect 0 server 0.0.0.0 7000 rxcb=1 recv_depth=8 max_msg=1048576 $mode
			kt rxcb 5
			barrier again
			counts
			expect 0 server end
		done
		expect 0 server 0.0.0.0 7000 rxcb=1 recv_depth=8
		barrier again
		keeps_all
		expect 0 server end
		expect 0 server 0.0.0.0 7000 rxcb=1 recv_depth=64
		barrier again
		messages_before_end
		# The connections are freed now, and the server still keeps their messages.
		expect 0 server end
		kt rxcb 0
		kt_is 0 "40 messages are returned after their connection is freed ($kt_text)"
		expect 0 server 0.0.0.0 7000 rxcb=1 recv_depth=64 linger=$((1000 * slow))
		barrier again
		one_worker
		expect 0 server end
	else
		barrier listening
		talks ""
		for mode in "${modes[@]:1}"; do
			barrier again
			talks "$mode"
		done
		barrier again
		keeps_all
		barrier again
		messages_before_end
		barrier again
		one_worker
	fi
}

# ---- notifications ----

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
		for len in 1 16 200 220 221 4096 65535; do writes 40 "$len" "$mem" chain=7; done
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

# ask_ends WHAT ERRNO...: three cases: the command "ask WHAT" ends the connection, with one of ERRNO.
ask_ends() {
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
	key=$(counter protocol_error.key)
	if [[ $LINK == ntr ]]; then
		ask_ends "$1" EACCES ECONNRESET EIO EPROTO
		return
	fi
	ask_ends "$1" EPROTO
	((key + 1 == $(counter protocol_error.key)))
	ok $? "$2 is counted as a protocol error"
}

# Disconnect at random times during writes. Each request completes once.
disconnects() {
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

notifications() {
	local key reused writes
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
		key=$(counter protocol_error.key)
		ask_ends foreign EPROTO
		((key + 1 == $(counter protocol_error.key)))
		ok $? "invalidating a foreign key is counted as a protocol error"
		invalid_key twice "invalidating a key twice"
		reused=$(counter mrs_reused)
		invalid_key heir "invalidating a former key of a reused MR"
		((reused + 1 == $(counter mrs_reused)))
		ok $? "the MR of the former key was reused"
		# The errno after the use of an invalidated key depends on the transport.
		ask_ends stale EACCES ECONNRESET EIO
		writes 40 4096 virt
		kt release w
		disconnects
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
}

section connections
section messages
section notifications
finish
