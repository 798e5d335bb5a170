#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-blk-cgroup: a disk of krping_blk with bio_cgroup sends the requests of one control group and of groups below it.
# These are direct writes, and writes of the page cache that a thread of the kernel submits.
#
#   node 1 (server) <--- writes of the group --- node 2 (client)
#
# kernels: stock-6.1
# long: stock-new
# load: krdma krping_blk
# add: blk-lib.sh
# timeout: 120

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krping/blk-lib.sh
. blk-lib.sh

network_ready
mount_debugfs

# in_group NAME COMMAND...: run a command in a control group.
in_group() {
	(
		echo "$BASHPID" >"/tmp/cgroup/$1/cgroup.procs" || exit
		shift
		"$@"
	)
}

buffered() {
	dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 conv=notrunc
}

# sync_by GROUP: write to the page cache in the group "other". A program in GROUP writes the page to the disk.
sync_by() {
	in_group other buffered
	in_group "$1" sync /dev/krpblkt
}

# Number of writes to the disk.
writes() {
	local count
	read -r _ _ _ _ count _ </sys/block/krpblkt/stat
	echo "$count"
}

more_writes() {
	(($(writes) > $1))
}

# written_back GROUP: write to the page cache in a control group. A thread of the kernel writes the page to the disk.
written_back() {
	local before
	before=$(writes)
	in_group "$1" buffered
	within 30 more_writes "$before"
}

# hold OPTIONS: create /dev/krpblkt and hold it open, because the last task that closes a disk writes all pages. Then the
# kernel writes back pages after 0.1 s.
hold() {
	attach "$1"
	exec {held}<>/dev/krpblkt
	echo 10 >/proc/sys/vm/dirty_expire_centisecs
	echo 10 >/proc/sys/vm/dirty_writeback_centisecs
}

unhold() {
	echo 500 >/proc/sys/vm/dirty_writeback_centisecs
	echo 3000 >/proc/sys/vm/dirty_expire_centisecs
}

close_disk() {
	exec {held}<&-
	detach
}

# The server has the data of the group and of the group below it, and zeroes for the others.
direct() {
	local others
	serve bio_target=mem
	if ((NODE == 2)); then
		attach "$options"
		sends 1 "a write in the control group" in_group mirrored random 4096 0
		sends 1 "a write in a group below it" in_group mirrored/below random 4096 4096
		sends 0 "a write in another group" in_group other random 4096 8192
		sends 0 "a write outside of these groups" random 4096 12288
		dd if=/dev/krpblkt of=/exchange/blk-piece bs=8192 count=1 status=none
	fi
	barrier direct-written
	if ((NODE == 1)); then
		image_of
		check "the server has the writes of the group" cmp -n 8192 /exchange/blk-piece "$image"
		others=$(head -c 16384 "$image" | tail -c 8192 | tr -d '\0' | wc -c)
		((others == 0))
		ok $? "the server has no other write"
	fi
	barrier direct-compared
	((NODE != 2)) || detach
	unserve
}

# Linux knows the group of a buffered write only with the controllers io and memory.
writeback() {
	serve bio_target=null
	if ((NODE == 2)); then
		check "the io controller is turned on" eval "echo +io >/tmp/cgroup/cgroup.subtree_control"
		hold "$options"
		sends 1 "a write in the control group with the io controller" in_group mirrored random 4096 0
		sends 1 "a write in a group below it with the io controller" in_group mirrored/below random 4096 0
		sends 0 "a write in another group with the io controller" in_group other random 4096 0
		sends 1 "a buffered write in the control group" written_back mirrored
		unhold
		close_disk
		hold "$options"
		sends 0 "a buffered write in another group" written_back other
		unhold
		sends 0 "sync in the control group of pages of another group" sync_by mirrored
		check "the groups are removed" rmdir "$group/below" "$group" /tmp/cgroup/other
		sends 0 "a write after the control group was removed" random 4096 0
		close_disk
		echo -io >/tmp/cgroup/cgroup.subtree_control
	fi
	unserve
}

if ((NODE == 2)); then
	control_group mirrored cgroup.procs "a disk sends the requests of a control group"
	mkdir "$group/below" /tmp/cgroup/other
	options=bio_dev=ram:1M,bio_ops=w,bio_cgroup=$(stat -c %i "$group")
fi
section direct
section writeback
finish
