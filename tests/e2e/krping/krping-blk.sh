#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-blk: disks of krping_blk. The image of the server equals the disk after writes, flushes, discards and writes of
# zeroes, with each target, in each mode, and below ext4. Filters select requests. Wrong checksums, wrong acknowledgments,
# full servers and lost servers have clear results. With bio_raw, the data are in the memory of any RDMA target.
#
#   node 1 (server) <--- writes --- node 2 (client)
#
# kernels: uml
# long: stock-6.1 stock-new uml/siw uml/ntr uml-debug
# load: krdma krdma_test krping_blk
# add: blk-lib.sh ../../Documentation/krping.rst
# programs: ../../samples/krping/write_data
# verbs: krping/rawpeer
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krping/blk-lib.sh
. blk-lib.sh

network_ready
mount_debugfs

mem() {
	serve bio_target=mem
	if ((NODE == 2)); then
		attach bio_dev=ram:8M
		[[ $(blockdev --getsize64 /dev/krpblkt) == 8388608 ]]
		ok $? "the disk has the capacity of bio_dev"
		check "programs write to the disk" exercise
		[[ $(dd if=/dev/krpblkt bs=1M skip=7 count=1 2>/dev/null | head -c 6 | od -An -c) == "   a  \\0   b  \\0  \\0   c" ]]
		ok $? "NULs are kept"
		[[ $(field acked "client krpblkt") == "$(field requests "client krpblkt")" ]]
		ok $? "each request is acknowledged: $(line "client krpblkt")"
	fi
	barrier written
	image_of
	same mem
	if ((NODE == 1)); then
		(($(field flushes "server .*:$port") >= 2))
		ok $? "the server receives flushes: $(line "server .*:$port")"
		check "a read of 0 bytes of an image returns 0" \
			python3 -c 'import os, sys; sys.exit(len(os.read(os.open(sys.argv[1], os.O_RDONLY), 0)))' "$image"
	else
		detach
	fi
	unserve
}

bdev() {
	((NODE != 1)) || loop target 8M
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		attach bio_dev=ram:8M
		blk_fails "Device or resource busy" "client,addr=$server,port=$port,bio_dev=ram:4M"
		check "programs write to the disk" exercise
	fi
	barrier written
	image=${device-}
	same bdev
	if ((NODE == 2)); then
		detach
		blk_fails "No space left" "client,addr=$server,port=$port,bio_dev=ram:9M"
	fi
	unserve
	((NODE != 1)) || losetup -d "$device"
}

# ext4 on a disk that is stacked on a loop device.
ext4() {
	((NODE != 1)) || loop target 32M
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		loop lower 32M
		attach "bio_dev=stack:$device"
		refused "in use" "the lower device is in use" mkfs.ext4 -q "$device"
		check "mkfs.ext4 succeeds" mkfs.ext4 -q -E nodiscard /dev/krpblkt
		mkdir -p "$work/mnt"
		check "ext4 is mounted" mount /dev/krpblkt "$work/mnt"
		blk_fails "Device or resource busy" "stop=$(line "client krpblkt" | cut -d ' ' -f 1)"
		cp -r /usr/bin/[a-d]* "$work/mnt" 2>/dev/null
		sync "$work/mnt"
		rm -f "$work/mnt"/[ac]*
		check "ext4 is unmounted" umount "$work/mnt"
		check "ext4 is consistent" fsck.ext4 -fn /dev/krpblkt
	fi
	barrier written
	image=${device-}
	same ext4
	if ((NODE == 2)); then
		detach
		losetup -d "$device"
	fi
	unserve
	((NODE != 1)) || losetup -d "$device"
}

# send_all: write 16 pieces of 4 KiB, one after the other. Sets "took" to the time in ms.
send_all() {
	local begin=${EPOCHREALTIME/./}
	dd if=/dev/urandom of=/dev/krpblkt bs=4K count=16 oflag=direct conv=notrunc 2>/dev/null || return
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
}

