#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# rendezvous: the receiver reads long messages from the sender's memory, which the sender describes in CHUNK messages.
# The messages have any length and kind of memory, and cross the boundaries of MRs and CHUNKs. They are sent while no
# task receives, and in both directions at once. Tasks are killed, and connections are released, during a message.
#
#   node 1 (receives on 7000) <--- krdma ---> node 2 (sends)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-new uml-debug debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# mem: 512M
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
barrier begun
server=$(addr4 1)
max=$((64 << 20))
MiB=$((1 << 20))
huge=40
# Number of CHUNKs for a message in the static data of a module. On UML static data are vmalloc() memory, so the number
# is 1. On other kernels they are not, and krdma sends the message in parts: the number is 0.
own=0
[[ $KERNEL != uml* ]] || own=1
((slow < 4)) || huge=18
mount_debugfs

# fits: drop messages above 3 MiB from the table on debug kernels. With KASAN on an emulated processor, 16 MiB take
# longer than the timeout of an operation.
fits() {
	if [[ $KERNEL == debug-* ]]; then awk -v max=$((3 * MiB)) '$1 <= max'; else cat; fi
}

# table: print a line for each message: its length, its kind of memory, its offset in a page, and the number of CHUNK
# messages that describe it. A CHUNK describes up to 16 MiB of the sender's memory, which the receiver reads.
table() {
	cat <<-EOF
		65535 vmalloc 0 0
		65536 vmalloc 0 1
		65537 vmalloc 1 1
		65536 kmalloc 0 1
		100000 kmalloc 4095 1
		100000 own 0 $own
		200000 own 17 $own
		$((MiB - 1)) vmalloc 4095 1
		$((MiB + 1)) vmalloc 2 1
		$((2 * MiB)) vmalloc 1 1
		$((2 * MiB)) kmalloc 8 1
		$((2 * MiB + 4097)) vmalloc 4095 1
		$((16 * MiB)) vmalloc 0 1
		$((16 * MiB + 1)) vmalloc 0 2
		$((huge * MiB + 12345)) vmalloc 777 $((huge / 16 + 1))
	EOF
}

# all OPTIONS CHUNKS: send a message for each line of the table, on a connection with OPTIONS. CHUNKS is "exact" if the
# numbers of CHUNKs in the table apply, and "any" if OPTIONS change these numbers.
all() {
	local options=$1 chunks=$2 len kind at wanted was now
	was=$(counter chunks_pulled)
	if ((NODE == 1)); then
		kt accept a l 20000
	else
		# shellcheck disable=SC2086 # words of a command
		kt connect c "$server" 7000 max_msg=$max $options
	fi
	kt_is 0 "connected with ${options:-default options}"
	while read -r len kind at wanted; do
		if ((NODE == 1)); then
			# Receive at another offset in a page, so that the receiver's buffer is not aligned either.
			kt longreceive a "$max" 120000 at=$((at / 2))
			kt_is "$len" "$len bytes from $kind at $at are received"
			# Read the counter before the next message.
			now=$(counter chunks_pulled)
			barrier got
			[[ $chunks == any ]] || ((now - was == wanted))
			ok $? "$len bytes from $kind at $at are pulled in $wanted CHUNKs: $((now - was))"
			was=$now
		else
			kt longsend c "$len" 120000 mem="$kind" at="$at"
			kt_is 0 "$len bytes from $kind at $at are sent"
			barrier got
		fi
	done < <(table | fits)
	if ((NODE == 1)); then kt release a; else kt release c; fi
	barrier next
}

# A message that is shorter than pull_min is sent in parts, and the receiver does not read it from the sender's memory.
in_parts() {
	local was
	if ((NODE == 1)); then
		kt accept a l 20000
		was=$(counter chunks_pulled)
		kt longreceive a "$max" 60000
		kt_is $((2 * MiB)) "a message below pull_min is received in parts"
		(($(counter chunks_pulled) == was))
		ok $? "a message in parts is not pulled"
		# Release the connection only after the barrier, because the sender waits for the acknowledgement.
		barrier in-parts
		kt release a
	else
		kt connect c "$server" 7000 max_msg=$max pull_min=4294967295
		kt longsend c $((2 * MiB))
		kt_is 0 "a message below pull_min is sent in parts"
		barrier in-parts
		kt release c
	fi
	barrier next
}

