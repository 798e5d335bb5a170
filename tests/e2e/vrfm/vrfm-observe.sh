#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfm-observe: debugfs and sysfs have the correct values for a device and its links. Reading all files is safe while
# devices and peers are created and removed.
#
#   node 1 (writes, is observed) <---> node 2 (removes and recreates its device)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# timeout: 300

# Arguments: names of the cases to run; without arguments, all cases run.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
mount_debugfs
name=${RFM#/dev/}
files=/sys/kernel/debug/vrfm/$name
class=/sys/class/rfm2g/$name
latency=/sys/module/vrfm/parameters/latency
peer=$((3 - NODE))

# link NAME: print the value NAME of the link from debugfs.
link() {
	awk -v peer="$peer" -v name="$1" '$1 == peer && $2 == name { print $3 }' "$files/links"
}

# is WORD VALUE TEXT: one case, which passes if WORD equals VALUE.
is() {
	[[ $1 == "$2" ]]
	ok $? "$3: $1"
}

# above VALUE THAN TEXT: one case, which passes if VALUE is a number greater than THAN.
above() {
	[[ $1 =~ ^[0-9]+$ ]] && (($1 > $2))
	ok $? "$3: $1"
}

# counted: print the number of updates of this node in the histogram of latencies: the time until the peer has applied them.
counted() {
	awk -v peer="$peer" '$1 == peer { for (i = 2; i <= NF; i++) { split($i, a, ":"); n += a[2] } print n + 0 }' \
		"$files/latency"
}

sysfs() {
	is "$(<"$class/state")" "$1" "sysfs has the state of the device"
	is "$(<"$class/peers")" "$peer $2" "sysfs has the state of the peer"
	is "$(<"$class/peers_missed")" "$peer $3" "sysfs has the number of words that the peer misses"
}

nothing_is_in_flight() {
	[[ $(<"$class/peers_lag") == "$peer 0" && $(link queued_bytes) == 0 && $(link oldest_ms) == 0 ]]
}

linked() {
	local serial
	is "$(stat -c %a:%u "$files/device" "$files/links" "$files/latency" | sort -u)" 400:0 "files in debugfs are root's"
	sysfs ready ready 0
	is "$(link state)" ready "the link is ready in debugfs"
	is "$(link last_down_error)" "" "a link that was never down has no last error in debugfs"
	is "$(rfm_value linked)" 1 "debugfs counts one link of the device"
	is "$(rfm_value node)" "$NODE" "debugfs has the node of the device"
	((NODE == 1)) || return
	serial=$(rfm_value serial)
	check "node 1 writes a word" rfm poke 4096 1
	check "node 1 writes a second word" rfm poke 8192 2
	is "$(rfm_value serial)" $((serial + 2)) "two writes advance the serial in debugfs by two"
	is "$(rfm_value own_words)" 2 "debugfs counts two own words after two writes"
	check "the words of node 1 are sent" rfm sync
	check "nothing is in flight after the sync" within 5 nothing_is_in_flight
	is "$(link acked)" "$(link opened)" "all messages are acknowledged after the sync"
}

latencies() {
	((NODE == 1)) || return
	is "$(counted)" 0 "no latency is measured unless the parameter is set"
	echo 1 >"$latency"
	for _ in 1 2 3 4 5; do
		rfm poke 4096 3 && rfm sync
	done
	echo 0 >"$latency"
	is "$(counted)" 5 "the latency of five updates is measured"
	rfm poke 4096 4 && rfm sync
	is "$(counted)" 5 "the latency is not measured after the parameter is cleared"
}

stores() {
	((NODE == 1)) || return
	local faults words
	faults=$(rfm_value write_faults)
	words=$(rfm_value scanner_words)
	check "node 1 stores a word" rfm store 12288 5
	check "the stored word is sent" rfm sync
	is "$(rfm_value write_faults)" $((faults + 1)) "a store makes one page writable"
	is "$(rfm_value scanner_words)" $((words + 1)) "the scanner finds one word in the page"
	within 5 calm
	is "$(rfm_value twins)" 0 "the page is write-protected again after the store"
}

calm() {
	[[ $(rfm_value twins) == 0 ]]
}

# Write for longer than the interval in which rates are measured.
rates() {
	if ((NODE == 1)); then
		rfm heavy 65536 8192 3 >/tmp/heavy &
		sleep 2
		above "$(cut -d' ' -f2 "$class/peers_sent_kib_s")" 0 "sysfs has the KiB/s sent to the peer"
		wait $!
	else
		sleep 2
		above "$(cut -d' ' -f2 "$class/peers_received_kib_s")" 0 "sysfs has the KiB/s received from the peer"
	fi
	check "all writes are sent after the burst" rfm_settle
	barrier rated
	sleep 3
	is "$(cut -d' ' -f2 "$class/peers_sent_kib_s")" 0 "the KiB/s sent to the peer are 0 after the burst"
}

# rfm_line_has NODE WORDS: succeed if the line about peer NODE in /proc/rfm2g has WORDS.
rfm_line_has() {
	[[ $(rfm_peer_line "$1") == *" $2 "* ]]
}

# After node 2 removes its device, debugfs of node 1 has the error and the time of the lost link, and the number of words
# that node 2 misses.
lost() {
	if ((NODE == 2)); then
		check "node 2 removes its device" rfm_unmake
		check "the directory of the removed device in debugfs is removed" test ! -e "$files"
		barrier lost
		barrier missed
		check "node 2 creates its device with a new epoch" rfm_make 1M
	else
		barrier lost
		check "the link to the removed device goes down" within 20 rfm_is down
		rfm poke 16384 6
		sysfs waiting down 1
		above "$((-$(link last_down_error)))" 0 "debugfs has the error of the link that went down"
		is "$(($(link last_down_ms) < 100000))" 1 "debugfs has the time since the link went down: $(link last_down_ms) ms ago"
		is "$(link missed_words)" 1 "debugfs counts one missed word"
		is "$(link peer_synced)" 0 "peer_synced is 0 in debugfs while the link is down"
		check "peer_synced is 0 in /proc while the link is down" rfm_line_has 2 "peer_synced 0"
		barrier missed
	fi
	check "node $NODE is linked with the new device" within 30 rfm_is ready
	barrier back
	((NODE == 2)) || is "$(link links)" 2 "debugfs counts two links"
}

# Remove the device while one of its files in debugfs is open.
stale() {
	if ((NODE == 2)); then
		exec 8<"$files/links"
		check "a device with an open file in debugfs is removed" rfm_unmake
		! cat <&8 >/dev/null 2>&1
		ok $? "reading an open file of a removed device fails"
		exec 8<&-
		check "node 2 recreates the device after its file was open" rfm_make 1M
	fi
	check "node $NODE is linked after a file was open" within 30 rfm_is ready
	barrier stale
}

# Two tasks read all files. Reading may fail, because files are removed at any time. The kernel must not log a warning.
readers() {
	local i pids=()
	for i in 1 2; do
		read_until "$results/read$i" "/sys/kernel/debug/vrfm/*/*" "$class/state" "$class/peers*" &
		pids+=($!)
	done
	for ((i = 0; i < 6; i++)); do
		{ rfm_unmake && rfm_make 1M; } || ok 1 "a device is removed and recreated while its files are read"
		within 2 rfm_is ready
		{ rmdir "$rfm_config/$name/peers/$peer" && rfm_peer "$peer"; } || ok 1 "a peer is removed and added while its files are read"
	done
	barrier exercised
	touch "$results/read1" "$results/read2"
	wait "${pids[@]}"
	above "$(<"$results/read1.rounds")" 0 "number of times that all files were read while devices and peers were removed and created"
	check "node $NODE is linked after devices and peers were removed and created" within 60 rfm_is ready
}

check "node $NODE creates a device with one peer" rfm_make 1M
check "node $NODE is linked" within 30 rfm_is ready
barrier linked
(($# > 0)) || set -- linked latencies stores rates lost stale readers
for case in "$@"; do
	$case
	barrier "$case-over"
done
check "node $NODE removes its device" rfm_unmake
is "$(<"$latency")" N "the parameter latency is cleared at the end"
sleep 1
barrier gone
is "$(find /sys/kernel/debug/vrfm -name "$name*" | wc -l)" 0 "debugfs has no files of the removed device"
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
