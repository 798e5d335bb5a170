#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# soak: ten minutes of connections, messages, READs and WRITEs, krping, and killed tasks, all at once.
#
#   node 1 (echoes, exports buffers, krping server) <--- krdma, krping ---> node 2
#
# alone: uml uml/siw stock-6.1 debug-6.1
# load: krdma krdma_test krping
# timeout: 1000

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
seconds=${1:-600}
end=$((SECONDS + seconds))
over=/exchange/soak-over

# worker NAME COMMAND...: repeat COMMAND until the end of the test, and write "RUNS FAILURES" into a file.
worker() {
	local name=$1 runs=0 failed=0
	shift
	while ((SECONDS < end)); do
		"$@" || { failed=$((failed + 1)); echo "# $name: $kt_ret after $kt_ms ms ($kt_text)"; }
		runs=$((runs + 1))
	done
	echo "$runs $failed" >"$results/worker-$name"
}

rounds() {
	kt rounds rounds "$server" 7000 20
}

messages() {
	local ret
	kt connect m "$server" 7000 op_ms=$((5000 * slow)) connect_ms=$((10000 * slow)) || return
	kt_start sink sink m
	kt pump m 20000 3000
	ret=$kt_ret
	kt release m
	kt_result sink 30
	kt_ret=$ret
	((ret == 0))
}

buffers() {
	local ret
	kt connect w "$server" 7001 rw=1 op_ms=$((5000 * slow)) connect_ms=$((10000 * slow)) || return
	kt rwpump w 200000 3000
	ret=$kt_ret
	kt release w
	kt_ret=$ret
	((ret == 0))
}

# Kill a task that connects, after a random time. On siw wait until the connection is established: a kill while TCP connects
# can end the listener, see kill.sh. On a busy machine the task may end before the kill, which is no failure.
killed() {
	local state=any patience=1000
	kt_start k connect k "$server" 7000
	random 60000
	[[ $LINK != siw ]] || state=ESTABLISHED patience=20000
	if kt kill k "$kt_pid" "$state" "$patience" "$random"; then echo "$kt_text" >>"$results/kills"; fi
	{ wait "$kt_pid"; } 2>/dev/null
	kt release k
	return 0
}

# Run a krping client against node 1. Retry, because the server of node 1 needs a moment to listen again after each
# client.
pings() {
	kt_ret=-1 kt_ms=0 kt_text=krping
	for _ in {1..50}; do
		if echo "client,addr=$server,port=7200,count=200,size=10000,validate" 2>/dev/null >/proc/krping; then return 0; fi
		sleep 0.2
	done
	return 1
}

krping_server() {
	while [[ ! -e $over ]]; do
		echo "server,addr=$server,port=7200,size=65536" 2>/dev/null >/proc/krping || sleep 0.1
	done
}

if ((NODE == 1)); then
	rm -f "$over"
	expect 0 listen l 0.0.0.0 7000
	expect 0 listen rw 0.0.0.0 7001 rw=1
	for i in 1 2 3 4; do kt kthread "serve$i" serve l; done
	kt kthread hold hold rw
	krping_server &
	krping_pid=$!
	barrier listening
	while [[ ! -e $over ]]; do sleep 1; done
	for job in serve1 serve2 serve3 serve4 hold; do
		kt stop "$job"
		kt_is EINTR "$job: $kt_text"
	done
	kill -KILL "$krping_pid"
	{ wait "$krping_pid"; } 2>/dev/null
	expect 0 release l
	expect 0 release rw
else
	barrier listening
	seed "$((10#$(date +%N) % 32768))"
	pids=()
	for name in rounds messages buffers killed pings; do
		worker "$name" "$name" &
		pids+=($!)
	done
	wait "${pids[@]}"
	touch "$over"
	for name in rounds messages buffers killed pings; do
		read -r runs failed <"$results/worker-$name"
		((runs > 0 && failed == 0))
		ok $? "the worker $name has runs without failures: $runs runs, $failed failed"
	done
	[[ -s $results/kills ]]
	ok $? "tasks were killed while they connected"
fi
barrier over
kt release rounds
same_resources "$before" "resources are as before"
finish
