#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# rule-breaker: a peer of vrfm that says hello as it should and then breaks a rule of the protocol, each in turn and again
# and again: its connection ends, that is counted and said, and the memory is as it was. The node goes on with its others.
#
#   node 1 (id 1) --- node 2 (id 9) <--- vrfm_hostile (id 5), of node 1
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
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config

# device ID PEER ADDRESS
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
	check "a device" device 1 9 "$(addr4 2)"
	check "is linked" within 30 ready 9
else
	check "a device" device 9 1 "$(addr4 1)"
	check "is linked" within 30 ready 1
	check "and has a peer that breaks the rules" mkdir "$dir/peers/5"
	addr4 1 >"$dir/peers/5/addr"
	ok $? "which comes from node 1"
	rfm fill 0 1048576 77
	rfm_settle 1
fi
barrier filled
sum=$(rfm sum)
echo "$sum" >"/exchange/sum-$NODE"
barrier summed
[[ $(sort -u /exchange/sum-[12] | wc -l) == 1 ]]
ok $? "both are equal"
if ((NODE == 1)); then
	seed=$((10#$(date +%N) % 32768))
	echo "# seed $seed"
	check "every rule that is broken ends a connection" \
		insmod /modules/vrfm_hostile.ko host="$(addr4 2)" node=5 to=9 pages=256 rounds=$rounds seed=$seed
	rmmod vrfm_hostile 2>/dev/null
fi
barrier broken
if ((NODE == 2)); then
	(($(field 5 protocol_errors) == rounds))
	ok $? "each was noticed: $(field 5 protocol_errors) of $rounds"
	(($(field 1 protocol_errors) == 0 && $(field 1 links) == 1))
	ok $? "the other peer was not disturbed: $(rfm_peer_line 1)"
	[[ $(dmesg_node) == *"node 5 sent a message that makes no sense"* ]]
	ok $? "the log says so"
fi
[[ $(rfm sum) == "$sum" ]]
ok $? "the memory is as it was"
barrier judged
if ((NODE == 1)); then
	check "who never sends an image is not waited for for ever" \
		insmod /modules/vrfm_hostile.ko host="$(addr4 2)" node=5 to=9 pages=256 mute_ms=$((60000 + 20000 * slow))
	rmmod vrfm_hostile 2>/dev/null
else
	within 60 complains
	ok $? "the log says so"
fi
barrier silent
check "is ready to the other one" within 30 ready $((NODE == 1 ? 9 : 1))
[[ $(rfm sum) == "$sum" ]]
ok $? "the memory is as it was"
barrier alone
((NODE != 1)) || rfm poke 4096 4711
((NODE == 1)) || check "and goes on" rfm await 4096 4711 $((10 * slow))
barrier over
check "the device goes" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
