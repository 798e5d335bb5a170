#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# wrong-state-calls: a call on an object in an invalid state returns an errno, and has no effect on the object. krdma
# cannot be unloaded while a listener, a connection, a domain or a persistent connection exists.
#
#   node 1 (listens on 7000, exports a buffer on 7001, raw on 7002) <--- krdma ---> node 2 (connects)
#
# kernels: uml
# long: uml/siw stock-6.1 uml-debug stock-new debug-6.1 uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 120

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug

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

if ((NODE == 1)); then
	none=$(references)
	pins "a listener" listen l 0.0.0.0 7000
	expect 0 listen r 0.0.0.0 7001 raw=1
	barrier listening
	column 3 l
	expect 0 request a l 20000
	column 5 a
	expect 0 answer a
	for call in accept reject; do expect EISCONN wrong a $call; done
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
	for i in m n; do expect 0 release $i; done
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
		expect 0 early accept $what 40
		barrier "early-$what"
	done
	expect 0 release s
	for what in l r a b g; do kt release $what; done
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
	for what in c d e g; do kt release $what; done
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
same_resources "$before" "resources are as before"
finish
