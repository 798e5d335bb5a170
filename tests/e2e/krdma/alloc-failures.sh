#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# alloc-failures: each allocation of a call fails once: the call's first allocation in the first attempt, its second
# allocation in the second attempt, and so on. The call returns an error or succeeds without the memory, the peer is
# notified in time, no resource is left, and the next attempt works.
#
#   node 1 (echoes on 7000, 7005 and, with a key, 7006; exports buffers on 7001, gets notifying writes on 7004)
#     <--- krdma, krping ---> node 2
#
# For allocations of the calling task, the scenario uses failnth of krdma_test, and /proc/self/fail-nth for krping.
# Allocations of callbacks and workers fail at random if krdma is in their stack. This needs
# FAULT_INJECTION_STACKTRACE_FILTER in the kernel.
#
# The scenario does not run on debug-6.1, because rxe of Linux 6.1 fails if it cannot create a QP: rxe_qp_do_cleanup()
# stops timers that rxe_qp_from_init() has not set up yet, and puts CQ references twice.
#
# kernels: uml-debug uml-debug/ntr
# load: krdma krdma_test krping
# timeout: 1200

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
self=$(addr4 2)
debug=/sys/kernel/debug
# Errnos of calls that create a connection or listener. ENFILE means that the kernel could not allocate the inode of a
# socket; rxe has a socket for each QP.
refused="0 ENOMEM ENFILE"
# Limit for the number of attempts, one for each allocation of a call. A test that reaches this limit fails.
most=400

# Let allocations fail. The kernel logs a stack for each.
arm() {
	local kind
	inject_failures
	for kind in failslab fail_page_alloc; do
		echo 2 >"$debug/$kind/verbose"
		echo 0 >"$debug/$kind/verbose_ratelimit_interval_ms"
	done
	# Copy the kernel log to a file, because its buffer is too small for all stacks.
	cat /dev/kmsg >"$results/kmsg" 2>/dev/null &
}

# Print the callers of failed allocations. The caller is the first function in the stack that is not part of an allocator.
sites() {
	sed 's/^[^;]*;//' "$results/kmsg" | awk '
		/FAULT_INJECTION: forcing a failure/ { looking = 1; next }
		looking && /\+0x[0-9a-f]+\/0x[0-9a-f]+/ {
			site = $0
			gsub(/\\x[0-9a-f][0-9a-f]/, "", site)
			sub(/^[ \t]*(\[<[0-9a-f]+>\] )?/, "", site)
			if (site ~ /^\?/) next
			sub(/\/0x.*/, "", site)
			if (site ~ /^(dump_stack|show_stack|__dump|should_fail|__should_fail|fail_dump|alloc|__alloc|___alloc|slab_|kmem_cache|__kmem|__kmalloc|kmalloc|kzalloc|kvmalloc|kcalloc|__kvmalloc|krealloc|__slab|new_slab|___slab|__vmalloc|vmalloc|vzalloc|__get_free|get_zeroed|kmemdup|kstrdup|kasprintf|kvasprintf|memdup|get_page_from|um_|_raw)/) next
			print site
			looking = 0
		}' | sort | uniq -c | sort -rn
}

# each NAME ERRNOS COMMAND...: let the Nth allocation of COMMAND fail, for N = 1, 2, ... until COMMAND has fewer than N
# allocations. COMMAND must return one of ERRNOS in time. ERRNOS has 0 if COMMAND may succeed without the memory.
each() {
	local name=$1 allowed=$2 n wrong=0 late=0 failed=0
	shift 2
	for ((n = 1; n < most; n++)); do
		attempt_begin "$name"
		kt failnth $n "$@"
		attempt_end "$name"
		[[ $kt_text == *injected=1* ]] || break
		((kt_ret >= 0)) || failed=$((failed + 1))
		((kt_ms < 15000)) || { late=$((late + 1)); echo "# late: $n: $kt_ms ms"; }
		allowed_errno "$allowed" || { wrong=$((wrong + 1)); echo "# $name: allocation $n: $kt_ret"; }
	done
	echo "# $name: $((n - 1)) allocations, $failed of them needed"
	((n > 1 && n < most))
	ok $? "$name: each allocation failed once"
	kt_is 0 "$name: succeeds when no allocation fails"
	((wrong == 0))
	ok $? "$name: each failure has an allowed errno"
	((late == 0))
	ok $? "$name: each failure is in time"
}

