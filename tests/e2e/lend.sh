#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# lend: messages by callback. A server is lent each message, in order and one at a time, keeps some of them for a while,
# and answers; who keeps all of them stops the sender; what arrived before the end is lent before the end is told.
#
#   node 1 (server without a thread on 7000, 7001) <--- krdma ---> node 2 (talks)
#
# kernels: uml
# long: uml/siw uml-debug stock-6.1 stock-new stock-6.12 debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
modes=("" "poll=1" "rw=1 max_msg=1048576")

# Node 2 talks; the numbers are what node 1 must have been lent.
talks() {
	local what
	# shellcheck disable=SC2086 # words of a command
	kt connect t "$server" 7000 $1
	kt_is 0 "connected $1"
	for what in "200 0 1" "500 300 8" "500 4080 8" "200 20000 4" "60 300000 4" "10 1000000 1"; do
		# shellcheck disable=SC2086 # words of a command
		kt talk t $what
		kt_is 0 "talk $what: each is answered, in order ($kt_text)"
		barrier talked
		barrier counted
	done
	kt release t
}

# lent WORDS: how it was for node 1
lent() {
	kt lend "$2"
	[[ $kt_text == "$1" ]]
	ok $? "lent: $1 ($kt_text)"
}

# It keeps five messages of the connection's eight receives, long ones besides.
counts() {
	local n kept
	for n in 200 500 500 200 60 10; do
		barrier talked
		kept=5
		lent "messages=$n bad=0 unanswered=0 kept=$kept" 5
		barrier counted
	done
}

# Whoever gives nothing back stops the sender, and only for so long.
full() {
	if ((NODE == 1)); then
		kt lend 100
		barrier full-begun
		barrier full
		lent "messages=7 bad=0 unanswered=0 kept=7" 0
		barrier emptied
		barrier refilled
		kt lend 0
		[[ $kt_text == "messages=1 "* ]]
		ok $? "the message that did not fit has come since ($kt_text)"
	else
		kt connect f "$server" 7000
		kt_is 0 "connected"
		barrier full-begun
		# Eight receives, and the last credit is not for messages.
		kt async f send virt 7 100 chain=7
		kt_is 0 "as many messages as there are credits ($kt_text)"
		kt send f 100 500
		kt_is ETIMEDOUT "one more does not go out"
		barrier full
		barrier emptied
		kt send f 100 5000
		kt_is 0 "it does when they were given back"
		sleep 0.5
		barrier refilled
		kt release f
	fi
}

# Messages that have arrived are lent before closing() is called, and can be given back long after the connection.
ends() {
	local i lost=0
	for i in {1..20}; do
		if ((NODE == 1)); then
			kt lend 100
			barrier end-begun
			barrier ended
			wait_closed "$i"
			kt lend
			[[ $kt_text == "messages=40 bad=0 "* ]] || lost=$((lost + 1))
		else
			barrier end-begun
			kt connect e "$server" 7000 send_depth=64
			kt async e send virt 40 1000 chain=40
			kt_is 0 "40 messages, and then the end ($kt_text)"
			kt release e
			barrier ended
		fi
	done
	((NODE == 2)) && return
	# What siw has sent may not have arrived.
	((lost == 0)) || [[ $LINK == siw ]]
	ok $? "all of what was acknowledged was lent: $lost times not"
}

# The end comes while the owner has not been told of the connection, so all messages are lent by the worker that calls it.
one_worker() {
	local n
	for n in 1 2 3; do
		barrier "worker-$n"
		if ((NODE == 1)); then
			kt lend 100
			barrier "worker-listens-$n"
			barrier "worker-ended-$n"
			with_workers krdma-owner 1 wait_closed "$n"
			kt lend 0
			[[ $kt_text == "messages=8 bad=0 "* ]]
			ok $? "messages are lent before the end although krdma's queue runs one work at a time ($kt_text)"
		else
			barrier "worker-listens-$n"
			kt connect w "$server" 7000 send_depth=64
			kt async w send virt 8 1000 chain=8
			kt_is 0 "8 messages, and then the end ($kt_text)"
			kt release w
			barrier "worker-ended-$n"
		fi
	done
}

# wait_closed N: until the server has been told of the end of N connections
wait_closed() {
	local end=$((SECONDS + 20 * slow))
	kt server
	until [[ $kt_text == *"closed=$1" ]] || ((SECONDS > end)); do
		sleep 0.1
		kt server
	done
	[[ $kt_text == *"closed=$1" ]]
	ok $? "the server knows of the end ($kt_text)"
}

if ((NODE == 1)); then
	expect 0 server 0.0.0.0 7000 lend=1 recv_depth=8 max_msg=1048576
	kt lend 5
	barrier listening
	counts
	expect 0 server end
	for mode in "${modes[@]:1}"; do
		# shellcheck disable=SC2086 # words of a command
		expect 0 server 0.0.0.0 7000 lend=1 recv_depth=8 max_msg=1048576 $mode
		kt lend 5
		barrier again
		counts
		expect 0 server end
	done
	expect 0 server 0.0.0.0 7000 lend=1 recv_depth=8
	barrier again
	full
	expect 0 server end
	expect 0 server 0.0.0.0 7000 lend=1 recv_depth=64
	barrier again
	ends
	# The connections are gone, the messages are not.
	expect 0 server end
	kt lend 0
	kt_is 0 "40 messages are given back when their connection is gone ($kt_text)"
	expect 0 server 0.0.0.0 7000 lend=1 recv_depth=64 linger=$((1000 * slow))
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
