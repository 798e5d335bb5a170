#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# tap: a ring records writes with their bytes, messages, and events. Records equal the counters of the device. Types,
# nodes and parts of the memory are selected. Bodies with keys are not shown. A tap that is not read stops no writer, and
# each record is delivered or counted. Only CAP_SYS_ADMIN or a group allows taps.
#
#   node 1 (writes, sends events) <---> node 2 (has taps)
#
# kernels: uml
# long: uml-debug stock-6.1
# alone: debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/ring rfm2g/tap
# append: ncpus=1
# guarantees: G10
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready

linked() {
	check "node $NODE is linked: $1" within 60 rfm_joined
	barrier "linked-$1"
}

# On node 2, run the cases. Node 1 serves their requests.
tapped() {
	if ((NODE == 1)); then
		/add/ring "$RFM" serve &
		barrier serves
		wait $!
		ok $? "node 1 has served all requests"
	else
		barrier serves
		results /add/tap "$RFM" taps
		/add/ring "$RFM" stop
	fi
	barrier tapped
}

# Node 1 creates its device again, and loads the image of node 2, while a program taps it.
loaded() {
	local file=/tmp/tap-image
	((NODE == 2)) || check "node 1 writes a word for an image" rfm poke 524288 4711
	((NODE == 1)) || check "node 2 has the word for an image" rfm await 524288 4711 20
	barrier written
	if ((NODE == 1)); then
		check "node 1 removes its device" rfm_unmake
		rfm_neighbours=' '
		check "node 1 creates a device without peers" rfm_make 1M keepalive_ms=10000 overload_us=20000000
		rfm_neighbours=
		/add/tap "$RFM" image $file >"$results/image" &
		until [[ -e $file ]]; do sleep 0.05; done
		check "node 1 adds its peer" rfm_peer 2
		wait $!
		results cat "$results/image"
	fi
	linked again
}

# On a slow kernel, no peer may be left behind.
check "node $NODE creates a device" rfm_make 1M keepalive_ms=10000 overload_us=20000000
linked first
tapped
loaded
check "node $NODE removes its device at the end" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
