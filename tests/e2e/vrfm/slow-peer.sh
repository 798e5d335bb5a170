#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# slow-peer: a slow or unreachable peer does not block writers (G9). A call waits for the peer at most twice overload_ms,
# and a store through a mapping at most two seconds. A store into a claimed range does not wait. The other peer has all
# words in order. The slow peer gets these words when it is back. A large call gets more time for each MiB. A node that
# falls behind is notified at once. The time limit of each peer can be tuned while the device is up.
#
#   node 1 (writes) --- node 2 (checks)
#        \
#         node 3 (cut off, then slow)
#
# nodes: 3
# kernels: uml
# alone: uml/siw stock-6.1 stock-6.1-rt debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G1 G2 G9
# security: auth encrypt long
# timeout: 460

# Arguments: names of the cases to run; without arguments, all cases run.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
overload_ms=200
# Maximum time of a write, in us. The guarantee is twice overload_ms. The maximum here is longer, because a busy machine
# adds more than 200 ms.
longest_us=$(((4 * overload_ms + 100) * 1000 * slow))
blocks=$((2000 / slow))

cut() {
	network "$@"
	ok $? "node $NODE has a network with $*"
}

mend() {
	network
}

behind() {
	local line
	line=$(rfm_peer_line 3)
	[[ $line == *" overloads "[1-9]* || $line == *" down "* ]]
}

# took US DESCRIPTION: one case, which passes if US is at most longest_us.
took() {
	(($1 <= longest_us))
	ok $? "$2: $1 us"
}

written_word() {
	[[ $(rfm peek 128) != 0 ]]
}

# Node 1 writes words and blocks while node 3 is cut off.
cut_off() {
	local text pid
	barrier "cut-begins"
	on 3 cut loss 100%
	barrier is-cut
	case $NODE in
	1)
		rfm longest 128 $((5 * slow)) >/tmp/longest &
		pid=$!
		text=$(rfm heavy 262144 60000 $((4 * slow)))
		took "$text" "the longest write of a block with node 3 cut off"
		wait "$pid"
		took "$(</tmp/longest)" "the longest write of a word with node 3 cut off"
		check "node 3 was left behind while it was cut off" behind
		;;
	2) check "node 2 receives words with node 3 cut off" within 5 written_word ;;
	esac
	barrier written
	case $NODE in
	1) check "node 1 writes $blocks blocks with node 3 cut off" rfm blocks 4096 5000 "$blocks" ;;
	2) check "node 2 has the blocks in order with node 3 cut off" rfm watch 4096 5000 "$blocks" $((60 * slow)) ;;
	esac
	barrier watched
	on 3 mend
	check "node $NODE is linked with both peers after node 3 was cut off" within 60 rfm_is ready
	barrier back
	check "all nodes are equal after node 3 was cut off" rfm_equal back
}

# Node 3 is cut off. The link to node 3 is still up, and its window is full, so non-blocking writes are refused.
impatient() {
	local refused longest pid
	barrier impatient
	on 3 cut loss 100%
	barrier deaf
	if ((NODE == 1)); then
		/add/rfm "$RFM" heavy 262144 60000 $((20 * slow)) >/dev/null &
		pid=$!
		read -r longest refused _ < <(rfm impatient 192 4 $((2 * slow)))
		((refused > 0))
		ok $? "a non-blocking write with a full window is refused: $refused times"
		took "$longest" "the longest non-blocking write with a full window"
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		check "a killed writer has exited" test ! -e "/proc/$pid"
	fi
	barrier refused
	on 3 mend
	check "node $NODE is linked with both peers after non-blocking writes" within 60 rfm_is ready
	barrier patient
	check "all nodes are equal after non-blocking writes" rfm_equal patient
}

