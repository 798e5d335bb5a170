#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# connect-failures: whatever goes wrong with a connect ends with an errno that says it, and in time.
#
#   node 1 (listens, or does not) <--- krdma ---> node 2 (connects)
#   10.56.0.99: nobody
#
# kernels: uml
# long: stock-6.1 uml/siw stock-new stock-6.12 uml-debug debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
barrier begun
server=$(addr4 1)

# On siw a reject carries neither reason nor data to the client: it sees that TCP was closed (siw_reject(), 6.1 and 7.3).
reason() { if [[ $LINK == siw ]]; then echo ECONNREFUSED; else echo "$1"; fi; }

# The connection works after all: what came before has done no harm.
still_serves() {
	kt rounds again "$server" "$1" 1
	kt_is 0 "the listener serves others after $2"
	kt release again
}

# The server passes over the two requests that wait only when it accepts.
empty_backlog() {
	local tries
	for ((tries = 100 * slow; tries > 0; tries--)); do
		kt rounds again "$server" 7004 1
		[[ $kt_ret == "${errno[$(reason EBUSY)]}" ]] || break
		kt release again
		sleep 0.1
	done
	kt_is 0 "the listener serves others after too many at once"
	kt release again
}

nobody_there() {
	kt connect c 10.56.0.99 7000 connect_ms=3000 addr_ms=1000
	is_one_of "$kt_ret" "${errno[ETIMEDOUT]}" "${errno[EHOSTUNREACH]}"
	ok $? "host that does not answer: ETIMEDOUT or EHOSTUNREACH ($kt_ret)"
	kt_within 0 4500 "host that does not answer, in time"
	kt connect c 192.0.2.1 7000 connect_ms=3000
	is_one_of "$kt_ret" "${errno[ENETUNREACH]}" "${errno[EHOSTUNREACH]}" "${errno[ENODEV]}"
	ok $? "host without a route: ENETUNREACH, EHOSTUNREACH or ENODEV ($kt_ret)"
	kt_within 0 1000 "host without a route, at once"
	kt connect c 127.0.0.1 7999 connect_ms=3000
	((kt_ret < 0))
	ok $? "loopback, which is no RDMA device or has no listener: $kt_ret"
	expect ECONNREFUSED connect c "$server" 7999
	kt_within 0 4000 "nobody listens, at once"
	expect EINVAL connect c 10.56.0 7000
	expect EINVAL connect c "$server" 70000
	expect EINVAL connect c "$server" 7000 wait=1
	expect EINVAL connect c "$server" 7000 recv_depth=3
	expect EADDRNOTAVAIL connect c "$server" 7000 src=10.56.0.77
}

# The client's own time limit, while the server leaves the request alone.
never_accepted() {
	kt connect c "$server" 7001 connect_ms=2000
	kt_is ETIMEDOUT "listener that never accepts"
	kt_within 1900 $((3000 + unanswered_ms)) "listener that never accepts, in time"
}

# The server's time limit for a request that nobody accepts: shorter than the client's.
rejected_late() {
	kt connect c "$server" 7002 connect_ms=20000
	kt_is "$(reason ETIMEDOUT)" "server that gives up tells the client"
	kt_within 900 4000 "server that gives up, in time"
}

rejected() {
	kt connect c "$server" 7003 connect_ms=20000 private=please
	kt_is ECONNREFUSED "rejected"
	[[ $LINK == siw || $kt_text == *private=no-thanks* ]]
	ok $? "why it was rejected: $kt_text"
	kt_within 0 4000 "rejected at once"
}

other_limits() {
	kt connect c "$server" 7000 rw=1
	kt_is "$(reason EPROTO)" "shown buffer here, messages there"
	kt connect c "$server" 7000 raw=1
	((kt_ret < 0))
	ok $? "raw client, message server: $kt_ret"
	kt connect c "$server" 7000 buf_size=256 recv_depth=4 send_depth=1 max_msg=100
	kt_is 0 "small buffers and few of them"
	expect 0 send c 64
	kt receive c 64 5000
	kt_is 64 "they suffice"
	# The peer, whose answer does not fit, may end it before we see that all of it was taken.
	kt send c 50000
	is_one_of "$kt_ret" 0 "${errno[ECONNRESET]}"
	ok $? "a message of many small parts ($kt_ret)"
	kt receive c 200000 5000
	((kt_ret < 0))
	ok $? "an answer that is longer than we take does not come ($kt_ret)"
	expect 0 release c
	kt connect c "$server" 7000 resources=1 depth=1 recv_depth=4096 buf_size=65536
	kt_is 0 "large buffers and many of them"
	expect 0 send c 100000
	kt receive c 200000 5000
	kt_is 100000 "they suffice too"
	expect 0 release c
	still_serves 7000 "other limits"
}

# In slots their packets arrive together. Over siw that fills another queue, too, see KRDMA_LISTEN_BACKLOG_MIN in listen.c.
full_backlog() {
	local i busy=0 turned_away many=12
	turned_away=${errno[$(reason EBUSY)]}
	network slot 300ms 300ms
	for ((i = 1; i <= many; i++)); do
		kt_start "b$i" connect "b$i" "$server" 7004 connect_ms=$((4000 * slow))
	done
	for ((i = 1; i <= many; i++)); do
		kt_result "b$i" $((30 * slow))
		[[ $kt_ret == "$turned_away" ]] && busy=$((busy + 1))
		[[ $kt_ret == "$turned_away" || $kt_ret == "${errno[ETIMEDOUT]}" ]]
		ok $? "connect $i to a listener with a backlog of 2: $kt_ret"
		kt release "b$i"
	done
	network slot 0ms 0ms
	((busy >= many - 2))
	ok $? "all but two were turned away at once: $busy of $many"
}

# The server is killed half way: its task, and then its listener.
server_dies() {
	kt connect c "$server" 7005 connect_ms=20000
	is_one_of "$kt_ret" "${errno[ECONNREFUSED]}" "${errno[ECONNRESET]}"
	ok $? "listener released while the request waits: $kt_ret"
	kt_within 0 5000 "listener released while the request waits, in time"
}

connect_without_cable() {
	if [[ $LINK == siw ]]; then
		skip "connecting without a cable" "siw's TCP connect can be neither limited nor interrupted"
		return
	fi
	kt connect c "$server" 7000 connect_ms=3000
	((kt_ret < 0))
	ok $? "connecting without a cable: $kt_ret"
	kt_within 0 4500 "connecting without a cable, in time"
	kt release c
}

# Nothing from the peer arrives any more, and nothing reaches it.
cable_cut() {
	kt_start cut connect c "$server" 7001 connect_ms=4000
	kt until c CONNECTING
	network loss 100%
	kt_result cut 60
	kt_is ETIMEDOUT "cable cut while connecting"
	kt_within 3900 $((6000 + unanswered_ms)) "cable cut while connecting, in time"
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
	ok $? "the cable is there again"
	still_serves 7000 "all of that"
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

# A request whose client gave up must not hand out a dead connection.
after_the_client_gave_up() {
	kt accept late deaf 500
	kt_is ETIMEDOUT "request of a client that gave up is passed over"
	kt release late
}

reject_one() {
	kt request r stern 20000
	kt_is 0 "request to reject"
	[[ $kt_text == *private=please* ]]
	ok $? "its private data: $kt_text"
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
	kt_is 0 "request to a listener that goes away"
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

if ((NODE == 1)); then
	server
else
	client
	barrier end
fi
same_resources "$before" "resources are as before"
finish