# The receiver does not read a long message from the sender's memory if the sender serves no READs, or if the receiver
# posts no READs (KRDMA_ZERO). On siw krdma ends a connection that posts a READ to a peer that serves no READs, because
# this READ would block the send queue of siw.
no_reads() {
	local was i sender
	for i in resources=255 depth=255; do
		sender=2
		[[ $i == resources* ]] || sender=1
		if ((NODE == 1)); then kt accept no l 20000; else kt connect no "$server" 7000 max_msg=$max $i; fi
		# Read the counter on both nodes before the message is sent, because both nodes may share a kernel.
		barrier "no-reads-$i"
		was=$(counter chunks_pulled)
		if ((NODE == sender)); then
			kt longsend no $((2 * MiB)) 60000
			kt_is 0 "$i: a message without READs is sent"
		else
			kt longreceive no "$max" 60000
			kt_is $((2 * MiB)) "$i: a message without READs is received"
			(($(counter chunks_pulled) == was))
			ok $? "$i: a message without READs is not pulled"
		fi
		barrier "had-no-reads-$i"
		kt release no
	done
	[[ $LINK != siw ]] || unserved_reads
	barrier next
}

# Post READs to a peer that serves no READs: a single work request, and a chain of READs with one doorbell.
unserved_reads() {
	local how
	for how in "read a 64 0" "async a read region 40 64 chain=40"; do
		if ((NODE == 1)); then
			kt accept a rw 20000
			# Wait until siw has sent all earlier data. While siw is still sending, it drops the connection
			# in another way.
			sleep 0.3
			# shellcheck disable=SC2086 # words of a command
			kt $how
			is_one_of "$kt_ret" "${errno[EOPNOTSUPP]}" "${errno[ECONNRESET]}"
			ok $? "$how to a peer that serves no READs fails: $kt_ret ($kt_text)"
			kt send a 64
			is_one_of "$kt_ret" "${errno[EOPNOTSUPP]}" "${errno[ECONNRESET]}"
			ok $? "$how to a peer that serves no READs ends the connection: $kt_ret"
			kt release a
			barrier "unserved-${how%% *}"
		else
			kt connect c "$server" 7001 rw=1 max_msg=4096 resources=255
			kt_is 0 "connected without serving READs: $how"
			barrier "unserved-${how%% *}"
			kt release c
		fi
	done
}

# On siw the sender invalidates the keys of a long message before it frees the MRs of the message. On other devices it
# does this only with a pool of MRs.
taken_back() {
	local was wanted=0
	if ((NODE == 1)); then
		kt accept a l 20000
		kt longreceive a "$max" 60000
		kt_is $((2 * MiB)) "a message whose keys are invalidated is received"
		barrier taken-back
		kt release a
	else
		[[ $LINK != siw ]] || wanted=2
		kt connect c "$server" 7000 max_msg=$max
		was=$(counter completed.invalidate)
		kt longsend c $((2 * MiB))
		kt_is 0 "a message whose keys are invalidated is sent"
		(($(counter completed.invalidate) - was == wanted))
		ok $? "$wanted keys are invalidated after a message"
		barrier taken-back
		kt release c
	fi
	barrier next
}

# Send short and long messages alternately. They arrive in order.
mixed() {
	local i
	if ((NODE == 1)); then kt accept a l 20000; else kt connect c "$server" 7000 max_msg=$max recv_depth=8; fi
	for i in {1..15}; do
		for len in 10 $((70000 + i)) $((30000 + i)) 0; do
			if ((NODE == 1)); then
				kt longreceive a "$max"
				[[ $kt_ret == "$len" ]] || bad+=" $i/$len:$kt_ret"
			else
				kt longsend c "$len"
				[[ $kt_ret == 0 ]] || bad+=" $i/$len:$kt_ret"
			fi
		done
	done
	[[ -z $bad ]]
	ok $? "node $NODE transfers sixty long and short messages in order$bad"
	bad=
	if ((NODE == 1)); then kt release a; else kt release c; fi
	barrier next
}

