#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# strangers: who is no peer of a reflective memory is told why, once, and its admin reads it in the log, as does who
# refused him; a peer that is linked is not disturbed by it. What an admin writes wrong is refused, with its reason.
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
# append: ncpus=1
# guarantees: G10
# timeout: 400

# The names of cases as arguments run only these.
# shellcheck disable=SC2317 # most functions are called by check()
# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
name=${RFM#/dev/}
dir=$rfm_config/$name
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config

# put FILE VALUE
put() {
	echo "$2" >"$1"
}

# device ID [ATTRIBUTE=VALUE]...: not yet enabled
device() {
	local id=$1 word
	shift
	mkdir "$dir" && put "$dir/node_id" "$id" && put "$dir/listen" "$(addr4 "$NODE")" || return
	for word in size=1M "$@"; do
		put "$dir/${word%%=*}" "${word#*=}" || return
	done
}

# peer ID ADDRESS
peer() {
	mkdir "$dir/peers/$1" && put "$dir/peers/$1/addr" "$2"
}

on() {
	put "$dir/enable" 1
}

# refused ERROR DESCRIPTION COMMAND...: it fails with that error's text
refused() {
	local wanted=$1 text=$2 told
	shift 2
	told=$(LC_ALL=C "$@" 2>&1)
	[[ $? != 0 && $told == *"$wanted"* ]]
	ok $? "$text: ${told##*: }"
}

# Lines of the log that are about this device and of that form.
logged() {
	dmesg_node | grep -c "$name: $1"
}

heard=0
mark() {
	heard=$(logged "$1")
}

said() {
	(($(logged "$1") > heard))
}

# once TEXT: since mark TEXT
once() {
	(($(logged "$1") == heard + 1))
}

# links ID: how often that peer was linked
links() {
	local line
	line=$(rfm_peer_line "$1")
	line=${line#* links }
	echo "${line%% *}"
}

# is STATE ID
is() {
	rfm_find "peer $2" && [[ $rfm_line == *" $1 "* ]]
}

# turned_away NAME REASON CALLER CALLED ID: both nodes are enabled, and CALLER is refused by CALLED, which it takes for ID.
turned_away() {
	local text
	case $NODE in
	"$3") text="node $5: refused us: $2" ;;
	"$4") text="$(addr4 "$3").*: refused: $2" ;;
	esac
	barrier "$1-listens"
	if [[ -v text ]]; then
		mark "$text"
		check "$1: enabled" on
		check "$1: refused" within 20 said "$text"
		sleep 4
		check "$1: and it is said once" once "$text"
	fi
	if ((NODE == $3)); then
		check "$1: not linked" is down "$5"
	elif ((NODE == $4)); then
		[[ $(grep -c "^$name .* refused [2-9]" /proc/rfm2g) == 1 ]]
		ok $? "$1: but counted each time"
	fi
	barrier "$1-over"
	((NODE == 3)) || check "$1: the device goes" rfm_unmake
}

# pair ATTRIBUTE=VALUE: node 2's
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

# Node 1 takes node 2 for two nodes. The right link of the two must not suffer from it.
two_in_one() {
	case $NODE in
	1) device 1 && peer 2 "$(addr4 2)" && peer 3 "$(addr4 2)" ;;
	2) device 2 && peer 1 "$(addr4 1)" ;;
	esac
	barrier made
	if ((NODE < 3)); then
		check "node 1 has two peers at one address" on
		check "is linked with the one that is there" within 20 is ready $((3 - NODE))
		sleep 5
		[[ $(links $((3 - NODE))) == 1 ]]
		ok $? "for ever: $(rfm_peer_line $((3 - NODE)))"
		((NODE == 2)) || check "and not with the other" is down 3
	fi
	barrier looked
	((NODE == 3)) || check "the device goes" rfm_unmake
}

