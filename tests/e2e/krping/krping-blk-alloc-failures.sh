#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-blk-alloc-failures: each allocation of a command, and of a program's request, fails in turn. The call returns an
# error or succeeds without the memory, and leaves nothing behind. Then allocations of tasks and workers fail at random
# while a program writes. Afterwards the disk connects again, and its image equals it when all has been written again.
#
#   node 1 (server) <--- writes --- node 2 (client; in the shared kernel, random failures hit both)
#
# kernels:
# long: uml-debug
# load: krdma krping_blk
# add: blk-lib.sh
# timeout: 900

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krping/blk-lib.sh
. blk-lib.sh

mount_debugfs
self=$(addr4 2)
debug=/sys/kernel/debug
# Limit for the number of attempts, one for each allocation of a call. A test that reaches this limit fails.
most=2000

# These functions start no program, because its allocations would fail instead.
create() { echo "client,addr=$server,port=$port,bio_dev=ram:1M,bio_name=krpblkt,$1" >/proc/krping_blk; }
remove() { stop "client krpblkt"; }
create_server() { echo "server,addr=$self,port=7701,bio_target=mem" >/proc/krping_blk; }
remove_server() { stop "server .*:7701"; }

# in_turn NAME UNDO COMMAND...: let each allocation of COMMAND, a shell function, fail in turn. UNDO reverts COMMAND.
in_turn() {
	local name=$1 undo=$2 n left=0 status wrong=0 failed=0 invalid=0
	shift 2
	# The descriptor is open before an allocation fails.
	exec {errors}>>"$work/said"
	for ((n = 1; n < most; n++)); do
		status=0
		: >"$work/said"
		echo "$n" >/proc/self/fail-nth
		"$@" 2>&"$errors" || status=$?
		read -r left 2>/dev/null </proc/self/fail-nth || left=0
		echo 0 >/proc/self/fail-nth 2>/dev/null
		failed=$((failed + (status != 0)))
		if ((status == 0)); then
			$undo || { wrong=$((wrong + 1)); echo "# $name: allocation $n: cannot be reverted"; }
		elif [[ $(<"$work/said") == *"Invalid argument"* ]]; then
			invalid=$((invalid + 1))
		elif [[ ! $(<"$work/said") =~ Cannot\ allocate|Too\ many\ open ]]; then
			wrong=$((wrong + 1))
			echo "# $name: allocation $n: $(<"$work/said")"
		fi
		((left == 0)) || break
	done
	exec {errors}>&-
	echo "# $name: $((n - 1)) allocations, $failed of them needed"
	((n > 1 && n < most && status == 0))
	ok $? "$name: each allocation failed once, and the command succeeds when none fails"
	# add_disk() of Linux 7.3 returns EINVAL for two of its allocations.
	((wrong == 0 && invalid <= 2))
	ok $? "$name: each failure is a lack of memory, and leaves nothing behind: $wrong wrong, $invalid invalid"
}

# Write a program that does each kind of request, and lets each of its allocations fail in turn.
program() {
	cat >"$work/requests.py" <<'EOF'
import errno, fcntl, mmap, os, struct, time

PATH, MOST = "/dev/krpblkt", 1000
BLKDISCARD, BLKZEROOUT = 0x1277, 0x127f
disk = os.open(PATH, os.O_RDWR | os.O_DIRECT)
fail = os.open("/proc/self/fail-nth", os.O_RDWR)
data = mmap.mmap(-1, 262144)
data.write(os.urandom(262144))

def at(number):
    return struct.pack("QQ", 0, number)

REQUESTS = {
    "a write of 4 KiB": lambda: os.pwritev(disk, [memoryview(data)[:4096]], 0),
    "a write of 256 KiB": lambda: os.pwritev(disk, [data], 0),
    "a read of 256 KiB": lambda: os.preadv(disk, [data], 0),
    "a flush": lambda: os.fsync(disk),
    "a discard": lambda: fcntl.ioctl(disk, BLKDISCARD, at(262144)),
    "a write of zeroes": lambda: fcntl.ioctl(disk, BLKZEROOUT, at(262144)),
}

def attempt(request, number):
    """Return the errno of a request whose allocation with this number fails, and whether an allocation failed."""
    os.write(fail, b"%d" % number)
    try:
        request()
        result = 0
    except OSError as error:
        result = error.errno
    left = int(os.pread(fail, 16, 0))
    os.write(fail, b"0")
    return result, left == 0

def succeeds(request):
    """Repeat a request until it succeeds, for at most a minute: the disk may have to connect again."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            request()
            return True
        except OSError:
            time.sleep(0.1)
    return False

for name, request in REQUESTS.items():
    wrong, number, failed = [], 0, True
    while failed and number < MOST:
        number += 1
        # Free the pages of the disk, so that a write needs memory.
        succeeds(REQUESTS["a discard"])
        result, failed = attempt(request, number)
        if result not in (0, errno.ENOMEM, errno.EIO) or not succeeds(request):
            wrong.append(f"{number}: {result}")
    good = number < MOST and not wrong and not result
    print(int(not good), f"{name}: {number - 1} allocations fail in turn, and the next request succeeds", *wrong)
EOF
}

requests() {
	program
	attach "bio_dev=ram:1M,bio_onfail=$1"
	results python3 "$work/requests.py"
	detach
}

# chance PERCENT: let allocations with functions of krping_blk in their call stack fail with this probability.
chance() {
	local kind start size
	read -r _ size _ _ _ start _ < <(grep '^krping_blk ' /proc/modules)
	for kind in failslab fail_page_alloc; do
		echo 64 >"$debug/$kind/stacktrace-depth"
		printf '%s' "$start" >"$debug/$kind/require-start"
		printf '%#x' $((start + size)) >"$debug/$kind/require-end"
		echo "$1" >"$debug/$kind/probability"
		(($1 > 0)) || echo 0 >"$debug/$kind/require-start"
	done
}

# A program writes, and ignores errors, while allocations fail at random.
at_random() {
	local end percent was
	serve bio_target=mem
	if ((NODE == 2)); then
		attach "bio_dev=ram:1M,bio_slot=32K,bio_onfail=$1,bio_timeout=5000"
		for percent in 2 10 30; do
			end=$((SECONDS + 6))
			chance "$percent"
			while ((SECONDS < end)); do
				random 256K $((RANDOM % 8 * 65536))
				blkdiscard -f -o $((RANDOM % 8 * 65536)) -l 65536 /dev/krpblkt 2>/dev/null
			done
			chance 0
		done
		was=$(line "client krpblkt")
		check "$1: the disk connects again after random failures" within 60 is_ready
		check "$1: the resync ends" within 60 is_clean
		check "$1: a write of the whole disk succeeds" within 20 random 1M 0
		sync /dev/krpblkt
		echo "# $1: $was"
	fi
	barrier random
	((NODE != 1)) || image_of
	same "$1 after random failures"
	((NODE != 2)) || detach
	unserve
}

calls() {
	serve bio_target=mem
	if ((NODE == 2)); then
		in_turn "client" remove create bio_onfail=degrade
		in_turn "server" remove_server create_server
		requests fail
		requests degrade
	fi
	unserve
}

((NODE != 2)) || inject_failures
section calls
section fail at_random fail
section block at_random block
section degrade at_random degrade
finish
