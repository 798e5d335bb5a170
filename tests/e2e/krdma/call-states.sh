#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# call-states: calls on objects in any state. A wait in any call ends when another task disconnects or releases the
# connection, on SIGKILL, and on kthread_stop(). A call on an object in an invalid state returns an errno, and has no effect
# on the object. krdma cannot be unloaded while a listener, a connection, a domain or a persistent connection exists.
#
#   node 1 (listens on 7000, never accepts on 7001) <--- krdma ---> node 2 (connects)
#
# kernels: uml
# The scenario does not run on debug-6.1/siw. If a task is killed while it connects, siw of 6.1 frees the endpoint, but
# uses it when the listener ends (KASAN report in siw_destroy_listen()).
#
# long: stock-6.1 uml/siw stock-new stock-6.12 uml-debug debug-6.1 uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# add: ktest/command.c ktest/traffic.c
# timeout: 420

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
mount_debugfs
# On siw, a connection that ends before it is accepted may destroy the listener, and later panic the kernel (see
# tests/vm/README.rst). So there the connections that are cancelled go to an address without a host, and are resolving it.
silent=$server
[[ $LINK != siw ]] || silent=$(addr4 250)

# ended ERRNO WHAT: one case: the background job "wait" ends with ERRNO, in time.
ended() {
	kt_result wait 20
	kt_is "$1" "$2"
}

# start_wait CALL: start a process of the client that waits in CALL.
start_wait() {
	case $1 in
	connect) kt_start wait connect w "$silent" 7001 connect_ms=60000 ;;
	receive) kt_start wait receive w 64 ;;
	peek) kt_start wait peek w ;;
	*) kt_start wait pump w 65536 60000 ;;
	esac
}

prepare() {
	kt release w
	[[ $1 == connect ]] || { kt connect w "$server" 7002; kt_is 0 "connected for $1"; }
}

waiting() {
	if [[ $1 == connect && $LINK != siw ]]; then kt until w CONNECTING; else sleep 0.3; fi
}

# Disconnect and release a connection while another task waits on the connection in a call. The call pump sends to a
# peer that never receives, so pump waits for credits.
client_waits() {
	local what how
	for what in connect receive peek pump; do
		for how in disconnect release; do
			prepare "$what"
			start_wait "$what"
			waiting "$what"
			kt "$how" w
			ended ESHUTDOWN "$how by another task ends $what"
		done
		prepare "$what"
		start_wait "$what"
		waiting "$what"
		kt kill w "$kt_pid"
		wait "$kt_pid" 2>/dev/null
		ok 0 "SIGKILL ends $what (in state $kt_text)"
		kt release w
	done
}

client_kthreads() {
	local what
	for what in "connect w $silent 7001 connect_ms=60000" "receive w 64" "peek w" "pump w 65536 60000"; do
		prepare "${what%% *}"
		kt kthread job "$what"
		waiting "${what%% *}"
		kt stop job
		# The command pump also checks itself whether its kthread must stop. If pump finds this first, it
		# returns 0 instead of EINTR.
		if [[ $what == pump* && $kt_ret == 0 ]]; then ok 0 "kthread_stop() ends pump"; else
			kt_is EINTR "kthread_stop() ends ${what%% *}"
		fi
		kt_within 0 $((1500 + unanswered_ms)) "kthread_stop() ends ${what%% *} in time"
	done
	kt release w
}

# Several tasks wait on one listener. When the listener is disconnected or released, all waits end.
accept_waits() {
	local i how
	for how in disconnect release; do
		expect 0 listen l 0.0.0.0 7100
		for i in 1 2 3; do kt_start "a$i" accept "a$i" l; done
		kt kthread a4 accept a4 l
		sleep 0.3
		kt "$how" l
		for i in 1 2 3; do
			kt_result "a$i" 10
			kt_is ESHUTDOWN "$how of a listener ends accept in task $i"
			kt release "a$i"
		done
		kt stop a4
		kt_is ESHUTDOWN "$how of a listener ends accept in a kernel thread"
		kt release a4
		kt release l
	done
	expect 0 listen l 0.0.0.0 7100
	kt_start wait accept a l
	sleep 0.2
	kt kill l "$kt_pid" any
	wait "$kt_pid" 2>/dev/null
	ok 0 "SIGKILL ends accept"
	kt kthread job accept a l
	sleep 0.2
	kt stop job
	kt_is EINTR "kthread_stop() ends accept"
	kt accept a l 300
	kt_is ETIMEDOUT "a listener works after a task that waited on it was killed"
	expect 0 release a
	expect 0 release l
}

