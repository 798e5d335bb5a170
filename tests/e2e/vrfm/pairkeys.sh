#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# pairkeys: each pair of nodes has a key of its own. A node whose key is not that of the pair is refused, even if it has
# the key of the device. A key is replaced in three steps without the end of a link: only the last step ends a link whose
# key was removed, and the link comes again. Other links stay.
#
#   node 1 --- P --- node 2 --- R --- node 3 --- Q --- node 1
#
# nodes: 3
# kernels: uml uml/siw
# alone: stock-6.1 uml-debug
# load: krdma vrfm
# programs: rfm2g/rfm
# add: peers-lib.sh
# append: ncpus=1
# guarantees: G8 S1
# timeout: 400

# shellcheck disable=SC2317 # functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/vrfm/peers-lib.sh
. peers-lib.sh

network_ready
declare -A key=([12]=P [21]=P [13]=Q [31]=Q [23]=R [32]=R)

# set_key PEER LETTERS: give this node these keys for PEER. Nodes may share a kernel, and with it the keyring.
set_key() {
	add_key logon "vrfm:$NODE-$1" "$2" && put "$dir/peers/$1/key" "vrfm:$NODE-$1"
}

# uses PEER LETTER: succeed if the link to PEER was made with this key.
uses() {
	rfm_joined "$1" && [[ $(rfm_peer_line "$1") == *" key $(key_id "$2")" ]]
}

create() {
	local i
	device "$NODE" keepalive_ms=500 security=auth
	for ((i = 1; i <= NODES; i++)); do
		((i == NODE)) && continue
		mkdir "$dir/peers/$i" && set_key "$i" "${key[$NODE$i]}" && put "$dir/peers/$i/addr" "$(addr4 "$i")" || return
	done
	enable_device
}

# All links are made with the key of their pair, and the device has no key.
only_pairs() {
	local i
	check "node $NODE creates a device with keys of pairs only" create
	[[ $(<"$dir/key") == none ]]
	ok $? "the device of node $NODE has no key"
	for ((i = 1; i <= NODES; i++)); do
		((i == NODE)) && continue
		check "the link of nodes $NODE and $i has the key of the pair" within 30 uses "$i" "${key[$NODE$i]}"
		[[ $(<"$dir/peers/$i/key") == "$(key_id "${key[$NODE$i]}")" ]]
		ok $? "node $NODE shows the id of the key for peer $i"
	done
	refused "Required key not available" "node $NODE cannot remove the only key for a peer" put "$dir/peers/$((NODE % 3 + 1))/key" none
	mkdir "$dir/peers/9"
	mark "peer 9: there is no key for it"
	refused "Required key not available" "node $NODE refuses a peer without a key" put "$dir/peers/9/addr" 10.56.0.9
	check "the log of node $NODE names the peer without a key" once "peer 9: there is no key for it"
	rmdir "$dir/peers/9"
	barrier only-pairs
}

# Node 3 loses its key for node 1, and has the key of the device instead. Node 1 also has that key, but not for node 3.
stranger() {
	local before text
	before=$(links 2)
	add_key logon vrfm:network N
	check "node $NODE gets a key for its device" put "$dir/key" vrfm:network
	text="node 3: not linked: it has another key"
	((NODE != 3)) || text="$(addr4 1).*: refused: it has another key"
	mark "$text"
	barrier network
	on 3 check "node 3 removes its key for node 1" put "$dir/peers/1/key" none
	if ((NODE != 2)); then
		check "node $NODE ends the link whose key was removed" within 20 peer_is down $((4 - NODE))
		check "node $NODE logs the other key" within 20 said "$text"
		((NODE != 3)) || check "node 3 logs that the key is not valid" logged "$name: node 1: its key is not valid any more"
		check "the link with node 2 stays" test "$(links 2)" = "$before"
	fi
	barrier refused
	on 3 check "node 3 gets the key of the pair again" set_key 1 Q
	check "node $NODE is linked with all nodes again" within 60 rfm_joined
	barrier again
	check "node $NODE removes the key of its device" put "$dir/key" none
	barrier removed
}

# step NAME LETTERS: nodes 1 and 2 set these keys, one after the other.
step() {
	local i
	for i in 1 2; do
		on $i check "$1: node $i sets its keys for node $((3 - i))" set_key $((3 - i)) "$2"
		barrier "$1-$i"
	done
}

# Replace the key P of nodes 1 and 2 by S, while both write.
rotate() {
	local before third other=$((3 - NODE)) i
	barrier rotation
	if ((NODE < 3)); then
		before=$(links $other) third=$(links 3)
		for ((i = 0; i < 2000; i++)); do rfm poke $((4096 * NODE)) $i && sleep 0.02; done >/dev/null &
		writer=$!
	fi
	step next PS
	((NODE == 3)) || check "the next key ends no link" test "$(links $other)" = "$before"
	step switch SP
	((NODE == 3)) || check "the switch to the next key ends no link" test "$(links $other)" = "$before"
	step drop S
	if ((NODE < 3)); then
		check "the link has the next key" within 30 uses $other S
		check "the link was made again once" test "$(links $other)" = $((before + 1))
		check "the link with node 3 stays" test "$(links 3)" = "$third"
		kill "$writer"
		{ wait "$writer"; } 2>/dev/null
	fi
	barrier dropped
	check "the memories are equal after the rotation" rfm_equal rotated
}

only_pairs
stranger
rotate
check "node $NODE removes its device" rfm_unmake
finish