# Each request needs the time of the delay until it is acknowledged.
delays() {
	serve bio_target=mem
	if ((NODE == 2)); then
		attach bio_dev=ram:1M
		network delay 100ms
		check "writes in mode sync succeed" send_all
		((took >= 1600))
		ok $? "writes in mode sync wait for their acknowledgments: $took ms"
		network
		detach

		attach bio_dev=ram:1M,bio_mode=async
		network delay 500ms
		check "writes in mode async succeed" send_all
		((took < 4000))
		ok $? "writes in mode async do not wait for their acknowledgments: $took ms"
		(($(field pending "client krpblkt") > 0))
		ok $? "requests wait for their acknowledgments: $(line "client krpblkt")"
		check "a flush succeeds" sync /dev/krpblkt
		[[ $(field pending "client krpblkt") == 0 ]]
		ok $? "a flush waits for all acknowledgments: $(line "client krpblkt")"
		network
		detach

		attach bio_dev=ram:1M,bio_mode=async,bio_depth=2
		network delay 500ms
		check "writes in mode async with 2 slots succeed" send_all
		((took >= 3500))
		ok $? "writes in mode async wait for a free slot: $took ms"
		network
		detach

		attach bio_dev=ram:1M,bio_mode=async,bio_depth=2,bio_full=drop
		network delay 500ms
		check "writes in mode async with bio_full=drop succeed" send_all
		((took < 3500 && $(field dropped "client krpblkt") >= 4))
		ok $? "requests are dropped if no slot is free: $took ms, $(line "client krpblkt")"
		network
		detach

		attach bio_dev=ram:1M,bio_mode=tap,bio_depth=2
		network delay 500ms
		check "writes in mode tap with 2 slots succeed" send_all
		((took < 3500 && $(field dropped "client krpblkt") >= 4))
		ok $? "a tap drops requests if no copy is free: $took ms, $(line "client krpblkt")"
		network
		check "copies are sent when slots are free" within 10 copies_end 16
		check "a single write with a tap succeeds" random 4096 0
		check "a copy is sent though no request follows" within 10 copies_end 17
		detach
	fi
	unserve
}

# copies_end N: each of N requests was acknowledged or dropped.
copies_end() {
	(($(field acked "client krpblkt") + $(field dropped "client krpblkt") == $1))
}

modes() {
	serve bio_target=mem
	if ((NODE == 2)); then
		attach bio_dev=ram:1M,bio_mode=async,bio_badcrc=1
		check "a write in mode async with a wrong checksum succeeds" random 4096 0
		refused "Input/output error" "the next flush fails" sync /dev/krpblkt
		check "the flush after it succeeds" dd if=/dev/urandom of=/dev/krpblkt bs=4K count=1 conv=notrunc,fsync
		detach

		attach bio_dev=ram:8M,bio_mode=async
		check "programs write to the disk in mode async" exercise
	fi
	barrier written
	((NODE != 1)) || image_of
	same "mode async"
	if ((NODE == 2)); then
		detach
		attach bio_dev=ram:8M,bio_mode=tap
		check "programs write to the disk in mode tap" exercise
	fi
	barrier tapped
	unserve
	if ((NODE == 2)); then
		check "the connection of the tap is lost" within 60 is_down
		check "writes in mode tap without a server succeed" send_all
		(($(field dropped "client krpblkt") >= 16 && $(field failed "client krpblkt") == 0))
		ok $? "requests without a server are dropped: $(line "client krpblkt")"
		detach
	fi
}

# resent_at_least: print the minimum number of requests that are sent again. The writes of ntr devices do not pass the
# network that is cut, so all requests may be acknowledged when the connection is lost.
resent_at_least() {
	[[ $LINK == ntr ]]
	echo $?
}

