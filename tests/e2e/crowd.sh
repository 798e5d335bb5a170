#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# crowd: eight nodes, each linked with all others: all write at once, an event of each reaches everybody, one goes and comes
# as a new one, and all memories are equal.
#
# nodes: 8
# kernels: uml
# alone: uml-debug stock-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G6 G8
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)

settled() {
	rfm_is ready && rfm_complete
}

# equal NAME: all have the same memory.
equal() {
	rfm_settle || return
	barrier "$1-synced"
	rfm sum >"/exchange/$1-$NODE"
	barrier "$1-summed"
	[[ $(sort -u /exchange/"$1"-[0-9]* | wc -l) == 1 ]]
}

check "a device with seven peers" rfm_make 1M
check "is linked with all" within 60 settled
barrier linked
rfm fill $((65536 * NODE)) 60000 "$NODE" && rfm fill 4096 20000 "$NODE"
ok $? "a part of its own is written, and one that all write"
barrier written
# The last writer of a word is not the same for everybody: of those one value is agreed on by writing it again.
((NODE != 1)) || rfm fill 4096 20000 9
barrier once
check "all are equal" equal first
for ((i = 1; i <= NODES; i++)); do
	if ((NODE == i)); then
		check "an event goes to all" rfm event 65535 3 $((700 + i))
	else
		[[ $(rfm wait 3 $((20000 * slow))) == "$i $((700 + i))" ]]
		ok $? "the event of node $i is here"
	fi
	barrier "event$i"
done
if ((NODE == 8)); then
	check "a device goes" rfm_unmake
	check "and comes as a new one" rfm_make 1M
fi
check "all are linked" within 60 settled
barrier back
check "and equal" equal second
barrier over
check "the device goes" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
