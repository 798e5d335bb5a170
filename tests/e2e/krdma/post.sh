#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# post: many concurrent requests by krdma_post(), with every operation and every kind of memory, single and in chains.
# Each request completes once, in order, and with its data. If the connection ends while requests are in flight, each of
# them completes once.
#
#   node 1 (echoes on 7000, exports 4 MiB on 7001, receives late on 7002) <--- krdma ---> node 2 (posts)
#
# kernels: uml
# long: uml/siw stock-6.1 uml-debug stock-new stock-6.12 debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
barrier begun
server=$(addr4 1)
mount_debugfs
size=$((4 * 1024 * 1024))
memories="virt pages sg region"
# Kinds of memory for READs. iWARP can read into regions only.
reads=$memories
[[ $LINK != siw ]] || reads=region
# Properties of the device that krdma_query() must return.
device_says=(transport=roce mr=512/2097152 imm=1 inv=1/0 sink=0 atomics=1/0 inline=220)
reads_sges=6
# siw uses the number of READs that the peer serves, even if the connection requested a smaller number
# (relaxed_ird_negotiation).
reads_q=4/2
if [[ $LINK == siw ]]; then
	device_says=(transport=iwarp mr=256/1048576 imm=0 inv=1/1 sink=1 atomics=0/0 inline=80)
	reads_sges=1
	reads_q=16/2
fi

# posts ERRNO WHAT...: one case: "async w WHAT" returns ERRNO.
posts() {
	local wanted=$1
	shift
	kt async w "$@"
	kt_is "$wanted" "async $* returns $wanted ($kt_text)"
}

transfers() {
	local mem len
	for mem in $memories; do
		for len in 1 8 221 4096 65536 100000; do
			posts 0 write "$mem" 40 "$len" chain=7
		done
	done
	for mem in $reads; do
		for len in 1 8 221 4096 65536 100000; do
			kt async w write virt 40 "$len" chain=40
			posts 0 read "$mem" 40 "$len" chain=5
		done
	done
	posts 0 write virt 2000 64
	posts 0 write virt 2000 64 chain=2000
	posts 0 read region 1000 64 chain=100
}

# Check that no request completes too early. The test overwrites the memory of a request when the request completes. If
# this is too early, a part of the memory is not sent yet, because the link is slow, and the peer gets wrong data.
overwritten() {
	local mem
	for mem in $memories; do
		# Write other data first, so that the READs below do not find the data of an earlier round.
		posts 0 write virt 6 100000 chain=6
		network rate $((12 / slow))mbit
		ok $? "$mem: the link is slow"
		posts 0 write "$mem" 12 20000 chain=12
		posts 0 write "$mem" 3 100000 chain=3 offset=240000
		network
		posts 0 read region 12 20000
		posts 0 read region 3 100000 offset=240000
	done
}

atomics() {
	if [[ $LINK == siw ]]; then
		posts EOPNOTSUPP fetch_add virt 1 8
		return
	fi
	local op
	for op in fetch_add cmp_swap; do
		expect 0 zero w 4096
		posts 0 "$op" virt 100 8 offset=4096
		expect 0 zero w 4096
		posts 0 "$op" region 100 8 offset=4096 chain=100
	done
	posts EINVAL fetch_add virt 1 8 offset=4100
	posts EINVAL fetch_add virt 1 4 offset=4096
}

refusals() {
	posts EMSGSIZE write virt 1 4096 offset=$((size - 4095))
	posts EMSGSIZE read region 1 1 offset="$size"
	posts EMSGSIZE write virt 1 1 offset=4294967295
	posts EINVAL write virt 1 0
	posts EMSGSIZE send region 1 $((size + 1))
	[[ $LINK != siw ]] || posts EOPNOTSUPP read virt 1 8
	posts 0 write virt 1 4096 offset=$((size - 4096))
}

# query_says NAME=VALUE...: one case for each: the last query returned NAME=VALUE.
query_says() {
	local wanted words
	read -ra words <<<"$kt_text"
	for wanted in "$@"; do
		is_one_of "$wanted" "${words[@]}"
		ok $? "query says $wanted"
	done
}

