#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# pull: long messages, which the receiver reads from the sender's memory: of any length and kind of memory, over the
# borders of MRs and CHUNKs; with nobody who receives; both ways at once; with tasks killed and connections released amid
# one.
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
# A module's own data is from vmalloc() on UML only.
own=0
[[ $KERNEL != uml* ]] || own=1
((slow < 4)) || huge=18
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug

counter() { awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/debug/krdma/counters; }

# 16 MiB take longer than an operation may where KASAN looks at each packet in an emulated processor.
fits() {
	if [[ $KERNEL == debug-* ]]; then awk -v max=$((3 * MiB)) '$1 <= max'; else cat; fi
}

# Lengths, kinds of memory, offsets in the page, and how many CHUNKs that makes for the peer.
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

# all OPTIONS CHUNKS: each line of the table; where the other end's options make another number of CHUNKs, CHUNKS is "any".
all() {
	local options=$1 chunks=$2 len kind at wanted was now
	was=$(counter chunks_pulled)
	if ((NODE == 1)); then
		kt accept a l 20000
	else
		# shellcheck disable=SC2086 # words of a command
		kt connect c "$server" 7000 max_msg=$max $options
	fi
	kt_is 0 "connected ${options:-as usual}"
	while read -r len kind at wanted; do
		if ((NODE == 1)); then
			# What it goes to need not be aligned either.
			kt longreceive a "$max" 120000 at=$((at / 2))
			kt_is "$len" "received $len bytes from $kind at $at"
			# Before the next one comes.
			now=$(counter chunks_pulled)
			barrier got
			[[ $chunks == any ]] || ((now - was == wanted))
			ok $? "pulled $((now - was)) CHUNKs, $wanted"
			was=$now
		else
			kt longsend c "$len" 120000 mem="$kind" at="$at"
			kt_is 0 "sent $len bytes from $kind at $at"
			barrier got
		fi
	done < <(table | fits)
	if ((NODE == 1)); then kt release a; else kt release c; fi
	barrier next
}

# Whoever does not want that sends parts.
in_parts() {
	local was
	if ((NODE == 1)); then
		kt accept a l 20000
		was=$(counter chunks_pulled)
		kt longreceive a "$max" 60000
		kt_is $((2 * MiB)) "received in parts"
		(($(counter chunks_pulled) == was))
		ok $? "nothing was pulled"
		# The sender has to hear of it.
		barrier in-parts
		kt release a
	else
		kt connect c "$server" 7000 max_msg=$max pull_min=4294967295
		kt longsend c $((2 * MiB))
		kt_is 0 "sent in parts"
		barrier in-parts
		kt release c
	fi
	barrier next
}

# From who serves no READs nothing is pulled, and who makes none pulls nothing: KRDMA_ZERO. Who tries all the same loses the
# connection on siw, which keeps the READ that it cannot send; rxe would wait for its turn.
no_reads() {
	local was i sender
	for i in resources=255 depth=255; do
		sender=2
		[[ $i == resources* ]] || sender=1
		if ((NODE == 1)); then kt accept no l 20000; else kt connect no "$server" 7000 max_msg=$max $i; fi
		# Some kernels have both nodes.
		barrier "no-reads-$i"
		was=$(counter chunks_pulled)
		if ((NODE == sender)); then
			kt longsend no $((2 * MiB)) 60000
			kt_is 0 "$i: sent"
		else
			kt longreceive no "$max" 60000
			kt_is $((2 * MiB)) "$i: received"
			(($(counter chunks_pulled) == was))
			ok $? "$i: nothing was pulled"
		fi
		barrier "had-no-reads-$i"
		kt release no
	done
	[[ $LINK != siw ]] || unserved_reads
	barrier next
}

# read NAME LEN OFFSET is one work request, the other one many of a doorbell.
unserved_reads() {
	local how
	for how in "read a 64 0" "async a read region 40 64 chain=40"; do
		if ((NODE == 1)); then
			kt accept a rw 20000
			# While siw still sends something else it just drops the connection.
			sleep 0.3
			# shellcheck disable=SC2086 # words of a command
			kt $how
			is_one_of "$kt_ret" "${errno[EOPNOTSUPP]}" "${errno[ECONNRESET]}"
			ok $? "$how: the peer serves no READs: $kt_ret ($kt_text)"
			kt send a 64
			is_one_of "$kt_ret" "${errno[EOPNOTSUPP]}" "${errno[ECONNRESET]}"
			ok $? "and that was the end: $kt_ret"
			kt release a
			barrier "unserved-${how%% *}"
		else
			kt connect c "$server" 7001 rw=1 max_msg=4096 resources=255
			kt_is 0 "connected without serving READs"
			barrier "unserved-${how%% *}"
			kt release c
		fi
	done
}

