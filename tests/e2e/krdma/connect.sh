#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# connect: connects that fail in different ways return the expected errno, in time. A thousand connections leave no
# resource: four clients run at a time, and each of them makes 250 connections, one after the other.
#
#   node 1 (listens, or does not; echoes) <--- krdma ---> node 2 (connects; 64 bytes there and back; disconnects)
#   10.56.0.99: unused
#
# kernels: uml
# long: stock-6.1 uml/siw stock-new stock-6.12 uml-debug debug-6.1 debug-6.1/siw uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 900

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

network_ready
server=$(addr4 1)

# is_busy: succeed if the last client found the backlog full. On siw it can miss the reason, see kt_rejected.
is_busy() {
	[[ $kt_ret == "${errno[EBUSY]}" || ($LINK == siw && $kt_ret == "${errno[ECONNREFUSED]}") ]]
}

# still_serves PORT WHAT: one case: a new connection to PORT works after failed connections.
still_serves() {
	kt rounds again "$server" "$1" 1
	kt_is 0 "the listener serves new clients after $2"
	kt release again
}

# One case: the listener serves clients again after its backlog was full. Two requests of full_backlog() fill the
# backlog, although their clients have timed out. These requests stay in the backlog until accept() of the server drops
# them. So retry until new clients get a place.
empty_backlog() {
	local tries
	for ((tries = 100 * slow; tries > 0; tries--)); do
		kt rounds again "$server" 7004 1
		is_busy || break
		kt release again
		sleep 0.1
	done
	kt_is 0 "the listener serves new clients after its backlog was full"
	kt release again
}

nobody_there() {
	kt connect c 10.56.0.99 7000 connect_ms=3000 addr_ms=1000
	is_one_of "$kt_ret" "${errno[ETIMEDOUT]}" "${errno[EHOSTUNREACH]}"
	ok $? "a host that does not answer: ETIMEDOUT or EHOSTUNREACH ($kt_ret)"
	kt_within 0 4500 "connecting to a host that does not answer ends in time"
	kt connect c 192.0.2.1 7000 connect_ms=3000
	is_one_of "$kt_ret" "${errno[ENETUNREACH]}" "${errno[EHOSTUNREACH]}" "${errno[ENODEV]}"
	ok $? "a host without a route: ENETUNREACH, EHOSTUNREACH or ENODEV ($kt_ret)"
	kt_within 0 1000 "connecting to a host without a route ends at once"
	kt connect c 127.0.0.1 7999 connect_ms=3000
	((kt_ret < 0))
	ok $? "connecting by loopback, without an RDMA device or listener, fails: $kt_ret"
	expect ECONNREFUSED connect c "$server" 7999
	kt_within 0 4000 "connecting to a port without a listener ends at once"
	expect EINVAL connect c 10.56.0 7000
	expect EINVAL connect c "$server" 70000
	expect EINVAL connect c "$server" 7000 wait=1
	expect EINVAL connect c "$server" 7000 recv_depth=3
	expect EADDRNOTAVAIL connect c "$server" 7000 src=10.56.0.77
}

# The server does not accept, so the connect ends by the timeout of the client.
never_accepted() {
	kt connect c "$server" 7001 connect_ms=2000
	kt_is ETIMEDOUT "connecting to a listener that never accepts times out"
	kt_within 1900 $((3000 + unanswered_ms)) "connecting to a listener that never accepts times out in time"
}

# The server does not accept, and its timeout for a request is shorter than the client's. So the server rejects the
# request.
rejected_late() {
	kt_rejected connect c "$server" 7002 connect_ms=20000
	kt_is ETIMEDOUT "a server rejects a request that is not accepted in time"
	kt_within 900 4000 "a server rejects a request that is not accepted after its timeout"
}