# Check that krdma_query() returns the properties of the device, and the limits of the connection. Each limit is the
# smaller one of the offers of both sides.
queries() {
	expect EINVAL query w size=8
	# Pass the size of a later version of the struct, which has unknown members at its end.
	expect 0 query w size=1024
	expect 0 query w
	echo "# $kt_text"
	query_says "device=$RDMADEV" part=4080 send="$size" receive="$size" sges=6/$reads_sges depth=64/64 reads=16/16 virt=1 \
		relaxed=0 alive=1 version=1 features=0x17 takes=0/1 "${device_says[@]}"
	kt connect q "$server" 7000 send_depth=16 recv_depth=32 buf_size=1024 max_msg=10000 depth=4 resources=2 \
		keepalive_ms=4294967295
	kt_is 0 "connected with parameters other than the defaults"
	expect 0 query q
	query_says part=1008 receive=10000 depth=16/32 "reads=$reads_q" alive=0
	# A software device belongs to no NUMA node.
	query_says node=-1
	kt connect n "$server" 7001 rw=1 max_msg=4096 numa_node=1 comp_vector=2
	kt_is 0 "connected with memory of the first node"
	expect 0 query n
	# comp_vector counts from 1, and krdma uses it modulo the number of completion vectors.
	[[ $kt_text =~ vectors=([0-9]+) ]]
	query_says node=0 "vector=$((1 % BASH_REMATCH[1] + 1))"
	kt release n
	kt connect n "$server" 7001 rw=1 max_msg=4096 numa_node=$((0xffffffff))
	kt_is 0 "connected with memory of any node"
	expect 0 query n
	query_says node=-1
	kt release n
	kt connect n "$server" 7001 rw=1 numa_node=1000000
	kt_is EINVAL "connecting with memory of a node that does not exist is refused"
	kt disconnect q
	# Wait until the QP is destroyed. Before that, the query still succeeds.
	kt until q CLOSED 10000
	expect ESHUTDOWN query q
	kt release q
}

# With a queue of four slots, KRDMA_NOWAIT requests are refused and other requests wait until there is room.
full_queue() {
	kt connect s "$server" 7001 rw=1 max_msg=4096 send_depth=4
	kt_is 0 "connected with four slots"
	kt async s write virt 64 64 chain=5 nowait=1
	kt_is E2BIG "a chain longer than the queue is refused with E2BIG ($kt_text)"
	kt async s write virt 2000 4096 chain=4 nowait=1
	kt_is EAGAIN "a chain that finds no room is refused with EAGAIN ($kt_text)"
	kt async s write virt 500 4096 chain=50
	kt_is 0 "chains that may wait for room complete ($kt_text)"
	kt release s
}

# A request that finds the queue full is refused. The write-space callback, instead of the task, posts it again, until
# all requests have completed.
write_space() {
	kt connect s "$server" 7001 rw=1 max_msg=4096 send_depth=4 space=1
	kt_is 0 "connected with four slots and a callback"
	kt async s write virt 1000 64 nowait=1 refill=1
	kt_is 0 "refused single writes are posted by the callback and complete ($kt_text)"
	kt async s write virt 999 4096 chain=3 nowait=1 refill=1
	kt_is 0 "refused chains of writes are posted by the callback and complete ($kt_text)"
	[[ $kt_text == "posted=999 good=999 spaces="[1-9]* ]]
	ok $? "the write-space callback was called ($kt_text)"
	kt release s
	kt connect s "$server" 7000 space=1
	kt_is 0 "connected for messages, with a callback"
	kt_start sink take s 300 100
	kt async s send virt 300 100 nowait=1 refill=1
	kt_is 0 "messages that lacked a credit are posted by the callback and complete ($kt_text)"
	kt_result sink 60
	kt_is 0 "the messages posted by the callback are echoed ($kt_text)"
	kt release s
	kt connect s "$server" 7001 rw=1 max_msg=4096 send_depth=16 space=1
	kt_is 0 "connected with 16 slots and a callback"
	kt async s write virt 6000 64 chain=50 refill=1
	kt_is 0 "requests that found the queue full are posted by the callback and complete ($kt_text)"
	kt release s
}

counted() { awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/krdma/counters; }

# Check that krdma posts a long chain in parts, because posting disables interrupts.
in_one_go() {
	local pauses
	kt connect s "$server" 7001 rw=1 max_msg=4096 send_depth=1024
	kt_is 0 "connected with 1024 slots"
	pauses=$(counted post_pauses)
	kt async s write virt 1000 64 chain=1000
	kt_is 0 "a chain of 1000 requests completes ($kt_text)"
	(($(counted post_pauses) > pauses))
	ok $? "a chain of 1000 requests is posted in parts: $(($(counted post_pauses) - pauses)) pauses"
	kt release s
}