# Node 3 is left behind also if all writes are non-blocking. In this case no writer waits for node 3.
refusing() {
	local times on_end
	barrier refusing
	on 3 cut loss 100%
	barrier silent
	if ((NODE == 1)); then
		read -r _ times on_end < <(rfm impatient 524288 4096 $((5 * slow)))
		((times > 0))
		ok $? "non-blocking writes alone are refused: $times times"
		took "$on_end" "the longest time in which all non-blocking writes are refused"
		check "node 3 was left behind by non-blocking writes alone" behind
	fi
	barrier left-behind
	on 3 mend
	check "node $NODE is linked with both peers after non-blocking writes alone" within 60 rfm_is ready
	barrier relinked
	check "all nodes are equal after non-blocking writes alone" rfm_equal refused
}

# stores CLAIMED: run a loop that stores each millisecond while node 3 is cut off. The loop claims its range if CLAIMED
# is 1. Sets longest to the time of the longest store, in us.
stores() {
	local pid
	/add/rfm "$RFM" steady 0 $((2 << 20)) $((6 * slow)) "$1" >/tmp/steady &
	pid=$!
	sleep 1
	barrier "stores-$1"
	barrier "stores-$1-cut"
	check "a loop stores every millisecond, claimed $1" wait "$pid"
	longest=$(</tmp/steady)
}

# Programs store through mappings while node 3 is cut off.
stored() {
	local claimed longest limit_us=$((2000000 * slow))
	for claimed in 0 1; do
		barrier "stored-$claimed"
		if ((NODE == 1)); then
			stores "$claimed"
			((longest <= limit_us))
			ok $? "the longest store, claimed $claimed: $longest us"
			((claimed)) || check "node 3 was left behind by stores" behind
		else
			barrier "stores-$claimed"
			on 3 cut loss 100%
			barrier "stores-$claimed-cut"
		fi
		limit_us=$((500000 * slow))
		barrier "stored-$claimed-over"
		on 3 mend
		check "node $NODE is linked with both peers after stores, claimed $claimed" within 60 rfm_is ready
		barrier "stored-$claimed-back"
		check "all nodes are equal after stores, claimed $claimed" rfm_equal "stored-$claimed"
	done
}

# All nodes write as fast as possible, with node 3 on a slow network.
everybody() {
	local text
	barrier everybody
	on 3 cut delay 5ms rate 20mbit
	barrier slow
	text=$(rfm heavy $((262144 * NODE)) 60000 $((5 * slow)))
	took "$text" "the longest write of a block with all nodes writing"
	barrier wrote
	on 3 mend
	check "node $NODE is linked with both peers after all nodes wrote" within 60 rfm_is ready
	barrier fast
	check "all nodes are equal after all nodes wrote" rfm_equal everybody
}

# nobody_behind: succeed if no peer has fallen behind since the device was created.
nobody_behind() {
	[[ $(rfm_peer_line 2) == *" overloads 0 "* && $(rfm_peer_line 3) == *" overloads 0 "* ]]
}

# another SIZE OVERLOAD_MS [DIRECT]: recreate the device of this node with these attributes.
another() {
	check "node $NODE removes its device before one of $1" rfm_unmake
	barrier "none-$1"
	check "node $NODE creates a device of $1 with overload_ms=$2" rfm_make "$1" keepalive_ms=30000 overload_ms="$2" direct="${3:-off}"
	check "node $NODE is linked with both peers, device of $1" within 30 rfm_is ready
	barrier "another-$1"
}

# A call leaves no peer behind merely because the call is large: each MiB of the call may take overload_ms.
large() {
	local wait_ms=$((900 * slow)) text
	another 8M "$wait_ms"
	if ((NODE == 1)); then
		# Sending 1 MiB to both peers takes a third of overload_ms, so sending 8 MiB takes longer than overload_ms.
		cut rate $((56 / slow))mbit
		text=$(rfm heavy 0 8388608 $((4 * slow)))
		((text > wait_ms * 1000))
		ok $? "a block of 8 MiB takes longer than overload_ms: $text us"
		check "a block of 8 MiB leaves no peer behind" nobody_behind
		mend
	fi
	barrier wide
	check "all nodes are equal after a block of 8 MiB" rfm_equal large
}