allowed_errno() {
	local name
	for name in $1; do
		[[ $kt_ret == "${errno[$name]}" ]] && return 0
	done
	return 1
}

# attempt_begin NAME: create the objects that the call of test NAME needs. attempt_end NAME: release the objects of that
# call.
attempt_begin() {
	case $1 in
	accept)
		kt release own
		kt listen own "$self" 7100 recv_depth=4
		kt slot a
		kt_start dial connect d "$self" 7100 connect_ms=10000
		# Wait for the connect request now, because allocations begin to fail after this function.
		kt request a own 15000
		;;
	esac
}

attempt_end() {
	local ret=$kt_ret ms=$kt_ms text=$kt_text
	case $1 in
	connect*) kt release c; kt slot c ;;
	listen*) kt release own; kt slot own ;;
	server) kt server end ;;
	again) kt kept stop kept ;;
	accept) dialler_told "$ret" ;;
	esac
	kt_ret=$ret kt_ms=$ms kt_text=$text
}

# dialler_told RESULT: count one client of a server that lacks memory: in "told" if the server has rejected the client
# at once, or in "hanging" if the client waits until its timeout. RESULT is the result of the server's accept.
dialler_told() {
	if ! kt_result dial 20; then
		hanging=$((hanging + 1))
	elif [[ $1 != 0 && $kt_ret == "${errno[EREMOTEIO]}" ]]; then
		told=$((told + 1))
	elif ((kt_ms > 9000)); then
		hanging=$((hanging + 1))
		echo "# client of a failed accept: $kt_ret after $kt_ms ms"
	fi
	kt release a
	kt release d
}

calls() {
	kt slot c
	each connect "$refused" connect c "$server" 7000 recv_depth=4
	# krdma_test makes the object of the key at the first use.
	expect 0 connect c "$server" 7006 security=1 keys=A
	kt release c
	kt slot c
	each connect-auth "$refused" connect c "$server" 7006 recv_depth=4 security=1 keys=A
	each connect-sealed "$refused" connect c "$server" 7008 recv_depth=4 security=3 keys=A
	each connect-raw "$refused" connect c "$server" 7002 raw=1
	each connect-rw "$refused" connect c "$server" 7001 rw=1 recv_depth=4
	each connect-shared "$refused" connect c "$server" 7000 recv_depth=4 shared_cq=1
	kt slot own
	each listen "$refused" listen own "$self" 7100
	each listen-auth "$refused" listen own "$self" 7100 security=1 keys=A
	kt unkey
	each async "$refused ECONNRESET EREMOTEIO" clients "$server" 7003 2 recv_depth=4
	# End the server of node 1 first, because both nodes share a kernel, where krdma_test can have only one server.
	expect 0 server end
	each server "$refused" server 0.0.0.0 7101
	each again "$refused" reconnect kept "$server" 7000 recv_depth=4 min=10000
	hanging=0 told=0
	each accept "$refused" answer a
	((hanging == 0))
	ok $? "no client of a server without memory hangs: $hanging"
	((told > 0))
	ok $? "clients are rejected by a server without memory: $told"
	kt release own
	transfers
}

# connect_for COMMAND: connect to the port that serves COMMAND, with a pool of MRs if COMMAND needs a pool.
connect_for() {
	case $1 in
	longsend*) kt connect c "$server" 7005 mr_pool=4 ;;
	*send*) kt connect c "$server" 7000 ;;
	*write_imm* | ask*) kt connect c "$server" 7004 mr_pool=4 ;;
	*) kt connect c "$server" 7001 rw=1 && kt write c 100000 0 ;;
	esac
}