# On siw the keys are taken back before the memory goes, else only where MRs are kept.
taken_back() {
	local was wanted=0
	if ((NODE == 1)); then
		kt accept a l 20000
		kt longreceive a "$max" 60000
		kt_is $((2 * MiB)) "received"
		barrier taken-back
		kt release a
	else
		[[ $LINK != siw ]] || wanted=2
		kt connect c "$server" 7000 max_msg=$max
		was=$(counter completed.invalidate)
		kt longsend c $((2 * MiB))
		kt_is 0 "sent"
		(($(counter completed.invalidate) - was == wanted))
		ok $? "$wanted keys were invalidated"
		barrier taken-back
		kt release c
	fi
	barrier next
}

# Short and long ones alternate, and stay in order.
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
	ok $? "sixty messages, long and short, in order$bad"
	bad=
	if ((NODE == 1)); then kt release a; else kt release c; fi
	barrier next
}

# One is read ahead; what it is can be asked, and a buffer that is too small loses nothing.
nobody_receives() {
	if ((NODE == 1)); then
		kt accept a l 20000
		barrier sent
		kt peek a 20000
		kt_is 100001 "the next message has 100001 bytes"
		kt longreceive a 1000 20000
		kt_is EMSGSIZE "which is more than 1000"
		kt longreceive a 200000 20000
		kt_is 100001 "received"
		kt longreceive a 200000 $((20000 * slow))
		kt_is 100002 "and the next one"
		barrier both
		barrier stays
		kt peek a 5000
		kt_is 100003 "what was read ahead is there after the end"
		kt longreceive a 200000 20000
		kt_is 100003 "what was read ahead can be received after the end"
		kt peek a 5000
		kt_is ECONNRESET "what was not read is not promised"
		kt longreceive a 200000 20000
		kt_is ECONNRESET "what was not read cannot"
		kt release a
	else
		kt connect c "$server" 7000 max_msg=$max
		kt longsend c 100001 $((5000 * slow))
		kt_is 0 "the first message goes, though nobody receives"
		kt_start second longsend c 100002 $((30000 * slow))
		sleep 0.5
		[[ ! -s $results/second ]]
		ok $? "the second does not"
		barrier sent
		kt_result second $((30 * slow))
		kt_is 0 "until the first was received"
		barrier both
		kt longsend c 100003 $((5000 * slow))
		kt_is 0 "one more"
		kt longsend c 100004 700
		kt_is ETIMEDOUT "and the next one times out"
		kt longsend c 10
		kt_is ETIMEDOUT "with the connection"
		barrier stays
		kt release c
	fi
	barrier next
}

# Where the send queue is full a long message does not begin, and harms nobody: neither the connection nor what is under way.
not_begun() {
	local was
	# There they leave it when TCP has them.
	[[ $LINK != siw ]] || return
	if ((NODE == 1)); then
		kt accept a busy 20000
		kt receive a 64 $((60000 * slow))
		kt_is 10 "the short message arrived"
		kt longreceive a "$max" $((60000 * slow))
		kt_is 100001 "and a long one"
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
		kt_is ETIMEDOUT "there was no place for a long message for 300 ms"
		kt send c 10 $((20000 * slow))
		kt_is 0 "a short one goes later ($kt_text)"
		kt_result writes $((30 * slow))
		kt_is 0 "and nothing happened to what took the place ($kt_text)"
		network
		kt longsend c 100001 $((60000 * slow))
		kt_is 0 "nor to long ones"
		barrier not-begun
		kt release c
	fi
	barrier next
}

# both_ways BYTES OPTIONS
both_ways() {
	local slot=c
	((NODE == 2)) || slot=a
	# shellcheck disable=SC2086 # words of a command
	if ((NODE == 1)); then kt accept a l 20000; else kt connect c "$server" 7000 max_msg=$max $2; fi
	barrier both-ways
	kt_start out longsend $slot $(($1 + NODE)) 120000
	kt longreceive $slot "$max" 120000
	kt_is $(($1 + 3 - NODE)) "received while sending"
	kt_result out 120
	kt_is 0 "sent while receiving"
	barrier crossed
	kt release $slot
	barrier next
}

# While the peer reads, its word that it is there waits behind the data: that must not be taken for death.
slowly() {
	if ((NODE == 1)); then
		kt accept a l 20000
		kt longreceive a "$max" $((60000 * slow))
		kt_is $((3 * MiB)) "received over a slow cable"
		barrier slowly
		kt release a
	else
		kt connect c "$server" 7000 max_msg=$max keepalive_ms=$((100 * slow))
		network rate 12mbit
		ok $? "a cable of 12 Mbit/s"
		kt longsend c $((3 * MiB)) $((60000 * slow))
		kt_is 0 "sent over a slow cable in $kt_ms ms"
		network
		barrier slowly
		kt release c
	fi
}