# Check that krdma uses no expedited grace periods. An expedited grace period for each peer that connects and
# disconnects would interrupt all processors of this host.
no_interrupts() {
	! grep -qa rcu_expedited /modules/krdma.ko
	ok $? "krdma asks for no expedited grace period"
}

# Echoes come back in order, although the peer has fewer credits than there are messages.
messages() {
	local i
	kt connect m "$server" 7000 recv_depth=64
	kt_is 0 "connected for messages"
	kt_start sink take m 60 0
	kt async m send none 60 0 chain=13
	kt_is 0 "60 messages of 0 bytes are sent ($kt_text)"
	kt_result sink 30
	kt_is 0 "60 messages of 0 bytes are echoed ($kt_text)"
	for i in 1 64 204 205 4080; do
		kt_start sink take m 60 "$i"
		kt async m send virt 60 "$i" chain=13
		kt_is 0 "60 messages of $i bytes are sent ($kt_text)"
		kt_result sink 30
		kt_is 0 "60 messages of $i bytes are echoed ($kt_text)"
	done
	for i in pages sg region; do
		kt_start sink take m 30 3000
		kt async m send "$i" 30 3000 chain=30
		kt_is 0 "30 messages out of $i are sent ($kt_text)"
		kt_result sink 30
		kt_is 0 "30 messages out of $i are echoed ($kt_text)"
	done
	two_mrs
	kt release m
}

# Messages that are longer than a receive buffer are sent in parts. The parts of a message stay together, in order, while
# blocking calls send messages, some of which the peer reads (from 65536 bytes on). The peer has fewer receives than a
# message has parts.
long_messages() {
	local len mem
	kt connect m "$server" 7000 recv_depth=64
	kt_is 0 "connected for long messages"
	for len in 4081 8160 20001 100000; do
		for mem in $memories; do
			kt_start sink take m 20 "$len"
			kt async m send "$mem" 20 "$len" chain=7
			kt_is 0 "20 messages of $len bytes out of $mem are sent ($kt_text)"
			kt_result sink 60
			kt_is 0 "20 messages of $len bytes out of $mem are echoed ($kt_text)"
		done
	done
	for len in 50000 100000; do
		kt_start sink take m 26 "$len"
		kt_start posting async m send virt 20 "$len" chain=5
		for _ in {1..6}; do expect 0 send m "$len"; done
		kt_result posting 60
		kt_is 0 "messages of $len bytes are posted beside blocking calls ($kt_text)"
		kt_result sink 60
		kt_is 0 "posted messages and those of blocking calls, of $len bytes each, are echoed ($kt_text)"
	done
	# With this delay the messages take longer than it takes to see them in flight.
	network delay 100ms
	kt_start sink take m 20 50000
	kt_start posting async m send virt 20 50000 chain=20
	long_in_flight
	ok $? "long messages are in flight"
	kt close m 1 60000
	network
	kt_is 0 "close succeeds with long messages in flight"
	kt_result posting 60
	kt_is 0 "close waits for the last part of each message ($kt_text)"
	kt_result sink 60
	kt release m
	kt connect m "$server" 7000 recv_depth=64 space=1
	kt_is 0 "connected for long messages that do not wait"
	kt_start sink take m 60 20000
	kt async m send virt 60 20000 nowait=1 refill=1
	kt_is 0 "refused long messages are posted by the callback and complete ($kt_text)"
	kt_result sink 60
	kt_is 0 "long messages that were posted by the callback are echoed ($kt_text)"
	kt release m
}

# Send messages from a region that has more than one MR. One of the messages is in two MRs; siw cannot send such a
# message.
two_mrs() {
	if [[ $LINK == siw ]]; then
		kt async m send region 750 3000 chain=750
		kt_is E2BIG "a chain with a message in two MRs is refused ($kt_text)"
		return
	fi
	kt_start sink take m 750 3000
	kt async m send region 750 3000 chain=50
	kt_is 0 "750 messages, one of them in two MRs, are sent ($kt_text)"
	kt_result sink 60
	kt_is 0 "750 messages, one of them in two MRs, are echoed ($kt_text)"
}

stalled() { awk '$1 == "credit_stalls" { print $2 }' /sys/kernel/debug/krdma/counters; }