# The server stops and starts again while a program writes. With bio_onfail=block, the program only waits.
blocks() {
	((NODE != 1)) || loop target 8M
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		attach bio_dev=ram:8M,bio_onfail=block
		rm -f "$work/stop"
		echo 0 >"$work/round"
		writer &
		check "a program writes" within 10 goes_on 0
		# Cut the network before the server stops, so that the next write of the program is posted but not acknowledged.
		[[ $LINK == ntr ]] || { network loss 100%; check "a write waits" within 10 stalls; }
	fi
	barrier block-writes
	unserve
	if ((NODE == 2)); then
		check "the connection is lost" within 60 is_down
		[[ $LINK == ntr ]] || network
		sleep 0.5
		was=$(<"$work/round")
		check "the program waits" kill -0 $!
	fi
	barrier block-outage
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		check "the disk connects again" within 20 is_ready
		check "the program continues" within 20 goes_on "$was"
		writer_ends $!
		(($(resent_at_least) <= $(field resent "client krpblkt") && $(field failed "client krpblkt") == 0))
		ok $? "requests without acknowledgment are sent again: $(line "client krpblkt")"
	fi
	barrier block-written
	image=${device-}
	same "block"
	if ((NODE == 2)); then
		detach
		attach bio_dev=ram:8M,bio_onfail=block,bio_block=2000
	fi
	unserve
	if ((NODE == 2)); then
		check "the connection is lost" within 60 is_down
		refused "Input/output error" "a write fails after bio_block" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		begin=${EPOCHREALTIME/./}
		refused "Input/output error" "the next write fails at once" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		((${EPOCHREALTIME/./} - begin < 1500000))
		ok $? "the limit is not repeated: $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
	fi
	barrier block-limit
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		check "the disk connects again" within 20 is_ready
		check "a write after the connection is back succeeds" random 4096 0
		detach
	fi
	unserve
	((NODE != 1)) || losetup -d "$device"
}

# The server stops and starts again while a program writes. With bio_onfail=degrade, the program neither waits nor fails.
# The image of the server then gets what was written without it.
degrades() {
	((NODE != 1)) || loop target 8M
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		loop lower 8M
		attach "bio_dev=stack:$device,bio_onfail=degrade"
		rm -f "$work/stop"
		echo 0 >"$work/round"
		writer &
		check "a program writes" within 10 goes_on 0
	fi
	barrier degrade-writes
	unserve
	if ((NODE == 2)); then
		check "the connection is lost" within 60 is_down
		check "the program continues without a server" within 10 goes_on "$(<"$work/round")"
		check "other programs write without a server" exercise
		! is_clean
		ok $? "chunks are dirty: $(line "client krpblkt")"
	fi
	barrier degrade-outage
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		check "the disk connects again" within 20 is_ready
		check "the resync ends while the program writes" within 30 is_clean
		writer_ends $!
		check "the resync ends" within 30 is_clean
		(($(field resynced "client krpblkt") > 0))
		ok $? "dirty chunks are sent: $(line "client krpblkt")"
		sync /dev/krpblkt
	fi
	barrier degrade-written
	image=${device-}
	same "degrade"
	((NODE != 2)) || detach
	unserve
	losetup -d "$device"
}

filters() {
	serve bio_target=null
	if ((NODE == 2)); then
		attach bio_dev=ram:1M,bio_ops=w,bio_min=8192,bio_range=64K-128K
		sends 1 "a write" random 8192 65536
		sends 1 "a write that ends in the range" random 8192 57856
		sends 0 "a write before the range" random 8192 57344
		sends 1 "a write to the end of the range" random 8192 130560
		sends 0 "a write after the range" random 8192 131072
		sends 0 "a short write" random 4096 65536
		sends 0 "a discard" blkdiscard -f -o 65536 -l 65536 /dev/krpblkt
		sends 0 "a read" dd if=/dev/krpblkt of=/dev/null bs=64K skip=1 count=1 iflag=direct
		detach
		attach bio_dev=ram:1M,bio_comm=dd,bio_ops=rwdz
		sends 1 "a write of dd" random 4096 0
		sends 1 "a read of dd" dd if=/dev/krpblkt of=/dev/null bs=64K count=1 iflag=direct
		sends 0 "a discard of blkdiscard" blkdiscard -f /dev/krpblkt
		detach
		attach bio_dev=ram:1M,bio_tgid=1
		sends 0 "a write of another thread group" random 4096 0
		detach
		attach "bio_dev=ram:1M,bio_slot=4096,bio_depth=2"
		sends 16 "a write of 16 slots" random 64K 0
		detach
	fi
	unserve
}

