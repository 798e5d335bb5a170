#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-machines: two machines with a shared memory and no network. One of them is killed, boots again, stands still, leaves
# in each possible way, and comes back. Connections end in time, and new ones can be made without an action on the other
# machine. The driver refuses memory of other software and invalid parameters.
#
#   node 1 (survives, listens on 7000) <--- krdma over ntrdma, shared memory ---> node 2 (dies)
#
# kernels: stock-6.1/ntr-shm
# alone: stock-6.1/ntr-bell stock-new/ntr-bell stock-new/ntr-shm stock-6.12/ntr-shm debug-6.1/ntr-shm
# load: krdma krdma_test
# programs: ntrmem/poke
# append: iomem=relaxed
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
dead_ms=5000
files=/sys/kernel/debug/ntrdma/ntr0
pci=$(basename "$(readlink -f /sys/bus/pci/drivers/ntrdma/0*)")
mount_debugfs

# The directory gives the machines their numbers, 0 and 1.
[[ $(<"$files/status") =~ member\ ([01]), ]]
other=$((1 - BASH_REMATCH[1]))
peer=/sys/class/infiniband/$RDMADEV/ntr/peers/$other

peer_is() {
	[[ $(<"$files/status") == *"peer $other: $1,"* ]]
}

# lives N: return whether node 2 has begun its life N.
lives() { [[ -e /exchange/life$1 ]]; }

# accepted DESCRIPTION, connected: cases of node 1 and 2: a connection is made, and carries a message each way.
accepted() {
	kt accept a l 40000
	kt_is 0 "accepted $1"
	expect 64 receive a 64 10000
	expect 0 send a 64
}

connected() {
	kt connect c "$server" 7000
	kt_is 0 "connected $1"
	expect 0 send c 64
	expect 64 receive c 64 10000
}

# ends LIMIT DESCRIPTION: two cases of node 1: the connection ends within LIMIT ms.
ends() {
	kt until a CLOSED $(($1 + 5000))
	kt_is 0 "the connection ends: $2"
	kt_within 0 "$1" "the connection ends in time: $2"
	kt release a
}

# The machine is killed while it receives messages.
killed() {
	accepted "before the kill"
	kt_start source async a send virt 1000000 64 chain=10
	sleep 0.5
	machine kill 2
	ends $((dead_ms + 1000)) "machine killed"
	kt_result source 10
	ok 0 "the sender ends: $kt_ret"
	within 2 lost
	ok $? "the link is not up"
	within 2 waits_after silent
	ok $? "sysfs shows that the link waits, and why: $(<"$peer/state"), $(<"$peer/reason")"
	machine boot 2
	within 120 lives 2
	ok $? "the machine boots again"
}

lost() { ! peer_is up; }

# waits_after REASON: check whether sysfs shows that the link waits for the peer after it has ended for REASON.
waits_after() { [[ $(<"$peer/state") == hello && $(<"$peer/reason") == "$1" ]]; }

# The machine stands still for less than dead_ms, twice.
stopped() {
	local i
	accepted "before a stop"
	for i in 1 2; do
		machine stop 2
		kt_start late send a 64
		sleep 2
		machine cont 2
		kt_result late 20
		kt_is 0 "a message to a machine that stands still arrives"
	done
	expect 64 receive a 64 20000
	kt release a
}

# The machine stands still until the other one frees its slot. It takes the slot again, and its device stays.
paused() {
	accepted "before a long stop"
	machine stop 2
	ends $((dead_ms + 1000)) "machine stopped"
	sleep $((dead_ms / 1000 + 2))
	machine cont 2
	within 10 peer_is up
	ok $? "the link is up after a long stop"
}

# Another machine takes the slot while the machine stands still: here a word that nobody moves. The machine does not use its
# windows any more, and joins again when the slot is free.
replaced() {
	accepted "before another machine takes the slot"
	machine stop 2
	/add/poke "/sys/bus/pci/devices/$pci/resource2" $((64 + 64 * other)) 0x123400005678
	machine cont 2
	ends $((dead_ms + 1000)) "slot taken"
	within $((3 * dead_ms / 1000)) peer_is up
	ok $? "the link is up when the slot is free again"
}

left() {
	local what=$1
	accepted "before: $what"
	kt_start sink take a 1000000 64
	: >"/exchange/accepted-$what"
	ends 1500 "$what"
	kt_result sink 30
	until [[ -e /exchange/back-$what ]]; do pause 0.1; done
	within 5 peer_is up
	ok $? "the link is up after: $what"
}

survivor() {
	expect 0 listen l 0.0.0.0 7000
	barrier listening
	killed
	stopped
	paused
	replaced
	left "interface down"
	left unbind
	left unplug
	left unload
	expect 0 release l
}