# in_order N: a blocking send, a blocking write of N bytes and a blocking read do not overtake earlier messages that
# wait for a credit.
in_order() {
	local stalls end=$((SECONDS + 20 * slow))
	if ((NODE == 1)); then
		kt accept a o 20000
		kt_is 0 "accepted for requests in order"
		barrier "queued$1"
		kt exported a 64 4096
		kt_is EBADMSG "a write of $1 bytes does not overtake queued messages"
		kt take a 60 100
		kt_is 0 "the 60 messages that were posted first arrive first"
		kt receive a 1000 20000
		kt_is 200 "a message of a blocking send arrives behind queued messages"
		barrier "written$1"
		expect 0 exported a "$1" 4096
		expect 0 release a
	else
		kt connect o "$server" 7002 rw=1
		kt_is 0 "connected for requests in order"
		stalls=$(stalled)
		kt_start posted async o send virt 60 100
		until (($(stalled) > stalls)) || ((SECONDS > end)); do sleep 0.1; done
		kt_start sent send o 200
		kt_start written write o "$1" 4096 $((30000 * slow))
		expect ETIMEDOUT read o 64 8192 300
		barrier "queued$1"
		for job in posted sent written; do
			kt_result $job 40
			kt_is 0 "requests in order, write of $1 bytes: $job ($kt_text)"
		done
		barrier "written$1"
		kt release o
	fi
}

# siw completes sends before earlier READs that are in flight, unless krdma prevents it.
reads_among_messages() {
	local i
	kt connect x "$server" 7001 rw=1 max_msg="$size"
	kt_is 0 "connected for reads among messages"
	kt async x write virt 40 100000 chain=40
	for i in 1 2 3; do
		kt_start reads async x read region 40 100000 chain=10
		sleep 0.02
		# The peer does not receive these messages, so the test must not send more of them than the peer has
		# receives.
		kt async x send virt 16 64
		kt_is 0 "$i: messages complete while READs are in flight ($kt_text)"
		kt_result reads 60
		kt_is 0 "$i: READs before messages return the written data ($kt_text)"
	done
	kt release x
}

# both_read OPTIONS: both ends post READs, and requests behind these READs, at the same time. siw processes one work
# request at a time. While its own READ waits for a response, siw sends no responses to READs of the peer.
both_read() {
	local i side=x
	if ((NODE == 1)); then
		side=a
		kt accept a o 20000
	else
		# shellcheck disable=SC2086 # words of a command
		kt connect x "$server" 7002 rw=1 $1
	fi
	kt_is 0 "connected to read from both ends $1"
	kt async $side write virt 40 100000 chain=40
	kt_is 0 "4 MB that both ends read are written ($kt_text)"
	expect 0 write $side 60000 4000000
	kt async $side write virt 8 1000 offset=4180000
	kt_is 0 "8 kB that both ends read are written ($kt_text)"
	network delay 150ms
	for i in {1..3}; do
		barrier "both-wait$i"
		kt_start reads async $side read region 8 1000 chain=8 offset=4180000
		# After 50 ms both ends have posted their READs, and the delay of 150 ms still holds back the responses.
		sleep 0.05
		kt async $side write virt 10 64 offset=4100000
		kt_is 0 "$i: writes behind reads of both ($kt_text)"
		kt_result reads 60
		kt_is 0 "$i: reads before writes of both ($kt_text)"
	done
	network rate $((80 / slow))mbit
	for i in {1..4}; do
		barrier "both-read$i"
		# The next writes are posted while this READ is in flight.
		kt_start synchronous read $side 60000 4000000 $((30000 * slow))
		kt async $side write virt 200 64 chain=10 offset=4100000
		kt_is 0 "$i: writes while both read ($kt_text)"
		kt_start reads async $side read region 40 100000 chain=40
		kt async $side write virt 200 64 chain=10 offset=4100000
		kt_is 0 "$i: more writes while both read ($kt_text)"
		kt async $side read region 40 100000 chain=10
		kt_is 0 "$i: more reads while both read ($kt_text)"
		for job in reads synchronous; do
			kt_result $job 60
			kt_is 0 "$i: $job while both read ($kt_text)"
		done
	done
	network
	barrier both-have-read
	kt release $side
}

# in_flight: succeed if any connection has a request in its send queue.
in_flight() {
	awk 'NR > 1 { n += $(NF - 3) } END { exit !n }' /sys/kernel/debug/krdma/connections
}

# long_in_flight: succeed if parts of a message are in flight. On siw a part completes when TCP has taken it, so none may
# be seen.
long_in_flight() {
	[[ $LINK == siw ]] || within 10 in_flight
}

