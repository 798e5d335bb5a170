#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-link: the links of ntrdma. A short interruption costs nothing but time. After a long one, when an interface goes down
# or gets another address, and when the module is unloaded, connections end in time, and new ones can be made afterwards.
# The module refuses invalid parameters and interfaces. sysfs shows the links.
# From the test of spin_us on, lanes wait for frames.
#
#   node 1 (accepts on 7000) <--- krdma over ntrdma ---> node 2 (connects)
#
# kernels: uml/ntr uml-debug/ntr
# load: krdma krdma_test nverbs
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
files=/sys/kernel/debug/ntrdma
# The time without a sign of life after which a peer is lost, in ms: long enough for a machine under load.
dead_ms=2000
mount_debugfs

# The RDMA devices are in the first namespace, and so are their folders in sysfs.
sys=$results/sys
mkdir "$sys"
nsenter --net=/proc/1/ns/net mount -t sysfs sysfs "$sys"
shown=$sys/class/infiniband/$RDMADEV/ntr
peer=$shown/peers/$((2 - NODE))

# file_is FILE VALUE DESCRIPTION: one case: FILE in sysfs has VALUE.
file_is() {
	local found
	found=$(<"$1")
	[[ $found == "$2" ]]
	ok $? "$3: ${1##*/} is $2 ($found)"
}

