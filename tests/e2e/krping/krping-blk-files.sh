#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-blk-files: fio verifies files of ext4 on a disk of krping_blk, and the image of the server equals the disk
# afterwards. Dirty files that fill the memory are written without a deadlock. The module is unloaded in each state in which
# no program uses a disk, and refuses to be unloaded in each other state.
#
#   node 1 (server) <--- writes --- node 2 (client)
#
# kernels:
# long: uml uml-debug uml/siw uml/ntr stock-6.1 stock-new
# load: krdma krping_blk
# add: blk-lib.sh
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krping/blk-lib.sh
. blk-lib.sh

network_ready

# file_system SIZE OPTIONS COMMAND...: run COMMAND on node 2 with a new ext4 on a disk of SIZE, stacked on a loop device.
# Afterwards the image of the server must equal the disk.
file_system() {
	local size=$1 options=$2
	shift 2
	((NODE != 1)) || loop target "$size"
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		loop lower "$size"
		attach "bio_dev=stack:$device,$options"
		mkdir -p "$work/mnt"
		check "mkfs.ext4 succeeds" mkfs.ext4 -q -E nodiscard /dev/krpblkt
		check "ext4 is mounted" mount /dev/krpblkt "$work/mnt"
		"$@"
		check "ext4 is unmounted" umount "$work/mnt"
		check "ext4 is consistent" fsck.ext4 -fn /dev/krpblkt
		[[ $(field failed "client krpblkt") == 0 && $(field refused "client krpblkt") == 0 ]]
		ok $? "no request fails: $(line "client krpblkt")"
	fi
	barrier written
	image=${device-}
	same "$options"
	((NODE != 2)) || detach
	unserve
	losetup -d "$device"
}

# run_fio NAME OPTION...: write files in random order, and verify them.
run_fio() {
	local name=$1 status=0
	shift
	fio --name="$name" --directory="$work/mnt" --thread --numjobs=2 --size=6M --rw=randwrite --bsrange=4k-128k --fsync=32 \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0 --randrepeat=0 --eta=never --output="$work/fio" \
		"$@" || status=$?
	((status == 0)) || sed 's/^/# /' "$work/fio"
	ok "$status" "fio verifies $name writes"
}

fio_all() {
	run_fio buffered --ioengine=psync
	run_fio direct --ioengine=libaio --direct=1 --iodepth=16
}

verified() {
	file_system 48M bio_mode=sync fio_all
	file_system 48M bio_mode=async,bio_depth=8 fio_all
}

# Write a file of $mib MiB, which stays dirty at first, then all of it at once.
fill() {
	local begin=$SECONDS
	dd if=/dev/urandom of="$work/piece" bs=1M count=1 status=none
	for ((i = 0; i < mib; i++)); do cat "$work/piece"; done >"$work/mnt/dirty"
	echo "# $(grep -E '^(MemAvailable|Dirty)' /proc/meminfo | tr -s ' \n' ' ')"
	check "dirty files are written when memory is short" timeout 200 sync "$work/mnt"
	echo "# $((SECONDS - begin)) s for $mib MiB"
	[[ $(stat -c %s "$work/mnt/dirty") == $((mib * 1048576)) ]]
	ok $? "the file is complete"
}

# The file is in memory twice on node 2: as dirty pages, and on the loop device. If the nodes share a kernel, it is there
# three times.
pressure() {
	local kib mib
	kib=$(awk '/^MemAvailable/ { print int($2) }' /proc/meminfo)
	kib=$((kib * (NAMESPACES ? 28 : 43) / 100))
	((kib < 400 * 1024)) || kib=$((400 * 1024))
	echo 90 >/proc/sys/vm/dirty_ratio
	echo 85 >/proc/sys/vm/dirty_background_ratio
	echo "$kib" >"/exchange/blk-kib-$NODE"
	barrier pressure
	kib=$(sort -n /exchange/blk-kib-* | head -n 1)
	mib=$((kib / 1024))
	# The journal and the tables of ext4 also need space.
	file_system $((kib * 5 / 4 + 65536))K bio_mode=sync fill
}

unload() { rmmod krping_blk 2>/dev/null; }
load() { insmod /modules/krping_blk.ko; }

# unload_in STATE: unload the module of node 2 while it has a disk, and load it again.
unload_in() {
	check "the module is unloaded while a disk is $1" within 20 unload
	[[ ! -e /dev/krpblkt ]]
	ok $? "the disk that was $1 is removed"
	check "the module is loaded after a disk was $1" load
}

unloads() {
	serve bio_target=mem
	if ((NODE == 2)); then
		attach bio_dev=ram:1M
		exec {held}</dev/krpblkt
		! unload
		ok $? "the module is not unloaded while a program uses a disk"
		exec {held}<&-
		unload_in connected
		attach bio_dev=ram:1M,bio_onfail=block,bio_timeout=3000
		{ echo "client,addr=10.56.0.77,port=1,bio_dev=ram:1M" >/proc/krping_blk; } 2>/dev/null &
		sleep 0.5
		! unload
		ok $? "the module is not unloaded while a command waits"
		kill -KILL $!
		wait $! 2>/dev/null
		network loss 100%
		random 4096 0 &
		pid=$!
		sleep 0.5
		! unload
		ok $? "the module is not unloaded while a write waits"
		network
		wait "$pid"
		ok $? "the write that waited succeeds"
		attach_second
	fi
	barrier unload-server
	if ((NODE == 1)); then
		check "the module of the server is unloaded while clients are connected" within 20 unload
		check "the module of the server is loaded again" load
	else
		check "the disk loses its connection" within 20 is_down
		unload_in down
	fi
	barrier unloaded
}

# attach_second: create another disk. Both are unloaded together.
attach_second() {
	check "a second disk is created" blk "client,addr=$server,port=$port,bio_dev=ram:1M,bio_name=krpblksecond"
}

section verified
section pressure
# The nodes of one kernel share the module.
((NAMESPACES)) || section unloads
finish
