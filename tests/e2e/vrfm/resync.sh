#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# resync: nodes load the image of a reflective memory that others have.
# - Nodes get the words of a departed writer. A node that joins loads these words from a peer that has them. A node that
#   has only some of these words loads the others from a node that has more. Two separate parts of a network merge when
#   they are linked.
# - A node that loads an image loses the first donor (the peer that sends the image), and continues with the next donor.
#   During the load, the first donor wrote a word. The node keeps that word, although the next donor does not have it.
#
#   late_join:                 donor_failover:
#
#   node 1 --- node 2          node 1       node 2     the donors
#       \       /                   \       /
#        node 3                      node 3            (recreates its device, and loads)
#
# The donors are never linked. If they were, the next donor would have received all words of the first donor (state READY).
# The words of the next donor would then count as newer than words that only the loading node has received, see
# Documentation/vrfm.rst.
#
# nodes: 3
# kernels: uml uml/ntr
# alone: uml/siw uml-debug stock-6.1 stock-6.12 stock-new debug-6.1 uml/ntr-small uml/ntr-order debug-6.1/ntr-dma stock-6.1/ntr-shm
# load: krdma vrfm
# programs: rfm2g/rfm
# append: ncpus=1
# guarantees: G8
# security: auth encrypt long
# timeout: 400

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

network_ready
size=4M

# ---- a node joins late ----

image() {
	awk -v dev="${RFM#/dev/}" '/^[^ ]/ { mine = $1 == dev } mine && $1 == "image" { print $2, $3 }' /proc/rfm2g
}

same_lineage() {
	[[ $(awk '{ print $1 }' /exchange/lineage-"$1"-* | sort -u | wc -l) == 1 ]]
}

lineage() {
	image >"/exchange/lineage-$1-$NODE"
	barrier "lineage-$1"
}

# equal NAME NODE...: wait until these nodes have all writes; one case on each of them, which passes if their memories
# are equal.
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

# barrier_of NAME NODE...: wait until all of these nodes have called barrier_of with NAME.
barrier_of() {
	local name=$1 i
	shift
	: >"/exchange/at-$name-$NODE"
	for i in "$@"; do
		within 60 test -e "/exchange/at-$name-$i"
	done
}

together() {
	check "node $NODE creates a device with two peers" rfm_make "$size"
	check "node $NODE is linked with both peers and complete" within 30 rfm_joined
	barrier together
	lineage together
	same_lineage together
	ok $? "all nodes have the same image: $(image)"
	barrier compared
	rfm poke $((64 * NODE)) $((100 + NODE))
	rfm fill $((65536 + 300000 * NODE)) 250000 "$NODE"
	rfm_settle
	barrier written
	equal start 1 2 3
	barrier started
}

# Node 3 removes its device, and node 2 recreates its device afterwards. So only node 1 can give node 2 the words of node 3.
late() {
	on 3 check "node 3 removes its device" rfm_unmake
	barrier three-is-gone
	if ((NODE == 2)); then
		check "node 2 removes its device" rfm_unmake
		check "node 2 creates its device with a new epoch" rfm_make "$size"
	fi
	((NODE == 3)) || check "node $NODE is linked with node $((3 - NODE)) and complete" within 30 rfm_joined $((3 - NODE))
	on 2 rfm_word_is 192 103 "node 2 has the word of the departed node 3"
	on 2 rfm_word_is 128 102 "node 2 has the word of its own former epoch"
	barrier late
	equal late 1 2
	barrier late-over
	if ((NODE == 3)); then
		check "node 3 creates its device with a new epoch" rfm_make "$size"
		check "node 3 is linked with both peers and complete" within 30 rfm_joined
		rfm_word_is 192 103 "node 3 has the word of its own former epoch"
	fi
	barrier three-is-back
	check "node $NODE is linked with both peers" within 30 rfm_joined
	barrier back
	equal back 1 2 3
	barrier equal-back
}

