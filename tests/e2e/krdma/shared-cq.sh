#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# shared-cq: connections share completion queues. They use as few queues as possible; no queue can overflow, and none is
# left at the end. All connections transfer messages and requests at the same time, in both directions. When some
# connections end, the others continue. Raw connections share the queues as well. Tasks poll for completions before they
# sleep.
#
#   node 1 (listens on 7000 and up, accepts) <--- krdma, twenty connections ---> node 2 (connects)
#
# kernels:
# alone: uml
# long: uml/siw stock-6.1 uml-debug stock-new stock-6.12 debug-6.1 debug-6.1/siw uml/ntr uml/ntr-small debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
# fit: number of connections for which a shared queue has room. n: number of connections in most tests, which need a
# second queue.
fit=16
n=20
if ((NODE == 1)); then mine=a; else mine=c; fi
# Options with timeouts for twenty connections that transfer data at once. The default ACK timeout is half a second. An
# emulated debug kernel cannot acknowledge all packets within this time, and each retransmission delays other packets.
shared="shared_cq=1 rw=1 max_msg=65536 recv_depth=16 send_depth=16 op_ms=$((30000 * slow)) keepalive_ms=$((15000 * slow))"
shared+=" ack_timeout=$((16 + slow))"

# Print the number of completion queues of krdma on this node.
cqs() {
	rdma resource show cq 2>/dev/null | grep -c "dev $RDMADEV .*comm \[krdma\]"
}

# has_cqs N DESCRIPTION: one case: krdma has N completion queues. Wait for this, because krdma may free queues a little
# later.
has_cqs() {
	local now end=$((SECONDS + 5 * slow))
	until now=$(cqs) && ((now == $1)) || ((SECONDS >= end)); do sleep 0.1; done
	((now == $1))
	ok $? "$2: $1 completion queues: $now"
}

# together FROM TO DESCRIPTION COMMAND WORDS...: one case: COMMAND succeeds on connections FROM to TO of this node at
# the same time.
together() {
	local i from=$1 to=$2 what=$3 command=$4 wrong=
	shift 4
	for ((i = from; i <= to; i++)); do kt_start "$command$i" "$command" "$mine$i" "$@"; done
	for ((i = from; i <= to; i++)); do
		kt_result "$command$i" 60
		((kt_ret == 0)) || wrong+=" $i:$kt_ret($kt_text)"
	done
	[[ -z $wrong ]]
	ok $? "$what succeed on each of connections $from to $to$wrong"
}

# join FROM TO PORT [OPTION]...: one case: connections FROM to TO are established on both nodes.
join() {
	local i wrong=0 from=$1 to=$2 port=$3
	shift 3
	for ((i = from; i <= to; i++)); do
		if ((NODE == 1)); then
			kt accept "a$i" "l$port" 20000
		else
			# shellcheck disable=SC2086 # words of a command
			kt connect "c$i" "$server" "$port" "$@" $shared
		fi
		((kt_ret == 0)) || { wrong=$((wrong + 1)); echo "# $i: $kt_ret $kt_text"; }
	done
	((wrong == 0))
	ok $? "connections $from to $to on port $port are established"
}

part() {
	local i
	for ((i = $1; i <= $2; i++)); do kt release "$mine$i"; done
}

# messages NAME: send messages on all connections, on five at a time. With more at a time, receivers could time out:
# they wait 40 s for the first message, and on a debug kernel it takes a second to start a process.
messages() {
	local i from wrong=
	for ((from = 1; from <= n; from += 5)); do
		for ((i = from; i < from + 5; i++)); do kt_start "sink$i" take "$mine$i" 50 $((NODE == 1 ? 700 : 300)); done
		barrier "$1-$from"
		together $from $((from + 4)) "50 messages" async send virt 50 $((NODE == 1 ? 300 : 700)) chain=10
		for ((i = from; i < from + 5; i++)); do
			kt_result "sink$i" 60
			((kt_ret == 0)) || wrong+=" $i:$kt_ret"
		done
	done
	[[ -z $wrong ]]
	ok $? "$1: 50 messages of the peer arrive complete on each connection$wrong"
	barrier "$1"
}