# vrfm stores a block in steps. overload_ms limits the sum of the waits in all steps of a MiB.
steps() {
	local wait_ms=$((600 * slow)) text
	another 2M "$wait_ms"
	if ((NODE == 1)); then
		# Sending one step takes less than overload_ms, and sending the whole block takes longer than
		# overload_ms.
		cut rate $((12 / slow))mbit
		text=$(rfm heavy 0 1048576 $((3 * slow)))
		((text <= (wait_ms + 300 * slow) * 1000))
		ok $? "a block of 1 MiB waits no longer than for one step: $text us"
		check "node 3 was left behind by a block of several steps" behind
		mend
	fi
	barrier slowest
	check "node $NODE is linked with both peers after a block of several steps" within 60 rfm_is ready
	barrier mended
	check "all nodes are equal after a block of several steps" rfm_equal steps
}

# rests MS: succeed if node 3 stays left behind for more than MS ms from now on.
rests() {
	local peer name value
	while read -r peer name value; do
		[[ $peer:$name != 3:back_off_ms ]] || break
	done <"/sys/kernel/debug/vrfm/${RFM#/dev/}/links"
	((value > $1))
}

# shows NODE FIELD WANTED TEXT: one case, which passes if a field of NODE in the status page is WANTED. FIELD is its
# number, from 0.
shows() {
	local -a fields
	read -r -a fields < <(rfm status "$1")
	[[ ${fields[$2]} == "$3" ]]
	ok $? "$4: ${fields[*]}"
}

unsynced() {
	[[ $(rfm_peer_line 1) == *" peer_synced 0 "* ]]
}

# Node 3 acknowledges late, and is left behind although no writer waits for it. Node 3 is notified that it was left
# behind long before node 1 lets it catch up.
notified() {
	another 2M "$overload_ms"
	mount_debugfs
	shows $((NODE == 3 ? 1 : 3)) 5 0 "the status page shows no peer that was left behind"
	on 3 cut delay 200ms
	barrier late
	if ((NODE == 1)); then
		check "overload_us of node 3 is set to 0" tune peers/3/overload_us 0
		# Node 2 must not be left behind, but a busy machine may stop it for longer than overload_ms.
		check "overload_us of node 2 is set to 20 s" tune peers/2/overload_us 20000000
		/add/rfm "$RFM" heavy 262144 60000 $((5 * slow)) >/tmp/heavy &
		check "node 3 is left behind for some seconds" within 20 rests 1500
	fi
	barrier resting
	if ((NODE == 3)); then
		check "the status page of node 3 shows that it was left behind" rfm stale 1 $((1 * slow))
		check "/proc/rfm2g of node 3 shows that it was left behind" unsynced
	fi
	barrier known
	if ((NODE == 1)); then
		check "node 3 is still left behind after it was notified" rests 0
		wait
		[[ $(rfm take 8) == "3 0" ]]
		ok $? "RXFIFO_AFULL on node 1 names the peer that was left behind"
		[[ $(rfm_peer_line 2) == *" overloads 0 "* ]]
		ok $? "node 2 was not left behind"
	elif ((NODE == 3)); then
		[[ $(rfm take 6) == "1 0" ]]
		ok $? "RXFIFO_FULL on node 3 names the peer that left it behind"
	fi
	barrier heavy
	on 3 mend
	check "node $NODE is linked with both peers after node 3 was notified" within 60 rfm_is ready
	barrier notified
	check "all nodes are equal after node 3 was notified" rfm_equal notified
}

writes_directly() {
	[[ $(rfm_peer_line 3) == *" shown yes "* ]]
}

