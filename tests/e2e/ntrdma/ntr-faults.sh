#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-faults: allocations of the creation of a device fail, one in each attempt: each of those of ntrdma, and some of those
# of the core (newlink.c). The creation returns an error and leaves nothing behind, or succeeds without the memory; then the
# port gets active, and the device can be removed. The last device works.
#
# The scenario alloc-failures lets allocations of connections and transfers fail, and ntr-user those of programs.
#
#   node 1 (creates devices, and has the peer) ... node 2 (only waits, because both nodes have one module)
#
# alone: uml-debug/ntr
# load: krdma krping
# programs: ntrmem/newlink
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

debug=/sys/kernel/debug
mount_debugfs

gone() { [[ ! -e /sys/class/infiniband/$1 && ! -e $debug/ntrdma/$1 ]]; }

# creations NAME WORD...: one case for each kind of result.
creations() {
	local wrong count text
	while read -r wrong count text; do
		[[ $wrong != "#" ]] || { echo "# $count $text"; continue; }
		ok "$wrong" "creation while one allocation fails: $text: $count"
	done < <(timeout 900 /add/newlink "$@" || echo "1 1 newlink ends with status $?")
}

# Small rings, because each page of the windows is an allocation.
load() { insmod /modules/ntrdma.ko ring_kb=16 lanes=1; }

pings() {
	local pid
	echo "server,addr=$1,port=9990,count=10,size=5000" >/proc/krping &
	pid=$!
	within 10 krping_listens
	check "pings over the device that was created last" client "$1"
	check "the server of these pings succeeds" wait $pid
}

client() { echo "client,addr=$1,port=9990,count=10,size=5000,validate" >/proc/krping; }

# A device on the one end of a veth pair, and one on the other end, which is its peer.
links() {
	ip link add fault0 type veth peer name fault1
	ip addr add 10.58.0.1/24 dev fault0
	ip link set fault0 up
	ip link set fault1 up
	rdma link add ntr8 type ntr netdev fault1
	ok $? "a device without failures"
	creations ntr9 fault0
	pings 10.58.0.1
	check "the device can be removed" rdma link del ntr9
	check "its files are gone" within 5 gone ntr9
	rdma link del ntr8
	ip link del fault0
}

add_all() {
	local i
	for ((i = 1; i <= NODES; i++)); do
		ip netns exec "node$i" rdma link add "ntr$i" type ntr netdev eth0
	done
}

barrier begun
if ((NODE == 1)); then
	inject_failures
	rmmod ntrdma
	load
	links
	rmmod ntrdma
	ok $? "the module can be unloaded"
	insmod /modules/ntrdma.ko
	add_all
fi
barrier created
finish
