#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# unplugged: the interface of a node goes down and comes up again, while all write; and what is unmade, unloaded and made
# anew while it is down, is whole when it is up.
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

# With Linux 6.1 only, and the RDMA device made anew as an admin must do it: see remove.sh.
up() {
	interface_up && within 30 busybox ping -c1 -W1 "$(addr4 1)" >/dev/null &&
		rdma link del "$RDMADEV" && rdma link add "$RDMADEV" type rxe netdev "$NETDEV"
}

# write ROUND: each node its own words; false if one takes long, whatever the others do
write() {
	local i begun=$EPOCHREALTIME
	for i in 0 1 2 3; do
		rfm poke $((65536 * NODE + 4 * (16 * $1 + i))) $((1000 * $1 + 10 * NODE + i)) || return 1
	done
	begun=$(((${EPOCHREALTIME/[.,]/} - ${begun/[.,]/}) / 1000))
	echo "# wrote in $begun ms"
	# Each may wait once until a peer is left behind.
	((begun < 4 * 2 * 1000 * slow))
}

# has ROUND: what all have written until then is here
has() {
	local i n
	for n in 1 2 3; do
		for i in 0 1 2 3; do
			[[ $(rfm peek $((65536 * n + 4 * (16 * $1 + i)))) == $((1000 * $1 + 10 * n + i)) ]] || return 1
		done
	done
}

# equal ROUND NODE...: all have what was written in it, and these are linked with each other
equal() {
	check "round $1: linked" within 60 rfm_is ready
	barrier "linked$1"
	check "round $1: all words are here" within 30 has "$1"
	barrier "equal$1"
}

network_ready
check "a device with two peers" rfm_make 1M keepalive_ms=500 overload_ms=1000
check "is linked" within 60 rfm_is ready
barrier begun
check "all write" write 0
equal 0

# Down for long enough that all links are given up, and all write meanwhile.
((NODE != down)) || check "the interface goes down" interface_down
barrier down
check "all write" write 1
if ((NODE == down)); then
	check "nobody is linked" within 60 rfm_is down
else
	check "node $down is not linked" within 60 rfm_is down $down
	check "the other one is" within 60 rfm_is ready $((4 - NODE))
fi
check "all write again" write 2
barrier written
((NODE != down)) || check "the interface comes up" up
equal 2
check "what was written before is here, too" has 1

# And so shortly that nobody may have noticed.
((NODE != down)) || check "the interface goes down again" interface_down
((NODE != down)) || check "and comes up at once" up
barrier blink
check "all write" write 3
equal 3

# While it is down the device is unmade, the modules go and come, and the device is made.
((NODE != down)) || check "the interface is down" interface_down
barrier third
check "all write" write 4
if ((NODE == down)); then
	begun=$SECONDS
	check "the device is unmade" rfm_unmake
	check "vrfm goes" rmmod vrfm
	check "krdma goes" rmmod krdma
	((SECONDS - begun < 10 * slow))
	ok $? "it took $((SECONDS - begun)) s"
	check "krdma comes" insmod /modules/krdma.ko
	check "vrfm comes" insmod /modules/vrfm.ko
	check "the device is made" rfm_make 1M keepalive_ms=500 overload_ms=1000
	check "the interface is up" up
fi
check "linked with all" within 60 rfm_is ready
barrier third-linked
check "what was written before node $down went is here" within 30 has 3
check "all write" write 5
equal 5

check "the device goes" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
