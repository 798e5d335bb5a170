#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# sealed: with the levels integrity and encrypt, messages of all lengths, out of all kinds of memory, arrive complete and
# in order, by blocking calls, by krdma_post() and to callbacks. Keys are replaced in time. Closing, killing and a lack of
# credits leave nothing behind. There are no READs, WRITEs and atomics, and no regions that a peer may use.
#
#   node 1 (echoes on 7000 + level, accepts on 7010 + level, callbacks on 7020 + level) <--- krdma --- node 2 (connects)
#
# kernels: uml
# long: uml-debug stock-6.1 stock-new uml/siw stock-6.12 debug-6.1 uml/ntr
# load: krdma krdma_test
# guarantees: S4 S6
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

network_ready
mount_debugfs
server=$(addr4 1)
levels="2 3"
before=$(resources)
barrier begun

# options: print the options of each connection and listener with the level.
options() { echo "security=$level keys=A max_msg=200000"; }

# to PORT [OPTION]...: connect the slot c to node 1.
to() {
	local port=$1
	shift
	# shellcheck disable=SC2046 # words of a command
	expect 0 connect c "$server" $((port + level)) $(options) "$@"
}

# A part of a message has the buffer of 4096 bytes less 32 bytes for header and tag.
sizes="0 1 2 63 64 4063 4064 4065 8128 65535 65536 131072"
piece_kinds=(piece=1000 "piece=1000000 skip=777" bvec=1 "bvec=1 skip=4097 piece=300")

blocking_calls() {
	local size how
	to 7000
	kt query c
	[[ $kt_text == *" part=4064 "*" version=2 "*"security=$level "* ]]
	ok $? "$level: the limits of the connection are those of its level: $kt_text"
	for size in $sizes; do
		expect 0 send c "$size"
		kt receive c 200000 20000
		kt_is "$size" "$level: $size bytes come back"
	done
	for how in "${piece_kinds[@]}"; do
		# shellcheck disable=SC2086 # words of a command
		kt longsendv c 65536 20000 $how
		kt_is 0 "$level: a message in pieces is sent, $how"
		kt receive c 200000 20000
		kt_is 65536 "$level: a message in pieces comes back, $how"
	done
	expect EMSGSIZE send c 200001
	expect 0 release c
}

posts() {
	local mem len
	to 7000 recv_depth=64 space=1
	for mem in none virt pages sg region; do
		len=3000
		[[ $mem != none ]] || len=0
		kt_start sink take c 40 $len
		kt async c send $mem 40 $len chain=13
		kt_is 0 "$level: 40 messages out of $mem are sent ($kt_text)"
		kt_result sink 60
		kt_is 0 "$level: 40 messages out of $mem are echoed ($kt_text)"
	done
	for mem in virt pages sg region; do
		kt_start sink take c 20 20001
		kt async c send $mem 20 20001 chain=7
		kt_is 0 "$level: 20 messages in parts out of $mem are sent ($kt_text)"
		kt_result sink 60
		kt_is 0 "$level: 20 messages in parts out of $mem are echoed ($kt_text)"
	done
	kt_start sink take c 26 50000
	kt_start posting async c send virt 20 50000 chain=5
	for _ in {1..6}; do expect 0 send c 50000; done
	kt_result posting 60
	kt_is 0 "$level: messages are posted beside blocking calls ($kt_text)"
	kt_result sink 60
	kt_is 0 "$level: posted messages and those of blocking calls are echoed ($kt_text)"
	kt_start sink take c 300 100
	kt async c send virt 300 100 nowait=1 refill=1
	kt_is 0 "$level: refused messages are posted by the callback and complete ($kt_text)"
	kt_result sink 60
	kt_is 0 "$level: messages that were posted by the callback are echoed ($kt_text)"
	# There are 16 transmit buffers.
	kt async c send virt 17 64 chain=17 nowait=1
	kt_is E2BIG "$level: a chain that needs too many transmit buffers is refused ($kt_text)"
	expect 0 release c
}

# Nothing gives the adapter of the peer access to memory.
one_sided() {
	kt connect rw "$server" 7000 security="$level" keys=A rw=1
	kt_is EOPNOTSUPP "$level: KRDMA_RW is refused"
	kt release rw
	to 7000
	kt async c write virt 1 64
	kt_is EOPNOTSUPP "$level: a WRITE is refused ($kt_text)"
	kt async c read region 1 64
	kt_is EOPNOTSUPP "$level: a READ is refused ($kt_text)"
	for access in 1 2 4 8 16; do
		kt expose c 0 4096 access=$access
		kt_is EOPNOTSUPP "$level: a region with the access $access is refused"
	done
	expect 0 release c
}