# Only node 1 receives the last words of node 3, because node 2 has removed node 3 from its peers. After node 3 has departed,
# node 2 loads these words from node 1.
last_words() {
	on 2 check "node 2 removes its peer node 3" rmdir "$rfm_config/${RFM#/dev/}/peers/3"
	barrier without
	if ((NODE == 3)); then
		within 30 rfm_is down 2
		rfm poke 1024 31
		rfm poke 192 32
		check "node 3 writes its last words, and node 1 receives them" rfm_settle 1
	fi
	barrier last-words
	on 1 rfm_word_is 1024 31 "node 1 has the last word of node 3"
	on 2 rfm_word_is 1024 0 "node 2 lacks the last word of node 3"
	# Words that nodes 1 and 2 write now must survive the transfer of the last words of node 3.
	((NODE == 3)) || rfm poke $((2048 + 4 * NODE)) $((40 + NODE))
	barrier seen
	on 3 check "node 3 removes its device after its last words" rfm_unmake
	barrier gone
	on 2 check "node 2 adds its peer node 3" rfm_peer 3
	if ((NODE == 2)); then
		check "node 2 receives the last word of node 3 from node 1" rfm await 1024 31 $((30 * slow))
		rfm_word_is 192 32 "node 2 has the second last word of node 3"
	fi
	((NODE == 3)) || check "node $NODE is linked with node $((3 - NODE)) and complete" within 30 rfm_joined $((3 - NODE))
	barrier got
	equal last-words 1 2
	((NODE == 3)) || rfm_word_is 2056 42 "node $NODE has the word that node 2 wrote before the transfer"
	barrier last-words-over
	on 3 check "node 3 recreates its device" rfm_make "$size"
	check "node $NODE is linked with both peers" within 30 rfm_joined
	barrier all-again
	equal again 1 2 3
	barrier again-over
	check "node $NODE removes its device" rfm_unmake
	barrier all-gone
}

# cut NODE: cut NODE off from the network, until "join_again NODE".
cut() {
	local i
	if ((NODE == $1)); then
		network loss 100%
		ok $? "node $1 is cut off"
	fi
	for ((i = 1; i <= NODES; i++)); do
		((i == NODE || (i != $1 && NODE != $1))) || check "the link of nodes $NODE and $i goes down" within 60 rfm_is down "$i"
	done
	barrier "cut-$1"
}

join_again() {
	((NODE != $1)) || check "node $1 is reconnected to the network" network
}

# another_life NODE PEER NAME: let NODE recreate its device, and wait until it is linked with PEER.
another_life() {
	if ((NODE == $1)); then
		check "node $1 removes its device ($3)" rfm_unmake
		check "node $1 creates its device with a new epoch ($3)" rfm_make "$size"
	fi
	((NODE != $1 && NODE != $2)) || check "nodes $1 and $2 are linked, complete ($3)" within 30 rfm_joined $(($1 + $2 - NODE))
	barrier_of "life-$3" "$1" "$2"
}

# former_life NAME NODE...: while node 1 is cut off, node 3 writes a word, and the nodes NODE recreate their devices one
# after the other. A recreated device has a new epoch, so the word belongs to a former epoch of node 3, and no node
# resends it as its own word. Node 1 must receive the word after the cut. Variants of NODE...:
# - 3 3: node 3 recreates its device twice.
# - 3 2: node 2 also recreates its device, and loads the word from node 3.
# - 3 2 3: after that, node 3 recreates its device again, and loads the word from node 2.
former_life() {
	local lives=0 text=$1 life
	shift
	check "$text: node $NODE creates a device with two peers" rfm_make "$size"
	check "$text: node $NODE is linked with both peers and complete" within 30 rfm_joined
	on 3 rfm poke 3072 60
	check "$text: node $NODE has the first word of node 3" rfm await 3072 60 $((30 * slow))
	barrier "former-$text"
	cut 1
	if ((NODE == 3)); then
		rfm poke 3072 61
		check "$text: node 2 receives the second word of node 3" rfm sync
	fi
	barrier "said-$text"
	for life in "$@"; do
		((NODE == 1)) || another_life "$life" $((5 - life)) "$text-$((lives++))"
	done
	((NODE == 1)) || rfm_word_is 3072 61 "$text: node $NODE has the second word of node 3 after a new epoch"
	barrier "other-$text"
	if ((NODE == 1)); then
		rfm_word_is 3072 60 "$text: node 1 lacks the second word while it is cut off"
		join_again 1
		check "$text: node 1 receives the second word after the cut" rfm await 3072 61 $((60 * slow))
	fi
	check "node $NODE is linked with both peers" within 60 rfm_joined
	barrier "lives-$text"
	rfm_word_is 3072 61 "$text: all nodes have the second word of node 3"
	equal "$text" 1 2 3
	barrier "over-$text"
	check "$text: node $NODE removes its device" rfm_unmake
	barrier "gone-$text"
}

