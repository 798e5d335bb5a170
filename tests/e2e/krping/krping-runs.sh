#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-runs: runs of krping, by /proc/krping and by the tool krping.
# - runs: a server serves many clients. Runs are started and stopped in the background. A run ends at its time limit, and
#   fails below a minimum bandwidth or above a maximum latency. krping prints results for programs, and has tests that
#   upstream krping does not have.
# - tool: all commands and options of the tool krping have the expected output, plots and exit status.
#
#   node 1 (server) <--- pings and measurements ---> node 2 (clients)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-6.12 stock-new debug-6.1 debug-6.1/siw
# load: krdma krping
# add: ../../tools/krping
# timeout: 1500

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
mount_debugfs

# ---- runs ----

debugfs=/sys/kernel/debug/krping
turn=0
# Divisor of the number of operations. On an emulated processor an operation takes a hundred times as long.
less=$((slow == 1 ? 1 : 20))

# of KEY: print the value of KEY in the line of results in "line".
of() {
	local word
	for word in $line; do
		[[ ${word%%=*} != "$1" ]] || echo "${word#*=}"
	done
}

is_over() { krping_run list && [[ $(state_of "$1") == over ]]; }

# state_of RUN: print the state of RUN in the output of the command list.
state_of() {
	local fd text
	exec {fd}<>/proc/krping
	echo list >&"$fd"
	while read -r text <&"$fd"; do
		[[ $text == "run=$1 "* ]] && line=$text && of state
	done
	exec {fd}>&-
}

# fails WORDS NAME COMMAND: one case: write() of COMMAND fails, and its error message has WORDS.
fails() {
	local status=0
	krping_try "$3" || status=$?
	((status != 0)) && [[ $said == *"$1"* ]]
	ok $? "$2 fails: ${said##*: }"
}

# on_both SERVER CLIENT [SERVER-FAILS]: one case on each node: a run with the options SERVER or CLIENT succeeds. With
# SERVER-FAILS the run may fail on the server. Sets "line" to the result.
on_both() {
	turn=$((turn + 1))
	barrier "both$turn"
	if ((NODE == 1)); then
		krping_run "server,port=7400,$1"
		[[ $? == 0 || -n ${3:-} ]]
		ok $? "$1 <- $2: server: $said $(of error)"
	else
		krping_try "client,addr=$server,port=7400,$2"
		ok $? "$1 <- $2: client: $said $(of error)"
	fi
}

# at_least NAME NUMBER: succeed if the value of NAME in "line" is NUMBER or more.
at_least() {
	local number
	number=$(of "$1")
	[[ $number =~ ^[0-9]+$ ]] && ((number >= $2))
}

tests() {
	local test rest
	for test in slat sbw rbw; do
		for rest in count=1,size=1 "count=$((200 / less)),size=16" "count=$((500 / less)),size=5000" \
			"count=$((40 / less)),size=131072,txdepth=4" duration=1,size=512 count=0 "count=$((300 / less)),size=1000,poll" \
			"count=$((40 / less)),sweep=1-300"; do
			[[ $test-$rest != slat-duration* ]] || rest=duration=1
			on_both "$test,$rest" "$test,$rest"
			[[ $rest == count=0 ]] || numbers "$test"
		done
	done
	on_both "rbw,count=64,size=4096,verify=crc" "rbw,count=64,size=4096,verify=crc"
	on_both "wlat,duration=1" "wlat,duration=1"
	numbers wlat
	on_both "bw,duplex,duration=1,size=4096" "bw,duplex,duration=1,size=4096,verify=crc"
	on_both "bw,sweep=1-131072,count=20" "bw,sweep=1-131072,count=20,verify=crc"
	on_both "wlat,sweep=1-3000,count=20" "wlat,sweep=1-3000,count=20,verify=crc"
	on_both "bw,count=1000,cq_mod=16,size=4096" "bw,count=1000,cq_mod=16,size=4096,verify=crc"
	on_both "bw,size=8" "bw,count=1000,cq_mod=16384,txdepth=3,size=8"
	on_both "bw,inline=64,count=100" "bw,inline=64,count=100,verify=crc"
	on_both "sbw,size=40" "sbw,inline=40,count=1000,size=40,cq_mod=7"
	on_both "size=4096" "duration=1,size=4096"
	on_both "size=64" "sweep=1-64,count=3,verify=crc"
	on_both "" "fr,duration=1"
	on_both "accept=4,max_conns=4,bw,size=4096" "qps=4,bw,count=500,size=4096,verify=crc"
	((NODE == 1)) || { [[ $(of ops) == 2000 && $(of clients) == 4 ]]; ok $? "a run with qps=4 completes all operations of four connections: $line"; }
	if [[ $LINK == siw ]]; then
		on_siw
		return
	fi
	on_both "atomic=fadd" "atomic=fadd,count=500"
	on_both "atomic=cas" "atomic=cas,count=500"
	on_both "bw,imm,size=5000" "bw,imm,count=1000,size=5000,verify=crc"
	on_both "sbw,imm,size=16" "sbw,imm,count=1000,size=16"
	on_both "slat,imm,count=100" "slat,imm,count=100"
}

