#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-net: the Ethernet interface of ntrdma, as programs use it. Echo requests, datagrams and TCP streams arrive unchanged,
# for IPv4 and IPv6, with each MTU, through a VLAN, a bridge and another network namespace. The carrier follows the peer.
#
#   node 1 (serves) --- interface of ntrdma, shared memory ---> node 2 (calls)
#
# kernels: stock-6.1/ntr-shm
# long: stock-6.1/ntr-bell stock-new/ntr-shm stock-6.12/ntr-shm debug-6.1/ntr-shm
# programs: ntrmem/net
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

net=/add/net
here=$(addr4 "$NODE") there=$(addr4 $((3 - NODE)))
there6=$(addr6 $((3 - NODE)))
class=/sys/class/net/$NETDEV
set_sysctl net/ipv4/ping_group_range "0 0"

# stream HOST BYTES WAY DESCRIPTION: one case: node 2 sends a TCP stream to HOST, where node 1 serves.
stream() {
	((NODE == 2)) || return 0
	check "$4 arrives unchanged" "$net" send "$1" 7100 "$2" "$3"
}

# streams COUNT COMMAND...: run COMMAND on both nodes while node 1 serves COUNT streams.
streams() {
	local count=$1 server=
	shift
	((NODE == 2)) || { "$net" serve 7100 "$count" & server=$!; }
	barrier serving
	on 2 sleep 0.5
	"$@"
	[[ -z $server ]] || wait "$server"
	barrier served
}

carrier_is() { [[ $(<"$class/carrier") == "$1" ]]; }

echo_requests() {
	local size
	for size in 0 56 1400 8900; do
		check "echo requests of $size bytes, IPv4" "$net" ping "$there" 3 $size
	done
	check "echo requests of 30000 bytes, in fragments" "$net" ping "$there" 2 30000
	check "echo requests, IPv6" "$net" ping "$there6" 3 1000
	check "echo requests, link-local" "$net" ping "fe80::6e:74ff:fe${mac_of[0]}:${mac_of[1]}0$((3 - NODE))%$NETDEV" 2 100
}

# The first four digits and the next two of the address tell the fabric, the last two the member.
link_local_parts() {
	local mac
	mac=$(<"$class/address")
	mac_of=("${mac:9:2}" "${mac:12:2}")
}

datagrams() {
	local size server=
	((NODE == 2)) || { "$net" datagrams 7101 & server=$!; }
	barrier answering
	if ((NODE == 2)); then
		sleep 0.5
		for size in 1 17 1472 8972 65000; do
			check "datagrams of $size bytes come back" "$net" echo "$there" 7101 20 $size
		done
	fi
	barrier answered
	[[ -z $server ]] || kill "$server"
}

many_streams() {
	stream "$there" 8000000 write "a long stream"
	stream "$there6" 2000000 write "a long stream, IPv6"
	stream "$there" 100000 small "a stream of short segments"
	stream "$there" 2000000 file "a stream from a file"
}

# Both nodes send at the same time.
both_ways() {
	local server
	"$net" serve 7102 1 &
	server=$!
	sleep 0.5
	barrier both
	check "a stream arrives while another one goes the other way" "$net" send "$there" 7102 4000000 write
	check "the other stream arrives" wait $server
}

with_mtu() {
	local mtu max
	max=$(ip -d link show "$NETDEV" | sed -n 's/.* maxmtu \([0-9]*\).*/\1/p')
	((max > 9000))
	ok $? "the maximum MTU is that of a frame: $max"
	! ip link set "$NETDEV" mtu $((max + 1)) 2>/dev/null
	ok $? "a longer MTU is refused"
	for mtu in 1500 "$max" 9000; do
		ip link set "$NETDEV" mtu "$mtu"
		barrier "mtu-$mtu"
		check "echo requests with MTU $mtu" "$net" ping "$there" 2 $((mtu - 28))
		streams 1 stream "$there" 1000000 write "a stream with MTU $mtu"
	done
}

