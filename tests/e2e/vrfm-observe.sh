#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfm-observe: what debugfs and sysfs say of a device and its links, and that reading all of it is safe while devices and
# peers come and go.
#
#   node 1 (writes, is looked at) <---> node 2 (goes and comes)
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# timeout: 300

# The names of cases as arguments run only these.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
name=${RFM#/dev/}
files=/sys/kernel/debug/vrfm/$name
class=/sys/class/rfm2g/$name
latency=/sys/module/vrfm/parameters/latency
peer=$((3 - NODE))

# device NAME, link NAME: a value
device() {
	awk -v name="$1" '$1 == name { print $2 }' "$files/device"
}

link() {
	awk -v peer="$peer" -v name="$1" '$1 == peer && $2 == name { print $3 }' "$files/links"
}

# is WORD VALUE TEXT
is() {
	[[ $1 == "$2" ]]
	ok $? "$3: $1"
}

# above VALUE THAN TEXT
above() {
	[[ $1 =~ ^[0-9]+$ ]] && (($1 > $2))
	ok $? "$3: $1"
}

# counted: how many updates the peer has applied, as the histogram has it
counted() {
	awk -v peer="$peer" '$1 == peer { for (i = 2; i <= NF; i++) { split($i, a, ":"); n += a[2] } print n + 0 }' \
		"$files/latency"
}

sysfs() {
	is "$(<"$class/state")" "$1" "the state of the device in sysfs"
	is "$(<"$class/peers")" "$peer $2" "its peers"
	is "$(<"$class/peers_missed")" "$peer $3" "the words that the peer misses"
}

nothing_is_under_way() {
	[[ $(<"$class/peers_lag") == "$peer 0" && $(link queued_bytes) == 0 && $(link oldest_ms) == 0 ]]
}

linked() {
	local serial
	is "$(stat -c %a:%u "$files/device" "$files/links" "$files/latency" | sort -u)" 400:0 "files in debugfs are root's"
	sysfs ready ready 0
	is "$(link state)" ready "the link is ready in debugfs"
	is "$(link last_down_error)" "" "and has never been down"
	is "$(device linked)" 1 "the device has a link"
	is "$(device node)" "$NODE" "and its node"
	((NODE == 1)) || return
	serial=$(device serial)
	check "a word is written" rfm poke 4096 1
	check "and another one" rfm poke 8192 2
	is "$(device serial)" $((serial + 2)) "so many writes are counted"
	is "$(device own_words)" 2 "and words of this node's"
	check "what was written is sent" rfm sync
	check "nothing is under way then" within 5 nothing_is_under_way
	is "$(link acked)" "$(link opened)" "all messages are acknowledged"
}

latencies() {
	((NODE == 1)) || return
	is "$(counted)" 0 "no times are measured unless they are wanted"
	echo 1 >"$latency"
	for _ in 1 2 3 4 5; do
		rfm poke 4096 3 && rfm sync
	done
	echo 0 >"$latency"
	is "$(counted)" 5 "five updates were measured"
	rfm poke 4096 4 && rfm sync
	is "$(counted)" 5 "and later ones are not"
}

stores() {
	((NODE == 1)) || return
	local faults words
	faults=$(device write_faults)
	words=$(device flusher_words)
	check "a word is stored" rfm store 12288 5
	check "and sent" rfm sync
	is "$(device write_faults)" $((faults + 1)) "a page was made writable"
	is "$(device flusher_words)" $((words + 1)) "a word was found in it"
	within 5 calm
	is "$(device twins)" 0 "it is protected again"
}

calm() {
	[[ $(device twins) == 0 ]]
}

# Long enough that an interval ends.
rates() {
	if ((NODE == 1)); then
		rfm heavy 65536 8192 3 >/tmp/heavy &
		sleep 2
		above "$(cut -d' ' -f2 "$class/peers_sent_kib_s")" 0 "KiB/s are sent"
		wait $!
	else
		sleep 2
		above "$(cut -d' ' -f2 "$class/peers_received_kib_s")" 0 "KiB/s are received"
	fi
	check "all of it is sent" rfm_settle
	barrier rated
	sleep 3
	is "$(cut -d' ' -f2 "$class/peers_sent_kib_s")" 0 "then nothing is sent"
}

# rfm_line_has NODE WORDS: in what /proc/rfm2g says of that peer
rfm_line_has() {
	[[ $(rfm_peer_line "$1") == *" $2 "* ]]
}

# The other node goes: why and when the link went is there, and what it misses.
lost() {
	if ((NODE == 2)); then
		check "a device goes" rfm_unmake
		check "and its directory in debugfs" test ! -e "$files"
		barrier lost
		barrier missed
		check "it comes as a new one" rfm_make 1M
	else
		barrier lost
		check "the link is down" within 20 rfm_is down
		rfm poke 16384 6
		sysfs waiting down 1
		above "$((-$(link last_down_error)))" 0 "why, as an errno"
		is "$(($(link last_down_ms) < 100000))" 1 "and when: $(link last_down_ms) ms ago"
		is "$(link missed_words)" 1 "what was written since is missed"
		is "$(link peer_synced)" 0 "nobody says that all is here"
		check "nor does /proc" rfm_line_has 2 "peer_synced 0"
		barrier missed
	fi
	check "linked again" within 30 rfm_is ready
	barrier back
	((NODE == 2)) || is "$(link links)" 2 "for the second time"
}

# A file that was open when the device went.
stale() {
	if ((NODE == 2)); then
		exec 8<"$files/links"
		check "a device goes that is looked at" rfm_unmake
		! cat <&8 >/dev/null 2>&1
		ok $? "who has its file open is told"
		exec 8<&-
		check "and comes" rfm_make 1M
	fi
	check "linked" within 30 rfm_is ready
	barrier stale
}

# Files may be gone at any time, and then an errno is right; the kernel must have nothing to say.
read_all() {
	local n=0
	while [[ ! -e $results/read ]]; do
		cat /sys/kernel/debug/vrfm/*/* "$class"/{state,peers*} >/dev/null 2>&1 && n=$((n + 1))
	done
	echo "$n" >"$results/readings"
}

readers() {
	local i pids=()
	for i in 1 2; do
		read_all &
		pids+=($!)
	done
	for ((i = 0; i < 6; i++)); do
		{ rfm_unmake && rfm_make 1M; } || ok 1 "a device goes and comes"
		within 2 rfm_is ready
		{ rmdir "$rfm_config/$name/peers/$peer" && rfm_peer "$peer"; } || ok 1 "a peer goes and comes"
	done
	barrier exercised
	touch "$results/read"
	wait "${pids[@]}"
	above "$(<"$results/readings")" 0 "all could be read while devices and peers came and went, so many times"
	check "linked after all of it" within 60 rfm_is ready
}

check "a device" rfm_make 1M
check "is linked" within 30 rfm_is ready
barrier linked
(($# > 0)) || set -- linked latencies stores rates lost stale readers
for case in "$@"; do
	$case
	barrier "$case-over"
done
check "the device goes" rfm_unmake
is "$(<"$latency")" N "nothing is measured any more"
sleep 1
barrier gone
is "$(find /sys/kernel/debug/vrfm -name "$name*" | wc -l)" 0 "nothing is left in debugfs"
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