# fenced WHAT LEAST COMMAND...: post a READ that takes 400 ms, and then run COMMAND. Both together must take at least
# LEAST ms.
fenced() {
	local what=$1 least=$2 since ms tries missed=1
	shift 2
	# On a busy machine, the READ may have completed before this node looks. Then repeat it.
	for ((tries = 0; missed && tries < 10; tries++)); do
		((tries == 0)) || kt_result reading 30
		since=${EPOCHREALTIME/[.,]/}
		kt_start reading async x read region 1 1024 offset=8192
		! within 2 in_flight || missed=0
	done
	ok $missed "$what: the READ is in flight"
	kt "$@"
	ms=$(((${EPOCHREALTIME/[.,]/} - since) / 1000))
	kt_is 0 "$what behind a READ completes ($kt_text)"
	((ms >= least))
	ok $? "$what starts when the READ has completed: $ms ms, not less than $least"
	kt_result reading 30
	kt_is 0 "$what does not change the data of the READ before it ($kt_text)"
}

# Check KRDMA_FENCE: the peer changes its memory when it receives a message. A READ that was posted before the fenced
# message must return the old data.
fences() {
	local i least=790 lens=(64 64 4096 20000)
	# On siw a message completes when TCP has taken it, before the peer has received it. So the minimum time of the
	# fenced message is shorter.
	[[ $LINK != siw ]] || least=390
	if ((NODE == 1)); then
		kt accept a o 20000
		kt_is 0 "accepted for fences"
		barrier fences
		for i in {1..3}; do
			kt take a 1 "${lens[i]}"
			kt_is 0 "$i: the fenced message behind the READ arrives"
			expect 0 show a 4096 8192
			barrier "fence$i"
		done
		barrier fenced
		expect 0 release a
		return
	fi
	kt connect x "$server" 7002 rw=1
	kt_is 0 "connected for fences"
	barrier fences
	for i in {1..3}; do
		kt async x write virt 1 1024 offset=8192
		network delay 400ms
		fenced "$i: a message of ${lens[i]} bytes" $least async x send virt 1 "${lens[i]}" fence=1
		network
		barrier "fence$i"
	done
	kt async x write virt 1 1024 offset=8192
	kt async x write virt 4 64 offset=4096
	network delay 400ms
	fenced "a WRITE" $least async x write virt 1 64 fence=1 offset=16384
	fenced "a WRITE of several pieces" $least async x write pages 1 8000 fence=1 offset=16384
	fenced "a chain of READs" 1990 async x read region 4 64 chain=4 fence=1 offset=4096
	network
	whole_message
	barrier fenced
	kt release x
}

# A WRITE starts only after the last part of a message that was posted before. The message has 11 parts, of which 8 are
# queued at a time, so the last part is sent a round trip after the first one.
whole_message() {
	local since ms
	network delay 400ms
	kt_start posting async x send virt 1 44000
	long_in_flight
	ok $? "the parts of a long message are in flight"
	since=${EPOCHREALTIME/[.,]/}
	kt write x 64 4096 20000
	ms=$(((${EPOCHREALTIME/[.,]/} - since) / 1000))
	network
	kt_is 0 "a WRITE behind a long message completes"
	# On siw a part completes when TCP has taken it, so the last part and the WRITE follow at once.
	[[ $LINK == siw ]] || ((ms >= 600))
	ok $? "a WRITE does not overtake parts of the message before it: $ms ms, not less than 600"
	kt_result posting 30
	kt_is 0 "the long message before a WRITE is sent ($kt_text)"
}

# Let counters wrap around: ids of messages, numbers of requests and READs that have left the send queue, and numbers of
# connections.
wraps() {
	local side=x start job
	if ((NODE == 1)); then
		side=a
		kt accept a o 20000
	else
		kt connect x "$server" 7002 rw=1 session=4711
	fi
	kt_is 0 "node $NODE is connected for counters that wrap around"
	# From the first start value, counters wrap around to 0. From the second one, they become negative as signed
	# numbers.
	for start in 4294967286 2147483638; do
		barrier "wrap$start"
		sleep 0.2
		expect 0 wrap $side $start
		barrier "wrapped$start"
		for job in 1 2; do
			kt_start sink take $side 30 64
			kt async $side send virt 30 64 chain=10
			kt_is 0 "30 messages from id $start on complete, round $job ($kt_text)"
			kt_result sink 30
			kt_is 0 "30 messages of the peer from id $start on arrive, round $job ($kt_text)"
			barrier "wrap$start-$job"
		done
		kt async $side write virt 40 100 chain=10
		kt_is 0 "writes from number $start on ($kt_text)"
		barrier "wrap$start-written"
		kt async $side read region 40 100 chain=10
		kt_is 0 "reads from number $start on ($kt_text)"
		kt async $side write virt 1 64 fence=1 offset=65536
		kt_is 0 "a fence behind reads from number $start on completes ($kt_text)"
		expect 0 send $side 64
		expect 64 receive $side 64 10000
		barrier "wrap$start-over"
	done
	# A connection with a large number is replaced by a new connection of the same session, which has a small number.
	on 1 expect 0 wrap a 4294967286
	barrier wrap-succeed
	if ((NODE == 1)); then
		kt accept b o 20000
		kt_is 0 "the same session connects again"
		kt until a CLOSED 10000
		kt_is 0 "the old connection with a larger number ends when its session connects again"
	else
		kt connect y "$server" 7002 rw=1 session=4711
		kt_is 0 "the same session connects again"
	fi
	barrier wrap-done
	for job in a b x y; do kt release $job; done
}

