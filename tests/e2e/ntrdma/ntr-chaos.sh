#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-chaos: three members of a fabric under load, while failures of all kinds happen on all of them at random. Members are
# cut off, their interfaces go down, their devices are deleted, unbound or unplugged, and the module is unloaded. Machines
# are killed, boot again, and stand still. Tasks that connect or transfer data are killed, and connections are dropped.
# The load is persistent connections of krdma, a reflective memory, and TCP streams over the interface. Afterwards all of
# it works without an action, and all memories are equal.
#
#   node 1 (exports buffers on 7000, echoes on 7002) <--- krdma, vrfm, TCP over ntrdma ---> nodes 2 and 3
#
# A killed machine runs this script from its beginning. So nothing prints a case before the end of the failures.
#
# kernels: uml/ntr
# alone: stock-6.1/ntr-shm uml-debug/ntr
# lasting: uml/ntr stock-6.1/ntr-shm
# nodes: 3
# load: krdma krdma_test vrfm
# programs: rfm2g/rfm ntrmem/net
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

seconds=${1:-$((60 * slow))}
server=$(addr4 1)
options="rw=1 max_msg=65536 recv_depth=8"
files=/sys/kernel/debug/ntrdma
size=1M
# Part of the memory of vrfm that only this node writes.
own=$((131072 * NODE))
diary=$results/diary
# Names of the persistent connections. Nodes that are namespaces have the same module.
kept="n$NODE-a n$NODE-b n$NODE-c"
[[ $NODE != 1 ]] || kept=
kinds=()
left=()
child=
mount_debugfs

# wrong TEXT: note that an action has failed. The last case of this node reports all of these, also those of former lives.
wrong() { echo "at $SECONDS s: $*" >>"/exchange/wrong-$NODE"; }

# for_some_ms MIN MAX: sleep for a random time between MIN and MAX ms.
for_some_ms() {
	random $(($2 - $1))
	sleep "$((($1 + random) / 1000)).$(printf %03d $((($1 + random) % 1000)))"
}

# in_time LIMIT COMMAND...: run COMMAND, which must succeed within LIMIT seconds, or a longer time on a slow kernel.
in_time() {
	local limit=$(($1 * slow)) start=$SECONDS
	shift
	"$@" || wrong "$* fails"
	((SECONDS - start <= limit)) || wrong "$* takes $((SECONDS - start)) s"
}

# alone COMMAND...: run COMMAND while no other node that shares this kernel changes devices.
alone() {
	((NAMESPACES)) || { "$@"; return; }
	until mkdir /exchange/alone 2>/dev/null; do sleep 0.02; done
	"$@"
	rmdir /exchange/alone
}

# --- failures ---

# A device that another node deletes while it is cut has no file any more.
cut() {
	{ network loss 100%; } 2>/dev/null
	for_some_ms 100 8000
	{ network; } 2>/dev/null
}

down() {
	in_time 5 ip link set "$NETDEV" down
	for_some_ms 0 3000
	ip link set "$NETDEV" up
	ip addr replace "$(addr6 "$NODE")/64" dev "$NETDEV" nodad
}