# peers_are N: check whether this device has the folders of N peers.
peers_are() {
	local found=("$shown/peers"/*)
	((${#found[@]} == $1))
}

# Read all files in sysfs without a pause.
readers() {
	while :; do cat "$sys"/class/infiniband/*/ntr/{,peers/*/}* >/dev/null 2>&1; done
}

# peer_is STATE: check whether the link of this node to the other node has this state.
peer_is() {
	[[ $(<"$files/$RDMADEV/status") == *"peer $((2 - NODE)): $1,"* ]]
}

# Add the device of this node. The first device is member 0.
add() {
	rdma link add "$RDMADEV" type ntr netdev "$NETDEV"
}

# is_refused ERRNO-TEXT DESCRIPTION COMMAND...: one case: COMMAND fails with this text.
is_refused() {
	local want=$1 what=$2 said
	shift 2
	said=$("$@" 2>&1) && said="success"
	[[ $said == *"$want"* ]]
	ok $? "$what is refused: $want (${said//$'\n'/; })"
}

# Only one node does this, because the nodes share the module.
parameters() {
	local i said
	for said in "beat_ms=9" "dead_ms=99" "ring_kb=24" "lanes=9" "idle_us=1" "storm_bells=9" "spin_us=51" "max_wr=511" "max_sge=1" "max_inline=257" \
		"max_reads=0" "max_pages=513" "page_sizes=4097" "order=upward" "late_us=1000001"; do
		is_refused "Invalid" "$said" insmod /modules/ntrdma.ko "$said"
		dmesg_node | grep "ntrdma: ${said%=*} must be" >/dev/null
		ok $? "the log names the range of ${said%=*}"
	done
	insmod /modules/ntrdma.ko "dead_ms=$dead_ms"
	ok $? "ntrdma is loaded again"
}

interfaces() {
	local i held said
	is_refused "Invalid argument" "the loopback interface" rdma link add bad type ntr netdev lo
	is_refused "exists" "a second device of an interface" rdma link add bad type ntr netdev "$NETDEV"
	for i in {2..15}; do
		ip link add "v$i" type veth peer name "w$i"
		rdma link add "full$i" type ntr netdev "v$i" || break
	done
	ok $? "14 more devices are created"
	readers &
	within 5 peers_are 15
	ok $? "each peer has a folder in sysfs"
	exec {held}<"$shown/peers/9/state"
	is_refused "No space" "the 17th member" rdma link add bad type ntr netdev w2
	for i in {2..15}; do ip link del "v$i"; done
	within 10 only_two
	ok $? "the devices end with their interfaces"
	within 5 peers_are 1
	ok $? "the folders of peers in sysfs end with them"
	! read -r said <&"$held" 2>/dev/null
	ok $? "an open file of a removed peer cannot be read"
	exec {held}<&-
	kill $!
	wait $! 2>/dev/null
}

only_two() {
	local found=("$files"/*)
	((${#found[@]} == 2))
}

# connected DESCRIPTION: two cases: a connection is made, and carries a message each way.
connected() {
	if ((NODE == 1)); then
		kt accept a l 20000
		kt_is 0 "accepted, $1"
		expect 64 receive a 64 10000
		expect 0 send a 64
	else
		kt connect c "$server" 7000
		kt_is 0 "connected, $1"
		expect 0 send c 64
		expect 64 receive c 64 10000
	fi
}

disconnected() {
	local end=c
	((NODE == 2)) || end=a
	kt until $end CLOSED $((2 * dead_ms))
	kt_is 0 "the connection ends: $1"
	kt_within 0 "$2" "the connection ends in time: $1"
	kt release $end
}

# The files in sysfs, while the link is up.
files() {
	file_is "$shown/backend" local "one kernel"
	file_is "$shown/member" $((NODE - 1)) "this member"
	file_is "$shown/members" 16 "one kernel"
	file_is "$shown/coherent" 1 "one kernel"
	peers_are 1
	ok $? "sysfs has a folder for the other member, and none for this one"
	file_is "$peer/state" up "the peer"
	file_is "$peer/name" "$(uname -n)" "the peer is in the same kernel"
	file_is "$peer/reason" none "the link is up"
	(($(<"$peer/sessions") > 0))
	ok $? "sessions are counted: $(<"$peer/sessions")"
	[[ -e /sys/class/infiniband/$RDMADEV && ! -e /sys/class/infiniband/$RDMADEV/ntr ]]
	ok $? "another namespace sees the device without its fabric"
}

# exchange COUNT: exchange COUNT messages of 8 bytes between the nodes.
exchange() {
	local i
	for ((i = 0; i < $1; i++)); do
		if ((NODE == 1)); then
			kt receive a 8 10000 && kt send a 8 || return
		else
			kt send c 8 && kt receive c 8 10000 || return
		fi
	done
}

# spun: print the number of times that a lane of one of the devices waited for further frames.
spun() {
	local sum=0 i words
	for i in 1 2; do
		words=$(rdma statistic show link "${RDMADEV%"$NODE"}$i/1")
		words=${words#* spins }
		sum=$((sum + ${words%% *}))
	done
	echo $sum
}

# The parameter spin_us. The nodes share it. With one processor, it has no effect.
spins() {
	local file=/sys/module/ntrdma/parameters/spin_us before said i
	connected "before lanes wait for frames"
	exchange 20
	ok $? "messages pass while lanes do not wait for frames"
	barrier exchanged
	[[ $(<$file) == 0 && $(spun) == 0 ]]
	ok $? "lanes do not wait for frames by default: $(spun)"
	barrier counted
	on 1 is_refused "Invalid" "spin_us=51" bash -c "echo 51 >$file"
	((NODE == 2)) || echo 50 >$file
	barrier spinning
	[[ $(<$file) == 50 ]]
	ok $? "spin_us has changed: $(<$file)"
	exchange 20
	ok $? "messages pass while lanes wait for frames"
	if ((NODE == 1)); then kt release a; else kt release c; fi
	barrier released
	before=$(spun)
	if (($(nproc) > 1)); then
		((before > 0))
		ok $? "lanes wait for frames: $before times"
	else
		((before == 0))
		ok $? "lanes do not wait for frames on one processor: $before times"
	fi
	# Each end of an interruption schedules all lanes.
	for i in {1..50}; do
		network loss 100%
		network
	done
	said=$(spun)
	((said - before < 20))
	ok $? "lanes without frames do not wait: $((said - before)) times in 100 interruptions"
	barrier spun
}

# Cut node 2 off for less than dead_ms. The connection lives.
short_cut() {
	connected "before a short interruption"
	barrier short
	if ((NODE == 2)); then
		network loss 100%
		kt_start late send c 64
		# Messages of the CM are dropped, and do not wait for the end of the interruption or of the session.
		kt connect d "$server" 7000 connect_ms=300
		kt_is ETIMEDOUT "a connect during an interruption times out"
		kt_within 300 1000 "a connect during an interruption times out in time"
		kt release d
		kt_within 0 500 "a connection that has timed out is released"
		network
		kt_result late 10
		kt_is 0 "a message that is sent during a short interruption arrives"
		kt release c
	else
		expect 64 receive a 64 10000
		kt release a
	fi
	barrier shorter
}

# A connection is idle for longer than the time after which a message without an answer ends it. Then node 2 registers
# memory and writes, while node 1 is cut off for a moment.
after_idle() {
	local fd status text command="serve 7010"
	exec {fd}<>/proc/nverbs
	((NODE == 1)) || command="run $server 7010 idle"
	# Another task writes the command, because it waits until the group has ended.
	echo "$command" >&"$fd" &
	sleep $((2 * dead_ms / 1000 + 1))
	on 1 network loss 100%
	barrier idle
	if ((NODE == 2)); then
		echo go >/proc/nverbs
	else
		sleep 0.7
		network
	fi
	check "the group idle ends" wait $!
	while read -r status text; do ok "$status" "$text"; done <&"$fd"
	exec {fd}>&-
	barrier idled
}

# shows PATTERN FILE: one case: a line of FILE matches PATTERN.
shows() {
	grep -qE "$1" "$2"
	ok $? "${2##*/}: $1"
}

# Node 2 traces a connection, because the trace buffer belongs to both nodes, and looks at its QP, CQ and regions.
observed() {
	local tracing=/sys/kernel/tracing dev what
	mountpoint -q $tracing || mount -t tracefs none $tracing 2>/dev/null
	((NODE == 1)) || { echo 1 >$tracing/events/ntrdma/enable; } 2>/dev/null
	barrier tracing
	connected "while it is traced"
	if ((NODE == 1)); then
		barrier seen-qps
		kt release a
		barrier traced
		return
	fi
	expect 0 expose c 0 65536
	dev=$(rdma dev show "$RDMADEV")
	dev=${dev%%:*}
	for what in qp cq mr; do rdma -dd resource show $what >"$results/$what"; done
	shows "link $RDMADEV/1 .* type RC .* drv_peer 0 drv_link up drv_lane [0-9]+ drv_sq_waiting 0 drv_sq_in_flight [0-9]+ drv_send_msn [1-9]" "$results/qp"
	shows "drv_expected_msn [0-9]+" "$results/qp"
	shows "dev $RDMADEV .* drv_used 0" "$results/cq"
	shows "dev $RDMADEV .* drv_state (in)?valid" "$results/mr"
	barrier seen-qps
	kt release c
	barrier traced
	if [[ ! -d $tracing/events/ntrdma ]]; then
		skip "trace events" "no FTRACE"
		return
	fi
	echo 0 >$tracing/events/ntrdma/enable
	cat $tracing/trace >"$results/trace"
	shows "ntrdma_qp_state: dev=$dev qp=[0-9]+ INIT > RTR" "$results/trace"
	shows "ntrdma_frame_sent: dev=$dev peer=0 lane=[0-9]+ send .* bytes=[1-9]" "$results/trace"
	shows "ntrdma_frame_taken: dev=$dev peer=0 lane=[0-9]+ ack " "$results/trace"
	shows "ntrdma_frame_taken: dev=$dev peer=0 lane=[0-9]+ ud " "$results/trace"
}

# Cut node 2 off for longer than dead_ms.
long_cut() {
	local silent sessions
	silent=$(device_counter silent)
	sessions=$(<"$peer/sessions")
	connected "before a long interruption"
	barrier long
	on 2 network loss 100%
	disconnected "long interruption" $((dead_ms + 1000))
	within 5 lost
	ok $? "the link is not up during the interruption"
	(($(device_counter silent) > silent))
	ok $? "the end is counted: $(device_counter silent)"
	[[ $(<"$peer/state") != up ]]
	ok $? "sysfs shows that the link is not up: $(<"$peer/state")"
	file_is "$peer/reason" silent "long interruption"
	barrier longer
	on 2 network
	within 2 peer_is up
	ok $? "the link is up after the interruption"
	file_is "$peer/reason" none "after the interruption"
	file_is "$peer/sessions" $((sessions + 1)) "after the interruption"
	barrier again
}

lost() { ! peer_is up; }

# While node 2 is cut off for a moment, node 1 ends the session and begins the next one. The rings of node 2 then have the
# indexes of the next session, which are no fault of node 1.
begun_again() {
	connected "before the peer begins another session"
	barrier before
	on 2 network loss 100%
	barrier away
	if ((NODE == 1)); then
		ip link set "$NETDEV" down
		ip link set "$NETDEV" up
		ip addr add "$(addr6 1)/64" dev "$NETDEV" nodad
		sleep 0.3
	fi
	barrier begun
	on 2 network
	disconnected "other session" 2000
	within 2 peer_is up
	ok $? "the link is up after the peer has begun another session"
	[[ $(device_counter bad_index) == 0 ]]
	ok $? "the indexes of the next session are not invalid: $(device_counter bad_index)"
	barrier after
}

down() {
	connected "before an interface goes down"
	barrier up
	on 2 ip link set "$NETDEV" down
	disconnected "interface down" 1000
	if ((NODE == 1)); then
		within 2 lost
		ok $? "the link is not up while an interface is down"
		file_is "$peer/reason" left "the peer has left"
		barrier seen
		(($(device_counter left) > 0))
		ok $? "the peer has left: $(device_counter left)"
	else
		file_is "$peer/state" off "interface down"
		file_is "$peer/reason" down "interface down"
		[[ $(<"/sys/class/infiniband/$RDMADEV/ports/1/state") == *DOWN* ]]
		ok $? "the port is down"
		barrier seen
		ip link set "$NETDEV" address 02:00:00:00:56:02
		ip link set "$NETDEV" up
		ip addr add "$(addr6 2)/64" dev "$NETDEV" nodad 2>/dev/null
	fi
	barrier renamed
	within 2 peer_is up
	ok $? "the link is up after the interface"
	[[ $NODE == 2 || $(<"$files/$RDMADEV/status") == *02:00:00:00:56:02* ]]
	ok $? "the link has the new address of the interface"
	barrier upped
	on 1 ip neigh flush dev "$NETDEV"
	connected "with another address"
	if ((NODE == 2)); then kt release c; else kt release a; fi
}

# Unload the module under load.
unload() {
	local start held said
	if ((NODE == 1)); then
		kt accept a l 20000
		kt_start sink take a 1000000 64
	else
		kt connect c "$server" 7000
		kt_start source async c send virt 1000000 64 chain=10
		sleep 0.5
		exec {held}<"$peer/reason"
		readers &
		start=$SECONDS
		rmmod ntrdma
		ok $? "ntrdma is unloaded under load, while files in sysfs are read"
		kill $!
		! read -r said <&"$held" 2>/dev/null
		ok $? "an open file of a removed device cannot be read"
		exec {held}<&-
		((SECONDS - start <= 5 * slow))
		ok $? "ntrdma is unloaded in time: $((SECONDS - start)) s"
	fi
	if ((NODE == 1)); then
		kt_result sink 30
		kt release a
		expect 0 release l
	else
		kt_result source 30
		kt release c
	fi
	ok 0 "calls end when ntrdma is unloaded: $kt_ret"
	barrier unloaded
	on 2 parameters
	barrier loaded
	on 1 add
	barrier first
	on 2 add
	within 10 peer_is up
	ok $? "the link is up after ntrdma is loaded again"
	until gids_ready "$NODE" 2>/dev/null; do sleep 0.1; done
	on 1 expect 0 listen l 0.0.0.0 7000
	barrier added
}

barrier begun
on 1 expect 0 listen l 0.0.0.0 7000
barrier listening
unload
on 2 interfaces
barrier interfaces
files
spins
observed
short_cut
after_idle
long_cut
begun_again
down
for name in bad_seal bad_index bad_frame late_wakeups; do
	check "$name is 0" test "$(device_counter $name)" = 0
done
on 1 expect 0 release l
barrier ended
finish