numbers() {
	((NODE == 2)) || return
	at_least ops 1 && at_least ops_s 1 && at_least time_ns 1
	ok $? "a run of $1 has numbers: $line"
	[[ $1 == sbw || $1 == rbw ]] || { at_least p50_ns 1 && at_least p99_ns "$(of p50_ns)" && at_least rtt_max_ns "$(of p99_ns)"; }
	ok $? "a run of $1 has percentiles"
}

# On siw, commands with operations that iWARP does not have are refused.
on_siw() {
	local command
	for command in atomic=fadd bw,imm; do
		barrier "no-$command"
		if ((NODE == 1)); then
			krping_run "server,port=7400,$command,timeout=3000"
			ok $((! $?)) "a server of $command on siw is refused: ${said##*: }"
		else
			fails "" "a client of $command on siw" "client,addr=$server,port=7400,count=1,$command"
		fi
		barrier "no-$command-over"
	done
}

# A server for many clients serves eight clients at a time. Then one client is killed, and the server serves another
# one.
many() {
	local i failed=0 pids=()
	barrier many
	if ((NODE == 1)); then
		krping_run "server,port=7401,size=4096,accept=0,bg"
		ok $? "a server for many clients starts in the background: $line"
		many=$(of run)
		within 5 krping_listens
		ok $? "a server for many clients listens"
		barrier many-begin
		barrier many-dead
		[[ $(state_of "$many") == running ]]
		ok $? "a server is still running after a client was killed"
		barrier many-again
		check "a server for many clients is stopped" krping_run "stop=$many"
		krping_run "stop=$many"
		ok $((! $?)) "stopping a stopped server is refused: ${said##*: }"
		[[ $(state_of "$many") == over ]]
		ok $? "the state of a stopped server is over"
		grep -q '"clients": 10' "$debugfs/$many/result"
		ok $? "the result of the server counts ten clients: $(grep clients "$debugfs/$many/result")"
	else
		barrier many-begin
		for i in {1..8}; do
			(krping_run "client,addr=$server,port=7401,count=50,size=$((i * 512)),verify=crc") &
			pids+=($!)
		done
		for i in "${pids[@]}"; do
			wait "$i" || failed=$((failed + 1))
		done
		((failed == 0))
		ok $? "eight clients at a time are served: $failed failed"
		echo "client,addr=$server,port=7401,size=4096" 2>/dev/null >/proc/krping &
		sleep 0.5
		kill -KILL $!
		{ wait $!; } 2>/dev/null
		check "the run of a killed client ends" within 10 krping_idle
		barrier many-dead
		check "a client is served after another one was killed" krping_run "client,addr=$server,port=7401,count=5,size=64"
		barrier many-again
	fi
}

