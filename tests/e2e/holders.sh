#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# holders: who loads an image goes on with the next holder when the first one goes in the middle of it, and keeps what came
# from its writer meanwhile, though the next holder has never heard of that one.
#
#   node 1       node 2
#        \       /
#         node 3 (starts anew, and loads)
#
# Had they been linked, and then not, the next holder would have been READY to the first one: then that counts, and what
# the loader alone has heard is older again, see Documentation/vrfm.rst.
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
# In a page that is loaded last.
word=$((filled - 64))
make_device() { rfm_make "$size" keepalive_ms=$((500 * slow)); }

peers=3
((NODE != 3)) || peers="1 2"
rfm_peers() {
	local i
	for i in $peers; do rfm_peer "$i" || return; done
}

settled() { rfm_is ready "$@" && rfm_complete; }

# loading WORD: what debugfs says of it
loading() {
	awk -v word="$1" '$1 == word { print $2 }' "/sys/kernel/debug/vrfm/${RFM#/dev/}/device"
}

amid() { (($(loading pages_loaded) + 0 > 0)); }

# is OFFSET VALUE TEXT
is() {
	local value
	value=$(rfm peek "$1")
	[[ $value == "$2" ]]
	ok $? "$3: $value"
}

mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
check "a device" make_device
# shellcheck disable=SC2086 # words
check "is linked, and complete" within 30 settled $peers
barrier linked
if ((NODE == 3)); then
	rfm fill 0 $filled 7
	rfm poke $word 31
	rfm_settle
	check "node 3 goes" rfm_unmake
	lines=$(dmesg_node | wc -l)
fi
barrier three-is-gone
((NODE == 3)) || network rate $((8000 / slow))kbit
barrier apart
if ((NODE == 3)); then
	check "node 3 comes as a new one" make_device
	check "and loads an image" within 30 amid
	loading holder >/exchange/holder
fi
barrier amid
holder=$(</exchange/holder)
other=$((3 - holder))
echo "# the holder is node $holder"
((NODE != holder)) || rfm poke $word 77
if ((NODE == 3)); then
	check "what the holder writes comes" rfm await $word 77 $((10 * slow))
	(($(loading pages_loaded) < filled / 4096)) && [[ $(loading holder) == "$holder" ]]
	ok $? "and the image is not there yet: $(loading pages_loaded) pages"
fi
barrier written
((NODE != holder)) || check "its cable is cut" network loss 100%
if ((NODE == 3)); then
	check "that is noticed" within 60 rfm_is down "$holder"
	check "the image is loaded" within 60 settled "$other"
	log=$(dmesg_node | tail -n +$((lines + 1)))
	[[ $log == *"loaded the image of node $other"* && $log != *"loaded the image of node $holder"* ]]
	ok $? "from node $other"
	is $word 77 "what the holder wrote is still there"
fi
barrier loaded
((NODE != other)) || check "node $other hears of it" rfm await $word 77 $((30 * slow))
((NODE == holder)) || rfm_settle $((NODE == 3 ? other : 3))
((NODE == holder)) || rfm sum >"/exchange/sum-$NODE"
barrier summed
cmp "/exchange/sum-$other" /exchange/sum-3
ok $? "both are equal"
network
barrier over
check "the device goes" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
