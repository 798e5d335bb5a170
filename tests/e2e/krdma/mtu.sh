#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# mtu: the interfaces of two hosts have different MTUs. Both ends report the difference in the log, in debugfs and to
# their consumers. Persistent connections, and links of vrfm, use the smaller path MTU, and long messages arrive. They also
# arrive after the MTU was lowered while nodes are linked.
#
#   node 1 (MTU for packets of 4096 bytes) --- node 2 (MTU 1500)
#
# kernels: uml
# alone: stock-6.1 uml/siw
# load: krdma vrfm krdma_test
# tools: vrfmctl
# programs: rfm2g/rfm
# timeout: 300

# shellcheck disable=SC2317 # functions are called by check() and within()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
other=$((3 - NODE))
export LD_LIBRARY_PATH=/add

mtu() {
	ip link set "$NETDEV" mtu "$1"
}

# mtus PATH LOCAL PEER SLOT: one case: the connection in SLOT reports this path MTU, and these MTUs of both ends. On
# iWARP, where TCP handles MTUs, it reports 0.
mtus() {
	local wanted="mtu=$1/$2/$3 gid=3/3"
	[[ $LINK != siw ]] || wanted="mtu=0/0/0 gid=0/0"
	kt query "$4"
	[[ $kt_text == *" $wanted "* ]]
	ok $? "path, local and peer's MTU of $4 are $1, $2 and $3 (${kt_text##* vectors=})"
}

# log_has COUNT TEXT DESCRIPTION: one case: the log has COUNT lines with TEXT since the last call of forget.
log_has() {
	local wanted=$1
	[[ $LINK != siw ]] || wanted=0
	[[ $(dmesg_node | grep -c "krdma: .*$2") == "$wanted" ]]
	ok $? "$3: $(dmesg_node | grep "krdma: .*$2" | tail -1 | cut -c1-160)"
}

forget() {
	dmesg -C
}

# accepts NAME LISTENER: one case: a connection is accepted.
accepts() {
	kt accept "$1" "$2" $((20000 * slow))
	kt_is 0 "connection $1 is accepted"
}

# Node 1 connects to node 2, and has the larger MTU. The side that connects chooses the path MTU. By default it chooses
# the path MTU of its own interface, and with path_mtu=1024 the smaller one.
plain_server() {
	expect 0 listen l 0.0.0.0 7000 max_msg=1048576 tos=104
	barrier listening
	accepts long l
	mtus 4096 1024 4096 long
	log_has 1 "path MTU 4096: the MTU allows 1024 here and 4096 at the peer, long packets are lost" "the acceptor logs the mismatch"
	log_has 1 "traffic class is 0, as the peer chose, not 104" "the acceptor logs the traffic class"
	barrier long
	expect 0 release long
	barrier released
	accepts short l
	mtus 1024 1024 4096 short
	log_has 1 "path MTU 1024: the MTU allows 1024 here and 4096 at the peer, the smaller one is used" "the acceptor logs the smaller MTU"
	kt receive short 1048576 20000
	kt_is 300000 "the server receives a long message with the smaller MTU"
	kt send short 300000
	kt_is 0 "the server sends a long message with the smaller MTU"
	barrier short
	for slot in short l; do expect 0 release $slot; done
}

plain_client() {
	barrier listening
	expect 0 connect long "$(addr4 2)" 7000 max_msg=1048576
	mtus 4096 4096 1024 long
	log_has 1 "path MTU 4096: the MTU allows 4096 here and 1024 at the peer, long packets are lost" "the client logs the mismatch"
	grep -qE "client .* (4096 4096 1024 RoCEv2 RoCEv2|0 0 0 - -) 0$" /sys/kernel/debug/krdma/paths
	ok $? "debugfs shows the path: $(grep client /sys/kernel/debug/krdma/paths)"
	barrier long
	expect 0 release long
	barrier released
	expect 0 connect short "$(addr4 2)" 7000 max_msg=1048576 path_mtu=1024
	mtus 1024 4096 1024 short
	log_has 1 "the smaller one is used" "the client logs the smaller MTU"
	kt send short 300000
	kt_is 0 "the client sends a long message with the smaller MTU"
	kt receive short 1048576 20000
	kt_is 300000 "the client receives a long message with the smaller MTU"
	barrier short
	expect 0 release short
}

