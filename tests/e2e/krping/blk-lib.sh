# shellcheck shell=bash disable=SC2034 # scenarios use the variables
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# Functions for the scenarios of krping_blk, which source this file after lib.sh: commands, fields of /proc/krping_blk, and
# writes to the disk of node 2.

server=$(addr4 1)
port=7700
# Nodes may share a kernel, and with it the names of disks and devices.
work=/tmp/blk-$NODE
mkdir -p "$work"

# blk COMMAND: run a command of krping_blk. Succeeds if write() succeeds. Sets "said" to the error.
blk() {
	said=$( { echo "$1" >/proc/krping_blk; } 2>&1)
}

# blk_fails ERROR COMMAND: a command fails with this error.
blk_fails() {
	! blk "$2" && [[ $said == *"$1"* ]]
	ok $? "\"${2#*,port=}\" fails: $1 (${said##*: })"
}

# line PATTERN: print the last line of /proc/krping_blk that matches PATTERN. field NAME PATTERN: print a field of it.
line() {
	grep -E "$1" /proc/krping_blk | tail -n 1
}

field() {
	local words
	words=$(line "$2")
	words=${words#*" $1="}
	echo "${words%% *}"
}

# stop PATTERN [,force]: remove the disk or server whose line matches PATTERN.
stop() {
	local found
	found=$(line "$1")
	blk "stop=${found%% *}${2-}"
}

# serve OPTIONS: start the server on node 1, and let node 2 continue. unserve: stop it when node 2 has finished.
serve() {
	((NODE != 1)) || check "server,$1 starts" blk "server,addr=$server,port=$port,$1"
	barrier serve
}

unserve() {
	barrier unserve
	((NODE != 1)) || check "the server stops" stop "server .*:$port"
}

# attach OPTIONS: create /dev/krpblkt on node 2.
attach() {
	check "client,$1 starts" blk "client,bio,addr=$server,port=$port,bio_name=krpblkt,$1"
	within 5 test -b /dev/krpblkt
}

detach() {
	check "the disk is removed" within 10 stop "client krpblkt"
}

# loop NAME SIZE: create a loop device with an empty file, and set "device" to its path.
loop() {
	modprobe -q loop
	rm -f "$work/$1"
	truncate -s "$2" "$work/$1"
	device=$(losetup --find --show "$work/$1")
}

# random BYTES OFFSET: write random bytes to the disk, past the page cache, in pieces of 64 KiB or in one piece.
random() {
	local size=$1
	[[ $1 != *[KM] ]] || size=64K
	dd if=/dev/urandom of=/dev/krpblkt bs="$size" count="$1" seek="$2" iflag=count_bytes,fullblock \
		oflag=seek_bytes,direct conv=notrunc 2>/dev/null
}

# sends WANTED NAME COMMAND...: COMMAND leads to WANTED requests to the server.
sends() {
	local wanted=$1 name=$2 before
	shift 2
	before=$(field requests "client krpblkt")
	"$@" 2>/dev/null
	(($(field requests "client krpblkt") - before == wanted))
	ok $? "$name sends $wanted requests: $(($(field requests "client krpblkt") - before))"
}

# sum_of FILE: print the checksum of a disk, of a device or of an image.
sum_of() {
	sha256sum <"$1" | cut -d ' ' -f 1
}

# exercise: write in each way that programs can.
exercise() {
	random 1M 0
	random 512 512
	random 3584 1049088
	random 3M 2097152
	dd if=/dev/zero of=/dev/krpblkt bs=1M count=1 seek=3 oflag=direct conv=notrunc 2>/dev/null
	dd if=/dev/urandom of=/dev/krpblkt bs=4000 count=300 seek=1500 conv=notrunc,fsync 2>/dev/null
	printf 'a\0b\0\0c' | dd of=/dev/krpblkt bs=1M seek=7 conv=notrunc,fsync 2>/dev/null
	blkdiscard -f -o 131072 -l 200704 /dev/krpblkt
	blkdiscard -f -z -o 4198400 -l 1049600 /dev/krpblkt
	sync /dev/krpblkt
}

# same NAME: the image of the server equals the disk. On node 1, "image" is the path of the image.
same() {
	((NODE != 2)) || sum_of /dev/krpblkt >/exchange/blk-sum
	barrier same-sum
	((NODE != 1)) || check "$1: the image of the server equals the disk" test "$(sum_of "$image")" = "$(</exchange/blk-sum)"
	barrier same-end
}

# image_of: set "image" to the path of the newest image of the server.
image_of() {
	local found
	found=$(line "server .*:$port")
	image=$(find /sys/kernel/debug/krping_blk/"${found%% *}" -type f -printf '%T@ %p\n' | sort -n | tail -n 1)
	image=${image#* }
}

is_down() {
	[[ $(field state "client krpblkt") == down ]]
}

is_ready() {
	[[ $(field state "client krpblkt") == ready ]]
}

is_clean() {
	[[ $(field dirty "client krpblkt") == 0 ]]
}

is_over() {
	! kill -0 "$1" 2>/dev/null
}

# where PID: print the disk, and where the process and its children wait in the kernel.
where() {
	local pid
	line "client krpblkt"
	for pid in "$1" $(pgrep -P "$1"); do
		echo "$pid $(<"/proc/$pid/comm") $(grep State "/proc/$pid/status")"
		cat "/proc/$pid/stack"
	done
}

# writer: write random data to the disk until the file "stop" exists, and count the writes. Fails when a write fails.
writer() {
	local round=0
	while [[ ! -e $work/stop ]]; do
		random 64K $((round % 8 * 65536)) || return
		echo $((++round)) >"$work/round"
	done
}

# writer_ends PID: let the program that calls writer end, and check that no write has failed. A write that waits forever
# cannot be killed.
writer_ends() {
	local status=1
	touch "$work/stop"
	within 60 is_over "$1" && { wait "$1"; status=$?; }
	ok $status "no write of the program fails"
}

# stalls: a request waits, and no acknowledgment arrives for a second.
stalls() {
	local before
	before=$(field acked "client krpblkt")
	sleep 1
	(($(field pending "client krpblkt") > 0)) && [[ $(field acked "client krpblkt") == "$before" ]]
}

goes_on() {
	[[ $(<"$work/round") != "$1" ]]
}
