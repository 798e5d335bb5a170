#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# mmap: every word that programs store through mappings reaches the other node.
# - edge_cases: programs store into mappings that are unmapped in part, moved, protected, forked, or pinned by the kernel.
#   Other processes map and unmap pages that are pinned. Programs exit after stores, or are killed during stores. cp, dd, od
#   and Python use the device, which they do not know. No page keeps its twin (the copy with which vrfm compares a page to
#   find stores).
# - stores: words arrive within milliseconds. Programs store scattered words or every word of many pages, many programs
#   store at once, or a program is killed. The cases are repeated with flush_us=0. Words are also stored before, while and
#   after the transmitter is off.
# - claimed_ranges: the cost of stores. A program claims a range of the memory by VRFM_CLAIM before it stores into the range.
#   The pages of the range stay writable after the first store into each: a loop that stores each millisecond causes no
#   write fault and no write protection after its first cycle. To find stores, a call compares only the pages into which
#   its own process has stored. The number of pages that are writable at once is limited, and a program that stores into
#   more pages waits.
#
#   node 1 (stores) <---> node 2 (receives; stores into other words, of the same pages)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/corners
# add: ordinary-tools
# append: ncpus=1
# guarantees: G4 G5 G6 G8 G9
# timeout: 720

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

mount_debugfs

# ---- edge cases ----

pages=16
room=$((pages * 4096))

# arrived OFFSET FIRST: wait until the first words of the pages from OFFSET on are FIRST, FIRST + 1, and so on.
arrived() {
	local i
	for ((i = 0; i < pages; i++)); do
		rfm await $(($1 + 4096 * i)) $(($2 + i)) $((10 * slow)) || return
	done
}

# there OFFSET FIRST: succeed if the first words of the pages from OFFSET on are FIRST, FIRST + 1, and so on.
there() {
	local i
	for ((i = 0; i < pages; i++)); do
		[[ $(rfm peek $(($1 + 4096 * i))) == $(($2 + i)) ]] || return
	done
}

# twins_are N: succeed if N pages of this node's device are writable.
twins_are() {
	[[ $(rfm_value twins) == "$1" ]]
}

# Kill a program at different moments while it stores into all pages.
pound_and_kill() {
	local i pid
	for ((i = 0; i < 4; i++)); do
		/add/corners "$RFM" pound $((12 * room)) 60 &
		pid=$!
		sleep 0.$((i + 2))
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done
	ok 0 "four storing programs are killed"
}

# seen CASE OFFSET: check on node 2 that it has the words of CASE.
seen() {
	case $1 in
	# With flush_us=1000000 a store is sent after a second, unless msync() or an event sends it at once.
	msync | event) check "$1: node 2 has the words at once" there "$2" 1000 ;;
	*) check "$1: node 2 receives the words" arrived "$2" 1000 ;;
	esac
	case $1 in
	held | mapped | fork) check "$1: node 2 receives the second words" arrived $(($2 + 4)) 2000 ;;
	esac
}

# await_event US: wait for an event on node 2. The file "awaits" lets node 1 send the event only after the wait has begun.
await_event() {
	: >"/exchange/awaits$1"
	[[ $(rfm wait 1 $((20000 * slow))) == "1 77" ]]
	ok $? "event: node 2 receives the event, flush_us=$1"
}

edge_cases() {
	local us at case programs=(unmap populate kernel held mapped msync private fork mremap mprotect event exit)
	for us in 50 1000000; do
		check "flush_us=$us: node $NODE creates a device" rfm_make 1M flush_us="$us"
		check "flush_us=$us: node $NODE is linked" within 30 rfm_is ready
		barrier "linked$us"
		at=0
		for case in "${programs[@]}"; do
			if ((NODE == 2)) && [[ $case == event ]]; then
				await_event "$us"
			elif ((NODE == 1)); then
				[[ $case != event ]] || within 20 test -e "/exchange/awaits$us"
				echo "# $case"
				results /add/corners "$RFM" "$case" "$at"
			fi
			[[ $case == event ]] || barrier "$case$us"
			on 2 seen "$case" "$at"
			at=$((at + room))
			barrier "$case$us-seen"
		done
		on 1 results python3 /add/ordinary-tools "$RFM" 1048576
		on 1 pound_and_kill
		on 1 check "flush_us=$us: no page is watched after all programs have ended" within 30 twins_are 0
		check "flush_us=$us: all stores of node $NODE are sent" rfm_settle
		barrier "quiet$us"
		rfm sum >"/exchange/sum$us-$NODE"
		barrier "summed$us"
		[[ $(<"/exchange/sum$us-1") == "$(<"/exchange/sum$us-2")" ]]
		ok $? "flush_us=$us: both nodes are equal: $(<"/exchange/sum$us-$NODE")"
		barrier "equal$us"
		check "flush_us=$us: node $NODE removes its device" rfm_unmake
	done
}