rejected() {
	kt connect c "$server" 7003 connect_ms=20000 private=please
	kt_is ECONNREFUSED "a rejected client gets ECONNREFUSED"
	# On siw a client can miss the reject, see kt_rejected.
	[[ $kt_text == *private=no-thanks* || $LINK == siw ]]
	ok $? "a rejected client gets the server's private data: $kt_text"
	kt_within 0 4000 "a client is rejected at once"
}

other_limits() {
	kt_rejected connect c "$server" 7000 rw=1
	kt_is EPROTO "a client with an exported buffer is refused by a server of messages"
	kt connect c "$server" 7000 raw=1
	((kt_ret < 0))
	ok $? "a raw client is refused by a server of messages: $kt_ret"
	kt connect c "$server" 7000 buf_size=256 recv_depth=4 send_depth=1 max_msg=100
	kt_is 0 "a client with few small buffers connects"
	expect 0 send c 64
	kt receive c 64 5000
	kt_is 64 "a client with few small buffers receives a short message"
	# The server cannot send this message back, because it is longer than max_msg of the client. So the server may
	# disconnect before it has acknowledged the message.
	kt send c 50000
	is_one_of "$kt_ret" 0 "${errno[ECONNRESET]}"
	ok $? "a client with few small buffers sends a message of many parts ($kt_ret)"
	kt receive c 200000 5000
	((kt_ret < 0))
	ok $? "a message longer than max_msg is not received ($kt_ret)"
	expect 0 release c
	# The bounce buffers of swiotlb have 256 MiB for all memory that is mapped.
	many=4096
	[[ $(</proc/cmdline) != *swiotlb* ]] || many=512
	kt connect c "$server" 7000 resources=1 depth=1 recv_depth="$many" buf_size=65536
	kt_is 0 "a client with many large buffers connects"
	expect 0 send c 100000
	kt receive c 200000 5000
	kt_is 100000 "a client with many large buffers receives a long message"
	expect 0 release c
	still_serves 7000 "other limits"
}

# Fill the backlog of a listener. netem sends packets in time slots, so the requests arrive together. On siw the
# requests also fill the queue of TCP connections that siw has not accepted yet, see KRDMA_BACKLOG_MIN in
# krdma/quirks.c.
full_backlog() {
	local i busy=0 many=12
	network slot 300ms 300ms
	for ((i = 1; i <= many; i++)); do
		kt_start "b$i" connect "b$i" "$server" 7004 connect_ms=$((4000 * slow))
	done
	for ((i = 1; i <= many; i++)); do
		kt_result "b$i" $((30 * slow))
		is_busy && busy=$((busy + 1))
		is_busy || [[ $kt_ret == "${errno[ETIMEDOUT]}" ]]
		ok $? "connect $i to a listener with a backlog of 2 fails: $kt_ret"
		kt release "b$i"
	done
	network slot 0ms 0ms
	((busy >= many - 2))
	ok $? "all connects beyond a backlog of 2 are refused at once: $busy of $many"
}

# The listener is released while a request waits for its answer.
server_dies() {
	kt connect c "$server" 7005 connect_ms=20000
	is_one_of "$kt_ret" "${errno[ECONNREFUSED]}" "${errno[ECONNRESET]}"
	ok $? "a waiting request is refused when its listener is released: $kt_ret"
	kt_within 0 5000 "a waiting request is refused in time when its listener is released"
}

connect_without_cable() {
	if [[ $LINK == siw ]]; then
		skip "connecting without a cable" "siw's TCP connect can be neither limited nor interrupted"
		return
	fi
	kt connect c "$server" 7000 connect_ms=3000
	((kt_ret < 0))
	ok $? "connecting without a cable fails: $kt_ret"
	kt_within 0 4500 "connecting without a cable ends in time"
	kt release c
}

# Let all packets of this node be lost while it connects.
cable_cut() {
	kt_start cut connect c "$server" 7001 connect_ms=4000
	kt until c CONNECTING
	network loss 100%
	kt_result cut 60
	kt_is ETIMEDOUT "a connect times out when the link is cut"
	kt_within 3900 $((6000 + unanswered_ms)) "a connect times out in time when the link is cut"
	kt release c
	connect_without_cable
	network
}

