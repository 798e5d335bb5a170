#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# reconnect: persistent connections. After any end they reconnect, and their owner gets connected() and lost()
# alternately. Without a peer the attempts back off. A persistent connection can be stopped at any time.
#
#   node 1 (server with callbacks on 7000, on its own address; 7002 never accepts; 7003 sends; 7009 is unused)
#     ^--- krdma ---- node 2 (has persistent connections)
#   devices are removed on both
#
# kernels:
# alone: uml
# long: stock-6.1 uml/siw uml-debug debug-6.1 uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
options="rw=1 max_msg=65536 recv_depth=8"
patience=$((30 * slow))

link_del() {
	local start=$SECONDS
	timeout 60 rdma link del "$RDMADEV"
	ok $? "rdma link del on node $NODE"
	((SECONDS - start <= 5 * slow))
	ok $? "rdma link del on node $NODE ends in time: $((SECONDS - start)) s"
	[[ -z $(resources) ]]
	ok $? "rdma link del on node $NODE leaves no resource"
}

link_add() {
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV"
	ok $? "rdma link add on node $NODE"
}

serve() {
	# shellcheck disable=SC2086 # words of a command
	expect 0 server "$server" 7000 backlog=512 $options
}

server() {
	barrier absent
	serve
	barrier present
	barrier release
	expect 0 server end
	barrier released
	serve
	barrier present-again
	# shellcheck disable=SC2086
	expect 0 listen deaf "$server" 7002 $options
	barrier deaf
	sends
	barrier load
	link_del
	barrier server-gone
	sleep 1
	link_add
	barrier server-back
	barrier stopped
	expect 0 release deaf
	# End the server. Some of its connections have failed, because the client stopped them while the server accepted
	# them.
	expect 0 server end
	[[ $kt_text =~ accepted=([0-9]+)\ .*closed=([0-9]+) ]]
	((BASH_REMATCH[1] >= (slow < 4 ? 100 : 10)))
	ok $? "the server has accepted many connections: $kt_text"
}

# The server sends a few messages over each of two connections.
sends() {
	local i
	expect 0 listen l "$server" 7003
	barrier sender
	for _ in 1 2; do
		expect 0 accept s l 20000
		for i in 0 100 4000 20000; do expect 0 send s "$i"; done
		barrier sent
		barrier counted
		expect 0 release s
	done
	expect 0 release l
}

now_ms() {
	local up
	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}

# shows NAME PATTERN WHAT [SECONDS]: one case: the output of "kept show NAME" matches PATTERN in time. Sets "took" to
# the time until the match, in ms.
shows() {
	local start end
	start=$(now_ms)
	end=$((start + ${4:-$patience} * 1000))
	kt kept show "$1"
	# shellcheck disable=SC2053 # a pattern
	until [[ $kt_text == $2 ]] || (($(now_ms) > end)); do
		sleep 0.02
		kt kept show "$1"
	done
	took=$(($(now_ms) - start))
	# shellcheck disable=SC2053
	[[ $kt_text == $2 ]]
	ok $? "$3 ($kt_text, after $took ms)"
}

failures() {
	kt kept show "$1"
	[[ $kt_text =~ failures=([0-9]+) ]]
	count=${BASH_REMATCH[1]}
}

# fails NAME N: one case: N attempts of NAME have failed, one after the other, in time.
fails() {
	local end=$((SECONDS + patience * 2))
	failures "$1"
	until ((count >= $2 || SECONDS > end)); do
		sleep 0.02
		failures "$1"
	done
	((count >= $2))
	ok $? "connecting $1 has failed $2 times"
}

# stop NAME LIMIT_MS WHAT: two cases: NAME is stopped without an error, and within LIMIT_MS.
stop() {
	kt kept stop "$1"
	kt_is 0 "stopping $3 succeeds: $kt_text"
	kt_within 0 "$2" "stopping $3 ends in time"
}

