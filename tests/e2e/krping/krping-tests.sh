#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-tests: all tests of krping, and every option that changes the verbs that krping uses.
#
#   node 1 (server) <--- messages, READ, WRITE, SEND with invalidate ---> node 2 (client)
#
# kernels: uml uml/ntr
# long: uml/siw stock-6.1 stock-6.12 stock-new debug-6.1 debug-6.1/siw uml-debug uml/ntr-small uml/ntr-order debug-6.1/ntr-dma stock-6.1/ntr-shm uml/ntr-ntb uml/ntr-uml
# load: krdma krping
# timeout: 900

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
port=7300
turn=0
patience=10
# Divisor of the number of operations. On an emulated processor an operation takes a hundred times as long.
less=$((slow == 1 ? 1 : 20))

# run COMMAND: run a command of krping in this process. The exit status is that of write(). Sets "said" to the error
# message.
run() {
	said=$({ echo "$1" >/proc/krping; } 2>&1)
}

# try COMMAND: repeat COMMAND while its connect is refused, because the server begins to listen some time after the
# barrier.
try() {
	local end=$((SECONDS + patience * slow))
	until "$@"; do
		[[ $said == *"refused"* ]] && ((SECONDS < end)) || return 1
		sleep 0.1
	done
}

meaning() {
	case $1 in
	0) echo ;;
	EPROTO) echo "Protocol error" ;;
	EMSGSIZE) echo "Message too long" ;;
	EOPNOTSUPP) echo "Operation not supported" ;;
	EPROTOTYPE) echo "Protocol wrong type for socket" ;;
	EPROTONOSUPPORT) echo "Protocol not supported" ;;
	esac
}

# ended STATUS WANTED NAME: one case: STATUS is as WANTED. WANTED is 0, the name of an errno, "any" for any failure, or
# "left". With "left", the status is 0, or the errno is ECONNRESET because the peer disconnected before it acknowledged
# the last message.
ended() {
	local good=1
	case $2 in
	0) (($1 != 0)) || good=0 ;;
	any) (($1 == 0)) || good=0 ;;
	left) (($1 != 0)) && [[ $said != *"Connection reset"* ]] || good=0 ;;
	*) (($1 == 0)) || [[ $said != *"$(meaning "$2")"* ]] || good=0 ;;
	esac
	ok $good "$3${said:+: ${said##*: }}"
}

# pair SERVER CLIENT [WANTED-OF-CLIENT [WANTED-OF-SERVER]]: one case on each node: a run with these options of server
# and client ends as wanted.
pair() {
	local status=0 name="$1 <- $2" wanted=${3:-0}
	turn=$((turn + 1))
	barrier "pair$turn"
	if ((NODE == 1)); then
		run "server,addr=0.0.0.0,port=$port${1:+,$1}" || status=$?
		ended $status "${4:-0}" "$name: server"
	else
		# siw (6.1 to 7.3) does not report the reason of a reject (siw_proc_mpareply()). The client gets the
		# same error as if the server did not listen.
		[[ $LINK-$wanted != siw-EPROTOTYPE ]] || { wanted=any; patience=2; }
		try run "client,addr=$server,port=$port${2:+,$2}" || status=$?
		patience=10
		ended $status "$wanted" "$name: client"
	fi
}

# Expected results of runs that use READ with invalidate, which only iWARP has.
on_siw=EOPNOTSUPP
other=any
[[ $LINK != siw ]] || { on_siw=0; other=0; }

