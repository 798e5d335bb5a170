#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# fuzz: several programs make random ioctls and other calls with random arguments, on each of two linked devices. Each call
# returns, programs and kernel survive, and the devices work afterwards. A run of ten minutes lasts until a million calls
# have used rings or batches.
#
#   node 1 (fuzz, three times) <---> node 2 (the same)
#
# kernels: uml
# long: stock-6.1
# alone: debug-6.1
# lasting: uml uml-debug
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/fuzz
# append: ncpus=1
# guarantees: G10
# timeout: 1500

# Arguments: the duration in seconds, and the seed of the first round. With the seed of a failed round, each program
# repeats its calls in the same order. The order between programs depends on the scheduler.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

seconds=${1:-20}
first=${2:-}
programs=3
lasting=$((seconds >= 600))
# Number of calls of each program in a round.
calls=$(((lasting ? 60000 : 6000) / slow))
# Number of calls with rings and batches, by this node, and the number that a long run makes.
rings=0
many=$((lasting ? 500000 : 0))

# All nodes use the seed of node 1.
agree() {
	((NODE != 1)) || echo "${first:-$RANDOM$RANDOM}" >/exchange/fuzz-seed
	barrier seed
	first=$(</exchange/fuzz-seed)
}

# fuzzers SEED: start the programs, each with a seed derived from SEED. In a long run, all but one use rings most of the
# time.
fuzzers() {
	local i seed
	for ((i = 0; i < programs; i++)); do
		seed=$(($1 + 1000000007 * (programs * (NODE - 1) + i + 1)))
		/add/fuzz "$RFM" "$calls" "$seed" $((lasting && i ? 10 : 2)) >"$results/fuzz-$i" &
		pids[i]=$!
	done
}

# fuzzed ROUND: wait for the programs; one case for each, which passes if the program exits with status 0 and has no
# failed results.
fuzzed() {
	local i said n
	for ((i = 0; i < programs; i++)); do
		wait "${pids[i]}"
		said=$?
		((said == 0)) && ! grep -q ^1 "$results/fuzz-$i"
		ok $? "round $1: program $i exits with status 0: $said"
		n=$(sed -n 's/^# rings //p' "$results/fuzz-$i")
		rings=$((rings + ${n:-0}))
	done
	grep -h ^1 "$results"/fuzz-* | sed "s/^/# /"
}

# works ROUND: check that both devices still work. The programs leave random settings and different memories: the transmitter
# may have been off, and both nodes may have written the same words. So each node writes half of the memory again.
works() {
	check "round $1: node $NODE enables its transmitter" rfm dark 0
	barrier "$1-on"
	check "round $1: node $NODE writes half of the memory" rfm fill $((524288 * (NODE - 1))) 524288 "$NODE"
	check "round $1: node $NODE stores a word" rfm store $((524288 * (NODE - 1) + 4096)) "$1"
	check "round $1: all writes of node $NODE are sent" rfm_settle
	barrier "$1-settled"
	check "round $1: node $NODE receives the word of the other node" rfm await $((524288 * (2 - NODE) + 4096)) "$1" $((5 * slow))
	rfm sum >"/exchange/sum-$1-$NODE"
	barrier "$1-summed"
	cmp "/exchange/sum-$1-1" "/exchange/sum-$1-2"
	ok $? "round $1: both nodes are equal: $(<"/exchange/sum-$1-$NODE")"
}

before=$(resources)
agree
check "node $NODE creates a device" rfm_make 1M
check "node $NODE is linked" within 30 rfm_is ready
end=$((SECONDS + seconds * (lasting ? 1 : slow)))
pids=()
for ((round = 1, more = 1; more; round++)); do
	echo "# round $round: seed $((first + round - 1))"
	barrier "round-$round"
	fuzzers $((first + round - 1))
	fuzzed $round
	barrier "over-$round"
	works $round
	# Node 1 decides for both nodes when the rounds end.
	((NODE != 1 || SECONDS < end || rings < many)) || touch /exchange/fuzz-enough
	barrier "enough-$round"
	[[ ! -e /exchange/fuzz-enough ]] || more=0
done
echo "# $rings calls with rings and batches"
check "node $NODE removes its device" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
