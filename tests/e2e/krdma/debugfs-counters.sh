#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# debugfs-counters: debugfs has exact numbers after known traffic. Reading all files is safe while connections are
# established, released and killed.
#
#   node 1 (echoes on 7000, exports 64 KiB on 7001, never receives on 7002) <--- krdma ---> node 2 (posts, checks)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-new
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
files=/sys/kernel/debug/krdma
latency=/sys/module/krdma/parameters/latency
mount_debugfs
declare -A was

note() {
	local name value
	while read -r name value; do was[$name]=$value; done < <(cat $files/counters)
}

# grew NAME=N...: one case for each: the counter NAME has grown by N since the last call of note.
grew() {
	local wanted name value
	for wanted in "$@"; do
		name=${wanted%=*}
		value=$(($(counter "$name") - ${was[$name]}))
		((value == ${wanted#*=}))
		ok $? "counter $name grows by ${wanted#*=}: $value"
	done
}

# above NAME [THAN]: one case: the counter NAME is greater than THAN. The default of THAN is 0.
above() {
	local value
	value=$(counter "$1")
	((value > ${2:-0}))
	ok $? "counter $1 is above ${2:-0}: $value"
}

# connection PORT FIELD: print a field of the line of the connection to the peer's PORT.
connection() {
	awk -v peer="$server:$1" -v field="$2" \
		'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["peer"] == peer { print $at[field] }' $files/connections
}

# connection_is PORT FIELD=VALUE...: one case for each: the line of the connection to PORT has this value in FIELD.
connection_is() {
	local port=$1 wanted value
	shift
	for wanted in "$@"; do
		value=$(connection "$port" "${wanted%%=*}")
		[[ $value == "${wanted#*=}" ]]
		ok $? "the connection to $port has $wanted: $value"
	done
}

one_sided() {
	note
	kt connect w "$server" 7001 rw=1 max_msg=65536
	kt_is 0 "connected with an exported buffer"
	grew connected=1 posted.register=2 completed.register=2 regions_registered=2
	connection_is 7001 role=client "device=$RDMADEV" state=ESTABLISHED error=0 in_flight=0 pending=0
	id=$(connection 7001 id)
	(($(grep -c "^$id .* live$" $files/regions) == 2))
	ok $? "debugfs has two live regions of the connection"
	note
	expect 0 async w write virt 40 64 chain=10
	expect 0 write w 5000 0
	expect 0 async w write virt 5 4096
	grew posted.write=46 completed.write=46 failed.write=0 bytes.write=28040
	note
	expect 0 async w write virt 10 4096
	expect 0 async w read region 10 4096 chain=3
	grew posted.read=10 completed.read=10 bytes.read=40960 regions_registered=1 regions_revoked=0
	(($(grep -c "^$id " $files/regions) == 2))
	ok $? "debugfs does not have a region that was put"
	if [[ $LINK != siw ]]; then
		expect 0 zero w 0
		expect 0 async w fetch_add virt 7 8
		grew posted.fetch_add=7 completed.fetch_add=7 bytes.fetch_add=56
	fi
}

latencies() {
	! grep -q : $files/latency
	ok $? "no latency is measured unless the parameter is set"
	echo 1 >$latency
	expect 0 async w write virt 50 64
	echo 0 >$latency
	expect 0 async w write virt 50 64
	value=$(awk -v id="$id" '$1 == id { for (i = 2; i <= NF; i++) { split($i, a, ":"); n += a[2] } print n }' \
		$files/latency)
	[[ $value == 50 ]]
	ok $? "the latency of 50 requests is measured: $value"
}

messages() {
	note
	kt connect m "$server" 7000
	kt_is 0 "connected for messages"
	kt_start sink take m 10 100
	expect 0 async m send virt 10 100
	kt_result sink 20
	kt_is 0 "10 messages are echoed"
	grew messages_sent=10 messages_received=10 bytes.send=1000 bytes_received=1000 posted.send=10 completed.send=10
	note
	expect 0 send m 10000
	expect 10000 receive m 10000
	# 10000 bytes need three buffers of 4096 bytes, each with a header of 16 bytes.
	grew messages_sent=1 messages_received=1 bytes.send=10000 bytes_received=10000 posted.send=3 credit_stalls=0
	expect 0 release m
	grew ended.cancelled=1 connected=0
	above wc.wr_flush_err
}

# Send to a peer that does not receive. The sender runs out of credits, and the peer still answers keepalive probes.
stalls() {
	local i
	note
	kt connect h "$server" 7002 keepalive_ms=200
	kt_is 0 "connected to a peer that never receives"
	for i in {1..40}; do kt send h 64 500 || break; done
	kt_is ETIMEDOUT "a message without a credit times out: message $i"
	grew credit_stalls=1 messages_sent=$((i - 1)) connected=1
	connection_is 7002 state=ESTABLISHED credits=1/0
	sleep 1
	above pings "${was[pings]}"
	grew alive_misses=0
	expect 0 release h
}

refusals() {
	note
	expect ECONNREFUSED connect r "$server" 7999
	grew connect_failed.refused=1 connected=0
	expect ECONNREFUSED connect r "$server" 7000 raw=1
	grew connect_failed.refused=2
	kt release r
}

# traced PATTERN: one case: a line of the trace matches PATTERN.
traced() {
	grep -q "$1" "$results/trace"
	ok $? "the trace has: $1"
}

traces() {
	local tracing=/sys/kernel/tracing
	mountpoint -q $tracing || mount -t tracefs none $tracing 2>/dev/null
	if [[ ! -d $tracing/events/krdma ]]; then
		skip "trace events" "no FTRACE"
		return
	fi
	echo 1 >$tracing/events/krdma/enable
	kt connect t "$server" 7001 rw=1 max_msg=65536
	kt_is 0 "connected for traces"
	id=$(connection 7001 id)
	expect 0 async t write virt 1 100
	expect 0 release t
	# Trace a write that notifies the peer, and a message that invalidates a key of the peer.
	kt connect told "$server" 7003
	kt_is 0 "connected to a server by callbacks"
	expect 0 async told write_imm virt 1 100
	expect 0 ask told back
	expect 0 release told
	echo 0 >$tracing/events/krdma/enable
	cat $tracing/trace >"$results/trace"
	traced "krdma_state: conn=$id client CONNECTING > ESTABLISHED error=0"
	traced "krdma_state: conn=$id client ESTABLISHED > CLOSING error=-108"
	traced "krdma_cm_event: conn=$id ROUTE_RESOLVED status=0"
	traced "krdma_post: conn=$id write len=100 slots=1 status=0"
	traced "krdma_complete: conn=$id write len=100 slots=1 status=0"
	traced "krdma_post: conn=[0-9]* write_imm len=100 "
	traced "krdma_complete: conn=[0-9]* send_inv len="
	traced "krdma_wc_failed: conn=$id WR_FLUSH_ERR"
	traced "krdma_credit_sent: conn=$id granted=0 owed=0 avail="
	traced "krdma_region_register: conn=$id size=65536 mrs=1 "
	traced "krdma_region_unregister: conn=$id size=65536 mrs=1 "
}

# Kill tasks that connect, each after a random time.
killed_connects() {
	local i
	if [[ $LINK == siw ]]; then
		skip "connects that are killed" "siw"
		return
	fi
	for i in {1..30}; do
		kt_start c connect c "$server" $((7000 + i % 2)) rw=$((i % 2)) max_msg=65536
		random 30000
		sleep "$(printf '0.%06d' "$random")"
		kill -KILL "$kt_pid"
		wait "$kt_pid"
		kt release c
	done 2>/dev/null
}

readers() {
	local reader name all=()
	for name in connections counters conn_counters latency regions; do all+=("$files/$name"); done
	read_until "$results/read" "${all[@]}" &
	reader=$!
	kt rounds rounds "$server" 7000 20
	kt_is 0 "20 connections work while all files are read"
	killed_connects
	touch "$results/read"
	wait "$reader"
	[[ ! -s $results/read.unreadable && $(<"$results/read.rounds") != 0 ]]
	ok $? "all files can be read while connections are established and killed"
}

if ((NODE == 1)); then
	expect 0 listen l 0.0.0.0 7000
	expect 0 listen rw 0.0.0.0 7001 rw=1 max_msg=65536
	expect 0 listen deaf 0.0.0.0 7002 recv_depth=16
	kt kthread serve serve l
	kt kthread hold hold rw
	kt kthread deaf hold deaf
	note
	barrier listening
	barrier refused
	grew accepted=3 requests_refused=1 protocol_error.hello=1 protocol_error.header=0 ended.reset=3
	above pongs
	barrier counted
	expect 0 tell 0.0.0.0 7003
	barrier told
	barrier posted
	for job in serve hold deaf; do
		kt stop $job
		kt_is EINTR "$job: $kt_text"
	done
	for slot in l rw deaf; do expect 0 release $slot; done
	expect 0 tell end
else
	barrier listening
	logged=$(dmesg_node | grep -c krdma)
	seed "${1:-$((10#$(date +%N) % 32768))}"
	one_sided
	latencies
	messages
	stalls
	expect 0 release w
	(($(wc -l <$files/regions) == 1))
	ok $? "debugfs has no regions of released connections"
	(($(dmesg_node | grep -c krdma) == logged))
	ok $? "the log has no lines on regular connections"
	refusals
	barrier refused
	barrier counted
	barrier told
	traces
	readers
	barrier posted
	echo "# $(grep -v ' 0$' $files/counters | tr '\n' ' ')"
fi
(($(wc -l <$files/connections) == 1))
ok $? "no connection is left: $(tail -n +2 $files/connections)"
same_resources "$before" "resources are as before"
finish
