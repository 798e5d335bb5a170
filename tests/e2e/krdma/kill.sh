#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# kill: 200 tasks are killed at random points and in chosen states: connecting, accepting, sending, releasing, and running
# krping. All of them end at once, no resource is left, and the peer continues to serve.
#
#   node 1 (echoes on 7000, raw on 7001, krping on 7200) <--- krdma, krping ---> node 2 (is killed)
#
# The state of a kill is the state of the connection when krdma_test sent the signal. For krping the state is derived
# from the line of the run in /proc/krping. A kill counts only if the call had begun before the kill, and did not
# return.
#
# kernels: uml
# alone: debug-6.1
# long: uml/siw uml-debug debug-6.1/siw stock-6.1 stock-new uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma uml/ntr-ntb
# load: krdma krdma_test krping
# timeout: 900

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
barrier begun
server=$(addr4 1)
self=$(addr4 2)
declare -A hits
total=0
misses=0
stuck=0

# hit WHAT STATE: count the kill of the last started task as a hit in STATE, or as a miss if its call had returned or
# not begun.
hit() {
	hits[$1 $2]=$((${hits[$1 $2]:-0} + 1))
	if [[ -s $results/$kt_job || $2 == none || $2 == outside ]]; then
		misses=$((misses + 1))
	else
		total=$((total + 1))
	fi
}

# ended PID: wait for a killed task, which must end within ten seconds plus the timeout of siw. Drop stderr, where bash
# reports each kill.
ended() {
	{ reap "$1"; } 2>/dev/null
}

reap() {
	local end=$((SECONDS + 10 * slow + unanswered_ms / 1000))
	while kill -0 "$1" 2>/dev/null && [[ $(ps -o stat= -p "$1" 2>/dev/null) != Z* ]]; do
		if ((SECONDS > end)); then
			stuck=$((stuck + 1))
			echo "# stuck: $(tr '\n' ' ' <"/proc/$1/stack")"
			return
		fi
		sleep 0.02
	done
	wait "$1"
}

# killed SLOT WHAT [STATE [DELAY_US]]: wait until the connection in SLOT is in STATE, and DELAY_US longer. Then kill the
# task that kt_start has started last, and count the kill as a hit or miss of WHAT.
killed() {
	kt kill "$1" "$kt_pid" "${3:-any}" 1500 "${4:-0}"
	ended "$kt_pid"
	hit "$2" "${kt_text:-none}"
}

connect_once() {
	kt_start c connect c "$server" 7000 connect_ms=30000 "$@"
}

raw_once() {
	kt_start c connect c "$server" 7001 connect_ms=30000 raw=1 "$@"
}

# until_hit WHAT STATE FUNCTION: call FUNCTION until it has hit STATE twice, because on a busy machine it may miss
# STATE. Stop after 25 calls.
until_hit() {
	local i
	for i in {1..25}; do
		((${hits[$1 $2]:-0} < 2)) || return
		"$3" "$2"
	done
}

connect_in_state() {
	connect_once
	killed c connect "$1"
	kt release c
}

# Kill a connect in RESOLVING_ROUTE. Delay the resolution of routes, because a slow machine would miss this short state.
resolving_route() {
	kt holdup 2000 "$server" 7000 || echo "# holdup: $kt_ret"
	connect_in_state "$1"
	kt holdup 0
}

answer_in_state() {
	kt request a own 10000
	kt_start a answer a
	killed a answer "$1"
	kt release a
}

# Kill an answer in READY. pause_us stretches this state, which lasts microseconds.
answer_ready() {
	kt request a own-raw 10000
	kt_start a answer a raw=1 pause_us=20000
	killed a answer "$1"
	kt release a
}