# leaves WHAT COMMAND BACK: the machine leaves by COMMAND under load, and comes back by BACK.
leaves() {
	local start
	within 5 peer_is up
	connected "before: $1"
	until [[ -e /exchange/accepted-$1 ]]; do pause 0.1; done
	kt_start source async c send virt 1000000 64 chain=10
	sleep 0.3
	start=$SECONDS
	"$2"
	ok $? "$1"
	((SECONDS - start <= 5 * slow))
	ok $? "$1 takes $((SECONDS - start)) s"
	kt_result source 30
	kt release c
	"$3"
	within 10 ready
	ok $? "the device is back after: $1"
	: >"/exchange/back-$1"
}

ready() { gids_ready 2 2>/dev/null; }

# Give the new interface its name and addresses, as at the boot.
configure() {
	local end=$((SECONDS + 20))
	until [[ -e /sys/class/net/ntr0 ]] || ((SECONDS > end)); do pause 0.1; done
	WINDOW=1 link_up 2 ntr0
}

go_down() { ip link set "$NETDEV" down; }
come_up() { ip link set "$NETDEV" up && ip addr replace "$(addr6 2)/64" dev "$NETDEV" nodad; }
unbind() { echo "$pci" >/sys/bus/pci/drivers/ntrdma/unbind; }
bind() { echo "$pci" >/sys/bus/pci/drivers/ntrdma/bind && configure; }
unplug() { echo 1 >"/sys/bus/pci/devices/$pci/remove"; }
plug() { echo 1 >/sys/bus/pci/rescan && configure; }
unload() { rmmod ntrdma; }
load_again() { insmod /modules/ntrdma.ko && configure; }

# not_inserted ERRNO-TEXT LOG PARAMETER...: two cases: the module is refused, and the log says why.
not_inserted() {
	local want=$1 log=$2 said
	shift 2
	said=$(insmod /modules/ntrdma.ko "$@" 2>&1) && said=success
	[[ $said == *"$want"* ]]
	ok $? "$* is refused: $want (${said//$'\n'/; })"
	logged "$log"
	ok $? "the log says: $log"
}

# Memory that other software uses is left alone, unless the parameter names the device.
foreign() {
	local memory=/sys/bus/pci/devices/$pci/resource2
	echo 1 >"/sys/bus/pci/devices/$pci/enable"
	"/add/poke" "$memory" 0 0x4c474d5052
	insmod /modules/ntrdma.ko
	[[ ! -e /sys/class/net/ntr0 ]]
	ok $? "memory of other software is not used"
	logged "ntrdma: other software uses the memory"
	ok $? "the log says that other software uses it"
	rmmod ntrdma
	insmod /modules/ntrdma.ko ivshmem=off
	[[ ! -e /sys/class/net/ntr0 ]]
	ok $? "ivshmem=off uses no device"
	rmmod ntrdma
	insmod /modules/ntrdma.ko "ivshmem=0000:ff:1f.7,$pci"
	within 30 test -e /sys/class/infiniband/ntr0
	ok $? "a device that the parameter names is used"
	rmmod ntrdma
}

# The host kills this machine. It prints no cases, because the next life begins to count again.
first_life() {
	barrier listening
	: >/exchange/life1
	kt connect c "$server" 7000
	kt send c 64
	kt receive c 64 10000
	kt take c 1000000 64
	sleep 100
	ok 1 "the machine is killed"
}

second_life() {
	: >/exchange/life2
	within 10 ready
	ok $? "the device is ready after the boot"
	connected "after the boot"
	expect 64 receive c 64 30000
	expect 64 receive c 64 30000
	expect 0 send c 64
	kt until c CLOSED 30000
	kt release c
	connected "before a long stop"
	kt until c CLOSED 60000
	kt_is 0 "the connection ends on the machine that stood still"
	kt release c
	[[ -e /sys/class/infiniband/$RDMADEV ]]
	ok $? "the machine that stood still has kept its device"
	connected "before another machine takes the slot"
	kt until c CLOSED 60000
	kt_is 0 "the connection ends on the machine that has lost its slot"
	kt release c
	within 10 logged "another machine has changed the directory"
	ok $? "the log says that the slot is lost"
	within 30 test -e /sys/class/infiniband/ntr0
	ok $? "the machine joins again"
	rdma dev set ntr0 name "$RDMADEV"
	within 10 ready
	ok $? "the addresses are those of before"
	leaves "interface down" go_down come_up
	leaves unbind unbind bind
	leaves unplug unplug plug
	leaves unload unload load_again
}

parameters() {
	rmmod ntrdma
	not_inserted "Invalid" "members must be" members=1
	not_inserted "Invalid" "members must be" members=17
	not_inserted "Invalid" "ivshmem must be" ivshmem=on
	not_inserted "Invalid" "ivshmem must be" "ivshmem=$pci,"
	foreign
}

if ((NODE == 1)); then
	survivor
elif ! lives 1; then
	first_life
else
	second_life
fi
barrier all
if ((NODE == 2)); then parameters; fi
barrier ended
if ((NODE == 2)); then
	insmod /modules/ntrdma.ko
	configure
fi
finish
