#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# refused-peers: a node that is no peer of a reflective memory is refused, and both nodes log the reason once. The
# refusal does not disturb linked peers. Invalid settings are refused with a reason.
#
#   node 1 --- node 2      with the ids, networks, sizes and addresses that each case gives them
#       \       /
#        node 3
#
# nodes: 3
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# add: peers-lib.sh
# append: ncpus=1
# guarantees: G10
# timeout: 400

# Arguments: names of the cases to run; without arguments, all cases run.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

# shellcheck source=tests/e2e/vrfm/peers-lib.sh
. peers-lib.sh

before=$(resources)
network_ready

# turned_away NAME REASON CALLER CALLED ID: enable the nodes CALLER and CALLED, and check that CALLED refuses CALLER for
# REASON. CALLER has CALLED as its peer ID.
turned_away() {
	local text
	case $NODE in
	"$3") text="node $5: refused us: $2" ;;
	"$4") text="$(addr4 "$3").*: refused: $2" ;;
	esac
	barrier "$1-listens"
	if [[ -v text ]]; then
		mark "$text"
		check "$1: node $NODE is enabled" enable_device
		check "$1: node $NODE logs the refusal" within 20 said "$text"
		sleep 4
		check "$1: node $NODE logs the refusal once" once "$text"
	fi
	if ((NODE == $3)); then
		check "$1: the refused node is not linked" peer_is down "$5"
	elif ((NODE == $4)); then
		[[ $(grep -c "^$name .* refused [2-9]" /proc/rfm2g) == 1 ]]
		ok $? "$1: each refusal is counted"
	fi
	barrier "$1-over"
	((NODE == 3)) || check "$1: node $NODE removes its device" rfm_unmake
}

# pair ATTRIBUTE=VALUE: create the devices of nodes 1 and 2, which are peers. Only the device of node 2 has ATTRIBUTE.
pair() {
	case $NODE in
	1) device 1 && peer 2 "$(addr4 2)" ;;
	2) device 2 "$1" && peer 1 "$(addr4 1)" ;;
	esac
}

wrong_networks() {
	pair network=9
	turned_away "another network" "it belongs to another network" 1 2 2
	pair size=2M
	turned_away "another size" "its memory has another size" 1 2 2
}

wrong_names() {
	case $NODE in
	1) device 1 && peer 2 "$(addr4 2)" ;;
	2) device 2 && peer 0 "$(addr4 3)" ;;
	esac
	turned_away "no such peer" "no such node at that address is a peer" 1 2 2
	case $NODE in
	1) device 1 && peer 2 "$(addr4 2)" ;;
	2) device 2 && peer 1 "$(addr4 3)" ;;
	esac
	turned_away "another address" "no such node at that address is a peer" 1 2 2
	case $NODE in
	1) device 2 && peer 3 "$(addr4 2)" ;;
	2) device 2 && peer 1 "$(addr4 1)" ;;
	esac
	turned_away "my own id" "it has the same node id" 1 2 3
}

# Node 1 has two peers with the address of node 2. The invalid one must not disturb the link of the valid one.
two_in_one() {
	case $NODE in
	1) device 1 && peer 2 "$(addr4 2)" && peer 3 "$(addr4 2)" ;;
	2) device 2 && peer 1 "$(addr4 1)" ;;
	esac
	barrier made
	if ((NODE < 3)); then
		check "node 1 has two peers at one address" enable_device
		check "node $NODE is linked with the valid one of two peers at one address" within 20 peer_is ready $((3 - NODE))
		sleep 5
		[[ $(links $((3 - NODE))) == 1 ]]
		ok $? "the link of the valid peer stays up: $(rfm_peer_line $((3 - NODE)))"
		((NODE == 2)) || check "node 1 is not linked with the invalid one of two peers at one address" peer_is down 3
	fi
	barrier looked
	((NODE == 3)) || check "node $NODE removes its device after two peers at one address" rfm_unmake
}

