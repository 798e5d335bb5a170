#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# departed-node-resync: node 4 departs after each other node has received a different number of its last words. The
# other nodes load the missing words from the node that has most of them, which is not their first peer. A second test
# is the same with one write of which some nodes have received a part.
#
#   node 4 writes, and removes its peers one after the other
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
# security: auth encrypt long
# timeout: 300

# shellcheck disable=SC2317 # functions are called by check() and within()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)

# survivors_equal TEXT: check on nodes 1 to 3 that this node is linked with the two others and complete, and that the memories of
# nodes 1 to 3 become equal.
survivors_equal() {
	local others
	mapfile -t others < <(seq 3 | grep -vx "$NODE")
	check "node $NODE is linked and complete ($1)" within 30 rfm_joined "${others[@]}"
	check "$1" within 30 same "${1// /-}"
}

# same NAME: succeed if nodes 1 to 3 have the same memory. All three nodes must poll this function.
same() {
	rfm sum >"/exchange/$1-$NODE.new" && mv "/exchange/$1-$NODE.new" "/exchange/$1-$NODE"
	grep -q "^ *3 " < <(cat "/exchange/$1-"[123] | uniq -c)
}

# begun: succeed if a part of the write of node 4 has arrived at this node or at another node.
begun() {
	[[ -e /exchange/begun ]] && return
	(($(rfm peek "$part") != 0)) && touch /exchange/begun
}

network_ready
check "node $NODE creates a device with three peers" rfm_make 1M keepalive_ms=5000
check "node $NODE is linked and complete" within 60 rfm_joined
barrier linked
if ((NODE == 4)); then
	for i in 1 2 3; do
		rfm poke $((4096 * i)) $((10 + i))
		check "node 4 writes a word that $((4 - i)) nodes receive" rfm_settle $(seq "$i" 3)
		rmdir "$rfm_config/${RFM#/dev/}/peers/$i"
	done
fi
barrier written
# Node i has received the words 1 to i from node 4, and may have loaded the other words from a peer.
for i in 1 2 3; do
	((i > NODE || NODE == 4)) || rfm_word_is $((4096 * i)) $((10 + i)) "node $NODE has word $i before node 4 removes its device"
	barrier "seen$i"
done
on 4 check "node 4 removes its device" rfm_unmake
barrier gone
if ((NODE < 4)); then
	for i in 1 2 3; do
		check "node $NODE has word $i after node 4 has removed its device" rfm await $((4096 * i)) $((10 + i)) $((30 * slow))
	done
	survivors_equal "all survivors are equal after different words"
fi
barrier summed

# Node 4 sends packets for node 1 to a MAC address that does not exist, so node 1 receives no part of the write. Node 4 sends
# slowly, so the other nodes have received only a part when a blackhole replaces its qdisc. A blackhole accepts and drops all
# packets, because rxe stops if packets are rejected (see network_ready() in lib.sh).
part=524288
on 4 check "node 4 recreates its device" rfm_make 1M keepalive_ms=5000 direct=off
check "node $NODE is linked and complete after node 4 came back" within 60 rfm_joined
on 4 check "all peers have the writes of node 4" rfm_settle
sleep 0.5
barrier again
if ((NODE == 4)); then
	ip neigh replace "$(addr4 1)" lladdr 02:00:5e:00:00:01 nud permanent dev "$NETDEV"
	network rate 1mbit
	rfm fill $part 65536 7 &
	check "a part of the write of node 4 has arrived" within 30 test -e /exchange/begun
	tc qdisc replace dev "$NETDEV" root blackhole
	barrier cut
	wait
	barrier seen
	check "node 4 removes its device in the middle of a write" rfm_unmake
	ip neigh del "$(addr4 1)" dev "$NETDEV"
	tc qdisc del dev "$NETDEV" root
else
	check "node $NODE notices the begin of the write of node 4" within 30 begun
	barrier cut
	echo "$(($(rfm peek "$part") != 0)) $(($(rfm peek $((part + 65532))) != 0))" >"/exchange/has-$NODE"
	barrier seen
	check "node $NODE notices that node 4 has removed its device" within 60 rfm_is down 4
fi
barrier left
[[ $(</exchange/has-1) == "0 0" && $(cat /exchange/has-[23]) == *"1 0"* ]]
ok $? "node 1 has received no part of the write, another node a part: $(paste -d, /exchange/has-[123])"
((NODE == 4)) || survivors_equal "all survivors are equal after a part of a write"
barrier equal
((NODE == 4)) || check "node $NODE removes its device" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
