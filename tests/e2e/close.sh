#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# close: the end in order. All that was posted before is completed and has arrived, nothing is posted any more, and the
# peer knows why.
#
#   node 1 (accepts on 7000 and 7001) <--- krdma ---> node 2 (closes)
#
# kernels: uml uml/siw
# long: stock-6.1 stock-new stock-6.12 uml-debug debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)

# Node 1 accepts one connection, and in the end knows the reason that node 2 gave.
accepted() {
	kt accept a l 20000
	kt_is 0 "accepted"
}

reason_is() {
	kt reason a
	kt_is "$1" "the peer's reason is $1"
}

# Messages that were sent before are all there afterwards.
messages() {
	if ((NODE == 1)); then
		accepted
		barrier closed
		kt take a 60 100
		kt_is 0 "all 60 messages can be received after the end"
		kt receive a 100 5000
		kt_is ECONNRESET "and then it is over"
		reason_is 7
		kt release a
	else
		kt connect c "$server" 7000
		kt_is 0 "connected"
		kt async c send virt 60 100 chain=60
		kt_is 0 "60 messages ($kt_text)"
		kt close c 7
		kt_is 0 "close"
		barrier closed
		kt close c 8
		kt_is ESHUTDOWN "close again"
		kt send c 10
		kt_is ESHUTDOWN "send afterwards"
		kt async c send virt 1 10
		kt_is ESHUTDOWN "post afterwards"
		kt reason c
		kt_is ENOENT "the peer gave no reason"
		kt release c
	fi
}

# Who waits for a message gets it, though the end follows at once. What siw has sent may not have arrived.
last_words() {
	local i len lost=0
	for i in {1..60}; do
		# Every third one is read from the sender's memory.
		len=77
		((i % 3)) || len=70000
		if ((NODE == 1)); then
			kt accept a l 20000
			kt receive a 100000 $((20000 * slow))
			((kt_ret == len)) || lost=$((lost + 1))
			kt release a
		else
			kt connect c "$server" 7000
			kt send c $len
			kt release c
		fi
	done
	((lost == 0)) || [[ $LINK == siw ]]
	ok $? "the last message before the end: $lost of 60 lost"
}