# Kill a connecting task in each state. pause_us stretches states that last only microseconds.
connects_in_each_state() {
	local i state
	for i in 1 2 3 4; do
		connect_once pause_us=20000
		killed c connect NEW
		kt release c
		raw_once pause_us=20000
		killed c connect READY
		kt release c
		# No host has this address, so the task stays in RESOLVING_ADDR.
		kt_start c connect c 10.56.0.98 7000 addr_ms=10000
		killed c connect RESOLVING_ADDR
		kt release c
	done
	until_hit connect RESOLVING_ROUTE resolving_route
	for state in ROUTED ESTABLISHED; do
		until_hit connect "$state" connect_in_state
	done
	[[ $LINK == siw ]] || until_hit connect CONNECTING connect_in_state
}

# On siw, kill a connect only before TCP begins to connect, or after TCP has connected. If a TCP connection is closed
# before siw has accepted it, the listener of siw ends (6.1 to 7.3). A use after free follows, because
# siw_cm_llp_state_change() of the closed connection uses the listener's endpoint.
connects_at_random_siw() {
	local i
	for ((i = 0; i < $1; i++)); do
		case $((i % 3)) in
		0)
			connect_once pause_us=20000
			random 15000
			killed c connect any "$random"
			kt release c
			;;
		1) connect_in_state ROUTED ;;
		2) connect_in_state ESTABLISHED ;;
		esac
	done
}

# Kill connects at random times. The network is slow, so that the shell can kill a connect before it completes. Connect
# twice first, because the first connect takes longer than others.
connects_at_random() {
	local i span
	[[ $LINK != siw ]] || { connects_at_random_siw "$1"; return; }
	network delay 5ms
	for i in 1 2; do
		connect_once
		kt_result c
		span=$((kt_ms * 1000 + 2000))
		kt release c
	done
	for ((i = 0; i < $1; i++)); do
		random "$span"
		connect_once
		killed c connect any "$random"
		kt release c
	done
	network
}

# up_to N: kill connects until the total number of kills is N. Repeat this, because some kills come too late.
up_to() {
	local i
	for i in {1..10}; do
		((total < $1)) || return
		connects_at_random $(($1 - total))
	done
}

sends_at_random() {
	local i size
	for ((i = 0; i < $1; i++)); do
		kt connect s "$server" 7000
		random 130000
		size=$random
		kt_start pump pump s "$size" 60000
		random 50000
		killed s send any "$random"
		kt release s
	done
}

release_in_state() {
	kt connect c "$server" 7000
	kt_start gone release c pause_us=20000
	killed c release "$1" "${2:-0}"
	kt release c
}

releases() {
	local i
	for ((i = 0; i < $1; i++)); do
		random 25000
		release_in_state any "$random"
	done
	until_hit release CLOSING release_in_state
}

# Kill tasks that accept. Node 1 connects repeatedly. A slow network stretches the time between REP and RTU.
accepts() {
	local i
	network delay 20ms
	kt listen own "$self" 7100
	barrier dial
	for ((i = 0; i < $1; i++)); do
		if ((i % 2)); then
			kt_start a accept a own
			random 30000
			killed own accept any "$random"
		else
			answer_in_state any
		fi
		kt release a
	done
	until_hit answer CONNECTING answer_in_state
	kt listen own-raw "$self" 7101 raw=1
	touch /exchange/dials-raw
	until_hit answer READY answer_ready
	touch /exchange/dials-over
	network
	kt release own
	kt release own-raw
}

dial() {
	local -a options=(7100)
	barrier dial
	while [[ ! -e /exchange/dials-over ]]; do
		[[ ! -e /exchange/dials-raw ]] || options=(7101 raw=1)
		kt connect d "$(addr4 2)" "${options[@]}" connect_ms=3000
		kt release d
	done
}

# krping_doing ROLE: print the state of the only run of krping on this node. ROLE is client or server.
krping_doing() {
	local name send_bytes sends receives
	read -r name send_bytes sends _ receives _ </proc/krping
	case $1-$name-${send_bytes:-} in
	*--) echo "outside" ;;
	server-*-listen) echo listening ;;
	client-*-listen) echo connecting ;;
	*) if ((sends + receives > 0)); then echo exchanging; else echo connecting; fi ;;
	esac
}

