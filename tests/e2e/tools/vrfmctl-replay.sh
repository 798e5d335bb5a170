#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfmctl-replay: two nodes write by calls and through mappings, and send events, while the third records. After a replay
# into a fresh device, the images are equal, the writes of each writer have come in order, and the events are the same. The
# same holds when all three nodes write by all paths for ten seconds, also by batches and manual mappings. A replay
# refuses a linked writer, and keeps the time between writes after a long image. At speed 1, half of the writes are at
# most 2 ms late. A full disk and SIGKILL leave a file that is replayed up to its end. A device that is shorter than the
# recorded one is refused before anything is written. Options select writers and times, and a late batch is reported. A
# table has each value of a counter.
#
# User-mode Linux has one processor here, because with two it loses stores into mappings (tests/vm/README.rst).
#
#   node 1 (writes) --- node 2 (writes)
#         \               /
#         node 3 (records, replays)
#
# kernels: uml
# alone: stock-6.1
# nodes: 3
# load: krdma vrfm
# tools: vrfmctl
# programs: rfm2g/rfm rfm2g/paths
# append: ncpus=1
# guarantees: G2
# timeout: 500

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
file=/tmp/replay.pcapng
# Largest median of the lateness of a replay: twice what Documentation/tap.rst promises.
most_us=2000
export LD_LIBRARY_PATH=/add

# writes: write blocks of all sizes and single words, store through a mapping, and send events.
writes() {
	local i at=$((65536 * NODE))
	for i in {1..40}; do
		rfm poke "$at" "$i" || return
		rfm fill $((at + 4096)) $((i * 1000)) "$i" || return
		rfm store $((at + 8)) "$((i * 3))" || return
		((i % 4)) || rfm event 3 1 "$i" || return
	done
}

# recording ARGUMENT...: record into $file in the background, and wait until the image is in the file.
recording() {
	rm -f "$file"*
	vrfmctl "$@" record "$file" "$name" 2>"$results/said" &
	pid=$!
	until [[ -s $file || -s $file.1 ]]; do sleep 0.05; done
	sleep 1
}

# events FILE TYPE: print number and data of the records about events of a type, in order.
events() {
	vrfmctl cat "$1" 2>/dev/null | sed -nE "s/.* ($2) .*(event [0-9]* data [0-9]*).*/\2/p"
}

# in_order FILE OFFSET:LAST...: check that the word at each OFFSET, which one node writes, grows in the records up to LAST.
in_order() {
	vrfmctl -j cat "$1" | python3 -c '
import json, struct, sys
wanted = {int(at): int(value) for at, value in (word.split(":") for word in sys.argv[1:])}
last = {}
for record in map(json.loads, sys.stdin):
    at = record.get("offset")
    if record["type"] in ("APPLIED", "STORED") and at in wanted and record["length"] == 4:
        value = struct.unpack("<I", bytes.fromhex(record["payload"]))[0]
        assert value > last.get(at, 0), (at, value, last)
        last[at] = value
assert last == wanted, last' "${@:2}"
}

recorded() {
	if ((NODE == 3)); then
		check "node 3 pokes a word before the recording" rfm poke 0 4711
		recording --all
		barrier records
		barrier wrote
		sleep 1
		kill -TERM "$pid"
		check "the recording ends after SIGTERM" wait "$pid"
		[[ ! -s $results/said ]]
		ok $? "the recording has no message: $(<"$results/said")"
		check "records of each writer are in order" in_order "$file" 65536:40 131072:40
		vrfmctl check "$name" >"$results/sums"
		events "$file" RAISED >"$results/events"
	else
		barrier records
		check "node $NODE writes" writes
		check "node $NODE waits for its peers" rfm sync
		barrier wrote
	fi
	barrier recorded
}

# All nodes write by all paths, while node 3 records into another file.
recorded_paths() {
	local i records=$file
	if ((NODE == 3)); then
		file=/tmp/paths.pcapng
		recording --all
		paths=$file
		paths_pid=$pid
		file=$records
	fi
	barrier paths-recorded
	/add/paths "$RFM" "$NODE" 10 >"/exchange/paths-$NODE"
	ok $? "node $NODE writes by all paths for 10 s"
	check "all nodes are equal after writes by all paths" rfm_equal paths
	((NODE == 3)) || return
	sleep 1
	kill -TERM "$paths_pid"
	check "the recording of all paths ends" wait "$paths_pid"
	[[ ! -s $results/said ]]
	ok $? "the recording of all paths has no message: $(<"$results/said")"
	counters=$(for ((i = 1; i <= 3; i++)); do echo "$((262144 * i)):$(<"/exchange/paths-$i")"; done)
	echo "# last values of the counters: ${counters//$'\n'/, }"
	# shellcheck disable=SC2086
	check "records of all paths are in order" in_order "$paths" $counters
	vrfmctl check "$name" >"$results/paths-sums"
	events "$paths" 'RAISED|TOLD' >"$results/paths-events"
}

