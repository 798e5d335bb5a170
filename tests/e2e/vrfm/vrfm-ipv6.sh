#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfm-ipv6: two nodes of a reflective memory are linked over IPv6, each with a port of its own. Their devices are created by
# configfs, and later by parameters of the module. A peer with a wrong port is not linked until the port is corrected.
#
#   node 1 (port 5601) <--- IPv6 ---> node 2 (port 5602)
#
# kernels: uml
# alone: stock-6.1
# load: krdma
# programs: rfm2g/rfm rfm2g/own
# append: ncpus=1
# timeout: 200

# shellcheck disable=SC2317 # functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
RFM=/dev/rfm2g0
dir=$rfm_config/rfm2g0
other=$((3 - NODE))

port() {
	echo $((5600 + $1))
}

# peer PORT: add the other node as a peer, with PORT.
peer() {
	mkdir "$dir/peers/$other" && echo "$1" >"$dir/peers/$other/port" && addr6 "$other" >"$dir/peers/$other/addr"
}

# device PORT: create this node's device with one peer: the other node, with PORT.
device() {
	mkdir "$dir" && echo "$NODE" >"$dir/node_id" && echo 1M >"$dir/size" && addr6 "$NODE" >"$dir/listen" &&
		port "$NODE" >"$dir/port" && peer "$1" && echo 1 >"$dir/enable"
}

load() {
	insmod /modules/vrfm.ko "$@"
}

# all FIRST: check that both nodes receive words and a block of each other. The words are FIRST plus the number of their
# node.
all() {
	check "node $NODE writes word $1" rfm poke $((64 * NODE)) $(($1 + NODE))
	check "node $NODE stores word $1" rfm store $((8192 + 64 * NODE)) $(($1 + NODE))
	check "node $NODE writes block $1" rfm fill $((131072 * NODE)) 100000 $(($1 + NODE))
	check "node $NODE receives written word $1 of node $other" rfm await $((64 * other)) $(($1 + other)) $((10 * slow))
	check "node $NODE receives stored word $1 of node $other" rfm await $((8192 + 64 * other)) $(($1 + other)) $((10 * slow))
	check "node $other has all writes of node $NODE after word $1" rfm_settle
	barrier "sent-$1"
	rfm sum >"/exchange/sum-$1-$NODE"
	barrier "summed-$1"
	cmp "/exchange/sum-$1-1" "/exchange/sum-$1-2"
	ok $? "both nodes are equal after word $1: $(<"/exchange/sum-$1-$NODE")"
}

shown() {
	local said
	said=$(/add/own "$RFM" peers | grep "^peer $other ")
	[[ $said == *" family 10 port $(port $other) "*" address $(addr6 $other)" ]]
	ok $? "the peer has an IPv6 address and port: $said"
}

by_configfs() {
	local right wrong
	right=$(port $other)
	# Only node 1 gets a wrong port: it connects, because its id is lower.
	wrong=$((right + (NODE == 1 ? 100 : 0)))
	check "vrfm is loaded" load
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	check "node $NODE creates a device with an IPv6 address, and the peer at port $wrong" device $wrong
	barrier wrong
	sleep 2
	check "a peer with a wrong port is not linked" rfm_is down
	[[ $(stat -c %a "$dir/size" "$dir/listen" "$dir/peers/$other/addr") == $'644\n600\n600' ]]
	ok $? "only root can read addresses in configfs"
	barrier known
	if ((NODE == 1)); then
		check "node 1 removes the peer with a wrong port" rmdir "$dir/peers/$other"
		check "node 1 adds the peer with port $right" peer "$right"
	fi
	check "node $NODE is linked after the port is corrected" within 60 rfm_is ready
	shown
	all 1000
	barrier all
	on 2 check "node 2 removes its peer" rmdir "$dir/peers/$other"
	on 1 check "the link goes down when node 2 removes its peer" within 20 rfm_is down
	barrier lost
	on 1 check "node 1 writes a word without a link" rfm poke 16384 7
	barrier alone
	on 2 check "node 2 adds its peer again" peer "$right"
	check "node $NODE is linked after node 2 has added its peer again" within 60 rfm_is ready
	on 2 check "node 2 receives the word that node 1 wrote without a link" rfm await 16384 7 $((10 * slow))
	all 2000
	barrier over
	check "node $NODE removes its device" rfm_unmake
	check "vrfm is unloaded without a device" rmmod vrfm
}

by_parameters() {
	check "vrfm is loaded with ports in its parameters" load node="$NODE" size=1M listen="$(addr6 "$NODE")" \
		port="$(port "$NODE")" peers="$other@[$(addr6 $other)]:$(port $other)"
	barrier loaded
	check "node $NODE is linked by parameters" within 60 rfm_is ready
	shown
	all 3000
	barrier unload
	check "vrfm is unloaded with its device" rmmod vrfm
}

modprobe configfs 2>/dev/null
by_configfs
barrier again
by_parameters
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