requests() {
	together 1 $n "100 WRITEs" async write virt 100 300 chain=16
	together 1 $n "WRITEs of 16 KiB that are read back" rwpump 16384 300
	barrier requested
}

# End all connections, and check the number of messages on each. The sinks of node 1 end when the client disconnects.
part_after_sinks() {
	local i
	((NODE == 1)) || { part 1 $n; return; }
	for ((i = 1; i <= n; i++)); do
		kt_result "sink$i" 60
		((i % 4)) || continue
		[[ $kt_text == "$(<"/exchange/cq-$i")" ]]
		ok $? "connection $i loses no message when others end ($kt_text)"
	done
	part 1 $n
}

# End every fourth connection, in one of four ways. The other connections lose no message.
deaths() {
	local i
	if ((NODE == 1)); then
		for ((i = 1; i <= n; i++)); do kt_start "sink$i" sink "a$i"; done
		barrier sinking
		sleep 1
		kt disconnect a20
	else
		barrier sinking
		pumps
	fi
	barrier pumped
	part_after_sinks
	barrier died
}

pumps() {
	local i pids=()
	for ((i = 1; i <= n; i++)); do
		kt_start "pump$i" pump "c$i" 300 $((3000 * slow))
		pids[i]=$kt_pid
	done
	sleep 1
	kt disconnect c4
	kt disconnect c8
	kt kill c12 "${pids[12]}" any
	kt release c16
	for ((i = 1; i <= n; i++)); do
		kt_result "pump$i" 60
		((i % 4)) || continue
		kt_is 0 "connection $i continues when others end ($kt_text)"
		echo "$kt_text" >"/exchange/cq-$i"
	done
}

# Sixteen connections fill one queue. A new connection takes the room of a connection that has ended. The end of the last
# connection of a queue frees the queue.
sizes() {
	join 1 $fit 7000 comp_vector=1
	has_cqs 1 "$fit connections"
	barrier fit
	join $((fit + 1)) $n 7000 comp_vector=1
	has_cqs 2 "$n connections"
	barrier twenty
	part 3 5
	has_cqs 2 "three of $n connections have ended"
	barrier three-less
	join 3 5 7000 comp_vector=1
	has_cqs 2 "three connections are replaced"
	barrier three-others
	part $((fit + 1)) $n
	has_cqs 1 "all connections of the second queue have ended"
	barrier back
	join $((fit + 1)) $n 7000 comp_vector=1
	barrier again
}

# Connections with another poll context, another vector, or shared_cq=0 use other queues.
apart() {
	local vectors
	if ((NODE == 1)); then
		join 1 2 7001
		kt query a1
	else
		join 1 2 7001 poll=1 comp_vector=1
		kt query c1
	fi
	[[ $kt_text =~ \ vectors=([0-9]+) ]]
	vectors=${BASH_REMATCH[1]}
	has_cqs 1 "two connections polled in a workqueue"
	barrier apart1
	join 3 4 7000 comp_vector=1
	has_cqs 2 "two more in softirq context"
	barrier apart2
	# krdma uses a vector modulo the number of vectors, so vector "vectors + 1" means the first vector.
	join 5 6 7000 comp_vector=$((vectors + 1))
	has_cqs 2 "two more of vector $((vectors + 1)) of $vectors"
	barrier apart3
	join 7 8 7002 shared_cq=0
	has_cqs 4 "two more with shared_cq=0"
	barrier apart4
	part 1 8
	has_cqs 0 "all connections with different queues have ended"
	barrier parted
}

