#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-ntb: two hosts that a PCIe non-transparent bridge joins. Packets and messages pass with each kind of doorbells, and if
# writes arrive late. The cable is pulled, drivers are unbound, and the module is loaded again, each under load: connections
# end, and come back without intervention. A DMA engine copies, fails, and stops working. A bridge that cannot be used is
# refused. The modules twin and softdma are the hardware.
#
#   node 1 (first end; serves, has the buffers) <--- ntrdma over the kernel's NTB interface ---> node 2 (second end)
#
# kernels: uml/ntr-ntb
# alone: uml-debug/ntr-ntb
# load: krdma krdma_test krping
# programs: ntrmem/net
# timeout: 480

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/vm/node/lib
. /rig/lib

net=/add/net
there=$(addr4 $((3 - NODE))) there6=$(addr6 $((3 - NODE)))
class=/sys/class/net/$NETDEV
driver=/sys/bus/ntb/drivers/ntrdma
twin=/sys/module/ntr_twin/parameters
set_sysctl net/ipv4/ping_group_range "0 0"
mount_debugfs

carrier_is() { [[ -e $class && $(<"$class/carrier") == "$1" ]]; }
port_is() { [[ $(<"/sys/class/infiniband/$RDMADEV/ports/1/state") == *"$1"* ]]; }
devices_are() { [[ -e /sys/class/infiniband/ntr0 && -e /sys/class/infiniband/ntr1 ]]; }
no_devices() { [[ ! -e /sys/class/infiniband/ntr0 && ! -e /sys/class/infiniband/ntr1 && ! -e /sys/class/infiniband/ntr2 ]]; }
outside() { nsenter --net=/proc/1/ns/net "$@"; }
back_end() { [[ $(</sys/kernel/debug/ntrdma/ntr$((NODE - 1))/status) == "back end $1, "* ]]; }