dropped() {
	local names
	read -ra names <<<"$kept"
	random ${#names[@]}
	kt kept drop "${names[random]}"
}

# Kill a task that connects, and a task that sends and receives.
tasks() {
	local c=c$NODE
	kt_start "$c" connect "$c" "$server" 7002
	random 60000
	kt kill "$c" "$kt_pid" any 1500 "$random"
	{ wait "$kt_pid"; } 2>/dev/null
	kt release "$c"
	kt connect "$c" "$server" 7002 max_msg=1048576 connect_ms=3000 || return
	kt_start "talking$NODE" talk "$c" 1000000 200000 4
	random 500000
	kt kill "$c" "$kt_pid" any 1500 "$random"
	{ wait "$kt_pid"; } 2>/dev/null
	kt release "$c"
}

# The nodes are namespaces of one kernel.
delete() { in_time 5 rdma link del "$RDMADEV"; }
add() { rdma link add "$RDMADEV" type ntr netdev "$NETDEV" || wrong "rdma link add fails"; }
deleted() { delete && for_some_ms 0 3000 && add; }

reloaded() {
	local i
	in_time 5 rmmod ntrdma
	for_some_ms 0 1000
	insmod /modules/ntrdma.ko || wrong "ntrdma cannot be loaded"
	for ((i = 1; i <= NODES; i++)); do
		ip netns exec "node$i" rdma link add "ntr$i" type ntr netdev eth0 || wrong "node $i gets no device"
	done
}

# Each node is a machine.
has_device() { [[ -e /sys/class/infiniband/ntr0 && -e /sys/class/net/ntr0 ]]; }

# back COMMAND...: bring the device back by COMMAND, and give its interface the name and the addresses of before.
back() {
	for_some_ms 0 3000
	"$@" || wrong "$* fails"
	within 30 has_device || { wrong "no device after $*"; return; }
	WINDOW=1 link_up "$NODE" ntr0
}

load() { insmod /modules/ntrdma.ko "members=$NODES"; }
bind() { echo "$pci" >/sys/bus/pci/drivers/ntrdma/bind; }
unbind() { echo "$pci" >/sys/bus/pci/drivers/ntrdma/unbind; }
plug() { echo 1 >/sys/bus/pci/rescan; }
unplug() { echo 1 >"/sys/bus/pci/devices/$pci/remove"; }
unloaded() { in_time 5 rmmod ntrdma; back load; }
unbound() { in_time 5 unbind; back bind; }
unplugged() { in_time 5 unplug; back plug; }

# Node 1 lets the host do this to another machine, so that no machine waits for a killed one.
stopped() {
	random 2
	local other=$((2 + random))
	machine stop "$other"
	for_some_ms 200 9000
	machine cont "$other"
}

killed() {
	random 2
	local other=$((2 + random)) life
	life=$(<"/exchange/life-$other")
	machine kill "$other"
	for_some_ms 0 12000
	machine boot "$other"
	within 60 lives "$other" "$life" || wrong "machine $other does not boot"
}

# lives N COUNT: return whether machine N has begun more lives than COUNT.
lives() { (($(<"/exchange/life-$1") > $2)); }

set_kinds() {
	kinds=(cut down)
	if ((NAMESPACES)); then
		kinds+=(deleted)
		((NODE > 1)) || kinds+=(reloaded)
	else
		kinds+=(unloaded unbound unplugged)
		((NODE > 1)) || kinds+=(stopped killed killed)
	fi
	((NODE == 1)) || kinds+=(dropped tasks)
}

# Each kind happens once in each round, in a random order.
happen() {
	local kind
	((${#left[@]})) || left=("${kinds[@]}")
	random ${#left[@]}
	kind=${left[random]}
	unset "left[random]"
	left=("${left[@]}")
	if [[ $kind == deleted || $kind == reloaded ]]; then alone "$kind"; else "$kind"; fi
	echo "$kind" >>"/exchange/happened-$NODE"
}

# Node 1 decides when the failures end, at the earliest after one of each of its kinds.
chaos() {
	local end=$((SECONDS + seconds)) count=0
	until [[ -e /exchange/calm ]] || ((NODE == 1 && SECONDS >= end && count >= ${#kinds[@]})); do
		happen
		count=$((count + 1))
		for_some_ms 0 2000
	done
	: >/exchange/calm
}

# --- load ---

# try COMMAND...: run a command of krdma_test that must succeed.
try() { kt "$@" || wrong "$*: $kt_ret"; }

begin_krdma() {
	local name
	if ((NODE == 1)); then
		# shellcheck disable=SC2086 # words of a command
		try server "$server" 7000 backlog=512 wait=1 $options
		try listen l "$server" 7002 wait=1 max_msg=1048576
		for name in 1 2 3; do kt kthread "serve$name" serve l; done
	fi
	for name in $kept; do
		# shellcheck disable=SC2086 # words of a command
		try reconnect "$name" "$server" 7000 max=1000 op_ms=5000 keepalive_ms=1000 $options
		kt_start "pump-$name" kept pump "$name"
	done
}

# On User-mode Linux with two processors vrfm may miss a store into a mapping (tests/vm/README.rst), so a program writes
# by calls.
begin_vrfm() {
	rfm_make $size keepalive_ms=2000 overload_ms=200 || wrong "no device of vrfm"
	if [[ $KERNEL == uml* ]]; then
		/add/rfm "$RFM" flood "$own" 65536 100000 /dev/null &
	else
		/add/rfm "$RFM" churn $((4096 + 4 * (NODE - 1))) $((64 * 1024 / 4)) "$NODES" 100000 "$diary" &
		writers=$!
		/add/rfm "$RFM" scrawl "$own" 131072 100000 "$RANDOM" &
	fi
	writers+=" $!"
}

# A stream may fail, because its peer was killed. Data that differs is never allowed.
serve_streams() {
	while :; do timeout 30 /add/net serve "$1" 1; done >/dev/null 2>&1
}

send_streams() {
	local said
	while :; do
		if said=$(timeout 40 /add/net send "$server" $((7100 + NODE)) 200000 write 2>&1); then
			echo stream >>"/exchange/streams-$NODE"
		elif [[ $said == *arrived* ]]; then
			wrong "$said"
		fi
		sleep 0.1
	done
}

# The data of namespaces does not pass the device.
begin_tcp() {
	local i
	((!NAMESPACES)) || return 0
	if ((NODE == 1)); then
		for i in 2 3; do
			serve_streams $((7100 + i)) &
			child+=" $!"
		done
	else
		send_streams &
		child=$!
	fi
}

# --- after the failures ---

# A device also has a link to itself. The folder has the first name of the device.
links_up() {
	local text file=$files/$RDMADEV/status
	[[ -e $file ]] || file=$files/ntr0/status
	text=$(<"$file") && [[ $text == *": up,"*": up,"*": up,"* ]]
}

is_up() {
	kt kept show "$1"
	[[ $kt_text == "connected "* ]]
}

end_krdma() {
	local name
	for name in $kept; do
		kt kept stop "$name"
		kt_is 0 "connection $name is stopped: $kt_text"
		[[ $kt_text == *" wrong=0 "* ]]
		ok $? "connection $name had valid callbacks: $kt_text"
		kt_result "pump-$name" 60
		kt_is 0 "load of $name: each request completed once, and failed only at a lost connection: $kt_text"
		[[ $kt_text =~ good=([0-9]+).*\ requests=([0-9]+) ]] &&
			((BASH_REMATCH[2] >= 4 * BASH_REMATCH[1] && BASH_REMATCH[1] > 0))
		ok $? "load of $name: rounds had requests: $kt_text"
	done
	barrier stopped
	if ((NODE == 1)); then
		for name in 1 2 3; do
			kt stop "serve$name"
			kt_is EINTR "serve$name ends: $kt_text"
		done
		expect 0 server end
		expect 0 release l
	fi
	barrier released
}

counted() {
	requests_counted
	(($(wc -l </sys/kernel/debug/krdma/connections) == 1))
	ok $? "no connection is left: $(tail -n +2 /sys/kernel/debug/krdma/connections)"
}

equal_memories() {
	# shellcheck disable=SC2086 # words
	kill -9 $writers
	# shellcheck disable=SC2086 # words
	{ wait $writers; } 2>/dev/null
	barrier written
	check "node $NODE has linked its memory with both peers" within 120 rfm_joined
	rfm_joined || sed 's/^/# /' /proc/rfm2g
	barrier settled
	check "all peers have the writes of node $NODE" rfm_settle
	barrier synced
	rfm sum >"/exchange/sum-$NODE"
	barrier summed
	[[ $(sort -u /exchange/sum-* | wc -l) == 1 ]]
	ok $? "all memories are equal: $(cat /exchange/sum-* | tr '\n' ' ')"
	[[ ! -e $diary ]] ||
		check "node $NODE has all words that it wrote" rfm churned $((4096 + 4 * (NODE - 1))) $((64 * 1024 / 4)) "$NODES" "$diary"
	barrier compared
	check "node $NODE removes its device of vrfm" rfm_unmake
	barrier unmade
}

streams_flow() {
	((!NAMESPACES)) || return 0
	if ((NODE > 1)); then
		(($(wc -l <"/exchange/streams-$NODE") > 0))
		ok $? "TCP streams have arrived during the failures: $(wc -l <"/exchange/streams-$NODE")"
		check "a TCP stream arrives afterwards" within 60 /add/net send "$server" $((7100 + NODE)) 1000000 write
	fi
	barrier streamed
	# shellcheck disable=SC2086 # words
	kill $child
}

# Check the failures of all nodes together, because a node may have been killed before one of a kind.
all_happened() {
	local kind all
	all=$(sort /exchange/happened-* | uniq -c)
	for kind in $(printf '%s\n' "${kinds[@]}" dropped tasks | sort -u); do
		[[ $all =~ ([0-9]+)\ $kind ]]
		ok $? "failures of kind $kind: ${BASH_REMATCH[1]:-0}"
	done
}

read -r life 2>/dev/null <"/exchange/life-$NODE" || life=0
((NAMESPACES)) || pci=$(basename "$(readlink -f /sys/bus/pci/drivers/ntrdma/0*)")
before=$(resources)
set_kinds
seed "$((10#$(date +%N) % 32768))"
echo $((life + 1)) >"/exchange/life-$NODE"
((life)) || barrier begun
begin_krdma
begin_vrfm
begin_tcp
chaos
barrier calm
[[ -e /sys/class/infiniband/$RDMADEV ]] || rdma dev set ntr0 name "$RDMADEV"
check "the links of node $NODE are up after the failures" within 20 links_up
for name in $kept; do
	within 60 is_up "$name"
	ok $? "connection $name is up after the failures: $kt_text"
done
sleep 2
equal_memories
streams_flow
end_krdma
((NODE > 1 && NAMESPACES)) || counted
((NODE > 1)) || all_happened
for name in bad_seal bad_index bad_frame; do
	check "$name is 0" test "$(device_counter $name)" = 0
done
[[ ! -e /exchange/wrong-$NODE ]]
ok $? "all actions of node $NODE succeeded ($(($(<"/exchange/life-$NODE"))) lives): $(paste -sd'|' "/exchange/wrong-$NODE" 2>/dev/null)"
same_resources "$before" "resources are as before"
finish
