#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfm-ioctls: the ioctls that vrfm adds to those of cards. They flush and report the peers that lack writes, watch a
# part of the memory for writes of any node, report the states of the peers, and end waits for events. Each ioctl refuses
# every invalid argument.
#
#   node 1 --- node 2
#       \       /
#        node 3
#
# nodes: 3
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/own
# append: ncpus=1
# guarantees: G4
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
config=$rfm_config/${RFM#/dev/}

# own_says PATTERN DESCRIPTION COMMAND...: one case, which passes if the output of "own COMMAND" matches PATTERN.
own_says() {
	local wanted=$1 text=$2 said
	shift 2
	said=$(rfm_own "$@")
	# shellcheck disable=SC2053
	[[ $said == $wanted ]]
	ok $? "$text: $said"
}

# peer NODE WORD: print the value that follows WORD in the line of "own peers" about NODE.
peer() {
	rfm_own peers | peer_in "$@"
}

# peer_in NODE WORD: print the value that follows WORD in the line about NODE. The output of "own peers" is on stdin.
peer_in() {
	awk -v node="$1" -v word="$2" '$1 == "peer" && $2 == node { for (i = 3; i < NF; i += 2) if ($i == word) print $(i + 1) }'
}

linked() {
	check "node $NODE creates a device with two peers" rfm_make 1M keepalive_ms=3000
	check "node $NODE is linked with both peers" within 30 rfm_is ready
	barrier linked
}

wrong() {
	results own "$RFM" bad 2
	barrier wrong
}

# One node at a time runs "own alone", which requires that no other node stores.
alone() {
	local turn
	for ((turn = 1; turn <= NODES; turn++)); do
		((turn != NODE)) || results own "$RFM" alone
		barrier "alone$turn"
	done
}

# All nodes run "own waits" at once, because a node waits and ends waits only on its own device.
waits() {
	results own "$RFM" waits
	barrier waits
}

# watched WAY COMMAND...: node 1 changes the word at 65536 by COMMAND, and the watchers on the other nodes are notified.
watched() {
	local way=$1 old
	shift
	old=$(rfm peek 65536)
	barrier "$way-begins"
	if ((NODE == 1)); then
		sleep 0.5
		check "node 1 changes a word by $way" "$@"
	else
		own_says "0 65536" "node $NODE is notified of a change by $way of a peer" watch 65000 1000 $((20000 * slow))
	fi
	within 10 rfm_differs 65536 "$old"
	barrier "$way-seen"
}

# rfm_differs OFFSET VALUE: succeed if the word at OFFSET is not VALUE.
rfm_differs() {
	[[ $(rfm peek "$1") != "$2" ]]
}

watching() {
	watched call rfm poke 65536 255
	watched mapping rfm store 65536 510
	if ((NODE != 1)); then
		own_says "0 65536" "watching a word with another expected value returns at once" watch 65536 4 $((20000 * slow)) 0
		own_says "ETIMEDOUT 0" "watching a word with its expected value times out" watch 65536 4 200 510
	fi
	barrier watching
}

# A watcher is notified of a word that arrives with the image. Node 3 has written that word before it recreates its device.
loading() {
	on 3 rfm poke 69632 77
	check "node $NODE has the word of node 3" rfm await 69632 77 $((10 * slow))
	barrier word
	if ((NODE == 3)); then
		check "node 3 removes its device" rfm_unmake
		check "node 3 recreates its device" rfm_make 1M keepalive_ms=3000
		own_says "0 69632" "node 3 is notified of a word that it loads" watch 69632 4 $((20000 * slow)) 0
		[[ $(rfm peek 69632) == 77 ]]
		ok $? "node 3 has the word of its former epoch"
	fi
	check "node $NODE is linked with both peers after node 3 came back" within 30 rfm_is ready
	barrier loaded
}

flushing() {
	if ((NODE == 1)); then
		rfm fill 131072 300000 5
		rfm store 126976 4242
		own_says "0 2 0 0" "flush reports two peers that have all writes" flush $((10000 * slow))
	fi
	barrier flushed
	[[ $(rfm peek 126976) == 4242 ]]
	ok $? "node $NODE has the stored word when the flush returns"
	rfm sum >"/exchange/sum-$NODE"
	barrier summed
	[[ $(sort -u /exchange/sum-[0-9]* | wc -l) == 1 ]]
	ok $? "all nodes are equal after the flush"
}

states() {
	local i sent
	for ((i = 1; i <= NODES; i++)); do
		((i != NODE)) || continue
		own_says "*
peer $i state 2 flags 5 lag * missed 0 * family 2 port 5565 late * error 0 refusal 0 mtus 1 address $(addr4 "$i")*" "states of peer $i" peers
		(($(peer "$i" since) > 0 && $(peer "$i" links) > 0 && $(peer "$i" received) > 0))
		ok $? "peer $i has a time, links and received bytes: since $(peer "$i" since) ms"
	done
	own_says "image 0 loaded 0 size 1048576 lineage *" "state of the image" peers
	rfm_own peers | sed 's/.*lineage //; q' >"/exchange/lineage-$NODE"
	barrier stated
	[[ $(sort -u /exchange/lineage-[0-9]* | wc -l) == 1 ]]
	ok $? "all nodes have the same image: $(<"/exchange/lineage-$NODE")"
	if ((NODE == 1)); then
		sent=$(peer 2 sent)
		rfm fill 200000 100000 6
		rfm_own flush $((10000 * slow)) >/dev/null
		(($(peer 2 sent) - sent >= 100000 && $(peer 2 sent) - sent < 150000))
		ok $? "node 1 counts the bytes that it sends to node 2: $(($(peer 2 sent) - sent))"
	fi
	barrier counted
}

# Flush after node 3 is cut off, but before node 1 notices the cut. Node 1 notices it within some seconds, so start as few
# programs as possible before that.
cut_off() {
	local pid said late others status=0
	if ((NODE == 3)); then
		network loss 100%
		ok $? "node 3 is cut off"
	fi
	barrier cut
	if ((NODE == 1)); then
		rfm poke 73728 1
		rfm_own flush 0xFFFFFFFF >/dev/null &
		pid=$!
		own_says "ETIMEDOUT 1 1 0" "flush reports one peer that is behind" flush 500
		kill -9 $pid
		said=$(rfm_own peers)
		wait $pid || status=$?
		((status == 137))
		ok $? "a task that waits in flush for a silent peer can be killed: $status"
		late=$(peer_in 3 late <<<"$said")
		others=$(peer_in 2 late <<<"$said")
		((late >= 500)) && [[ $others == 0 && $(peer_in 3 error <<<"$said") == 0 ]]
		ok $? "only the silent peer is late: $late ms, the other one $others ms"
		check "the link with the silent node 3 goes down" within 60 rfm_is down 3
		own_says "0 1 0 1" "flush reports one absent peer" flush $((10000 * slow))
		[[ $(peer 3 late) == 0 && $(peer 3 error) != 0 ]]
		ok $? "an absent peer is not late, and has an error: errno $(peer 3 error)"
		rfm fill 300000 10000 7
		[[ $(peer 3 state) == 0 ]] && (($(peer 3 missed) >= 10000 && $(peer 3 missed) < 400000))
		ok $? "the bytes that the absent node 3 misses are counted: $(peer 3 missed)"
	fi
	barrier measured
	on 3 network
	check "node $NODE is linked with both peers after node 3 was cut off" within 60 rfm_is ready
	if ((NODE != 3)); then
		(($(peer 3 missed) == 0 && $(peer 3 links) > 1))
		ok $? "node 3 misses no bytes after it was linked again"
	fi
	barrier mended
}

# suspended: freeze all tasks of this node for a second, as a suspend does. Fail if a task is not frozen within 1.5 s.
suspended() {
	local status=0
	echo 1500 >/sys/power/pm_freeze_timeout
	echo 1 >/sys/module/suspend/parameters/pm_test_delay
	echo freezer >/sys/power/pm_test
	echo freeze >/sys/power/state || status=$?
	echo none >/sys/power/pm_test
	echo 20000 >/sys/power/pm_freeze_timeout
	return "$status"
}

# Suspend node 1 while a task flushes and another one writes, both waiting for a peer that was cut off. The kernels of
# User-mode Linux cannot be suspended.
asleep() {
	local pids
	[[ -e /sys/power/pm_test ]] || return 0
	mount_debugfs
	on 3 network loss 100%
	barrier asleep-cut
	if ((NODE == 1)); then
		check "overload_us is set to 60 s" eval "echo 60000000 >$config/overload_us"
		rfm poke 73728 2
		rfm_own flush 0xFFFFFFFF >/dev/null &
		sleep 0.3
		check "a node is suspended while a task flushes" suspended
		kill -9 $!
		wait $!
	fi
	barrier asleep-once
	on 3 network
	check "node $NODE is linked with both peers after node 1 was suspended in flush" within 60 rfm_is ready
	barrier asleep-linked
	on 3 network loss 100%
	barrier asleep-cut-again
	if ((NODE == 1)); then
		pids=()
		for _ in 1 2; do
			/add/rfm "$RFM" heavy 262144 60000 $((20 * slow)) >/dev/null &
			pids+=($!)
		done
		check "two writers wait for a silent peer" within 5 two_wait
		check "a node is suspended while two tasks write" suspended
		kill -9 "${pids[@]}"
		wait "${pids[@]}"
		check "overload_us is set to its default" eval "echo 100000 >$config/overload_us"
	fi
	barrier asleep-twice
	on 3 network
	check "node $NODE is linked with both peers after node 1 was suspended while writing" within 60 rfm_is ready
	barrier awake
}

two_wait() {
	grep -qx "writers_waiting 2" "/sys/kernel/debug/vrfm/${RFM#/dev/}/device"
}

going() {
	rm -f "/tmp/going-$NODE"
	results own "$RFM" gone "/tmp/going-$NODE" >/tmp/gone &
	until [[ -e /tmp/going-$NODE ]]; do sleep 0.05; done
	find "$config/peers" -mindepth 1 -maxdepth 1 -exec rmdir {} +
	check "node $NODE removes its device while programs wait" rmdir "$config"
	wait $!
	going_results /tmp/gone
	barrier over
}

# going_results FILE: print the results of a background process, which are in FILE, as results of this scenario.
going_results() {
	local word rest
	while read -r word rest; do
		case $word in
		ok) ok 0 "${rest#* }" ;;
		not) ok 1 "${rest#ok * }" ;;
		esac
	done <"$1"
}

linked
wrong
alone
waits
watching
loading
flushing
states
cut_off
asleep
going
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