# ---- stores ----

# Node 1 stores numbers, and node 2 answers each number by a store. A round trip takes one interval of the scanner on
# each node, and the time until the tasks run.
soon() {
	local us
	case $NODE in
	1)
		us=$(rfm bounce 786432 40)
		((us < 100000 * slow))
		ok $? "flush_us=$1: a stored number is answered in time: $us us"
		;;
	2) check "flush_us=$1: node 2 answers the stored numbers of node 1" rfm reflect 786432 40 $((60 * slow)) ;;
	esac
	barrier "soon$1"
}

# A program stores so rarely that the page is write-protected again between its stores.
now_and_then() {
	check "flush_us=$1: node $NODE stores and writes scattered words" rfm scatter $((65536 * NODE)) 65536 5 "$NODE"
	check "flush_us=$1: both nodes are equal after scattered words" rfm_equal "now$1"
}

every_word() {
	check "flush_us=$1: node $NODE stores every word of 64 pages" rfm stain $((262144 * NODE)) 262144 2
	check "flush_us=$1: both nodes are equal after storing every word of 64 pages" rfm_equal "every$1"
}

# Eight programs run on each node, and each of them stores into every 16th word of the same pages.
side_by_side() {
	local i rounds=$((200 / slow)) pids=()
	for ((i = 0; i < 8; i++)); do
		rfm own $((16384 + 4 * (2 * i + NODE - 1))) 8192 16 "$rounds" &
		pids+=($!)
	done
	check "flush_us=$1: eight programs of node $NODE count in shared pages" wait "${pids[@]}"
	barrier "counted$1"
	check "flush_us=$1: both nodes are equal after counting in shared pages" rfm_equal "side$1"
	[[ $(dd if="$RFM" bs=4096 skip=4 count=8 status=none | od -An -v -tu4 -w4 | sort -u | tr -d ' \n') == "$rounds" ]]
	ok $? "flush_us=$1: no word of shared pages is damaged"
	barrier "judged$1"
}

stained_and_killed() {
	local i pid
	for ((i = 0; i < 5; i++)); do
		/add/rfm "$RFM" stain $((65536 * NODE)) 65536 60 &
		pid=$!
		sleep 0.$((i + 2))
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
	done
	check "flush_us=$1: both nodes are equal after storing programs were killed" rfm_equal "killed$1"
}

# Words stored while the transmitter is off are not sent, even if the scanner finds them after the transmitter is on again.
eclipse() {
	on 1 check "node 1 stores words before, while and after its transmitter is off" rfm eclipse 4096
	barrier "eclipse$1"
	if ((NODE == 2)); then
		check "node 2 receives a word stored before the transmitter was off" rfm await 4096 1 $((10 * slow))
		check "node 2 receives a word stored after the transmitter was off" rfm await 4104 3 $((10 * slow))
		[[ $(rfm peek 4100) == 0 ]]
		ok $? "node 2 does not receive a word stored while the transmitter was off"
	fi
	barrier "eclipsed$1"
}

stores() {
	local us case
	for us in 50 0; do
		check "flush_us=$us: node $NODE creates a device" rfm_make 1M flush_us="$us"
		check "flush_us=$us: node $NODE is linked" within 30 rfm_is ready
		barrier "linked$us"
		for case in soon now_and_then every_word side_by_side stained_and_killed; do
			$case "$us"
		done
		check "flush_us=$us: node $NODE removes its device" rfm_unmake
		barrier "gone$us"
	done
	# Let the scanner compare only every tenth of a second, so that calls find the stores before the scanner does.
	check "flush_us=100000: node $NODE creates a device" rfm_make 1M flush_us=100000
	check "flush_us=100000: node $NODE is linked" within 30 rfm_is ready
	barrier late
	eclipse late
	check "flush_us=100000: node $NODE removes its device" rfm_unmake
}

# ---- claimed ranges ----

twins_exceed() {
	(($(rfm_value twins) > $1))
}

new_device() {
	check "node $NODE creates a device of $*" rfm_make "$@"
	check "node $NODE is linked, device of $1" within 30 rfm_is ready
	barrier "linked$*"
}

end_device() {
	check "all stores of node $NODE are sent after $1" rfm_settle
	barrier "sent$1"
	rfm sum >"/exchange/sum$1-$NODE"
	barrier "summed$1"
	[[ $(<"/exchange/sum$1-1") == "$(<"/exchange/sum$1-2")" ]]
	ok $? "both nodes are equal after $1"
	check "node $NODE removes its device after $1" rfm_unmake
	barrier "removed$1"
}

