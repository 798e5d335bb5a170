#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# direct-writes: the adapter writes blocks directly into the memories of peers, in order with earlier and later messages.
# Cases are blocks beside words that peers store through mappings, blocks for ranges that are claimed or watched, links
# that are cut, and a node that removes its device during a write.
#
#   node 1 (writes) --- node 2 (stores through mappings)
#        \                /
#         node 3 (checks)
#
# nodes: 3
# kernels: uml
# alone: uml/siw stock-6.1 debug-6.1 uml/ntr-uml
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/own
# append: ncpus=1
# guarantees: G2 G5 G8
# timeout: 400

# Arguments: names of the cases to run; without arguments, all cases run.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
rounds=$((1000 / slow))
siw=0
if [[ $RDMADEV == siw* ]]; then
	siw=1
	# siw connects synchronously, and removing a device waits until the connect ends. If all packets are lost, the
	# connect ends only after two minutes, so retry the SYN only once.
	echo 1 >/proc/sys/net/ipv4/tcp_syn_retries
fi

# count PEER: print the number of blocks that this node has written directly into the memory of PEER.
count() {
	rfm_peer_line "$1" | sed 's/.* directs \([0-9]*\) .*/\1/'
}

direct() {
	[[ $(rfm_peer_line "$1") == *" direct 1 "* ]]
}

# more BEFORE PEER TEXT: one case, which passes if more than BEFORE blocks were written directly into the memory of
# PEER. On siw the case passes if no block was written directly.
more() {
	local now
	now=$(count "$2")
	((siw ? now == 0 : now > $1))
	ok $? "$3: $1, then $now"
}

# Check that the memory is registered once, for both peers together.
registered_once() {
	local files=/sys/kernel/debug/krdma
	mount_debugfs
	((siw)) || (($(grep -c '^0 .* live$' $files/regions) == 1 && $(grep -c ' live$' $files/regions) == 1))
	ok $? "one registration for two peers: $(grep ' live$' $files/regions)"
}

known() {
	local peer
	for peer in 1 2 3; do
		((peer != NODE)) || continue
		if ((siw)); then
			[[ $(rfm_peer_line "$peer") == *" direct 0 "*" shown iwarp "* ]]
			ok $? "blocks to node $peer are sent as messages on siw: $(rfm_peer_line "$peer")"
		else
			check "blocks to node $peer can be written directly" within 10 direct "$peer"
		fi
	done
	barrier known
	registered_once
	barrier registered
}

# A block that is written directly after a word does not overtake the word, and does not wait until the word is completed.
fence() {
	local was
	was=$(count 2)
	barrier "fence-begins"
	case $NODE in
	1)
		check "node 1 writes words and blocks in turn" rfm fence 65536 32768 "$rounds"
		check "node 1 writes blocks only" rfm fill 131072 1000000 "$RANDOM"
		more "$was" 2 "blocks of node 1 are written directly"
		;;
	*) check "node $NODE sees words and blocks in order" rfm rising 65536 32768 $((2 * rounds + 1)) $((120 * slow)) ;;
	esac
	check "all nodes are equal after words and blocks in turn" rfm_equal fence
	case $NODE in
	1) check "node 1 writes blocks and their numbers" rfm blocks 4096 20000 "$rounds" ;;
	*) check "node $NODE sees no number before its block" rfm watch 4096 20000 "$rounds" $((120 * slow)) ;;
	esac
	check "all nodes are equal after numbered blocks" rfm_equal counted
}

# Node 1 writes a block that begins in a page into which node 3 stores, and ends in a page into which node 2 stores.
beside() {
	local pid
	barrier "beside-begins"
	case $NODE in
	1) check "node 1 gets back none of its blocks" rfm swell 98816 20224 $((5 * rounds)) ;;
	2)
		while :; do /add/rfm "$RFM" own 119104 64 1 200; sleep 0.0$((RANDOM % 10)); done &
		pid=$!
		check "node $NODE sees the numbers of node 1 rise" rfm rising 98816 20224 $((10 * rounds + 1)) $((120 * slow))
		kill "$pid"
		;;
	3)
		while :; do /add/rfm "$RFM" own 98304 64 1 200; sleep 1.$((RANDOM % 10)); done &
		pid=$!
		check "node $NODE sees the numbers of node 1 rise" rfm rising 98816 20224 $((10 * rounds + 1)) $((120 * slow))
		kill "$pid"
		;;
	esac
	wait
	check "all nodes are equal after blocks beside stored words" rfm_equal beside
}

