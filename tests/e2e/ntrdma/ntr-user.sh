#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-user: programs in user space on ntrdma, with the libraries of the distribution. Unmodified programs transfer data
# between the nodes, with and without the connection manager. A program of the tests posts each opcode, and each kind of
# invalid request. Programs are killed at random moments, and write random bytes to the queues that they share with the
# kernel. rxe is used beside ntrdma, on the same interface, and unloaded.
#
#   node 1 (servers) --- ntrdma ---> node 2 (clients)
#
# kernels: uml/ntr uml-debug/ntr
# long: stock-6.1/ntr-shm stock-6.12/ntr-shm stock-new/ntr-shm debug-6.1/ntr-shm
# verbs: ntruser/uverbs ntruser/uhostile
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
server6=$(addr6 1)
set_sysctl net/ipv4/ping_group_range "0 0"

# Print the index of the GID with the IPv4 address of this node.
gid_of() {
	local file
	for file in /sys/class/infiniband/"$RDMADEV"/ports/1/gids/*; do
		[[ $(<"$file") == 0000:0000:0000:0000:0000:ffff:* ]] && { echo "${file##*/}"; return; }
	done
}

# transfer DESCRIPTION PORT SERVER-WORDS -- CLIENT-WORDS: one case on each node: the client on node 2 succeeds, and the
# server on node 1 has no complaint. The server listens on TCP port PORT; 0: by the connection manager.
transfer() {
	local what=$1 port=$2 words=() log=/tmp/transfer status pid
	shift 2
	while [[ $1 != -- ]]; do words+=("$1"); shift; done
	shift
	if ((NODE == 1)); then
		timeout $((60 * slow)) "${words[@]}" >"$log" 2>&1 & pid=$!
		if ((port)); then within 10 listens "$port"; else within 10 manager_listens; fi
		barrier "transfer-$what"
		barrier "transferred-$what"
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		! grep -iE "invalid data|mismatch|fail|couldn't|unable" "$log"
		ok $? "$what: the server has no complaint"
		return
	fi
	barrier "transfer-$what"
	if [[ $1 == qperf_client ]]; then "$@"; else timeout $((60 * slow)) "$@"; fi >"$log" 2>&1
	status=$?
	((status == 0))
	ok $? "$what ($(tail -n 3 "$log" | tr -s ' \n' ' ' | cut -c 1-150))"
	barrier "transferred-$what"
}

# managed DESCRIPTION PROGRAM [WORD]...: one case: a program of perftest transfers data with the connection manager. A client
# makes two connections. Its server ends the listener after the first one and begins another, so it rejects a client that is
# faster: on rxe 38 of 60. Then both programs must begin again.
managed() {
	local what=$1 try pid
	shift
	# The client also crashes then, of which the kernel log must not tell.
	[[ ! -e /proc/sys/debug/exception-trace ]] || set_sysctl debug/exception-trace 0
	for try in {1..20}; do
		if ((NODE == 1)); then
			timeout $((60 * slow)) "$@" >/tmp/managed 2>&1 & pid=$!
			within 10 manager_listens
			barrier "managed-$what-$try"
			barrier "managed-$what-$try-end"
			kill "$pid" 2>/dev/null
			wait "$pid" 2>/dev/null
		else
			barrier "managed-$what-$try"
			timeout $((60 * slow)) "$@" "$server" >/tmp/managed 2>&1
			echo $? >"/exchange/managed-$try"
			! grep -q RDMA_CM_EVENT_REJECTED /tmp/managed || echo rejected >"/exchange/managed-$try"
			barrier "managed-$what-$try-end"
		fi
		[[ $(<"/exchange/managed-$try") == rejected ]] || break
	done
	[[ $(<"/exchange/managed-$try") == 0 ]]
	ok $? "$what ($(tail -n 3 /tmp/managed | tr -s ' \n' ' ' | cut -c 1-150))"
	barrier "managed-$what-done"
}