# Let allocations of transfers fail. Each attempt has a connection of its own, because a send that fails halfway ends the
# connection.
transfers() {
	local n what wrong
	for what in "send c 50000" "send c 100000" "longsend c 200000" "read c 100000 0" "write c 100000 0" \
		"async c write virt 4 1000 chain=4" "async c write region 4 1000" "async c write_imm virt 4 1000 chain=4" \
		"async c write_imm region 4 1000" "async c write_imm pages 2 40000" "async c send pages 2 20000" \
		"ask c invite 2" "ask c back 2"; do
		wrong=0
		for ((n = 1; n < most; n++)); do
			connect_for "$what"
			((kt_ret == 0)) || { wrong=$((wrong + 1)); echo "# no connection for ${what%% *} $n: $kt_ret"; }
			# shellcheck disable=SC2086 # words of a command
			kt failnth $n $what
			local ret=$kt_ret text=$kt_text
			if ((ret)) && [[ $what == *send* ]]; then
				kt send c 64 5000
				((kt_ret != errno[ETIMEDOUT])) || { wrong=$((wrong + 1)); echo "# ${what%% *} $n: the next send hangs"; }
			fi
			kt release c
			[[ $text == *injected=1* ]] || break
			kt_ret=$ret
			allowed_errno "0 ENOMEM EIO ECONNABORTED" || { wrong=$((wrong + 1)); echo "# ${what%% *} $n: $ret"; }
		done
		((n > 1 && n < most && wrong == 0))
		ok $? "$what: $((n - 1)) allocations failed in turn, $wrong times with a wrong errno"
		((ret == 0))
		ok $? "$what: succeeds when no allocation fails: $ret"
	done
}

# Let allocations of krping fail by /proc/self/fail-nth, because krping has no command failnth. This file also counts
# the few allocations of the shell.
krping_faults() {
	local n left end=0
	for ((n = 1; n < most && !end; n++)); do
		(
			echo $n >/proc/self/fail-nth
			{ echo "client,addr=$server,port=7200,count=1,size=4096,validate" >/proc/krping; } 2>/dev/null
			read -r left </proc/self/fail-nth || left=0
			echo 0 >/proc/self/fail-nth
			((left > 0))
		) 2>/dev/null && end=1
	done
	echo "# krping: $n attempts"
	((end))
	ok $? "krping: each allocation failed once"
	check "krping: succeeds when no allocation fails" krping_again
}

# Repeat a run of krping until it succeeds, for at most 40 s: the server may be between two runs, or wait 30 s for a
# client that ended without a disconnect.
krping_again() {
	local i
	for i in {1..400}; do
		echo "client,addr=$server,port=7200,count=1,size=4096,validate" 2>/dev/null >/proc/krping && return
		sleep 0.1
	done
	return 1
}

krping_server() {
	while [[ ! -e /exchange/faults-over ]]; do
		echo "server,addr=$server,port=7200,size=4096" 2>/dev/null >/proc/krping
	done
}

random_what=("short messages" "messages by READ" "notifying writes and invalidated keys")

# random_attempt WHICH [LIMIT_MS]: run transfers that use callbacks and workers of krdma on both sides. WHICH is an
# index of random_what. Sets kt_ret and kt_ms.
random_attempt() {
	local limit=${2:-4000} ms=0 step
	local limits="connect_ms=$limit op_ms=$limit"
	local -a steps=()
	# shellcheck disable=SC2086 # words of a command
	case $1 in
	0)
		kt rounds r "$server" 7000 2 $limits recv_depth=4
		return
		;;
	1)
		kt connect r "$server" 7005 mr_pool=4 $limits
		steps=("longsend r 200000 $limit" "longreceive r 200000 $limit" "longsend r 100000 $limit"
			"longreceive r 200000 $limit")
		;;
	2)
		kt connect r "$server" 7004 mr_pool=4 $limits
		steps=("ask r invite 3" "async r write_imm virt 30 1000 chain=5" "async r write_imm region 5 40000" "ask r back 3")
		;;
	esac
	ms=$kt_ms
	for step in "${steps[@]}"; do
		((kt_ret == 0)) || break
		# shellcheck disable=SC2086 # words of a command
		kt $step
		ms=$((ms + kt_ms))
		# Commands that receive return a length, which means success here.
		((kt_ret < 0)) || kt_ret=0
	done
	local ret=$kt_ret
	kt release r
	kt_ret=$ret kt_ms=$ms
}

