#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# survivors: a node goes whose last words have reached each of the others to another extent: all get them from the one that
# has seen most, which is not the first that they know.
#
#   node 4 writes, and takes leave of one after the other
#     |         |         |
#   node 1 - node 2 - node 3 (- node 1)
#
# nodes: 4
# kernels: uml
# alone: uml/siw stock-6.1 uml-debug
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G8
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)

# is OFFSET VALUE TEXT
is() {
	local value
	value=$(rfm peek "$1")
	[[ $value == "$2" ]]
	ok $? "$3: $value"
}

complete() {
	awk -v dev="${RFM#/dev/}" '/^[^ ]/ { mine = $1 == dev } mine && $1 == "image" { exit $3 != "complete" }' /proc/rfm2g
}

settled() {
	rfm_is ready "$@" && complete
}

check "a device with three peers" rfm_make 1M
check "is linked, and complete" within 60 settled
barrier linked
if ((NODE == 4)); then
	for i in 1 2 3; do
		rfm poke $((4096 * i)) $((10 + i))
		check "a word that $((4 - i)) nodes see is written" rfm_settle $(seq "$i" 3)
		rmdir "$rfm_config/${RFM#/dev/}/peers/$i"
	done
fi
barrier written
# Node i has the words up to i, and may have got others from who has seen them.
for i in 1 2 3; do
	((i > NODE || NODE == 4)) || is $((4096 * i)) $((10 + i)) "word $i before node 4 is gone for all"
	barrier "seen$i"
done
((NODE != 4)) || check "node 4 goes" rfm_unmake
barrier gone
if ((NODE < 4)); then
	for i in 1 2 3; do
		check "word $i is here" rfm await $((4096 * i)) $((10 + i)) $((30 * slow))
	done
	mapfile -t others < <(seq 3 | grep -vx "$NODE")
	check "linked, and complete" within 30 settled "${others[@]}"
	rfm sum >"/exchange/sum-$NODE"
fi
barrier summed
[[ $(cat /exchange/sum-[123] | sort -u | wc -l) == 1 ]]
ok $? "all survivors are equal"
((NODE == 4)) || check "the device goes" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