faults() {
	serve bio_target=mem
	if ((NODE == 2)); then
		attach bio_dev=ram:1M,bio_badcrc=2
		check "a write with a valid checksum succeeds" random 4096 0
		refused "Input/output error" "a write with a wrong checksum fails" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 seek=1 oflag=direct
		check "a further write succeeds" random 4096 8192
		[[ $(field refused "client krpblkt") == 1 && $(field state "client krpblkt") == ready ]]
		ok $? "the refused write is counted: $(line "client krpblkt")"
		invalid_hellos
	fi
	barrier written
	if ((NODE == 1)); then
		image_of
		[[ $(field crc_errors "server .*:$port") == 1 ]]
		ok $? "the server counts wrong checksums: $(line "server .*:$port")"
		[[ $(field violations "server .*:$port") == 3 ]]
		ok $? "the server counts clients with invalid messages"
		check "data with a wrong checksum are not stored" \
			cmp <(dd if="$image" bs=4096 skip=1 count=1 2>/dev/null) <(head -c 4096 /dev/zero)
	fi
	barrier seen
	((NODE != 2)) || detach
	unserve

	without_checksums
	wrong_acknowledgment 2 "that repeats the previous one"
	wrong_acknowledgment 3 "of a request that was not sent"
}

# With bio_nocrc, the server checks nothing, so that it stores data with a wrong checksum.
without_checksums() {
	serve bio_target=mem
	if ((NODE == 2)); then
		attach bio_dev=ram:8M,bio_nocrc,bio_badcrc=1
		check "programs write to the disk without checksums" exercise
		[[ $(field refused "client krpblkt") == 0 ]]
		ok $? "the server refuses no write without a checksum: $(line "client krpblkt")"
	fi
	barrier written
	((NODE != 1)) || image_of
	same bio_nocrc
	((NODE != 2)) || detach
	unserve
}

# wrong_acknowledgment N NAME: the acknowledgment of write N has the number of another request.
wrong_acknowledgment() {
	local i
	serve "bio_target=null,bio_badack=$1"
	if ((NODE == 2)); then
		attach bio_dev=ram:1M
		for ((i = 1; i < $1; i++)); do
			check "write $i with a valid acknowledgment succeeds" random 4096 0
		done
		refused "Input/output error" "a write with an acknowledgment $2 fails" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		[[ $(field violations "client krpblkt") == 1 ]]
		ok $? "an acknowledgment $2 is counted: $(line "client krpblkt")"
		check "the disk connects again" within 10 is_ready
		check "a further write succeeds" random 4096 0
		detach
	fi
	unserve
}

# A client whose first message is invalid loses its connection.
invalid_hellos() {
	local size
	for size in 1 48 4000; do
		kt connect h "$server" "$port"
		kt send h "$size" 5000
		kt receive h 64 5000
		[[ $kt_ret == "${errno[ECONNRESET]}" ]]
		ok $? "a first message of $size bytes ends the connection: $kt_ret"
		kt release h
	done
}

has_timed_out() {
	(($(field timeouts "client krpblkt") > 0))
}

# A listener of krdma_test takes the place of the server. It accepts connections, and sends nothing, or no grant.
no_server() {
	serve bio_target=null
	((NODE != 2)) || attach bio_dev=ram:1M,bio_timeout=3000
	unserve
	if ((NODE == 1)); then
		kt listen mute "$server" "$port"
		kt_start mute hold mute
	fi
	barrier mute
	if ((NODE == 2)); then
		check "a connection without a grant ends" within 60 has_timed_out
		refused "Input/output error" "a write without a grant fails" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		blk_fails "timed out" "client,addr=$server,port=$port,bio_dev=ram:1M,bio_timeout=3000"
	fi
	barrier mute-ends
	((NODE != 1)) || { kt release mute; kt_result mute; }
	serve bio_target=null
	if ((NODE == 2)); then
		check "the disk connects to a server that grants" within 60 is_ready
		check "a write after the grant succeeds" random 4096 0
		detach
	fi
	unserve
	((NODE != 1)) || kt listen other "$server" "$port"
	barrier other
	if ((NODE == 1)); then
		kt accept strange other 30000
		kt send strange 64 5000
	else
		blk_fails "Protocol error" "client,addr=$server,port=$port,bio_dev=ram:1M"
	fi
	barrier other-ends
	((NODE != 1)) || { kt release strange; kt release other; }
}

