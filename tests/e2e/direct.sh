#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# direct: blocks that adapters write into the peers' memories: behind what was sent before, before what is sent after, beside
# words that others store through mappings, into ranges that are claimed or watched, on links that are cut, by a node that
# goes in the middle of one.
#
#   node 1 (writes) --- node 2 (stores through mappings)
#        \                /
#         node 3 (looks on)
#
# nodes: 3
# kernels: uml
# alone: uml/siw stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/own
# append: ncpus=1
# guarantees: G2 G5 G8
# timeout: 400

# The names of cases as arguments run only these.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
rounds=$((1000 / slow))
siw=0
if [[ $RDMADEV == siw* ]]; then
	siw=1
	# siw waits for TCP where it connects, and who unmakes a device for that: two minutes if all is lost.
	echo 1 >/proc/sys/net/ipv4/tcp_syn_retries
fi

own() {
	/add/own "$RFM" "$@"
}

# count PEER: blocks that this node has written directly into its memory
count() {
	rfm_peer_line "$1" | sed 's/.* directs \([0-9]*\) .*/\1/'
}

direct() {
	[[ $(rfm_peer_line "$1") == *" direct 1 "* ]]
}

# equal NAME [NODE]...: these nodes, or all, have the same memory.
equal() {
	local status=0 name=$1
	shift
	barrier "$name-quiet"
	rfm_settle "$@" || status=1
	barrier "$name-synced"
	cat "$RFM" >"/exchange/$name-$NODE"
	barrier "$name-copied"
	cmp "/exchange/$name-2" "/exchange/$name-$NODE" || status=1
	barrier "$name-compared"
	return "$status"
}

# more BEFORE PEER TEXT: since then blocks were written directly; on siw, none ever
more() {
	local now
	now=$(count "$2")
	((siw ? now == 0 : now > $1))
	ok $? "$3: $1, then $now"
}

# The memory is registered once for both peers.
registered_once() {
	local files=/sys/kernel/debug/krdma
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	((siw)) || (($(grep -c '^0 .* live$' $files/regions) == 1 && $(grep -c ' live$' $files/regions) == 1))
	ok $? "one registration for two peers: $(grep ' live$' $files/regions)"
}

known() {
	local peer
	for peer in 1 2 3; do
		((peer != NODE)) || continue
		if ((siw)); then
			[[ $(rfm_peer_line "$peer") == *" direct 0 "*" shown iwarp "* ]]
			ok $? "node $peer sends all: $(rfm_peer_line "$peer")"
		else
			check "node $peer can be written directly" within 10 direct "$peer"
		fi
	done
	barrier known
	registered_once
	barrier registered
}

# What lies behind a word that was just sent waits for nothing, and does not overtake it.
fence() {
	local was
	was=$(count 2)
	barrier "fence-begins"
	case $NODE in
	1)
		check "words and blocks are written" rfm fence 65536 32768 "$rounds"
		check "blocks alone" rfm fill 131072 1000000 "$RANDOM"
		more "$was" 2 "of these directly"
		;;
	*) check "each is seen behind the other" rfm rising 65536 32768 $((2 * rounds + 1)) $((120 * slow)) ;;
	esac
	check "all nodes are equal" equal fence
	case $NODE in
	1) check "blocks, and their numbers" rfm blocks 4096 20000 "$rounds" ;;
	*) check "no number comes before its block" rfm watch 4096 20000 "$rounds" $((120 * slow)) ;;
	esac
	check "all nodes are equal" equal counted
}

# The block ends in the page that node 2 stores into, and begins in one that node 3 does.
beside() {
	local pid
	barrier "beside-begins"
	case $NODE in
	1) check "nobody sends back what is written" rfm swell 98816 20224 $((5 * rounds)) ;;
	2)
		while :; do /add/rfm "$RFM" own 119104 64 1 200; sleep 0.0$((RANDOM % 10)); done &
		pid=$!
		check "what is written rises" rfm rising 98816 20224 $((10 * rounds + 1)) $((120 * slow))
		kill "$pid"
		;;
	3)
		while :; do /add/rfm "$RFM" own 98304 64 1 200; sleep 1.$((RANDOM % 10)); done &
		pid=$!
		check "what is written rises" rfm rising 98816 20224 $((10 * rounds + 1)) $((120 * slow))
		kill "$pid"
		;;
	esac
	wait
	check "all nodes are equal" equal beside
}

