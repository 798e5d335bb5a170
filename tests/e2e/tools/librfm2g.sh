#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# librfm2g: the library for the cards, and its tool, on a device without peers.
# - library: programs that are linked with the shared and with the static library test all of its functions, checks and
#   statuses. Handles are closed while threads and callbacks use them.
# - tool: every command of the tool rfm2g_util has the documented output and exit status on a device. Commands are given as
#   arguments, by a script on stdin, and typed at a terminal.
#
#   each node for itself: api, threads, rfm2g_util ---> librfm2g ---> /dev/rfm2gN
#
# nodes: 1
# kernels: uml
# long: stock-6.1 debug-6.1
# load: krdma vrfm
# library: librfm2g/api librfm2g/threads
# tools: rfm2g_util
# add: rfm2g_util-tty
# timeout: 1000

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
unit=${name#rfm2g}
config=/sys/kernel/config/vrfm

mount_configfs
export LD_LIBRARY_PATH=/add

# make SIZE: create this node's device without peers, and enable it.
make() {
	mkdir "$config/$name" && put "$config/$name/node_id" "$NODE" && put "$config/$name/size" "$1" &&
		put "$config/$name/enable" 1
}

# all SIZE API THREADS: run the programs API and THREADS on a device of SIZE.
all() {
	check "$2: a device of $1 is created" make "$1"
	results "$2" "$RFM" "$NODE" "$(<"$config/$name/size")"
	results "$3" "$RFM" $((60 / slow / slow)) $((slow == 1 ? 50 : 0))
	check "$2: a closed device of $1 is disabled" put "$config/$name/enable" 0
	rmdir "$config/$name"
}

# Map a device of the smallest size. A refused mapping of a DMA buffer does not affect later mappings.
small() {
	check "a device of 4K is created" make 4K
	python3 - "$RFM" >"$results/small" <<-'END'
	import ctypes, sys
	lib = ctypes.CDLL("librfm2g.so.0")
	h, memory = ctypes.c_void_p(), ctypes.c_void_p()
	def maps(offset):
	    return lib.RFM2gUserMemory(h, ctypes.byref(memory), ctypes.c_uint64(offset), 1)
	def case(good, text):
	    print(int(not good), text, flush=True)
	case(lib.RFM2gOpen(sys.argv[1].encode(), ctypes.byref(h)) == 0, "Python opens a device of 4K")
	case(maps(0) == 0, "all of a device of 4K is mapped")
	case(maps(1) != 0, "mapping a DMA buffer without an address is refused")
	case(maps(0) == 0, "a device of 4K is mapped after a refused mapping")
	case(lib.RFM2gMapDeviceMemory(h, 2, ctypes.byref(memory)) == 0, "registers of a device of 4K are mapped")
	case(lib.RFM2gClose(ctypes.byref(h)) == 0, "Python closes a device of 4K")
	END
	ok $? "Python exits with status 0 after a device of 4K"
	results cat "$results/small"
	rmdir "$config/$name"
}

# Remove a device while a program has it open.
gone() {
	check "a device is created to be removed" make 1M
	python3 - "$RFM" "$results/opened" >"$results/gone" <<-'END' &
	import ctypes, os, sys, time
	lib = ctypes.CDLL("librfm2g.so.0")
	h, word, memory = ctypes.c_void_p(), ctypes.c_uint32(), ctypes.c_void_p()
	def case(good, text):
	    print(int(not good), text, flush=True)
	path = sys.argv[1].encode()
	case(lib.RFM2gOpen(path, ctypes.byref(h)) == 0, "Python opens a device to be removed")
	case(lib.RFM2gUserMemory(h, ctypes.byref(memory), ctypes.c_uint64(0), 2) == 0, "Python maps a device to be removed")
	case(lib.RFM2gPoke32(h, 8, 77) == 0, "Python writes to a device to be removed")
	open(sys.argv[2], "w").close()
	while os.path.exists(path):
	    time.sleep(0.05)
	case(lib.RFM2gPoke32(h, 8, 78) == 6, "writing to a removed device is an OS_ERROR")
	case(lib.RFM2gxFlush(h) == 6, "flushing a removed device is an OS_ERROR")
	case(lib.RFM2gPeek32(h, 8, ctypes.byref(word)) == 0 and word.value == 77, "reading a removed device succeeds by its mapping")
	case(lib.RFM2gUnMapUserMemory(h, ctypes.byref(memory), 2) == 0, "a removed device is unmapped")
	case(lib.RFM2gEnableEventCallback(h, 1, ctypes.CFUNCTYPE(None)(lambda: None)) == 6, "enabling a callback of a removed device is an OS_ERROR")
	case(lib.RFM2gClose(ctypes.byref(h)) == 0, "a removed device is closed")
	case(lib.RFM2gOpen(path, ctypes.byref(h)) == 10, "opening a removed device is refused")
	END
	until [[ -e $results/opened ]]; do
		sleep 0.05
	done
	rmdir "$config/$name"
	wait $!
	ok $? "Python exits with status 0 after a removed device"
	results cat "$results/gone"
}

# Give the group disk thousands of members: RFM2gxExplain() must find the name of such a group.
library() {
	sed "s/^disk:.*/disk:x:6:$(printf 'member%d,' {1..3000})last/" /etc/group >"$results/group"
	check "a group with thousands of members is mounted" mount --bind "$results/group" /etc/group
	all 64M api threads
	all 1M api-static threads-static
	small
	gone
	umount /etc/group
}

# ---- the tool ----

util() {
	rfm2g_util -d "$unit" "$@" 2>&1
}

# prints STATUS PATTERN ARGUMENT...: run the tool with these arguments as one case, which passes if the exit status is
# STATUS and the output matches PATTERN.
prints() {
	local wanted=$1 pattern=$2 said status=0
	shift 2
	said=$(util "$@") || status=$?
	# shellcheck disable=SC2053
	[[ $status == "$wanted" && $said == $pattern ]]
	ok $? "$*: $status, ${said//$'\n'/ / }"
}

identity() {
	prints 0 "board id 0x65 (5565)" boardid
	prints 0 "node id 0x0$NODE" nodeid
	prints 0 "size 1048576 (0x100000)" size
	prints 0 "first offset 0x00000000" first
	prints 0 "device name \"$RFM\"" devname
	prints 0 'library version "R09.00 krdma"' dllversion
	prints 0 'driver version "krdma *"' driverversion
	prints 0 "*reading *from mapped memory*device *\"$RFM\", unit $unit*memory *1048576*signal *on*type 0x5565*" config
	prints 0 "status 20: *exceed the memory" errormsg 20
	prints 0 "status 99: unknown status" errormsg 99
}

memory() {
	local width
	for width in 8 16 32; do
		prints 0 "0x*12 at 0x00000010" "poke$width" 0x12 0x10
		prints 0 "0x*12 at 0x00000010" "peek$width" 16
	done
	prints 0 "0x1122334455667788 at 0x00000020" poke64 1122334455667788 0x20
	prints 0 "0x1122334455667788 at 0x00000020" peek64 0x20
	prints 0 "*0x00000020 55667788 11223344 * |.wfUD3\".|" dump 0x20 4 2
	[[ $(util dump 0 4 4096 | md5sum) == $(util read 0 4 4096 | sed 1d | md5sum) ]]
	ok $? "dump and read print the same data"
	prints 0 "4 bytes, DMA is not used*0x00000020 55667788 * |.wfU|" read 0x20 4 1
	prints 0 "4 bytes, DMA is not used" read 0x20 4 1 0
	prints 0 "*300 elements written" write 0x4142 0x1000 2 300
	prints 0 "*0x00001250 4142 4142 4142 4142  *" read 0x1000 2 300
	prints 0 "8 elements written" memop ffffffff 0x2000 4 8 0 0 2
	prints 0 "8 elements passed" memop ffffffff 0x2000 4 8 1 0 2
	prints 0 "0x00000002 at 0x0000200c" peek32 0x200c
	prints 1 "failed at 0x00002004: 0x0, not 0x3" memop ffffffff 0x2000 4 8 1 0 1
	prints 0 "4 elements written" memop 0x10 0x2000 4 4 0 0 3
	prints 0 "0xffffffeb at 0x00002004" peek32 0x2004
	prints 0 "1 elements written" memop 1.5 0x2000 4 1 0 1 0
	prints 0 "0x3fc00000 at 0x00002000" peek32 0x2000
	prints 0 "1 elements written" memop 1.5 0x2000 8 1 0 1 0
	prints 0 "0x3ff8000000000000 at 0x00002000" peek64 0x2000
}

wrong_use() {
	prints 1 "error 20: *" peek32 0x100000
	prints 1 "error 24: *" peek32 2
	prints 1 "*error 20: *" read 0xffff0 4 5
	prints 1 "*error 20: *" dump 0xff000 4 1048576
	prints 2 "*is not a number*usage: peek8 OFFSET" peek8 zero
	prints 2 "*is not a number*" peek8 -1
	prints 2 "*is not a number*leading 0*" peek8 010
	prints 2 "*is not a number*leading 0*" poke32 08 0x10
	prints 2 "*is not a number*" peek8 0x100000000
	prints 2 "*does not fit*" poke8 256 0
	prints 2 "usage: peek8 OFFSET" peek8
	prints 2 "usage: peek8 OFFSET" peek8 1 2
	prints 2 "*1, 2, 4 or 8*" dump 0 3 1
	prints 2 "at most 2097152 bytes*" read 0 8 262145
	prints 2 "at most 2097152 bytes*" write 1 0 8 262145
	prints 2 "at most 4294967295 bytes*" memop 0 0 8 536870912 0 0 0
	prints 2 "type 1 is for a width of 4*" memop 0 0 2 1 0 0 1
	prints 2 "*floating-point*" memop 1.5x 0 4 1 0 1 0
	prints 2 "there is no command bogus*" bogus
	prints 2 "peek may be peek8 peek16 peek32 peek64" peek
	prints 0 "board id *" BOARD
	prints 2 "event 13: 0 to 12*" clearevent 13
	prints 2 "state 2: 0 to 1*" setled 2
	[[ $(rfm2g_util -d 9 nodeid 2>&1) == *"there is no /dev/rfm2g9"* ]]
	ok $? "a device that does not exist is refused"
	[[ $(rfm2g_util -d /dev/null nodeid 2>&1) == *"not an RFM2g device"* ]]
	ok $? "a file that is no RFM2g device is refused"
	[[ $(setpriv --reuid 65534 --regid 65534 --clear-groups rfm2g_util -d "$unit" nodeid 2>&1) == *"only root may open"* ]]
	ok $? "a device that only root may open is refused"
	[[ $(rfm2g_util -x 2>&1; echo $?) == *Usage*2 || $(rfm2g_util -x 2>&1; echo $?) == *"Exit status"*2 ]]
	ok $? "the exit status with an unknown option is 2"
	rfm2g_util -d "$unit" dump 0 4 1000 >/dev/full
	ok $(($? != 1)) "the exit status of dump on a full disk is 1"
	rfm2g_util --help >/dev/full
	ok $(($? != 1)) "the exit status of --help on a full disk is 1"
	[[ $(rfm2g_util -d 9 help) == *"peek8 OFFSET"*quit* && $(rfm2g_util -d 9 errormsg 20) == "status 20"* ]]
	ok $? "help and errormsg need no device"
	[[ $(rfm2g_util --help) == *"Exit status"* ]]
	ok $? "--help prints the usage"
}

settings() {
	local name
	for name in led darkondark loopback parityenable piobyteswap dmabyteswap; do
		prints 0 "* OFF" "get$name"
		prints 0 "* ON" "set$name" 1
		prints 0 "* ON" "get$name"
		prints 0 "* OFF" "set$name" 0
	done
	prints 0 "transmitter ON" gettransmit
	prints 0 "transmitter OFF" settransmit 0
	prints 0 "transmitter ON" settransmit 1
	prints 0 "the ring is intact" checkring
	prints 0 "own data was ON" clearowndata
	prints 0 "own data was OFF" clearowndata
	prints 0 "memory offset 0x00000000" getmemoryoffset
	prints 0 "" setmemoryoffset 0
	prints 1 "error 6: *" setmemoryoffset 1
	prints 1 "error 8: *" getslidingwindow
	prints 1 "error 8: *" setslidingwindow 0
	prints 0 "DMA threshold 4294967295" getthreshold
	prints 0 "*DMA threshold 64*mapped at 0x*64 bytes, DMA is used*unmapped 4096 bytes*" \
		-c "setthreshold 64" -c getthreshold -c "mapuser 40000000 1" -c "read 0 4 16 0" -c unmapuser
	prints 0 "mapped at 0x*unmapped 5000 bytes*" -c "mapuserbytes 40000000 5000" -c unmapuserbytes
	prints 1 "error 12: *" unmapuser
	prints 0 "debug flags 0x00000001 error" getdebug
	prints 0 "debug flags 0x00040001 error dma" -c "setdebug dma" -c getdebug
	prints 0 "debug flags 0x00000001 error" -c "setdebug -dma" -c getdebug
	prints 2 "flug is not a debug flag*" setdebug flug
}

registers() {
	prints 0 "0x0$NODE at 0x00000004 of register set 2" readreg 2 4 1
	prints 0 "0x00000fed at*" -c "writereg 2 0x18 4 0xfed" -c "readreg 2 0x18 4"
	prints 0 "0x00000fff at*" -c "setreg 2 0x18 4 0x12" -c "readreg 2 0x18 4"
	prints 0 "0x00000ff0 at*" -c "clearreg 2 0x18 4 0xf" -c "readreg 2 0x18 4"
	prints 0 "*0x00000000 * 65 *" displayreg 2 0 1 8
	prints 1 "register set 2 has 64 bytes" displayreg 2 60 4 2
	prints 1 "error 13: *" readreg 2 61 4
	prints 1 "error 12: *" readreg 1 0 4
	prints 1 "this device has no flash memory" flashcard
}

events() {
	prints 0 "interrupt 1: enabled" enableevent 1
	prints 0 "interrupt 1: disabled" disableevent 1
	prints 1 "waiting for interrupt 2*error 3: *" wait 2 100
	prints 1 "error 33: *" cancelwait 2
	prints 0 "interrupt 1 sent to node 200 (0xc8)" send 1 200 0x55
	prints 0 "interrupt 4 sent to all nodes" send 4 0xffff
	prints 1 "error 41: *" send 1 "$NODE"
	prints 1 "error 13: *" send 5 200
	prints 1 "error 12: *" send 1 256
	prints 0 "all events: cleared" clearevent 12
	prints 0 "reset: cleared" clearevent 0
	prints 0 "all events: count cleared" cleareventcount 12
	prints 0 " 1 interrupt 1 *0" geteventcount 1
	(($(util geteventcount 12 | wc -l) == 12))
	ok $? "geteventcount 12 prints a line for each event"
	prints 0 "interrupt 3: callback enabled*3 interrupt 3 *callback enabled *interrupt 3: callback disabled" \
		-c "enablecallback 3" -c enablecallback -c "disablecallback 3"
	prints 1 "error 31: *" disablecallback 3
	prints 0 "*127 no*sync loss *1 no*" -c drvspecific -c stat -c "flushqueue 1" -c return -c nodeid
	prints 2 "there is no command stat*" stat
	prints 2 "*no command nodeid*" -c drvspecific -c nodeid
}

# frozen PID: the wait of the task PID continues after the task was frozen and thawed.
frozen() {
	freeze_task "$1" "a task that waits for an event" || return 0
	sleep 0.3
	grep -q "cancelwait\|error" "$results/continued"
	ok $(($? == 0)) "a wait continues after its program was frozen and thawed"
}

# A wait for an event continues after its process was stopped by SIGSTOP and continued by SIGCONT, or frozen and thawed.
continued() {
	rfm2g_util -d "$unit" wait 3 60000 >"$results/continued" 2>&1 &
	until grep -q waiting "$results/continued"; do sleep 0.1; done
	sleep 0.3
	kill -STOP $!
	sleep 0.3
	kill -CONT $!
	sleep 0.3
	frozen $!
	check "a wait continues after its program was stopped and continued" util cancelwait 3
	wait $!
	[[ $? == 1 && $(<"$results/continued") == *"error 36"* ]]
	ok $? "a wait that was stopped and continued is cancelled: $(<"$results/continued")"
}

# A process cancels the wait of another process.
cancelled() {
	util wait 3 60000 >"$results/waited" &
	until util cancelwait 3 >/dev/null; do
		sleep 0.1
	done
	wait $!
	[[ $? == 1 && $(<"$results/waited") == *"error 36"* ]]
	ok $? "a wait is cancelled by another process"
}

repeated() {
	prints 0 "0x00 at 0x00003000*0x00 at 0x00003000" repeat 2 peek8 0x3000
	prints 0 "1: 0x00*2: 0x00*3: 0x00*" repeat -p 3 peek8 0x3000
	prints 1 "1: error 24*" repeat -p 3 peek16 1
	prints 1 "repeat cannot be repeated" repeat 2 repeat 2 peek8 0
	prints 2 "*usage: repeat*" repeat x peek8 0
	prints 2 "usage: repeat*" repeat 3
	prints 0 "*0x00003000 00000000 *" repeat 1 dump 0x3000 4 1
}

# Run scripts on stdin, as they exist for the tool of the cards: the first line names the device.
script() {
	local said status=0
	said=$(printf '%s\n' "$unit" nodeid "poke32 7 0x40" peek32 "peek32 0x40" exit n exit y size | rfm2g_util 2>/dev/null) ||
		status=$?
	[[ $status == 1 && $said == *"node id 0x0$NODE"*"0x00000007 at 0x00000040"*"exit?"*"exit?"* && $said != *"size"* ]]
	ok $? "a script on stdin continues after an invalid command, and exits with 1: $status"
	said=$(printf 'nodeid\nsize' | rfm2g_util -d "$unit") && [[ $said == *"size 1048576"* ]]
	ok $? "a valid script on stdin without exit and last newline exits with 0"
	rfm2g_util </dev/null >/dev/null
	ok $(($? != 1)) "an empty script without a device exits with 1"
	prints 1 "error 24: *" -c "peek16 1" -c nodeid
	((${#said} < 1000))
	ok $? "-c ends at the first command that fails"
}

speed() {
	local said
	said=$(util performancetest -s 0.1 -n 4,4096,65536)
	echo "# ${said//$'\n'/$'\n'# }"
	# In each of six lines, MBps must match size and IOps within 2 %, and the percentiles must be in order.
	echo "$said" | awk 'NR > 2 { n++; mb = $3 * $2 / 1048576; if ($4 < mb * 0.98 - 0.01 || $4 > mb * 1.02 + 0.01) exit 1
		if (!($5 <= $6 && $6 <= $7 && $7 <= $8) || $3 <= 0) exit 1 } END { exit n != 6 }'
	ok $? "performancetest prints consistent numbers"
	util performancetest -j -s 0.05 -n 8 | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert [row["what"] for row in report["rows"]] == ["read", "write"], report
assert all(row["bytes"] == 8 and row["p50_ns"] <= row["max_ns"] and row["samples"] for row in report["rows"]), report'
	ok $? "performancetest -j prints consistent JSON"
	[[ $(rfm2g_util -d "$unit" repeat -p 2 performancetest -s 0.01 -n 4,8 | grep -c "^write *8 ") == 2 ]]
	ok $? "repeat of performancetest measures all sizes again"
	prints 0 "*write  1048576 *" performancetest -s 0.001
	prints 2 "*usage: performancetest*" performancetest -n 4,x
	prints 2 "*usage: performancetest*" performancetest -s 0
	prints 1 "*error 20: *" performancetest -s 0.01 -n 2097152
	util pong 0x8000 $((4 * slow)) >"$results/pong" &
	sleep 0.5
	prints 0 "200 round trips: *" ping 0x8000 200
	wait $!
	[[ $(<"$results/pong") == "answered 200 times" ]]
	ok $? "pong answers all pings: $(<"$results/pong")"
	prints 1 "nobody answers*" ping 0x8000 1
	util pong 0x8000 $((4 * slow)) >"$results/pong" &
	sleep 0.5
	prints 0 "5 round trips: *" ping 0x8000 5
	wait $!
}

# A device has a sliding window if cards of its size exist.
window() {
	check "a closed device of 1M is disabled" put "$config/$name/enable" 0
	check "the size of a disabled device is changed to 64M" put "$config/$name/size" 64M
	check "a device of 64M is enabled" put "$config/$name/enable" 1
	prints 0 "sliding window of 64 MByte at 0x00000000" getslidingwindow
	prints 0 "" setslidingwindow 0
	prints 1 "error 12: *" setslidingwindow 4096
	prints 1 "error 20: *" setslidingwindow 0x4000000
}

tool() {
	local line
	check "a device of 1M is created" make 1M
	identity
	memory
	wrong_use
	settings
	registers
	events
	continued
	cancelled
	repeated
	script
	speed
	while read -r line; do
		[[ $line == "0 "* ]]
		ok $? "${line#* }"
	done < <(python3 /add/rfm2g_util-tty "$unit" "$((10 * slow))")
	window
	check "a closed device of 64M is disabled" put "$config/$name/enable" 0
	rmdir "$config/$name"
}

section library
section tool
finish