manager_listens() {
	[[ $(rdma resource show cm_id) == *"state LISTEN"* ]]
}

# listens PORT: check whether a program of this node listens on a TCP port.
listens() {
	local hex
	printf -v hex ":%04X 00000000:0000 0A" "$1"
	grep -q "$hex" /proc/net/tcp || grep -q ":${hex:1:4} 0*:0000 0A" /proc/net/tcp6
}

with_manager() {
	transfer "rping, IPv4" 0 rping -s -a "$server" -C 50 -V -S 4000 -- rping -c -a "$server" -C 50 -V -S 4000
	transfer "rping, IPv6" 0 rping -s -a "$server6" -C 20 -V -S 64 -- rping -c -a "$server6" -C 20 -V -S 64
	transfer "ucmatose, 8 connections" 0 ucmatose -c 8 -C 20 -S 3000 -- ucmatose -s "$server" -c 8 -C 20 -S 3000
	transfer "udaddy, 4 connections" 0 udaddy -c 4 -C 20 -S 1000 -- udaddy -s "$server" -c 4 -C 20 -S 1000
}

# qperf TEST with the connection manager. The server rejects a connection now and then, on rxe more often than on ntrdma.
qperf_client() {
	local try said
	for try in {1..5}; do
		said=$(timeout $((60 * slow)) qperf "$server" -t 1 -cm 1 "$1" 2>&1) && [[ $said != *rejected* ]] && break
		echo "try $try: $said"
	done
	echo "$said"
	[[ $said == *=* ]]
}

without_manager() {
	local gid
	gid=$(gid_of)
	transfer "ibv_rc_pingpong" 18515 ibv_rc_pingpong -d "$RDMADEV" -g "$gid" -n 500 -c -- \
		ibv_rc_pingpong -d "$RDMADEV" -g "$gid" -n 500 -c "$server"
	transfer "ibv_rc_pingpong with events" 18515 ibv_rc_pingpong -d "$RDMADEV" -g "$gid" -n 100 -e -- \
		ibv_rc_pingpong -d "$RDMADEV" -g "$gid" -n 100 -e "$server"
	transfer "ibv_srq_pingpong, 16 QPs" 18515 ibv_srq_pingpong -d "$RDMADEV" -g "$gid" -n 200 -- \
		ibv_srq_pingpong -d "$RDMADEV" -g "$gid" -n 200 "$server"
	transfer "ibv_ud_pingpong" 18515 ibv_ud_pingpong -d "$RDMADEV" -g "$gid" -n 100 -s 1000 -- \
		ibv_ud_pingpong -d "$RDMADEV" -g "$gid" -n 100 -s 1000 "$server"
	local test
	for test in ib_write_bw ib_send_bw ib_read_bw; do
		transfer "$test" 18515 $test -d "$RDMADEV" -F -x "$gid" -n 200 -s 65536 -- \
			$test -d "$RDMADEV" -F -x "$gid" -n 200 -s 65536 "$server"
	done
	for test in ib_write_lat ib_send_lat ib_read_lat ib_atomic_lat; do
		transfer "$test" 18515 $test -d "$RDMADEV" -F -x "$gid" -n 200 -- \
			$test -d "$RDMADEV" -F -x "$gid" -n 200 "$server"
	done
	for test in ib_write_bw ib_send_lat; do
		managed "$test with the connection manager" $test -d "$RDMADEV" -F -x "$gid" -n 200 -R
	done
	for test in rc_lat rc_bw rc_rdma_write_bw rc_rdma_read_bw rc_fetch_add_mr; do
		transfer "qperf $test" 19765 qperf -- qperf_client "$test"
	done
}

# Each case of the test program, on the device of this node.
cases() {
	local name what gid
	gid=$(gid_of)
	while read -r name what; do
		check "$what" timeout $((60 * slow)) /add/uverbs "$RDMADEV" "$gid" "$name"
	done < <(/add/uverbs list)
}