# Disconnect raw connections. krdma calls closing() on both sides. The argument of closing() shows which side has
# disconnected.
# The owner releases the connection in closing().
raw_client() {
	local end
	kt connect w "$server" 7003 raw=1
	kt_is 0 "a raw connection is connected"
	# On iWARP the side that connects must send first (RFC 5044 7.1.2), which siw enforces.
	expect 0 rawping w 4
	barrier raw-first
	barrier raw1
	kt disconnect w
	end=$((SECONDS + 10 * slow))
	until [[ $(kt_state w) == - ]] || ((SECONDS > end)); do sleep 0.05; done
	grep -q "^w - - .*closing=${errno[ESHUTDOWN]}" /proc/krdma_test
	ok $? "disconnect calls closing() with ESHUTDOWN, which releases the connection"
	kt release w
	kt connect w "$server" 7003 raw=1
	kt_is 0 "a second raw connection is connected"
	barrier raw2
	expect 0 release w
}

raw_server() {
	local i
	for i in 1 2; do
		kt request "raw$i" raw 60000
		expect 0 answer "raw$i" raw=1
		((i == 2)) || { barrier raw-first; expect 0 rawping "raw$i" 4; }
		barrier "raw$i"
	done
	# The peer's disconnect calls closing() of the owner, which releases the connection.
	local end=$((SECONDS + 10 * slow))
	until [[ $(kt_state raw1) == - && $(kt_state raw2) == - ]] || ((SECONDS > end)); do sleep 0.05; done
	for i in 1 2; do
		grep -q "^raw$i - - .*closing=${errno[ECONNRESET]}" /proc/krdma_test
		ok $? "the peer's disconnect calls closing() with ECONNRESET, which releases connection $i"
		kt release "raw$i"
	done
}

# A message in parts that is sent half ends the connection, so the next send does not wait for its end.
half_sent() {
	kt connect w "$server" 7004
	kt_is 0 "connected to a peer with four receives"
	kt send w 50000 500
	kt_is ETIMEDOUT "a message with more parts than the peer has receives times out"
	kt send w 64 20000
	kt_is ETIMEDOUT "a send after the half of a message fails"
	kt_within 0 3000 "a send after the half of a message fails at once"
	kt release w
}

cancelled() {
	if ((NODE == 1)); then
		expect 0 listen deaf 0.0.0.0 7001
		expect 0 listen quiet 0.0.0.0 7002
		expect 0 listen raw 0.0.0.0 7003 raw=1
		expect 0 listen few 0.0.0.0 7004 recv_depth=4
		expect 0 kthread quiet hold quiet
		expect 0 kthread few hold few
		barrier listening
		raw_server
		barrier cancelled
		kt stop quiet
		kt_is EINTR "kthread_stop() ends hold ($kt_text)"
		kt stop few
		kt_is EINTR "kthread_stop() ends hold of the listener with four receives ($kt_text)"
		expect 0 release few
		expect 0 release quiet
		expect 0 release deaf
		expect 0 release raw
	else
		accept_waits
		barrier listening
		raw_client
		client_waits
		client_kthreads
		half_sent
		barrier cancelled
	fi
}

# ---- calls on objects in an invalid state ----

