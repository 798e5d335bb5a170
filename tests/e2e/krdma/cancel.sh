#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# cancel: a wait in any call ends when another task disconnects or releases the connection, on SIGKILL, and on
# kthread_stop().
#
#   node 1 (listens on 7000, never accepts on 7001) <--- krdma ---> node 2 (connects)
#
# kernels: uml
# The scenario does not run on debug-6.1/siw. If a task is killed while it connects, siw of 6.1 frees the endpoint, but
# uses it when the listener ends (KASAN report in siw_destroy_listen()).
#
# long: stock-6.1 uml/siw stock-new stock-6.12 uml-debug debug-6.1 uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
# On siw, a connection that ends before it is accepted may destroy the listener, and later panic the kernel (see
# tests/vm/README.rst). So there the connections that are cancelled go to an address without a host, and are resolving it.
silent=$server
[[ $LINK != siw ]] || silent=$(addr4 250)

# ended ERRNO WHAT: one case: the background job "wait" ends with ERRNO, in time.
ended() {
	kt_result wait 20
	kt_is "$1" "$2"
}

# start_wait CALL: start a process of the client that waits in CALL.
start_wait() {
	case $1 in
	connect) kt_start wait connect w "$silent" 7001 connect_ms=60000 ;;
	receive) kt_start wait receive w 64 ;;
	peek) kt_start wait peek w ;;
	*) kt_start wait pump w 65536 60000 ;;
	esac
}

prepare() {
	kt release w
	[[ $1 == connect ]] || { kt connect w "$server" 7002; kt_is 0 "connected for $1"; }
}

waiting() {
	if [[ $1 == connect && $LINK != siw ]]; then kt until w CONNECTING; else sleep 0.3; fi
}

# Disconnect and release a connection while another task waits on the connection in a call. The call pump sends to a
# peer that never receives, so pump waits for credits.
client_waits() {
	local what how
	for what in connect receive peek pump; do
		for how in disconnect release; do
			prepare "$what"
			start_wait "$what"
			waiting "$what"
			kt "$how" w
			ended ESHUTDOWN "$how by another task ends $what"
		done
		prepare "$what"
		start_wait "$what"
		waiting "$what"
		kt kill w "$kt_pid"
		wait "$kt_pid" 2>/dev/null
		ok 0 "SIGKILL ends $what (in state $kt_text)"
		kt release w
	done
}

client_kthreads() {
	local what
	for what in "connect w $silent 7001 connect_ms=60000" "receive w 64" "peek w" "pump w 65536 60000"; do
		prepare "${what%% *}"
		kt kthread job "$what"
		waiting "${what%% *}"
		kt stop job
		# The command pump also checks itself whether its kthread must stop. If pump finds this first, it
		# returns 0 instead of EINTR.
		if [[ $what == pump* && $kt_ret == 0 ]]; then ok 0 "kthread_stop() ends pump"; else
			kt_is EINTR "kthread_stop() ends ${what%% *}"
		fi
		kt_within 0 $((1500 + unanswered_ms)) "kthread_stop() ends ${what%% *} in time"
	done
	kt release w
}

# Several tasks wait on one listener. When the listener is disconnected or released, all waits end.
accept_waits() {
	local i how
	for how in disconnect release; do
		expect 0 listen l 0.0.0.0 7100
		for i in 1 2 3; do kt_start "a$i" accept "a$i" l; done
		kt kthread a4 accept a4 l
		sleep 0.3
		kt "$how" l
		for i in 1 2 3; do
			kt_result "a$i" 10
			kt_is ESHUTDOWN "$how of a listener ends accept in task $i"
			kt release "a$i"
		done
		kt stop a4
		kt_is ESHUTDOWN "$how of a listener ends accept in a kernel thread"
		kt release a4
		kt release l
	done
	expect 0 listen l 0.0.0.0 7100
	kt_start wait accept a l
	sleep 0.2
	kt kill l "$kt_pid" any
	wait "$kt_pid" 2>/dev/null
	ok 0 "SIGKILL ends accept"
	kt kthread job accept a l
	sleep 0.2
	kt stop job
	kt_is EINTR "kthread_stop() ends accept"
	kt accept a l 300
	kt_is ETIMEDOUT "a listener works after a task that waited on it was killed"
	expect 0 release a
	expect 0 release l
}

# Disconnect raw connections. krdma calls closing() on both sides. The argument of closing() shows which side has
# disconnected.
# The owner releases the connection in closing().
raw_client() {
	local end
	kt connect w "$server" 7003 raw=1
	kt_is 0 "a raw connection is connected"
	# On iWARP the side that connects must send first (RFC 5044 7.1.2), which siw enforces.
	expect 0 rawping w 4
	barrier raw-first
	barrier raw1
	kt disconnect w
	end=$((SECONDS + 10 * slow))
	until [[ $(kt_state w) == - ]] || ((SECONDS > end)); do sleep 0.05; done
	grep -q "^w - - .*closing=${errno[ESHUTDOWN]}" /proc/krdma_test
	ok $? "disconnect calls closing() with ESHUTDOWN, which releases the connection"
	kt release w
	kt connect w "$server" 7003 raw=1
	kt_is 0 "a second raw connection is connected"
	barrier raw2
	expect 0 release w
}

raw_server() {
	local i
	for i in 1 2; do
		kt request raw$i raw 60000
		expect 0 answer raw$i raw=1
		((i == 2)) || { barrier raw-first; expect 0 rawping raw$i 4; }
		barrier "raw$i"
	done
	# The peer's disconnect calls closing() of the owner, which releases the connection.
	local end=$((SECONDS + 10 * slow))
	until [[ $(kt_state raw1) == - && $(kt_state raw2) == - ]] || ((SECONDS > end)); do sleep 0.05; done
	for i in 1 2; do
		grep -q "^raw$i - - .*closing=${errno[ECONNRESET]}" /proc/krdma_test
		ok $? "the peer's disconnect calls closing() with ECONNRESET, which releases connection $i"
		kt release raw$i
	done
}

# A message in parts that is sent half ends the connection, so the next send does not wait for its end.
half_sent() {
	kt connect w "$server" 7004
	kt_is 0 "connected to a peer with four receives"
	kt send w 50000 500
	kt_is ETIMEDOUT "a message with more parts than the peer has receives times out"
	kt send w 64 20000
	kt_is ETIMEDOUT "a send after the half of a message fails"
	kt_within 0 3000 "a send after the half of a message fails at once"
	kt release w
}

if ((NODE == 1)); then
	expect 0 listen deaf 0.0.0.0 7001
	expect 0 listen quiet 0.0.0.0 7002
	expect 0 listen raw 0.0.0.0 7003 raw=1
	expect 0 listen few 0.0.0.0 7004 recv_depth=4
	expect 0 kthread quiet hold quiet
	expect 0 kthread few hold few
	barrier listening
	raw_server
	barrier cancelled
	kt stop quiet
	kt_is EINTR "kthread_stop() ends hold ($kt_text)"
	kt stop few
	kt_is EINTR "kthread_stop() ends hold of the listener with four receives ($kt_text)"
	expect 0 release few
	expect 0 release quiet
	expect 0 release deaf
	expect 0 release raw
else
	accept_waits
	barrier listening
	raw_client
	client_waits
	client_kthreads
	half_sent
	barrier cancelled
fi
same_resources "$before" "resources are as before"
finish