limits() {
	barrier limits
	if ((NODE == 1)); then
		krping_run "server,port=7402,accept=0,max_conns=1,bg"
		many=$(of run)
		barrier limits-begin
		barrier limits-refused
		check "stop=all stops a server with max_conns=1" krping_run "stop=all"
		# A client that ends sooner than the server frees its connection is no reason to refuse the next one.
		krping_run "server,port=7402,accept=0,bg"
		barrier limits-many
		barrier limits-over
		check "stop=all stops a server that accepts many clients" krping_run "stop=all"
	else
		barrier limits-begin
		krping_run "client,addr=$server,port=7402,bg"
		within 5 grep -q "$RDMADEV" /proc/krping
		! krping_run "client,addr=$server,port=7402,count=1"
		ok $? "a client beyond max_conns is refused: ${said##*: }"
		check "stop=all stops a client in the background" krping_run "stop=all"
		check "no run is left after stop=all" krping_idle
		within 5 krping_run "client,addr=$server,port=7402,count=1"
		ok $? "a client is served after another one has left max_conns"
		barrier limits-refused
		barrier limits-many
		fails "Numerical result out of range" "a client below min_bw" "client,addr=$server,port=7402,count=10,min_bw=4000000000"
		fails "Numerical result out of range" "a client above max_lat" "client,addr=$server,port=7402,count=10,max_lat=1,fault=delay:1"
		fails "Numerical result out of range" "a client above max_p99" "client,addr=$server,port=7402,count=10,max_p99=1"
		check "a client within its limits succeeds" krping_run "client,addr=$server,port=7402,count=10,min_bw=0,max_lat=10000000,max_p99=10000000"
		barrier limits-over
	fi
}

times() {
	local begin=$SECONDS
	barrier times
	if ((NODE == 1)); then
		fails "timed out" "a server without clients" "server,port=7403,timeout=500"
		((SECONDS - begin <= 5 * slow))
		ok $? "a server without clients times out in time"
		barrier times-mute
		krping_run "server,port=7403,size=64,idle_timeout=1000"
		ok $((! $?)) "a server fails if its client falls silent: ${said##*: }"
		barrier times-deaf
		krping_run "server,port=7403,fault=drop:5"
		ok $((! $?)) "a server that falls silent fails: ${said##*: }"
		barrier times-slat-mute
		krping_run "server,port=7403,slat,count=100,idle_timeout=1000"
		ok $((! $?)) "a server of slat fails if its client falls silent: ${said##*: }"
		barrier times-slat-deaf
		krping_run "server,port=7403,slat,count=100,fault=drop:5"
		ok $((! $?)) "a server of slat that falls silent fails: ${said##*: }"
		barrier times-kill
		krping_run "server,port=7403,fault=kill:5"
		ok $((! $?)) "a server with fault=kill fails: ${said##*: }"
		barrier times-over
	else
		barrier times-mute
		fails "" "a client with fault=drop" "client,addr=$server,port=7403,fault=drop:5"
		barrier times-deaf
		fails "timed out" "a client with idle_timeout" "client,addr=$server,port=7403,idle_timeout=1000"
		barrier times-slat-mute
		fails "" "a client of slat with fault=drop" "client,addr=$server,port=7403,slat,count=100,fault=drop:5"
		barrier times-slat-deaf
		fails "timed out" "a client of slat with idle_timeout" "client,addr=$server,port=7403,slat,count=100,idle_timeout=1000"
		barrier times-kill
		fails "reset" "a client whose server disconnects" "client,addr=$server,port=7403"
		barrier times-over
		begin=$SECONDS
		fails "timed out" "a client of an unused address" "client,addr=10.56.0.99,port=1,timeout=300"
		((SECONDS - begin <= 15 * slow))
		ok $? "a client of an unused address times out in time"
	fi
}

