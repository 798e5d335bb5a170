#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# eight-nodes: each of eight nodes is linked with all others. All nodes write at once, an event of each node reaches all
# others, and one node recreates its device. All memories are equal.
#
# nodes: 8
# kernels: uml
# alone: uml-debug stock-6.1 uml/ntr stock-6.1/ntr-shm
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G6 G8
# security: auth encrypt long
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)

check "node $NODE creates a device with seven peers" rfm_make 1M
check "node $NODE is linked with seven peers and complete" within 60 rfm_joined
barrier linked
rfm fill $((65536 * NODE)) 60000 "$NODE" && rfm fill 4096 20000 "$NODE"
ok $? "node $NODE writes a part of its own, and one that all nodes write"
barrier written
# Words that all nodes wrote may differ between the nodes, which receive the writes in different orders. So node 1
# writes these words again.
on 1 rfm fill 4096 20000 9
barrier once
check "all nodes are equal after writing at once" rfm_equal first
for ((i = 1; i <= NODES; i++)); do
	if ((NODE == i)); then
		check "node $NODE sends an event to all" rfm event 65535 3 $((700 + i))
	else
		[[ $(rfm wait 3 $((20000 * slow))) == "$i $((700 + i))" ]]
		ok $? "node $NODE receives the event of node $i"
	fi
	barrier "event$i"
done
if ((NODE == 8)); then
	check "node 8 removes its device" rfm_unmake
	check "node 8 creates its device with a new epoch" rfm_make 1M
fi
check "node $NODE is linked and complete after node 8 came back" within 60 rfm_joined
barrier back
check "all nodes are equal after node 8 came back" rfm_equal second
barrier over
check "node $NODE removes its device" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
