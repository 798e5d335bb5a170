#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfmctl-tap: vrfmctl shows the writes, messages and events of a device as lines, as JSON and as packets. A file has each
# record with a valid checksum, and the number of records at its end. Records that are dropped while vrfmctl is stopped
# are counted. A full disk and invalid options end the command with a message.
#
#   node 1 (writes) <---> node 2 (taps)
#
# kernels: uml
# long: stock-6.1
# load: krdma vrfm
# tools: vrfmctl
# programs: rfm2g/rfm
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
capture=/tmp/tap-$NODE.pcapng
export LD_LIBRARY_PATH=/add

# read_file: print the types of the records in $capture, and "received N dropped N" of its end. Fail if it is invalid.
read_file() {
	python3 - "$capture" <<'END'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
at, kinds, end = 0, [], None
while at < len(data):
    kind, size = struct.unpack_from("<II", data, at)
    assert size % 4 == 0 and struct.unpack_from("<I", data, at + size - 4)[0] == size, at
    body = data[at + 8:at + size - 4]
    if at == 0:
        assert kind == 0x0A0D0D0A and struct.unpack_from("<IHH", body) == (0x1A2B3C4D, 1, 0)
    elif kind == 1:
        assert struct.unpack_from("<H", body)[0] == 147
        text = body[body.index(b"vrfm records 1 "):].split(b"\0")[0]
        before, _, crc = text.rpartition(b" crc ")
        assert int(crc, 16) == zlib.crc32(before), text
    elif kind == 6:
        length = struct.unpack_from("<I", body, 12)[0]
        packet, options = body[20:20 + length], body[20 + (length + 3) // 4 * 4:]
        assert struct.unpack_from("<HHBI", options) == (3, 5, 2, zlib.crc32(packet)), at
        kinds.append(struct.unpack_from("<H", packet)[0])
        if kinds[-1] == 18 and packet[64:] == struct.pack("<I", 4711):
            print("applied 4711")
    else:
        assert kind == 5 and at + size == len(data), at
        end = struct.unpack_from("<HHQHHQ", body, 12)
    at += size
print(" ".join(str(kind) for kind in sorted(set(kinds))))
if end:
    assert end[2] == len([kind for kind in kinds if kind != 1]) + end[5], end
    print("dropped", end[5])
END
}

# shows ARGUMENT...: let vrfmctl tap the device while a program writes words at 64, until it ends by itself.
shows() {
	local pid n=0
	vrfmctl "$@" tap "$name" >"$results/shown" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		rfm poke 64 $((n++)) >/dev/null
		sleep 0.05
	done
	wait "$pid"
}

text() {
	local line
	check "tap shows three writes" shows -k stored -n 3
	line=$(head -n 1 "$results/shown")
	[[ $line == *.*" STORED node 2 serial "*" offset 0x40 length 4: "*" 00 00 00" && $(wc -l <"$results/shown") == 3 ]]
	ok $? "a line of tap: $line"
	check "tap shows three records as JSON" shows -j -k stored,sent -N 1-2 -r 64:4 -n 3
	python3 -c '
import json, sys
records = [json.loads(line) for line in open(sys.argv[1])]
assert len(records) == 3
stored = [one for one in records if one["type"] == "STORED"][0]
assert stored["node"] == 2 and stored["offset"] == 64 and stored["length"] == 4 and len(stored["payload"]) == 8, stored
assert all(one["peer"] == 1 for one in records if one["type"] == "SENT"), records' "$results/shown"
	ok $? "JSON of tap has types, nodes and bytes"
}

wrong() {
	says 2 "*invalid value*" vrfmctl -k nothing tap "$name"
	says 2 "*invalid value*" vrfmctl -N 256 tap "$name"
	says 2 "*invalid value*" vrfmctl -r 5 tap "$name"
	says 2 "*invalid value*" vrfmctl -s 65537 tap "$name"
	says 2 "*either --json or --pcapng*" vrfmctl -j -p - tap "$name"
	says 1 "*not inside its memory*" vrfmctl -r 1M:1 tap "$name"
	says 1 "*/dev/full: No space left on device" vrfmctl -p /dev/full tap "$name"
	says 1 "*/nowhere/file: No such file or directory" vrfmctl -p /nowhere/file tap "$name"
}

# started ARGUMENT...: start vrfmctl with the file $capture, and wait until it taps.
started() {
	rm -f "$capture"
	vrfmctl -p "$capture" "$@" tap "$name" 2>"$results/said" &
	pid=$!
	until [[ -s $capture ]]; do sleep 0.05; done
}

# Node 1 writes a word while node 2 taps it.
captured() {
	local said
	((NODE == 1)) || started
	barrier taps
	((NODE == 2)) || check "node 1 writes a word" rfm poke 128 4711
	((NODE == 1)) || check "node 2 has the word" rfm await 128 4711 20
	((NODE == 1)) || check "node 2 writes a word" rfm poke 64 1
	if ((NODE == 2)); then
		sleep 0.2
		kill -INT "$pid"
		check "tap ends after SIGINT" wait "$pid"
		said=$(read_file)
		[[ $said == "applied 4711"*16*18*20*21*"dropped 0" ]]
		ok $? "the file has all types of records, and its end: ${said//$'\n'/, }"
	fi
	barrier captured
}

# A stopped program loses records, and writers continue.
stopped() {
	local said i
	started -k stored
	kill -STOP "$pid"
	for i in {1..6}; do
		dd if=/dev/zero of="$RFM" bs=64K count=16 conv=notrunc status=none || break
	done
	check "writers continue while tap is stopped" test "$i" = 6
	kill -CONT "$pid"
	sleep 1
	rfm poke 64 1
	sleep 1
	kill -INT "$pid"
	check "tap that was stopped ends after SIGINT" wait "$pid"
	said=$(read_file)
	[[ $said == "1 16"*"dropped "[1-9]* && $(<"$results/said") == *"${said##* } records were dropped"* ]]
	ok $? "the file counts the dropped records: ${said//$'\n'/, }"
}

check "node $NODE creates a device" rfm_make 1M keepalive_ms=10000 overload_us=20000000
check "node $NODE is linked" within 60 rfm_joined
barrier linked
((NODE == 1)) || { text; wrong; }
barrier shown
captured
((NODE == 1)) || stopped
barrier over
check "node $NODE removes its device" rfm_unmake
finish