# Nodes 1 and 2 both call themselves 1; who comes first is 1, as long as he lives.
same_id_twice() {
	case $NODE in
	3) device 3 keepalive_ms=60000 && peer 1 any ;;
	*) device 1 keepalive_ms=60000 && peer 3 "$(addr4 3)" ;;
	esac
	if ((NODE != 2)); then
		check "a node that may come from anywhere" on
		check "is linked" within 20 is ready $((4 - NODE))
		# Long enough to be forgotten.
		sleep 3
	fi
	local twice="another node with that id is linked"
	# Before the other one comes.
	((NODE != 3)) || mark "node 1: refused: $twice"
	barrier first
	case $NODE in
	2)
		mark "node 3: refused us: $twice"
		check "another one has its id" on
		check "and is refused" within 30 said "node 3: refused us: $twice"
		sleep 6
		check "which it says once" once "node 3: refused us: $twice"
		check "it is not linked" is down 3
		;;
	3)
		check "the other one is noticed" within 30 said "node 1: refused: $twice"
		sleep 6
		check "which is said once" once "node 1: refused: $twice"
		counted() { [[ $(grep -c "^$name .* refused [1-9]" /proc/rfm2g) == 1 ]]; }
		check "and counted" counted
		;;
	esac
	barrier second
	((NODE == 2)) || ok $(($(links $((4 - NODE))) != 1)) "the first one was not disturbed: $(links $((4 - NODE)))"
	barrier judged
	if ((NODE == 1)); then
		check "the first one is cut off" network loss 100%
	fi
	barrier cut
	if ((NODE == 2)); then
		check "the second one takes its place" within 40 is ready 3
		check "and writes" rfm poke 64 5
	elif ((NODE == 3)); then
		check "which is seen" rfm await 64 5 $((60 * slow))
	fi
	barrier taken
	((NODE != 1)) || network
	check "the device goes" rfm_unmake
	barrier buried
}

configured() {
	device $((NODE * 10))
	check "a device without peers" on
	refused "Invalid argument" "peer 256" mkdir "$dir/peers/256"
	refused "Invalid argument" "peer 01" mkdir "$dir/peers/01"
	refused "Invalid argument" "peer +1" mkdir "$dir/peers/+1"
	refused "Invalid argument" "peer 1x" mkdir "$dir/peers/1x"
	mkdir "$dir/peers/200" "$dir/peers/5" "$dir/peers/${NODE}0"
	refused "Invalid argument" "no address" put "$dir/peers/200/addr" ""
	mark "peer 200: nowhere: not an address"
	refused "Invalid argument" "another word" put "$dir/peers/200/addr" nowhere
	check "the log says so" once "peer 200: nowhere: not an address"
	refused "Invalid argument" "address and port" put "$dir/peers/200/addr" 10.56.0.1:7
	mark "port of a peer 0: out of range"
	refused "Numerical result out of range" "port 0" put "$dir/peers/200/port" 0
	check "the log says so" once "port of a peer 0: out of range"
	refused "Numerical result out of range" "port 65536" put "$dir/peers/200/port" 65536
	refused "Invalid argument" "port http" put "$dir/peers/200/port" http
	mark "peer 200: it is this node that connects: not any"
	refused "Destination address required" "any for a higher id" put "$dir/peers/200/addr" any
	check "the log says so" once "peer 200: it is this node that connects: not any"
	mark "peer ${NODE}0: that is this node"
	refused "Invalid argument" "itself" put "$dir/peers/${NODE}0/addr" 10.56.0.200
	check "the log says so" once "peer ${NODE}0: that is this node"
	check "any for a lower id" put "$dir/peers/5/addr" any
	refused "Device or resource busy" "another address" put "$dir/peers/5/addr" 10.56.0.200
	refused "Device or resource busy" "another port" put "$dir/peers/5/port" 7
	refused "Directory not empty" "a device with peers" rmdir "$dir"
	[[ -e $RFM && $(<"$dir/enable") == 1 ]]
	ok $? "is still there"
	rmdir "$dir/peers/${NODE}0"
	check "a port" put "$dir/peers/200/port" 9999
	check "and an address, where nobody is" put "$dir/peers/200/addr" 10.56.0.200
	check "disabled" put "$dir/enable" 0
	mkdir "$dir/peers/${NODE}0" && put "$dir/peers/${NODE}0/addr" any
	refused "Invalid argument" "enable with itself as a peer" on
	[[ ! -e $RFM && $(<"$dir/enable") == 0 ]]
	ok $? "makes nothing"
	rmdir "$dir/peers/${NODE}0"
	check "enabled again" on
	check "the device goes" rfm_unmake
	barrier configured
}

# event_comes DATA: from node 2
event_comes() {
	[[ $(rfm wait 1 $((10000 * slow))) == "2 $1" ]]
}