# krping_killed COMMAND MAX_US: start a task that writes COMMAND to /proc/krping. Kill this task after a random time of
# at most MAX_US microseconds.
krping_killed() {
	local doing
	kt_job=krping
	: >"$results/$kt_job"
	(
		trap - EXIT
		echo "$1" 2>/dev/null >/proc/krping
		echo "$?" >"$results/$kt_job"
	) &
	kt_pid=$!
	random "$2"
	# On siw, wait longer, so that the kill does not come while TCP connects: see connects_at_random_siw().
	[[ $LINK != siw ]] || random=$((random + 50000))
	sleep "$(printf '0.%06d' "$random")"
	doing=$(krping_doing "${1%%,*}")
	kill -KILL "$kt_pid" 2>/dev/null
	ended "$kt_pid"
	hit krping "$doing"
}

krping_runs() {
	local i
	for ((i = 0; i < $1; i++)); do
		case $((i % 4)) in
		0) krping_killed "server,addr=$self,port=7201" 200000 ;;
		# This client connects to a listener that never accepts.
		1) krping_killed "client,addr=$server,port=7002" 300000 ;;
		*) krping_killed "client,addr=$server,port=7200,size=65536,validate" 400000 ;;
		esac
	done
}

# step WHAT COMMAND...: run COMMAND. Print the number of all kills until now, and the time that COMMAND took.
step() {
	local begun=$SECONDS what=$1
	shift
	"$@"
	echo "# $what: $total kills, $misses too late or too soon, $((SECONDS - begun)) s"
}

# One case for each state: tasks were killed in this state.
verdict() {
	local what state states connecting=
	for what in "${!hits[@]}"; do echo "# killed: $what: ${hits[$what]}"; done | sort
	[[ $LINK == siw ]] || connecting=,CONNECTING
	for what in "connect:NEW,RESOLVING_ADDR,RESOLVING_ROUTE,ROUTED,READY,ESTABLISHED$connecting" \
		send:ESTABLISHED release:CLOSING accept:LISTENING answer:READY,CONNECTING \
		krping:listening,connecting,exchanging; do
		states=${what#*:}
		for state in ${states//,/ }; do
			((${hits[${what%%:*} $state]:-0} > 0))
			ok $? "a task was killed in ${what%%:*} in state $state"
		done
	done
	((total >= 200))
	ok $? "200 tasks or more were killed: $total"
	((stuck == 0))
	ok $? "every killed task ends: $stuck are stuck"
}

# Run krping servers one after the other, because each server serves one client.
krping_server() {
	while [[ ! -e /exchange/kills-over ]]; do
		echo "server,addr=$server,port=7200,size=65536" 2>/dev/null >/proc/krping
	done
}

if ((NODE == 1)); then
	rm -f /exchange/kills-over /exchange/dials-over /exchange/dials-raw
	expect 0 listen l 0.0.0.0 7000
	expect 0 listen raw 0.0.0.0 7001 raw=1
	expect 0 listen deaf 0.0.0.0 7002 raw=1
	for i in 1 2 3; do kt kthread "serve$i" serve l; done
	krping_server &
	krping_pid=$!
	barrier listening
	dial &
	dial_pid=$!
	while [[ ! -e /exchange/kills-over ]]; do
		kt request r raw 500 && kt answer r raw=1
		kt release r
	done
	for i in 1 2 3; do
		kt stop "serve$i"
		kt_is EINTR "serve$i: $kt_text"
	done
	ended "$dial_pid"
	kill -KILL "$krping_pid"
	ended "$krping_pid"
	for slot in l raw deaf; do expect 0 release "$slot"; done
else
	barrier listening
	seed "${1:-$((10#$(date +%N) % 32768))}"
	step "connects in each state" connects_in_each_state
	step "connects at random" connects_at_random 60
	step "sends" sends_at_random 50
	step "releases" releases 10
	step "accepts" accepts 12
	step "krping" krping_runs 44
	step "and more connects at random" up_to 200
	verdict
	kt rounds after "$server" 7000 3
	kt_is 0 "the server serves new clients after 200 kills"
	kt release after
	touch /exchange/kills-over
fi
barrier over
same_resources "$before" "resources are as before"
finish