# No task receives, and krdma reads one message ahead. peek returns the length of this message. A receive with a buffer
# that is too small does not lose the message.
nobody_receives() {
	if ((NODE == 1)); then
		kt accept a l 20000
		barrier sent
		kt peek a 20000
		kt_is 100001 "peek returns the length of a message that was read ahead"
		kt longreceive a 1000 20000
		kt_is EMSGSIZE "a message that was read ahead is refused with a small buffer"
		kt longreceive a 200000 20000
		kt_is 100001 "a message that was read ahead is received"
		kt longreceive a 200000 $((20000 * slow))
		kt_is 100002 "the message behind one that was read ahead is received"
		barrier both
		barrier stays
		kt peek a 5000
		kt_is 100003 "peek returns the length of a message that was read ahead after the end"
		kt longreceive a 200000 20000
		kt_is 100003 "a message that was read ahead is received after the end"
		kt peek a 5000
		kt_is ECONNRESET "peek does not return a message that was not read before the end"
		kt longreceive a 200000 20000
		kt_is ECONNRESET "a message that was not read before the end cannot be received"
		kt release a
	else
		kt connect c "$server" 7000 max_msg=$max
		kt longsend c 100001 $((5000 * slow))
		kt_is 0 "the first long message is sent without a receiver"
		kt_start second longsend c 100002 $((30000 * slow))
		sleep 0.5
		[[ ! -s $results/second ]]
		ok $? "the second long message waits without a receiver"
		barrier sent
		kt_result second $((30 * slow))
		kt_is 0 "the second long message is sent when the first is received"
		barrier both
		kt longsend c 100003 $((5000 * slow))
		kt_is 0 "the third long message is sent without a receiver"
		kt longsend c 100004 700
		kt_is ETIMEDOUT "the fourth long message times out without a receiver"
		kt longsend c 10
		kt_is ETIMEDOUT "a long message that times out ends the connection"
		barrier stays
		kt release c
	fi
	barrier next
}

# A long message times out while the send queue is full, before krdma begins to send it. This affects neither the
# connection nor the requests in flight.
not_begun() {
	local was
	# The queue cannot be filled on siw, where requests leave it when TCP has taken them.
	[[ $LINK != siw ]] || return
	if ((NODE == 1)); then
		kt accept a busy 20000
		kt receive a 64 $((60000 * slow))
		kt_is 10 "a short message arrives after a long one that was not begun"
		kt longreceive a "$max" $((60000 * slow))
		kt_is 100001 "a long message arrives after one that was not begun"
		barrier not-begun
		kt release a
	else
		kt connect c "$server" 7002 rw=1 max_msg=$((4 * MiB)) send_depth=16
		kt_is 0 "connected with a send queue of 16"
		network rate 12mbit
		was=$(counter posted.write)
		kt_start writes async c write region 16 120000 chain=16
		until (($(counter posted.write) - was == 16)) || [[ -s $results/writes ]]; do sleep 0.02; done
		kt longsend c 100000 300
		kt_is ETIMEDOUT "a long message times out after 300 ms with a full send queue"
		kt send c 10 $((20000 * slow))
		kt_is 0 "a short message is sent after a long one that was not begun ($kt_text)"
		kt_result writes $((30 * slow))
		kt_is 0 "WRITEs that fill the send queue complete ($kt_text)"
		network
		kt longsend c 100001 $((60000 * slow))
		kt_is 0 "a long message is sent after one that was not begun"
		barrier not-begun
		kt release c
	fi
	barrier next
}

# both_ways BYTES OPTIONS: both nodes send a message of about BYTES bytes at the same time.
both_ways() {
	local slot=c
	((NODE == 2)) || slot=a
	# shellcheck disable=SC2086 # words of a command
	if ((NODE == 1)); then kt accept a l 20000; else kt connect c "$server" 7000 max_msg=$max $2; fi
	barrier both-ways
	kt_start out longsend $slot $(($1 + NODE)) 120000
	kt longreceive $slot "$max" 120000
	kt_is $(($1 + 3 - NODE)) "a message of $1 bytes is received while another one is sent"
	kt_result out 120
	kt_is 0 "a message of $1 bytes is sent while another one is received"
	barrier crossed
	kt release $slot
	barrier next
}