# Requests pass through two servers on node 1: the target of the first is a disk of the second.
chain() {
	if ((NODE == 1)); then
		check "the second server starts" blk "server,addr=$server,port=7701,bio_target=null"
		check "the disk of the second server starts" \
			blk "client,addr=$server,port=7701,bio_dev=ram:1M,bio_name=krpblkchain,bio_badcrc=3"
		within 5 test -b /dev/krpblkchain
	fi
	serve bio_target=bdev:/dev/krpblkchain
	if ((NODE == 2)); then
		attach bio_dev=ram:1M,bio_depth=1
		check "a write with FUA succeeds" dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct,dsync
	fi
	barrier fua
	if ((NODE == 1)); then
		(($(field fua "server .*:7701") == 1))
		ok $? "FUA reaches the medium before the acknowledgment: $(line "server .*:7701")"
	fi
	barrier fua-seen
	if ((NODE == 2)); then
		check "the next write succeeds" random 4096 0
		refused "Input/output error" "a write that the target refuses fails" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		parallel
		detach
	fi
	unserve
	if ((NODE == 1)); then
		check "the disk of the second server is removed" within 10 stop "client krpblkchain"
		check "the second server stops" stop "server .*:7701"
	fi
	barrier chained
}

# More writers than slots: each waits for a free slot.
parallel() {
	local pids=() pid bad=0
	for pid in {0..7}; do
		random 128K $((pid * 131072)) &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=$((bad + 1))
	done
	((bad == 0))
	ok $? "parallel writers share one slot: $bad failed, $(line "client krpblkt")"
}

low_waits() {
	(($(field pending "client krpblklow") > 0))
}

# The lower device of a disk is another disk, whose server does not answer for a while.
slow_lower() {
	serve bio_target=null
	if ((NODE == 2)); then
		check "the lower disk starts" \
			blk "client,addr=$server,port=$port,bio_dev=ram:1M,bio_name=krpblklow,bio_timeout=6000"
		within 5 test -b /dev/krpblklow
		attach bio_dev=stack:/dev/krpblklow,bio_onfail=degrade
		network loss 100%
		random 4096 0 &
		check "a request waits for the lower disk" within 10 low_waits
		check "a disk whose lower disk is slow is removed by force" within 60 stop "client krpblkt" ,force
		! wait $!
		ok $? "the write to the removed disk fails"
		network
		check "the lower disk is removed" within 60 stop "client krpblklow"
	fi
	unserve
}

# The server stops while a program writes.
lost() {
	serve bio_target=mem
	if ((NODE == 2)); then
		attach bio_dev=ram:8M,bio_timeout=5000
		(while random 1M 0; do :; done) &
		writer=$!
		barrier writing
		check "a write fails when the server stops" within 20 is_over "$writer"
		is_over "$writer" || where "$writer"
		barrier stopped
		refused "Input/output error" "a write without a server fails" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		check "a read without a server succeeds" dd if=/dev/krpblkt of=/dev/null bs=1M count=8 iflag=direct
	else
		barrier writing
		sleep 0.5
		check "the server stops during writes" stop "server .*:$port"
		barrier stopped
	fi
	barrier outage-ends
	serve bio_target=mem
	if ((NODE == 2)); then
		check "the disk connects again" within 20 is_ready
		check "a write after the connection is back succeeds" random 1M 0
		# A disk that is open is removed only by force.
		exec {held}</dev/krpblkt
		blk_fails "Device or resource busy" "stop=$(line "client krpblkt" | cut -d ' ' -f 1)"
		check "a disk that is open is removed by force" stop "client krpblkt" ,force
		[[ $(dd bs=4096 count=1 iflag=direct <&"$held" 2>/dev/null | wc -c) == 0 ]]
		ok $? "a read of a disk that was removed returns no data"
		exec {held}<&-
	fi
	unserve
}

