#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# overload: a peer that is slow, or cut off, stops nobody (G9): a call waits for it no longer than twice overload_ms, a
# store through a mapping no longer than twice a second, and not at all where that was claimed before; the other peer has
# everything in order, and the slow one has it, too, when it is back. No call is too large to be sent. A node that was left
# behind knows it at once; how long a call waits is tuned while the device is up, for each peer.
#
#   node 1 (writes) --- node 2 (watches)
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
# timeout: 460

# The names of cases as arguments run only these.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
overload_ms=200
# Twice that is promised. A busy machine adds more than 200 ms.
longest_us=$(((4 * overload_ms + 100) * 1000 * slow))
blocks=$((2000 / slow))

cut() {
	network "$@"
	ok $? "node $NODE has $*"
}

mend() {
	network
}

# equal NAME: all nodes have the same memory.
equal() {
	local status=0
	rfm_settle || return
	barrier "$1-synced"
	cat "$RFM" >"/exchange/$1-$NODE"
	barrier "$1-copied"
	cmp "/exchange/$1-1" "/exchange/$1-$NODE" || status=1
	barrier "$1-compared"
	return "$status"
}

behind() {
	local line
	line=$(rfm_peer_line 3)
	[[ $line == *" overloads "[1-9]* || $line == *" down "* ]]
}

# took US DESCRIPTION
took() {
	(($1 <= longest_us))
	ok $? "$2: $1 us"
}

written_word() {
	[[ $(rfm peek 128) != 0 ]]
}

# While node 3 hears nothing.
cut_off() {
	local text pid
	barrier "cut-begins"
	((NODE != 3)) || cut loss 100%
	barrier is-cut
	case $NODE in
	1)
		rfm longest 128 $((5 * slow)) >/tmp/longest &
		pid=$!
		text=$(rfm heavy 262144 60000 $((4 * slow)))
		took "$text" "the longest write of a block"
		wait "$pid"
		took "$(</tmp/longest)" "the longest write of a word"
		check "node 3 was left behind" behind
		;;
	2) check "node 2 hears of it" within 5 written_word ;;
	esac
	barrier written
	case $NODE in
	1) check "$blocks blocks are written" rfm blocks 4096 5000 "$blocks" ;;
	2) check "node 2 has them in order" rfm watch 4096 5000 "$blocks" $((60 * slow)) ;;
	esac
	barrier watched
	((NODE != 3)) || mend
	check "linked again" within 60 rfm_is ready
	barrier back
	check "all nodes are equal" equal back
}

# The window is full, and node 3 not yet given up.
impatient() {
	local refused longest pid
	barrier impatient
	((NODE != 3)) || cut loss 100%
	barrier deaf
	if ((NODE == 1)); then
		/add/rfm "$RFM" heavy 262144 60000 $((20 * slow)) >/dev/null &
		pid=$!
		read -r longest refused _ < <(rfm impatient 192 4 $((2 * slow)))
		((refused > 0))
		ok $? "who does not wait is refused: $refused times"
		took "$longest" "at once"
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		check "who was killed has gone" test ! -e "/proc/$pid"
	fi
	barrier refused
	((NODE != 3)) || mend
	check "linked again" within 60 rfm_is ready
	barrier patient
	check "all nodes are equal" equal patient
}

# Nobody waits: node 3 is left behind all the same.
refused() {
	local times on_end
	barrier refusing
	((NODE != 3)) || cut loss 100%
	barrier silent
	if ((NODE == 1)); then
		read -r _ times on_end < <(rfm impatient 524288 4096 $((5 * slow)))
		((times > 0))
		ok $? "who does not wait is refused: $times times"
		took "$on_end" "the longest time on end"
		check "node 3 was left behind" behind
	fi
	barrier left-behind
	((NODE != 3)) || mend
	check "linked again" within 60 rfm_is ready
	barrier relinked
	check "all nodes are equal" equal refused
}

# stores CLAIMED: by a loop that enters another range all the time; node 3 is cut off meanwhile. Sets longest.
stores() {
	local pid
	/add/rfm "$RFM" steady 0 $((2 << 20)) $((6 * slow)) "$1" >/tmp/steady &
	pid=$!
	sleep 1
	barrier "stores-$1"
	barrier "stores-$1-cut"
	check "a loop stores every millisecond" wait "$pid"
	longest=$(</tmp/steady)
}

