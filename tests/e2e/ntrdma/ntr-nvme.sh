#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-nvme: NVMe over RDMA of the stock kernel, between two machines with a shared memory and no network. Data of many
# sizes is written, read and compared. The initiator connects again by itself after the link was cut, and after the device
# of the target was removed and has come back. The device of the initiator is removed under load.
#
#   node 1 (target, memory disk) <--- NVMe over RDMA over ntrdma, shared memory ---> node 2 (initiator)
#
# kernels: stock-6.1/ntr-shm
# alone: stock-new/ntr-shm stock-6.12/ntr-shm
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
nqn=krdma-test
subsystem=/sys/kernel/config/nvmet/subsystems/$nqn
port=/sys/kernel/config/nvmet/ports/1
pci=$(basename "$(readlink -f /sys/bus/pci/drivers/ntrdma/0*)")
disk=/dev/nvme0n1
megabytes=16

unbind() { echo "$pci" >/sys/bus/pci/drivers/ntrdma/unbind; }

# Bind the device again, and give the new interface its name and addresses, as at the boot.
bind() {
	echo "$pci" >/sys/bus/pci/drivers/ntrdma/bind && within 20 test -e /sys/class/net/ntr0 &&
		WINDOW=1 link_up "$NODE" ntr0 && within 20 gids_ready "$NODE"
}

# export_disk: make a memory disk, and export it by the kernel's target.
export_disk() {
	modprobe nvmet-rdma && modprobe brd rd_nr=1 rd_size=$((megabytes * 1024)) &&
		mount_configfs &&
		mkdir -p "$subsystem/namespaces/1" "$port" &&
		echo 1 >"$subsystem/attr_allow_any_host" &&
		echo /dev/ram0 >"$subsystem/namespaces/1/device_path" &&
		echo 1 >"$subsystem/namespaces/1/enable" &&
		echo ipv4 >"$port/addr_adrfam" && echo rdma >"$port/addr_trtype" &&
		echo "$server" >"$port/addr_traddr" && echo 4420 >"$port/addr_trsvcid" &&
		ln -s "$subsystem" "$port/subsystems/$nqn"
}

listen_again() {
	rm "$port/subsystems/$nqn" && ln -s "$subsystem" "$port/subsystems/$nqn"
}

unexport_disk() {
	rm "$port/subsystems/$nqn" && rmdir "$port" &&
		rmdir "$subsystem/namespaces/1" "$subsystem" &&
		modprobe -r nvmet-rdma brd
}

# connect_disk: connect to the target, and wait for the disk.
connect_disk() {
	echo "transport=rdma,traddr=$server,trsvcid=4420,nqn=$nqn,nr_io_queues=2,reconnect_delay=1,keep_alive_tmo=5" \
		>/dev/nvme-fabrics && within 10 test -b "$disk"
}

disconnect_disk() { echo 1 >/sys/class/nvme/nvme0/delete_controller; }

controllers() { find /sys/class/nvme/ -name 'nvme[0-9]*' -printf . | wc -c; }
no_controller() { (($(controllers) == 0)); }
is_live() { [[ $(cat /sys/class/nvme/nvme0/state 2>/dev/null) == live ]]; }
is_not_live() { ! is_live; }

# same_on_disk SIZE: write the file "data" in pieces of SIZE bytes past the page cache, read it back, and compare.
same_on_disk() {
	dd if=data of="$disk" bs="$1" oflag=direct conv=nocreat,notrunc status=none &&
		dd if="$disk" of=copy bs="$1" count=$(($(stat -c %s data) / $1)) iflag=direct status=none && cmp data copy
}

# new_data KILOBYTES: put other random data into the file "data".
new_data() { dd if=/dev/urandom of=data bs=1024 count="$1" status=none; }

sizes() {
	local size
	for size in 512 4096 20480 131072 1048576; do
		new_data $((size < 4096 ? 20 : size < 1048576 ? 1280 : 4096))
		check "data written and read in pieces of $size bytes is the same" same_on_disk "$size"
	done
}

# Four tasks write and read different parts of the disk at the same time.
together() {
	local job status=0
	new_data 2048
	for job in 0 1 2 3; do
		dd if=data of="$disk" bs=64k seek=$((job * 32)) oflag=direct conv=nocreat,notrunc status=none &
	done
	wait
	for job in 0 1 2 3; do
		dd if="$disk" bs=64k skip=$((job * 32)) count=32 iflag=direct status=none | cmp - data || status=1
	done
	ok $status "four tasks write and read at the same time"
}

# keep_writing: write and read until the file "stop" exists, and compare. Print the number of rounds, or fail.
keep_writing() {
	local rounds=0
	while [[ ! -e stop ]]; do
		same_on_disk 65536 || return 1
		rounds=$((rounds + 1))
	done
	echo "$rounds"
}

# survives WHAT BARRIER: two cases: node 1 does WHAT during a load, the initiator connects again, and no data is lost.
survives() {
	new_data 1024
	rm -f stop
	keep_writing >rounds &
	barrier "$2"
	within 30 is_not_live
	ok $? "the initiator notices: $1"
	barrier "$2-noticed"
	within 60 is_live
	ok $? "the initiator connects again by itself: $1"
	sleep 1
	: >stop
	wait $!
	ok $? "the load has not failed, and all data is the same: $1 ($(<rounds) rounds)"
}

target() {
	check "the kernel's target exports a disk" export_disk
	barrier exported
	barrier cut
	network loss 100%
	barrier cut-noticed
	network
	barrier removed
	check "the device of the target is removed" unbind
	barrier removed-noticed
	check "the device of the target is back" bind
	# The target of Linux does not listen again by itself (nvmet_rdma_device_removal()).
	check "the target listens again" listen_again
	barrier initiator-over
	check "the target is removed" unexport_disk
}

initiator() {
	local begin
	modprobe nvme-rdma
	barrier exported
	check "the kernel's initiator connects" connect_disk
	sizes
	together
	survives "link cut" cut
	survives "device of the target removed" removed
	rm stop
	keep_writing >rounds 2>/dev/null &
	sleep 1
	begin=$SECONDS
	check "the device of the initiator is removed" unbind
	((SECONDS - begin <= 10 * slow))
	ok $? "removal under load takes $((SECONDS - begin)) s"
	check "no controller is left" within 10 no_controller
	: >stop
	wait $!
	ok $((! $?)) "the load fails when its disk has gone"
	check "the device of the initiator is back" bind
	check "the kernel's initiator connects again" connect_disk
	sizes
	check "the initiator disconnects" disconnect_disk
	check "the modules of NVMe are unloaded" within 10 modprobe -r nvme-rdma
	barrier initiator-over
}

cd "$(mktemp -d)" || exit
if ((NODE == 1)); then target; else initiator; fi
barrier all
# The CQs of the core's pool (ib_cq_pool_get()), which NVMe uses, stay until their device is removed.
check "the device is removed at the end" unbind
check "the device is back at the end" bind
barrier bound
finish