# A key is replaced after 65536 messages of a direction. Messages cross the change of the keys in both directions.
rekey() {
	local rekeys side=c
	if ((NODE == 1)); then
		side=a
		expect 0 accept a "accept$level" 20000
	else
		to 7010
	fi
	rekeys=$(counter rekeys)
	barrier "rekey$level"
	expect 0 wrap $side 65486
	barrier "wrapped$level"
	kt_start sink take $side 100 3000
	kt async $side send virt 100 3000 chain=10
	kt_is 0 "$level: messages are sent with the old and the new key ($kt_text)"
	kt_result sink 60
	kt_is 0 "$level: messages with the old and the new key are received ($kt_text)"
	barrier "rekeyed$level"
	# Two nodes of one kernel count together.
	is_one_of $(($(counter rekeys) - rekeys)) 2 4
	ok $? "$level: the keys of both directions have been replaced: $(($(counter rekeys) - rekeys))"
	barrier "rekeys$level"
	expect 0 release $side
}

callbacks() {
	to 7020
	kt talk c 300 20000 8
	kt_is 0 "$level: messages are echoed by a callback ($kt_text)"
	expect 0 release c
}

# Node 1 closes while messages of node 2 are in flight.
closing() {
	if ((NODE == 1)); then
		expect 0 accept a "accept$level" 20000
		kt_start sink take a 20 20000
		kt_result sink 60
		kt_is 0 "$level: messages in flight at a close are received ($kt_text)"
		kt receive a 100 20000
		kt_is ECONNRESET "$level: the close of the peer ends a receive"
		barrier "closed$level"
		expect 0 release a
		return
	fi
	to 7010
	network delay 50ms
	kt_start posting async c send virt 20 20000 chain=20
	kt_result posting 60
	kt close c 1 60000
	kt_is 0 "$level: close succeeds after messages in parts"
	network
	barrier "closed$level"
	expect 0 release c
}

# A task that is killed while its messages wait for credits leaves nothing. The other tasks' messages stay whole.
killed() {
	local i
	if ((NODE == 1)); then
		expect 0 accept a "accept$level" 20000
		barrier "killed$level"
		kt release a
		barrier "kill-over$level"
		return
	fi
	to 7010
	for i in 1 2 3; do kt_start "stuck$i" longsend c 200000 60000; done
	within 10 stuck
	ok $? "$level: tasks wait for credits"
	kill -KILL "$kt_pid"
	for i in 1 2; do kt_start "more$i" longsend c 100 60000; done
	barrier "killed$level"
	for i in stuck1 stuck2 more1 more2; do kt_result $i 60; done
	expect 0 release c
	barrier "kill-over$level"
}

# shellcheck disable=SC2317 # called by within
stuck() { (($(counter credit_stalls) > 0)); }

counts() {
	(($(counter sealed.messages) > 1000 && $(counter sealed.bytes) > 1000000 && $(counter opened.messages) > 1000))
	ok $? "sealed and opened messages are counted"
	(($(counter protocol_error.seal) == 0))
	ok $? "no message is refused"
}

if ((NODE == 1)); then
	for level in $levels; do
		# shellcheck disable=SC2046 # words of a command
		expect 0 listen "echo$level" 0.0.0.0 $((7000 + level)) $(options) recv_depth=64
		# shellcheck disable=SC2046 # words of a command
		expect 0 listen "accept$level" 0.0.0.0 $((7010 + level)) $(options)
		expect 0 kthread "serve$level" serve "echo$level"
	done
fi
barrier listening
for level in $levels; do
	if ((NODE == 2)); then
		blocking_calls
		posts
		one_sided
	else
		# shellcheck disable=SC2046 # words of a command
		expect 0 server 0.0.0.0 $((7020 + level)) $(options) rxcb=1
	fi
	barrier "served$level"
	((NODE == 1)) || callbacks
	barrier "called$level"
	if ((NODE == 1)); then
		expect 0 server end
		expect 0 rxcb 0
	fi
	rekey
	closing
	killed
done
counts
barrier counted
if ((NODE == 1)); then
	for level in $levels; do
		kt stop "serve$level"
		expect 0 release "echo$level"
		expect 0 release "accept$level"
	done
fi
expect 0 unkey
same_resources "$before" "resources are as before"
finish
