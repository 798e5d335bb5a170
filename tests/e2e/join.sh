#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# join: words whose writer is gone: who comes later gets them from who has them, those that have seen fewer of them from
# those that have seen more, and two halves of a network that meet become one.
#
#   node 1 --- node 2
#       \       /
#        node 3
#
# nodes: 3
# kernels: uml
# alone: uml/siw uml-debug stock-6.1 stock-6.12 stock-new debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G8
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
size=4M

image() {
	awk -v dev="${RFM#/dev/}" '/^[^ ]/ { mine = $1 == dev } mine && $1 == "image" { print $2, $3 }' /proc/rfm2g
}

# settled PEER...: linked with all of them, both ways, and not about to load
settled() {
	rfm_is ready "$@" && rfm_complete
}

same_lineage() {
	[[ $(awk '{ print $1 }' /exchange/lineage-"$1"-* | sort -u | wc -l) == 1 ]]
}

lineage() {
	image >"/exchange/lineage-$1-$NODE"
	barrier "lineage-$1"
}

# is OFFSET VALUE TEXT
is() {
	local value
	value=$(rfm peek "$1")
	[[ $value == "$2" ]]
	ok $? "$3: $value"
}

# equal NAME NODE...: these have the same memory
equal() {
	local name=$1 i files=()
	shift
	for i in "$@"; do
		files+=("/exchange/sum-$name-$i")
	done
	if is_one_of "$NODE" "$@"; then
		rfm_settle "$@"
		barrier_of "$name-synced" "$@"
		rfm sum >"/exchange/sum-$name-$NODE"
		barrier_of "$name-summed" "$@"
		[[ $(sort -u "${files[@]}" | wc -l) == 1 ]]
		ok $? "$name: nodes $* are equal"
	fi
}

# barrier_of NAME NODE...: all of these meet
barrier_of() {
	local name=$1 i
	shift
	: >"/exchange/at-$name-$NODE"
	for i in "$@"; do
		within 60 test -e "/exchange/at-$name-$i"
	done
}

together() {
	check "a device with two peers" rfm_make $size
	check "is linked, and complete" within 30 settled
	barrier together
	lineage together
	same_lineage together
	ok $? "all have the same image: $(image)"
	barrier compared
	rfm poke $((64 * NODE)) $((100 + NODE))
	rfm fill $((65536 + 300000 * NODE)) 250000 "$NODE"
	rfm_settle
	barrier written
	equal start 1 2 3
	barrier started
}

# Node 3 goes, then node 2 starts anew: what node 3 wrote it can have from node 1 only.
late() {
	((NODE != 3)) || check "node 3 goes" rfm_unmake
	barrier three-is-gone
	if ((NODE == 2)); then
		check "node 2 goes" rfm_unmake
		check "and comes as a new one" rfm_make $size
	fi
	((NODE == 3)) || check "linked, and complete" within 30 settled $((3 - NODE))
	((NODE != 2)) || is 192 103 "it has what node 3 wrote"
	((NODE != 2)) || is 128 102 "and what its own former life wrote"
	barrier late
	equal late 1 2
	barrier late-over
	if ((NODE == 3)); then
		check "node 3 comes as a new one" rfm_make $size
		check "linked, and complete" within 30 settled
		is 192 103 "it has what its own former life wrote"
	fi
	barrier three-is-back
	check "linked with all" within 30 settled
	barrier back
	equal back 1 2 3
	barrier equal-back
}

# What node 3 writes last reaches node 1 only: node 2 is not linked with it then.
last_words() {
	if ((NODE == 2)); then
		check "node 2 does without node 3" rmdir "$rfm_config/${RFM#/dev/}/peers/3"
	fi
	barrier without
	if ((NODE == 3)); then
		within 30 rfm_is down 2
		rfm poke 1024 31
		rfm poke 192 32
		check "node 3 writes its last words" rfm_settle 1
	fi
	barrier last-words
	((NODE != 1)) || is 1024 31 "node 1 has them"
	((NODE != 2)) || is 1024 0 "node 2 has not"
	# Other nodes go on writing, which must survive.
	((NODE == 3)) || rfm poke $((2048 + 4 * NODE)) $((40 + NODE))
	barrier seen
	((NODE != 3)) || check "node 3 goes" rfm_unmake
	barrier gone
	((NODE != 2)) || check "node 2 knows of node 3 again" rfm_peer 3
	if ((NODE == 2)); then
		check "node 2 gets its last words" rfm await 1024 31 $((30 * slow))
		is 192 32 "all of them"
	fi
	((NODE == 3)) || check "linked, and complete" within 30 settled $((3 - NODE))
	barrier got
	equal last-words 1 2
	((NODE == 3)) || is 2056 42 "what was written meanwhile is there"
	barrier last-words-over
	((NODE != 3)) || check "node 3 comes again" rfm_make $size
	check "linked with all" within 30 settled
	barrier all-again
	equal again 1 2 3
	barrier again-over
	check "the device goes" rfm_unmake
	barrier all-gone
}

# cut NODE: until join_again
cut() {
	local i
	if ((NODE == $1)); then
		network loss 100%
		ok $? "node $1 is cut off"
	fi
	for ((i = 1; i <= NODES; i++)); do
		((i == NODE || (i != $1 && NODE != $1))) || check "node $i is not linked" within 60 rfm_is down "$i"
	done
	barrier "cut-$1"
}

