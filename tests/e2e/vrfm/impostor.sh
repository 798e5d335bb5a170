#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# impostor: a second node 3 cannot end the link of node 3, whatever it has: no level, another key, or the right key. Only
# with the right key it becomes node 3, after node 3 has departed. A node that has lost its connection comes again,
# although its request alone ends nothing. Another machine that repeats a recorded connect request of node 3 is refused. From
# the forged address of node 3, the request ends no link, does not make one, and keeps node 3 out only for some seconds.
#
#   machine 1 (node 5, accepts node 3 from any address) --- machine 2 (node 3)
#                                                        \- machine 3 (a second node 3)
#
# nodes: 3
# kernels: uml uml/siw
# alone: stock-6.1
# load: krdma vrfm krdma_hostile
# programs: rfm2g/rfm
# add: peers-lib.sh hostile-lib.sh
# capture: /exchange/capture
# append: ncpus=1
# guarantees: S1 S2
# timeout: 400

# shellcheck disable=SC2317 # functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/vrfm/peers-lib.sh
. peers-lib.sh
# shellcheck source=tests/e2e/krdma/hostile-lib.sh
. hostile-lib.sh

network_ready
mount_debugfs
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

# recorded: print the private data of the last connect request of machine 2 in the capture, as hexadecimal digits.
recorded() {
	python3 - "$(addr4 2)" <<'PYTHON'
import ipaddress, struct, sys
capture, at, found = open("/exchange/capture", "rb").read(), 24, ""
while at + 16 <= len(capture):
    size = struct.unpack_from("<I", capture, at + 8)[0]
    packet, at = capture[at + 16:at + 16 + size], at + 16 + size
    # Ethernet, IPv4, UDP, BTH and DETH have 14, 20, 8, 12 and 8 bytes. Class 7 with attribute 16 is a connect request.
    mad = packet[62:]
    if packet[26:30] == ipaddress.ip_address(sys.argv[1]).packed and packet[36:38] == b"\x12\xb7" and \
            len(mad) >= 256 and mad[1] == 7 and mad[16:18] == b"\x00\x10":
        found = mad[200:256].hex()
print(found)
PYTHON
}

# repeat_request: machine 3 repeats the recorded request, and waits 3 s for an answer. Node 5 waits 2 s for a proof.
repeat_request() {
	ht flood "$(addr4 1)" 5565 "$request" 1 3000
	((ht_ret == 0 && got[dialled] == 1 && got[failed] == 0))
}

# fixed_neighbour NODE: this machine keeps the hardware address of a machine, whoever else uses the IP address.
fixed_neighbour() {
	ip neigh replace "$(addr4 "$1")" lladdr "$(<"/exchange/mac$1")" dev "$NETDEV" nud permanent
}

# own_address NODE: give machine 3 the IP address of a machine.
own_address() {
	ip addr flush dev "$NETDEV" scope global && ip addr add "$(addr4 "$1")/24" dev "$NETDEV" && fixed_neighbour 1
}

# refusals: print the number of requests that this node has refused. refused_more N: succeed if these are more than N.
refusals() { sed -n "s/^$name .* refused \([0-9]*\).*/\1/p" /proc/rfm2g; }
refused_more() { (($(refusals) > $1)); }

# One connection of node 5 has a client that is not proved.
door_is_busy() { grep ' 1 [0-9]*$' /sys/kernel/debug/krdma/listeners >/dev/null; }

# The recorded request is valid, but not for the address of machine 3.
replay_from_own_address() {
	((NODE != 1)) || mark "$(addr4 3).*: refused: it has another key"
	barrier replay
	if ((NODE == 3)); then
		request=$(recorded)
		((${#request} == 112))
		ok $? "machine 3 has recorded a connect request of node 3: $request"
		check "machine 3 repeats the request" repeat_request
		((got[rejected] == 1 && got[answered] == 0))
		ok $? "the repeated request is refused: $ht_text"
	fi
	barrier replayed
}

# Node 3 is linked. Machine 3 forges its address.
replay_while_linked() {
	local links before
	((NODE == 3)) || links=$(links $((NODE == 1 ? claimed : member)))
	((NODE != 1)) || before=$(refusals)
	barrier forge
	((NODE != 3)) || check "machine 3 repeats the request from a forged address" within 20 repeat_request
	barrier forged
	if ((NODE == 1)); then
		check "node 5 refuses the forged request" within 20 refused_more "$before"
	fi
	((NODE == 3)) || check "after a forged request, the link of machine $NODE stays" \
		test "$(links $((NODE == 1 ? claimed : member)))" = "$links"
	on 2 check "after a forged request, machine 2 writes a word" rfm poke 64 "$RANDOM"
	on 2 rfm sync
	barrier forged-wrote
}

# Node 3 has departed, so its place is free.
replay_while_departed() {
	on 2 check "node 3 removes its device before a forged request" rfm_unmake
	on 1 check "node 5 notices that node 3 has departed" within 20 peer_is down $claimed
	barrier vacant
	if ((NODE == 3)); then
		(trap - EXIT; repeat_request) &
	elif ((NODE == 1)); then
		check "the forged request occupies the place of node 3" within 20 door_is_busy
		check "the forged request makes no link" peer_is down $claimed
	fi
	barrier occupied
	on 2 check "node 3 is enabled again" node $claimed $member "$(addr4 1)" security=auth key=vrfm:a keepalive_ms=500
	on 2 check "node 3 is linked again after a forged request" within 30 rfm_joined $member
	((NODE != 3)) || wait
	barrier back
}

cat "/sys/class/net/$NETDEV/address" >"/exchange/mac$NODE"
barrier addresses
((NODE == 3)) || fixed_neighbour $((3 - NODE))
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

# On siw, krdma_hostile cannot send a request without a QP, and no TCP connection comes from a forged address.
if [[ $LINK != siw ]]; then
	replay_from_own_address
	((NODE != 3)) || check "machine 3 has the address of machine 2" own_address 2
	replay_while_linked
	replay_while_departed
	((NODE != 3)) || check "machine 3 has its own address again" own_address 3
fi

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
