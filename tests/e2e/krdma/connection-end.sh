#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# connection-end: a connection ends because one side closes it, or because its peer has vanished.
# - closing: after krdma_close() succeeds, all requests that were posted before the call are completed, and their data have
#   arrived. Requests that are posted later are refused. The peer is notified of the reason.
# - keepalive: both ends detect that the peer has vanished, even if they have no data to send. A quiet connection stays
#   up. A connection without keepalive stays up, and so does a connection over a slow link that is full of READs and
#   WRITEs.
#
#   closing:   node 1 (accepts on 7000 and 7001)                  <--- krdma ------------- node 2 (closes)
#   keepalive: node 1 (echoes on 7000; on 7001 without keepalive) <--- cut for a while --- node 2 (waits for messages)
#              node 1 (exports a buffer on 7002)                  <--- slow -------------- node 2 (READs and WRITEs)
#
# kernels: uml uml/siw
# long: stock-6.1 stock-new stock-6.12 uml-debug debug-6.1 debug-6.1/siw uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 540

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

network_ready
server=$(addr4 1)

# ---- one side closes ----

# accepted: one case: node 1 accepts a connection. reason_is REASON: one case: REASON is the reason that node 2 gave to
# krdma_close(), or ENOENT if node 2 gave no reason.
accepted() {
	kt accept a l 20000
	kt_is 0 "node 1 accepts the connection of node 2"
}

reason_is() {
	kt reason a
	kt_is "$1" "the peer's reason is $1"
}

# Messages that were sent before the close can be received after it.
messages() {
	if ((NODE == 1)); then
		accepted
		barrier closed
		kt take a 60 100
		kt_is 0 "all 60 messages can be received after the end"
		kt receive a 100 5000
		kt_is ECONNRESET "receiving after the last message fails"
		reason_is 7
		kt release a
	else
		kt connect c "$server" 7000
		kt_is 0 "node 2 is connected"
		kt async c send virt 60 100 chain=60
		kt_is 0 "60 messages are sent before the close ($kt_text)"
		kt close c 7
		kt_is 0 "close succeeds"
		barrier closed
		kt close c 8
		kt_is ESHUTDOWN "closing twice is refused"
		kt send c 10
		kt_is ESHUTDOWN "sending after the close is refused"
		kt async c send virt 1 10
		kt_is ESHUTDOWN "posting after the close is refused"
		kt reason c
		kt_is ENOENT "the peer gave no reason"
		kt release c
	fi
}

# A receiver gets the last message although the sender disconnects at once after sending it. Only on siw can the last
# message be lost.
last_words() {
	local i len lost=0
	for i in {1..60}; do
		# Every third message is long, so node 1 reads it from the sender's memory.
		len=77
		((i % 3)) || len=70000
		if ((NODE == 1)); then
			kt accept a l 20000
			kt receive a 100000 $((20000 * slow))
			((kt_ret == len)) || lost=$((lost + 1))
			kt release a
		else
			kt connect c "$server" 7000
			kt send c "$len"
			kt release c
		fi
	done
	((lost == 0)) || [[ $LINK == siw ]]
	ok $? "the last message before a disconnect arrives: $lost of 60 lost"
}