# raw_pings N DESCRIPTION NAME...: one case: N single sends over each of the raw connections NAME... complete.
raw_pings() {
	local count=$1 what=$2 name wrong=
	shift 2
	for name; do
		kt rawping "$name" "$count"
		((kt_ret == 0)) || wrong+=" $name:$kt_ret"
	done
	[[ -z $wrong ]]
	ok $? "$what$wrong"
}

# raw_got N NAME...: one case: N sends have arrived on each of the connections NAME... Wait for this, because the last
# sends may arrive a little later.
raw_got() {
	local count=$1 name wrong="" end=$((SECONDS + 5 * slow))
	shift
	for name; do
		until kt rawping "$name" 0; [[ $kt_text == "received=$count" ]] || ((SECONDS >= end)); do sleep 0.05; done
		[[ $kt_text == "received=$count" ]] || wrong+=" $name:$kt_text"
	done
	[[ -z $wrong ]]
	ok $? "$count raw sends arrive on each of $*$wrong"
}

# join_raw N [OPTION]...: one case: N raw connections are established. Their owner posts requests and handles completions.
join_raw() {
	local i wrong=0 count=$1
	shift
	for ((i = 1; i <= count; i++)); do
		if ((NODE == 1)); then
			kt request "r$i" l7006 20000 && kt answer "r$i" raw=1 "$@"
		else
			kt connect "r$i" "$server" 7006 raw=1 "$@"
		fi
		((kt_ret == 0)) || { wrong=$((wrong + 1)); echo "# raw $i: $kt_ret $kt_text"; }
	done
	((wrong == 0))
	ok $? "$count raw connections are established"
}

# Both sides post raw sends while messages are in flight on other connections.
raw_traffic() {
	local i
	for i in {1..4}; do
		if ((NODE == 1)); then kt_start "sink$i" sink "a$i"; else kt_start "pump$i" pump "c$i" 300 $((2000 * slow)); fi
	done
	barrier raw-begun
	# The client must send first, because iWARP requires this.
	on 2 raw_pings 4 "raw sends to the server complete" r{1..4}
	barrier raw-sent
	on 1 raw_pings 3 "raw sends to the client complete" r{1..4}
	barrier raw-answered
	raw_got $((NODE == 1 ? 4 : 3)) r{1..4}
	barrier raw-counted
	# Two raw connections end; the peer releases them in its closing callback.
	if ((NODE == 2)); then
		expect 0 disconnect r1
		expect 0 release r2
	fi
	barrier raw-died
	on 2 raw_pings 4 "raw sends complete after two raw connections have ended" r3 r4
	barrier raw-went-on
	raw_got $((NODE == 1 ? 8 : 3)) r3 r4
	((NODE == 1)) && return
	for i in {1..4}; do
		kt_result "pump$i" 60
		kt_is 0 "messages complete on connection $i beside raw sends ($kt_text)"
	done
}

# Raw connections and message connections share a queue.
raws() {
	local i
	# shellcheck disable=SC2086 # words of a command
	join_raw 4 ${shared/rw=1 max_msg=65536/} comp_vector=1
	has_cqs 1 "four raw connections"
	barrier raw-joined
	join 1 4 7000 comp_vector=1
	# A shared queue has room for sixteen connections of this size, so all eight use one queue.
	has_cqs 1 "four raw and four message connections"
	barrier raw-all
	raw_traffic
	barrier raw-traffic
	part 1 2
	for i in {1..4}; do kt release "r$i"; done
	has_cqs 1 "two of eight connections are left"
	barrier raw-left
	part 3 4
	has_cqs 0 "all raw and message connections have ended"
	barrier raw-gone
}

# If a connection requests no vector, krdma uses the vector with the fewest connections.
spread() {
	local cpus wanted
	cpus=$(nproc)
	wanted=$((cpus < 4 ? cpus : 4))
	join 1 4 7003
	has_cqs "$wanted" "four connections on $cpus processors"
	barrier spread
	part 1 4
	has_cqs 0 "all spread connections have ended"
	barrier gathered
}

