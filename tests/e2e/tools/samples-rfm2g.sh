#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# samples-rfm2g: the programs of samples/rfm2g, compiled from a copy of that folder, work as documented.
#
#   each node for itself: writer, reader, loop, ... ---> librfm2g ---> /dev/rfm2gN
#
# nodes: 1
# kernels: uml
# long: stock-6.1
# load: krdma vrfm
# samples: block_counter handshake loop callback
# timeout: 200

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
config=/sys/kernel/config/vrfm

mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
export LD_LIBRARY_PATH=/add

# put FILE VALUE: write VALUE into FILE.
put() {
	echo "$2" >"$1"
}

# says STATUS PATTERN COMMAND...: run COMMAND as one case, which passes if its exit status is STATUS and its output matches
# PATTERN.
says() {
	local wanted=$1 pattern=$2 said status=0
	shift 2
	said=$("$@" 2>&1) || status=$?
	# shellcheck disable=SC2053
	[[ $status == "$wanted" && $said == $pattern ]]
	ok $? "${*##*/}: $status, ${said//$'\n'/ / }"
}

mkdir "$config/$name" && put "$config/$name/node_id" "$NODE" && put "$config/$name/size" 1M &&
	put "$config/$name/enable" 1
ok $? "a device of 1M is created"

block_counter "$RFM" write $((4 * slow)) >"$results/written" &
says 0 "*whole blocks*, 0 damaged" block_counter "$RFM" read $((2 * slow))
wait $!
ok $? "block_counter write succeeds: $(<"$results/written")"
says 1 "0 whole blocks*" block_counter "$RFM" read 0.2
says 0 "*10000 cycles, late by us: p50 * max *" loop "$RFM" 1
says 0 "*100 cycles, late by us: p50 * max *" loop "$RFM" 0.1 1000
says 0 "0 events, *" callback "$RFM" 0.5
says 1 "*no answer: the call timed out" handshake "$RFM" ask 200 1
says 0 "0 questions answered" handshake "$RFM" answer 0.5
says 1 "*own node" handshake "$RFM" ask "$NODE" 1
for sample in block_counter handshake loop callback; do
	says 2 "$sample: usage: *" "$sample"
done
says 1 "block_counter: /dev/rfm2g9: there is no such device" block_counter /dev/rfm2g9 read 1
check "a closed device of 1M is disabled" put "$config/$name/enable" 0
rmdir "$config/$name"
finish