# set_twin NAME VALUE...: set parameters of the bridge.
set_twin() {
	while (($#)); do
		echo "$2" >"$twin/$1"
		shift 2
	done
}

# shown_up: give this node its end of the bridge, whose devices are new. ntr1 must get the name ntr2 before ntr0 gets ntr1.
shown_up() {
	on 2 outside ip link set ntr1 netns node2
	((NODE == 1)) || WINDOW=0 link_up 2 ntr1
	barrier second
	on 1 outside ip link set ntr0 netns node1
	((NODE == 2)) || WINDOW=0 link_up 1 ntr0
	barrier first
	within 5 carrier_is 1
	ok $? "the carrier is there: $1"
}

# reload DESCRIPTION [PARAMETER]... -- [NAME VALUE]...: load ntrdma again, with other parameters of it and of the bridge.
reload() {
	local text=$1 options=()
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	barrier before-reload
	if ((NODE == 1)); then
		rmmod ntrdma
		ok $? "the module is unloaded: $text"
		set_twin "${@:2}"
		insmod /modules/ntrdma.ko "${options[@]}"
		within 10 devices_are
		ok $? "both ends have a device: $text"
	fi
	barrier reloaded
	shown_up "$text"
}

# stream HOST BYTES WAY DESCRIPTION: one case: node 2 sends a TCP stream to node 1.
stream() {
	local server=
	((NODE == 2)) || { "$net" serve 7100 1 & server=$!; }
	barrier serving
	on 2 sleep 0.5
	on 2 check "$4" "$net" send "$1" 7100 "$2" "$3"
	[[ -z $server ]] || wait "$server"
	barrier served
}

# passes DESCRIPTION: packets and messages pass, and no doorbell is lost.
passes() {
	local size
	check "echo requests: $1" "$net" ping "$there" 3 1000
	stream "$there" 2000000 write "a stream arrives unchanged: $1"
	if ((NODE == 1)); then
		expect 0 listen l 0.0.0.0 7000
		barrier listening
		kt accept c l 20000
		kt_is 0 "accepted: $1"
	else
		barrier listening
		kt connect c "$there" 7000
		kt_is 0 "connected: $1"
	fi
	for size in 0 64 5000 131072; do
		expect 0 send c $size
		expect "$size" receive c 200000 20000
	done
	expect 0 release c
	barrier released
	kt release l
	[[ $(device_counter late_wakeups) == 0 ]]
	ok $? "no doorbell is lost: $1 ($(device_counter late_wakeups))"
}

# Begin a persistent connection of node 2 under load, which ends and comes back with the link. READs find no wrong data.
loaded() {
	if ((NODE == 1)); then
		expect 0 server "$(addr4 1)" 7003 backlog=64 rw=1 max_msg=65536 recv_depth=8
		barrier has-server
	else
		barrier has-server
		expect 0 reconnect k "$there" 7003 max=500 op_ms=5000 keepalive_ms=1000 rw=1 max_msg=65536 recv_depth=8
		kt_start pump kept pump k
	fi
}

connected() {
	kt kept show k
	[[ $kt_text == "connected "* ]]
}

# back DESCRIPTION: the connection of node 2 is there again.
back() {
	on 2 check "the connection is back: $1" within 20 connected
	barrier back
}

# unloaded TIMES DESCRIPTION: end the load. The connection was lost at least that many times.
unloaded() {
	if ((NODE == 2)); then
		kt kept stop k
		kt_is 0 "the connection is stopped: $kt_text"
		[[ $kt_text =~ lost=([0-9]+)\ wrong=0 ]] && ((BASH_REMATCH[1] >= $1))
		ok $? "the connection was lost $1 times or more, $2: $kt_text"
		kt_result pump 60
		kt_is 0 "each request completed once, and failed only at a lost connection: $kt_text"
	fi
	barrier stopped
	on 1 expect 0 server end
	[[ $(device_counter late_wakeups) == 0 ]]
	ok $? "no doorbell is lost under load: $2 ($(device_counter late_wakeups))"
}

# busy DESCRIPTION: requests pass for some seconds, then single messages, each after the answer to the one before. No doorbell
# is lost. If one was, the next message would not come before the rings are looked at.
busy() {
	loaded
	back "$1"
	sleep 3
	if ((NODE == 1)); then
		check "krping serves: $1" krping_run "server,addr=0.0.0.0,port=7200,size=64"
	else
		krping_try "client,addr=$there,port=7200,count=300,size=64,validate"
		ok $? "krping exchanges messages: $1 ($said)"
	fi
	barrier exchanged
	unloaded 0 "$1"
}

pulled() {
	local before=$SECONDS
	on 1 set_twin cable 0
	within 2 carrier_is 0
	ok $? "the carrier is off without a cable"
	within 2 port_is DOWN
	ok $? "the port is down without a cable"
	barrier pulled
	on 1 set_twin cable 1
	within 2 carrier_is 1
	ok $? "the carrier is back with the cable"
	within 2 port_is ACTIVE
	ok $? "the port is active again"
	barrier plugged
	back "the cable"
	((SECONDS - before <= 30 * slow))
	ok $? "the connection is back in time: $((SECONDS - before)) s"
}

# A link that was down for a moment has lost writes, even if nobody saw that it was down.
blinked() {
	local before
	before=$(device_counter sessions)
	barrier counted
	on 1 set_twin cable 0 cable 1
	more_sessions() { (($(device_counter sessions) > before)); }
	within 5 more_sessions
	ok $? "a new session follows a link that was away for a moment: $before, $(device_counter sessions)"
	back "a moment"
}

# Node 2 gives its end up. The peer sees at once that it leaves. The new device and its interface get free names.
unbound() {
	local start=$SECONDS
	if ((NODE == 2)); then
		echo twin1 >$driver/unbind
		((SECONDS - start <= 5 * slow))
		ok $? "the driver is unbound in time: $((SECONDS - start)) s"
	fi
	barrier unbound
	if ((NODE == 1)); then
		within 3 carrier_is 0
		ok $? "the carrier is off without a peer"
		logged "peer 1 (.*) is lost: left"
		ok $? "the log says that the peer has left"
	else
		echo twin1 >$driver/bind
		within 10 test -e /sys/class/infiniband/ntr0
		ok $? "the device is there again"
		outside ip link set ntr0 netns node2
		WINDOW=0 link_up 2 ntr0
	fi
	barrier bound
	back "the end of the bridge is bound again"
}

# Node 1 rings the doorbell of its own end, as a peer would that sends nothing.
storm() {
	on 1 set_twin storm 300
	barrier rung
	((NODE == 2)) || (($(device_counter doorbell_storms) > 0))
	ok $? "a storm is noticed: $(device_counter doorbell_storms)"
	on 1 check "the log names the doorbell" logged "doorbell 0 rings without work"
	passes "after a storm"
}

# set_engine NAME VALUE...: set parameters of the DMA engine.
set_engine() {
	while (($#)); do
		echo "$2" >"/sys/module/ntr_softdma/parameters/$1"
		shift 2
	done
}

# The engine has made copies, and has failed, since the module was loaded.
copies() { (($(device_counter dma_copies) > 100 && $(device_counter dma_failed) > 10)); }
engine_is_stopped() { logged "the DMA engine does not finish, so it is stopped"; }
lost_by_engine() { logged "is lost: engine"; }

# Print the number of sessions of the link of the device to itself.
own_sessions() {
	sed -n "s/^peer $((NODE - 1)): .*, \([0-9]*\) so far.*/\1/p" "/sys/kernel/debug/ntrdma/ntr$((NODE - 1))/status"
}

# A DMA engine copies payloads late, in any order, and some copies fail. Frames become visible in order, with their data.
engine() {
	local before own
	barrier engine
	if ((NODE == 1)); then
		rmmod ntrdma
		! insmod /modules/ntrdma.ko dma_min=16 2>/dev/null
		ok $? "a payload that is in the header is not copied by an engine"
		check "the log says why" logged "dma_min must be 0, or 17 to 65536"
		insmod /modules/ntr_softdma.ko stoppable=0
		insmod /modules/ntrdma.ko dma_min=64
		check "an engine that cannot be stopped is not used" within 5 logged "no DMA engine can copy, so processors copy"
		within 10 devices_are
		rmmod ntr_softdma
		insmod /modules/ntr_softdma.ko delay_us=100 shuffle=1 fail=7
	fi
	reload "a DMA engine copies" dma_min=64 -- delay_us 0
	check "the log names the engine" logged "ntrdma: dma.*chan. copies 64 bytes and more"
	passes "a DMA engine copies"
	busy "a DMA engine copies"
	copies
	ok $? "the engine copies, and fails: $(device_counter dma_copies), $(device_counter dma_failed)"
	reload "writes of an engine arrive late" dma_min=64 -- delay_us 300
	((NODE == 2)) || set_engine depth 2
	busy "an engine with few places, whose writes arrive late"
	barrier few
	((NODE == 2)) || set_engine depth 64
	((NODE == 2)) || set_twin delay_us 0
	loaded
	back "before the events"
	pulled
	blinked
	# The engine stops working. After a second, the session ends, and processors copy.
	before=$SECONDS
	own=$(own_sessions)
	barrier stuck
	((NODE == 2)) || set_engine stuck 1
	check "a session ends whose engine does not finish" within 5 lost_by_engine
	check "the engine is stopped" within 5 engine_is_stopped
	back "processors copy"
	[[ -n $own && $(own_sessions) == "$own" ]]
	ok $? "the link of the device to itself stays: $own, $(own_sessions)"
	((SECONDS - before <= 30 * slow))
	ok $? "the connection is back in time: $((SECONDS - before)) s"
	unloaded 3 "with each event of an engine"
	passes "processors copy"
	# The module is unloaded while copies do not end.
	((NODE == 2)) || set_engine stuck 0
	reload "the engine works again" dma_min=64 --
	loaded
	back "the engine works again"
	barrier works
	if ((NODE == 1)); then
		set_engine stuck 1
		sleep 0.3
		before=$SECONDS
		rmmod ntrdma
		ok $? "the module is unloaded while copies do not end"
		((SECONDS - before <= 5 * slow))
		ok $? "the module is unloaded in time: $((SECONDS - before)) s"
		set_engine stuck 0
		insmod /modules/ntrdma.ko
		within 10 devices_are
		check "the engine is free" rmmod ntr_softdma
	fi
	barrier unloaded
	shown_up "without an engine"
	back "without an engine"
	unloaded 1 "the module was unloaded"
}

says_bells() { logged "hello of peer . is refused: bad_bells"; }

refusals() {
	barrier refused
	if ((NODE == 1)); then
		rmmod ntrdma
		set_twin unsafe 2
		insmod /modules/ntrdma.ko
		within 10 devices_are
		outside ip link set ntr0 up
		outside ip link set ntr1 up
		check "hosts with different doorbells refuse each other" within 10 says_bells
		[[ $(outside ip link show dev ntr0) == *NO-CARRIER* ]]
		ok $? "hosts that refuse each other have no carrier"
		rmmod ntrdma
		set_twin unsafe 0
		! insmod /modules/ntrdma.ko ntb=0000:00:01.0 2>/dev/null
		ok $? "an invalid parameter is refused"
		check "the log says why" logged "ntb must be auto or off"
		insmod /modules/ntrdma.ko ntb=off
		sleep 1
		check "ntb=off: no bridge is used" no_devices
		rmmod ntrdma
		set_twin untranslated 1
		insmod /modules/ntrdma.ko
		check "a bridge is refused whose peer translates the windows" no_devices
		check "the log says why" logged "not used, because only the peer can translate its windows"
		rmmod ntrdma
		set_twin untranslated 0 align $((128 << 20))
		insmod /modules/ntrdma.ko
		check "an inbox of 128 MiB is refused" within 5 logged "requires an inbox of more than 64 MiB"
		check "there is no device then" no_devices
		set_twin align 4096 max 32768
		check "an inbox of 32 KiB is refused" within 10 logged "cannot join: -22"
		check "there is no device then, either" no_devices
		set_twin max $((4 << 20))
		check "the next attempt joins" within 10 devices_are
	fi
	barrier joined
	shown_up "after refusals"
}

counts() { local count=/sys/kernel/debug/ntb_pingpong/twin0/count; [[ -e $count ]] && (($(<"$count") >= 10)); }
runs() { grep -qs "copied .* bytes" /sys/kernel/debug/ntb_perf/twin0/run; }

# The kernel's own clients use the bridge, so that it is known to be one.
clients() {
	barrier clients
	if ((NODE == 1)); then
		rmmod ntrdma
		insmod /modules/ntb_pingpong.ko delay_ms=20
		check "ntb_pingpong: doorbells pass" within 5 counts
		rmmod ntb_pingpong
		insmod /modules/ntb_perf.ko total_order=24
		sleep 1
		echo 0 >/sys/kernel/debug/ntb_perf/twin0/run
		check "ntb_perf: data passes" within 5 runs
		rmmod ntb_perf
	fi
	# ntb_transport does not free all entries of its queues (7.3: ntb_transport_setup_qp_mw()), which kmemleak reports.
	[[ -e /sys/kernel/debug/kmemleak ]] || packets
	barrier packets
	on 1 insmod /modules/ntrdma.ko
	on 1 check "ntrdma gets the bridge after them" within 5 devices_are
	barrier after-clients
	shown_up "after other clients"
}

# Packets pass by ntb_netdev.
packets() {
	on 1 insmod /modules/ntb_transport.ko
	on 1 insmod /modules/ntb_netdev.ko
	barrier netdev
	within 5 outside ip link show dev "eth$((NODE - 1))" >/dev/null
	outside ip link set "eth$((NODE - 1))" name ntb0 netns "node$NODE"
	ip addr add "10.58.7.$NODE/24" dev ntb0
	ip link set ntb0 up
	barrier has-ntb0
	sleep 1
	check "ntb_netdev: echo requests" within 10 "$net" ping "10.58.7.$((3 - NODE))" 3 1000
	barrier pinged
	on 1 rmmod ntb_netdev
	on 1 rmmod ntb_transport
}

barrier begun
check "the carrier is there" within 5 carrier_is 1
check "the back end is that of bridges" back_end ntb
passes "a doorbell for each lane"
check "echo requests, IPv6" "$net" ping "$there6" 3 1000
loaded
pulled
blinked
unbound
unloaded 3 "with each event"
reload "one vector for all doorbells" -- vectors 1
passes "one vector for all doorbells"
reload "one doorbell" -- vectors 0 bells 1
passes "one doorbell"
busy "one doorbell"
reload "writes arrive late" -- bells 9 delay_us 300
passes "writes arrive late"
busy "writes arrive late"
reload "a bridge forgets masked doorbells" -- edge 1
passes "a bridge forgets masked doorbells"
busy "a bridge forgets masked doorbells"
reload "doorbells that must not be used" -- edge 0 delay_us 0 unsafe 3
check "the back end polls" back_end ntb-polled
passes "doorbells that must not be used"
reload "an inbox aligned on 4 MiB" storm_bells=20 -- unsafe 0 align $((4 << 20))
passes "an inbox aligned on 4 MiB"
storm
engine
refusals
# ntb_transport reads.
[[ $(<$twin/reads) == 0 ]]
ok $? "nobody reads the window to the peer: $(<$twin/reads)"
clients
passes "after other clients"
barrier ended
finish
