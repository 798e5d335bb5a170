#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# loop: a program donates a thread, which executes the batches that another thread puts into a ring. It sleeps when there
# are none, and misses no batch. Only one thread is donated at a time. It returns after STOP, after a signal,
# and when the ring is closed or the device is removed.
#
#   node 1 (submits batches) <---> node 2
#
# kernels: uml
# long: uml-debug stock-6.1
# alone: debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/donate
# guarantees: G10
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
config=$rfm_config/${RFM#/dev/}

going() {
	local file=/tmp/loop-going
	rm -f "$file"
	/add/donate "$RFM" gone "$file" >/tmp/loop-gone &
	until [[ -e $file ]]; do sleep 0.05; done
	check "node 1 removes its peer" rmdir "$config/peers/2"
	check "node 1 removes its device while a thread is donated" rmdir "$config"
	wait $!
	results cat /tmp/loop-gone
}

check "node $NODE creates a device" rfm_make 1M
check "node $NODE is linked" within 30 rfm_joined
barrier linked
((NODE != 1)) || results /add/donate "$RFM" local
barrier executed
check "both nodes are equal" rfm_equal last
((NODE != 1)) || going
barrier over
((NODE != 2)) || check "node 2 removes its device" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
