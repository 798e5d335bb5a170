#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# device-setup: devices are created by parameters of the module and by configfs.
# - parameters: loading vrfm with parameters creates a device, or logs the reason of a failure in one line. An open device
#   keeps the module loaded. vrfmctl does not change a device that was created by parameters.
# - ipv6: two nodes of a reflective memory are linked over IPv6, each with a port of its own. Their devices are created by
#   configfs, and later by parameters of the module. A peer with a wrong port is not linked until the port is corrected.
#
#   parameters: insmod vrfm.ko node=... ---> /dev/rfm2g0
#   ipv6:       node 1 (port 5601) <--- IPv6 ---> node 2 (port 5602)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma
# tools: vrfmctl
# programs: rfm2g/rfm rfm2g/own
# append: ncpus=1
# timeout: 300

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

RFM=/dev/rfm2g0
dir=$rfm_config/rfm2g0
other=$((3 - NODE))

load() {
	insmod /modules/vrfm.ko "$@"
}

# ---- parameters of the module ----

unload() {
	rmmod vrfm 2>/dev/null
}

# refused_parameters TEXT PARAMETER...: one case, which passes if loading vrfm fails and one line with TEXT is logged.
refused_parameters() {
	local text=$1 before
	shift
	before=$(dmesg_node | grep -c "$text")
	! load "$@" 2>/dev/null && (($(dmesg_node | grep -c "$text") == before + 1)) && [[ ! -e $RFM && ! -e /proc/rfm2g ]]
	ok $? "$* is refused with one line in the log"
	! unload || ok 1 "the module is not loaded after $* was refused"
}

# vrfmctl neither removes a device that was created by parameters, nor creates another one with its number.
foreign() {
	local word said
	printf '%s\n' '[rfm2g0]' 'node = 7' >"$results/vrfm.conf"
	for word in up down "down rfm2g0"; do
		# shellcheck disable=SC2086
		! said=$(vrfmctl -f "$results/vrfm.conf" $word 2>&1) && [[ $said == *" by node= of the module: modprobe -r vrfm "* ]]
		ok $? "vrfmctl $word refuses a device by parameters: $said"
	done
	check "vrfmctl down --all ignores a device by parameters" vrfmctl down --all
	[[ -c $RFM && -z $(ls "$rfm_config") ]]
	ok $? "vrfmctl leaves a device by parameters unchanged"
}

parameters() {
	check "vrfm is loaded without parameters" load
	[[ ! -e $RFM && $(</proc/rfm2g) == "RFM2G_DEVICE_COUNT 0" ]]
	ok $? "vrfm without parameters creates no device"
	check "vrfm without parameters is unloaded" unload

	check "vrfm is loaded with node=7" load node=7
	[[ $(stat -c %a "$RFM") == 660 && $(</sys/class/rfm2g/rfm2g0/node_id) == 7 ]]
	ok $? "node=7 creates a device"
	[[ $(</sys/class/rfm2g/rfm2g0/size) == $((64 << 20)) && $(</sys/class/rfm2g/rfm2g0/network) == 1 ]]
	ok $? "node=7 creates a device of 64 MiB in network 1"
	foreign
	exec 7<>"$RFM"
	! unload
	ok $? "vrfm cannot be unloaded while its device is open"
	exec 7>&-
	check "vrfm is unloaded when its device is closed" unload
	[[ ! -e $RFM && ! -e /proc/rfm2g && ! -e /sys/class/rfm2g ]]
	ok $? "unloading vrfm removes its device and files"

	check "vrfm is loaded with all parameters" load node=0 size=1M network=5 mode=0600
	[[ $(stat -c %a "$RFM") == 600 && $(</sys/class/rfm2g/rfm2g0/node_id) == 0 &&
		$(</sys/class/rfm2g/rfm2g0/size) == 1048576 && $(</sys/class/rfm2g/rfm2g0/network) == 5 ]]
	ok $? "the device has all parameters of the module"
	[[ $(cd /sys/module/vrfm/parameters && stat -c %a size listen peers) == $'444\n400\n400' ]]
	ok $? "only root can read addresses in parameters"
	check "vrfm with all parameters is unloaded" unload

	refused_parameters "node 256: not in 0..255" node=256
	refused_parameters "node -2: not in 0..255" node=-2
	refused_parameters "size 5000: not a multiple" node=1 size=5000
	refused_parameters "size 4Q: not a multiple" node=1 size=4Q
	refused_parameters "mode 0777: not permissions" node=1 mode=0777
	# 2 GiB is more memory than these nodes have.
	refused_parameters "rfm2g0: node 1, 2147483648 bytes: error -12" node=1 size=2G
	check "vrfm is loaded after refused parameters" load node=1
	check "vrfm is unloaded after refused parameters" unload
}

# ---- IPv6 ----

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

# exchange FIRST: check that both nodes receive words and a block of each other. The words are FIRST plus the number of their
# node.
exchange() {
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
	[[ $said == *" family 10 port $(port "$other") "*" address $(addr6 "$other")" ]]
	ok $? "the peer has an IPv6 address and port: $said"
}

by_configfs() {
	local right wrong
	right=$(port "$other")
	# Only node 1 gets a wrong port: it connects, because its id is lower.
	wrong=$((right + (NODE == 1 ? 100 : 0)))
	check "vrfm is loaded" load
	mount_configfs
	check "node $NODE creates a device with an IPv6 address, and the peer at port $wrong" device "$wrong"
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
	exchange 1000
	barrier all
	on 2 check "node 2 removes its peer" rmdir "$dir/peers/$other"
	on 1 check "the link goes down when node 2 removes its peer" within 20 rfm_is down
	barrier lost
	on 1 check "node 1 writes a word without a link" rfm poke 16384 7
	barrier alone
	on 2 check "node 2 adds its peer again" peer "$right"
	check "node $NODE is linked after node 2 has added its peer again" within 60 rfm_is ready
	on 2 check "node 2 receives the word that node 1 wrote without a link" rfm await 16384 7 $((10 * slow))
	exchange 2000
	barrier over
	check "node $NODE removes its device" rfm_unmake
	check "vrfm is unloaded without a device" rmmod vrfm
}

by_parameters() {
	check "vrfm is loaded with ports in its parameters" load node="$NODE" size=1M listen="$(addr6 "$NODE")" \
		port="$(port "$NODE")" peers="$other@[$(addr6 "$other")]:$(port "$other")"
	barrier loaded
	check "node $NODE is linked by parameters" within 60 rfm_is ready
	shown
	exchange 3000
	barrier unload
	check "vrfm is unloaded with its device" rmmod vrfm
}

ipv6() {
	by_configfs
	barrier again
	by_parameters
	barrier gone
}

modprobe configfs 2>/dev/null
section parameters
section ipv6
finish