keep() {
	local name=$1
	shift
	# shellcheck disable=SC2086
	expect 0 reconnect "$name" "$@" $options
}

# The log has one line for the first failure and one for the next success, however many attempts fail between them.
log_is_short() {
	((! NAMESPACES)) || return 0
	local down up
	down=$(dmesg_node | grep -c "$server:7000: not connected")
	up=$(dmesg_node | grep -c "$server:7000: connected")
	((down == 1 && up == 1))
	ok $? "the log has one line on failed attempts and one on the success: $down, $up"
}

peer_comes_and_goes() {
	keep a "$server" 7000 max=800
	fails a 6
	barrier absent
	barrier present
	shows a "connected epoch=1 *" "a kept connection connects when the peer appears" $((5 * slow))
	log_is_short
	barrier release
	shows a "* connected=1 lost=1 reason=${errno[ECONNRESET]}" "a kept connection is lost when the peer releases it"
	barrier released
	barrier present-again
	shows a "connected epoch=2 *" "a kept connection reconnects when the peer is back" $((5 * slow))
}

backs_off() {
	local start spent
	start=$(now_ms)
	keep b "$server" 7009 max=800
	fails b 10
	spent=$(($(now_ms) - start))
	# The nine waits between ten attempts take 100 + 200 + 400 + 6 * 800 ms, plus or minus a quarter. Without the
	# limit max they would take 51 s.
	((spent >= 4100))
	ok $? "ten failing attempts back off: $spent ms"
	((spent <= 10000 * slow))
	ok $? "the backoff of ten attempts is limited by max: $spent ms"
	expect 0 kept kick b
	failures b
	((count <= 3))
	ok $? "a kick restarts the backoff: $count failures"
	stop b 1000 "between two attempts"
	expect EINVAL reconnect bad "$server" 7009 min=200 max=100
	expect EINVAL reconnect bad "$server" 7009 max=3600001
	expect EINVAL reconnect bad "$server" 7009 raw=1
	expect EINVAL reconnect bad "$server" 7009 recv_depth=1
}

dropped() {
	expect 0 kept drop a
	shows a "connected epoch=3 * connected=3 lost=2 reason=${errno[ESHUTDOWN]}" "a kept connection reconnects after its owner has dropped it"
}

receives() {
	barrier sender
	expect 0 reconnect m "$server" 7003 receive=1
	local i
	for i in 4 8; do
		barrier sent
		shows m "connected * received=$i *" "a kept connection receives $i messages by callback"
		barrier counted
	done
	stop m 2000 "after messages"
}

# The device of this node is removed, and added again. With a maximum backoff of 60 s, only the return of the device can
# cause an early attempt.
own_device_goes() {
	keep d "$server" 7000 max=60000
	shows d "connected epoch=1 *" "connection d connects before the device is removed"
	kt_start pump kept pump d
	sleep 1
	link_del
	shows d "* connected=1 lost=1 reason=${errno[ENODEV]}" "connection d is lost when the device of this node is removed"
	fails d 7
	link_add
	shows d "connected epoch=2 *" "connection d reconnects when the device of this node is back" $((20 * slow))
	# The backoff after seven failures is at least 4.8 s, so the return of the device has caused an earlier attempt.
	((took <= 3500 * slow))
	ok $? "connection d reconnects at once when the device is back: $took ms"
	sleep 0.5
	stop d 2000 "connection d under load"
	kt_result pump "$patience"
	kt_is 0 "connection d: no request failed except at a lost connection: $kt_text"
	[[ $kt_text =~ good=([0-9]+)\ bad=([0-9]+) ]]
	((BASH_REMATCH[1] > 10 && BASH_REMATCH[2] <= 3))
	ok $? "connection d: most requests under load succeed: $kt_text"
	shows a "connected epoch=4 *" "connection a reconnects when the device of this node is back"
}

