#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-blk-storm: the server of a disk stops and starts, its network is cut, and the RDMA devices of both nodes are removed
# and recreated, while a program writes. With each policy, the image of the server has each write that was acknowledged.
#
#   node 1 (server with a block device) <--- writes --- node 2 (client)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-new
# lasting: uml
# load: krdma krping_blk
# add: blk-lib.sh krping/blk-writes
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krping/blk-lib.sh
. blk-lib.sh

# The argument is the time of the whole scenario in seconds.
seconds=${1:-60}
before=$(resources)
network_ready
barrier begun

# start_server: start the server, as soon as the device is back.
start_server() {
	within 30 blk "server,addr=$server,port=$port,bio_target=bdev:$device"
}

restart() {
	stop "server .*:$port"
	sleep "0.$((RANDOM % 10))"
	start_server
}

cut_network() {
	network loss 100%
	sleep "$((RANDOM % 5)).$((RANDOM % 10))"
	network
}

device_again() {
	timeout 60 rdma link del "$RDMADEV" && rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV"
}

# A listener on an address ends with the device of this address.
server_device_again() {
	device_again && restart
}

# disturb: one fault after the other, until the time is over.
disturb() {
	local end=$((SECONDS + $1)) round=0 name wrong=0
	while ((SECONDS < end)); do
		round=$((round + 1))
		case $NODE-$((round % 4)) in
		1-1) name=restart ;;
		1-2) name=cut_network ;;
		1-3) name=server_device_again ;;
		2-3) name=device_again ;;
		*) name=true ;;
		esac
		$name || { wrong=$((wrong + 1)); echo "# round $round: $name failed"; }
		sleep 1
	done
	((round > 1 && wrong == 0))
	ok $? "$round faults, of which $wrong failed"
}

# storm POLICY OPTIONS [BATCH]: write during faults, then check the image.
storm() {
	local policy=$1 pid log=/exchange/blk-log
	((NODE != 1)) || loop target 1M
	((NODE != 1)) || check "$policy: the server starts" start_server
	barrier "$policy-serves"
	if ((NODE == 2)); then
		rm -f $log $log.stop
		attach "bio_dev=ram:1M,bio_timeout=3000,bio_onfail=$2"
		# shellcheck disable=SC2086 # may be empty
		/add/blk-writes write /dev/krpblkt $log ${3-} &
		pid=$!
	fi
	barrier "$policy-writes"
	disturb $((seconds / 4))
	barrier "$policy-calm"
	if ((NODE == 2)); then
		check "$policy: the disk connects again" within 60 is_ready
		check "$policy: the resync ends" within 60 is_clean
		touch $log.stop
		wait $pid
		ok $? "$policy: the program ends"
		check "$policy: a flush succeeds" within 10 sync /dev/krpblkt
		echo "# $policy: $(line "client krpblkt")"
	fi
	barrier "$policy-written"
	image=${device-}
	((NODE != 1)) || results /add/blk-writes check "$device" $log
	# A write that fails may leave the two sides different.
	[[ $policy != block && $policy != degrade ]] || same "$policy"
	((NODE != 2)) || detach
	unserve
	((NODE != 1)) || losetup -d "$device"
}

storm fail fail
storm block block
storm degrade degrade
storm async fail,bio_mode=async 8
same_resources "$before" "resources are as before"
finish