pings() {
	local ping="count=30,size=5000,validate"
	pair "size=5000" "$ping"
	pair "server_inv,size=5000" "server_inv,$ping"
	pair "server_inv,size=5000" "$ping"
	pair "size=5000" "server_inv,$ping" EPROTOTYPE EPROTOTYPE
	pair "compat,size=5000" "server_inv,$ping" EPROTO any
	pair "read_inv,size=5000" "$ping" $other $on_siw
	pair "read_inv,server_inv,local_dma_lkey,size=5000" "server_inv,$ping" $other $on_siw
	pair "local_dma_lkey,size=5000" "$ping"
	pair "local_dma_lkey,server_inv,size=131072" "server_inv,count=30,size=131072,validate"
	pair "mem_mode=dma,size=5000" "mem_mode=dma,$ping"
	pair "mem_mode=mr,size=5000" "mem_mode=mw,$ping"
	pair "server_inv,size=5000" "mem_mode=mr,$ping"
	pair "mem_mode=mr,local_dma_lkey,size=5000" "$ping"
	pair "srq,size=5000" "srq,$ping"
	pair "poll,size=5000" "poll,$ping"
	pair "tos=32,txdepth=1,size=5000" "tos=96,txdepth=1,$ping"
	pair "size=4096" "from=1,size=4096,count=5,validate"
	pair "size=100" "size=101,count=1" EPROTOTYPE EPROTOTYPE
	pair "compat,size=100" "size=101,count=1" any EMSGSIZE
}

# Run peers with and without "compat", which makes a peer behave like an old peer. Run peers with different values of
# options that must be equal on both sides.
hellos() {
	local ping="count=30,size=5000,verify=crc" test
	pair "size=5000" "$ping"
	pair "size=5000,verify=crc" "$ping,server_inv" EPROTOTYPE EPROTOTYPE
	pair "size=131072,server_inv" "count=30,size=131072,verify=crc,server_inv"
	pair "size=5000,local_dma_lkey,mem_mode=mr" "$ping,mem_mode=mr"
	pair "size=5000,verify=crc" "$ping"
	pair "size=5000,verify=crc" "count=30,size=5000" EPROTOTYPE EPROTOTYPE
	pair "size=5000,verify=crc" "compat,count=30,size=5000" any EPROTOTYPE
	pair "compat,size=5000" "$ping"
	pair "size=5000" "compat,$ping"
	pair "compat,size=5000" "compat,$ping"
	for test in rlat bw bw,duplex wlat; do
		both "$test,count=77,size=5000,verify=crc"
		both "$test,count=1,size=1,verify=crc"
		both "$test,count=0,size=1,verify=crc"
		both "compat,$test,count=77,size=5000"
		pair "$test,count=77,size=5000,validate" "$test,count=77,size=5000" EPROTOTYPE EPROTOTYPE
		pair "$test,count=77,size=5000,validate" "compat,$test,count=77,size=5000" any EPROTOTYPE
		pair "compat,$test,count=77,size=5000" "$test,count=77,size=5000,validate" EPROTONOSUPPORT any
		pair "$test,count=77,size=5000" "compat,$test,count=77,size=5000"
	done
	pair "bw" "rlat,count=1" EPROTOTYPE EPROTOTYPE
	pair "bw" "count=1" EPROTOTYPE EPROTOTYPE
	pair "" "wlat,count=1" EPROTOTYPE EPROTOTYPE
	pair "wlat,count=5" "wlat,count=6" EPROTOTYPE EPROTOTYPE
	pair "bw,duplex,count=5" "bw,count=5" EPROTOTYPE EPROTOTYPE
	pair "rlat" "rlat,count=5,size=65" EPROTOTYPE EPROTOTYPE
}

benches() {
	local count size
	for count in 0 1 $((200 / less)) $((1000 / less)); do
		for size in 1 64 5000; do
			# Run a thousand rounds with one size only, because polling tests take long on a single processor.
			((count < 1000 / less || size == 64)) || continue
			both "wlat,count=$count,size=$size"
			both "rlat,count=$count,size=$size"
			both "bw,count=$count,size=$size"
			both "bw,duplex,count=$count,size=$size"
		done
	done
	pair "rlat,count=100" "rlat,poll,count=100"
	pair "bw,poll,txdepth=4,count=100,size=131072" "bw,txdepth=1,count=100,size=131072"
	pair "bw,count=10,size=64" "compat,bw,count=10,size=65" EMSGSIZE left
	both "bw,srq,count=100"
}