# Who connects again takes the place of his old connection: that is gone before the new one is accepted.
replaced() {
	local slots="c f g h"
	if ((NODE == 1)); then
		slots="a b d e"
		kt accept a l 20000
		kt_is 0 "accepted"
		barrier first
		kt accept b l 20000
		kt_is 0 "accepted the same peer again"
		[[ $(kt_state a) == CLOSED ]]
		ok $? "its old connection is $(kt_state a)"
		kt receive a 100 1000
		kt_is 50 "what had arrived can be received"
		kt receive a 100 1000
		kt_is ECONNRESET "and no more"
		kt accept d l 20000
		kt_is 0 "accepted another one"
		kt accept e rw 20000
		kt_is 0 "accepted the same one on another port"
	else
		kt connect c "$server" 7000 session=77
		kt send c 50
		kt_is 0 "connected and sent"
		barrier first
		kt connect f "$server" 7000 session=77
		kt_is 0 "connected again"
		kt receive c 100 5000
		kt_is ECONNRESET "the old connection has ended"
		kt connect g "$server" 7000 session=78
		kt_is 0 "connected as another one"
		kt connect h "$server" 7001 rw=1 max_msg=4194304 session=77
		kt_is 0 "connected to another port"
	fi
	barrier others
	for slot in ${slots#* }; do
		[[ $(kt_state "$slot") == ESTABLISHED ]]
		ok $? "$slot is $(kt_state "$slot")"
	done
	barrier looked
	for slot in $slots; do kt release "$slot"; done
	barrier replaced
}

# A reason of zero is one, too; and the largest that fits into a test's result.
reasons() {
	local reason
	for reason in 0 1 2147483647; do
		if ((NODE == 1)); then
			accepted
			barrier "reason$reason"
			kt receive a 100 5000
			kt_is ECONNRESET "it is over"
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

# Requests in flight are completed well, those that come later are refused, and nothing is lost between.
requests() {
	local i good many=$((4000 / slow))
	for i in 1 2 3 4 5; do
		kt connect w "$server" 7001 rw=1 max_msg=4194304
		kt_is 0 "connected for requests"
		kt_start posting async w write virt 40 100000 chain=40
		kt_start more async w write virt "$many" 8 chain=100
		sleep 0.0$i
		kt close w 1 30000
		# A task that makes a new chain each time may meet the end between two of them.
		kt_is 0 "close under requests"
		for job in posting more; do
			kt_result $job 40
			good=${kt_text#*good=}
			is_one_of "$kt_ret" 0 "${errno[ESHUTDOWN]}" "${errno[ENOTCONN]}" "${errno[ENOENT]}" &&
				[[ ! $kt_text || $kt_text == *"posted=$good good=$good"* ]]
			ok $? "what was posted was completed: $kt_ret ($kt_text)"
		done
		kt release w
	done
}

stalled() {
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	awk '$1 == "credit_stalls" { print $2 }' /sys/kernel/debug/krdma/counters
}

# Somebody who waits for credits keeps it from being idle, but not for ever; disconnecting does not wait.
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
		kt_is ETIMEDOUT "the peer does not receive"
		kt_within 700 3000 "in time"
		kt_result pump 20
		is_one_of "$kt_ret" "${errno[ESHUTDOWN]}"
		ok $? "the sender is told: $kt_ret"
		barrier stuck
		kt release c
		kt_start waiting connect d "$server" 7009 connect_ms=3000
		kt close d
		((kt_ret < 0))
		ok $? "what is not connected cannot be closed: $kt_ret"
		kt_result waiting 20
		kt release d
	fi
}

# Who waits for his turn when it begins is refused: nothing is posted behind what the peer is told.
latecomers() {
	local stalls len end=$((SECONDS + 20 * slow))
	if ((NODE == 1)); then
		kt accept a rw 20000
		kt_is 0 "accepted"
		barrier late
		kt take a 100 100
		kt_is 0 "what was posted before has come"
		kt receive a 100 5000
		kt_is ECONNRESET "and then it is over"
		kt shown a 8 0
		kt_is EBADMSG "the late write has not come"
		kt release a
	else
		kt connect c "$server" 7001 rw=1 max_msg=4194304
		kt_is 0 "connected"
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
		kt_is 0 "posted ($kt_text)"
		for len in 8 4096 200; do
			kt_result "late$len" 40
			kt_is ESHUTDOWN "$len bytes that waited for their turn are refused"
		done
		kt_result closed 40
		kt_is 0 "closed"
		kt release c
	fi
}

# Both at once: each is told by the other, or ends by the other's end.
both() {
	local i name
	if ((NODE == 1)); then name=a; else name=c; fi
	for i in {1..20}; do
		if ((NODE == 1)); then accepted; else kt connect c "$server" 7000; fi
		barrier both
		kt close $name "$i"
		is_one_of "$kt_ret" 0 "${errno[ECONNRESET]}" "${errno[ESHUTDOWN]}"
		ok $? "both close at once: $kt_ret after $kt_ms ms"
		kt release $name
	done
}

# In raw mode the owner may be posting, whether he has callbacks or not: whoever has closed, his queue pair stays until he
# releases it.
bare() {
	local name
	if ((NODE == 1)); then
		name=a
		kt accept a bare 20000
	else
		name=c
		kt connect c "$server" 7002 raw=2
	fi
	kt_is 0 "connected in raw mode, without callbacks"
	barrier bare
	((NODE == 1)) || kt disconnect c
	kt until $name CLOSING 10000
	kt_is 0 "that is over"
	sleep 0.5
	[[ $(kt_state $name) == CLOSING ]]
	ok $? "and is not taken down under its owner: $(kt_state $name)"
	barrier bare-stays
	kt release $name
	kt_is 0 "but by him"
}

# What the peer sends may break the queue pair before this side knows that it is connected: a flush is all that is seen of
# that, and it must not be forgotten.
flushed_early() {
	local name=r wanted=EIO
	[[ $LINK != siw ]] || wanted=ECONNRESET
	if ((NODE == 1)); then
		kt request r flushed 20000
		barrier flushed
		kt answer r raw=1
		kt_is 0 "accepted"
	else
		name=f
		kt_start connecting connect f "$server" 7003 raw=1
		kt until f CONNECTING 10000
		kt flushed f
		kt_is 0 "flushed while connecting"
		barrier flushed
		kt_result connecting 20
		kt_is 0 "connected"
	fi
	within 5 slot_is_empty $name
	ok $? "it ends all the same: $(grep "^$name " /proc/krdma_test)"
	((NODE == 1)) || grep -q "^f .*closing=${errno[$wanted]}\b" /proc/krdma_test
	ok $? "because the queue pair has failed"
	barrier flushed-early
	kt release $name
}

slot_is_empty() { [[ $(kt_state "$1") == - ]]; }

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
same_resources "$before" "resources are as before"
finish
