#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfm-ipv6: nodes of a reflective memory are linked over IPv6, each with a port of its own: described in configfs, and in
# parameters of the module. A peer whose port is another one is not found, until its admin says the right one.
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

# peer PORT: the other node
peer() {
	mkdir "$dir/peers/$other" && echo "$1" >"$dir/peers/$other/port" && addr6 "$other" >"$dir/peers/$other/addr"
}

# device PORT: of this node; the other one is at PORT
device() {
	mkdir "$dir" && echo "$NODE" >"$dir/node_id" && echo 1M >"$dir/size" && addr6 "$NODE" >"$dir/listen" &&
		port "$NODE" >"$dir/port" && peer "$1" && echo 1 >"$dir/enable"
}

load() {
	insmod /modules/vrfm.ko "$@"
}

# all FIRST: what this node writes, stores and says is at the other one
all() {
	check "a word is written" rfm poke $((64 * NODE)) $(($1 + NODE))
	check "a word is stored" rfm store $((8192 + 64 * NODE)) $(($1 + NODE))
	check "a block is written" rfm fill $((131072 * NODE)) 100000 $(($1 + NODE))
	check "the other node's word is here" rfm await $((64 * other)) $(($1 + other)) $((10 * slow))
	check "and what it stored" rfm await $((8192 + 64 * other)) $(($1 + other)) $((10 * slow))
	check "all that was written is sent" rfm_settle
	barrier "sent-$1"
	rfm sum >"/exchange/sum-$1-$NODE"
	barrier "summed-$1"
	cmp "/exchange/sum-$1-1" "/exchange/sum-$1-2"
	ok $? "both are equal: $(<"/exchange/sum-$1-$NODE")"
}

shown() {
	local said
	said=$(/add/own "$RFM" peers | grep "^peer $other ")
	[[ $said == *" family 10 port $(port $other) "*" address $(addr6 $other)" ]]
	ok $? "where the other node is: $said"
}

by_configfs() {
	local right wrong
	right=$(port $other)
	# Node 1 connects, for its id is lower.
	wrong=$((right + (NODE == 1 ? 100 : 0)))
	check "the module" load
	mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
	check "a device that listens at its IPv6 address, the peer at port $wrong" device $wrong
	barrier wrong
	sleep 2
	check "nobody is there" rfm_is down
	[[ $(stat -c %a "$dir/size" "$dir/listen" "$dir/peers/$other/addr") == $'644\n600\n600' ]]
	ok $? "addresses are root's to read"
	barrier known
	if ((NODE == 1)); then
		check "the peer goes" rmdir "$dir/peers/$other"
		check "and comes with port $right" peer "$right"
	fi
	check "linked" within 60 rfm_is ready
	shown
	all 1000
	barrier all
	((NODE != 2)) || check "the peer goes" rmdir "$dir/peers/$other"
	((NODE != 1)) || check "the link is lost" within 20 rfm_is down
	barrier lost
	((NODE != 1)) || check "a word is written alone" rfm poke 16384 7
	barrier alone
	((NODE != 2)) || check "the peer comes" peer "$right"
	check "linked again" within 60 rfm_is ready
	((NODE != 2)) || check "the word is here" rfm await 16384 7 $((10 * slow))
	all 2000
	barrier over
	check "the device goes" rfm_unmake
	check "and the module" rmmod vrfm
}

by_parameters() {
	check "a device of parameters, with ports" load node="$NODE" size=1M listen="$(addr6 "$NODE")" \
		port="$(port "$NODE")" peers="$other@[$(addr6 $other)]:$(port $other)"
	barrier loaded
	check "linked" within 60 rfm_is ready
	shown
	all 3000
	barrier unload
	check "the module goes, and the device" rmmod vrfm
}

modprobe configfs 2>/dev/null
by_configfs
barrier again
by_parameters
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
