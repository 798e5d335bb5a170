#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-edges: edge cases of krping. It uses every small size, with slub_debug to find writes outside allocated memory.
# Every character is written to /proc/krping. A client connects to a busy server, or to an unreachable address. Devices
# are removed under load, and interfaces accept no packets.
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

# Run pings of each size, so that both sides allocate this size. Allocations of 129 to 192 bytes may cross a page
# boundary.
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
	ok $? "runs with ${#all[@]} sizes succeed: $wrong failed"
}

# write WANTED NAME PYTHON-BYTES: one case: write() of these bytes to /proc/krping returns WANTED, a length or a
# negative errno.
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
	ok $? "write() of $2 returns $1: $got"
}

commands() {
	((NODE == 2)) || return 0
	write -22 "0 bytes" "b''"
	write -22 "a line end" "b'\\n'"
	write -22 "a zero byte" "b'\\0'"
	write -22 "each byte value" "bytes(range(256))"
	write -22 "a command of 1 MB" "b'client,' + b'x' * 1000000"
	# Check that the last character of a command is not lost, even without a line end.
	write -22 "port 76011" "b'client,addr=$server,count=1,port=76011'"
	write -111 "port 7601 without a server" "b'client,addr=$server,count=1,port=7601'"
	write -111 "port 7601 without a server and with a line end" "b'client,addr=$server,count=1,port=7601\\n'"
	said=$(setpriv --reuid 65534 --clear-groups bash -c 'echo >/proc/krping' 2>&1)
	[[ $said == *"Permission denied"* ]]
	ok $? "write() is refused for users other than root: ${said##*: }"
}

# A server for one client refuses a second client, and the first client continues.
second_client() {
	barrier second
	if ((NODE == 1)); then
		echo "server,port=$port,count=4000000000" 2>/dev/null >/proc/krping &
		within 5 krping_listens
		barrier second-listens
		barrier second-over
		check "a server for one client ends when the client is killed" within 10 krping_idle
		{ wait $!; } 2>/dev/null
	else
		barrier second-listens
		echo "client,addr=$server,port=$port" 2>/dev/null >/proc/krping &
		sleep 0.5
		! krping_run "client,addr=$server,port=$port,count=1,timeout=5000"
		ok $? "a second client of a server for one client is refused: ${said##*: }"
		was=$(</proc/krping)
		sleep 0.5
		[[ -n $was && $(</proc/krping) != "$was" ]]
		ok $? "the first client continues after a second one was refused"
		kill -KILL $!
		{ wait $!; } 2>/dev/null
		check "the run of the first client ends when it is killed" within 10 krping_idle
		barrier second-over
	fi
}

# hello TEST SIZE: print the private data of a client's connect request, in hexadecimal; see krping/wire.h.
hello() {
	printf '6b72706701%02x0000%08x0000000100000000000000000000000000000000' "$1" "$2"
}

is_refused() {
	kt connect h "$server" 7604 raw=1 "private_hex=$1"
	[[ $kt_ret == "${errno[ECONNREFUSED]}" && $kt_text == *"private=krpg"* ]]
}

# The server uses the size of the client, which must not be 0 or larger than the memory of the server.
hellos() {
	local test size number=-1
	barrier hellos
	for test in ping fr wlat rlat bw slat sbw rbw; do
		number=$((number + 1))
		[[ $test != fr ]] || continue
		for size in 0 65 4294967295; do
			if ((NODE == 1)); then
				! krping_run "server,port=7604,count=1,${test#ping}"
				ok $? "a server of $test refuses a client with $size bytes: ${said##*: }"
			else
				check "a client of $test with $size bytes is refused" within 20 is_refused "$(hello $number $size)"
				kt release h
			fi
			barrier "hello-$test-$size"
		done
	done
}

# nowhere ADDRESS NAME: two cases: connecting to ADDRESS fails, and fails in time.
nowhere() {
	local begin=$SECONDS
	! krping_run "client,$1,port=$port,count=1,timeout=3000"
	ok $? "connecting to $2 fails: ${said##*: }"
	((SECONDS - begin <= 10 * slow))
	ok $? "connecting to $2 fails in time"
}