# raw_peer: start a target on node 1 that accepts each connection. Sets "image" to its memory, and on node 2 "key" to its
# key. raw_peer_dies: kill it.
raw_peer() {
	if ((NODE == 1)); then
		: >"$work/key"
		/add/rawpeer "$server" 7703 1048576 >"$work/key" &
		raw_pid=$!
		check "a raw peer starts" within 10 test -s "$work/key"
		cp "$work/key" /exchange/blk-key
		image=/proc/$raw_pid/fd/3
	fi
	barrier raw-peer
	key=$(</exchange/blk-key)
}

raw_peer_dies() {
	kill -KILL "$raw_pid"
	wait "$raw_pid" 2>/dev/null
}

# The kernel of a process that dies sends one message for each connection. The network drops it.
raw_peer_dies_silently() {
	network loss 100%
	raw_peer_dies
	sleep 0.5
	network
}

# probed N: the peer has acknowledged N probes of an idle disk.
probed() {
	(($(field probes "client krpblkt") >= $1))
}

# attach_raw OPTIONS: create /dev/krpblkt on node 2, with the raw peer.
attach_raw() {
	check "client,bio_raw,$1 starts" \
		blk "client,bio,bio_raw,addr=$server,port=7703,bio_dev=ram:1M,bio_cap=1M,bio_name=krpblkt,$1"
	within 5 test -b /dev/krpblkt
}

# The peer is no server, but memory with an address and a key.
raw() {
	raw_peer
	if ((NODE == 2)); then
		blk_fails "No space left" "client,bio_raw,bio_map=linear,addr=$server,port=7703,bio_dev=ram:2M,bio_cap=1M"
		attach_raw "bio_map=linear,bio_verify,bio_rkey=$key"
		check "random data are written" random 1M 0
		check "a sector is written" random 512 512
		check "zeroes are written" blkdiscard -f -z -o 262144 -l 400384 /dev/krpblkt
		[[ $(field verified "client krpblkt") == $((1048576 + 512 + 400384)) ]]
		ok $? "the written data are read back: $(line "client krpblkt")"
	fi
	barrier raw-written
	same "bio_map=linear"
	if ((NODE == 2)); then
		detach
		attach_raw "bio_rkey=$key"
		check "a write in the middle of the disk succeeds" random 4096 524288
		dd if=/dev/krpblkt bs=4096 skip=128 count=1 status=none >/exchange/blk-piece
		detach
	fi
	barrier raw-fixed
	((NODE != 1)) || check "bio_map=fixed: the write is at the begin of the peer's memory" \
		cmp -n 4096 /exchange/blk-piece "$image"
	barrier raw-compared
	if ((NODE == 2)); then
		attach_raw "bio_verify,bio_badcrc=2,bio_rkey=$key"
		check "a write that is read back unchanged succeeds" random 4096 0
		refused "Invalid or incomplete" "a write that is read back changed fails with EILSEQ" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		[[ $(field mismatches "client krpblkt") == 1 ]]
		ok $? "the difference is counted: $(line "client krpblkt")"
		detach
		attach_raw "bio_rkey=$((key ^ 0x10000)),bio_probe=100"
		check "an idle raw peer is probed" within 20 probed 3
		is_ready && [[ $(field error "client krpblkt") == 0 ]]
		ok $? "probes need no key: $(line "client krpblkt")"
		refused "Input/output error" "a write with another key fails" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		check "the disk connects again" within 20 is_ready
		detach
		attach_raw "bio_rkey=$key,bio_timeout=5000,bio_probe=500"
	fi
	barrier raw-dies
	((NODE != 1)) || raw_peer_dies_silently
	barrier raw-died
	if ((NODE == 2)); then
		check "the loss of an idle raw peer is noticed" within 60 is_down
		refused "Input/output error" "a write without a raw peer fails" \
			dd if=/dev/urandom of=/dev/krpblkt bs=4096 count=1 oflag=direct
		check "a read without a raw peer succeeds" dd if=/dev/krpblkt of=/dev/null bs=1M count=1 iflag=direct
	fi
	# The disk connects to the next peer at once, so this peer must not start before.
	barrier raw-noticed
	raw_peer
	if ((NODE == 2)); then
		check "the disk connects to the next raw peer" within 60 is_ready
		detach
	fi
	barrier raw-ends
	((NODE != 1)) || raw_peer_dies
	barrier raw-ended
	((NODE != 2)) || blk_fails "Connection refused" "client,bio_raw,addr=$server,port=7703,bio_dev=ram:1M"
}