result_lines() {
	local i run kept
	barrier results
	if ((NODE == 1)); then
		on_both "size=4096" ""
		return
	fi
	on_both "" "sweep=64-4096,count=20,verify=crc"
	run=$(of run)
	python3 - "$debugfs/$run" <<-EOF
		import json, sys
		result = json.load(open(sys.argv[1] + "/result"))
		sizes = result["sizes"]
		assert [part["size"] for part in sizes] == [64, 128, 256, 512, 1024, 2048, 4096], sizes
		assert all(part["ops"] == 20 and part["time_ns"] > 0 for part in sizes)
		assert all(part["min_ns"] <= part["p50_ns"] <= part["p99_ns"] <= part["max_ns"] for part in sizes)
		assert all(sum(part["log2_ns"].values()) == 20 for part in sizes)
		assert result["state"] == "over" and result["error"] == 0
		hist = [[int(word) for word in line.split()] for line in open(sys.argv[1] + "/hist")]
		assert sum(row[2] for row in hist) == 140
	EOF
	ok $? "run $run has valid JSON and a valid histogram"
	for i in {1..70}; do krping_run "client,addr=$server,port=7499,count=1,conn_timeout=500"; done
	kept=("$debugfs"/*)
	((${#kept[@]} <= 64)) && [[ ! -e $debugfs/$run ]]
	ok $? "at most 64 results are kept"
}

from_77() { [[ $(rdma resource show cm_id) == *"src-addr 192.168.77.2:"* ]]; }

is_elsewhere() { [[ $(readlink "/proc/$1/ns/net") != "$(readlink /proc/self/ns/net)" ]]; }

# A run in a network namespace without addresses does not take the source address of dev from another namespace.
other_netns() {
	unshare --net sleep 60 &
	within 10 is_elsewhere $!
	fails "Network is unreachable" "a client with dev in a netns without addresses" \
		"client,addr=$server,port=7404,count=3,dev=$RDMADEV,netns=$!"
	kill $!
	wait $! 2>/dev/null
}

where() {
	# Give the device a second address, in another subnet.
	ip addr add "192.168.77.$NODE/24" dev "$NETDEV"
	barrier where
	if ((NODE == 1)); then
		krping_run "server,port=7404,accept=0,bg,dev=$RDMADEV"
		ok $? "a server with dev succeeds: $said"
		barrier where-begin
		barrier where-over
		krping_run "stop=all"
	else
		barrier where-begin
		check "a client with dev succeeds" krping_run "client,addr=$server,port=7404,count=3,dev=$RDMADEV"
		fails "No such device" "a client with a dev that does not exist" "client,addr=$server,port=7404,count=3,dev=nothing0"
		krping_run "client,addr=192.168.77.1,port=7404,dev=$RDMADEV,bg"
		check "with dev a client takes the address in the subnet of the server" within 10 from_77
		krping_run "stop=$(of run)"
		check "a client with src succeeds" krping_run "client,addr=$server,port=7404,count=3,src=$(addr4 2)"
		fails "" "a client with the src of another host" "client,addr=$server,port=7404,count=3,src=$(addr4 1)"
		check "a client with netns by process succeeds" krping_run "client,addr=$server,port=7404,count=3,netns=$$"
		exec {ns}</proc/self/ns/net
		check "a client with netns by descriptor succeeds" krping_run "client,addr=$server,port=7404,count=3,netns=$ns"
		exec {ns}<&-
		fails "" "a client with a netns that does not exist" "client,addr=$server,port=7404,count=3,netns=2147483646"
		other_netns
		check "a client with vector succeeds" krping_run "client,addr=$server,port=7404,count=3,vector=0"
		barrier where-over
	fi
}

# have_had MESSAGES ID...: succeed if each run in ID... has transferred more than MESSAGES messages.
have_had() {
	local messages=$1 id
	shift
	for id in "$@"; do
		awk -v id="$id" -v messages="$messages" '$1 ~ "^" id "-" && $5 > messages { good = 1 } END { exit !good }' /proc/krping ||
			return
	done
}

# cpu_at_work CPU: succeed if a worker of krping that is bound to CPU is running.
cpu_at_work() {
	[[ $(cat /proc/[0-9]*/comm 2>/dev/null) == *"kworker/$1:"+([0-9])"+krping_cpu"* ]]
}

