#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-edges: every small size, with memory that shows who writes beside it; what is written to /proc/krping to the last
# character; who comes while a run goes on; addresses that lead nowhere; devices that go while there is load, and
# interfaces that take nothing.
#
#   node 1 (server) <--- pings, measurements ---> node 2 (client)
#
# kernels:
# alone: uml stock-6.1 debug-6.1
# load: krdma krping krdma_test
# append: slub_debug=FZPU slub_min_order=1
# timeout: 900

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
server=$(addr4 1)
port=7600

# One allocation of each size and more on both sides; those of 129 to 192 bytes may lie across two pages.
sizes() {
	local size wrong=0 all=({1..200} {4095..4097} 131071 131072)
	barrier sizes
	for size in "${all[@]}"; do
		if ((NODE == 1)); then
			krping_run "server,port=$port,size=$size"
		else
			krping_try "client,addr=$server,port=$port,count=12,size=$size,validate"
		fi || { wrong=$((wrong + 1)); echo "# $size bytes: $said"; }
		barrier "size-$size"
	done
	((wrong == 0))
	ok $? "${#all[@]} sizes, $wrong of them failed"
}

# write WANTED NAME PYTHON-BYTES: what write() returns, or minus its errno
write() {
	local got
	got=$(python3 -c "
import os
fd = os.open('/proc/krping', os.O_WRONLY)
try:
    print(os.write(fd, $3))
except OSError as e:
    print(-e.errno)")
	[[ $got == "$1" ]]
	ok $? "$2: $got"
}

commands() {
	((NODE == 2)) || return 0
	write -22 "nothing" "b''"
	write -22 "a line end" "b'\\n'"
	write -22 "a zero" "b'\\0'"
	write -22 "all bytes that there are" "bytes(range(256))"
	write -22 "more than anybody means" "b'client,' + b'x' * 1000000"
	# The last character counts, also without a line end.
	write -22 "port 76011" "b'client,addr=$server,count=1,port=76011'"
	write -111 "port 7601, where nobody is" "b'client,addr=$server,count=1,port=7601'"
	write -111 "and with a line end" "b'client,addr=$server,count=1,port=7601\\n'"
	said=$(setpriv --reuid 65534 --clear-groups bash -c 'echo >/proc/krping' 2>&1)
	[[ $said == *"Permission denied"* ]]
	ok $? "for nobody else: ${said##*: }"
}

# Who comes while a server of one client has one is refused, and that one goes on.
second_client() {
	barrier second
	if ((NODE == 1)); then
		echo "server,port=$port,count=4000000000" 2>/dev/null >/proc/krping &
		within 5 krping_listens
		barrier second-listens
		barrier second-over
		check "the server is over" within 10 krping_idle
		{ wait $!; } 2>/dev/null
	else
		barrier second-listens
		echo "client,addr=$server,port=$port" 2>/dev/null >/proc/krping &
		sleep 0.5
		! krping_run "client,addr=$server,port=$port,count=1,timeout=5000"
		ok $? "a second client is not served: ${said##*: }"
		was=$(</proc/krping)
		sleep 0.5
		[[ -n $was && $(</proc/krping) != "$was" ]]
		ok $? "the first one goes on"
		kill -KILL $!
		{ wait $!; } 2>/dev/null
		check "until it is killed" within 10 krping_idle
		barrier second-over
	fi
}

# hello TEST SIZE: what a client of krping's says in its REQ, in hexadecimal digits; see krping/wire.h
hello() {
	printf '6b72706701%02x0000%08x0000000100000000000000000000000000000000' "$1" "$2"
}

is_refused() {
	kt connect h "$server" 7604 raw=1 "private_hex=$1"
	[[ $kt_ret == "${errno[ECONNREFUSED]}" && $kt_text == *"private=krpg"* ]]
}

# Its size becomes the server's: not 0, and not more than that has.
hellos() {
	local test size number=-1
	barrier hellos
	for test in ping fr wlat rlat bw slat sbw rbw; do
		number=$((number + 1))
		[[ $test != fr ]] || continue
		for size in 0 65 4294967295; do
			if ((NODE == 1)); then
				! krping_run "server,port=7604,count=1,${test#ping}"
				ok $? "a server of $test: ${said##*: }"
			else
				check "who comes to $test with $size bytes is refused" within 20 is_refused "$(hello $number $size)"
				kt release h
			fi
			barrier "hello-$test-$size"
		done
	done
}

# nowhere ADDRESS NAME: refused in time
nowhere() {
	local begin=$SECONDS
	! krping_run "client,$1,port=$port,count=1,timeout=3000"
	ok $? "$2: ${said##*: }"
	((SECONDS - begin <= 10 * slow))
	ok $? "in time"
}

# The interface that a scope names can go afterwards: nobody holds it.
addresses() {
	((NODE == 2)) || return 0
	ip link add edge0 type dummy && ip link set edge0 up
	ok $? "an interface without an RDMA device"
	nowhere "addr=192.0.2.1" "an address without a route"
	nowhere "addr=10.56.0.99" "an address of nobody"
	nowhere "addr6=fe80::99%edge0" "one by an interface without an RDMA device"
	nowhere "addr6=fe80::99%edge9" "one by an interface that is not there"
	nowhere "addr6=fe80::99%$NETDEV" "one of nobody by one that is"
	check "the interface goes" timeout 20 ip link del edge0
}

# A device of this node's own: both ends are here, and its interface can go.
interface_goes() {
	local test
	barrier interface
	[[ $LINK == rxe ]] && ((NODE == 2)) || return 0
	for test in "" bw,duplex wlat rlat; do
		ip link add edge1 type dummy && ip link set edge1 up && ip addr add 10.99.0.1/24 dev edge1 &&
			rdma link add edge type rxe netdev edge1
		ok $? "another RDMA device"
		echo "server,addr=10.99.0.1,port=7602,$test,count=4000000000" 2>/dev/null >/proc/krping &
		within 5 krping_listens
		echo "client,addr=10.99.0.1,port=7602,$test,count=4000000000" 2>/dev/null >/proc/krping &
		sleep 0.5
		[[ $(grep -c "edge " /proc/krping) == 2 ]]
		ok $? "${test:-pings} at both ends: $(tr '\n' ';' </proc/krping)"
		check "its interface goes under load" timeout 60 ip link del edge1
		check "both runs end" within 20 krping_idle
		{ wait; } 2>/dev/null
		[[ $(rdma link show) != *edge* ]]
		ok $? "the RDMA device is gone"
	done
}

is_on_rxe() { [[ $(</proc/krping) == *"$RDMADEV"* ]]; }
has_failed() { [[ $(rdma resource show qp link "$RDMADEV/1") == *"state ERR"* ]] || krping_idle; }

# An interface that takes no more packets. rxe of 7.3 flushes its queue pair, and nothing says why; that of 6.1 sends
# again.
interface_is_full() {
	barrier full
	[[ $LINK == rxe ]] || return 0
	if ((NODE == 1)); then
		! krping_run "server,port=7603,bw,count=4000000000"
		ok $? "the server of a client whose interface is full: ${said##*: }"
		barrier full-over
		return
	fi
	{ krping_try "client,addr=$server,port=7603,bw,count=4000000000"; echo "$? ${said##*: }" >full; } &
	within 5 is_on_rxe
	check "an interface with room for one packet" network delay 200ms limit 1
	if within 3 has_failed; then
		check "a run of which nothing is sent ends by itself" within 10 krping_idle
		check "and with a reason" grep "^[1-9].*Input/output error" full
	else
		[[ -n $(</proc/krping) ]]
		ok $? "what is refused is sent again: $(</proc/krping)"
	fi
	check "the interface has room again" network
	echo stop=all >/proc/krping
	wait
	echo "# $(<full)"
	# Of 7.3 QP 1, too, if the CM had something to send.
	rdma link del "$RDMADEV" && rdma link add "$RDMADEV" type rxe netdev "$NETDEV"
	ok $? "a new RDMA device"
	barrier full-over
}

barrier begun
sizes
commands
hellos
second_client
addresses
interface_goes
interface_is_full
same_resources "$before" "resources are as before"
finish