join_again() {
	((NODE != $1)) || check "node $1 is connected again" network
}

# another_life NODE PEER NAME: of its device, linked with node PEER
another_life() {
	if ((NODE == $1)); then
		check "node $1 goes" rfm_unmake
		check "and comes as a new one" rfm_make $size
	fi
	((NODE != $1 && NODE != $2)) || check "linked, and complete" within 30 settled $(($1 + $2 - NODE))
	barrier_of "life-$3" "$1" "$2"
}

# While node 1 is cut off node 3 writes, and begins another life: nobody's words then. So it is if node 3 begins two, of
# which node 1 sees none; if node 2 begins one, too, and knows of node 3 what that has of its own former life; and if it
# has what it has from one that is gone.
former_life() {
	local lives=0 text=$1 life
	shift
	check "a device with two peers" rfm_make $size
	check "is linked, and complete" within 30 settled
	((NODE != 3)) || rfm poke 3072 60
	check "all have the same" rfm await 3072 60 $((30 * slow))
	barrier "former-$text"
	cut 1
	if ((NODE == 3)); then
		rfm poke 3072 61
		check "what it writes reaches node 2" rfm sync
	fi
	barrier "said-$text"
	for life in "$@"; do
		((NODE == 1)) || another_life "$life" $((5 - life)) "$text-$((lives++))"
	done
	((NODE == 1)) || is 3072 61 "it is there"
	barrier "other-$text"
	if ((NODE == 1)); then
		is 3072 60 "node 1 has not got it"
		join_again 1
		check "and then has it" rfm await 3072 61 $((60 * slow))
	fi
	check "linked with all" within 60 settled
	barrier "lives-$text"
	is 3072 61 "$text: all have it"
	equal "$text" 1 2 3
	barrier "over-$text"
	check "the device goes" rfm_unmake
	barrier "gone-$text"
}

# Node 1 for itself, nodes 2 and 3 for themselves; node 3 goes; nodes 1 and 2 meet.
halves() {
	local dir=$rfm_config/${RFM#/dev/}/peers
	if ((NODE == 1)); then
		check "node 1 is alone" rfm_make $size
		rmdir "$dir"/2 "$dir"/3
		rfm poke 64 501
	fi
	barrier alone
	if ((NODE > 1)); then
		check "nodes 2 and 3 are together" rfm_make $size
		rmdir "$dir/1"
		check "linked" within 30 settled $((5 - NODE))
		rfm poke $((64 * NODE)) $((500 + NODE))
		rfm fill 100000 50000 9
		rfm_settle $((5 - NODE))
	fi
	barrier halves
	((NODE != 3)) || check "node 3 goes" rfm_unmake
	barrier half
	if ((NODE < 3)); then
		check "nodes 1 and 2 meet" rfm_peer $((3 - NODE))
		check "linked, and complete" within 30 settled $((3 - NODE))
		check "with the words of node 3" rfm await 192 503 $((30 * slow))
		is 64 501 "of node 1"
		is 128 502 "and of node 2"
	fi
	barrier met
	if ((NODE < 3)); then
		image >"/exchange/lineage-halves-$NODE"
		barrier_of lineages 1 2
		same_lineage halves
		ok $? "they have the same image: $(image)"
		within 10 rfm_complete
	fi
	equal halves 1 2
	barrier halves-over
}

# Node 2 has given up an image, and the others have looked at it. While it is not linked node 3 writes zero over what node
# 2 has, and goes: nobody takes that for a word that the other image had.
last_zero() {
	local i=$1 dir=$rfm_config/${RFM#/dev/}/peers
	if ((NODE == 3)); then
		check "node 3 comes as a new one" rfm_make $size
	else
		[[ -d $dir/3 ]] || rfm_peer 3
		ok $? "node $NODE knows of node 3"
	fi
	check "linked with all" within 30 settled
	barrier "zero-linked-$i"
	if ((NODE == 3)); then
		rfm poke 4096 $((70 + i))
		check "all have what node 3 writes" rfm_settle
	fi
	barrier "zero-written-$i"
	((NODE != 2)) || rmdir "$dir"/1 "$dir"/3
	barrier "zero-cut-$i"
	if ((NODE == 3)); then
		within 30 rfm_is down 2
		rfm poke 4096 0
		check "it writes zero" rfm_settle 1
		check "and goes" rfm_unmake
	fi
	barrier "zero-gone-$i"
	((NODE != 2)) || is 4096 $((70 + i)) "node 2 has not got it"
	barrier "zero-seen-$i"
	((NODE != 2)) || check "node 2 knows of node 1 again" rfm_peer 1
	((NODE == 3)) || check "linked, and complete" within 30 settled $((3 - NODE))
	((NODE != 2)) || check "node 2 gets it" rfm await 4096 0 $((30 * slow))
	barrier "zero-got-$i"
	equal "zero-$i" 1 2
	((NODE != 1)) || is 4096 0 "node 1 still has it"
	((NODE != 1)) || rmdir "$dir/3"
	barrier "zero-over-$i"
}

together
late
last_words
if [[ $KERNEL == uml-debug ]]; then
	skip "a former life" "the nodes share a kernel"
else
	former_life one 3
	former_life two 3 3
	former_life both 3 2
	former_life turns 3 2 3
fi
halves
last_zero 1
last_zero 2
((NODE == 3)) || check "the device goes" rfm_unmake
barrier zeroes-over
same_resources "$before" "no RDMA resource is left"
finish