# Each row has a call, and its errno on six kinds of objects. 1: a raw connection, 2: an accepted raw connection, 3: a
# listener, 4: a connection that has failed to connect, 5: a request without an answer yet, 6: a connection in message
# mode. "-": no test.
calls="
wrong_connect         EISCONN       EINVAL        EINVAL        ECONNREFUSED  EINVAL        EISCONN
wrong_connect_async   EINVAL        EINVAL        EINVAL        EINVAL        EINVAL        EINVAL
wrong_accept          EINVAL        EISCONN       EINVAL        EINVAL        -             EINVAL
wrong_accept_async    EINVAL        EINVAL        EINVAL        EINVAL        -             EINVAL
wrong_reject          EINVAL        EISCONN       EINVAL        EINVAL        -             EINVAL
wrong_params          EINVAL        EINVAL        EINVAL        EINVAL        -             EINVAL
wrong_wait            EINVAL        EINVAL        -             EINVAL        EINVAL        EINVAL
wrong_drain           -             -             EINVAL        EINVAL        EINVAL        EINVAL
wrong_size            EINVAL        EINVAL        EINVAL        EINVAL        EINVAL        EINVAL
wrong_post            EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      -
wrong_region          EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      -
send                  EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      -
receive               EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      -
plain                 EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      -
peek                  EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      -
read                  EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      EINVAL
write                 EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      EINVAL
show                  EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      EINVAL
close                 EINVAL        EINVAL        EINVAL        ECONNREFUSED  ENOTCONN      -
"

# column COLUMN SLOT: one case for each call that has an errno in the column COLUMN of "calls". The case checks that the
# call returns this errno for the object that krdma_test keeps under the name SLOT.
column() {
	local call slot=$2 results wanted words
	while read -ra results; do
		call=${results[0]-}
		wanted=${results[$1]-"-"}
		[[ $wanted != - ]] || continue
		read -ra words <<<"${call/_/ }"
		if [[ ${words[0]} == wrong ]]; then
			expect "$wanted" wrong "$slot" "${words[1]}"
		else
			expect "$wanted" "$call" "$slot" 8 0
		fi
	done <<<"$calls"
}

references() { cat /sys/module/krdma/refcnt; }

# pins WHAT COMMAND...: cases: COMMAND succeeds and takes a reference to krdma, and krdma cannot be unloaded afterwards.
pins() {
	local was what=$1
	was=$(references)
	shift
	expect 0 "$@"
	# Skip this case on uml-debug, where both nodes share a kernel, and therefore one reference count.
	if ((! NAMESPACES)); then
		(($(references) > was))
		ok $? "$what pins the module: $was references, now $(references)"
	fi
	! rmmod krdma 2>/dev/null
	ok $? "krdma cannot be unloaded with $what"
}

# unpinned N: one case: krdma has N references again. Wait until it has, because an object may be freed a little later
# than it is released.
unpinned() {
	((! NAMESPACES)) || return 0
	within 5 eval "((\$(references) == $1))"
	ok $? "krdma has no reference after all objects are released: $1 references, now $(references)"
}

a_request_waits() { grep -q 'server [^ ]*:7006 ' /sys/kernel/debug/krdma/connections; }

listener_closes() {
	expect 0 disconnect q
	kt until q CLOSED $((10000 * slow))
	kt_is 0 "a listener that ends closes its request although krdma's queue runs one work at a time"
}

kept_is_told() {
	kt kept show kept
	[[ $kt_text == *" connected=1 "* ]]
}