# On node 3, replay the writes by all paths into a device without peers, and record the replay.
replayed_paths() {
	check "node 3 creates the device again for all paths" renewed
	file=/tmp/paths-again
	recording
	says 0 "*batches, lateness in us: p50 *" vrfmctl --events --speed=4 replay "$paths" "$name"
	sleep 1
	kill -TERM "$pid"
	check "the recording of the replay of all paths ends" wait "$pid"
	says 0 "*: 0 of 16 blocks differ" vrfmctl -c "$results/paths-sums" check "$name"
	# shellcheck disable=SC2086
	check "writes by all paths are replayed in order" in_order "$file" $counters
	events "$file" TOLD | cmp -s - "$results/paths-events"
	ok $? "events among writes by all paths are replayed: $(wc -l <"$results/paths-events")"
	rm -f "$paths" "$file"
}

# interval FILE: print the time in us between the writes of the words 1 and 2 at offset 4096.
interval() {
	vrfmctl -j cat "$1" | python3 -c '
import json, sys
times = {}
for record in map(json.loads, sys.stdin):
    if record["type"] == "STORED" and record["offset"] == 4096 and record["length"] == 4:
        times[record["payload"]] = record["time_ns"]
print((times["02000000"] - times["01000000"]) // 1000)'
}

# The image of a large memory takes longer than the time between two writes, and does not shorten that time.
timed() {
	local us
	check "node 3 creates a large device" renewed 32M
	check "node 3 fills the large device" rfm fill 0 33554432 7
	file=/tmp/timed
	recording
	until (($(stat -c %s "$file") > 33554432)); do sleep 0.05; done
	sleep 1
	rfm poke 4096 1
	sleep 2
	rfm poke 4096 2
	kill -TERM "$pid"
	check "the recording of a large device ends" wait "$pid"
	check "node 3 creates the large device again" renewed 32M
	mv "$file" /tmp/large
	recording -r 4096:4
	says 0 "*batches, lateness in us: p50 *" vrfmctl --speed=40 replay /tmp/large "$name"
	kill -TERM "$pid"
	check "the recording of the replay of a large device ends" wait "$pid"
	us=$(interval "$file")
	((us >= 25000))
	ok $? "a large image leaves the time between two writes: $us us of $(($(interval /tmp/large) / 40))"
	rm -f "$file" /tmp/large
}

# deviation FILE FILE: print the median, in us, by which the times between writes at offset 4096 differ between files.
deviation() {
	python3 -c '
import json, statistics, subprocess, sys
def times(path):
    lines = subprocess.run(["vrfmctl", "-j", "cat", path], stdout=subprocess.PIPE, check=True, text=True).stdout
    return [record["time_ns"] for record in map(json.loads, lines.splitlines())
            if record["type"] == "STORED" and record["offset"] == 4096 and record["length"] == 4]
first, second = (times(path) for path in sys.argv[1:])
assert len(first) == len(second) >= 50, (len(first), len(second))
spans = ([b - a for a, b in zip(all, all[1:])] for all in (first, second))
print(round(statistics.median(abs(a - b) for a, b in zip(*spans)) / 1000))' "$@"
}

# At speed 1, with and without the real-time class. Only the median has a limit: this machine may have other work.
on_time() {
	local i said us options
	check "node 3 creates a device for times" renewed
	file=/tmp/times
	recording
	for i in {1..50}; do
		rfm poke 4096 "$i" || return
		sleep 0.01
	done
	kill -TERM "$pid"
	check "the recording of times ends" wait "$pid"
	mv "$file" /tmp/recorded
	for options in --no-image --rt; do
		check "node 3 creates the device again for times, $options" renewed
		recording -r 4096:4
		said=$(vrfmctl -j "$options" replay /tmp/recorded "$name")
		[[ $said =~ ^\{\"batches\":([0-9]+),\"p50_us\":([0-9]+),\"p99_us\":[0-9]+,\"max_us\":[0-9]+\}$ ]] &&
			((BASH_REMATCH[1] >= 49 && BASH_REMATCH[2] <= most_us))
		ok $? "half of the batches are at most $most_us us late, $options: $said"
		sleep 0.5
		kill -TERM "$pid"
		check "the recording of the replay of times ends, $options" wait "$pid"
		us=$(deviation /tmp/recorded "$file")
		((us <= most_us))
		ok $? "half of the times between writes differ by at most $most_us us, $options: $us us"
	done
	rm -f "$file" /tmp/recorded
}

# On node 3, replay into a device without peers, and record the replay.
replayed() {
	local lines
	says 1 "*node [12] is linked, and is a writer of the file; see --force" vrfmctl replay "$file" "$name"
	check "node 3 removes its device" rfm_unmake
	rfm_neighbours=' '
	check "node 3 creates a fresh device" rfm_make 1M
	rfm_neighbours=
	cp "$file" /tmp/original
	file=/tmp/second
	recording
	says 0 "*batches, lateness in us: p50 *" vrfmctl --events --speed=20 replay /tmp/original "$name"
	sleep 0.5
	kill -TERM "$pid"
	check "the recording of the replay ends" wait "$pid"
	says 0 "*: 0 of 16 blocks differ" vrfmctl -c "$results/sums" check "$name"
	check "writes are replayed in order" in_order "$file" 65536:40 131072:40
	lines=$(events "$file" TOLD | wc -l)
	((lines == 20)) && events "$file" TOLD | cmp -s - "$results/events"
	ok $? "events are replayed in order: $lines"
	file=/tmp/original
}

# Parts of a file are selected by writers and times, a late batch is reported, and a table has all values of a counter.
selected() {
	local table
	echo "count 65536 u32" >/tmp/columns
	table=$(vrfmctl --signals=/tmp/columns --at=65536 export "$file" | cut -d, -f2 | uniq)
	[[ $table == "$(echo count; seq 40)" ]]
	ok $? "a table has a row for each value of the counter of node 1"
	check "node 3 creates the device again for one writer" renewed
	says 0 "" vrfmctl --speed=max --nodes=2 --no-image replay "$file" "$name"
	rfm_word_is 131072 40 "the writes of the selected node are replayed"
	rfm_word_is 65536 0 "the writes of the other node are not replayed"
	check "node 3 creates the device again for a part of the time" renewed
	says 0 "" vrfmctl --speed=max --to=0.001 --no-image replay "$file" "$name"
	table=$(rfm peek 65536)
	((table < 40))
	ok $? "later writes than the selected time are not replayed: $table"
	# The writes before the begin of the selected time are written at once.
	says 0 "" vrfmctl --from=1000 --no-image replay "$file" "$name"
	rfm_word_is 131072 40 "writes before the selected time have no pauses"
	says 3 "*batches, lateness in us: p50 *" vrfmctl --speed=100000 --late=1 replay "$file" "$name"
}

# Damaged and incomplete files.
damaged() {
	local size
	size=$(stat -c %s "$file")
	check "node 3 creates the device again" renewed
	head -c $((size - 10)) "$file" >/tmp/cut
	says 0 "*was cut at byte *, and is replayed up to there*" vrfmctl --speed=max replay /tmp/cut "$name"
	says 0 "*: 0 of 16 blocks differ" vrfmctl -c "$results/sums" check "$name"
	check "node 3 creates the device again for a damaged file" renewed
	# The time of a packet has no checksum, and 8 bytes.
	python3 -c '
import sys
data = bytearray(open(sys.argv[1], "rb").read())
for at in range(len(data) // 2, len(data) // 2 + 16):
    data[at] ^= 1
open("/tmp/cut", "wb").write(data)' "$file"
	says 1 "*at byte *" vrfmctl --speed=max replay /tmp/cut "$name"
	rfm_word_is 0 0 "a damaged file has no effect"
	says 1 "*outside of the memory*" vrfmctl --shift=1M replay "$file" "$name"
	rfm_word_is 0 0 "a file that does not fit has no effect"
	says 0 "" vrfmctl --speed=max --shift=-4 -r 65536:4 --no-image replay "$file" "$name"
	rfm_word_is 65532 40 "a part of a file is replayed at another offset"
	rfm_word_is 131072 0 "the rest of the file is not replayed"
}

# renewed [SIZE]: create the device again, without peers.
renewed() {
	rfm_unmake
	rfm_neighbours=' '
	rfm_make "${1:-1M}"
	rfm_neighbours=
}

has_word() {
	[[ $(vrfmctl cat "$file" 2>&1) == *"offset 0x8 length 4: d2 04 00 00"* ]]
}

# SIGKILL, a full disk, rotated files, and a time limit.
ended() {
	local said i
	file=/tmp/ended
	recording
	rfm poke 8 1234
	within 20 has_word || :
	kill -KILL "$pid"
	wait "$pid" || :
	said=$(vrfmctl cat "$file" 2>&1)
	[[ $said == *"offset 0x8 length 4: d2 04 00 00"* && $said == *"was cut at byte "* ]]
	ok $? "a file of a killed recording is valid up to its end"
	says 1 "*/dev/full: No space left on device" vrfmctl record /dev/full "$name"
	recording --size=64K --files=2
	for i in {1..4}; do
		rfm fill 65536 100000 "$i"
		sleep 0.5
	done
	kill -TERM "$pid"
	check "the rotated recording ends" wait "$pid"
	[[ ! -e $file.1 && $(compgen -G "$file.*" | wc -l) == 2 ]]
	ok $? "two rotated files are left: $(compgen -G "$file.*" | tr '\n' ' ')"
	said=$(compgen -G "$file.*" | sort -V | tail -n 1)
	vrfmctl check "$name" >"$results/sums"
	check "node 3 creates the device again for a rotated file" renewed
	says 0 "*" vrfmctl --speed=max replay "$said" "$name"
	says 0 "*: 0 of 16 blocks differ" vrfmctl -c "$results/sums" check "$name"
	says 0 "" vrfmctl --seconds=0.5 record /tmp/short "$name"
}

check "node $NODE creates a device" rfm_make 1M keepalive_ms=10000 overload_us=20000000
check "node $NODE is linked" within 60 rfm_joined
barrier linked
recorded
recorded_paths
((NODE != 3)) || { replayed; selected; damaged; ended; timed; on_time; replayed_paths; }
barrier over
check "node $NODE removes its device" rfm_unmake
finish