# The tasks of a run share its connections, and can be bound to processors. No connection waits until another one has
# completed.
teams() {
	local i ids=() cpu begin one four
	cpu=$(($(nproc) - 1))
	on_both "accept=4,threads=2,bw,size=4096" "qps=4,threads=2,bw,count=500,size=4096,verify=crc"
	((NODE == 1)) || { [[ $(of ops) == 2000 && $(of clients) == 4 ]]; ok $? "two tasks complete all operations of four connections: $line"; }
	on_both "accept=3,threads=1,wlat,count=50" "qps=3,threads=1,wlat,count=50"
	on_both "accept=3,threads=2,slat,count=50,poll" "qps=3,threads=3,slat,count=50,poll"
	on_both "accept=2,threads=1,size=5000" "qps=2,threads=1,count=50,size=5000,validate"
	# Each of four connections pauses twenty times for 100 ms. If connections paused one after the other, this would
	# take six seconds more.
	begin=${EPOCHREALTIME/[.,]/}
	on_both "" "count=20,fault=delay:100"
	one=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
	begin=${EPOCHREALTIME/[.,]/}
	on_both "accept=4" "qps=4,threads=1,count=20,fault=delay:100"
	four=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
	((four < 2 * one + 2000))
	ok $? "connections of one task pause at the same time: $four ms for four, $one ms for one"
	on_both "cpu=$cpu,size=64" "cpu=$cpu,count=50,validate"
	on_both "accept=3,cpu=$cpu,threads=2,sbw" "qps=3,cpu=0,threads=2,sbw,count=500"
	barrier teams
	if ((NODE == 1)); then
		krping_run "server,port=7405,accept=0,threads=1,bg"
		ok $? "a server with one task for all clients starts: $said"
		within 5 krping_listens
		barrier teams-begin
		barrier teams-over
		krping_run "stop=all"
	else
		barrier teams-begin
		for i in 1 2 3; do
			krping_run "client,addr=$server,port=7405,bg,cpu=$cpu"
			ids+=("$(of run)")
		done
		check "three clients are served by one task" within 20 have_had 50 "${ids[@]}"
		check "clients with cpu=$cpu run on processor $cpu" within 20 cpu_at_work "$cpu"
		check "stop=all" krping_run "stop=all"
		fails "Invalid argument" "no such processor" "client,addr=$server,port=7405,count=1,cpu=65535"
		barrier teams-over
	fi
}

# pause_task PID: stop the task for a second and continue it, as Ctrl-Z and fg do. If the kernel has control groups,
# freeze the task by a control group as well.
pause_task() {
	kill -STOP "$1"
	sleep 1
	kill -CONT "$1"
	freeze_task "$1" "the writer of a command" || true
}

# A run continues while the task that started it is stopped or frozen, and afterwards. A signal to this task ends the
# run if the signal kills the task or has a handler.
stopped() {
	local status=0
	barrier stopped
	if ((NODE == 1)); then
		echo "server,port=7406,size=4096,idle_timeout=60000" 2>/dev/null >/proc/krping &
		within 5 krping_listens
		pause_task $!
		check "the writer of a server still waits after it was stopped" kill -0 $!
		check "a server still listens after its writer was stopped" krping_listens
		barrier stopped-client
		wait $! || status=$?
		ok "$status" "a server whose writer was stopped and continued succeeds"
	else
		barrier stopped-client
		echo "client,addr=$server,port=7406,duration=6" 2>/dev/null >/proc/krping &
		sleep 1
		pause_task $!
		wait $! || status=$?
		ok "$status" "a client whose writer was stopped and continued succeeds"
		echo "client,addr=$server,port=7499,conn_timeout=500" 2>/dev/null >/proc/krping &
		kill -STOP $!
		sleep 1
		kill -TERM $!
		kill -CONT $!
		status=0
		{ wait $!; } 2>/dev/null || status=$?
		((status == 143 || status == 1))
		ok $? "a signal ends a stopped writer of a command: $status"
		check "the run of a stopped writer ends by the signal" within 5 krping_idle
		# The writer is stopped while it looks for an address that nobody has, and killed before it goes on.
		echo "client,addr=10.56.0.199,port=7499,conn_timeout=20000" 2>/dev/null >/proc/krping &
		sleep 0.5
		kill -STOP $!
		sleep 0.5
		kill -KILL $!
		{ wait $!; } 2>/dev/null
		check "no run is left of a writer that was stopped and killed while it connected" within 5 krping_idle
	fi
}