wrong_state() {
	local none call what i port
	if ((NODE == 1)); then
		none=$(references)
		pins "a listener" listen l 0.0.0.0 7000
		expect 0 listen r 0.0.0.0 7001 raw=1
		barrier listening
		column 3 l
		expect 0 request a l 20000
		column 5 a
		expect 0 answer a
		for call in accept reject; do expect EISCONN wrong a "$call"; done
		# After the request is accepted, an asynchronous accept and setting its parameters are refused.
		expect EINVAL wrong a accept_async
		expect EINVAL wrong a params
		barrier accepted
		barrier tried
		expect 0 listen n 0.0.0.0 7008 noio=1
		barrier noio
		expect 0 request m n 20000
		expect 0 reject m
		expect 0 accept m n 20000
		barrier queried
		for i in m n; do expect 0 release "$i"; done
		expect 0 listen q 0.0.0.0 7006
		barrier alone
		within 20 a_request_waits
		ok $? "a request waits in a listener"
		with_workers krdma 1 listener_closes
		expect 0 release q
		barrier closed
		expect 0 request b r 20000
		expect 0 answer b raw=1
		column 2 b
		expect 0 accept g l 20000
		barrier closing
		barrier pinned
		expect 0 listen s 0.0.0.0 7003 rw=1
		barrier early
		for what in l s; do
			expect 0 early accept "$what" 40
			barrier "early-$what"
		done
		expect 0 release s
		for what in l r a b g; do kt release "$what"; done
		barrier released
		unpinned "$none"
		barrier unpinned
		expect 0 server 0.0.0.0 7004
		barrier keeps
		barrier kept
		expect 0 server end
	else
		barrier listening
		none=$(references)
		pins "a connection" connect c "$server" 7000
		barrier accepted
		column 6 c
		barrier tried
		# A connection below a block device has noio=1. krdma then checks that its allocations start no I/O, even in
		# calls of tasks.
		barrier noio
		expect ECONNREFUSED connect m "$server" 7008 noio=1
		expect 0 connect m "$server" 7008 noio=1
		kt query m
		kt_is 0 "a connection below a block device is queried"
		expect 0 wrong m region
		barrier queried
		expect 0 release m
		barrier alone
		expect ECONNREFUSED connect q "$server" 7006
		barrier closed
		expect 0 connect d "$server" 7001 raw=1 noio=1
		column 1 d
		kt connect e "$server" 7009 keep=1
		kt_is ECONNREFUSED "connecting to a port without a listener is refused"
		column 4 e
		# Check that calls on a closed connection are refused.
		expect 0 connect g "$server" 7000
		barrier closing
		expect 0 close g
		for call in close "wrong g post" "wrong g region" "wrong g connect" "send g 8" "read g 8"; do
			[[ $call == *" g"* ]] || call+=" g"
			# shellcheck disable=SC2086 # words of a command
			kt $call
			((kt_ret < 0))
			ok $? "$call after close is refused: $kt_ret"
		done
		pins "a kept connection" reconnect k "$server" 7009
		barrier pinned
		expect 0 kept stop k
		barrier early
		# Another task sends while this task connects. Try this in message mode, and with exported buffers. Connecting
		# takes longer with exported buffers.
		for what in l s; do
			if [[ $what == l ]]; then port=7000; else port=7003; fi
			kt early connect "$server" "$port" 40 rw=$((port == 7003))
			kt_is 0 "port $port: no message before the connection is ready ($kt_text)"
			barrier "early-$what"
		done
		for what in c d e g; do kt release "$what"; done
		barrier released
		unpinned "$none"
		barrier unpinned
		barrier keeps
		# A running callback holds a reference to the module of its owner.
		kt reconnect kept "$server" 7004 linger=3000
		kt_is 0 "a kept connection with a slow callback is started"
		within 10 kept_is_told
		ok $? "the slow callback runs ($kt_text)"
		! rmmod krdma_test 2>/dev/null
		ok $? "the module of a running callback cannot be unloaded"
		expect 0 kept stop kept
		barrier kept
		expect 0 listen f 0.0.0.0 7005 domain=1
		expect 0 release f
		if ((! NAMESPACES)); then
			(($(references) > none))
			ok $? "a domain pins the module: $(references) references"
		fi
		expect 0 undomain
		unpinned "$none"
	fi
}

# ---- commands of the test module ----

# The command "help" of krdma_test lists a command for each row of the tables in its source.
commands() {
	local fd n rows line listed=() wrong=()
	exec {fd}<>/proc/krdma_test
	echo help >&"$fd"
	read -r _ _ n _ <&"$fd"
	mapfile -t listed <&"$fd"
	exec {fd}>&-
	rows=$(cat /add/command.c /add/traffic.c | grep -c $'^\t{ ktest_')
	((n == rows && ${#listed[@]} == rows))
	ok $? "help of krdma_test lists all of $rows commands: $n, in ${#listed[@]} lines"
	for line in "${listed[@]}"; do
		[[ $line =~ ^[a-z]+( [^:]*)?:\ .+ ]] || wrong+=("$line")
	done
	((${#wrong[@]} == 0))
	ok $? "help of krdma_test has the arguments and the purpose of each command${wrong:+: ${wrong[*]}}"
	n=$(printf '%s\n' "${listed[@]%%[ :]*}" | sort -u | wc -l)
	((n == rows))
	ok $? "help of krdma_test lists no command twice: $n names"
	# One command of each of the three tables.
	for line in accept close send; do
		is_one_of "$line" "${listed[@]%%[ :]*}"
		ok $? "help of krdma_test lists the command $line"
	done
	expect EINVAL nonsense
}

section cancelled
section wrong_state
section commands
finish
