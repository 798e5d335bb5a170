#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfm-alloc-failures: each allocation of a call fails in turn. The call returns an error, or succeeds without the memory. No
# write is lost, and no resource is left. Then allocations of callbacks and workers fail at random while both nodes write and
# node 2 recreates its device. Afterwards both memories are equal.
#
#   node 1 <---> node 2 (its calls fail; in a shared kernel, random failures hit both nodes)
#
# kernels: uml-debug
# alone: debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/ring
# guarantees: G10
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
dir=$rfm_config/${RFM#/dev/}
debug=/sys/kernel/debug
most=2000
mount_debugfs

# each NAME UNDO COMMAND...: repeat COMMAND, a shell function, and let its first allocation fail, then its second one,
# and so on. UNDO reverts COMMAND if it succeeds although an allocation has failed.
each() {
	local name=$1 undo=$2 n left=0 ret good=0 failed=0
	shift 2
	for ((n = 1; n < most; n++)); do
		echo $n >/proc/self/fail-nth
		"$@" 2>/dev/null
		ret=$?
		read -r left 2>/dev/null </proc/self/fail-nth || left=0
		echo 0 >/proc/self/fail-nth 2>/dev/null
		((ret == 0)) || failed=$((failed + 1))
		((left == 0)) || break
		((ret != 0)) || $undo
	done
	echo "# $name: $((n - 1)) allocations, $failed of them needed"
	((n > 1 && n < most && ret == 0)) || good=1
	ok $good "$name: each allocation failed once, and the call succeeds when none fails: $ret"
}

enable() { echo 1 >"$dir/enable"; }
disable() { echo 0 >"$dir/enable"; }
name_peer() { addr4 1 >"$dir/peers/1/addr"; }
forget_peer() { rmdir "$dir/peers/1" && mkdir "$dir/peers/1"; }

calls() {
	check "calls: the device is disabled" disable
	each enable disable enable
	check "calls: node 2 is linked after enable" within 30 rfm_joined
	forget_peer
	each peer forget_peer name_peer
	check "calls: node 2 is linked after adding its peer" within 30 rfm_joined
	check "calls: open and map" rfm failing reopen
	check "calls: write a word" rfm failing poke 4096 77
	check "calls: write a block" rfm failing fill 8192 200000 7
	if ((NAMESPACES)); then
		skip "calls: store into a mapping" "user-mode Linux walks mappings without their lock"
	else
		check "calls: store into a mapping" rfm failing store 524288 78
	fi
	check "calls: send an event" rfm failing event 65535 3 9
	check "calls: fsync" rfm failing sync
	check "calls: the ring" rfm failing ring
	check "calls: create, map and subscribe a ring" /add/ring "$RFM" failing
}

# at_random KIND: restrict failures of KIND to allocations with functions of vrfm in their call stack.
at_random() {
	local start size
	read -r _ size _ _ _ start _ < <(grep '^vrfm ' /proc/modules)
	printf '%s' "$start" >"$debug/$1/require-start"
	printf '%#x' $((start + size)) >"$debug/$1/require-end"
	echo 64 >"$debug/$1/stacktrace-depth"
}

# probability PERCENT: let allocations fail with this probability.
probability() {
	echo "$1" >$debug/failslab/probability
	echo "$1" >$debug/fail_page_alloc/probability
}

# Both nodes write while allocations of vrfm fail at random. Node 2 removes and adds its peer during that time, and
# disables and enables its device afterwards.
fails_at_random() {
	local i
	if [[ ! -e $debug/failslab/require-start ]]; then
		skip "allocations fail at random" "this kernel cannot choose them by stack"
		return
	fi
	barrier random
	if ((NODE == 2)); then
		at_random failslab
		at_random fail_page_alloc
	fi
	for i in 1 2 3 4; do
		on 2 probability $((5 * i))
		barrier "armed$i"
		/add/rfm "$RFM" scrawl $((262144 * NODE)) 262144 $((3 * slow)) $((NODE + i)) >/dev/null 2>&1 &
		sleep $slow
		if ((NODE == 2)); then
			# Remove the peer and add it again. Adding may fail for lack of memory, so repeat it.
			rmdir "$dir/peers/1"
			until mkdir "$dir/peers/1" 2>/dev/null; do sleep 0.1; done
			until name_peer 2>/dev/null; do sleep 0.1; done
		fi
		wait
		barrier "wrote$i"
		if ((NODE == 2)); then
			probability 0
			disable
			enable
		fi
		barrier "random$i"
	done
	if ((NODE == 2)); then
		echo 0 >$debug/failslab/require-start
		echo 0 >$debug/fail_page_alloc/require-start
	fi
	barrier disarmed
	check "node $NODE is linked and complete after random failures" within 60 rfm_joined
	rfm_settle
	barrier synced
	rfm sum >"/exchange/random-$NODE"
	barrier summed
	[[ $(cat /exchange/random-* | sort -u | wc -l) == 1 ]]
	ok $? "both nodes are equal after random failures"
}

check "node $NODE creates a device" rfm_make 1M keepalive_ms=2000
check "node $NODE is linked" within 30 rfm_joined
barrier linked
if ((NODE == 2)); then
	inject_failures
	calls
fi
barrier called
rfm_settle
rfm sum >"/exchange/called-$NODE"
barrier called-summed
[[ $(cat /exchange/called-* | sort -u | wc -l) == 1 ]]
ok $? "both nodes are equal after calls that failed"
fails_at_random
barrier over
check "node $NODE removes its device" rfm_unmake
same_resources "$before" "no RDMA resource is left"
finish
