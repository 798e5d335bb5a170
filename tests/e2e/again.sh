#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# again: connections that are kept. Whatever ends them, their owner is told in turns that there is one and that there is
# none, and they come back by themselves; without a peer the attempts become rare; and they can be stopped at any moment.
#
#   node 1 (server with callbacks on 7000, on its own address; 7002 never accepts; 7003 sends; nobody on 7009)
#     ^--- krdma ---- node 2 (keeps connections)
#   devices are removed on both
#
# kernels:
# alone: uml
# long: stock-6.1 uml/siw uml-debug debug-6.1
# load: krdma krdma_test
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
options="rw=1 max_msg=65536 recv_depth=8"
patience=$((30 * slow))

link_del() {
	local start=$SECONDS
	timeout 60 rdma link del "$RDMADEV"
	ok $? "rdma link del on node $NODE"
	((SECONDS - start <= 5 * slow))
	ok $? "it took $((SECONDS - start)) s"
	[[ -z $(resources) ]]
	ok $? "nothing of the device is left"
}

link_add() {
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV"
	ok $? "rdma link add on node $NODE"
}

serve() {
	# shellcheck disable=SC2086 # words of a command
	expect 0 server "$server" 7000 backlog=512 $options
}

server() {
	barrier absent
	serve
	barrier present
	barrier release
	expect 0 server end
	barrier released
	serve
	barrier present-again
	# shellcheck disable=SC2086
	expect 0 listen deaf "$server" 7002 $options
	barrier deaf
	sends
	barrier load
	link_del
	barrier server-gone
	sleep 1
	link_add
	barrier server-back
	barrier stopped
	expect 0 release deaf
	# Those that failed were stopped while they were accepted.
	expect 0 server end
	[[ $kt_text =~ accepted=([0-9]+)\ .*closed=([0-9]+) ]]
	((BASH_REMATCH[1] >= (slow < 4 ? 100 : 10)))
	ok $? "the server has seen many of them: $kt_text"
}

# A few messages over each of two connections.
sends() {
	local i
	expect 0 listen l "$server" 7003
	barrier sender
	for _ in 1 2; do
		expect 0 accept s l 20000
		for i in 0 100 4000 20000; do expect 0 send s "$i"; done
		barrier sent
		barrier counted
		expect 0 release s
	done
	expect 0 release l
}