vlan() {
	modprobe -q 8021q
	if ! ip link add link "$NETDEV" name vlan5 type vlan id 5; then
		skip "packets pass in a VLAN" "this kernel has no VLANs"
		return
	fi
	ip addr add "10.58.5.$NODE/24" dev vlan5
	ip link set vlan5 up
	barrier vlan
	check "echo requests in a VLAN" "$net" ping "10.58.5.$((3 - NODE))" 3 1000
	streams 1 stream "10.58.5.1" 500000 write "a stream in a VLAN"
	ip link del vlan5
}

# Node 2 connects a namespace to the interface by a bridge. The address of the namespace is that of no peer.
bridge() {
	if ((NODE == 2)); then
		modprobe -q bridge
		ip link add br0 type bridge
		ip netns add behind
		ip link add port0 type veth peer name in0 netns behind
		ip link set port0 master br0 up
		ip link set "$NETDEV" master br0
		ip link set br0 up
		ip -n behind addr add 10.58.6.2/24 dev in0
		ip -n behind link set in0 up
	else
		ip addr add 10.58.6.1/24 dev "$NETDEV"
	fi
	barrier bridge
	on 1 check "echo requests through a bridge" within 10 "$net" ping 10.58.6.2 3 1000
	barrier bridged
	if ((NODE == 2)); then
		ip link set "$NETDEV" nomaster
		ip link del br0
		ip netns del behind
	else
		ip addr del 10.58.6.1/24 dev "$NETDEV"
	fi
}

# Node 2 moves the interface to another namespace and back. The RDMA device stays.
namespace() {
	if ((NODE == 2)); then
		ip netns add far
		ip netns exec far bash -c 'echo 0 0 >/proc/sys/net/ipv4/ping_group_range'
		ip link set "$NETDEV" netns far
		ip -n far addr add "$here/24" dev "$NETDEV"
		ip -n far link set "$NETDEV" up
		ip netns exec far "$net" ping "$there" 1 10 || sleep 2
		check "echo requests from another namespace" ip netns exec far "$net" ping "$there" 3 1000
		[[ $(rdma link show) == *"$RDMADEV/1"* ]]
		ok $? "the RDMA device stays"
		ip -n far link set "$NETDEV" netns 1
		ip addr add "$here/24" dev "$NETDEV"
		ip addr add "$(addr6 2)/64" dev "$NETDEV" nodad
		ip link set "$NETDEV" up
		within 5 carrier_is 1
		check "echo requests after the interface is back" "$net" ping "$there" 3 1000
		ip netns del far
	fi
	barrier back
}

downs() {
	on 2 ip link set "$NETDEV" down
	if ((NODE == 1)); then
		within 2 carrier_is 0
		ok $? "the carrier is off while the other interface is down"
		within 2 port_is DOWN
		ok $? "the port is down without carrier"
	fi
	barrier down
	if ((NODE == 2)); then
		ip link set "$NETDEV" address 02:00:00:00:58:02
		ip link set "$NETDEV" up
	fi
	within 3 carrier_is 1
	ok $? "the carrier is back"
	within 2 port_is ACTIVE
	ok $? "the port is active with carrier"
	barrier upped
	on 1 ip neigh flush dev "$NETDEV"
	barrier flushed
	check "echo requests with another address" "$net" ping "$there" 3 1000
	barrier renamed
}

port_is() { [[ $(<"/sys/class/infiniband/$RDMADEV/ports/1/state") == *"$1"* ]]; }

barrier begun
check "the carrier is there" within 5 carrier_is 1
link_local_parts
barrier parts
echo_requests
barrier echoed
streams 4 many_streams
both_ways
datagrams
with_mtu
vlan
bridge
namespace
downs
for name in rx_errors rx_dropped; do
	[[ $(<"$class/statistics/$name") == 0 ]]
	ok $? "$name is 0"
done
(($(<"$class/statistics/rx_packets") > 100 && $(<"$class/statistics/tx_bytes") > 10000))
ok $? "packets are counted: $(<"$class/statistics/rx_packets")"
barrier ended
finish
