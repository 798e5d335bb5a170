#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# receive-callback: messages by callback. A server gets one message at a time, in order, keeps some messages for a
# while, and answers each one. A server that keeps all messages blocks the sender. Messages that arrive before the end
# of the connection are delivered before closing().
#
#   node 1 (server without a thread on 7000) <--- krdma ---> node 2 (sends)
#
# kernels: uml
# long: uml/siw uml-debug stock-6.1 stock-new stock-6.12 debug-6.1 debug-6.1/siw uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
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
full() {
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
ends() {
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
	full
	expect 0 server end
	expect 0 server 0.0.0.0 7000 rxcb=1 recv_depth=64
	barrier again
	ends
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
	full
	barrier again
	ends
	barrier again
	one_worker
fi
same_resources "$before" "resources are as before"
finish
