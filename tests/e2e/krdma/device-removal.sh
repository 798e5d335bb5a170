#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# device-removal: the RDMA device or the network is removed under load. Every call ends, the removal does not wait until
# tasks release their connections, and connections work when the device is back.
#
#   node 1 (echoes, exports buffers, krping server) <--- messages, reads and writes, krping ---> node 2
#   first node 2 loses its device, then node 1 loses its device, then node 2 loses its network
#
# kernels: uml uml-debug uml-debug/ntr
# long: debug-6.1 uml/siw debug-6.1/siw stock-6.1 stock-new
# load: krdma krdma_test krping
# timeout: 420

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
[[ $KERNEL != *-6.1 ]] || network_ready
barrier begun
server=$(addr4 1)
# Time limit for the end of a call, in seconds. Without a disconnect message, retries of the QP or the timeout of a call
# detect the end of a connection.
patience=$((40 + 10 * slow))

# Errors of a connection after its device on this node was removed, or after its peer has vanished.
broken=(ENODEV ECONNRESET ECONNABORTED EIO ETIMEDOUT)

is_broken() {
	local name
	for name in "${broken[@]}"; do
		[[ $kt_ret == "${errno[$name]}" ]] && return 0
	done
	return 1
}

load_server() {
	local i
	kt listen l 0.0.0.0 7000
	kt listen rw 0.0.0.0 7001 rw=1
	kt listen rawl 0.0.0.0 7002 raw=1
	for i in 1 2; do kt_start "serve$i" serve l; done
	kt_start hold hold rw
	echo "server,addr=0.0.0.0,port=7200,size=4096" 2>/dev/null >/proc/krping &
	krping_pid=$!
}

load_client() {
	kt connect m "$server" 7000
	kt_is 0 "messages: connected"
	kt connect w "$server" 7001 rw=1
	kt_is 0 "reads and writes: connected"
	((kt_ret == 0)) || touch /exchange/look
	kt connect q "$server" 7000
	kt_is 0 "receiver: connected"
	kt_start m pump m 4096 120000
	kt_start sink sink m
	kt_start w rwpump w 65536 120000
	kt_start q receive q 64
	echo "client,addr=$server,port=7200,size=4096,validate" 2>/dev/null >/proc/krping &
	krping_pid=$!
	sleep 1
}

raw_client() {
	kt connect raw "$server" 7002 raw=1
	kt_is 0 "raw: connected"
}

raw_server() {
	kt request raw1 rawl 30000
	kt answer raw1 raw=1
	kt_is 0 "raw: accepted"
}

# wait_gone PID SECONDS: wait until process PID has ended. Fail after SECONDS.
wait_gone() {
	local end=$((SECONDS + $2))
	while kill -0 "$1" 2>/dev/null && [[ $(ps -o stat= -p "$1" 2>/dev/null) != Z* ]]; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# load_client_ends WHAT JOBS: one case for each of JOBS: the job ends with an error of a broken connection. More cases:
# krping ends, and the connections are released.
load_client_ends() {
	local job
	for job in $2; do
		kt_result "$job" "$patience" || echo "# $job hangs"
		is_broken
		ok $? "$1: $job ends with $kt_ret ($kt_text)"
	done
	check "$1: krping ends" wait_gone "$krping_pid" "$patience"
	for job in m w q; do
		kt release "$job"
		kt_is 0 "$1: $job released"
	done
}

# link_del: three cases: the RDMA device is removed under load, the removal ends in time, and no resource is left. The
# removal takes as long as krdma needs to notify the owners of all connections.
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
	local end=$((SECONDS + 10))
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV"
	ok $? "rdma link add on node $NODE"
	until ((SECONDS > end)) || [[ $LINK != rxe ]] ||
		grep -q "$(printf '0a38:%04x' "$NODE")" "/sys/class/infiniband/$RDMADEV/ports/1/gids/"* 2>/dev/null; do
		sleep 0.1
	done
}