both() { pair "$1" "$1"; }

registrations() {
	pair "" "fr,count=1000,size=65536"
	pair "" "frtest,count=1,txdepth=1,size=1"
	pair "" "fr,count=300,txdepth=8,size=131072"
}

# The log has a line of results in the format of upstream krping. Awk scripts of upstream krping read the words 2, 4, 7,
# 9 and 11 of this line.
delta() {
	local lines
	both "bw,count=123,size=77"
	lines=$(dmesg_node | sed 's/^\[[^]]*\] *//' |
		awk '$1 == "krping:" && $2 == "delta" && $9 == 123 && $11 == 77 && $4 + $7 > 0 { n++ } END { print n + 0 }')
	if ((NODE == 2)); then
		((lines == 1))
		ok $? "the log has one line of results for scripts: $lines"
	fi
}

# An endless test ends on both sides when the task that has started its client is killed.
killed() {
	local test
	for test in "" rlat bw bw,duplex wlat fr; do
		barrier "kill-$test"
		if ((NODE == 1)); then
			echo "server,port=$port,$([[ $test == fr ]] || echo "$test,count=4000000000")" 2>/dev/null >/proc/krping &
			within 5 krping_listens
			ok $? "a server of an endless ${test:-ping} listens"
			barrier "listens-$test"
			barrier "killed-$test"
			check "a server of ${test:-ping} ends when its client is killed" within 10 krping_idle
			{ wait $!; } 2>/dev/null
		else
			barrier "listens-$test"
			echo "client,addr=$server,port=$port,$test,count=4000000000" 2>/dev/null >/proc/krping &
			sleep 0.5
			kill -KILL $!
			check "a client of ${test:-ping} ends when it is killed" within 10 krping_idle
			{ wait $!; } 2>/dev/null
			barrier "killed-$test"
		fi
	done
}

srqs() {
	rdma resource show srq | grep -c "dev $RDMADEV "
}

one_srq() {
	(($(srqs) == 1))
}

# With srq, all connections of a run share one receive queue. A connection that ends does not affect the other
# connections.
shared() {
	local test status
	for test in "" slat sbw; do
		barrier "shared-$test"
		status=0
		if ((NODE == 1)); then
			echo "server,port=$port,srq,accept=6,size=5000,$test${test:+,duration=2}" 2>/dev/null >/proc/krping &
			within 5 krping_listens
			ok $? "a server of ${test:-ping} with srq listens for six connections"
			barrier "listens-$test"
			check "six connections of a server of ${test:-ping} have one receive queue" within 5 one_srq
			wait $! || status=$?
			ok $status "a server of ${test:-ping} with srq and six connections succeeds"
		else
			barrier "listens-$test"
			echo "client,addr=$server,port=$port,srq,qps=6,size=5000,duration=2,$test" 2>/dev/null >/proc/krping &
			check "six connections of a client of ${test:-ping} have one receive queue" within 5 one_srq
			wait $! || status=$?
			ok $status "a client of ${test:-ping} with srq and six connections succeeds"
		fi
	done
	barrier shared-kill
	if ((NODE == 1)); then
		echo "server,port=$port,srq,accept=2,size=131072" 2>/dev/null >/proc/krping &
		within 5 krping_listens
		barrier shared-listens
		wait $!
		ok $((!$?)) "a server with srq fails when one of two clients disconnects"
	else
		barrier shared-listens
		echo "client,addr=$server,port=$port,srq,size=131072" 2>/dev/null >/proc/krping &
		sleep 0.3
		run "client,addr=$server,port=$port,srq,size=131072,fault=kill:20"
		ok $((!$?)) "one of two clients with srq disconnects by fault=kill"
		sleep 0.5
		check "a client with srq continues when another one has disconnected" kill -0 $!
		kill -TERM $!
		{ wait $!; } 2>/dev/null
	fi
}

pings
shared
hellos
benches
registrations
delta
killed

same_resources "$before" "resources are as before"
finish