# Connect to unreachable addresses. An interface that was the scope of such an address can be removed after the run,
# which shows that krping has put its references to the interface.
addresses() {
	((NODE == 2)) || return 0
	ip link add edge0 type dummy && ip link set edge0 up
	ok $? "an interface without an RDMA device is created"
	nowhere "addr=192.0.2.1" "an address without a route"
	nowhere "addr=10.56.0.99" "an unused address"
	nowhere "addr6=fe80::99%edge0" "an address on an interface without an RDMA device"
	nowhere "addr6=fe80::99%edge9" "an address on an interface that does not exist"
	nowhere "addr6=fe80::99%$NETDEV" "an unused address on an interface with an RDMA device"
	check "an interface that was the scope of an address is removed" timeout 20 ip link del edge0
}

# Remove the interface of an extra RDMA device of this node during a run. Both ends of the run use this device.
interface_goes() {
	local test
	barrier interface
	[[ $LINK == rxe ]] && ((NODE == 2)) || return 0
	for test in "" bw,duplex wlat rlat; do
		ip link add edge1 type dummy && ip link set edge1 up && ip addr add 10.99.0.1/24 dev edge1 &&
			rdma link add edge type rxe netdev edge1
		ok $? "${test:-pings}: an extra RDMA device is created"
		echo "server,addr=10.99.0.1,port=7602,$test,count=4000000000" 2>/dev/null >/proc/krping &
		within 5 krping_listens
		echo "client,addr=10.99.0.1,port=7602,$test,count=4000000000" 2>/dev/null >/proc/krping &
		sleep 0.5
		[[ $(grep -c "edge " /proc/krping) == 2 ]]
		ok $? "${test:-pings}: server and client run on the extra device: $(tr '\n' ';' </proc/krping)"
		check "${test:-pings}: the interface of the extra device is removed under load" timeout 60 ip link del edge1
		check "${test:-pings}: both runs end when their interface is removed" within 20 krping_idle
		{ wait; } 2>/dev/null
		[[ $(rdma link show) != *edge* ]]
		ok $? "${test:-pings}: the extra RDMA device is removed with its interface"
	done
}

is_on_rxe() { [[ $(</proc/krping) == *"$RDMADEV"* ]]; }
has_failed() { [[ $(rdma resource show qp link "$RDMADEV/1") == *"state ERR"* ]] || krping_idle; }

# Let an interface reject packets. rxe of 7.3 then flushes the queue pair of a rejected packet, and reports no reason.
# rxe of 6.1 sends the packet again.
interface_is_full() {
	barrier full
	[[ $LINK == rxe ]] || return 0
	if ((NODE == 1)); then
		! krping_run "server,port=7603,bw,count=4000000000"
		ok $? "a server whose client has a full interface fails: ${said##*: }"
		barrier full-over
		return
	fi
	{ krping_try "client,addr=$server,port=7603,bw,count=4000000000"; echo "$? ${said##*: }" >full; } &
	within 5 is_on_rxe
	check "the interface of the client has room for one packet" network delay 200ms limit 1
	if within 3 has_failed; then
		check "a run on a full interface ends" within 10 krping_idle
		check "a run on a full interface ends with an I/O error" grep "^[1-9].*Input/output error" full
	else
		[[ -n $(</proc/krping) ]]
		ok $? "a run on a full interface sends again: $(</proc/krping)"
	fi
	check "the interface has room again" network
	echo stop=all >/proc/krping
	wait
	echo "# $(<full)"
	# Recreate the device: on 7.3 QP 1 may be flushed as well, if the CM sent a packet while the interface was full.
	rdma link del "$RDMADEV" && rdma link add "$RDMADEV" type rxe netdev "$NETDEV"
	ok $? "the RDMA device is recreated after the interface was full"
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