# While node 3 hears nothing, programs store through mappings.
stored() {
	local claimed longest limit_us=$((2000000 * slow))
	for claimed in 0 1; do
		barrier "stored-$claimed"
		if ((NODE == 1)); then
			stores "$claimed"
			((longest <= limit_us))
			ok $? "the longest store, claimed $claimed: $longest us"
			((claimed)) || check "node 3 is cut off" behind
		else
			barrier "stores-$claimed"
			((NODE != 3)) || cut loss 100%
			barrier "stores-$claimed-cut"
		fi
		limit_us=$((500000 * slow))
		barrier "stored-$claimed-over"
		((NODE != 3)) || mend
		check "linked again" within 60 rfm_is ready
		barrier "stored-$claimed-back"
		check "all nodes are equal" equal "stored-$claimed"
	done
}

# Everybody writes as much as he can, also to one that is slow.
everybody() {
	local text
	barrier everybody
	((NODE != 3)) || cut delay 5ms rate 20mbit
	barrier slow
	text=$(rfm heavy $((262144 * NODE)) 60000 $((5 * slow)))
	took "$text" "with all of them writing"
	barrier wrote
	((NODE != 3)) || mend
	check "linked" within 60 rfm_is ready
	barrier fast
	check "all nodes are equal" equal everybody
}

# nobody_behind: both peers have kept up since the device was made
nobody_behind() {
	[[ $(rfm_peer_line 2) == *" overloads 0 "* && $(rfm_peer_line 3) == *" overloads 0 "* ]]
}

# another SIZE OVERLOAD_MS [DIRECT]
another() {
	check "the device goes" rfm_unmake
	barrier "none-$1"
	check "another device" rfm_make "$1" keepalive_ms=30000 overload_ms="$2" direct="${3:-off}"
	check "is linked with both" within 30 rfm_is ready
	barrier "another-$1"
}

# A call that is large is no reason: each 1 MiB of it may take overload_ms.
large() {
	local wait_ms=$((900 * slow)) text
	another 8M "$wait_ms"
	if ((NODE == 1)); then
		# A third of overload_ms for 1 MiB to two of them, so the whole takes longer.
		cut rate $((56 / slow))mbit
		text=$(rfm heavy 0 8388608 $((4 * slow)))
		((text > wait_ms * 1000))
		ok $? "a block of 8 MiB takes longer than overload_ms: $text us"
		check "it leaves nobody behind" nobody_behind
		mend
	fi
	barrier wide
	check "all nodes are equal" equal large
}

# It is the time that a call waits which counts, in all its steps.
steps() {
	local wait_ms=$((600 * slow)) text
	another 2M "$wait_ms"
	if ((NODE == 1)); then
		# A step takes less than overload_ms, and 1 MiB takes longer.
		cut rate $((12 / slow))mbit
		text=$(rfm heavy 0 1048576 $((3 * slow)))
		((text <= (wait_ms + 300 * slow) * 1000))
		ok $? "a block of 1 MiB waits no longer than for one step: $text us"
		check "node 3 was left behind" behind
		mend
	fi
	barrier slowest
	check "linked again" within 60 rfm_is ready
	barrier mended
	check "all nodes are equal" equal steps
}

# rests MS: node 3 is left behind for longer than that from now on
rests() {
	local peer name value
	while read -r peer name value; do
		[[ $peer:$name != 3:back_off_ms ]] || break
	done <"/sys/kernel/debug/vrfm/${RFM#/dev/}/links"
	((value > $1))
}

# shows NODE FIELD WANTED TEXT: in the status page; FIELD counts from 0
shows() {
	local -a fields
	read -r -a fields < <(rfm status "$1")
	[[ ${fields[$2]} == "$3" ]]
	ok $? "$4: ${fields[*]}"
}

unsynced() {
	[[ $(rfm_peer_line 1) == *" peer_synced 0 "* ]]
}

