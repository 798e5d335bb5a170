#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-page: two machines with a shared memory type the commands of Documentation/ntrdma.rst: the files that set parameters,
# the address, and rping. The part ntr-page of tools/check types those of the host.
#
#   node 1 <--- ping, rping over ntrdma, shared memory ---> node 2
#
# kernels: stock-6.1/ntr-shm
# alone: stock-new/ntr-bell
# add: ../../Documentation/ntrdma.rst
# programs: ntrmem/net
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

listens() { [[ $(rdma resource show cm_id) == *"state LISTEN"* ]]; }

# The page assumes that the module is installed. Take the parameters from /etc/modprobe.d, as modprobe does.
modprobe() {
	local options
	[[ $1 == ntrdma ]] || { command modprobe "$@"; return; }
	options=$(command modprobe -c | sed -n 's/^options ntrdma //p')
	# shellcheck disable=SC2086 # several words
	insmod /modules/ntrdma.ko $options
}

# typed SECTION N [LINE]: type the Nth block of SECTION of the page, or only one line of it, which counts from 0. The page has
# the address of the first machine.
typed() {
	local commands line
	mapfile -t commands < <(page_commands ntrdma.rst "$1" "$2")
	[[ -z ${3:-} ]] || commands=("${commands[$3]}")
	((${#commands[@]} > 0))
	ok $? "the page has commands in block $2 of: $1"
	for line in "${commands[@]}"; do
		[[ $line != "ip addr add "* ]] || line=${line/10.57.0.1/10.57.0.$NODE}
		eval "$line" </dev/null
		ok $? "$line"
	done
}

value() { [[ $(</sys/module/ntrdma/parameters/"$1") == "$2" ]]; }
has_device() { [[ -e /sys/class/infiniband/ntr0 ]]; }
pings() { /add/net ping "10.57.0.$((3 - NODE))" 1 1000 >/dev/null; }

# Without this setting, the socket of a ping is refused.
echo "0 0" >/proc/sys/net/ipv4/ping_group_range
rmmod ntrdma
ok $? "ntrdma is unloaded"
barrier unloaded
typed "Virtual machines" 4
typed "Virtual machines" 3
check "the parameter members is set" value members 3
check "the parameter idle_us is set" value idle_us 200
[[ $(</etc/modules-load.d/ntrdma.conf) == ntrdma ]]
ok $? "the module is loaded at each boot"
within 30 has_device
ok $? "the RDMA device appears"
barrier loaded
within 30 pings
ok $? "the other machine answers to a ping"
barrier pinged
if ((NODE == 1)); then
	server=$(page_commands ntrdma.rst Programs 1 | sed -n 1p)
	eval "$server" &
	pid=$!
	within 30 listens
	ok $? "the server listens"
	barrier serves
	wait "$pid"
	ok $? "$server"
else
	barrier serves
	typed Programs 1 1
fi
barrier rping
check "ntrdma is unloaded at the end" rmmod ntrdma
rm /etc/modules-load.d/ntrdma.conf /etc/modprobe.d/ntrdma.conf
barrier ended
insmod /modules/ntrdma.ko "members=$NODES"
within 30 has_device
ok $? "ntrdma is loaded as at the boot"
WINDOW=1 link_up "$NODE" ntr0
finish
