#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# programs-of-32-bits: a device behaves for programs of 32 bits as for those of 64 bits: every command, mapping and
# limit, and random calls. Programs of 32 bits and of 64 bits read the words of each other. User-mode Linux runs no
# programs of 32 bits.
#
#   each node for itself: abi-32, fuzz-32, own-32, ringbad-32, batch-32 ---> /dev/rfm2gN
#   node 1 (32 bits) <--- vrfm ---> node 2 (64 bits)
#
# kernels: stock-6.1
# long: stock-6.12 stock-new
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/own
# narrow: rfm2g/abi rfm2g/fuzz rfm2g/rfm rfm2g/own rfm2g/ringbad rfm2g/batch
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

dir=$rfm_config/${RFM#/dev/}

# make SIZE: create a device without peers.
make() {
	mkdir "$dir" && echo "$NODE" >"$dir/node_id" && echo "$1" >"$dir/size" && echo 1 >"$dir/enable"
}

# alone SIZE PROGRAM ARGUMENT...: run PROGRAM on a device without peers.
alone() {
	check "${2%% *}: a device of $1 is created" make "$1"
	results "${@:2}"
	check "${2%% *}: a closed device of $1 is removed" rmdir "$dir"
}

# pass WORD SENDER RECEIVER...: check that program RECEIVER on node 2 gets a word and an event of program SENDER on node 1.
pass() {
	local word=$1 from=$2 said
	shift 2
	if ((NODE == 1)); then
		check "${from##*/} on node 1 writes word $word" "$from" "$RFM" poke 4096 "$word"
		check "${from##*/} on node 1 sends an event after word $word" "$from" "$RFM" event 2 3 $((word + 1000))
		barrier "sent$word"
	else
		barrier "sent$word"
		said=$("$@" wait 3 $((20000 * slow)))
		[[ $said == "1 $((word + 1000))" ]]
		ok $? "${1##*/} on node 2 gets the event after word $word: $said"
		[[ $("$@" peek 4096) == "$word" ]]
		ok $? "${1##*/} on node 2 reads word $word after the event"
	fi
	barrier "passed$word"
}

linked() {
	check "node $NODE creates a device with one peer" rfm_make 1M keepalive_ms=3000
	check "node $NODE is linked" within 30 rfm_is ready
	barrier linked
	pass 71 rfm-32 /add/rfm "$RFM"
	pass 72 /add/rfm rfm-32 "$RFM"
	check "fsync() of a program of 32 bits succeeds" rfm-32 "$RFM" sync
	[[ $(own-32 "$RFM" peers) == *"peer $((3 - NODE)) "* && $(own-32 "$RFM" flush 10000) == "0 1 0 0"* ]]
	ok $? "vrfm's own ioctls work for a program of 32 bits: $(own-32 "$RFM" flush 10000)"
	barrier over
	check "node $NODE removes its device" rfm_unmake
}

if ! type -P abi-32 >/dev/null; then
	skip "programs of 32 bits" "this machine has no compiler for them"
	finish
	exit
fi
mount_configfs
for size in 64M 1M; do
	alone $size abi-32 "$RFM" "$NODE" $((${size%M} << 20))
done
alone 1M fuzz-32 "$RFM" 20000 "$RANDOM$RANDOM"
alone 1M own-32 "$RFM" alone
alone 1M ringbad-32 "$RFM" calls
alone 1M batch-32 "$RFM" calls
linked
finish