# Nobody writes directly into what is claimed or watched, until that is over.
claimed() {
	local was said pid begun
	if ((NODE == 2)); then
		own claim 262144 65536 /exchange/unclaim >/tmp/claim &
		pid=$!
		check "a range is claimed" within 10 grep -qx 0 /tmp/claim
	fi
	barrier is-claimed
	if ((NODE == 1)); then
		check "nothing is under way" rfm_settle
		was=$(count 2)
		check "a block is written there" rfm fill 262144 65536 1
		[[ $(count 2) == "$was" ]]
		ok $? "it is sent: $was"
		check "it has arrived" rfm_settle
		check "a block is written beside it" rfm fill 327680 65536 2
		more "$was" 2 "not that"
	fi
	barrier claims-over
	if ((NODE == 2)); then
		touch /exchange/unclaim
		check "the claim is given back" wait "$pid"
	fi
	barrier unclaimed
	if ((NODE == 1 && !siw)); then
		check "then blocks go there directly" within 10 open_again
	fi
	barrier watching
	if ((NODE == 3)); then
		own watch 263000 4 $((20000 * slow)) >/tmp/watch &
		pid=$!
		sleep 1
	fi
	barrier watches
	((NODE != 1)) || check "a block is written where node 3 watches" rfm fill 262144 65536 4
	if ((NODE == 3)); then
		begun=$SECONDS
		wait "$pid"
		said=$(</tmp/watch)
		[[ $said == "0 263000" ]]
		ok $? "it is told: $said"
		# When its time is over it looks once more.
		((SECONDS - begun < 10 * slow))
		ok $? "at once: $((SECONDS - begun)) s"
	fi
	check "all nodes are equal" equal claimed
}

# Who watches need not wait until those are told who might write there directly.
silent() {
	barrier silent-begins
	((NODE != 3)) || network loss 100%
	barrier is-silent
	((NODE != 2)) || results own silent 786000
	barrier silence-over
	((NODE != 3)) || network
	check "linked" within 60 rfm_is ready
	check "all nodes are equal" equal silent
}

open_again() {
	local was
	rfm_settle && was=$(count 2) && rfm fill 262144 65536 3 && (($(count 2) > was))
}

# Blocks that were under way when a cable was pulled come again. Nothing is written there later: who writes waits for
# overload_ms, and is killed.
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
			check "round $i: the links are down" within 20 rfm_is down
			network
		fi
		barrier "mended$i"
		check "all nodes are equal" equal "cut$i"
	done
}

# Nodes 2 and 3 have seen more or less of it. They take what one of them has,
# of words that are not their own: nobody else has written there.
gone() {
	local i
	for i in 1 2 3 4 5; do
		check "nothing is under way" rfm_settle
		sleep 0.5
		barrier "gone$i"
		if ((NODE == 1)); then
			rfm flood 1048576 65536 2 /tmp/flood &
			sleep "0.$((RANDOM % 9 + 1))"
			network loss 100%
			wait
			check "node 1 goes" rfm_unmake
			network
			barrier "left$i"
			barrier "alone$i-done"
			check "node 1 comes back, with nothing" rfm_make 2M keepalive_ms=500 overload_ms=5000
		else
			barrier "left$i"
			check "linked" within 30 rfm_is ready $((5 - NODE))
			check "it is complete" within 60 rfm_complete
			check "those who stay are equal, $(rfm peek 1048576)" within 30 same "$i"
			barrier "alone$i-done"
		fi
		check "linked" within 60 rfm_is ready
		check "all nodes are equal" equal "gone$i"
	done
}

# same ROUND: both of those who stay come here, again and again until they are.
same() {
	rfm sum >"/exchange/sum$1-$NODE.new" && mv "/exchange/sum$1-$NODE.new" "/exchange/sum$1-$NODE"
	cmp -s "/exchange/sum$1-2" "/exchange/sum$1-3"
}

# Whose admin does not want it gets all by messages.
unwanted() {
	if ((NODE == 3)); then
		check "node 3 does not want it" rfm_unmake
		check "and comes again" rfm_make 2M keepalive_ms=500 direct=off
	fi
	barrier unwanted
	check "linked" within 60 rfm_is ready
	if ((NODE == 1)); then
		[[ $(rfm_peer_line 3) == *" direct 0 "* ]]
		ok $? "node 3 cannot be written directly"
		check "blocks are written" rfm fill 131072 1000000 "$RANDOM"
		[[ $(count 3) == 0 ]]
		ok $? "to node 3 all are sent"
	fi
	check "all nodes are equal" equal unwanted
}

seed "$((NODE + 41))"
check "a device with two peers" rfm_make 2M keepalive_ms=500 overload_ms=5000
check "is linked with both" within 30 rfm_is ready
barrier linked
known
(($# > 0)) || set -- fence beside claimed silent cut_off gone unwanted
for case in "$@"; do
	$case
done
barrier over
check "the device goes" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
