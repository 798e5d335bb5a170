#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-hostile: a machine overwrites the memory that it shares with two others, at random and with understanding, while these
# two exchange RDMA and TCP traffic. Their kernels survive. When it stops, the link comes back by itself.
#
#   node 1 <--- krping, TCP over ntrdma ---> node 2        node 3 overwrites the memory of both
#
# kernels: stock-6.1/ntr-shm
# alone: debug-6.1/ntr-shm stock-new/ntr-shm
# lasting: stock-6.1/ntr-shm
# nodes: 3
# load: krdma krping
# programs: ntrmem/net ntrmem/scribble
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

seconds=${1:-40}
files=/sys/kernel/debug/ntrdma/ntr0
there=$(addr4 $((3 - NODE)))
pci=$(basename "$(readlink -f /sys/bus/pci/drivers/ntrdma/0*)")
set_sysctl net/ipv4/ping_group_range "0 0"
mount_debugfs

# The device may be created again, and then has its first name.
named() {
	[[ ! -e /sys/class/infiniband/ntr0 ]] || rdma dev set ntr0 name "$RDMADEV"
	[[ -e /sys/class/infiniband/$RDMADEV ]]
}

serves() {
	while [[ ! -e /exchange/over ]]; do
		echo "server,addr=0.0.0.0,port=9999,count=1000,size=5000,idle_timeout=3000,conn_timeout=2000" >/proc/krping
		pause 0.2
	done 2>/dev/null
}

calls() {
	while [[ ! -e /exchange/over ]]; do
		named
		echo "client,addr=$there,port=9999,count=1000,size=5000,conn_timeout=2000,timeout=5000" >/proc/krping
		timeout 5 /add/net ping "$there" 3 1000
		pause 0.2
	done >/dev/null 2>&1
}

# No server is left, and none is started again.
stopped() {
	echo stop=all >/proc/krping
	[[ -z $(jobs -r) ]]
}

repaired() { /add/scribble "/sys/bus/pci/devices/$pci/resource2" 0 1 any 2>/dev/null; }

peer_pings() { /add/net ping "$there" 1 100 2>/dev/null; }

# One of the pings of krping succeeds.
pings_succeed() {
	if ((NODE == 1)); then
		echo "server,addr=0.0.0.0,port=9998,count=100,size=5000,idle_timeout=30000" >/proc/krping &
		barrier served
		until [[ -e /exchange/pinged ]]; do pause 0.2; done
		echo stop=all >/proc/krping
		wait $!
	else
		barrier served
		within 20 krping_client
		ok $? "RDMA works after the attack"
		: >/exchange/pinged
		sed 's/^/# /' "$files/status"
	fi
}

krping_client() { echo "client,addr=$there,port=9998,count=100,size=5000,validate,conn_timeout=3000" 2>/dev/null >/proc/krping; }

if ((NODE == 3)); then
	rmmod ntrdma
	echo 1 >"/sys/bus/pci/devices/$pci/enable"
fi
barrier begun
case $NODE in
1) serves & ;;
2) calls & ;;
3)
	for way in directory page header payload any all; do
		# The others repair the directory after each attack.
		within 40 repaired
		ok $? "the directory is valid again"
		check "the memory is overwritten: $way" /add/scribble "/sys/bus/pci/devices/$pci/resource2" \
			$((seconds / 6)) "$RANDOM" $way
	done
	: >/exchange/over
	;;
esac
# A server without a client waits without end.
if ((NODE == 1)); then
	until [[ -e /exchange/over ]]; do pause 0.5; done
	within 10 stopped
fi
wait
barrier over
if ((NODE != 3)); then
	dmesg_node | grep "peer .* is lost: " >/dev/null
	ok $? "sessions have ended"
	within 40 named
	ok $? "the RDMA device is there"
	within 20 gids_ready "$NODE" 2>/dev/null
	ok $? "the addresses are those of before"
	within 20 peer_pings
	ok $? "the interface works after the attack"
	sed 's/^/# /' "$files/status"
fi
barrier quiet
if ((NODE == 3)); then barrier served; else pings_succeed; fi
barrier ended
on 3 insmod /modules/ntrdma.ko
finish
