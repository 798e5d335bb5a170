#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-namespaces: the commands of Documentation/ntrdma.rst connect two network namespaces of one kernel. krping and nverbs
# run between them. The devices end with their namespaces, and the module can be unloaded.
#
#   namespace red (server) <--- krping, nverbs over ntrdma ---> namespace blue (client)
#
# kernels: stock-6.1
# long: stock-new stock-6.12 debug-6.1
# nodes: 1
# load: krdma krping nverbs
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

# The page assumes that the module is installed.
modprobe() {
	if [[ $1 == ntrdma ]]; then insmod /modules/ntrdma.ko; else command modprobe "$@"; fi
}

# typed COMMAND...: one case: a command of the page succeeds.
typed() {
	check "$*" "$@"
}

active() {
	[[ $(rdma link show "$1/1") == *"state ACTIVE"* ]]
}

connect() {
	typed modprobe ntrdma
	typed ip netns add red
	typed ip netns add blue
	typed ip link add red0 netns red type veth peer name blue0 netns blue
	typed ip -n red addr add 10.57.0.1/24 dev red0
	typed ip -n blue addr add 10.57.0.2/24 dev blue0
	typed ip -n red link set red0 up
	typed ip -n blue link set blue0 up
	typed ip netns exec red rdma link add ntr1 type ntr netdev red0
	typed ip netns exec blue rdma link add ntr2 type ntr netdev blue0
	check "ntr1 is active" within 5 active ntr1
	check "ntr2 is active" within 5 active ntr2
}

pings() {
	local size
	for size in 1 4096 100000; do
		ip netns exec red bash -c "echo server,addr=0.0.0.0,port=9999,size=$size >/proc/krping" &
		within 10 krping_listens
		check "pings of $size bytes come back" ip netns exec blue bash -c \
			"echo client,addr=10.57.0.1,port=9999,count=100,size=$size,validate >/proc/krping"
		wait $!
		ok $? "the server of pings of $size bytes succeeds"
	done
}

# The file descriptor that runs a command of nverbs also has its results.
verbs() {
	local group status text count
	for group in data errors states srq query datagrams; do
		ip netns exec red bash -c 'echo serve 7000 >/proc/nverbs' &
		count=0
		while read -r status text; do
			[[ $text != "CMP_AND_SWP of an unaligned address raises "* ]] || continue
			ok "$status" "$text"
			count=$((count + 1))
		done < <(ip netns exec blue bash -c "exec 3<>/proc/nverbs; echo run 10.57.0.1 7000 $group >&3 && cat <&3")
		wait $!
		((count > 0))
		ok $? "the group $group has cases: $count"
	done
}

devices_end() { [[ $(rdma link) != *ntr[12]/* ]]; }

connect
pings
verbs
typed ip netns del red
typed ip netns del blue
check "the devices end with their namespaces" within 10 devices_end
typed rmmod ntrdma
finish