# A peer that connects again with the same session replaces its old connection, which is closed before the new one is
# accepted.
replaced() {
	local slots="c f g h"
	if ((NODE == 1)); then
		slots="a b d e"
		kt accept a l 20000
		kt_is 0 "session 77 is accepted"
		barrier first
		kt accept b l 20000
		kt_is 0 "session 77 is accepted again"
		[[ $(kt_state a) == CLOSED ]]
		ok $? "the replaced connection of session 77 is CLOSED: $(kt_state a)"
		kt receive a 100 1000
		kt_is 50 "a message that had arrived on the replaced connection can be received"
		kt receive a 100 1000
		kt_is ECONNRESET "receiving on the replaced connection fails after that"
		kt accept d l 20000
		kt_is 0 "session 78 is accepted"
		kt accept e rw 20000
		kt_is 0 "session 77 is accepted on another port"
	else
		kt connect c "$server" 7000 session=77
		kt send c 50
		kt_is 0 "session 77 is connected, and has sent a message"
		barrier first
		kt connect f "$server" 7000 session=77
		kt_is 0 "session 77 is connected again"
		kt receive c 100 5000
		kt_is ECONNRESET "receiving on the replaced connection of session 77 fails"
		kt connect g "$server" 7000 session=78
		kt_is 0 "session 78 is connected"
		kt connect h "$server" 7001 rw=1 max_msg=4194304 session=77
		kt_is 0 "session 77 is connected to another port"
	fi
	barrier others
	for slot in ${slots#* }; do
		[[ $(kt_state "$slot") == ESTABLISHED ]]
		ok $? "connection $slot is ESTABLISHED after the replacement: $(kt_state "$slot")"
	done
	barrier looked
	for slot in $slots; do kt release "$slot"; done
	barrier replaced
}

# The reasons are zero, one, and the largest number that the result of a command of krdma_test can have.
reasons() {
	local reason
	for reason in 0 1 2147483647; do
		if ((NODE == 1)); then
			accepted
			barrier "reason$reason"
			kt receive a 100 5000
			kt_is ECONNRESET "receiving fails after the peer closed with reason $reason"
			reason_is "$reason"
			kt release a
		else
			kt connect c "$server" 7000
			kt close c "$reason"
			kt_is 0 "close with reason $reason"
			barrier "reason$reason"
			kt release c
		fi
	done
}

# Requests in flight at a close are completed without error, later ones are refused, and each request completes once.
requests() {
	local i good many=$((4000 / slow))
	for i in 1 2 3 4 5; do
		kt connect w "$server" 7001 rw=1 max_msg=4194304
		kt_is 0 "round $i: connected for requests"
		kt_start posting async w write virt 40 100000 chain=40
		kt_start more async w write virt "$many" 8 chain=100
		sleep 0.0"$i"
		kt close w 1 30000
		# The close may come between two chains of a task. The later chain is then refused, so the task may
		# return an error although all of its posted requests complete.
		kt_is 0 "round $i: close succeeds with requests in flight"
		for job in posting more; do
			kt_result "$job" 40
			good=${kt_text#*good=}
			is_one_of "$kt_ret" 0 "${errno[ESHUTDOWN]}" "${errno[ENOTCONN]}" "${errno[ENOENT]}" &&
				[[ ! $kt_text || $kt_text == *"posted=$good good=$good"* ]]
			ok $? "round $i: each posted request of task $job has completed: $kt_ret ($kt_text)"
		done
		kt release w
	done
}

stalled() {
	mount_debugfs
	awk '$1 == "credit_stalls" { print $2 }' /sys/kernel/debug/krdma/counters
}

# If a sender is blocked because it lacks credits, a close waits for this sender, at most until the timeout of the
# close. A disconnect does not wait for a blocked sender.
stuck() {
	local stalls end=$((SECONDS + 20 * slow))
	if ((NODE == 1)); then
		accepted
		barrier stuck
		reason_is ENOENT
		kt release a
	else
		kt connect c "$server" 7000 recv_depth=8
		stalls=$(stalled)
		kt_start pump pump c 4000 60000
		until (($(stalled) > stalls)) || ((SECONDS > end)); do sleep 0.1; done
		kt close c 3 700
		kt_is ETIMEDOUT "close times out if the peer does not receive"
		kt_within 700 3000 "close with a timeout of 700 ms takes 700 ms to 3 s"
		kt_result pump 20
		is_one_of "$kt_ret" "${errno[ESHUTDOWN]}"
		ok $? "a blocked sender gets ESHUTDOWN from the close: $kt_ret"
		barrier stuck
		kt release c
		kt_start waiting connect d "$server" 7009 connect_ms=3000
		kt close d
		((kt_ret < 0))
		ok $? "closing a connection that is not established is refused: $kt_ret"
		kt_result waiting 20
		kt release d
	fi
}

# When the close begins, some callers wait to post a request, because earlier messages lack credits. These callers are
# refused, so no request is posted after BYE, the message with the reason of the close.
latecomers() {
	local stalls len end=$((SECONDS + 20 * slow))
	if ((NODE == 1)); then
		kt accept a rw 20000
		kt_is 0 "node 1 accepts a connection for requests that wait for their turn"
		barrier late
		kt take a 100 100
		kt_is 0 "100 messages that were posted before the close have arrived"
		kt receive a 100 5000
		kt_is ECONNRESET "receiving after those messages fails"
		kt exported a 8 0
		kt_is EBADMSG "the write that waited for its turn has not arrived"
		kt release a
	else
		kt connect c "$server" 7001 rw=1 max_msg=4194304
		kt_is 0 "connected for requests that wait for their turn"
		stalls=$(stalled)
		kt_start posted async c send virt 100 100
		until (($(stalled) > stalls)) || ((SECONDS > end)); do sleep 0.1; done
		for len in 8 4096; do kt_start "late$len" write c "$len" 0 $((30000 * slow)); done
		kt_start late200 send c 200
		sleep 0.5
		kt_start closed close c 5 $((30000 * slow))
		sleep 0.5
		barrier late
		kt_result posted 40
		kt_is 0 "100 messages posted before the close complete ($kt_text)"
		for len in 8 4096 200; do
			kt_result "late$len" 40
			kt_is ESHUTDOWN "a request of $len bytes that waits for its turn is refused by the close"
		done
		kt_result closed 40
		kt_is 0 "close succeeds with requests that wait for their turn"
		kt release c
	fi
}

# Both sides close at once. Each side receives the reason of the other side, or its connection ends before the reason
# arrives.
both() {
	local i name
	if ((NODE == 1)); then name=a; else name=c; fi
	for i in {1..20}; do
		if ((NODE == 1)); then accepted; else kt connect c "$server" 7000; fi
		barrier both
		kt close "$name" "$i"
		is_one_of "$kt_ret" 0 "${errno[ECONNRESET]}" "${errno[ESHUTDOWN]}"
		ok $? "round $i: both sides close at once: $kt_ret after $kt_ms ms"
		kt release "$name"
	done
}

# The owner of a raw connection posts requests to the queue pair itself. So krdma keeps the queue pair of a closed raw
# connection until the owner releases the connection, whichever side has closed it. Here the owner has no callbacks.
bare() {
	local name
	if ((NODE == 1)); then
		name=a
		kt accept a bare 20000
	else
		name=c
		kt connect c "$server" 7002 raw=2
	fi
	kt_is 0 "node $NODE is connected in raw mode, without callbacks"
	barrier bare
	on 2 kt disconnect c
	kt until "$name" CLOSING 10000
	kt_is 0 "the raw connection is CLOSING after a disconnect"
	sleep 0.5
	[[ $(kt_state "$name") == CLOSING ]]
	ok $? "the raw connection stays CLOSING until its owner releases it: $(kt_state "$name")"
	barrier bare-stays
	kt release "$name"
	kt_is 0 "the owner releases the raw connection"
}

# A message of the peer can move the queue pair to the error state before this side is notified that it is connected.
# The only sign of this error is a flushed receive, which krdma must remember until this side is connected.
flushed_early() {
	local name=r wanted=EIO
	[[ $LINK != siw ]] || wanted=ECONNRESET
	if ((NODE == 1)); then
		kt request r flushed 20000
		barrier flushed
		kt answer r raw=1
		kt_is 0 "node 1 accepts a connection whose receives are flushed early"
	else
		name=f
		kt_start connecting connect f "$server" 7003 raw=1
		kt until f CONNECTING 10000
		kt flushed f
		kt_is 0 "the receives are flushed while the connection is CONNECTING"
		barrier flushed
		kt_result connecting 20
		kt_is 0 "connecting succeeds after the flush"
	fi
	within 5 slot_is_empty "$name"
	ok $? "a connection with flushed receives ends: $(grep "^$name " /proc/krdma_test)"
	on 2 grep -q "^f .*closing=${errno[$wanted]}\b" /proc/krdma_test
	ok $? "a connection with flushed receives ends with $wanted"
	barrier flushed-early
	kt release "$name"
}

slot_is_empty() { [[ $(kt_state "$1") == - ]]; }

closing() {
	if ((NODE == 1)); then
		expect 0 listen l 0.0.0.0 7000
		expect 0 listen rw 0.0.0.0 7001 rw=1 max_msg=4194304
		expect 0 listen bare 0.0.0.0 7002 raw=2
		expect 0 listen flushed 0.0.0.0 7003 raw=1
		barrier listening
		messages
		last_words
		barrier words
		replaced
		latecomers
		kt kthread hold hold rw
		reasons
		barrier requests
		stuck
		both
		bare
		expect 0 release bare
		flushed_early
		expect 0 release flushed
		kt stop hold
		kt_is EINTR "hold: $kt_text"
		expect 0 release l
		expect 0 release rw
	else
		barrier listening
		messages
		last_words
		barrier words
		replaced
		latecomers
		reasons
		requests
		barrier requests
		stuck
		both
		bare
		flushed_early
	fi
}

# ---- the peer vanishes ----

interval=500
never=4294967295

# queue_pairs: print the number of krdma's queue pairs on this node, which excludes the queue pair of the GSI.
queue_pairs() { rdma resource show qp 2>/dev/null | grep -c "$RDMADEV.*type RC"; }

# until_pairs N SECONDS: wait until this node has N queue pairs of krdma. Fail after SECONDS.
until_pairs() {
	local end=$((SECONDS + $2))
	until (($(queue_pairs) == $1)); do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}

# Drop all packets that leave this node, including acknowledgements.
cut_off() {
	network loss 100%
	ok $? "node $NODE is cut off"
}

vanishing_server() {
	local i
	expect 0 listen l 0.0.0.0 7000 keepalive_ms="$interval"
	expect 0 listen quiet 0.0.0.0 7001 keepalive_ms="$never"
	for i in 1 2; do kt kthread "serve$i" serve l; done
	kt kthread serve3 serve quiet
	barrier listening
	barrier connected
	barrier still-there
	cut_off
	barrier cut
	check "node 1 closes the connection of a silent peer" until_pairs 1 $((20 * slow))
	barrier missed
	network
	barrier back
	barrier over
	for i in 1 2 3; do
		kt stop "serve$i"
		kt_is EINTR "serve$i: $kt_text"
	done
	expect 0 release l
	expect 0 release quiet
}

# still_waits JOB WHAT: one case: the task of JOB still waits.
still_waits() {
	kt_result "$1" 0
	[[ $kt_text == "still running" ]]
	ok $? "$2 ($kt_ret $kt_text)"
}

vanishing_client() {
	barrier listening
	expect 0 connect q "$server" 7000 keepalive_ms="$interval"
	expect 0 connect n "$server" 7001 keepalive_ms="$never"
	kt_start q receive q 64
	kt_start n receive n 64
	barrier connected
	sleep 6
	still_waits q "a quiet connection stays for ten intervals"
	barrier still-there
	barrier cut
	kt_result q $((20 * slow))
	kt_is ETIMEDOUT "a receive ends when the peer is silent"
	still_waits n "a connection without keepalive stays when the peer is silent"
	barrier missed
	expect 0 release q
	barrier back
	expect 0 send n 64
	kt_result n 20
	kt_is 64 "a connection without keepalive works after the cut"
	expect 0 release n
	kt rounds r "$server" 7000 3
	kt_is 0 "new connections work after the cut"
	kt release r
	barrier over
}

# A peer must not be declared dead because of bulk data, if the link transfers at least 4 MB/s. Answers to keepalive
# probes wait behind the data of WRITEs and READs, and a peer without an answer for four keepalive intervals is declared
# dead. So krdma limits the data in flight to the amount that a link of 4 MB/s transfers in one interval, or in 5 s if
# the interval is longer than this default.
#
# On "uml", an answer behind all data of this test would take longer than four intervals. The intervals of other kernels
# are longer, because a debug kernel may not reach 4 MB/s.
bulk() {
	local slot=c op size count=90 both=50 patience=$((1000 * slow)) long
	((slow < 4)) || { count=60 both=30 patience=20000; }
	long=$((4000 * (patience < 5000 ? patience : 5000) + 1000000))
	size=$((count * 400000))
	if ((NODE == 1)); then
		slot=a
		expect 0 listen b 0.0.0.0 7002 rw=1 max_msg="$size" keepalive_ms="$patience"
		barrier bulk
		expect 0 accept a b 20000
	else
		barrier bulk
		# The send depth is larger than the number of requests, because some requests take two slots on siw.
		expect 0 connect c "$server" 7002 rw=1 max_msg="$size" send_depth=128 keepalive_ms="$patience"
	fi
	barrier bulk-connected
	network rate 48mbit
	ok $? "the link is limited to 48 Mbit/s"
	barrier bulk-slow
	for op in write read; do
		on 2 kt async c "$op" region "$count" 400000 chain="$count" nowait=1
		on 2 kt_is 0 "$count ${op^^}s of 400 KB over a slow link complete ($kt_text, $kt_ms ms)"
		barrier "bulk-$op"
	done
	# Skip WRITEs in both directions on siw: krdma's limit does not count the data in the TCP buffers of both
	# directions.
	if [[ $LINK != siw ]]; then
		kt async "$slot" write region "$both" 400000 chain="$both"
		kt_is 0 "$both WRITEs of 400 KB both ways over a slow link complete ($kt_text, $kt_ms ms)"
	fi
	if ((NODE == 2)); then
		kt async c write region "$count" 400000 nowait=1
		kt_is EAGAIN "KRDMA_NOWAIT requests beyond the limit of bulk data are refused ($kt_text)"
	fi
	barrier bulk-both
	network
	if ((NODE == 2)); then
		kt async c write region $((2 * long > size ? 1 : 2)) "$long"
		kt_is 0 "a single request may exceed the limit of bulk data ($kt_text)"
		kt async c write region "$count" 400000
		kt_is 0 "$count WRITEs complete after a request beyond the limit of bulk data ($kt_text)"
	fi
	barrier bulk-over
	kt release "$slot"
	on 1 expect 0 release b
}

keepalive() {
	if ((NODE == 1)); then vanishing_server; else vanishing_client; fi
	bulk
}

section closing
# The rate of an ntr device cannot be limited.
[[ $LINK == ntr ]] || section keepalive
finish