# A server logs its address. The run succeeds if the command stop= stops it.
listening() {
	local status=0 run
	barrier listening
	((NODE == 1)) || return
	krping_run "server,addr=0.0.0.0,port=7407,bg"
	run=$(of run)
	within 5 krping_listens
	[[ $(dmesg_node) == *"krping: $run: listening on 0.0.0.0:7407"* ]]
	ok $? "the log has the address of a server"
	state_of "$run" >/dev/null
	krping_run list
	grep -q '"listen": "0.0.0.0:7407"' "$debugfs/$run/result"
	ok $? "the result has the address of a server"
	check "stop= stops a server in the background" krping_run "stop=$run"
	grep -q '"state": "over".*"error": 0,' "$debugfs/$run/result"
	ok $? "a server in the background that was stopped has succeeded"
	echo "server,port=7407" 2>/dev/null >/proc/krping &
	within 5 krping_listens
	check "stop=all stops a server" krping_run "stop=all"
	wait $! || status=$?
	ok "$status" "the command of a server that was stopped succeeds"
}

# krping does not measure the operations of the warm-up, and stores the time of each measured operation.
samples() {
	local test run
	for test in "" wlat slat rlat; do
		on_both "$test,count=50,size=64" "$test,count=50,size=64,warmup=30,samples=1000"
		((NODE == 2)) || continue
		run=$(of run)
		[[ $(of ops) == 50 && $(wc -l <"$debugfs/$run/samples") == 50 ]] &&
			awk '$1 != 64 || $2 < 1 { bad = 1 } END { exit bad }' "$debugfs/$run/samples"
		ok $? "${test:-ping} does not measure the warm-up, and keeps the time of each operation: $(of ops), $(wc -l <"$debugfs/$run/samples")"
	done
	on_both "bw,duplex,count=50,size=4096" "bw,duplex,count=50,size=4096,warmup=30,validate"
	on_both "sbw,size=100" "sbw,count=50,size=100,warmup=500"
	on_both "wlat,sweep=8-64,count=20" "wlat,sweep=8-64,count=20,warmup=5,samples=30"
	((NODE == 1)) || { (($(wc -l <"$debugfs/$(of run)/samples") == 30)); ok $? "samples=30 keeps 30 times"; }
	barrier samples-none
	if ((NODE == 1)); then
		krping_run "server,port=7400,rlat"
		ok $? "a server of 0 operations succeeds: $said"
	else
		fails "Numerical result out of range" "a client of 0 operations with max_p99" \
			"client,addr=$server,port=7400,rlat,count=0,max_p99=1"
	fi
}

runs() {
	tests
	samples
	listening
	stopped
	teams
	many
	limits
	times
	result_lines
	where
	ip addr del "192.168.77.$NODE/24" dev "$NETDEV"

}

# ---- the tool krping ----

out=$results/out

# does STATUS DESCRIPTION WORD...: one case: the tool with the arguments WORD... has the exit status STATUS. Its stderr
# is stored in "said", and its stdout in the file "out".
does() {
	local wanted=$1 text=$2 status=0
	shift 2
	said=$(timeout $((200 * slow)) /add/krping "$@" 2>&1 >"$out") || status=$?
	[[ $status == "$wanted" && $said != *Traceback* ]]
	ok $? "$text: exit status $status $said"
}

# holds DESCRIPTION PATTERN: one case: the file "out" matches PATTERN.
holds() {
	# shellcheck disable=SC2053
	[[ $(<"$out") == $2 ]]
	ok $? "$1"
}

# The modules and the tool have the same version. sysfs shows the version of a loaded module.
versions() {
	[[ "krping $(</sys/module/krping/version)" == "$(/add/krping --version)" &&
		$(</sys/module/krdma/version) == "$(</sys/module/krping/version)" ]]
	ok $? "krdma and krping have the version of the tool: $(</sys/module/krping/version)"
}

serve() {
	does 0 "server --format line in the background" --format line server accept=0 bg size=4096
	[[ $said == "krping: run "*" is listening on 0.0.0.0:9999" ]]
	ok $? "server prints its address and port: $said"
	holds "server --format line prints its number" "run=* role=server test=ping *"
	does 0 "server --format json in the background" --format json server rlat port=9998 accept=0 bg size=4096
	holds "server --format json prints JSON" "{*\"test\": \"rlat\"*}"
	barrier serving
	barrier measured
	does 0 "list of two servers" list
	(($(grep -c "^run=.* state=running role=server" "$out") == 2))
	ok $? "list prints both servers"
	does 2 "stop of an invalid run" stop 0
	does 1 "stop of a run that does not exist" stop 4000000000
	does 0 "stop all" stop all
	check "stop all ends all servers" krping_idle
}

