#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfm-protocol-violations: a peer of vrfm sends a valid HELLO, and then breaks a rule of the protocol. It breaks each
# rule in turn, many times. The node ends the connection, and counts and logs the violation. Its memory is unchanged, and
# its link with the other peer stays up.
#
#   node 1 (id 1) --- node 2 (id 9) <--- vrfm_hostile (id 5), on node 1
#
# kernels: uml
# long: stock-6.1 stock-new uml-debug debug-6.1
# alone: stock-6.1-rt
# load: krdma vrfm
# programs: rfm2g/rfm
# guarantees: G10
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
rounds=$((slow == 1 ? 1000 : 500))
dir=$rfm_config/${RFM#/dev/}
mount_configfs

# device ID PEER ADDRESS: create this node's device with the id ID and one peer: PEER at ADDRESS.
device() {
	mkdir "$dir" && echo "$1" >"$dir/node_id" && echo 1M >"$dir/size" && addr4 "$NODE" >"$dir/listen" &&
		mkdir "$dir/peers/$2" && echo "$3" >"$dir/peers/$2/addr" && echo 1 >"$dir/enable"
}

field() {
	local line
	line=$(rfm_peer_line "$1")
	line=${line#* "$2" }
	echo "${line%% *}"
}

ready() { rfm_find "peer $1" && [[ $rfm_line == *" ready "*"peer_synced 1"* ]]; }

complains() { [[ $(dmesg_node) == *"node 5 does not send its image"* ]]; }

if ((NODE == 1)); then
	check "node 1 creates a device with peer 9" device 1 9 "$(addr4 2)"
	check "node 1 is linked with peer 9" within 30 ready 9
else
	check "node 2 creates a device with peer 1" device 9 1 "$(addr4 1)"
	check "node 2 is linked with peer 1" within 30 ready 1
	check "node 2 adds peer 5, which breaks the rules" mkdir "$dir/peers/5"
	addr4 1 >"$dir/peers/5/addr"
	ok $? "peer 5 has the address of node 1"
	rfm fill 0 1048576 77
	rfm_settle 1
fi
barrier filled
sum=$(rfm sum)
echo "$sum" >"/exchange/sum-$NODE"
barrier summed
[[ $(sort -u /exchange/sum-[12] | wc -l) == 1 ]]
ok $? "both nodes are equal before rules are broken"
if ((NODE == 1)); then
	seed=$((10#$(date +%N) % 32768))
	echo "# seed $seed"
	check "each broken rule ends a connection" \
		insmod /modules/vrfm_hostile.ko host="$(addr4 2)" node=5 to=9 pages=256 rounds=$rounds seed=$seed
	rmmod vrfm_hostile 2>/dev/null
fi
barrier broken
if ((NODE == 2)); then
	(($(field 5 protocol_errors) == rounds))
	ok $? "each broken rule is counted: $(field 5 protocol_errors) of $rounds"
	(($(field 1 protocol_errors) == 0 && $(field 1 links) == 1))
	ok $? "broken rules do not disturb the other peer: $(rfm_peer_line 1)"
	[[ $(dmesg_node) == *"node 5 sent a message that makes no sense"* ]]
	ok $? "the log has the broken rules"
fi
[[ $(rfm sum) == "$sum" ]]
ok $? "the memory is unchanged after broken rules"
barrier judged
((NODE != 2)) || links=$(field 5 links)
barrier counted
if ((NODE == 1)); then
	check "a peer with small receive buffers is disconnected" \
		insmod /modules/vrfm_hostile.ko host="$(addr4 2)" node=5 to=9 pages=256 buf_size=16320
	rmmod vrfm_hostile 2>/dev/null
fi
barrier small
if ((NODE == 2)); then
	(($(field 5 links) == links))
	ok $? "a peer with small receive buffers is not linked: $(field 5 links) links, $links before"
fi
barrier compared
if ((NODE == 1)); then
	check "a peer that never sends its image is disconnected" \
		insmod /modules/vrfm_hostile.ko host="$(addr4 2)" node=5 to=9 pages=256 mute_ms=$((60000 + 20000 * slow))
	rmmod vrfm_hostile 2>/dev/null
else
	within 60 complains
	ok $? "the log has the peer that never sends its image"
fi
barrier silent
check "node $NODE is linked with the valid peer after a silent one" within 30 ready $((NODE == 1 ? 9 : 1))
[[ $(rfm sum) == "$sum" ]]
ok $? "the memory is unchanged after a silent peer"
barrier alone
on 1 rfm poke 4096 4711
on 2 check "node 2 receives a word of the valid peer after a silent one" rfm await 4096 4711 $((10 * slow))
barrier over
check "node $NODE removes its device" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