# Node 3 acknowledges late, and no writer waits for it. It knows that, long before it is allowed to catch up.
notified() {
	another 2M "$overload_ms"
	mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
	shows $((NODE == 3 ? 1 : 3)) 5 0 "nobody was left behind"
	((NODE != 3)) || cut delay 200ms
	barrier late
	if ((NODE == 1)); then
		check "no writer waits for node 3, from now on" tune peers/3/overload_us 0
		# A busy machine may stop node 2 for longer than overload_ms.
		check "each waits for node 2" tune peers/2/overload_us 20000000
		/add/rfm "$RFM" heavy 262144 60000 $((5 * slow)) >/tmp/heavy &
		check "node 3 is left behind for some seconds" within 20 rests 1500
	fi
	barrier resting
	if ((NODE == 3)); then
		check "node 3 sees it in the status page" rfm stale 1 $((1 * slow))
		check "and in /proc/rfm2g" unsynced
	fi
	barrier known
	if ((NODE == 1)); then
		check "node 1 still holds back what it writes" rests 0
		wait
		[[ $(rfm take 8) == "3 0" ]]
		ok $? "RXFIFO_AFULL says who was left behind"
		[[ $(rfm_peer_line 2) == *" overloads 0 "* ]]
		ok $? "node 2 was waited for"
	elif ((NODE == 3)); then
		[[ $(rfm take 6) == "1 0" ]]
		ok $? "RXFIFO_FULL says who left this node behind"
	fi
	barrier heavy
	((NODE != 3)) || mend
	check "linked again" within 60 rfm_is ready
	barrier notified
	check "all nodes are equal" equal notified
}

writes_directly() {
	[[ $(rfm_peer_line 3) == *" shown yes "* ]]
}

# Node 3 does not say that it has reserved the range, so the kernel's own store waits.
killed() {
	local pid began
	if [[ $KERNEL == uml* ]]; then
		((NODE != 1)) || skip "read() into a mapping waits" "UML stores for the kernel whatever the fault returned"
		return
	fi
	another 2M "$overload_ms" auto
	if ((NODE == 1)); then
		check "node 3 may write into this memory" within 20 writes_directly
		check "a store waits 30 s for a silent peer" tune stage_ms 30000
	fi
	barrier waits
	((NODE != 3)) || cut loss 100%
	barrier lost
	if ((NODE == 1)); then
		/add/rfm "$RFM" slurp 0 4096 &
		pid=$!
		sleep 1
		check "read() into a mapping waits" test -e "/proc/$pid"
		began=$SECONDS
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		check "a kill ends it within 3 s: $((SECONDS - began))" test $((SECONDS - began)) -le $((3 * slow))
	fi
	barrier killed-there
	((NODE != 3)) || mend
	check "linked again" within 60 rfm_is ready
	barrier killed
	check "all nodes are equal" equal killed
}

tuned_is() {
	[[ $(cd "$rfm_config/${RFM#/dev/}" && cat overload_us overload_ms flush_us quiet_us stage_ms direct_min peers/2/overload_us | tr '\n' ' ') == "$1" ]]
}

tune() {
	echo "$2" >"$rfm_config/${RFM#/dev/}/$1"
}

# Values that only tune a device may change while it is up. Microseconds count.
tuned() {
	another 2M $((2000 * slow))
	if ((NODE == 1)); then
		check "overload_us" tune overload_us 500
		check "flush_us" tune flush_us 7
		check "quiet_us" tune quiet_us 900
		check "stage_ms" tune stage_ms 1100
		check "direct_min" tune direct_min 1024
		check "overload_us of a peer" tune peers/2/overload_us 700
		check "are changed while the device is up" tuned_is "500 1 7 900 1100 1024 700 "
		check "overload_us of a peer is the device's again" tune peers/2/overload_us device
		check "milliseconds are taken as well" tune overload_ms 3
		check "and are the same value" tuned_is "3000 3 7 900 1100 1024 device "
		for word in overload_us=60000001 overload_ms=0 overload_us=-1 peers/2/overload_us=soon peers/2/overload_us=60000001; do
			! tune "${word%=*}" "${word#*=}" 2>/dev/null
			ok $? "$word is refused"
		done
		! tune size 4M 2>/dev/null
		ok $? "the size is not changed"
		tune overload_us 500
	fi
	barrier tuned
	((NODE != 3)) || cut loss 100%
	barrier deaf-again
	if ((NODE == 1)); then
		rfm heavy 262144 60000 $((3 * slow)) >/tmp/longest
		# A busy machine adds some hundred milliseconds.
		(($(</tmp/longest) <= 1000000 * slow))
		ok $? "the longest write of a block with overload_us=500: $(</tmp/longest) us"
		check "node 3 was left behind" behind
	fi
	barrier short
	((NODE != 3)) || mend
	check "linked again" within 60 rfm_is ready
	barrier tuned-back
	check "all nodes are equal" equal tuned
}

check "a device with two peers" rfm_make 2M keepalive_ms=30000 overload_ms=$overload_ms
check "is linked with both" within 30 rfm_is ready
barrier linked
(($# > 0)) || set -- stored cut_off impatient refused everybody large steps notified killed tuned
for case in "$@"; do
	$case
done
barrier over
check "the device goes" rfm_unmake
barrier gone
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
