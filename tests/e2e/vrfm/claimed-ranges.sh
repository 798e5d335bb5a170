#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# claimed-ranges: the cost of stores through mappings. A program claims a range of the memory by VRFM_CLAIM before it
# stores into the range. The pages of the range stay writable after the first store into each: a loop that stores each
# millisecond causes no write fault and no write protection after its first cycle. To find stores, a call
# compares only the pages into which its own process has stored. The number of pages that are writable at once is
# limited, and a program that stores into more pages waits.
#
#   node 1 (stores) ---> node 2 (receives)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G4 G8 G9
# timeout: 200

# Arguments: names of the cases to run; without arguments, all cases run.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
debug=/sys/kernel/debug/vrfm/${RFM#/dev/}/device

# device NAME: print the value of NAME in debugfs.
device() {
	local name value
	while read -r name value; do
		[[ $name == "$1" ]] && echo "$value" && return
	done <"$debug"
	return 1
}

twins_are() {
	[[ $(device twins) == "$1" ]]
}

twins_exceed() {
	(($(device twins) > $1))
}

new() {
	check "node $NODE creates a device of $*" rfm_make "$@"
	check "node $NODE is linked, device of $1" within 30 rfm_is ready
	barrier "linked$*"
}

end() {
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
	new 1M
	if ((NODE == 1)); then
		/add/rfm "$RFM" cycle 65536 100 120 1 >/dev/null &
		pid=$!
		check "all 100 pages are writable" within 10 twins_are 100
		# The first store into each page causes a write fault, so count write faults only from here.
		sleep 0.3
		faults=$(device write_faults)
		protected=$(device scanner_protected)
		sleep $((1 * slow))
		[[ $(device write_faults) == "$faults" ]]
		ok $? "no write fault in a second of cycles: $(($(device write_faults) - faults))"
		[[ $(device scanner_protected) == "$protected" ]]
		ok $? "no page is write-protected in a second of cycles: $(($(device scanner_protected) - protected))"
		check "the loop has run until now" kill "$pid"
		wait "$pid" 2>/dev/null
		check "all pages are write-protected after the claim has ended" within 20 twins_are 0
	fi
	end loop
}

# To find stores, a call does not compare pages of other processes. Here pages stay writable for 10 s, and the scanner
# compares them each second.
others() {
	local pid compared
	new 8M flush_us=1000000 quiet_us=10000000
	if ((NODE == 1)); then
		/add/rfm "$RFM" dirty 1048576 1000 60 >"$results/dirty" &
		pid=$!
		check "a process dirties 1000 pages" within 10 twins_are 1000
		check "the stores of the process are sent" rfm sync
		compared=$(device scanner_compared)
		check "another process writes 100 words" rfm pokes 4096 100
		compared=$(($(device scanner_compared) - compared))
		ok $((compared > 0)) "calls of another process compare no page: $compared"
		kill "$pid"
		wait "$pid" 2>/dev/null
		compared=$(device scanner_compared)
		check "another process writes a word after the first one has ended" rfm pokes 4096 1
		compared=$(($(device scanner_compared) - compared))
		ok $((compared < 1000)) "a call compares the pages of an ended process: $compared"
	fi
	end others
}

# The limit of writable pages is an eighth of 64 MiB: 2048 pages. Without the limit all 16384 pages would be writable for
# a second.
limit() {
	local max twins most=0 pid
	new 64M flush_us=1000000 quiet_us=1000000
	if ((NODE == 1)); then
		max=$(device twins_max)
		ok $((max != 2048)) "the limit of writable pages is 2048: $max"
		rfm cycle 0 16384 1 0 >/dev/null &
		pid=$!
		while kill -0 "$pid" 2>/dev/null; do
			twins=$(device twins)
			((twins <= most)) || most=$twins
			sleep 0.05
		done
		check "a program stores into all 16384 pages" wait "$pid"
		((most <= max + 1 && most > max / 2))
		ok $? "at most $most pages were writable at once"
		(($(device twin_waits) > 0))
		ok $? "a program that stores into more pages has waited: $(device twin_waits) times"
	fi
	end limit
}

# The memory of writable pages is charged to the control group of the program that stores into them.
charged() {
	local group pid kib
	control_group twins memory.stat "writable pages are charged to the control group" || return 0
	new 8M flush_us=1000000 quiet_us=10000000
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
	end charged
}

# At most 1024 pages of this device are writable at once. One process stores into 1024 pages all the time, so each of
# these pages has changed whenever the scanner compares it. Another process must still get a writable page.
busy() {
	local pid
	new 8M quiet_us=1000000
	if ((NODE == 1)); then
		/add/rfm "$RFM" cycle 0 1024 $((60 * slow)) 0 >/dev/null &
		pid=$!
		check "a process stores into 1024 pages all the time" within 10 twins_exceed 512
		sleep 2
		check "another process can store into its first page" timeout $((20 * slow)) /add/rfm "$RFM" dirty 6291456 1 0
		check "the first process has run until now" kill "$pid"
		wait "$pid" 2>/dev/null
	fi
	end busy
}

(($# > 0)) || set -- loop others limit charged busy
for case in "$@"; do
	$case
done
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