# Store into 100 claimed pages in the middle of the memory, each millisecond.
loop() {
	local faults protected pid
	new_device 1M
	if ((NODE == 1)); then
		/add/rfm "$RFM" cycle 65536 100 120 1 >/dev/null &
		pid=$!
		check "all 100 pages are writable" within 10 twins_are 100
		# The first store into each page causes a write fault, so count write faults only from here.
		sleep 0.3
		faults=$(rfm_value write_faults)
		protected=$(rfm_value scanner_protected)
		sleep $((1 * slow))
		[[ $(rfm_value write_faults) == "$faults" ]]
		ok $? "no write fault in a second of cycles: $(($(rfm_value write_faults) - faults))"
		[[ $(rfm_value scanner_protected) == "$protected" ]]
		ok $? "no page is write-protected in a second of cycles: $(($(rfm_value scanner_protected) - protected))"
		check "the loop has run until now" kill "$pid"
		wait "$pid" 2>/dev/null
		check "all pages are write-protected after the claim has ended" within 20 twins_are 0
	fi
	end_device loop
}

# To find stores, a call does not compare pages of other processes. Here pages stay writable for 10 s, and the scanner
# compares them each second.
others() {
	local pid compared
	new_device 8M flush_us=1000000 quiet_us=10000000
	if ((NODE == 1)); then
		/add/rfm "$RFM" dirty 1048576 1000 60 >"$results/dirty" &
		pid=$!
		check "a process dirties 1000 pages" within 10 twins_are 1000
		check "the stores of the process are sent" rfm sync
		compared=$(rfm_value scanner_compared)
		check "another process writes 100 words" rfm pokes 4096 100
		compared=$(($(rfm_value scanner_compared) - compared))
		ok $((compared > 0)) "calls of another process compare no page: $compared"
		kill "$pid"
		wait "$pid" 2>/dev/null
		compared=$(rfm_value scanner_compared)
		check "another process writes a word after the first one has ended" rfm pokes 4096 1
		compared=$(($(rfm_value scanner_compared) - compared))
		ok $((compared < 1000)) "a call compares the pages of an ended process: $compared"
	fi
	end_device others
}

# The limit of writable pages is an eighth of 64 MiB: 2048 pages. Without the limit all 16384 pages would be writable for
# a second.
limit() {
	local max twins most=0 pid
	new_device 64M flush_us=1000000 quiet_us=1000000
	if ((NODE == 1)); then
		max=$(rfm_value twins_max)
		ok $((max != 2048)) "the limit of writable pages is 2048: $max"
		rfm cycle 0 16384 1 0 >/dev/null &
		pid=$!
		while kill -0 "$pid" 2>/dev/null; do
			twins=$(rfm_value twins)
			((twins <= most)) || most=$twins
			sleep 0.05
		done
		check "a program stores into all 16384 pages" wait "$pid"
		((most <= max + 1 && most > max / 2))
		ok $? "at most $most pages were writable at once"
		(($(rfm_value twin_waits) > 0))
		ok $? "a program that stores into more pages has waited: $(rfm_value twin_waits) times"
	fi
	end_device limit
}

# The memory of writable pages is charged to the control group of the program that stores into them.
charged() {
	local group pid kib
	control_group twins memory.stat "writable pages are charged to the control group" || return 0
	new_device 8M flush_us=1000000 quiet_us=10000000
	if ((NODE == 1)); then
		(echo "$BASHPID" >"$group/cgroup.procs" && exec /add/rfm "$RFM" dirty 1048576 1000 60) >"$results/charged" &
		pid=$!
		check "a process in a control group dirties 1000 pages" within 10 twins_are 1000
		kib=$(($(awk '$1 == "kernel" { print $2 }' "$group/memory.stat") >> 10))
		((kib >= 4000 && kib < 16000))
		ok $? "1000 writable pages are charged to the control group: $kib KiB"
		kill "$pid"
		wait "$pid" 2>/dev/null
	fi
	end_device charged
}

# At most 1024 pages of this device are writable at once. One process stores into 1024 pages all the time, so each of
# these pages has changed whenever the scanner compares it. Another process must still get a writable page.
busy() {
	local pid
	new_device 8M quiet_us=1000000
	if ((NODE == 1)); then
		/add/rfm "$RFM" cycle 0 1024 $((60 * slow)) 0 >/dev/null &
		pid=$!
		check "a process stores into 1024 pages all the time" within 10 twins_exceed 512
		sleep 2
		check "another process can store into its first page" timeout $((20 * slow)) /add/rfm "$RFM" dirty 6291456 1 0
		check "the first process has run until now" kill "$pid"
		wait "$pid" 2>/dev/null
	fi
	end_device busy
}

claimed_ranges() {
	local case
	for case in loop others limit charged busy; do
		$case
	done
}

section edge_cases
section stores
section claimed_ranges
finish