# A peer that is taken out and named again is as it was, also for events, whose numbers the other one remembers.
peers_come_and_go() {
	local i
	device "$NODE" && rfm_peers
	check "a device with two peers" on
	check "is linked with both" within 30 rfm_is ready
	barrier all
	for i in 1 2 3; do
		((NODE != 2)) || check "event $i for node 1 is sent" rfm event 1 1 "$i"
		((NODE != 1)) || check "event $i from node 2" event_comes "$i"
	done
	barrier told
	for i in 4 5 6; do
		if ((NODE == 2)); then
			rmdir "$dir/peers/1"
			rfm poke $((256 * i)) "$i"
			check "peer 1 is named again" rfm_peer 1
			check "and linked" within 30 rfm_is ready 1
		fi
		barrier "named-$i"
		((NODE != 1)) || check "its peer sees that" within 30 rfm_is ready 2
		barrier "ready-$i"
		((NODE != 2)) || check "event $i for node 1 is sent" rfm event 1 1 "$i"
		if ((NODE == 1)); then
			check "event $i from node 2" event_comes "$i"
			check "and the word before it" rfm await $((256 * i)) "$i" 1
		fi
		barrier "told-$i"
	done
}

# equal NAME: all nodes have the same memory.
equal() {
	local status=0
	rfm_settle || return
	barrier "$1-synced"
	cat "$RFM" >"/exchange/$1-$NODE"
	barrier "$1-copied"
	cmp "/exchange/$1-1" "/exchange/$1-$NODE" || status=1
	barrier "$1-compared"
	return "$status"
}

toggle() {
	local i
	for ((i = 0; i < 100; i++)); do
		put "$dir/enable" 0 && put "$dir/enable" 1 || return
		((i % 10)) || within 30 rfm_is ready || return
	done
}

# All the time node 3 goes and comes; the others write.
toggled() {
	local i
	barrier toggles
	if ((NODE == 3)); then
		check "100 times disabled and enabled" toggle
		: >/exchange/toggled
	else
		for ((i = 0; i < 300; i++)); do
			[[ ! -e /exchange/toggled ]] || break
			rfm scatter $((65536 * NODE)) 65536 1 "$i" >/dev/null || break
		done
		[[ -e /exchange/toggled ]]
		ok $? "the others write all the time: $i s"
	fi
	barrier stops
	check "linked" within 60 rfm_is ready
	barrier linked
	check "all nodes are equal" equal toggled
	barrier equal
	check "the device goes, linked" rfm_unmake
	barrier gone
}

# insert PARAMETER...
insert() {
	insmod /modules/vrfm.ko "$@"
}

# not_inserted ERROR TEXT PARAMETER...: and the log says TEXT, once
not_inserted() {
	local error=$1 text=$2 heard
	shift 2
	heard=$(dmesg_node | grep -c "$text")
	refused "$error" "$*" insert node=$((10 * NODE)) size=1M "$@"
	(($(dmesg_node | grep -c "$text") == heard + 1)) && [[ ! -e /proc/rfm2g ]]
	ok $? "the log says: $text"
}

in_one_line() {
	local i peers=
	if [[ $KERNEL == uml-debug ]]; then
		skip "the one-liner" "the nodes share a kernel"
		return
	fi
	check "the module is unloaded" rmmod vrfm
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
	check "peers=$peers" insert node="$NODE" size=1M listen="$(addr4 "$NODE")" peers="$peers"
	check "is linked with both" within 30 rfm_is ready
	check "and writes" rfm poke $((64 * NODE)) "$NODE"
	for ((i = 1; i <= NODES; i++)); do
		check "node $i's word is here" rfm await $((64 * i)) "$i" 10
	done
	barrier wrote
	((NODE != 2)) || check "unloaded while it is linked" rmmod vrfm
	barrier unloaded
	((NODE == 2)) || check "which the others notice" within 30 is down 2
	barrier noticed
	((NODE == 2)) || check "unloaded" rmmod vrfm
	# As it was.
	barrier bare
	check "loaded" insert
}

(($# > 0)) || set -- wrong_networks wrong_names two_in_one same_id_twice configured peers_come_and_go toggled in_one_line
for case in "$@"; do
	$case
done
after=$(resources)
[[ $before == "$after" ]]
ok $? "no RDMA resource is left"
finish
