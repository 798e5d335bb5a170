#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# survivors: a node goes whose last words have reached each of the others to another extent: all get them from the one that
# has seen most, which is not the first that they know. So it is if all have seen the same writes, and some a part of one more.
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

# shellcheck disable=SC2317 # functions are called by check() and within()
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

settled() {
	rfm_is ready "$@" && rfm_complete
}

# Node 4 is gone: those who stay come to have the same.
equal() {
	local others
	mapfile -t others < <(seq 3 | grep -vx "$NODE")
	check "linked, and complete" within 30 settled "${others[@]}"
	check "$1" within 30 same "${1// /-}"
}

# same NAME: all three come here, again and again until they are.
same() {
	rfm sum >"/exchange/$1-$NODE.new" && mv "/exchange/$1-$NODE.new" "/exchange/$1-$NODE"
	cat "/exchange/$1-"[123] | uniq -c | grep -q "^ *3 "
}

# Something of the write has come, here or elsewhere.
begun() {
	[[ -e /exchange/begun ]] && return
	(($(rfm peek "$part") != 0)) && touch /exchange/begun
}

network_ready
check "a device with three peers" rfm_make 1M keepalive_ms=5000
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
	equal "all survivors are equal"
fi
barrier summed

# What is sent to node 1 goes to a station that does not exist; to the others so slowly that they get a message, not all
# of them, until what waits in the queue is thrown away, and all later ones as if they were taken: see network_ready.
part=524288
((NODE != 4)) || check "node 4 comes back" rfm_make 1M keepalive_ms=5000 direct=off
check "all are linked, and complete" within 60 settled
((NODE != 4)) || check "nothing is under way" rfm_settle
sleep 0.5
barrier again
if ((NODE == 4)); then
	ip neigh replace "$(addr4 1)" lladdr 02:00:5e:00:00:01 nud permanent dev "$NETDEV"
	network rate 1mbit
	rfm fill $part 65536 7 &
	check "a message of four has come" within 30 test -e /exchange/begun
	tc qdisc replace dev "$NETDEV" root blackhole
	barrier cut
	wait
	barrier seen
	check "node 4 goes in the middle of a write" rfm_unmake
	ip neigh del "$(addr4 1)" dev "$NETDEV"
	tc qdisc del dev "$NETDEV" root
else
	check "the write begins" within 30 begun
	barrier cut
	echo "$(($(rfm peek "$part") != 0)) $(($(rfm peek $((part + 65532))) != 0))" >"/exchange/has-$NODE"
	barrier seen
	check "node 4 is gone" within 60 rfm_is down 4
fi
barrier left
[[ $(</exchange/has-1) == "0 0" && $(cat /exchange/has-[23]) == *"1 0"* ]]
ok $? "node 1 had none of it, another one a part: $(paste -d, /exchange/has-[123])"
((NODE == 4)) || equal "all are equal again"
barrier equal
((NODE == 4)) || check "the device goes" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