now_ms() {
	local up
	read -r up _ </proc/uptime
	echo $((10#${up/./} * 10))
}

# shows NAME PATTERN WHAT [SECONDS]: it comes to that; sets took, in ms
shows() {
	local start end
	start=$(now_ms)
	end=$((start + ${4:-$patience} * 1000))
	kt kept show "$1"
	# shellcheck disable=SC2053 # a pattern
	until [[ $kt_text == $2 ]] || (($(now_ms) > end)); do
		sleep 0.02
		kt kept show "$1"
	done
	took=$(($(now_ms) - start))
	# shellcheck disable=SC2053
	[[ $kt_text == $2 ]]
	ok $? "$3 ($kt_text, after $took ms)"
}

failures() {
	kt kept show "$1"
	[[ $kt_text =~ failures=([0-9]+) ]]
	count=${BASH_REMATCH[1]}
}

# fails NAME N: wait for so many failures in a row
fails() {
	local end=$((SECONDS + patience * 2))
	failures "$1"
	until ((count >= $2 || SECONDS > end)); do
		sleep 0.02
		failures "$1"
	done
	((count >= $2))
	ok $? "$1 has failed $2 times"
}

# stop NAME LIMIT_MS WHAT
stop() {
	kt kept stop "$1"
	kt_is 0 "$3: stopped, $kt_text"
	kt_within 0 "$2" "$3: in time"
}

keep() {
	local name=$1
	shift
	# shellcheck disable=SC2086
	expect 0 again "$name" "$@" $options
}

# The log has one line for the failure and one for the end of it, however many attempts there are.
log_is_short() {
	[[ $KERNEL != uml-debug ]] || return 0
	local down up
	down=$(dmesg_node | grep -c "$server:7000: not connected")
	up=$(dmesg_node | grep -c "$server:7000: connected")
	((down == 1 && up == 1))
	ok $? "the log has a line when it fails, and one when it works: $down, $up"
}

peer_comes_and_goes() {
	keep a "$server" 7000 max=800
	fails a 6
	barrier absent
	barrier present
	shows a "connected epoch=1 *" "the peer is there" $((5 * slow))
	log_is_short
	barrier release
	shows a "* connected=1 lost=1 reason=${errno[ECONNRESET]}" "the peer has gone"
	barrier released
	barrier present-again
	shows a "connected epoch=2 *" "the peer is back" $((5 * slow))
}

backs_off() {
	local start spent
	start=$(now_ms)
	keep b "$server" 7009 max=800
	fails b 10
	spent=$(($(now_ms) - start))
	# 100 + 200 + 400 + 6 * 800 ms, a quarter less or more; without the limit it would be 51 s.
	((spent >= 4100))
	ok $? "ten attempts are not made in a hurry: $spent ms"
	((spent <= 10000 * slow))
	ok $? "nor ever more slowly: $spent ms"
	expect 0 kept kick b
	failures b
	((count <= 3))
	ok $? "a kick begins anew: $count failures"
	stop b 1000 "while it waits"
	expect EINVAL again bad "$server" 7009 min=200 max=100
	expect EINVAL again bad "$server" 7009 max=3600001
	expect EINVAL again bad "$server" 7009 raw=1
	expect EINVAL again bad "$server" 7009 recv_depth=1
}

dropped() {
	expect 0 kept drop a
	shows a "connected epoch=3 * connected=3 lost=2 reason=${errno[ESHUTDOWN]}" "the owner has ended it: there is another"
}

receives() {
	barrier sender
	expect 0 again m "$server" 7003 receive=1
	local i
	for i in 4 8; do
		barrier sent
		shows m "connected * received=$i *" "messages come by callback"
		barrier counted
	done
	stop m 2000 "after messages"
}

# The longest wait is so long that only the device's return can be the reason for an early attempt.
own_device_goes() {
	keep d "$server" 7000 max=60000
	shows d "connected epoch=1 *" "connected"
	kt_start pump kept pump d
	sleep 1
	link_del
	shows d "* connected=1 lost=1 reason=${errno[ENODEV]}" "the device has gone"
	fails d 7
	link_add
	shows d "connected epoch=2 *" "the device is back" $((20 * slow))
	# Seven failures are worth 4.8 s at least.
	((took <= 3500 * slow))
	ok $? "and that is noticed: $took ms"
	sleep 0.5
	stop d 2000 "under load"
	kt_result pump "$patience"
	kt_is 0 "load: nothing failed but what was cut off: $kt_text"
	[[ $kt_text =~ good=([0-9]+)\ bad=([0-9]+) ]]
	((BASH_REMATCH[1] > 10 && BASH_REMATCH[2] <= 3))
	ok $? "load: $kt_text"
	shows a "connected epoch=4 *" "so is the other one"
}

peers_device_goes() {
	kt_start pump kept pump a
	sleep 0.5
	barrier load
	barrier server-gone
	shows a "* lost=4 *" "the peer's device has gone"
	barrier server-back
	shows a "connected epoch=5 *" "the peer's device is back" $((10 * slow))
	sleep 0.5
	stop a 2000 "connected, under load"
	kt_result pump "$patience"
	kt_is 0 "load: nothing failed but what was cut off: $kt_text"
}

stops_in_each_phase() {
	# Callbacks that take their time.
	keep e "$server" 7000 linger=500
	shows e "connected *" "connected() runs"
	stop e 3000 "in connected()"
	[[ $kt_text == "connected=1 lost=1 wrong=0 reason=${errno[ESHUTDOWN]}" ]]
	ok $? "its owner was told: $kt_text"
	keep f "$server" 7000 linger=500
	shows f "connected *" "connected"
	sleep 0.6
	expect 0 kept drop f
	sleep 0.1
	stop f 2000 "in lost()"
	keep g 10.56.0.99 7000 addr_ms=5000
	shows g "connecting *" "nobody has that address"
	stop g 1000 "while the address is resolved"
	# In the ordered workqueue of the CM.
	kt_start hold holdup 1500 "$server" 7000
	kt_result hold
	kt_is 0 "routes are held up"
	keep h "$server" 7000
	shows h "connecting *" "no route yet"
	stop h 3000 "while the route is resolved"
	kt holdup 0
	keep i "$server" 7002
	sleep 0.5
	shows i "connecting epoch=0 failures=0 *" "nobody accepts" 1
	stop i $((2000 + unanswered_ms)) "while the peer thinks"
}

lives_briefly() {
	local us
	for us in 3000 10000 30000; do
		# shellcheck disable=SC2086
		kt brief "$server" 7000 500 us=$((us * slow)) min=1 max=3 $options
		kt_is 0 "500 that are stopped within $us us, or $slow times that: $kt_text, $kt_ms ms"
	done
	# shellcheck disable=SC2086
	kt brief "$server" 7000 100 us=$((100000 * slow)) linger=5 min=1 max=3 $options
	kt_is 0 "100 that live longer, with slow callbacks: $kt_text, $kt_ms ms"
	kt brief "$server" 7009 400 us=5000 min=1 max=3
	kt_is 0 "400 without a peer: $kt_text, $kt_ms ms"
}

# debugfs has a line for each that is kept.
observed() {
	local file=/sys/kernel/debug/krdma/kept line
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	keep o "$server" 7000
	shows o "connected *" "connected"
	keep p "$server" 7009 max=60000
	fails p 3
	line=$(grep "^$server:7000 " $file)
	[[ $line == "$server:7000 connected 1 0 0 0" ]]
	ok $? "debugfs: $line"
	line=$(grep "^$server:7009 " $file)
	[[ $line =~ ^"$server:7009 "(waiting|connecting)" 0 "[3-9]" "-[0-9]+" "[0-9]+$ ]]
	ok $? "debugfs: $line"
	stop o 2000 "connected"
	stop p 2000 "waiting"
	! grep -q "^$server:70" $file
	ok $? "debugfs knows them no more"
}

client() {
	peer_comes_and_goes
	backs_off
	dropped
	barrier deaf
	receives
	own_device_goes
	peers_device_goes
	stops_in_each_phase
	observed
	lives_briefly
	barrier stopped
}

if ((NODE == 1)); then server; else client; fi
same_resources "$before" "resources are as before"
finish
