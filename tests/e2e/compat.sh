#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# compat: programs of 32 bits find the device that those of 64 find: every command, mapping and limit, all at random, and
# what one of them writes the other one reads. User-mode Linux runs no such programs.
#
#   each node for itself: abi-32, fuzz-32, own-32 ---> /dev/rfm2gN
#   node 1 (32 bits) <--- vrfm ---> node 2 (64 bits)
#
# kernels: stock-6.1
# long: stock-6.12 stock-new
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/own
# narrow: rfm2g/abi rfm2g/fuzz rfm2g/rfm rfm2g/own
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

dir=$rfm_config/${RFM#/dev/}

# make SIZE: a device without peers
make() {
	mkdir "$dir" && echo "$NODE" >"$dir/node_id" && echo "$1" >"$dir/size" && echo 1 >"$dir/enable"
}

# alone SIZE PROGRAM ARGUMENT...
alone() {
	check "a device of $1" make "$1"
	results "${@:2}"
	check "it goes, nobody has it open" rmdir "$dir"
}

# pass WORD SENDER RECEIVER...: what a program writes and sends on node 1 is read and taken by another one on node 2
pass() {
	local word=$1 from=$2 said
	shift 2
	if ((NODE == 1)); then
		check "${from##*/} writes" "$from" "$RFM" poke 4096 "$word"
		check "and sends an event" "$from" "$RFM" event 2 3 $((word + 1000))
		barrier "sent$word"
	else
		barrier "sent$word"
		said=$("$@" wait 3 $((20000 * slow)))
		[[ $said == "1 $((word + 1000))" ]]
		ok $? "${1##*/} gets the event: $said"
		[[ $("$@" peek 4096) == "$word" ]]
		ok $? "and what was written before"
	fi
	barrier "passed$word"
}

linked() {
	check "a device" rfm_make 1M keepalive_ms=3000
	check "is linked" within 30 rfm_is ready
	barrier linked
	pass 71 rfm-32 /add/rfm "$RFM"
	pass 72 /add/rfm rfm-32 "$RFM"
	check "fsync() of 32 bits" rfm-32 "$RFM" sync
	[[ $(own-32 "$RFM" peers) == *"peer $((3 - NODE)) "* && $(own-32 "$RFM" flush 10000) == "0 1 0 0"* ]]
	ok $? "vrfm's own commands: $(own-32 "$RFM" flush 10000)"
	barrier over
	check "the device goes" rfm_unmake
}

if ! type -P abi-32 >/dev/null; then
	skip "programs of 32 bits" "this machine has no compiler for them"
	finish
	exit
fi
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
for size in 64M 1M; do
	alone $size abi-32 "$RFM" "$NODE" $((${size%M} << 20))
done
alone 1M fuzz-32 "$RFM" 20000 "$RANDOM$RANDOM"
alone 1M own-32 "$RFM" alone
linked
finish
