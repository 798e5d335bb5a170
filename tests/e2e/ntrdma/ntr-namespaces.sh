#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-namespaces: the commands of Documentation/ntrdma.rst connect two network namespaces of one kernel, and a container.
# krping and nverbs run between them. The devices end with their namespaces. A device that has moved to another
# namespace follows its interface. Afterwards the module can be unloaded.
#
#   namespace red (server) <--- krping, nverbs over ntrdma ---> namespace blue (client)
#   namespace web, a container <--- bridge ---> namespace red, krping over ntrdma
#
# kernels: stock-6.1
# long: stock-new stock-6.12 debug-6.1
# nodes: 1
# load: krdma krping nverbs
# add: ../../Documentation/ntrdma.rst
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

# The page assumes that the module is installed.
modprobe() {
	if [[ $1 == ntrdma ]]; then insmod /modules/ntrdma.ko; else command modprobe "$@"; fi
}

# The container of the page is a namespace in which this process sleeps.
podman() {
	[[ $* == "inspect -f {{.State.Pid}} web" ]] && echo "$web_pid"
}

# typed N: type the Nth block of the page about namespaces. Each command is a case, which passes if the command succeeds.
# This shell runs them, because later ones use variables of earlier ones.
typed() {
	local commands line
	mapfile -t commands < <(page_commands ntrdma.rst "Namespaces of one kernel" "$1")
	((${#commands[@]} > 0))
	ok $? "the page has the block $1: ${#commands[@]} commands"
	for line in "${commands[@]}"; do
		eval "$line" </dev/null
		ok $? "$line"
	done
}

active() {
	[[ $(rdma link show "$1/1") == *"state ACTIVE"* ]]
}

connect() {
	typed 1
	check "ntr1 is active" within 5 active ntr1
	check "ntr2 is active" within 5 active ntr2
}

# contain: create a namespace as a container engine does, whose interface joins a bridge that red also joins.
contain() {
	ip link add bridge0 type bridge && ip link set bridge0 up &&
	ip netns add web && ip -n web link add eth0 type veth peer name web0 netns 1 &&
	ip link add red1 netns red type veth peer name red1b &&
	ip link set web0 master bridge0 up && ip link set red1b master bridge0 up &&
	ip -n web addr add 10.58.0.3/24 dev eth0 && ip -n web link set eth0 up &&
	ip -n red addr add 10.58.0.1/24 dev red1 && ip -n red link set red1 up
	ok $? "a container is connected by a bridge"
	ip netns exec web sleep 1000 &
	web_pid=$!
}

container() {
	contain
	typed 2
	check "the device of the container is active" within 5 active ntr3
	check "red gets a device on the bridge" ip netns exec red rdma link add ntr4 type ntr netdev red1
	ip netns exec red bash -c "echo server,addr=10.58.0.1,port=9999,size=4096 >/proc/krping" &
	within 10 krping_listens
	check "pings of the container come back" ip netns exec web bash -c \
		"echo client,addr=10.58.0.1,port=9999,count=100,size=4096,validate >/proc/krping"
	wait $!
	ok $? "the server of the container's pings succeeds"
	kill "$web_pid"
	check "the namespace of the container is removed" ip netns del web
	ip link del bridge0
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

# link_is STATE: the link of the device ntr5 to itself has this state.
link_is() {
	grep "^peer [0-9]*: $1," /sys/kernel/debug/ntrdma/ntr5/status >/dev/null
}

# A device in another namespace follows its interface, which stays where it is.
moves() {
	check "namespaces have RDMA devices of their own" within 10 rdma system set netns exclusive
	ip netns attach home $$ && ip netns add green && ip link add green1 type veth peer name green1b &&
		ip link set green1b up && ip link set green1 up && rdma link add ntr5 type ntr netdev green1
	ok $? "a device that can move"
	check "the device moves to another namespace" rdma dev set ntr5 netns green
	ip link set green1 down
	check "the device knows that its interface is down" within 5 link_is off
	check "the device moves back" ip netns exec green rdma dev set ntr5 netns home
	ip link set green1 up
	check "the device knows that its interface is up" within 5 link_is up
	ip link del green1
	ip netns del green
	ip netns del home
}

devices_end() { [[ $(rdma link) != *ntr[1-5]/* ]]; }

connect
pings
verbs
container
check "the namespace red is removed" ip netns del red
check "the namespace blue is removed" ip netns del blue
check "the devices end with their namespaces" within 10 devices_end
moves
check "the device ends with its interface" within 10 devices_end
check "ntrdma is unloaded" rmmod ntrdma
finish
