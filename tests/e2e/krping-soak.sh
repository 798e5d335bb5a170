#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-soak: sixteen clients at a time that are killed or stopped now and then, while somebody reads everything that there
# is to read, and the RDMA devices go and come again. All of it ends, nothing is left, and the servers serve on.
#
#   node 1 (servers of four tests, for everybody) <--- krping ---> node 2 (sixteen clients)
#
# kernels:
# long: uml/siw stock-6.1 stock-new
# alone: uml
# lasting: debug-6.1
# load: krdma krping
# timeout: 900

# shellcheck source=tests/e2e/lib.sh
. lib.sh

seconds=${1:-40}
before=$(resources)
barrier begun
server=$(addr4 1)
tests=("" rlat bw "slat,count=20")
# Data of messages cannot be checked.
verify=(verify=crc verify=crc verify=crc verify=none)
debugfs=/sys/kernel/debug/krping
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug

run() { echo "$1" 2>/dev/null >/proc/krping; }

# Until the file is there: all that can be read.
poller() {
	local file text
	while [[ ! -e $results/enough ]]; do
		text=$(</proc/krping)
		for file in "$debugfs"/*/*; do
			[[ ! -e $file ]] || text=$(<"$file")
		done
		sleep 0.01
	done 2>/dev/null
	: "$text"
}

# What a client sends at once siw may lose (tests/skips): who waits for the answer does not wait for long.
patience=
[[ $LINK != siw ]] || patience=idle_timeout=5000

# past_connecting COUNT: the run of so many pings is. Sixteen ask, so without a process for each file in debugfs.
past_connecting() {
	local file text=()
	for file in "$debugfs"/*/result; do
		mapfile text <"$file"
		[[ ${text[*]} != *"\"count\": $1,"* ]] || { [[ ${text[*]} =~ _msgs\":\ [1-9] ]]; return; }
	done 2>/dev/null
	return 1
}

# may_be_killed COUNT PID: at any time, but over siw a client that goes while it connects may end the listener for all, and
# whoever ends that listener then takes the kernel along (tests/vm/README.rst). One that has heard nothing after five
# seconds has long been accepted: what it has sent is lost. False: it has ended by itself, as those of slat do, for whom
# the server says how often.
may_be_killed() {
	local end=$((SECONDS + 5))
	[[ $LINK == siw ]] || return 0
	until past_connecting "$1" || ((SECONDS > end)); do
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.1
	done
}

# client SEED: one run after the other, of which some do not end by themselves.
client() {
	local i good=0 killed=0
	RANDOM=$1
	local test size count=$((4000000000 + 1000000 * $1))
	while [[ ! -e $results/enough ]]; do
		i=$((RANDOM % 4))
		test=${tests[i]}
		# Of messages back and forth both sides count the same.
		size=$((i == 3 ? 4096 : 1 + RANDOM % 4096))
		if ((RANDOM % 3)); then
			! run "client,addr=$server,port=$((7500 + i)),count=20,$test,size=$size,${verify[i]},$patience" || good=$((good + 1))
		else
			# No other run has this count.
			count=$((count + 1))
			run "client,addr=$server,port=$((7500 + i)),count=$count,$test,size=$size,timeout=20000" &
			! may_be_killed $count $! || sleep "0.$((RANDOM % 10))"
			! kill -KILL $! 2>/dev/null || killed=$((killed + 1))
			{ wait $!; } 2>/dev/null
		fi
	done
	echo "$good" >"$results/good$1"
	echo "$killed" >"$results/killed$1"
}

link_again() {
	local end=$((SECONDS + 10 * slow))
	timeout 60 rdma link del "$RDMADEV"
	ok $? "rdma link del under load"
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV"
	ok $? "rdma link add"
	until ((SECONDS > end)) || [[ $LINK != rxe ]] ||
		grep -q "$(printf '0a38:%04x' "$NODE")" "/sys/class/infiniband/$RDMADEV/ports/1/gids/"* 2>/dev/null; do
		sleep 0.1
	done
}

if ((NODE == 1)); then
	for i in 0 1 2 3; do
		run "server,port=$((7500 + i)),${tests[i]},size=4096,accept=0,bg,idle_timeout=5000"
		ok $? "server of ${tests[i]:-ping}"
	done
fi
poller &
poller=$!
barrier ready
clients=()
if ((NODE == 2)); then
	for i in {1..16}; do
		client "$i" &
		clients+=($!)
	done
fi
sleep $((seconds / 3))
((NODE == 1)) || link_again
barrier lost-2
sleep $((seconds / 3))
((NODE == 2)) || link_again
barrier lost-1
sleep $((seconds / 3))
touch "$results/enough"
for i in "${clients[@]}"; do wait "$i"; done
check "the poller ends" within 10 eval "! kill -0 $poller 2>/dev/null"
barrier over
if ((NODE == 1)); then
	running=$(</proc/krping)
	[[ $(wc -l <<<"$running") == 4 ]]
	ok $? "four servers are left: $(tr '\n' ' ' <<<"$running")"
	barrier again
	barrier served
	check "stop=all" run "stop=all"
else
	good=$(($(cat "$results"/good* | paste -sd+)))
	((good > 16))
	ok $? "$good clients did well"
	killed=$(($(cat "$results"/killed* | paste -sd+)))
	((killed >= seconds))
	ok $? "$killed were killed"
	check "no client is left" within 30 krping_idle
	barrier again
	for i in 0 1 2 3; do
		check "the server of ${tests[i]:-ping} serves on" \
			within 10 run "client,addr=$server,port=$((7500 + i)),count=20,${tests[i]},size=4096,${verify[i]}"
	done
	barrier served
fi
check "nothing runs" within 10 krping_idle

same_resources "$before" "resources are as before"
finish