raw_is_over() {
	local end=$((SECONDS + patience))
	until [[ $(kt_state "$1") == - ]] || ((SECONDS > end)); do sleep 0.1; done
	[[ $(kt_state "$1") == - ]]
	ok $? "$2: the owner of the raw connection is notified: $(grep "^$1 " /proc/krdma_test)"
	kt release "$1"
}

works_again() {
	kt rounds again "$server" 7000 3
	kt_is 0 "connections work after $1"
	kt release again
}

server_alive() {
	kt_result serve1 0
	[[ $kt_text == "still running" ]]
	ok $? "$1: the server continues ($kt_ret $kt_text)"
}

# End the server. Its listeners are not bound to an address, so they have continued without a device. The calls of its
# tasks on these listeners have waited until now.
end_server() {
	local i
	kt release l
	for i in 1 2; do
		kt_result "serve$i" "$patience"
		kt_is ESHUTDOWN "serve $i: $kt_text"
	done
	kt release rw
	kt_result hold "$patience"
	kt_is ESHUTDOWN "hold: $kt_text"
	kt release rawl
	kill -KILL "$krping_pid" 2>/dev/null
	wait "$krping_pid" 2>/dev/null
}

end_client_raw() { raw_is_over raw "$1"; }

server() {
	load_server
	barrier listening
	raw_server
	barrier loaded
	# node 2 removes its device
	barrier client-removed
	raw_is_over raw1 "node 2 lost its device"
	server_alive "node 2 lost its device"
	barrier client-back
	wait_gone "$krping_pid" "$patience"
	ok $? "the server of krping ends when its client has lost its device"
	echo "server,addr=0.0.0.0,port=7200,size=4096" 2>/dev/null >/proc/krping &
	krping_pid=$!
	sleep 0.5
	barrier listening2
	raw_server
	barrier loaded2
	link_del
	raw_is_over raw1 "node 1 lost its device"
	server_alive "node 1 lost its device"
	check "the server of krping ends when it has lost its device" wait_gone "$krping_pid" "$patience"
	link_add
	barrier server-back
	barrier works
	echo "server,addr=0.0.0.0,port=7200,size=4096" 2>/dev/null >/proc/krping &
	krping_pid=$!
	sleep 0.5
	barrier listening3
	barrier down
	end_server
}

client() {
	barrier listening
	raw_client
	load_client
	barrier loaded
	link_del
	load_client_ends "link del here" "m sink w q"
	end_client_raw "link del here"
	barrier client-removed
	link_add
	works_again "link add here"
	barrier client-back
	barrier listening2
	raw_client
	load_client
	barrier loaded2
	load_client_ends "link del at the peer" "m sink w q"
	end_client_raw "link del at the peer"
	barrier server-back
	works_again "link add at the peer"
	barrier works
	barrier listening3
	[[ $KERNEL != *-6.1 ]] || network_down
	barrier down
}

# Take the network interface of this node down. This case runs with Linux 6.1 only. Packets of rxe that are queued in an
# interface hold a reference to their QP. If the interface goes down, destroying this QP waits 50 s, and logs a warning
# (__rxe_cleanup()). interface_down() avoids this wait on 6.1, but cannot avoid it on 7.3. In addition, the network
# driver of UML cannot reopen its socket (vector_open: failed to get rx irq).
network_down() {
	load_client
	check "network down here" interface_down
	load_client_ends "network down here" "m sink w q"
	network_up
}

network_up() {
	check "network up here" interface_up
	timeout 30 bash -c "until busybox ping -c1 -W1 $server; do sleep 0.1; done" >/dev/null
	ok $? "the network works after the interface is up"
	# rxe (6.1, 7.3) moves its GSI QP to ERROR if it cannot send a datagram, here the DREQ. This flushes the
	# receives of the MAD layer, and the CM receives no packets until the RDMA link is recreated.
	if [[ $LINK == rxe ]]; then
		link_del
		link_add
	fi
	works_again "network up"
}

if ((NODE == 1)); then server; else client; fi
same_resources "$before" "resources are as before"
finish
