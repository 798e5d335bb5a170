#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-soak: sixteen clients run at a time, and some of them are killed. At the same time a task reads all files of
# krping, and the RDMA devices are removed and recreated. All runs end, no resource is left, and the servers continue.
#
#   node 1 (servers of four tests) <--- krping ---> node 2 (sixteen clients)
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
# Options to verify data, for each test. The test slat cannot verify data.
verify=(verify=crc verify=crc verify=crc verify=none)
debugfs=/sys/kernel/debug/krping
mount_debugfs

run() { echo "$1" 2>/dev/null >/proc/krping; }

# Read all files of krping repeatedly, until the file "enough" exists.
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

# Limit the time that a client waits for an answer on siw, which may lose the first message of a client (tests/skips).
patience=
[[ $LINK != siw ]] || patience=idle_timeout=5000

# past_connecting COUNT: succeed if the run with the option count=COUNT has exchanged messages, and so is connected.
# The function starts no process, because sixteen clients call it repeatedly.
past_connecting() {
	local file text=()
	for file in "$debugfs"/*/result; do
		mapfile text <"$file"
		[[ ${text[*]} != *"\"count\": $1,"* ]] || { [[ ${text[*]} =~ _msgs\":\ [1-9] ]]; return; }
	done 2>/dev/null
	return 1
}

# may_be_killed COUNT PID: wait until the client PID may be killed. Do not wait except on siw. On siw, a client that is
# killed while it connects may end the listener, and the end of this listener crashes the kernel (tests/vm/README.rst).
# So wait until the client has an answer. After five seconds without an answer, assume that the client is connected and
# that its message was lost. Fail if the client has ended, as a client of the test slat does after the server's count.
may_be_killed() {
	local end=$((SECONDS + 5))
	[[ $LINK == siw ]] || return 0
	until past_connecting "$1" || ((SECONDS > end)); do
		kill -0 "$2" 2>/dev/null || return 1
		sleep 0.1
	done
}

# client SEED: start one run after the other, of random tests and sizes. Some runs are endless, and are killed.
client() {
	local i good=0 killed=0
	RANDOM=$1
	local test size count=$((4000000000 + 1000000 * $1))
	while [[ ! -e $results/enough ]]; do
		i=$((RANDOM % 4))
		test=${tests[i]}
		# The test slat needs the same size on both sides.
		size=$((i == 3 ? 4096 : 1 + RANDOM % 4096))
		if ((RANDOM % 3)); then
			! run "client,addr=$server,port=$((7500 + i)),count=20,$test,size=$size,${verify[i]},$patience" || good=$((good + 1))
		else
			# Give the run a count of its own, by which past_connecting() finds the run.
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
	ok $? "rdma link del succeeds under load on node $NODE"
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV"
	ok $? "rdma link add succeeds under load on node $NODE"
	until ((SECONDS > end)) || [[ $LINK != rxe ]] ||
		grep -q "$(printf '0a38:%04x' "$NODE")" "/sys/class/infiniband/$RDMADEV/ports/1/gids/"* 2>/dev/null; do
		sleep 0.1
	done
}

if ((NODE == 1)); then
	for i in 0 1 2 3; do
		run "server,port=$((7500 + i)),${tests[i]},size=4096,accept=0,bg,idle_timeout=5000"
		ok $? "a server of ${tests[i]:-ping} starts"
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
on 2 link_again
barrier lost-2
sleep $((seconds / 3))
on 1 link_again
barrier lost-1
sleep $((seconds / 3))
touch "$results/enough"
for i in "${clients[@]}"; do wait "$i"; done
check "the poller ends" within 10 eval "! kill -0 $poller 2>/dev/null"
barrier over
if ((NODE == 1)); then
	running=$(</proc/krping)
	[[ $(wc -l <<<"$running") == 4 ]]
	ok $? "four servers are running after the soak: $(tr '\n' ' ' <<<"$running")"
	barrier again
	barrier served
	check "stop=all stops four servers" run "stop=all"
else
	good=$(($(cat "$results"/good* | paste -sd+)))
	((good > 16))
	ok $? "more than 16 clients succeeded: $good"
	killed=$(($(cat "$results"/killed* | paste -sd+)))
	((killed >= seconds / (2 * slow)))
	ok $? "$((seconds / (2 * slow))) clients or more were killed: $killed"
	check "no client is running after the soak" within 30 krping_idle
	barrier again
	for i in 0 1 2 3; do
		check "the server of ${tests[i]:-ping} serves a client after the soak" \
			within 10 run "client,addr=$server,port=$((7500 + i)),count=20,${tests[i]},size=4096,${verify[i]}"
	done
	barrier served
fi
check "no krping is running on node $NODE after stop=all" within 10 krping_idle

same_resources "$before" "resources are as before"
finish