# Two parts of a network merge. Node 1 is alone, nodes 2 and 3 are linked, and all of them write. Node 3 removes its
# device, and nodes 1 and 2 are linked afterwards.
halves() {
	local dir=$rfm_config/${RFM#/dev/}/peers
	if ((NODE == 1)); then
		check "node 1 creates a device without peers" rfm_make "$size"
		rmdir "$dir"/2 "$dir"/3
		rfm poke 64 501
	fi
	barrier alone
	if ((NODE > 1)); then
		check "node $NODE creates a device with one peer" rfm_make "$size"
		rmdir "$dir/1"
		check "nodes 2 and 3 are linked" within 30 rfm_joined $((5 - NODE))
		rfm poke $((64 * NODE)) $((500 + NODE))
		rfm fill 100000 50000 9
		rfm_settle $((5 - NODE))
	fi
	barrier halves
	on 3 check "node 3 removes its device before nodes 1 and 2 meet" rfm_unmake
	barrier half
	if ((NODE < 3)); then
		check "node $NODE adds its peer node $((3 - NODE))" rfm_peer $((3 - NODE))
		check "nodes 1 and 2 are linked and complete" within 30 rfm_joined $((3 - NODE))
		check "node $NODE has the word of node 3 after the merge" rfm await 192 503 $((30 * slow))
		rfm_word_is 64 501 "node $NODE has the word of node 1 after the merge"
		rfm_word_is 128 502 "node $NODE has the word of node 2 after the merge"
	fi
	barrier met
	if ((NODE < 3)); then
		image >"/exchange/lineage-halves-$NODE"
		barrier_of lineages 1 2
		same_lineage halves
		ok $? "nodes 1 and 2 have the same image: $(image)"
		within 10 rfm_complete
	fi
	equal halves 1 2
	barrier halves-over
}

# last_zero ROUND: a node that loads another image gives up its own image. Its peers then load the words of that former
# image, but only into words of their own that are zero. A peer must do this only once for each image, because a second
# load would overwrite zeros that were written since the first one. Here node 2 has given up its image, and the other
# nodes have loaded words of it. While node 2 is not linked, node 3 overwrites a word with zero, and removes its device.
# Node 1 must keep the zero when it is linked with node 2 again.
last_zero() {
	local i=$1 dir=$rfm_config/${RFM#/dev/}/peers
	if ((NODE == 3)); then
		check "round $i: node 3 creates its device with a new epoch" rfm_make "$size"
	else
		[[ -d $dir/3 ]] || rfm_peer 3
		ok $? "round $i: node $NODE has node 3 as peer"
	fi
	check "node $NODE is linked with both peers" within 30 rfm_joined
	barrier "zero-linked-$i"
	if ((NODE == 3)); then
		rfm poke 4096 $((70 + i))
		check "round $i: nodes 1 and 2 receive the word of node 3" rfm_settle
	fi
	barrier "zero-written-$i"
	on 2 rmdir "$dir"/1 "$dir"/3
	barrier "zero-cut-$i"
	if ((NODE == 3)); then
		within 30 rfm_is down 2
		rfm poke 4096 0
		check "round $i: node 1 receives the zero of node 3" rfm_settle 1
		check "round $i: node 3 removes its device" rfm_unmake
	fi
	barrier "zero-gone-$i"
	on 2 rfm_word_is 4096 $((70 + i)) "round $i: node 2 lacks the zero of node 3"
	barrier "zero-seen-$i"
	on 2 check "round $i: node 2 adds its peer node 1" rfm_peer 1
	((NODE == 3)) || check "round $i: nodes 1 and 2 are linked and complete" within 30 rfm_joined $((3 - NODE))
	on 2 check "round $i: node 2 receives the zero of node 3 from node 1" rfm await 4096 0 $((30 * slow))
	barrier "zero-got-$i"
	equal "zero-$i" 1 2
	on 1 rfm_word_is 4096 0 "round $i: node 1 keeps the zero of node 3"
	on 1 rmdir "$dir/3"
	barrier "zero-over-$i"
}

late_join() {
	together
	late
	last_words
	if ((NAMESPACES)); then
		skip "words of a former epoch" "the nodes share a kernel"
	else
		former_life one 3
		former_life two 3 3
		former_life both 3 2
		former_life turns 3 2 3
	fi
	halves
	last_zero 1
	last_zero 2
	((NODE == 3)) || check "node $NODE removes its device" rfm_unmake
	barrier zeroes-over
}

# ---- a donor departs ----

# donor_device: create this node's device. Its peer is node 3 on the donors, and its peers are the donors on node 3.
donor_device() {
	local rfm_neighbours=3
	((NODE != 3)) || rfm_neighbours="1 2"
	rfm_make 16M keepalive_ms=$((500 * slow))
}

loads() { (($(rfm_value pages_loaded) + 0 > 0)); }

donor_failover() {
	local filled=$((12 << 20)) donor other lines log neighbours=3
	# Offset of a word in a page that is loaded last.
	local word=$((filled - 64))
	((NODE != 3)) || neighbours="1 2"
	mount_debugfs
	check "node $NODE creates a device" donor_device
	# shellcheck disable=SC2086 # words
	check "node $NODE is linked and complete" within 30 rfm_joined $neighbours
	barrier linked
	if ((NODE == 3)); then
		rfm fill 0 "$filled" 7
		rfm poke "$word" 31
		rfm_settle
		check "node 3 removes its device" rfm_unmake
		lines=$(dmesg_node | wc -l)
	fi
	barrier three-is-gone
	((NODE == 3)) || network rate $((8000 / slow))kbit
	barrier apart
	if ((NODE == 3)); then
		check "node 3 creates its device with a new epoch" donor_device
		check "node 3 is loading an image" within 30 loads
		rfm_value donor >/exchange/donor
	fi
	barrier amid
	donor=$(</exchange/donor)
	other=$((3 - donor))
	echo "# the donor is node $donor"
	on "$donor" rfm poke "$word" 77
	if ((NODE == 3)); then
		check "node 3 receives a word of the donor while it loads" rfm await "$word" 77 $((10 * slow))
		(($(rfm_value pages_loaded) < filled / 4096)) && [[ $(rfm_value donor) == "$donor" ]]
		ok $? "node 3 has not loaded the image yet: $(rfm_value pages_loaded) pages"
	fi
	barrier written
	on "$donor" check "the donor is cut off" network loss 100%
	if ((NODE == 3)); then
		check "node 3 notices that the donor is cut off" within 60 rfm_is down "$donor"
		check "node 3 loads the image of the next donor" within 60 rfm_joined "$other"
		log=$(dmesg_node | tail -n +$((lines + 1)))
		[[ $log == *"loaded the image of node $other"* && $log != *"loaded the image of node $donor"* ]]
		ok $? "the log names node $other as the only source of the image"
		rfm_word_is "$word" 77 "node 3 keeps the word that the first donor wrote during the load"
	fi
	barrier loaded
	on "$other" check "node $other receives the word of the first donor from node 3" rfm await "$word" 77 $((30 * slow))
	((NODE == donor)) || rfm_settle $((NODE == 3 ? other : 3))
	((NODE == donor)) || rfm sum >"/exchange/sum-$NODE"
	barrier summed
	cmp "/exchange/sum-$other" /exchange/sum-3
	ok $? "node 3 and the next donor are equal"
	network
	barrier over
	check "node $NODE removes its device" rfm_unmake
	barrier gone
}

section late_join
# The rate of an ntr device cannot be limited, so its images are loaded before the donor is cut off.
[[ $LINK == ntr ]] || section donor_failover
finish