# The commands of the page show the writes of one program.
one_program() {
	local image
	if ((NODE == 1)); then
		eval "$(page_commands krping.rst "Writes of one program" 1)"
		ok $? "the server of the page starts"
	fi
	barrier page-server
	if ((NODE == 2)); then
		cd "$work" || return
		{ head -c 5000 /dev/urandom; head -c 3000 /dev/zero; echo end; } >a.txt
		eval "$(page_commands krping.rst "Writes of one program" 2)" >said
		ok $? "the commands of the page succeed"
		[[ $(grep -c "wrote 4096 bytes" said) == 1 && $(grep -c "wrote 3908 bytes" said) == 1 ]]
		ok $? "write_data prints its writes: $(head -n 2 said | tr '\n' ' ')"
		was=$(field bytes "client blockdev")
		dd if=/dev/urandom of=/dev/blockdev bs=4096 count=1 seek=100 oflag=direct 2>/dev/null
		[[ $was == 8192 && $(field bytes "client blockdev") == 8192 ]]
		ok $? "only writes of write_data go to the server: $(line "client blockdev")"
		cp a.txt /exchange/blk-file
		cd /
	fi
	barrier page-written
	if ((NODE == 1)); then
		image=$(echo /sys/kernel/debug/krping_blk/"$(line "server .*:9998" | cut -d ' ' -f 1)"/*)
		check "the server has the file with all its NULs" cmp -n 8004 /exchange/blk-file "$image"
	fi
	barrier page-compared
	((NODE != 2)) || check "the disk of the page is removed" stop "client blockdev"
	barrier page-removed
	((NODE != 1)) || check "the server of the page stops" stop "server .*:9998"
}

commands() {
	local no_group="No such file"
	if ((NODE == 2)); then
		blk_fails "Invalid argument" ""
		blk_fails "Invalid argument" "client"
		blk_fails "Invalid argument" "client,addr=$server,port=$port"
		blk_fails "Invalid argument" "client,addr=$server,port=$port,bio_dev=ram:1000"
		blk_fails "Invalid argument" "client,addr=$server,port=$port,bio_dev=ram:1M,bio_name=sda"
		blk_fails "Invalid argument" "client,addr=$server,port=$port,bio_dev=ram:1M,bio_depth=1024,bio_slot=1M"
		blk_fails "Invalid argument" "client,addr=$server,port=$port,bio_dev=ram:1M,nonsense"
		blk_fails "Invalid argument" "client,server,port=$port"
		blk_fails "No such file" "client,addr=$server,port=$port,bio_dev=stack:/dev/nonsense"
		blk_fails "No such file" "stop=4000000000"
		blk_fails "Connection refused" "client,addr=$server,port=7702,bio_dev=ram:1M"
		grep -qw cgroup2 /proc/filesystems || no_group="Operation not supported"
		blk_fails "$no_group" "client,addr=$server,port=7702,bio_dev=ram:1M,bio_cgroup=999999999999"
		check "stop=all without disks and servers succeeds" blk "stop=all"
	fi
	barrier typed
	serve bio_target=mem,bio_cap=1M
	if ((NODE == 2)); then
		blk_fails "No space left" "client,addr=$server,port=$port,bio_dev=ram:2M"
		attach bio_dev=ram:512K
		blk_fails "File exists" "client,addr=$server,port=$port,bio_dev=ram:512K,bio_name=krpblkt"
		detach
	fi
	unserve
}

section commands
section mem
section bdev
section ext4
# An ntr device does not delay packets.
[[ $LINK == ntr ]] || section delays
section modes
section blocks
section degrades
section filters
section faults
section no_server
section chain
section slow_lower
section lost
section one_program
# libibverbs does not know ntrdma, and bio_verify does not work on iWARP.
[[ $LINK == ntr || $LINK == siw ]] || section raw
finish
