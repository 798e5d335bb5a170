#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# rings: programs get events, states of peers, and notices of writes by rings. A ring copies events, or takes them as the
# waiter of their type. Overflow is counted, and neither a state of a peer nor a taken event nor a notice is lost. Readers
# wait by count and by time. A program that writes any value into its ring at any time, forks and is killed harms only its
# own ring. A ring outlives its device.
#
#   node 1 (sends events) <---> node 2 (has rings)
#
# kernels: uml
# security: encrypt long
# long: uml-debug stock-6.1
# alone: debug-6.1
# lasting: uml-debug
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/ring rfm2g/ringbad rfm2g/ringrange
# append: ncpus=1
# guarantees: G3 G10
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
config=$rfm_config/${RFM#/dev/}

# served NAME COMMAND...: on node 2, run COMMAND, which prints a line for each case. Node 1 serves its requests.
served() {
	local name=$1
	shift
	if ((NODE == 1)); then
		/add/ring "$RFM" serve &
		barrier "serves-$name"
		wait $!
		ok $? "node 1 has served all requests: $name"
	else
		barrier "serves-$name"
		results "$@"
		/add/ring "$RFM" stop
	fi
	barrier "served-$name"
}

linked() {
	# On a slow kernel, no peer may be left behind: at most 127 events wait for such a peer.
	check "node $NODE creates a device" rfm_make 1M keepalive_ms=10000 overload_us=20000000
	check "node $NODE is linked" within 30 rfm_joined
	barrier linked
}

# Node 1 removes and adds its peer while node 2 follows the link.
links() {
	local file=/exchange/follows
	if ((NODE == 1)); then
		/add/ring "$RFM" serve &
		until [[ -e $file ]]; do sleep 0.05; done
		check "node 1 removes its peer" rmdir "$config/peers/2"
		sleep $slow
		check "node 1 adds its peer again" rfm_peer 2
		check "node 1 is linked again" within 60 rfm_joined
		barrier relinked
		kill $!
	else
		results /add/ring "$RFM" links $file
		barrier relinked
	fi
}

# Node 1 removes its peer, writes a word, and adds the peer again while node 2 follows the word.
resyncs() {
	local file=/exchange/resyncs
	if ((NODE == 1)); then
		until [[ -e $file ]]; do sleep 0.05; done
		check "node 1 removes its peer before a resync" rmdir "$config/peers/2"
		check "node 1 writes a word for a peer that is absent" rfm poke 524288 4711
		check "node 1 adds its peer again for a resync" rfm_peer 2
	else
		results /add/ringrange "$RFM" resync $file
	fi
	check "node $NODE is linked after a resync" within 60 rfm_joined
	barrier resynced
}

# Node 1 creates its device again, and loads the image of node 2, while a program on node 1 follows a word.
loads() {
	local file=/tmp/ring-loads
	if ((NODE == 1)); then
		check "node 1 removes its device before a load" rfm_unmake
		rfm_neighbours=' '
		check "node 1 creates a device without peers" rfm_make 1M keepalive_ms=10000 overload_us=20000000
		rfm_neighbours=
		/add/ringrange "$RFM" image $file >"$results/image" &
		until [[ -e $file ]]; do sleep 0.05; done
		check "node 1 adds its peer for a load" rfm_peer 2
		wait $!
		results cat "$results/image"
	fi
	check "node $NODE is linked after a load" within 60 rfm_joined
	barrier loaded
}

going() {
	local file=/tmp/ring-going-$NODE
	rm -f "$file"
	/add/ring "$RFM" gone "$file" >"$results/gone" &
	until [[ -e $file ]]; do sleep 0.05; done
	find "$config/peers" -mindepth 1 -maxdepth 1 -exec rmdir {} +
	check "node $NODE removes its device while programs have rings" rmdir "$config"
	wait $!
	results cat "$results/gone"
	barrier over
}

linked
served events /add/ring "$RFM" events
served waits /add/ring "$RFM" waits
served ranges /add/ringrange "$RFM" ranges
((NODE != 2)) || results /add/ringbad "$RFM" calls
served hostile /add/ringbad "$RFM" hostile "${1:-6}"
links
resyncs
loads
((NODE != 2)) || going
((NODE != 1)) || { barrier over; check "node 1 removes its device" rfm_unmake; }
same_resources "$before" "no RDMA resource is left"
finish