hostile() {
	local gid seconds=$((${1:-20} / 2))
	gid=$(gid_of)
	check "programs are killed at random moments" timeout $((200 * slow)) /add/uhostile "$RDMADEV" "$gid" kill 20
	check "threads reset, connect and post to a QP for $seconds s" timeout $((seconds + 60 * slow)) \
		/add/uhostile "$RDMADEV" "$gid" threads "$seconds"
	check "programs write random bytes to their queues for $seconds s" timeout $((seconds + 60 * slow)) \
		/add/uhostile "$RDMADEV" "$gid" scribble "$seconds"
	check "a correct program works afterwards" timeout $((60 * slow)) /add/uverbs "$RDMADEV" "$gid" send
}

# Each allocation of a program that uses all kinds of objects fails once. Pages do not fail: without memory for a page of
# the program itself, the kernel would end the program. Only the debug kernels can fail allocations.
faults() {
	local debug=/sys/kernel/debug
	[[ $KERNEL == *debug* ]] || return 0
	mount_debugfs
	echo 0 >"$debug/failslab/probability"
	echo -1 >"$debug/failslab/times"
	echo N >"$debug/failslab/ignore-gfp-wait"
	echo Y >"$debug/fail_page_alloc/ignore-gfp-wait"
	check "a program creates objects while one allocation fails" timeout 600 \
		/add/uhostile "$RDMADEV" "$(gid_of)" faults 2000
}

# rxe looks for its own devices among those with its driver_id.
beside_rxe() {
	local gid
	modprobe rdma_rxe 2>/dev/null
	rdma link add rxe9 type rxe netdev "$NETDEV"
	check "rxe has a device on the interface of ntrdma" test -e /sys/class/infiniband/rxe9
	ip link set "$NETDEV" mtu 1300 && ip link set "$NETDEV" mtu 1500
	ip link set "$NETDEV" down && ip link set "$NETDEV" up
	within 10 port_active
	gid=$(gid_of)
	check "a program uses ntrdma while rxe is loaded" timeout $((60 * slow)) /add/uverbs "$RDMADEV" "$gid" send
	rdma link delete rxe9
}

# When rxe is unloaded, it unregisters all devices with its driver_id.
without_rxe() {
	local gid
	ip link add local9 type veth peer local8
	rdma link add ntrl9 type ntr netdev local9
	rdma link add ntrl8 type ntr netdev local8
	rdma link delete ntrl8
	rmmod rdma_rxe
	ok $? "rxe is unloaded"
	check "the device of ntrdma comes back" within 10 port_active
	check "the device that rdma link has added comes back" within 10 test -e /sys/class/infiniband/ntrl9
	sleep 1
	check "a device that was deleted does not come back" test ! -e /sys/class/infiniband/ntrl8
	gid=$(gid_of)
	check "a program uses ntrdma afterwards" timeout $((60 * slow)) /add/uverbs "$RDMADEV" "$gid" send
	rdma link delete ntrl9
	ip link delete local9
}

port_active() {
	[[ $(cat /sys/class/infiniband/"$RDMADEV"/ports/1/state 2>/dev/null) == *ACTIVE ]] && [[ $(gid_of) ]]
}

# perftest needs a processor speed, and /proc/cpuinfo of User-mode Linux has none. The value does not matter, because
# perftest uses its own measurement if the two differ much.
say_speed() {
	grep -q "cpu MHz" /proc/cpuinfo && return
	echo "cpu MHz : 1" >/tmp/cpuinfo
	mount --bind /tmp/cpuinfo /proc/cpuinfo
}

before=$(resources)
say_speed
barrier begun
with_manager
without_manager
barrier transferred
on 2 cases
barrier cases
on 2 faults
on 2 hostile "$@"
barrier hostile
same_resources "$before" "resources are as before"
barrier same
on 2 beside_rxe
# rxe is a module in Debian's kernels only.
[[ $NODE == 1 || $KERNEL != stock-* ]] || without_rxe
barrier rxe
finish
