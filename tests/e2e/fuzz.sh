#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# fuzz: any command and any call with any argument, by several programs on each of two linked devices: each is answered,
# programs and kernel live, and afterwards the devices do what they should.
#
#   node 1 (fuzz, three times) <---> node 2 (the same)
#
# kernels: uml
# long: stock-6.1
# alone: debug-6.1
# lasting: uml
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/fuzz
# append: ncpus=1
# guarantees: G10
# timeout: 1000

# Arguments: seconds, and the seed of the first round. That of a round that failed makes the same calls again, in each
# program in the same order; which program is ahead of which is up to the kernel.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

seconds=${1:-20}
first=${2:-}
programs=3
calls=$((6000 / slow))

# All nodes have the seed of node 1.
agree() {
	((NODE != 1)) || echo "${first:-$RANDOM$RANDOM}" >/exchange/fuzz-seed
	barrier seed
	first=$(</exchange/fuzz-seed)
}

# fuzzers SEED: each program has one of its own that is made of it
fuzzers() {
	local i
	for ((i = 0; i < programs; i++)); do
		/add/fuzz "$RFM" "$calls" $(($1 + 1000000007 * (programs * (NODE - 1) + i + 1))) >"$results/fuzz-$i" &
		pids[i]=$!
	done
}

# fuzzed ROUND: all of them end, and say what they should
fuzzed() {
	local i said
	for ((i = 0; i < programs; i++)); do
		wait "${pids[i]}"
		said=$?
		((said == 0)) && ! grep -q ^1 "$results/fuzz-$i"
		ok $? "round $1: program $i ends by itself: $said"
	done
	grep -h ^1 "$results"/fuzz-* | sed "s/^/# /"
}

# What they left behind is any settings. The transmitter may be off, and what was written meanwhile is nobody's; both may
# have written the same words. So all of the memory is written anew, half of it by each.
works() {
	check "the transmitter is on" rfm dark 0
	barrier "$1-on"
	check "the half of this node is written" rfm fill $((524288 * (NODE - 1))) 524288 "$NODE"
	check "a word is stored" rfm store $((524288 * (NODE - 1) + 4096)) "$1"
	check "all that was written is sent" rfm_settle
	barrier "$1-settled"
	check "the word of the other node is here" rfm await $((524288 * (2 - NODE) + 4096)) "$1" $((5 * slow))
	rfm sum >"/exchange/sum-$1-$NODE"
	barrier "$1-summed"
	cmp "/exchange/sum-$1-1" "/exchange/sum-$1-2"
	ok $? "both are equal: $(<"/exchange/sum-$1-$NODE")"
}

before=$(resources)
agree
check "a device" rfm_make 1M
check "is linked" within 30 rfm_is ready
end=$((SECONDS + seconds * slow))
pids=()
for ((round = 1, more = 1; more; round++)); do
	echo "# round $round: seed $((first + round - 1))"
	barrier "round-$round"
	fuzzers $((first + round - 1))
	fuzzed $round
	barrier "over-$round"
	works $round
	# Node 1 says when it is enough.
	((NODE != 1 || SECONDS < end)) || touch /exchange/fuzz-enough
	barrier "enough-$round"
	[[ ! -e /exchange/fuzz-enough ]] || more=0
done
check "the device goes" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
