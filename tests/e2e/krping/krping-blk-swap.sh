#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-blk-swap: a swap area on a disk of krping_blk. A program whose control group is smaller than its memory reads what
# it has written: while the server works, without the server, and after the server is back. Nothing deadlocks, and the
# image of the server equals the disk afterwards.
#
#   node 1 (server) <--- pages of the program --- node 2 (client)
#
# kernels:
# long: stock-6.1 stock-new
# load: krdma krping_blk
# add: blk-lib.sh
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krping/blk-lib.sh
. blk-lib.sh

mount_debugfs
# Memory of the program and of its control group, in MiB.
memory=64
allowed=32

# Write a program that fills its memory, compares it, and begins again until the file "stop" exists. It counts the rounds in
# the file "round".
program() {
	cat >"$work/fill.py" <<'EOF'
import mmap, os, struct, sys

work, mib = sys.argv[1], int(sys.argv[2])
memory = mmap.mmap(-1, mib << 20)
pages = range(0, mib << 20, 4096)
number, bad = 0, 0
while number == 0 or not os.path.exists(f"{work}/stop"):
    number += 1
    for at in pages:
        struct.pack_into("QQ", memory, at, at, number)
    bad += sum(struct.unpack_from("QQ", memory, at) != (at, number) for at in pages)
    with open(f"{work}/round", "w") as file:
        file.write(f"{number}\n")
sys.exit(bad > 0)
EOF
}

# start LIMIT: start the program in a new control group whose file LIMIT has the limit. Sets "pid". At the limit
# "memory.max", the kernel kills the program if it cannot write pages; at "memory.high", it only delays the program.
start() {
	rm -f "$work/stop"
	echo 0 >"$work/round"
	if [[ ! -d /tmp/cgroup/blk ]]; then
		control_group blk memory.max "the disk is a swap area" || return
	fi
	group=/tmp/cgroup/blk
	echo max >"$group/memory.high"
	echo max >"$group/memory.max"
	echo "${allowed}M" >"$group/$1"
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		exec python3 "$work/fill.py" "$work" "$memory"
	) &
	pid=$!
}

# ends NAME: let the program end, and check its result.
ends() {
	touch "$work/stop"
	check "$1: the program ends" within 100 is_over "$pid"
	wait "$pid"
	ok $? "$1: the program reads what it has written, in $(<"$work/round") rounds"
}

swaps() {
	(($(<"$group/memory.swap.current") > 8 << 20))
}

# sent MIB: succeed if more than MIB MiB were sent to the server.
sent() {
	(($(field bytes "client krpblkt") > $1 << 20))
}

# swap_on OPTIONS, swap_off NAME: create the disk with a swap area, and remove it.
swap_on() {
	attach "bio_dev=ram:96M,$1"
	mkswap /dev/krpblkt >/dev/null
	check "the swap area is turned on" swapon /dev/krpblkt
}

swap_off() {
	check "$1: the swap area is turned off" timeout 100 swapoff /dev/krpblkt
	sync /dev/krpblkt
}

# A program that is not in the control group gets memory while the other one waits.
others_work() {
	check "$1: other programs get memory" timeout 60 python3 -c 'b"x" * (64 << 20)'
}

healthy() {
	serve bio_target=mem,bio_cap=96M
	if ((NODE == 2)); then
		swap_on bio_mode=sync
		start memory.max
		check "pages of the program are on the swap area" within 60 swaps
		check "pages of the program are sent to the server" within 60 sent 32
		ends "with a server"
		swap_off "with a server"
		[[ $(field failed "client krpblkt") == 0 && $(field refused "client krpblkt") == 0 ]]
		ok $? "no request fails: $(line "client krpblkt")"
	fi
	barrier written
	((NODE != 1)) || image_of
	same "swap area"
	((NODE != 2)) || detach
	unserve
}

# outage OPTIONS LIMIT: start the program, and stop the server when pages are on the swap area.
outage() {
	((NODE != 1)) || loop target 96M
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		swap_on "$1"
		start "$2"
		check "pages of the program are on the swap area" within 60 swaps
	fi
	barrier swaps
	unserve
	if ((NODE == 2)); then
		check "$1: the connection is lost" within 60 is_down
		sleep 3
		others_work "$1"
		echo "# $(line "client krpblkt")"
	fi
	barrier outage
}

has_failed() {
	(($(field failed "client krpblkt") > 0))
}

# Pages that cannot be written stay in memory.
fails() {
	outage bio_onfail=fail memory.high
	if ((NODE == 2)); then
		check "bio_onfail=fail: pages cannot be written" within 60 has_failed
		echo max >"$group/memory.high"
		ends bio_onfail=fail
		swap_off bio_onfail=fail
		detach
	fi
	barrier fails-end
	((NODE != 1)) || losetup -d "$device"
}

# The program waits for the server, or continues without it. Afterwards the server gets the pages.
waits() {
	outage "bio_onfail=$1" memory.max
	serve "bio_target=bdev:${device-}"
	if ((NODE == 2)); then
		check "$1: the disk connects again" within 60 is_ready
		check "$1: the program continues" within 100 goes_on "$(<"$work/round")"
		ends "$1"
		swap_off "$1"
		check "$1: the resync ends" within 60 is_clean
		sync /dev/krpblkt
		[[ $(field failed "client krpblkt") == 0 ]]
		ok $? "$1: no request fails: $(line "client krpblkt")"
	fi
	barrier written
	image=${device-}
	same "$1"
	((NODE != 2)) || detach
	unserve
	((NODE != 1)) || losetup -d "$device"
}

program
section healthy
section fails
section block waits block,bio_block=300000
section degrade waits degrade
finish