# End connections while requests are in flight. Each request that krdma has accepted completes once.
endings() {
	local how
	for how in disconnect release; do
		kt connect w "$server" 7001 rw=1 max_msg="$size"
		kt_is 0 "connected for $how"
		kt async w write virt 40 100000 chain=40
		kt_start posting async w write virt 40 100000 chain=40
		kt_start reading async w read region 40 100000
		# Write to memory that the other tasks do not read.
		kt_start more async w write virt 4000 8 chain=100 offset=4100000
		# The peer does not receive, so a message is cut in the middle.
		kt_start sending async w send virt 4 100000
		sleep 0.0$((RANDOM % 10))
		kt "$how" w
		for job in posting more reading sending; do
			kt_result $job 40
			# ENOENT: the task began after the release.
			((kt_ret == 0 || kt_ret == errno[ESHUTDOWN] || kt_ret == errno[ENOTCONN] || kt_ret == errno[ENOENT]))
			ok $? "$how: each request of task $job completes once: $kt_ret ($kt_text)"
		done
		kt release w
	done
}

idle() { ! in_flight; }

# Let a queue pair refuse all work requests. Post a chain of requests that needs two doorbells, and requests that need
# many work requests each. Each request completes once, with an error. A reset drops work requests in flight without a
# completion, so wait until there are none. The connection may have just sent a CREDIT.
not_taken() {
	local what
	# Skip siw, whose queue pair refuses work requests only in transient states.
	[[ $LINK != siw ]] || return
	for what in "write virt 17 64 chain=17" "write pages 4 100000 chain=4" "send pages 4 100000 chain=4"; do
		kt connect n "$server" 7001 rw=1 max_msg="$size"
		kt_is 0 "connected for a queue pair that refuses work requests"
		within 10 idle
		ok $? "no work request is in flight"
		kt reset n
		kt_is 0 "the queue pair is reset"
		# shellcheck disable=SC2086 # words of a command
		kt async n $what
		kt_is EINVAL "$what on a reset queue pair fails ($kt_text)"
		[[ $kt_text == *" good=0" ]]
		ok $? "$what on a reset queue pair: no request completes without error ($kt_text)"
		kt release n
	done
}

if ((NODE == 1)); then
	expect 0 listen l 0.0.0.0 7000 recv_depth=16
	expect 0 listen rw 0.0.0.0 7001 rw=1 max_msg=$size
	expect 0 listen o 0.0.0.0 7002 rw=1 recv_depth=16
	kt kthread serve serve l
	kt kthread hold hold rw
	expect ENOTCONN query l
	barrier listening
	for len in 64 4096; do in_order $len; done
	both_read ""
	both_read "resources=2 depth=2"
	fences
	wraps
	barrier posted
	for job in serve hold; do
		kt stop $job
		kt_is EINTR "$job: $kt_text"
	done
	expect 0 release l
	expect 0 release rw
	expect 0 release o
else
	barrier listening
	for len in 64 4096; do in_order $len; done
	both_read ""
	both_read "resources=2 depth=2"
	fences
	wraps
	kt connect w "$server" 7001 rw=1 max_msg=$size
	kt_is 0 "connected for queries and transfers"
	queries
	transfers
	overwritten
	atomics
	refusals
	kt release w
	full_queue
	write_space
	in_one_go
	no_interrupts
	messages
	long_messages
	reads_among_messages
	for ((round = 0; round < 8; round++)); do endings; done
	not_taken
	barrier posted
fi
same_resources "$before" "resources are as before"
finish
