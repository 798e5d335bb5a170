#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# doorflood: connect requests without a valid tag use no memory, and do not keep clients with the key out, even if 10000 of
# them arrive. At any moment, at most as many recorded requests as the backlog occupy a place of a listener. A connection
# that existed before works all the time.
#
#   node 1 (victim; listens with the key A on 7000; on 7001 callbacks accept, and the backlog is 8)
#          <--- krdma_hostile --- node 2
#          <--- krdma: clients with the key A ---
#
# kernels: uml
# long: stock-6.1 uml-debug
# load: krdma krdma_test krdma_hostile
# add: hostile-lib.sh
# guarantees: S9
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krdma/hostile-lib.sh
. hostile-lib.sh

network_ready
mount_debugfs
# A queue of the CM has room for 512 messages. If it overflows, a client repeats its request only after seconds.
requests=10000 at_once=200 rounds=400
((slow == 1)) || requests=1000

# ---- node 2 ----

# flood PORT KEY: send requests with tags of KEY, until "requests" of them are refused. Write to the file "flood": the
# number of refused requests, and the largest number of requests that the victim had accepted at the same time.
flood() {
	local refused=0 most=0 round
	for ((round = 0; refused < requests && round < rounds; round++)); do
		request session=$((100 + round))
		ht flood "$victim" "$1" "$hex$(tag "$2" "$here" "$1" "$hex")" $at_once $((200 * slow))
		((ht_ret == 0)) || break
		refused=$((refused + got[rejected]))
		((most >= got[held])) || most=${got[held]}
	done
	echo "$refused $most" >"$results/flood.new"
	mv "$results/flood.new" "$results/flood"
}

good_answers() {
	kt send good 100 && kt receive good 100 $((20000 * slow))
	kt_is 100 "$1: a connection that existed before works"
}

# Clients connect until the flood has ended. Few of them may fail, because the flood can also displace messages of the CM
# from its queue.
clients_meet_flood() {
	local tries=0 failed=0
	while [[ ! -e $results/flood ]]; do
		tries=$((tries + 1))
		kt rounds new "$victim" 7000 1 security=1 keys=A connect_ms=$((20000 * slow)) || {
			failed=$((failed + 1))
			echo "# $kt_ret after $kt_ms ms: $kt_text"
		}
		kt release new
	done
	((tries > 5 * failed))
	ok $? "clients with the key connect during a flood of requests with another key: $failed of $tries fail"
}

# shellcheck disable=SC2317 # called by within
connects() {
	kt connect new "$victim" 7001 security=1 keys=A
	local status=$?
	kt release new
	return "$status"
}

attacker() {
	local refused most
	barrier listening
	expect 0 connect good "$victim" 7000 security=1 keys=A
	(trap - EXIT; flood 7000 B) &
	clients_meet_flood
	wait $!
	read -r refused most <"$results/flood"
	((refused >= requests && most == 0))
	ok $? "requests with another key are refused: $refused of at least $requests, $most are accepted"
	good_answers "after requests with another key"
	barrier flooded
	flood 7001 A
	read -r refused most <"$results/flood"
	((refused >= requests && most > 0 && most <= 8))
	ok $? "at most 8 recorded requests are accepted at the same time: $most, and $refused are refused"
	good_answers "after recorded requests"
	barrier recorded
	# The places are free again at the latest when the time for connecting is over.
	within 60 connects
	ok $? "a client with the key connects after recorded requests"
	barrier end
	expect 0 release good
}

# ---- node 1 ----

# Print the memory of the kernel in KiB. This includes pages that allocators keep for later use.
kernel_memory() {
	local name value total=0
	while read -r name value _; do
		[[ $name != @(SUnreclaim:|VmallocUsed:) ]] || total=$((total + value))
	done </proc/meminfo
	echo $total
}

# Print the number of unproved connections of the listener on port 7001.
unproved() {
	local words
	while read -ra words; do
		[[ ${words[1]} != *:7001 ]] || echo "${words[6]}"
	done </sys/kernel/debug/krdma/listeners
}

# bounded WHAT MIB NAME: one case: until the barrier NAME, the memory of the kernel grows by less than MIB. Set "most" to the
# largest number of unproved connections.
bounded() {
	local first largest now
	most=0
	first=$(kernel_memory) largest=$first
	(trap - EXIT; barrier "$3"; : >"$results/$3") &
	while [[ ! -e $results/$3 ]]; do
		now=$(kernel_memory)
		((now <= largest)) || largest=$now
		now=$(unproved)
		((now <= most)) || most=$now
		pause 0.05
	done
	wait $!
	((largest - first < $2 * 1024))
	ok $? "$1 use less than $2 MiB: $(((largest - first) / 1024)) MiB"
}

victim() {
	local key most
	key=$(counter refused.key)
	expect 0 listen l 0.0.0.0 7000 security=1 keys=A
	expect 0 server 0.0.0.0 7001 security=1 keys=A backlog=8 connect_ms=$((10000 * slow))
	# Each thread serves one connection at a time. In a flood, a server may notice late that a client has disconnected.
	for i in {1..12}; do expect 0 kthread "serve$i" serve l; done
	barrier listening
	bounded "requests with another key" 32 flooded
	(($(counter refused.key) - key >= requests))
	ok $? "the server counts the requests with another key: $(($(counter refused.key) - key))"
	bounded "recorded requests" 64 recorded
	((most > 0 && most <= 8))
	ok $? "at most 8 connections are not proved at the same time: $most"
	barrier end
	for i in {1..12}; do kt stop "serve$i"; done
	expect 0 server end
	expect 0 release l
	kt unkey
}

if ((NODE == 1)); then victim; else attacker; fi
finish