# Nodes 1 and 2 both have the id 1. Node 1 connects first, and stays linked until it is cut off. Afterwards node 2 is
# linked.
same_id_twice() {
	case $NODE in
	3) device 3 keepalive_ms=60000 && peer 1 any ;;
	*) device 1 keepalive_ms=60000 && peer 3 "$(addr4 3)" ;;
	esac
	if ((NODE != 2)); then
		check "node $NODE is enabled, with node 1 at any address" enable_device
		check "node $NODE is linked, with node 1 at any address" within 20 peer_is ready $((4 - NODE))
		# Keep the link for a while before node 2 connects: node 3 must not replace it.
		sleep 3
	fi
	local twice="another node with that id is linked"
	# Mark the log before node 2, the second node with id 1, connects.
	on 3 mark "node 1: refused: $twice"
	barrier first
	case $NODE in
	2)
		mark "node 3: refused us: $twice"
		check "node 2 is enabled with the id of node 1" enable_device
		check "node 2 with the id of a linked node is refused" within 30 said "node 3: refused us: $twice"
		sleep 6
		check "node 2 with the id of a linked node logs the refusal once" once "node 3: refused us: $twice"
		check "node 2 with the id of a linked node is not linked" peer_is down 3
		;;
	3)
		check "node 3 logs the refusal of a second node with one id" within 30 said "node 1: refused: $twice"
		sleep 6
		check "node 3 logs the refusal of a second node with one id once" once "node 1: refused: $twice"
		counted() { [[ $(grep -c "^$name .* refused [1-9]" /proc/rfm2g) == 1 ]]; }
		check "node 3 counts the refusals of a second node with one id" counted
		;;
	esac
	barrier second
	((NODE == 2)) || ok $(($(links $((4 - NODE))) != 1)) "the link of the first node with one id stays up: $(links $((4 - NODE)))"
	barrier judged
	on 1 check "the first node with one id is cut off" network loss 100%
	barrier cut
	if ((NODE == 2)); then
		check "the second node with one id is linked after the first is cut off" within 40 peer_is ready 3
		check "the second node with one id writes a word" rfm poke 64 5
	elif ((NODE == 3)); then
		check "node 3 receives the word of the second node with one id" rfm await 64 5 $((60 * slow))
	fi
	barrier taken
	on 1 network
	check "node $NODE removes its device after two nodes with one id" rfm_unmake
	barrier buried
}

