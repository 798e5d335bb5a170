#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-members: three machines with one shared memory. One leaves and returns while the two others exchange messages. All
# join at the same time. One overwrites the slot of another one, which then takes another number. One waits while all slots
# are in use.
#
#   each node <--- krdma over ntrdma, one shared memory ---> each other node
#
# kernels: stock-6.1/ntr-shm
# alone: stock-new/ntr-shm stock-6.12/ntr-shm debug-6.1/ntr-shm
# nodes: 3
# load: krdma krdma_test
# programs: ntrmem/poke
# append: iomem=relaxed
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

shopt -s extglob
dead_ms=5000
files=/sys/kernel/debug/ntrdma/ntr0
ntr=/sys/class/infiniband/$RDMADEV/ntr
pci=$(basename "$(readlink -f /sys/bus/pci/drivers/ntrdma/0*)")
mount_debugfs

# member: set "member" to the number of this machine.
member() { [[ $(<"$files/status") =~ member\ ([0-9]+), ]] && member=${BASH_REMATCH[1]}; }

# peers_up N: return whether this machine has a link to exactly N others. It also has one to itself.
peers_up() {
	local text count
	text=$(<"$files/status") || return
	count=${text//peer +([0-9]): up,/@}
	count=${count//[!@]/}
	((${#count} == $1 + 1))
}

# linked N DESCRIPTION: one case: this machine gets links to exactly N others.
linked() {
	local status=0
	within 10 peers_up "$1" || status=1
	ok $status "$2"
	((status == 0)) || sed 's/^/# /' "$files/status"
}

ready() { gids_ready "$NODE" 2>/dev/null; }

# reasons_are REASON: check whether all links have this reason in sysfs.
reasons_are() { [[ $(cat "$ntr"/peers/*/reason | sort -u) == "$1" ]]; }

# members N: cases: sysfs shows a fabric of N members, and the others.
members() {
	member
	[[ $(<"$ntr/backend") == ivshmem* && $(<"$ntr/member") == "$member" && $(<"$ntr/members") == "$1" && $(<"$ntr/coherent") == 1 ]]
	ok $? "sysfs shows the fabric: $(cat "$ntr"/{backend,member,members,coherent} | paste -sd' ')"
	[[ $(cd "$ntr/peers" && echo *) == "$(seq -s' ' 0 $(($1 - 1)) | sed -E "s/ ?\b$member\b//; s/^ //")" ]]
	ok $? "sysfs has a folder for each other member: $(cd "$ntr/peers" && echo *)"
	within 5 reasons_are none
	ok $? "no link has a reason while all are up"
}

has_device() { [[ -e /sys/class/infiniband/ntr0 || -e /sys/class/infiniband/$RDMADEV ]]; }

# load_it PARAMETER...: load the module, and give the interface its name and addresses, as at the boot.
load_it() {
	insmod /modules/ntrdma.ko "$@" && within 30 has_device && WINDOW=1 link_up "$NODE" ntr0
}

# talk DESCRIPTION NODE...: each of these nodes connects to each other one, and messages pass both ways. A node accepts
# connections of lower numbers before it connects to higher ones.
talk() {
	local text=$1 i
	shift
	is_one_of "$NODE" "$@" || return 0
	for i in "$@"; do
		((i >= NODE)) || kt listen "l$i" 0.0.0.0 $((7000 + i))
	done
	: >"/exchange/listens-$text-$NODE"
	for i in "$@"; do
		until [[ -e /exchange/listens-$text-$i ]]; do pause 0.1; done
	done
	for i in "$@"; do
		((i < NODE)) || continue
		kt accept "c$i" "l$i" 40000
		kt_is 0 "accepted: $text"
	done
	for i in "$@"; do
		((i > NODE)) || continue
		kt connect "c$i" "$(addr4 "$i")" $((7000 + NODE))
		kt_is 0 "connected with $i: $text"
	done
	for i in "$@"; do
		((i == NODE)) || expect 0 send "c$i" 5000
	done
	for i in "$@"; do
		((i == NODE)) || expect 5000 receive "c$i" 5000 20000
	done
}

# talked [NODE]: release what talk() has made, except the connection with NODE.
talked() {
	local i
	for i in 1 2 3; do
		kt release "l$i"
		[[ $i == "${1:-}" ]] || kt release "c$i"
	done
}

# exchange PEER DESCRIPTION: one case: this node and PEER exchange messages until the file DESCRIPTION exists. The one with
# the lower number begins. A message of 65 bytes ends the exchange.
exchange() {
	local count=0 status=0 size=64 c=c$1
	while ((status == 0 && size == 64)); do
		if ((NODE < $1)); then
			[[ ! -e /exchange/$2 ]] || size=65
			kt send "$c" "$size" && kt receive "$c" 65 20000 && ((kt_ret == size)) || status=1
		else
			kt receive "$c" 65 20000 && size=$kt_ret && kt send "$c" "$size" || status=1
		fi
		count=$((count + 1))
	done
	ok $status "messages pass: $2 ($count, $kt_ret $kt_text)"
}

# Node 3 leaves and returns. Its number stays, and the two others see nothing of it.
comes_and_goes() {
	local i was before sessions
	talk "three members" 1 2 3
	talked $((3 - NODE))
	member
	echo "$member" >"/exchange/number$NODE"
	barrier talked
	sessions=$ntr/peers/$(</exchange/number3)/sessions
	((NODE == 3)) || before=$(<"$sessions")
	if ((NODE == 3)); then
		member
		was=$member
		for i in 1 2 3; do
			rmmod ntrdma
			ok $? "node 3 leaves, time $i"
			pause 0.5
			load_it
			ok $? "node 3 returns, time $i"
			member
			[[ $member == "$was" ]]
			ok $? "node 3 has the number $was again: $member"
			linked 2 "node 3 is linked with both others"
		done
		: >"/exchange/a member comes and goes"
	else
		exchange $((3 - NODE)) "a member comes and goes"
		kt release "c$((3 - NODE))"
		(($(<"$sessions") == before + 3))
		ok $? "sysfs counts three sessions more: $before, then $(<"$sessions")"
	fi
	barrier came
	members 3
	barrier shown
}

# All machines find no directory for four members, and claim a slot at the same time.
at_once() {
	local numbers
	rmmod ntrdma
	ok $? "unloaded"
	barrier empty
	load_it members=4
	ok $? "loaded at the same time as others"
	linked 2 "linked with both others"
	member
	echo "$member" >"/exchange/member$NODE"
	barrier loaded
	numbers=$(sort -u /exchange/member[123] | paste -sd' ')
	[[ $numbers =~ ^[0-3]\ [0-3]\ [0-3]$ ]]
	ok $? "each has a number of its own: $numbers"
}

# has_neighbour NODE MAC: return whether the neighbour table has this MAC address for a node.
has_neighbour() { [[ $(ip neigh show "$(addr4 "$1")") == *"lladdr $2 "* ]]; }

# Node 3 overwrites the slot of node 2. Node 2 ends its connections, and takes the slot that is free. The connection of the
# two others goes on.
overwritten() {
	talk "before a slot is overwritten" 1 2 3
	barrier connected
	case $NODE in
	3)
		/add/poke "/sys/bus/pci/devices/$pci/resource2" $((64 + 64 * $(</exchange/member2))) 0x123400005678
		exchange 1 "a slot is overwritten"
		;;
	2)
		kt until c1 CLOSED $((dead_ms + 20000))
		kt_is 0 "the connection of the machine without slot ends"
		kt_within 0 2000 "the connection of the machine without slot ends at once: $kt_ms ms"
		within 5 logged "another machine has changed the directory"
		ok $? "the log says that the slot is lost"
		moves
		cat "/sys/class/net/$NETDEV/address" >/exchange/address
		: >"/exchange/a slot is overwritten"
		;;
	1)
		exchange 3 "a slot is overwritten"
		kt until c2 CLOSED $((dead_ms + 20000))
		kt_is 0 "the connection to the machine without slot ends"
		;;
	esac
	talked
	linked 2 "linked with both others after the move"
	barrier linked
	if ((NODE != 2)); then
		within 5 has_neighbour 2 "$(</exchange/address)"
		ok $? "the neighbour table has the new MAC address of node 2: $(ip neigh show "$(addr4 2)")"
	fi
	talk "after a machine has another number" 1 2 3
	talked
}

# Node 2 has the free number, and its addresses.
moves() {
	within 10 test -e /sys/class/infiniband/ntr0
	ok $? "the machine joins again"
	rdma dev set ntr0 name "$RDMADEV"
	within 10 ready
	ok $? "the addresses are those of before"
	member
	[[ $member != "$(</exchange/member2)" ]]
	ok $? "the machine has another number: $member"
}

# Two slots for three machines.
waits() {
	rmmod ntrdma
	ok $? "unloaded by all"
	barrier left
	case $NODE in
	1)
		load_it members=2
		ok $? "the first machine chooses two members"
		: >/exchange/one
		;;
	3) until [[ -e /exchange/two ]]; do pause 0.1; done ;;
	2)
		until [[ -e /exchange/one ]]; do pause 0.1; done
		load_it
		ok $? "the second machine takes the number of members from the memory"
		linked 1 "two machines are linked"
		: >/exchange/two
		;;
	esac
	talk "two members" 1 2
	[[ $NODE == 3 ]] || talked
	if ((NODE == 3)); then
		insmod /modules/ntrdma.ko members=3
		ok $? "the third machine loads the module"
		within 5 logged "all 2 members are there, waiting"
		ok $? "the log says that it waits"
		! has_device && [[ -e /sys/class/net/ntr0 ]]
		ok $? "the third machine has an interface and no RDMA device"
		ip link set ntr0 up
		[[ $(</sys/class/net/ntr0/carrier) == 0 ]]
		ok $? "the interface of the third machine has no carrier"
		ip link set ntr0 down
	fi
	barrier waiting
	changes 1 3
	changes 2 1
	((NODE == 2)) || talk "two members after both slots have changed" 1 3
	((NODE == 2)) || talked
	barrier changed
}

# changes A B: machine A leaves, and B gets its slot. A loads the module again, and waits.
changes() {
	if (($1 == NODE)); then
		rmmod ntrdma
		ok $? "node $1 leaves its slot"
	fi
	barrier "gone$1"
	if (($2 == NODE)); then
		within 5 has_device
		ok $? "node $2 has the slot of node $1"
		WINDOW=1 link_up "$2" ntr0
		linked 1 "node $2 is linked"
	fi
	barrier "taken$1"
	if (($1 == NODE)); then
		insmod /modules/ntrdma.ko
		within 5 logged "all 2 members are there, waiting"
		ok $? "node $1 waits"
	fi
	barrier "again$1"
}

comes_and_goes
at_once
overwritten
barrier numbers
waits
rmmod ntrdma
ok $? "unloaded at the end"
barrier unloaded
load_it members=3
ok $? "loaded as at the boot"
barrier restored
within 10 peers_up 2
ok $? "linked as at the boot"
finish