# Send a long message over a slow link. While the peer reads, its keepalive answers wait behind the data. This must not
# look like a dead peer.
slowly() {
	if ((NODE == 1)); then
		kt accept a l 20000
		kt longreceive a "$max" $((60000 * slow))
		kt_is $((3 * MiB)) "3 MiB are received over a slow link"
		barrier slowly
		kt release a
	else
		kt connect c "$server" 7000 max_msg=$max keepalive_ms=$((100 * slow))
		network rate 12mbit
		ok $? "the link is limited to 12 Mbit/s"
		kt longsend c $((3 * MiB)) $((60000 * slow))
		kt_is 0 "3 MiB are sent over a slow link in $kt_ms ms"
		network
		barrier slowly
		kt release c
	fi
}

# link_is_empty: succeed if netem holds no packet.
link_is_empty() { [[ $(tc -s qdisc show dev "$NETDEV" root) == *" backlog 0b 0p "* ]]; }

# A peer vanishes while it reads a long message. The sender detects this long before the timeout of the send. Skip siw,
# where only TCP detects a vanished peer.
vanishes() {
	[[ $LINK != siw ]] || return
	if ((NODE == 1)); then
		kt accept a l 20000
		kt_start reading longreceive a "$max" $((60000 * slow))
		barrier vanish
		sleep 0.5
		network loss 100%
		ok $? "the reader is cut off"
		kt_result reading $((40 * slow))
		((kt_ret < 0))
		ok $? "the call of a reader that is cut off fails: $kt_ret"
		network
		kt release a
	else
		kt connect c "$server" 7000 max_msg=$max keepalive_ms=$((500 * slow))
		network rate $((12 / slow))mbit
		barrier vanish
		kt longsend c $((3 * MiB)) $((60000 * slow))
		kt_is ETIMEDOUT "a send ends when its reader has vanished"
		kt_within 500 20000 "a send ends in time when its reader has vanished"
		network
		# netem sends packets in order, those of the slow link first: the next connection must not wait for them.
		check "the link has sent all packets" within 20 link_is_empty
		kt release c
	fi
	barrier vanished
}

# reap JOB: wait for the killed process of JOB. Set kt_ret to the result of its call, or to EINTR if the call did not
# return before the kill.
reap() {
	{ wait "$kt_pid"; } 2>/dev/null
	kt_ret=${errno[EINTR]}
	[[ ! -s $results/$1 ]] || kt_result "$1"
}

# kills_resend: send again after a sender was killed, and count whether this succeeds (early) or the connection has
# ended (ended).
kills_resend() {
	kt longsend c $((len + 1)) 60000
	is_one_of "$kt_ret" 0 "${errno[EINTR]}" "${errno[ECONNRESET]}"
	ok $? "round $i: a send after a killed one succeeds, or the connection has ended: $kt_ret"
	if ((kt_ret == 0)); then early=$((early + 1)); else ended=$((ended + 1)); fi
}

# Kill receivers and senders. A killed receiver loses a message only if its call had completed before the kill. A killed
# sender ends the connection if its message has begun. If the message has not begun, another task can send it.
kills() {
	local i len=$((8 * MiB)) again=0 ended=0 early=0
	for i in {1..8}; do
		if ((NODE == 1)); then
			kt accept a l 20000
			kt_is 0 "round $i: accepted for kills"
			kt_start got longreceive a "$max"
			barrier "kill$i"
			random $((100000 * slow))
			kt kill a "$kt_pid" any 1500 "$random"
			reap got
			if ((kt_ret == errno[EINTR])); then
				kt longreceive a "$max" 60000
				((kt_ret != len)) || again=$((again + 1))
			fi
			is_one_of "$kt_ret" "$len" $((len + 1)) "${errno[ECONNRESET]}"
			ok $? "round $i: the message of a killed receiver is received by the next call: $kt_ret"
			((kt_ret != len)) || kt longreceive a "$max" 60000
			is_one_of "$kt_ret" $((len + 1)) "${errno[ECONNRESET]}"
			ok $? "round $i: the message of a killed sender is received completely or not at all: $kt_ret"
			# Release the connection only after the barrier, because the sender may wait for the
			# acknowledgement.
			barrier "killed$i"
			kt release a
		else
			kt connect c "$server" 7000 max_msg=$max
			kt_is 0 "round $i: connected for kills"
			barrier "kill$i"
			kt longsend c "$len" 60000
			kt_is 0 "round $i: a message is sent to a receiver that is killed"
			kt_start sending longsend c $((len + 1)) 60000
			# On a busy machine the receiver may not be in its call when the sender is killed. If so, the
			# next round waits longer before the kill.
			random $((150000 * slow * (early + 1)))
			kt kill c "$kt_pid" any 1500 "$random"
			reap sending
			is_one_of "$kt_ret" 0 "${errno[EINTR]}"
			ok $? "round $i: the sender is killed: $kt_ret"
			((kt_ret == 0)) || kills_resend
			barrier "killed$i"
			kt release c
		fi
	done
	((again + ended > 0))
	ok $? "tasks were killed during a message: $again receivers, $ended senders; before one: $early senders"
}