# Node 2, which has the smaller MTU, connects to node 1.
reverse_server() {
	expect 0 listen l 0.0.0.0 7001
	barrier listening-reverse
	accepts r l
	mtus 1024 4096 1024 r
	barrier reverse
	for slot in r l; do expect 0 release $slot; done
}

reverse_client() {
	barrier listening-reverse
	expect 0 connect r "$(addr4 1)" 7001
	mtus 1024 1024 4096 r
	barrier reverse
	expect 0 release r
}

# linked PATH LOCAL PEER TEXT: create a device of vrfm on each node. Node 1, which has the larger MTU, connects the
# link. vrfmctl prints TEXT.
linked() {
	check "node $NODE creates a device, MTUs $2 and $3" rfm_make 4M
	check "node $NODE is linked, MTUs $2 and $3" within 30 rfm_is ready
	barrier linked
	[[ $(rfm_peer_line $other) == *" path_mtu $1 local_mtu $2 peer_mtu $3"* ]]
	ok $? "/proc/rfm2g has the MTUs: $(rfm_peer_line $other | grep -o ' path_mtu.*')"
	if [[ $4 ]]; then
		[[ $(vrfmctl peers "${RFM#/dev/}") == *"$4"* ]]
	else
		[[ $(vrfmctl peers "${RFM#/dev/}") != *MTU* ]]
	fi
	ok $? "vrfmctl peers has a line on different MTUs only: $(vrfmctl peers "${RFM#/dev/}" | tail -1)"
}

flows() {
	local links
	links=$(rfm_peer_line $other | grep -o ' links [0-9]*')
	check "round $1: node $NODE writes 1 MiB" rfm fill $((NODE << 20)) 1048576 $((10 * $1 + NODE))
	check "round $1: the peer has all writes of node $NODE" rfm_settle
	barrier settled
	rfm sum >"/exchange/sum$1.$NODE"
	barrier summed
	cmp "/exchange/sum$1.1" "/exchange/sum$1.2"
	ok $? "round $1: both nodes have the same memory"
	[[ $(rfm_peer_line $other | grep -o ' links [0-9]*') == "$links" ]]
	ok $? "round $1: the link stays up: $links"
	barrier flowed
}

# Lower the MTU of both nodes below the path MTU of the link, which then has to be established again.
lowered() {
	mtu 1000
	barrier lowered
	check "node $NODE writes after the MTU was lowered while linked" rfm fill $((NODE << 20)) 1048576 $((90 + NODE))
	check "the peer has all writes of node $NODE after the MTU was lowered" within 60 rfm_settle
	barrier lowered-settled
	rfm sum >"/exchange/lowered.$NODE"
	barrier lowered-summed
	cmp /exchange/lowered.1 /exchange/lowered.2
	ok $? "both nodes have the same memory after the MTU was lowered"
	echo "# $(rfm_peer_line $other)"
	barrier lowered-over
}

unlinked() {
	check "node $NODE removes its device" rfm_unmake
	barrier unlinked
}

on 2 mtu 1500
forget
barrier begun
if ((NODE == 2)); then plain_server; else plain_client; fi
barrier plain
if ((NODE == 1)); then reverse_server; else reverse_client; fi
barrier reversed
forget
if [[ $LINK == siw ]]; then
	linked 0 0 0 ""
elif ((NODE == 1)); then
	linked 1024 4096 1024 "path MTU 1024: the MTU allows 4096 here and 1024 at the peer"
else
	linked 1024 1024 4096 "path MTU 1024: the MTU allows 1024 here and 4096 at the peer"
fi
flows 1
unlinked
# Make the MTUs equal. Reduce the larger one, because User-mode Linux cannot increase an MTU.
on 1 mtu 1500
barrier same
forget
if [[ $LINK == siw ]]; then linked 0 0 0 ""; else linked 1024 1024 1024 ""; fi
log_has 0 "MTU" "equal MTUs are not logged"
flows 2
lowered
unlinked
same_resources "$before" "resources are as before"
finish