client() {
	local step
	barrier listening
	nobody_there
	still_serves 7000 "refused connects"
	for step in never_accepted rejected_late; do
		$step
		barrier "$step"
	done
	rejected
	barrier rejected
	other_limits
	full_backlog
	barrier full
	barrier full_served
	empty_backlog
	barrier dies
	server_dies
	barrier dead
	cable_cut
	barrier cut
	timeout 30 bash -c "until busybox ping -c1 -W1 $server; do sleep 0.1; done" >/dev/null
	ok $? "the network works after the cut"
	still_serves 7000 "all failures"
}

listen_all() {
	expect 0 listen l 0.0.0.0 7000
	expect 0 listen deaf 0.0.0.0 7001
	expect 0 listen slow 0.0.0.0 7002 connect_ms=1000
	expect 0 listen stern 0.0.0.0 7003
	expect 0 listen full 0.0.0.0 7004 backlog=2
	expect 0 listen dying 0.0.0.0 7005
	expect 0 kthread echo serve l
}

# Check that accept() does not return the request of a client that has timed out.
after_the_client_gave_up() {
	kt accept late deaf 500
	kt_is ETIMEDOUT "accept() skips the request of a client that has timed out"
	kt release late
}

reject_one() {
	kt request r stern 20000
	kt_is 0 "a request to reject arrives"
	[[ $kt_text == *private=please* ]]
	ok $? "a request has the client's private data: $kt_text"
	expect 0 reject r private=no-thanks
	expect 0 release r
}

server() {
	listen_all
	barrier listening
	barrier never_accepted
	after_the_client_gave_up
	barrier rejected_late
	reject_one
	barrier rejected
	barrier full
	expect 0 kthread echo_full serve full
	barrier full_served
	barrier dies
	kt request d dying 20000
	kt_is 0 "a request arrives at a listener that is released"
	expect 0 release dying
	expect 0 release d
	barrier dead
	barrier cut
	barrier end
	kt stop echo_full
	kt stop echo
	kt_is EINTR "kthread_stop() ends accept"
	echo "# $kt_text"
	for slot in l deaf slow stern full; do
		expect 0 release "$slot"
	done
}

failing() {
	if ((NODE == 1)); then
		server
	else
		client
		barrier end
	fi
}

# Each job of node 2 connects for a number of rounds, one after the other.
loop() {
	local jobs=4 rounds=250 served=0 i job to
	if ((NODE == 1)); then
		expect 0 listen l :: 7000
		expect 0 listen l4 0.0.0.0 7001
		for ((i = 1; i <= jobs; i++)); do
			kt kthread "serve$i" serve l
			kt kthread "serve4$i" serve l4
		done
		barrier listening
		barrier end
		for ((i = 1; i <= jobs; i++)); do
			for job in "serve$i" "serve4$i"; do
				kt stop "$job"
				kt_is EINTR "$job ($kt_text)"
				kt_text=${kt_text#served=}
				served=$((served + ${kt_text%% *}))
			done
		done
		((served == jobs * rounds))
		ok $? "all connections are served: $served of $((jobs * rounds))"
		expect 0 release l
		expect 0 release l4
	else
		barrier listening
		for ((i = 1; i <= jobs; i++)); do
			if ((i % 2)); then to="$(addr6 1) 7000"; else to="$(addr4 1) 7001"; fi
			kt_start "job$i" rounds "job$i" "${to% *}" "${to#* }" "$rounds"
		done
		for ((i = 1; i <= jobs; i++)); do
			kt_result "job$i" 500
			kt_is 0 "client $i completes $rounds rounds: $kt_text in $kt_ms ms"
			kt release "job$i"
		done
		barrier end
	fi
}

section failing
section loop
finish
