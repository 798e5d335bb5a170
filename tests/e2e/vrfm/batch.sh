#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# batch: a call writes several blocks and sends events in one step. Blocks, counter and event are one message. No reader has the counter without the blocks, and no other write of the node comes in between. A batch that is
# refused has no effect. A batch can wait for acknowledgments. Invalid operations are refused before the batch has an effect.
# Stores into a manual mapping leave the node only when they are published, once, and untorn.
#
#   node 1 (executes batches) <---> node 2 (reads)
#
# kernels: uml
# security: encrypt long
# long: uml-debug stock-6.1
# alone: debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/batch
# append: ncpus=1
# guarantees: G3 G10
# timeout: 400

# shellcheck disable=SC2317 # some functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
config=$rfm_config/${RFM#/dev/}
cycles=$((1000 / slow))

# messages: print the number of messages that this node has sent to its peer.
messages() {
	rfm_find "peer $((3 - NODE))"
	rfm_line=${rfm_line#* messages }
	echo "${rfm_line%% *}"
}

# The blocks, the counter and the event of a batch are one message to a peer.
cycling() {
	local first last file=/exchange/follows
	if ((NODE == 2)); then
		results /add/batch "$RFM" follow $cycles $file
		barrier cycled
	else
		until [[ -e $file ]]; do sleep 0.05; done
		first=$(messages)
		check "node 1 executes $cycles batches with events" /add/batch "$RFM" cycle $cycles
		last=$(messages)
		((last - first >= cycles && last - first <= cycles + cycles / 10))
		ok $? "each batch with an event is one message: $((last - first)) messages of $cycles batches"
		barrier cycled
		first=$(messages)
		check "node 1 executes $cycles batches without events" /add/batch "$RFM" blocks $cycles
		last=$(messages)
		((last - first >= cycles && last - first <= cycles + cycles / 10))
		ok $? "each batch without event is one message: $((last - first)) messages of $cycles batches"
	fi
	barrier counted
}

fighting() {
	if ((NODE == 1)); then
		results /add/batch "$RFM" fight $((60 / slow))
		check "node 1 synchronizes after all batches" rfm sync
		barrier fought
	else
		barrier fought
		check "node 2 has both words of the last batch" /add/batch "$RFM" equal
	fi
	barrier compared
}

# Stores into a manual mapping leave the node only by PUBLISH.
publishing() {
	local file=/exchange/reads
	((NODE != 1)) || results /add/batch "$RFM" manual
	barrier stored
	((NODE != 2)) || results /add/batch "$RFM" apart
	barrier read
	if ((NODE == 1)); then
		check "node 1 publishes a pair that changes" /add/batch "$RFM" pairs $cycles $file
	else
		results /add/batch "$RFM" whole $file
	fi
	barrier published
}

# Node 2 is cut off, and is still READY because overload_us and keepalive_ms are long.
cut_off() {
	if ((NODE == 1)); then
		check "a batch is acknowledged by one peer" /add/batch "$RFM" acked 1 0 0 0
		network loss 100%
		check "a batch times out while the peer is cut off" /add/batch "$RFM" acked 0 1 0 110
		results /add/batch "$RFM" refused
		network
		check "node 1 is linked after node 2 was cut off" within 60 rfm_joined
		check "node 1 removes its peer while node 2 keeps its own" rmdir "$config/peers/2"
		check "a batch without peers" /add/batch "$RFM" acked 0 0 0 0
		check "node 1 adds its peer again" rfm_peer 2
	fi
	check "node $NODE is linked after the last case" within 60 rfm_joined
	barrier mended
}

check "node $NODE creates a device" rfm_make 1M keepalive_ms=20000 overload_us=20000000
check "node $NODE is linked" within 30 rfm_joined
barrier linked
((NODE != 1)) || results /add/batch "$RFM" calls
((NODE != 1)) || results /add/batch "$RFM" local
barrier called
cycling
fighting
publishing
cut_off
check "both nodes are equal" rfm_equal last
barrier over
check "node $NODE removes its device" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