measure() {
	does 0 "client without --format" client "$server" count=20 size=4096 validate
	holds "client without --format prints a table" "run *: client, ping, device $RDMADEV, 1 connections, 0 failed*bytes *operations*4096 *20 *"
	does 0 "client --format line" --format line client "$server" count=3
	holds "client --format line prints the line of the kernel" "run=* state=over role=client test=ping error=0 size=64 count=3 *"
	does 0 "client -f json -o into a file" -f json -o lat.json client "$server" port=9998 rlat sweep=64-4096 count=200
	holds "client -o prints nothing" ""
	does 0 "show of an earlier run" show lat.json
	(($(awk 'NR > 2 && $2 == 200 { n++ } END { print n }' "$out") == 7))
	ok $? "show prints a table of seven sizes"
	does 0 "client -f plot -o into a file" -f plot -o lat.svg client "$server" port=9998 rlat sweep=64-256 count=200
	[[ $(<lat.svg) == *"64 bytes"*"128 bytes"*"256 bytes"*"krping rlat, $RDMADEV"*"</svg>"* ]]
	ok $? "the plot has three sizes"
	does 0 "client -U into a file" client "$server" port=9998 rlat count=30 -q -U times.txt
	[[ $(wc -l <times.txt) == 30 ]] && awk '$1 != 64 || $2 < 1 { bad = 1 } END { exit bad }' times.txt
	ok $? "the file of -U has the bytes and ns of each operation"
	does 0 "show -f plot of an earlier run" -f plot show lat.json
	holds "show -f plot draws in text" "*krping rlat, $RDMADEV*4096 bytes*"
}

# The tool shows progress on a terminal only.
progress() {
	local command="/add/krping client $server port=9998 rlat duration=2"
	said=$(script -qec "$command" /dev/null | tr '\r' '\n')
	[[ $said == *"run "*" s, "*" work requests, "*"/s"*"operations"* ]]
	ok $? "client on a terminal shows its progress"
	does 0 "client without a terminal" client "$server" port=9998 rlat duration=1
	[[ -z $said ]]
	ok $? "client without a terminal shows no progress"
}

fail() {
	does 1 "client without a server" client "$server" port=9997 count=1
	does 1 "client above max_p99" -f line client "$server" count=20 max_p99=1
	[[ $said == *"not as good as min_bw, max_lat or max_p99 demand (ERANGE)"* ]]
	ok $? "client above max_p99 prints the reason"
	holds "client above max_p99 prints its numbers" "run=* error=-34 * p99_ns=*"
	does 2 "client with an unknown option" client "$server" nonsense
	does 2 "client with an invalid option" client "$server" "a,b"
	does 1 "client of an unknown host" client nowhere.invalid
	does 1 "client -f plot of a test without sizes" -f plot client "$server" fr count=1
	said=$(setpriv --reuid 65534 --clear-groups /add/krping client "$server" 2>&1)
	[[ $? == 1 && $said == "krping: /proc/krping is for root" ]]
	ok $? "client without privileges is refused: $said"
}

# A signal to the tool ends an endless client and its run.
interrupted() {
	local status=0 pid
	/add/krping client "$server" 2>/dev/null >"$out" &
	pid=$!
	within 10 grep -q -- "-$RDMADEV " /proc/krping
	ok $? "an endless client runs"
	kill -TERM "$pid"
	{ wait "$pid"; } 2>/dev/null || status=$?
	((status == 1))
	ok $? "SIGTERM ends an endless client with exit status 1: $status"
	check "SIGTERM ends the run of an endless client" within 5 krping_idle
	holds "an endless client prints its result after SIGTERM" "run *"
}

tool() {
	cd "$results" || exit
	versions
	if ((NODE == 1)); then
		serve
	else
		barrier serving
		measure
		progress
		fail
		interrupted
		barrier measured
	fi
}

section runs
# Python takes seconds to start on an emulated processor with a debug kernel.
[[ $KERNEL == debug-* ]] || section tool
finish
