#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# impostor: a second node 3 cannot end the link of node 3, whatever it has: no level, another key, or the right key. Only
# with the right key it becomes node 3, after node 3 has departed. A node that has lost its connection comes again,
# although its request alone ends nothing.
#
#   machine 1 (node 5, accepts node 3 from any address) --- machine 2 (node 3)
#                                                        \- machine 3 (a second node 3)
#
# nodes: 3
# kernels: uml
# alone: stock-6.1 uml-debug
# load: krdma vrfm
# programs: rfm2g/rfm
# add: peers-lib.sh
# append: ncpus=1
# guarantees: S1 S2
# timeout: 400

# shellcheck disable=SC2317 # functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/vrfm/peers-lib.sh
. peers-lib.sh

network_ready
member=5 claimed=3

# node ID PEER ADDRESS [ATTRIBUTE=VALUE]...: enable a device with one peer.
node() {
	device "$1" "${@:4}" && peer "$2" "$3" && enable_device
}

# tries NAME THEIRS MINE [ATTRIBUTE=VALUE]...: machine 3 connects as node 3. Machine 1 logs THEIRS, machine 3 logs MINE.
tries() {
	local text before
	before=$(links $((NODE == 1 ? claimed : member)))
	text=$2
	((NODE == 1)) || text=$3
	mark "$text"
	barrier "$1-begins"
	if ((NODE == 3)); then
		check "$1: machine 3 enables its device" node $claimed $member "$(addr4 1)" keepalive_ms=500 "${@:4}"
		check "$1: machine 3 logs why it is not linked" within 20 said "$3"
		check "$1: machine 3 is not linked" peer_is down $member
	fi
	if ((NODE == 1)); then
		check "$1: machine 1 logs the refusal" within 20 said "$2"
	fi
	barrier "$1-tried"
	((NODE == 3)) || check "$1: the link of machine $NODE stays" test "$(links $((NODE == 1 ? claimed : member)))" = "$before"
	on 2 check "$1: machine 2 writes a word" rfm poke 64 "$RANDOM"
	on 2 rfm sync
	barrier "$1-wrote"
	((NODE != 3)) || check "$1: machine 3 removes its device" rfm_unmake
	barrier "$1-over"
}

check "the key A is added" add_key logon vrfm:a A
check "the key B is added" add_key logon vrfm:b B
case $NODE in
1) check "node 5 is enabled" node $member $claimed any security=auth key=vrfm:a keepalive_ms=30000 ;;
2) check "node 3 is enabled" node $claimed $member "$(addr4 1)" security=auth key=vrfm:a keepalive_ms=500 ;;
esac
on 1 check "node 5 is linked with node 3" within 30 rfm_joined $claimed
on 2 check "node 3 is linked with node 5" within 30 rfm_joined $member
tries "no level" "$(addr4 3).*: refused: it has another security level" \
	"node 5: not linked: it has another security level"
tries "another key" "$(addr4 3).*: refused: it has another key" "node 5: not linked: it has another key" \
	security=auth key=vrfm:b
tries "the right key" "node 3: refused: another node with that id is linked" \
	"node 5: refused us: another node with that id is linked" security=auth key=vrfm:a

# Node 3 loses its connection, and node 5 does not notice that.
on 2 network loss 100%
on 2 check "node 3 notices the silence" within 20 peer_is down $member
on 1 check "node 5 does not notice the silence" peer_is ready $claimed
barrier silent
on 2 network
on 2 check "node 3 is linked again" within 30 rfm_joined $member
barrier again

# The right key makes machine 3 node 3, when the place is free.
on 2 check "node 3 removes its device" rfm_unmake
barrier departed
on 3 check "machine 3 enables its device" node $claimed $member "$(addr4 1)" security=auth key=vrfm:a
on 3 check "machine 3 is linked as node 3" within 30 rfm_joined $member
barrier replaced
((NODE == 2)) || check "machine $NODE removes its device" rfm_unmake
finish