# Who vanishes while it reads is missed all the same, long before the sender's limit: on siw by TCP only.
vanishes() {
	[[ $LINK != siw ]] || return
	if ((NODE == 1)); then
		kt accept a l 20000
		kt_start reading longreceive a "$max" $((60000 * slow))
		barrier vanish
		sleep 0.5
		network loss 100%
		ok $? "the cable is cut in one direction"
		kt_result reading $((40 * slow))
		((kt_ret < 0))
		ok $? "the reader's call ends: $kt_ret"
		network
		kt release a
	else
		kt connect c "$server" 7000 max_msg=$max keepalive_ms=$((500 * slow))
		network rate $((12 / slow))mbit
		barrier vanish
		kt longsend c $((3 * MiB)) $((60000 * slow))
		kt_is ETIMEDOUT "the reader has vanished"
		kt_within 500 20000 "that is noticed in time"
		network
		kt release c
	fi
	barrier vanished
}

# reap JOB: its process was killed. Sets kt_ret: what the call had returned before, else EINTR.
reap() {
	{ wait "$kt_pid"; } 2>/dev/null
	kt_ret=${errno[EINTR]}
	[[ ! -s $results/$1 ]] || kt_result "$1"
}

# The next sender after one that was killed: of kills.
kills_resend() {
	kt longsend c $((len + 1)) 60000
	is_one_of "$kt_ret" 0 "${errno[EINTR]}" "${errno[ECONNRESET]}"
	ok $? "round $i: and the next one gets $kt_ret"
	if ((kt_ret == 0)); then early=$((early + 1)); else ended=$((ended + 1)); fi
}

# A receiver that is killed loses nothing, unless the call was over and only the test had not noticed. A sender that is
# killed ends the connection, unless nothing had left yet: then the message can be sent again.
kills() {
	local i len=$((8 * MiB)) again=0 ended=0 early=0
	for i in {1..8}; do
		if ((NODE == 1)); then
			kt accept a l 20000
			kt_is 0 "round $i: accepted"
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
			ok $? "round $i: the receiver was killed, and the next one gets $kt_ret"
			((kt_ret != len)) || kt longreceive a "$max" 60000
			is_one_of "$kt_ret" $((len + 1)) "${errno[ECONNRESET]}"
			ok $? "round $i: from a sender that is killed comes all or nothing: $kt_ret"
			# The sender may have to hear of it.
			barrier "killed$i"
			kt release a
		else
			kt connect c "$server" 7000 max_msg=$max
			kt_is 0 "round $i: connected"
			barrier "kill$i"
			kt longsend c "$len" 60000
			kt_is 0 "round $i: sent"
			kt_start sending longsend c $((len + 1)) 60000
			# On a busy machine the receiver may not have called yet: later, if that was so.
			random $((150000 * slow * (early + 1)))
			kt kill c "$kt_pid" any 1500 "$random"
			reap sending
			is_one_of "$kt_ret" 0 "${errno[EINTR]}"
			ok $? "round $i: the sender was killed: $kt_ret"
			((kt_ret == 0)) || kills_resend
			barrier "killed$i"
			kt release c
		fi
	done
	((again + ended > 0))
	ok $? "amid a message: $again receivers, $ended senders; $early senders before"
}

# The sender is killed when all of its message is on the way, over a slow cable: what is still to be sent must not be what
# its memory became afterwards.
kills_late() {
	local i len=$((256 * 1024)) ended=0
	for i in {1..6}; do
		if ((NODE == 1)); then
			kt accept a l 20000
			# So TCP has learnt how much it may send.
			kt longreceive a "$max" 60000
			kt_is $((2 * MiB)) "late $i: received at full speed in $kt_ms ms"
			barrier "late$i"
			kt longreceive a "$max" $((20000 * slow))
			is_one_of "$kt_ret" "$len" "${errno[ECONNRESET]}" "${errno[ETIMEDOUT]}"
			ok $? "late $i: from a sender that is killed comes all or nothing: $kt_ret"
			barrier "was-late$i"
			kt release a
		else
			kt connect c "$server" 7000 max_msg=$max
			kt longsend c $((2 * MiB)) 60000
			kt_is 0 "late $i: sent at full speed in $kt_ms ms"
			barrier "late$i"
			network rate $((12 / slow))mbit
			kt_start sending longsend c "$len" 60000
			kt kill c "$kt_pid" any 1500 $((i * 30000 * slow))
			reap sending
			((kt_ret == 0)) || ended=$((ended + 1))
			is_one_of "$kt_ret" 0 "${errno[EINTR]}"
			ok $? "late $i: the sender was killed: $kt_ret"
			network
			barrier "was-late$i"
			kt release c
		fi
	done
	((NODE == 1 || ended > 0))
	ok $? "amid a message: $ended senders"
}

# Either end goes away amid a message.
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
			kt_is 0 "round $i: released"
		fi
		kt_result moving $((30 * slow))
		[[ $kt_ret != -1 || $kt_text != "still running" ]]
		ok $? "round $i: the call ended: $kt_ret"
		kt release $slot
		barrier "released$i"
	done
}

bad=
seed 1
if ((NODE == 1)); then
	# Kernels that check themselves need more than 30 s for what is read at a time.
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
# siw makes more READs of it than that.
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
