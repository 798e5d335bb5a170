#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# async-connect: connections by callbacks instead of calls that wait. A server without a thread accepts many clients of
# one task, rejects some of them, and is notified when a connection ends. Each attempt of a client causes one callback,
# or none if the client releases the connection before the attempt has ended.
#
#   node 1 (server on 7000 and 7001; 7002 never accepts) <--- krdma ---> node 2 (clients)
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
lockdep_minds() {
	[[ $LINK == siw && -e /proc/lockdep ]]
}

server() {
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

client() {
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

if ((NODE == 1)); then server; else client; fi
same_resources "$before" "resources are as before"
finish