peers_device_goes() {
	kt_start pump kept pump a
	sleep 0.5
	barrier load
	barrier server-gone
	shows a "* lost=4 *" "a kept connection is lost when the device of the peer is removed"
	barrier server-back
	shows a "connected epoch=5 *" "a kept connection reconnects when the device of the peer is back" $((10 * slow))
	sleep 0.5
	stop a 2000 "a connection under load"
	kt_result pump "$patience"
	kt_is 0 "connection a: no request failed except at a lost connection: $kt_text"
}

stops_in_each_phase() {
	# Stop connections while their slow callbacks run.
	keep e "$server" 7000 linger=500
	shows e "connected *" "connected() of a kept connection runs"
	stop e 3000 "in connected()"
	[[ $kt_text == "connected=1 lost=1 wrong=0 reason=${errno[ESHUTDOWN]}" ]]
	ok $? "lost() follows connected() when stopped in connected(): $kt_text"
	keep f "$server" 7000 linger=500
	shows f "connected *" "connection f connects before it is dropped"
	sleep 0.6
	expect 0 kept drop f
	sleep 0.1
	stop f 2000 "in lost()"
	keep g 10.56.0.99 7000 addr_ms=5000
	shows g "connecting *" "connecting to an unused address waits"
	stop g 1000 "while the address is resolved"
	# Delay the ordered workqueue of the CM, which resolves routes.
	kt_start hold holdup 1500 "$server" 7000
	kt_result hold
	kt_is 0 "resolving of routes is held up"
	keep h "$server" 7000
	shows h "connecting *" "connecting waits for the route"
	stop h 3000 "while the route is resolved"
	kt holdup 0
	keep i "$server" 7002
	sleep 0.5
	shows i "connecting epoch=0 failures=0 *" "connecting waits while the peer does not accept" 1
	stop i $((2000 + unanswered_ms)) "while the peer does not accept"
}

lives_briefly() {
	local us
	for us in 3000 10000 30000; do
		# shellcheck disable=SC2086
		kt brief "$server" 7000 500 us=$((us * slow)) min=1 max=3 $options
		kt_is 0 "500 connections are stopped within $us us, times $slow: $kt_text, $kt_ms ms"
	done
	# shellcheck disable=SC2086
	kt brief "$server" 7000 100 us=$((100000 * slow)) linger=5 min=1 max=3 $options
	kt_is 0 "100 connections with slow callbacks are stopped within 100 ms, times $slow: $kt_text, $kt_ms ms"
	kt brief "$server" 7009 400 us=5000 min=1 max=3
	kt_is 0 "400 connections without a peer are stopped: $kt_text, $kt_ms ms"
}

# debugfs has a line for each persistent connection.
observed() {
	local file=/sys/kernel/debug/krdma/kept line
	mount_debugfs
	keep o "$server" 7000
	shows o "connected *" "connection o connects before debugfs is read"
	keep p "$server" 7009 max=60000
	fails p 3
	line=$(grep "^$server:7000 " $file)
	[[ $line == "$server:7000 connected 1 0 0 0" ]]
	ok $? "debugfs has the line of a connected kept connection: $line"
	line=$(grep "^$server:7009 " $file)
	[[ $line =~ ^"$server:7009 "(waiting|connecting)" 0 "[3-9]" "-[0-9]+" "[0-9]+$ ]]
	ok $? "debugfs has the line of a failing kept connection: $line"
	stop o 2000 "a connected connection in debugfs"
	stop p 2000 "a failing connection in debugfs"
	! grep -q "^$server:70" $file
	ok $? "debugfs has no lines of stopped connections"
}

client() {
	peer_comes_and_goes
	backs_off
	dropped
	barrier deaf
	receives
	own_device_goes
	peers_device_goes
	stops_in_each_phase
	observed
	lives_briefly
	barrier stopped
}

if ((NODE == 1)); then server; else client; fi
same_resources "$before" "resources are as before"
finish
