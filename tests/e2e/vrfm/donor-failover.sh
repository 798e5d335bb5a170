#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# donor-failover: a node that loads an image loses the first donor (the peer that sends the image), and continues with
# the next donor. During the load, the first donor wrote a word. The node keeps that word, although the next donor does
# not have it.
#
#   node 1       node 2
#        \       /
#         node 3 (recreates its device, and loads)
#
# Nodes 1 and 2, the donors, are never linked. If they were, the next donor would have received all words of the first
# donor (state READY). The words of the next donor would then count as newer than words that only the loading node has
# received, see Documentation/vrfm.rst.
#
# nodes: 3
# kernels: uml
# alone: uml/siw uml-debug stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G8
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
size=16M
filled=$((12 << 20))
# Offset of a word in a page that is loaded last.
word=$((filled - 64))
make_device() { rfm_make "$size" keepalive_ms=$((500 * slow)); }

peers=3
((NODE != 3)) || peers="1 2"
rfm_peers() {
	local i
	for i in $peers; do rfm_peer "$i" || return; done
}

settled() { rfm_is ready "$@" && rfm_complete; }

# loading WORD: print the value that follows WORD in the file of the device in debugfs.
loading() {
	awk -v word="$1" '$1 == word { print $2 }' "/sys/kernel/debug/vrfm/${RFM#/dev/}/device"
}

amid() { (($(loading pages_loaded) + 0 > 0)); }

# is OFFSET VALUE TEXT: one case, which passes if the word at OFFSET is VALUE.
is() {
	local value
	value=$(rfm peek "$1")
	[[ $value == "$2" ]]
	ok $? "$3: $value"
}

mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
check "node $NODE creates a device" make_device
# shellcheck disable=SC2086 # words
check "node $NODE is linked and complete" within 30 settled $peers
barrier linked
if ((NODE == 3)); then
	rfm fill 0 $filled 7
	rfm poke $word 31
	rfm_settle
	check "node 3 removes its device" rfm_unmake
	lines=$(dmesg_node | wc -l)
fi
barrier three-is-gone
((NODE == 3)) || network rate $((8000 / slow))kbit
barrier apart
if ((NODE == 3)); then
	check "node 3 creates its device with a new epoch" make_device
	check "node 3 is loading an image" within 30 amid
	loading donor >/exchange/donor
fi
barrier amid
donor=$(</exchange/donor)
other=$((3 - donor))
echo "# the donor is node $donor"
on "$donor" rfm poke $word 77
if ((NODE == 3)); then
	check "node 3 receives a word of the donor while it loads" rfm await $word 77 $((10 * slow))
	(($(loading pages_loaded) < filled / 4096)) && [[ $(loading donor) == "$donor" ]]
	ok $? "node 3 has not loaded the image yet: $(loading pages_loaded) pages"
fi
barrier written
on "$donor" check "the donor is cut off" network loss 100%
if ((NODE == 3)); then
	check "node 3 notices that the donor is cut off" within 60 rfm_is down "$donor"
	check "node 3 loads the image of the next donor" within 60 settled "$other"
	log=$(dmesg_node | tail -n +$((lines + 1)))
	[[ $log == *"loaded the image of node $other"* && $log != *"loaded the image of node $donor"* ]]
	ok $? "the log names node $other as the only source of the image"
	is $word 77 "node 3 keeps the word that the first donor wrote during the load"
fi
barrier loaded
on "$other" check "node $other receives the word of the first donor from node 3" rfm await $word 77 $((30 * slow))
((NODE == donor)) || rfm_settle $((NODE == 3 ? other : 3))
((NODE == donor)) || rfm sum >"/exchange/sum-$NODE"
barrier summed
cmp "/exchange/sum-$other" /exchange/sum-3
ok $? "node 3 and the next donor are equal"
network
barrier over
check "node $NODE removes its device" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
