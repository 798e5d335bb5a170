#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# interface-down: the interface of a node goes down and up while all nodes write. While it is down, the device of the node is
# removed, all modules are reloaded, and the device is created again. The device is complete after the interface is up.
#
#   node 1 - node 2 (its interface goes down) - node 3 (- node 1)
#
# nodes: 3
# kernels:
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# guarantees: G1 G8
# timeout: 400

# shellcheck disable=SC2317 # functions are called by check() and within()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
down=2

# up: bring the interface up, and recreate the RDMA device, as an administrator must do. Use this function only with
# Linux 6.1, see device-removal.sh.
up() {
	interface_up && within 30 busybox ping -c1 -W1 "$(addr4 1)" >/dev/null &&
		rdma link del "$RDMADEV" && rdma link add "$RDMADEV" type rxe netdev "$NETDEV"
}

# write ROUND: write this node's words. Fail if the writes take too long, which must not happen even while a peer is
# unreachable.
write() {
	local i begun=$EPOCHREALTIME
	for i in 0 1 2 3; do
		rfm poke $((65536 * NODE + 4 * (16 * $1 + i))) $((1000 * $1 + 10 * NODE + i)) || return 1
	done
	begun=$(((${EPOCHREALTIME/[.,]/} - ${begun/[.,]/}) / 1000))
	echo "# wrote in $begun ms"
	# Each of the four writes may wait until a peer is left behind.
	((begun < 4 * 2 * 1000 * slow))
}

# has ROUND: succeed if this node has the words that all nodes wrote in ROUND.
has() {
	local i n
	for n in 1 2 3; do
		for i in 0 1 2 3; do
			[[ $(rfm peek $((65536 * n + 4 * (16 * $1 + i)))) == $((1000 * $1 + 10 * n + i)) ]] || return 1
		done
	done
}

# converged ROUND: check that this node is linked with both peers, and has the words that all nodes wrote in ROUND.
converged() {
	check "round $1: node $NODE is linked with both peers" within 60 rfm_is ready
	barrier "linked$1"
	check "round $1: node $NODE has the words of all nodes" within 30 has "$1"
	barrier "equal$1"
}

network_ready
check "node $NODE creates a device with two peers" rfm_make 1M keepalive_ms=500 overload_ms=1000
check "node $NODE is linked with both peers" within 60 rfm_is ready
barrier begun
check "round 0: node $NODE writes" write 0
converged 0

# The interface stays down until all links of its node are down, while all nodes write.
on "$down" check "the interface of node $down goes down" interface_down
barrier down
check "round 1: node $NODE writes" write 1
if ((NODE == down)); then
	check "all links of node $down go down with its interface" within 60 rfm_is down
else
	check "node $NODE notices that node $down is down" within 60 rfm_is down $down
	check "node $NODE stays linked with node $((4 - NODE))" within 60 rfm_is ready $((4 - NODE))
fi
check "round 2: node $NODE writes" write 2
barrier written
on "$down" check "the interface of node $down comes up" up
converged 2
check "node $NODE has the words of round 1" has 1

# The interface is down for a shorter time than peers need to detect that.
on "$down" check "the interface of node $down goes down for a short time" interface_down
on "$down" check "the interface of node $down comes up after a short time" up
barrier blink
check "round 3: node $NODE writes" write 3
converged 3

# While the interface is down, remove the device, reload the modules, and create the device.
on "$down" check "the interface of node $down goes down for a reload" interface_down
barrier third
check "round 4: node $NODE writes" write 4
if ((NODE == down)); then
	begun=$SECONDS
	check "the device is removed while the interface is down" rfm_unmake
	check "vrfm is unloaded while the interface is down" rmmod vrfm
	check "krdma is unloaded while the interface is down" rmmod krdma
	((SECONDS - begun < 10 * slow))
	ok $? "removing and unloading with the interface down ends in time: $((SECONDS - begun)) s"
	check "krdma is loaded while the interface is down" insmod /modules/krdma.ko
	check "vrfm is loaded while the interface is down" insmod /modules/vrfm.ko
	check "the device is created while the interface is down" rfm_make 1M keepalive_ms=500 overload_ms=1000
	check "the interface of node $down comes up after a reload" up
fi
check "node $NODE is linked with both peers after the reload" within 60 rfm_is ready
barrier third-linked
check "node $NODE has the words of round 3, before the reload of node $down" within 30 has 3
check "round 5: node $NODE writes" write 5
converged 5

check "node $NODE removes its device" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
