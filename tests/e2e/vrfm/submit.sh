#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# submit: a program submits batches through its ring. Batches are taken as a whole, in their order. An invalid batch has no
# effect, and is reported. A record follows when the peer has applied a batch, is removed, or is cut off.
# A program that does not read its records stops its own submissions. A ring can be closed at any time.
# A program that writes any value into its entries at any time harms only itself.
#
#   node 1 (submits batches) <---> node 2
#
# kernels: uml uml/siw
# long: uml-debug stock-6.1
# alone: debug-6.1
# lasting: uml-debug
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/submit
# append: ncpus=1
# guarantees: G3 G10
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
config=$rfm_config/${RFM#/dev/}

# Node 2 is cut off, and is still READY until the transport gives up.
cut_off() {
	network loss 100%
	results /add/submit "$RFM" cut "$LINK"
	network
	check "node 1 is linked after node 2 was cut off" within 60 rfm_joined
}

going() {
	local file=/tmp/submit-going
	rm -f "$file"
	network loss 100%
	/add/submit "$RFM" gone "$file" >/tmp/submit-gone &
	until [[ -e $file ]]; do sleep 0.05; done
	check "node 1 removes its peer while a batch waits" rmdir "$config/peers/2"
	check "node 1 removes its device while a program has a ring" rmdir "$config"
	wait $!
	network
	results cat /tmp/submit-gone
}

check "node $NODE creates a device" rfm_make 1M keepalive_ms=20000 overload_us=20000000
check "node $NODE is linked" within 30 rfm_joined
barrier linked
((NODE != 1)) || results /add/submit "$RFM" local
((NODE != 1)) || results /add/submit "$RFM" hostile "${1:-6}"
((NODE != 1)) || results /add/submit "$RFM" acked
((NODE != 1)) || cut_off
barrier mended
check "both nodes are equal" rfm_equal last
((NODE != 1)) || going
barrier over
((NODE != 2)) || check "node 2 removes its device" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