# Before a store, peers must confirm that they do not write directly into the range. While node 3 is cut off it does not
# confirm, so a store by the kernel into the mapping waits. A kill must end the wait.
killed() {
	local pid began
	if [[ $KERNEL == uml* ]]; then
		on 1 skip "read() into a mapping waits" "UML stores for the kernel whatever the fault returned"
		return
	fi
	another 2M "$overload_ms" auto
	if ((NODE == 1)); then
		check "node 3 may write into this memory" within 20 writes_directly
		check "stage_ms is set to 30 s" tune stage_ms 30000
	fi
	barrier waits
	on 3 cut loss 100%
	barrier lost
	if ((NODE == 1)); then
		/add/rfm "$RFM" slurp 0 4096 &
		pid=$!
		sleep 1
		check "read() into a mapping waits" test -e "/proc/$pid"
		began=$SECONDS
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		check "a kill ends a read() into a mapping within 3 s: $((SECONDS - began))" test $((SECONDS - began)) -le $((3 * slow))
	fi
	barrier killed-there
	on 3 mend
	check "node $NODE is linked with both peers after a killed read()" within 60 rfm_is ready
	barrier killed
	check "all nodes are equal after a killed read()" rfm_equal killed
}

tuned_is() {
	[[ $(cd "$rfm_config/${RFM#/dev/}" && cat overload_us overload_ms flush_us quiet_us stage_ms direct_min peers/2/overload_us | tr '\n' ' ') == "$1" ]]
}

tune() {
	echo "$2" >"$rfm_config/${RFM#/dev/}/$1"
}

# Attributes that only tune a device can be changed while the device is up. Some of them are times in microseconds.
tuned() {
	another 2M $((2000 * slow))
	if ((NODE == 1)); then
		check "overload_us is changed while the device is up" tune overload_us 500
		check "flush_us is changed while the device is up" tune flush_us 7
		check "quiet_us is changed while the device is up" tune quiet_us 900
		check "stage_ms is changed while the device is up" tune stage_ms 1100
		check "direct_min is changed while the device is up" tune direct_min 1024
		check "overload_us of a peer is changed while the device is up" tune peers/2/overload_us 700
		check "attributes changed while the device is up have their new values" tuned_is "500 1 7 900 1100 1024 700 "
		check "overload_us of a peer is reset to that of the device" tune peers/2/overload_us device
		check "overload_ms is changed while the device is up" tune overload_ms 3
		check "overload_ms and overload_us show the same value" tuned_is "3000 3 7 900 1100 1024 device "
		for word in overload_us=60000001 overload_ms=0 overload_us=-1 peers/2/overload_us=soon peers/2/overload_us=60000001; do
			! tune "${word%=*}" "${word#*=}" 2>/dev/null
			ok $? "$word is refused"
		done
		! tune size 4M 2>/dev/null
		ok $? "changing the size while the device is up is refused"
		tune overload_us 500
	fi
	barrier tuned
	on 3 cut loss 100%
	barrier deaf-again
	if ((NODE == 1)); then
		rfm heavy 262144 60000 $((3 * slow)) >/tmp/longest
		# A busy machine adds some hundred milliseconds to overload_us.
		(($(</tmp/longest) <= 1000000 * slow))
		ok $? "the longest write of a block with overload_us=500: $(</tmp/longest) us"
		check "node 3 was left behind with overload_us=500" behind
	fi
	barrier short
	on 3 mend
	check "node $NODE is linked with both peers after tuning" within 60 rfm_is ready
	barrier tuned-back
	check "all nodes are equal after tuning" rfm_equal tuned
}

check "node $NODE creates a device with two peers" rfm_make 2M keepalive_ms=30000 overload_ms=$overload_ms
check "node $NODE is linked with both peers" within 30 rfm_is ready
barrier linked
(($# > 0)) || set -- stored cut_off impatient refusing everybody large steps notified killed tuned
for case in "$@"; do
	$case
done
barrier over
check "node $NODE removes its device" rfm_unmake
barrier gone
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