# While a node claims or watches a range, its peers send blocks for that range as messages.
claimed() {
	local was said pid begun
	if ((NODE == 2)); then
		rfm_own claim 262144 65536 /exchange/unclaim >/tmp/claim &
		pid=$!
		check "node 2 claims a range" within 10 grep -qx 0 /tmp/claim
	fi
	barrier is-claimed
	if ((NODE == 1)); then
		check "all peers have the writes of node 1 before the claim test" rfm_settle
		was=$(count 2)
		check "node 1 writes a block into the claimed range" rfm fill 262144 65536 1
		[[ $(count 2) == "$was" ]]
		ok $? "the block in the claimed range is sent, not written directly: $was"
		check "the block in the claimed range has arrived" rfm_settle
		check "node 1 writes a block beside the claimed range" rfm fill 327680 65536 2
		more "$was" 2 "the block beside the claimed range is written directly"
	fi
	barrier claims-over
	if ((NODE == 2)); then
		touch /exchange/unclaim
		check "node 2 releases the claim" wait "$pid"
	fi
	barrier unclaimed
	if ((NODE == 1 && !siw)); then
		check "blocks in the released range are written directly" within 10 open_again
	fi
	barrier watching
	if ((NODE == 3)); then
		rfm_own watch 263000 4 $((20000 * slow)) >/tmp/watch &
		pid=$!
		sleep 1
	fi
	barrier watches
	on 1 check "node 1 writes a block into the range that node 3 watches" rfm fill 262144 65536 4
	if ((NODE == 3)); then
		begun=$SECONDS
		wait "$pid"
		said=$(</tmp/watch)
		[[ $said == "0 263000" ]]
		ok $? "node 3 is notified of a block in its watched range: $said"
		# A watcher checks the range once more when it times out, so a result after the timeout does not prove a notification.
		((SECONDS - begun < 10 * slow))
		ok $? "node 3 is notified before its watch times out: $((SECONDS - begun)) s"
	fi
	check "all nodes are equal after claims and watches" rfm_equal claimed
}

# Peers that may write directly have to acknowledge a watch. A watcher must not wait for the acknowledgment of a silent peer.
silent() {
	barrier silent-begins
	on 3 network loss 100%
	barrier is-silent
	on 2 results own "$RFM" silent 786000
	barrier silence-over
	on 3 network
	check "node $NODE is linked with both peers after node 3 was silent" within 60 rfm_is ready
	check "all nodes are equal after node 3 was silent" rfm_equal silent
}

open_again() {
	local was
	rfm_settle && was=$(count 2) && rfm fill 262144 65536 3 && (($(count 2) > was))
}

# Blocks that are in flight when a link is cut are sent again after the cut. The writer is killed while it waits for the cut
# links, so no later write repairs the range.
cut_off() {
	local i pid
	for i in 1 2 3 4; do
		barrier "cut$i"
		if ((NODE == 1)); then
			while :; do
				/add/rfm "$RFM" fill 131072 1900000 "$RANDOM" &
				echo $! >/tmp/fill
				wait
			done &
			pid=$!
			sleep "0.$((RANDOM % 9 + 1))"
			network loss 100%
			sleep 0.5
			kill -9 "$pid" "$(</tmp/fill)"
			wait
			check "round $i: the links of node 1 go down" within 20 rfm_is down
			network
		fi
		barrier "mended$i"
		check "all nodes are equal after cut $i" rfm_equal "cut$i"
	done
}

# Node 1 removes its device while it writes blocks, so nodes 2 and 3 have received different numbers of blocks. The node
# that has fewer of these blocks loads the words of node 1 from the other node. No other node writes into the range of
# the blocks.
gone() {
	local i
	for i in 1 2 3 4 5; do
		check "round $i: all peers have the writes of node $NODE" rfm_settle
		sleep 0.5
		barrier "gone$i"
		if ((NODE == 1)); then
			rfm flood 1048576 65536 2 /tmp/flood &
			sleep "0.$((RANDOM % 9 + 1))"
			network loss 100%
			wait
			check "round $i: node 1 removes its device" rfm_unmake
			network
			barrier "left$i"
			barrier "alone$i-done"
			check "round $i: node 1 recreates its device" rfm_make 2M keepalive_ms=500 overload_ms=5000
		else
			barrier "left$i"
			check "round $i: nodes 2 and 3 are linked" within 30 rfm_is ready $((5 - NODE))
			check "round $i: node $NODE is complete without node 1" within 60 rfm_complete
			check "round $i: nodes 2 and 3 are equal: $(rfm peek 1048576)" within 30 same "$i"
			barrier "alone$i-done"
		fi
		check "round $i: node $NODE is linked with both peers" within 60 rfm_is ready
		check "all nodes are equal after node 1 came back, round $i" rfm_equal "gone$i"
	done
}

# same ROUND: succeed if nodes 2 and 3 have the same memory. Both nodes must poll this function.
same() {
	rfm sum >"/exchange/sum$1-$NODE.new" && mv "/exchange/sum$1-$NODE.new" "/exchange/sum$1-$NODE"
	cmp -s "/exchange/sum$1-2" "/exchange/sum$1-3"
}

# A node with direct=off receives all blocks as messages.
unwanted() {
	if ((NODE == 3)); then
		check "node 3 removes its device to set direct=off" rfm_unmake
		check "node 3 creates its device with direct=off" rfm_make 2M keepalive_ms=500 direct=off
	fi
	barrier unwanted
	check "node $NODE is linked with both peers with direct=off on node 3" within 60 rfm_is ready
	if ((NODE == 1)); then
		[[ $(rfm_peer_line 3) == *" direct 0 "* ]]
		ok $? "node 1 does not write directly into node 3"
		check "node 1 writes blocks with direct=off on node 3" rfm fill 131072 1000000 "$RANDOM"
		[[ $(count 3) == 0 ]]
		ok $? "all blocks to node 3 are sent as messages"
	fi
	check "all nodes are equal with a peer that rejects direct writes" rfm_equal unwanted
}

seed "$((NODE + 41))"
check "node $NODE creates a device with two peers" rfm_make 2M keepalive_ms=500 overload_ms=5000
check "node $NODE is linked with both peers" within 30 rfm_is ready
barrier linked
known
(($# > 0)) || set -- fence beside claimed silent cut_off gone unwanted
for case in "$@"; do
	$case
done
barrier over
check "node $NODE removes its device" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