# attempts_over: the server has no connection of random_attempt().
attempts_over() {
	! awk '$2 == "server" && $3 ~ /:700[045]$/ { found = 1 } END { exit !found }' "$debug/krdma/connections"
}

# Let random allocations of callbacks and workers fail if krdma's code is in their stack.
random_faults() {
	local start size i failed=0
	if [[ ! -e $debug/failslab/require-start ]]; then
		echo "# no failures in callbacks: this kernel cannot choose them by stack"
		return
	fi
	read -r _ size _ _ _ start _ < <(grep '^krdma ' /proc/modules)
	printf '%s' "$start" >"$debug/failslab/require-start"
	printf '%#x' $((start + size)) >"$debug/failslab/require-end"
	echo 64 >"$debug/failslab/stacktrace-depth"
	for ((i = 0; i < 60; i++)); do
		# An attempt has some 200 allocations. If 1 % of them fail, some attempts reach late steps. If 2 % of
		# them fail, more attempts fail. Use both probabilities in turn.
		echo $((i % 2 + 1)) >"$debug/failslab/probability"
		random_attempt $((i % 3))
		((kt_ret == 0)) || failed=$((failed + 1))
		((kt_ms < 30000)) || ok 1 "round $i of random failures ends in time: $kt_ms ms"
	done
	echo 0 >"$debug/failslab/probability"
	echo 0 >"$debug/failslab/require-start"
	echo "# $failed of 60 attempts failed"
	((failed > 0))
	ok $? "random failures hit some attempts: $failed of 60"
	# If the client could not allocate its last message, the server has a connection without a client, and needs its
	# keepalive to notice. Until then, such connections can occupy all threads that serve.
	check "connections of failed attempts end" within 60 attempts_over
	# Without failures, each attempt must succeed. It has a long timeout, because a busy machine is slow.
	for i in 0 1 2; do
		random_attempt $i 30000
		kt_is 0 "${random_what[i]}: succeed after random failures"
		((kt_ret == 0)) || sed 's/^/# /' /sys/kernel/debug/krdma/connections /sys/kernel/debug/krdma/counters
	done
}

if ((NODE == 1)); then
	rm -f /exchange/faults-over
	expect 0 listen l 0.0.0.0 7000 recv_depth=4
	expect 0 listen rw 0.0.0.0 7001 rw=1 recv_depth=4
	expect 0 listen raw 0.0.0.0 7002 raw=1
	expect 0 server 0.0.0.0 7003 recv_depth=4
	expect 0 tell 0.0.0.0 7004 recv_depth=16 mr_pool=4
	# This listener has a pool of MRs, so krdma invalidates and reuses the MRs of long messages.
	expect 0 listen pulls 0.0.0.0 7005 mr_pool=4
	expect 0 listen auth 0.0.0.0 7006 recv_depth=4 security=1 keys=A
	expect 0 listen sealed 0.0.0.0 7008 recv_depth=4 security=3 keys=A
	for i in 1 2; do kt kthread "serve$i" serve l; done
	kt kthread serve3 serve pulls
	kt kthread serve4 serve auth
	kt kthread serve5 serve sealed
	kt kthread hold hold rw
	krping_server &
	krping_pid=$!
	barrier listening
	while [[ ! -e /exchange/faults-over ]]; do
		# Accept the raw connections of node 2, see calls().
		kt request asked raw 500 && kt answer asked raw=1
		kt release asked
	done
	for job in serve1 serve2 serve3 serve4 serve5 hold; do
		kt stop $job
		kt_is EINTR "$job: $kt_text"
	done
	kill -KILL $krping_pid
	wait $krping_pid 2>/dev/null
	expect 0 tell end
	for slot in l rw raw pulls auth sealed; do expect 0 release $slot; done
else
	barrier listening
	arm
	calls
	krping_faults
	random_faults
	echo "# sites that failed:"
	sites | sed 's/^/# /'
	distinct=$(sites | wc -l)
	((distinct >= 20))
	ok $? "allocations failed at 20 distinct sites or more: $distinct"
	touch /exchange/faults-over
fi
barrier over
same_resources "$before" "resources are as before"
finish