configured() {
	device $((NODE * 10))
	check "node $NODE enables a device without peers" enable_device
	refused "Invalid argument" "peer 256 is refused" mkdir "$dir/peers/256"
	refused "Invalid argument" "peer 01 is refused" mkdir "$dir/peers/01"
	refused "Invalid argument" "peer +1 is refused" mkdir "$dir/peers/+1"
	refused "Invalid argument" "peer 1x is refused" mkdir "$dir/peers/1x"
	mkdir "$dir/peers/200" "$dir/peers/5" "$dir/peers/${NODE}0"
	refused "Invalid argument" "a peer with an empty address is refused" put "$dir/peers/200/addr" ""
	mark "peer 200: nowhere: not an address"
	refused "Invalid argument" "a peer with address \"nowhere\" is refused" put "$dir/peers/200/addr" nowhere
	check "the log has the reason for address \"nowhere\"" once "peer 200: nowhere: not an address"
	refused "Invalid argument" "a peer with address and port in one attribute is refused" put "$dir/peers/200/addr" 10.56.0.1:7
	mark "port of a peer 0: out of range"
	refused "Numerical result out of range" "port 0 of a peer is refused" put "$dir/peers/200/port" 0
	check "the log has the reason for port 0" once "port of a peer 0: out of range"
	refused "Numerical result out of range" "port 65536 of a peer is refused" put "$dir/peers/200/port" 65536
	refused "Invalid argument" "port http of a peer is refused" put "$dir/peers/200/port" http
	mark "peer 200: it is this node that connects: not any"
	refused "Destination address required" "address any of a peer with a higher id is refused" put "$dir/peers/200/addr" any
	check "the log has the reason for address any" once "peer 200: it is this node that connects: not any"
	mark "peer ${NODE}0: that is this node"
	refused "Invalid argument" "the device itself as a peer is refused" put "$dir/peers/${NODE}0/addr" 10.56.0.200
	check "the log has the reason for the device itself as a peer" once "peer ${NODE}0: that is this node"
	check "address any of a peer with a lower id is accepted" put "$dir/peers/5/addr" any
	refused "Device or resource busy" "changing the address of a peer is refused" put "$dir/peers/5/addr" 10.56.0.200
	refused "Device or resource busy" "changing the port of a peer is refused" put "$dir/peers/5/port" 7
	refused "Directory not empty" "removing a device with peers is refused" rmdir "$dir"
	[[ -e $RFM && $(<"$dir/enable") == 1 ]]
	ok $? "a device with peers is still enabled after a refused rmdir"
	rmdir "$dir/peers/${NODE}0"
	check "port 9999 of a peer is accepted" put "$dir/peers/200/port" 9999
	check "an unused address of a peer is accepted" put "$dir/peers/200/addr" 10.56.0.200
	check "a device with peers is disabled" put "$dir/enable" 0
	mkdir "$dir/peers/${NODE}0" && put "$dir/peers/${NODE}0/addr" any
	refused "Invalid argument" "enabling a device with itself as a peer is refused" enable_device
	[[ ! -e $RFM && $(<"$dir/enable") == 0 ]]
	ok $? "a device with itself as a peer is not created"
	rmdir "$dir/peers/${NODE}0"
	check "the device is enabled again without itself as a peer" enable_device
	check "the device with changed peers is removed" rfm_unmake
	barrier configured
}

# event_comes DATA: succeed if an event of node 2 with DATA arrives.
event_comes() {
	[[ $(rfm wait 1 $((10000 * slow))) == "2 $1" ]]
}

# A peer that is removed and added again continues to work. Its new events arrive, although the other node remembers the
# numbers of its earlier events.
peers_come_and_go() {
	local i
	device "$NODE" && rfm_peers
	check "node $NODE enables a device with two peers" enable_device
	check "node $NODE is linked with both peers" within 30 rfm_is ready
	barrier all
	for i in 1 2 3; do
		on 2 check "node 2 sends event $i to node 1" rfm event 1 1 "$i"
		on 1 check "node 1 receives event $i of node 2" event_comes "$i"
	done
	barrier told
	for i in 4 5 6; do
		if ((NODE == 2)); then
			rmdir "$dir/peers/1"
			rfm poke $((256 * i)) "$i"
			check "node 2 adds its peer node 1 before event $i" rfm_peer 1
			check "node 2 is linked with node 1 before event $i" within 30 rfm_is ready 1
		fi
		barrier "named-$i"
		on 1 check "node 1 is linked with node 2 before event $i" within 30 rfm_is ready 2
		barrier "ready-$i"
		on 2 check "node 2 sends event $i to node 1" rfm event 1 1 "$i"
		if ((NODE == 1)); then
			check "node 1 receives event $i of node 2 after the peer was added again" event_comes "$i"
			check "node 1 has the word that node 2 wrote before event $i" rfm await $((256 * i)) "$i" 1
		fi
		barrier "told-$i"
	done
}

toggle() {
	local i
	for ((i = 0; i < 100; i++)); do
		put "$dir/enable" 0 && put "$dir/enable" 1 || return
		((i % 10)) || within 30 rfm_is ready || return
	done
}

