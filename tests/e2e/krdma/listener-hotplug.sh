#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# listener-hotplug: listeners continue to exist when RDMA devices are removed. A listener on a specific address listens
# again on its port when its device is back, and tasks that wait on the listener continue to wait. With
# KRDMA_LISTEN_WAIT a listener can be created before the device.
#
#   node 1 (echoes on 7000 … 7003, its device is removed and recreated) <--- krdma ---> node 2 (connects)
#
# kernels: uml
# long: stock-6.1 uml/siw uml-debug debug-6.1 uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
patience=$((20 * slow))

link_del() {
	timeout 60 rdma link del "$RDMADEV"
	ok $? "$1: rdma link del"
}

link_add() {
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV"
	ok $? "$1: rdma link add"
}

# serving JOB WHAT: one case: the task of JOB still waits on its listener.
serving() {
	kt_result "$1" 0
	[[ $kt_text == "still running" ]]
	ok $? "$2: the task on listener $1 still waits ($kt_ret $kt_text)"
}

# ended JOB: one case: the task of JOB ends when the listener is released.
ended() {
	expect 0 release "$1"
	kt_result "$1" "$patience"
	kt_is ESHUTDOWN "waiting on listener $1 ends with its release: $kt_text"
}

# reaches HOST PORT WHAT: one case: connections to the listener on HOST and PORT work, in time.
reaches() {
	local end=$((SECONDS + patience))
	until kt rounds r "$1" "$2" 3 connect_ms=2000; do
		kt release r
		((SECONDS < end)) || break
		sleep 0.2
	done
	kt_is 0 "$3: $1 port $2 answers"
	kt release r
}

listen_all() {
	expect 0 listen four "$(addr4 1)" 7000
	expect 0 listen six "$(addr6 1)" 7001
	expect 0 listen any 0.0.0.0 7002
	expect 0 listen chosen "$(addr4 1)" 0
	[[ $kt_text =~ :([0-9]+)$ ]]
	ok $? "listening on port 0 chooses a port: $kt_text"
	port=${BASH_REMATCH[1]}
	((NODE > 1)) || echo "$port" >/exchange/port
	for name in four six any chosen; do kt_start $name serve $name; done
	expect 0 server "$(addr4 1)" 7003
}

comes_back() {
	local round name
	for round in 1 2 3; do
		link_del "round $round"
		[[ -z $(resources) ]]
		ok $? "round $round: rdma link del leaves no resource"
		for name in four six any chosen; do
			serving $name "round $round, no device"
			[[ $(kt_state $name) == LISTENING ]]
			ok $? "round $round: listener $name is LISTENING without a device"
		done
		barrier "gone$round"
		barrier "seen$round"
		link_add "round $round"
		barrier "back$round"
		barrier "works$round"
		for name in four six any chosen; do serving $name "round $round, the device is back"; done
	done
	for name in four six any chosen; do ended $name; done
	expect 0 server end
}

# Create a listener before its device, and release the listener after its device was removed.
early() {
	link_del early
	expect ENODEV listen early "$(addr4 1)" 7000
	expect EINVAL listen early "$(addr4 1)" 0 wait=1
	expect 0 listen early "$(addr4 1)" 7000 wait=1
	[[ $kt_text == local=10.56.0.1:7000 ]]
	ok $? "a listener without a device has an address: $kt_text"
	kt_start early serve early
	# Without v6only, a listener on :: occupies its port for IPv4 as well.
	expect 0 listen both :: 7010
	expect EADDRNOTAVAIL listen four4 0.0.0.0 7010
	expect 0 release both
	expect 0 listen only6 :: 7010 v6only=1
	expect 0 listen four4 0.0.0.0 7010
	for name in only6 four4; do expect 0 release $name; done
	expect EINVAL listen four4 0.0.0.0 7010 v6only=1
	expect 0 listen nowhere 10.57.0.1 7001 wait=1
	expect 0 listen other "$(addr4 1)" 7004 wait=1
	expect 0 release other
	serving early "before the device is created"
	link_add early
	barrier early
	barrier early-works
	expect EADDRINUSE listen twice "$(addr4 1)" 7000 wait=1
	serving early "after the device is created"
	ended early
	expect 0 release nowhere
	for _ in 1 2 3 4 5; do
		expect 0 listen brief "$(addr4 1)" 7000
		rdma link del "$RDMADEV" &
		kt release brief
		kt_is 0 "a listener is released while its device is removed"
		wait $!
		rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV"
	done
}

# idn PORT: print the number that the RDMA core gives to the cm_id that listens on PORT.
idn() {
	local words i
	while read -ra words; do
		[[ " ${words[*]} " == *" state LISTEN "*":$1 "* ]] || continue
		for ((i = 0; i < ${#words[@]}; i++)); do
			[[ ${words[i]} != cm-idn ]] || echo "${words[i + 1]}"
		done
	done < <(rdma resource show cm_id)
}

other_idn() {
	local now
	now=$(idn "$1")
	[[ -n $now && $now != "$2" ]]
}

# Simulate that the listener's address moves to another network interface, as a bonding device does. krdma must create
# another cm_id, because a cm_id stays bound to the RDMA device for which it was created.
moves() {
	local was
	was=$(idn 7000)
	[[ -n $was ]]
	ok $? "the listener has a cm_id before its address moves: $was"
	expect 0 moved four
	within 5 other_idn 7000 "$was"
	ok $? "the listener has another cm_id after its address has moved: $(idn 7000)"
	serving four "after its address has moved"
	barrier moved
	barrier still-works
}

server() {
	listen_all
	barrier listening
	barrier first
	moves
	comes_back
	early
}

client() {
	local round
	barrier listening
	port=$(</exchange/port)
	reach_all "first"
	barrier first
	barrier moved
	reaches "$(addr4 1)" 7000 "after its address has moved"
	barrier still-works
	for round in 1 2 3; do
		barrier "gone$round"
		kt connect c "$(addr4 1)" 7000 connect_ms=500
		((kt_ret < 0))
		ok $? "round $round: connecting to a node without a device fails: $kt_ret"
		kt release c
		barrier "seen$round"
		barrier "back$round"
		reach_all "round $round"
		barrier "works$round"
	done
	barrier early
	reaches "$(addr4 1)" 7000 "a listener created before its device"
	barrier early-works
}

reach_all() {
	reaches "$(addr4 1)" 7000 "$1"
	reaches "$(addr6 1)" 7001 "$1"
	reaches "$(addr4 1)" 7002 "$1"
	reaches "$(addr4 1)" "$port" "$1"
	local end=$((SECONDS + patience))
	until kt clients "$(addr4 1)" 7003 1 connect_ms=2000 || ((SECONDS > end)); do sleep 0.2; done
	kt_is 0 "$1: a listener with callbacks answers"
}

if ((NODE == 1)); then server; else client; fi
same_resources "$before" "resources are as before"
finish
