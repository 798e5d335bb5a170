#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# chaos: ten minutes of failures. Eight persistent connections are under load, while the link is cut, the network loses
# and delays packets, RDMA devices are removed and recreated on both sides (not on debug-6.1), connections are dropped,
# and tasks are killed. Afterwards all eight are connected without intervention. Each round writes other data, and reads
# find no wrong data. The owner of the requests and krdma both count one completion for each posted request.
#
#   node 1 (exports buffers on 7000, echoes by callback on 7002) <--- persistent connections of krdma ---> node 2
#
# alone: uml debug-6.1
# load: krdma krdma_test
# timeout: 1000

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
barrier begun
server=$(addr4 1)
seconds=${1:-600}
options="rw=1 max_msg=65536 recv_depth=8"
declare -A events
# rxe of 6.1 frees a CQ whose tasklet may still be scheduled (tests/vm/README.rst). That is rare, but a report of KASAN ends
# the machine.
kinds="unplugged lossy"
[[ $KERNEL/$LINK == debug-6.1/rxe ]] || kinds+=" device"
[[ $NODE == 1 ]] || kinds+=" dropped killed"
mount_debugfs

# trouble RULES...: apply RULES of netem for 1 to 6 seconds.
trouble() {
	network "$@"
	for_a_while 1 6
	network
}

# Remove the RDMA device, and add it again. krdma must release the device in time, so that the removal ends.
device() {
	local start=$SECONDS
	timeout 60 rdma link del "$RDMADEV" || { ok 1 "rdma link del succeeds under load"; return; }
	((SECONDS - start <= 10 * slow)) || ok 1 "rdma link del ends in time: $((SECONDS - start)) s"
	for_a_while 0 3
	rdma link add "$RDMADEV" type "$LINK" netdev "$NETDEV" || ok 1 "rdma link add succeeds under load"
}

drops() {
	random 8
	((NODE == 2)) && kt kept drop "k$random"
}

# Kill a task that connects, and a task that sends and receives.
kills() {
	((NODE == 2)) || return
	kt_start c connect c "$server" 7002
	random 60000
	kt kill c "$kt_pid" any 1500 "$random"
	{ wait "$kt_pid"; } 2>/dev/null
	kt release c
	kt connect c "$server" 7002 max_msg=1048576 connect_ms=3000 || return
	kt_start talking talk c 1000000 200000 4
	random 500000
	kt kill c "$kt_pid" any 1500 "$random"
	{ wait "$kt_pid"; } 2>/dev/null
	kt release c
}

happen() {
	local what
	random 10
	case $random in
	0 | 1) what=unplugged; trouble loss 100% ;;
	2 | 3) what=lossy; trouble loss 3% delay 2ms 1ms ;;
	4 | 5)
		[[ $kinds == *device* ]] || return
		what=device
		device
		;;
	6 | 7) what=dropped; drops ;;
	*) what=killed; kills ;;
	esac
	events[$what]=$((${events[$what]:-0} + 1))
}

chaos() {
	local end=$((SECONDS + seconds)) what
	while ((SECONDS < end)); do
		happen
		for_a_while 0 3
	done
	for what in "${!events[@]}"; do echo "# $what: ${events[$what]} times"; done
	for what in $kinds; do
		((${events[$what]:-0} > 0))
		ok $? "node $NODE had an event of kind $what: ${events[$what]:-0} times"
	done
}

kept_is() {
	kt kept show "$1"
	# shellcheck disable=SC2053 # a pattern
	[[ $kt_text == $2 ]]
}

all_back() {
	local i end=$((SECONDS + 60 * slow))
	for i in {0..7}; do
		until kept_is "k$i" "connected *" || ((SECONDS > end)); do sleep 0.1; done
		kept_is "k$i" "connected *"
		ok $? "kept connection $i is connected after the chaos: $kt_text"
	done
}

seed "$((10#$(date +%N) % 32768))"
if ((NODE == 1)); then
	# shellcheck disable=SC2086 # words of a command
	expect 0 server "$server" 7000 backlog=512 wait=1 $options
	expect 0 listen l "$server" 7002 wait=1 max_msg=1048576
	for i in 1 2 3; do kt kthread "serve$i" serve l; done
	barrier listening
	chaos
	barrier calm
	barrier stopped
	for i in 1 2 3; do
		kt stop "serve$i"
		is_one_of "$kt_ret" "${errno[EINTR]}"
		ok $? "serve$i: $kt_ret $kt_text"
	done
	expect 0 server end
	expect 0 release l
else
	barrier listening
	for i in {0..7}; do
		# shellcheck disable=SC2086 # words of a command
		expect 0 reconnect "k$i" "$server" 7000 max=1000 op_ms=5000 keepalive_ms=1000 $options
		kt_start "pump$i" kept pump "k$i"
	done
	chaos
	barrier calm
	all_back
	sleep 2
	for i in {0..7}; do
		kt kept stop "k$i"
		kt_is 0 "kept connection $i is stopped: $kt_text"
		[[ $kt_text =~ lost=([0-9]+)\ wrong=0 ]] && ((BASH_REMATCH[1] > 1))
		ok $? "kept connection $i was lost more than once, with valid callbacks: $kt_text"
		kt_result "pump$i" 60
		kt_is 0 "load of connection $i: each request completed once, and failed only at a lost connection: $kt_text"
		[[ $kt_text =~ good=([0-9]+).*\ requests=([0-9]+) ]] && ((BASH_REMATCH[2] >= 4 * BASH_REMATCH[1] && BASH_REMATCH[1] > 0))
		ok $? "load of connection $i: most rounds had requests: $kt_text"
	done
	barrier stopped
fi
kt release c
requests_counted
(($(wc -l </sys/kernel/debug/krdma/connections) == 1))
ok $? "no connection is left: $(tail -n +2 /sys/kernel/debug/krdma/connections)"
same_resources "$before" "resources are as before"
finish