# spun PAID VAIN: set "paid" and "vain" to the numbers of successful and failed polls since the counters were PAID and
# VAIN.
spun() {
	paid=$(($(counter spins.paid) - $1))
	vain=$(($(counter spins.vain) - $2))
}

# spins PORT [OPTION]...: check that each wait on both sides begins with a poll.
spins() {
	local paid vain
	spun 0 0
	join 1 1 "$@"
	if ((NODE == 1)); then
		kt_start echo echo a1
		barrier "looked$1"
		kt_result echo 30
		# The last echo may fail, because the client may disconnect before it is acknowledged.
		[[ $kt_text == count=600 || $kt_text == count=599 ]]
		ok $? "polling server, port $1: all messages arrive ($kt_text)"
	else
		kt rwpump c1 4096 500
		kt_is 0 "polling client, port $1: WRITEs are read back ($kt_text)"
		kt_start back take c1 600 100
		kt async c1 send virt 600 100 chain=3
		kt_is 0 "polling client, port $1: 600 messages are sent ($kt_text)"
		kt_result back 60
		kt_is 0 "polling client, port $1: 600 messages are echoed"
		kt release c1
		barrier "looked$1"
	fi
	part 1 1
	spun "$paid" "$vain"
	((paid + vain > 0))
	ok $? "port $1: tasks with spin_us poll: $paid successful, $vain failed"
}

# pays POLL: on a connection inside this node, some poll succeeds in time. This may take long: a poll succeeds only if
# the processor that completes the request runs during the poll. On a single processor an interrupt must arrive
# during the poll. Two emulated processors may not run at the same time for minutes.
pays() {
	local paid vain end=$((SECONDS + 60 * slow)) self
	self=$(addr4 "$NODE")
	spun 0 0
	local was_paid=$paid was_vain=$vain
	kt listen own "$self" 7100 rw=1 max_msg=4096 poll="$1" spin_us=1000
	kt_start dial connect d "$self" 7100 rw=1 max_msg=4096 poll="$1" spin_us=1000
	kt accept e own 20000
	kt_result dial 20
	kt_is 0 "connected to this node itself, poll=$1"
	until kt rwpump d 8 300; spun "$was_paid" "$was_vain"; ((kt_ret || paid || SECONDS > end)); do :; done
	kt_is 0 "poll=$1: WRITEs inside this node are read back ($kt_text)"
	((paid > 0 || (vain > 0 && ($(nproc) == 1 || slow > 1))))
	ok $? "poll=$1: a poll succeeds: $paid successful, $vain failed"
	for slot in d e own; do kt release $slot; done
}

listen() {
	# shellcheck disable=SC2086 # words of a command
	kt listen "l$1" 0.0.0.0 "$@"
	kt_is 0 "listening succeeds: $*"
}

mount_debugfs
if ((NODE == 1)); then
	rm -f /exchange/cq-*
	# shellcheck disable=SC2086 # words of a command
	{
		listen 7000 $shared comp_vector=1
		listen 7001 $shared comp_vector=1 poll=1
		listen 7002 shared_cq=0 $shared
		listen 7003 $shared
		listen 7004 $shared spin_us=50
		listen 7005 $shared spin_us=50 poll=1
		listen 7006 raw=1 ${shared/rw=1 max_msg=65536/} comp_vector=1
	}
fi
barrier listening
sizes
messages talked
requests
messages talked-again
deaths
has_cqs 0 "all shared connections have ended"
barrier none
apart
raws
spread
(($(counter spins.paid) + $(counter spins.vain) == 0))
ok $? "tasks without spin_us do not poll"
spins 7004 spin_us=50
spins 7005 spin_us=50 poll=1
if ((NODE == 2)); then
	pays 0
	pays 1
fi
barrier paid
if ((NODE == 1)); then
	for port in {7000..7006}; do expect 0 release "l$port"; done
fi
same_resources "$before" "resources are as before"
finish