# Kill the sender when its whole message is in flight over a slow link. The receiver must not get data that was stored
# in the sender's memory after the kill.
kills_late() {
	local i len=$((256 * 1024)) ended=0
	for i in {1..6}; do
		if ((NODE == 1)); then
			kt accept a l 20000
			# Receive a message at full speed first, so that TCP adapts its window.
			kt longreceive a "$max" 60000
			kt_is $((2 * MiB)) "late round $i: 2 MiB are received at full speed in $kt_ms ms"
			barrier "late$i"
			kt longreceive a "$max" $((20000 * slow))
			is_one_of "$kt_ret" "$len" "${errno[ECONNRESET]}" "${errno[ETIMEDOUT]}"
			ok $? "late round $i: the message of a killed sender is received completely or not at all: $kt_ret"
			barrier "was-late$i"
			kt release a
		else
			kt connect c "$server" 7000 max_msg=$max
			kt longsend c $((2 * MiB)) 60000
			kt_is 0 "late round $i: 2 MiB are sent at full speed in $kt_ms ms"
			barrier "late$i"
			network rate $((12 / slow))mbit
			kt_start sending longsend c "$len" 60000
			kt kill c "$kt_pid" any 1500 $((i * 30000 * slow))
			reap sending
			((kt_ret == 0)) || ended=$((ended + 1))
			is_one_of "$kt_ret" 0 "${errno[EINTR]}"
			ok $? "late round $i: the sender is killed: $kt_ret"
			network
			barrier "was-late$i"
			kt release c
		fi
	done
	((NODE == 1 || ended > 0))
	ok $? "late rounds: senders were killed during a message: $ended"
}

# Release the connection during a message, on either end.
releases() {
	local i slot
	for i in {1..6}; do
		if ((NODE == 1)); then slot=a; kt accept a l 20000; else slot=c; kt connect c "$server" 7000 max_msg=$max; fi
		barrier "release$i"
		if ((NODE == 1)); then
			kt_start moving longreceive a "$max" 60000
		else
			kt_start moving longsend c $((16 * MiB)) 60000
		fi
		random 150000
		sleep "$(printf '0.%06d' "$random")"
		if ((i % 2 == NODE % 2)); then
			kt release $slot
			kt_is 0 "round $i: node $NODE releases the connection during a message"
		fi
		kt_result moving $((30 * slow))
		[[ $kt_ret != -1 || $kt_text != "still running" ]]
		ok $? "round $i: the call on a released connection ends: $kt_ret"
		kt release $slot
		barrier "released$i"
	done
}

bad=
seed 1
if ((NODE == 1)); then
	# Use a long timeout, because debug kernels need more than 30 s for one batch of READs.
	expect 0 listen l 0.0.0.0 7000 max_msg=$max op_ms=$((30000 * slow))
	expect 0 listen rw 0.0.0.0 7001 rw=1 max_msg=4096
	expect 0 listen busy 0.0.0.0 7002 rw=1 max_msg=$((4 * MiB))
fi
barrier listening
all "" exact
all "buf_size=256 recv_depth=4" any
in_parts
no_reads
taken_back
mixed
nobody_receives
not_begun
both_ways $((5 * MiB)) ""
# siw needs more READs for this message than the depth of 2 allows at a time.
both_ways $((huge * MiB)) "resources=2 depth=2 op_ms=$((30000 * slow))"
slowly
vanishes
kills
kills_late
releases
if ((NODE == 1)); then
	expect 0 release l
	expect 0 release rw
	expect 0 release busy
fi
same_resources "$before" "resources are as before"
finish
