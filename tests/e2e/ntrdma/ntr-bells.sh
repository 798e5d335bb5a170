#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-bells: three machines with a shared memory and doorbells. Messages wake machines that are idle. One machine rings the
# doorbells of another one without a pause. The other one ignores them for a while, and its connections go on.
#
#   node 1 <--- krdma over ntrdma ---> node 2        node 3 rings the doorbells of node 1
#
# kernels: stock-6.1/ntr-bell
# alone: debug-6.1/ntr-bell stock-new/ntr-bell
# nodes: 3
# load: krdma krdma_test
# programs: ntrmem/ring
# append: iomem=relaxed
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

files=/sys/kernel/debug/ntrdma/ntr0
pci=$(basename "$(readlink -f /sys/bus/pci/drivers/ntrdma/0*)")
mount_debugfs

# exchange DESCRIPTION COUNT PAUSE: one case: nodes 1 and 2 exchange COUNT messages, and pause after each.
exchange() {
	local i status=0
	for ((i = 0; i < $2 && !status; i++)); do
		if ((NODE == 1)); then
			kt receive a 64 10000 && kt send a 64 || status=1
		else
			kt send c 64 && kt receive c 64 10000 || status=1
			sleep "$3"
		fi
	done
	ok $status "$1: $i messages ($kt_ret)"
}

# The host merges doorbells: hundreds of thousands a second arrive as some hundred. So the limit is low here.
if ((NODE == 1)); then
	rmmod ntrdma
	insmod /modules/ntrdma.ko storm_bells=20
	within 30 test -e /sys/class/infiniband/ntr0
	WINDOW=1 link_up 1 ntr0
fi
barrier changed
[[ $(<"$files/status") == "back end ivshmem-doorbell, "* ]]
ok $? "the device has doorbells"
barrier members
case $NODE in
1)
	# The register IVPosition has the number for doorbells.
	/add/ring "/sys/bus/pci/devices/$pci/resource0" >/exchange/bell
	expect 0 listen l 0.0.0.0 7000
	barrier listening
	kt accept a l 40000
	kt_is 0 "accepted"
	exchange "an idle machine is woken" 20 0
	(($(device_counter doorbells_taken) > 20))
	ok $? "doorbells were taken: $(device_counter doorbells_taken)"
	(($(device_counter late_wakeups) == 0))
	ok $? "no doorbell was lost: $(device_counter late_wakeups)"
	barrier woken
	exchange "messages pass while doorbells ring" 200 0
	: >/exchange/over
	barrier rung
	(($(device_counter doorbell_storms) > 0))
	ok $? "the storm is counted: $(device_counter doorbell_storms), $(device_counter doorbells_taken) doorbells"
	logged "doorbell .* rings without work"
	ok $? "the log names the doorbell"
	;;
2)
	barrier listening
	kt connect c "$(addr4 1)" 7000
	kt_is 0 "connected"
	exchange "an idle machine is woken" 20 0.1
	barrier woken
	exchange "messages pass while doorbells ring" 200 0
	barrier rung
	;;
3)
	rmmod ntrdma
	ok $? "node 3 unloads ntrdma"
	echo 1 >"/sys/bus/pci/devices/$pci/enable"
	barrier listening
	barrier woken
	# The doorbells of lanes, and that of packets.
	until [[ -e /exchange/over ]]; do
		for vector in 0 1 4; do echo "# rung: $(/add/ring "/sys/bus/pci/devices/$pci/resource0" "$(</exchange/bell)" $vector 2)"; done
	done
	barrier rung
	insmod /modules/ntrdma.ko
	ok $? "node 3 loads ntrdma"
	;;
esac
barrier loaded
kt release c
kt release a
kt release l
finish