# Node 3 disables and enables its device all the time while the other nodes write.
toggled() {
	local i
	barrier toggles
	if ((NODE == 3)); then
		check "node 3 disables and enables its device 100 times" toggle
		: >/exchange/toggled
	else
		for ((i = 0; i < 300; i++)); do
			[[ ! -e /exchange/toggled ]] || break
			rfm scatter $((65536 * NODE)) 65536 1 "$i" >/dev/null || break
		done
		[[ -e /exchange/toggled ]]
		ok $? "node $NODE writes while node 3 disables and enables its device: $i s"
	fi
	barrier stops
	check "node $NODE is linked after node 3 was disabled 100 times" within 60 rfm_is ready
	barrier linked
	check "all nodes are equal after node 3 was disabled 100 times" rfm_equal toggled
	barrier equal
	check "node $NODE removes its linked device" rfm_unmake
	barrier gone
}

# insert PARAMETER...: load vrfm with these parameters.
insert() {
	insmod /modules/vrfm.ko "$@"
}

# not_inserted ERROR TEXT PARAMETER...: check that insmod fails with ERROR, and that one line with TEXT is logged.
not_inserted() {
	local error=$1 text=$2 heard
	shift 2
	heard=$(dmesg_node | grep -c "$text")
	refused "$error" "insmod with $* fails" insert node=$((10 * NODE)) size=1M "$@"
	(($(dmesg_node | grep -c "$text") == heard + 1)) && [[ ! -e /proc/rfm2g ]]
	ok $? "the log has after a failed insmod: $text"
}

in_one_line() {
	local i peers=
	if ((NAMESPACES)); then
		skip "a device by parameters of the module" "the nodes share a kernel"
		return
	fi
	check "vrfm is unloaded before devices by parameters" rmmod vrfm
	not_inserted "Invalid" "peers: 2: not id@addr" peers=2
	not_inserted "Invalid" "peers: 2@: not id@addr" peers=2@
	not_inserted "Invalid" "peers: 2@nowhere: not id@addr" peers=2@nowhere
	not_inserted "Invalid" "peers: 2@10.56.0.2:0: not id@addr" peers=2@10.56.0.2:0
	not_inserted "out of range" "peers: 256@10.56.0.2: not id@addr" peers=256@10.56.0.2
	not_inserted "Invalid" "peer ${NODE}0: that is this node" "peers=${NODE}0@10.56.0.9"
	not_inserted "Invalid" "peer 200: there is one of that id" peers=200@10.56.0.8,200@10.56.0.9
	not_inserted "Destination" "peer 200: it is this node that connects: not any" peers=200@any
	not_inserted "Invalid" "listen nowhere: not an address" listen=nowhere peers=200@10.56.0.8
	not_inserted "Invalid" "port 0: not a port" port=0
	for ((i = 1; i <= NODES; i++)); do
		((i == NODE)) || peers+=${peers:+,}$i@$(addr4 "$i")
	done
	barrier loads
	check "insmod with peers=$peers succeeds" insert node="$NODE" size=1M listen="$(addr4 "$NODE")" peers="$peers"
	check "a device by parameters is linked with both peers" within 30 rfm_is ready
	check "a device by parameters can be written" rfm poke $((64 * NODE)) "$NODE"
	for ((i = 1; i <= NODES; i++)); do
		check "node $NODE receives the word of node $i, with devices by parameters" rfm await $((64 * i)) "$i" 10
	done
	barrier wrote
	on 2 check "vrfm is unloaded while its device is linked" rmmod vrfm
	barrier unloaded
	((NODE == 2)) || check "node $NODE notices that node 2 has unloaded vrfm" within 30 peer_is down 2
	barrier noticed
	((NODE == 2)) || check "vrfm is unloaded on node $NODE" rmmod vrfm
	# Load vrfm again, as it was before the scenario.
	barrier bare
	check "vrfm is loaded without parameters" insert
}

(($# > 0)) || set -- wrong_networks wrong_names two_in_one same_id_twice configured peers_come_and_go toggled in_one_line
for case in "$@"; do
	$case
done
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
