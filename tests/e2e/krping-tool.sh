#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-tool: the front end of krping, in all of its forms: what it prints, draws, and says by its exit status.
#
#   node 1 (krping server) <--- pings, READs ---> node 2 (krping client)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-new
# load: krdma krping
# add: ../../tools/krping
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
out=$results/out
cd "$results" || exit

# does STATUS DESCRIPTION WORD...: is that its exit status? What it says is in "said", what it prints in the file "out".
does() {
	local wanted=$1 text=$2 status=0
	shift 2
	said=$(timeout $((200 * slow)) /add/krping "$@" 2>&1 >"$out") || status=$?
	[[ $status == "$wanted" && $said != *Traceback* ]]
	ok $? "$text: exit status $status $said"
}

# holds DESCRIPTION PATTERN: what was printed
holds() {
	# shellcheck disable=SC2053
	[[ $(<"$out") == $2 ]]
	ok $? "$1"
}

is_over() { [[ -z $(</proc/krping) ]]; }

serve() {
	does 0 "a server in the background" --format line server accept=0 bg size=4096
	holds "tells its number" "run=* role=server test=ping *"
	does 0 "another one" --format json server rlat port=9998 accept=0 bg size=4096
	holds "says it in JSON" "{*\"test\": \"rlat\"*}"
	barrier serving
	barrier measured
	does 0 "list" list
	(($(grep -c "^run=.* state=running role=server" "$out") == 2))
	ok $? "has both of them"
	does 2 "stop what is none" stop 0
	does 1 "stop what is not there" stop 4000000000
	does 0 "stop" stop all
	check "all servers are over" is_over
}

measure() {
	does 0 "a ping" client "$server" count=20 size=4096 validate
	holds "prints a table" "run *: client, ping, device $RDMADEV, 1 connections, 0 failed*bytes *operations*4096 *20 *"
	does 0 "a line" --format line client "$server" count=3
	holds "is the kernel's" "run=* state=over role=client test=ping error=0 size=64 count=3 *"
	does 0 "JSON, into a file" -f json -o lat.json client "$server" port=9998 rlat sweep=64-4096 count=200
	holds "is not printed" ""
	does 0 "a table of an earlier run" show lat.json
	(($(awk 'NR > 2 && $2 == 200 { n++ } END { print n }' "$out") == 7))
	ok $? "has seven sizes"
	does 0 "a plot" -f plot -o lat.svg client "$server" port=9998 rlat sweep=64-256 count=200
	[[ $(<lat.svg) == *"64 bytes"*"128 bytes"*"256 bytes"*"krping rlat, $RDMADEV"*"</svg>"* ]]
	ok $? "is a picture of three sizes"
	does 0 "times one by one" client "$server" port=9998 rlat count=30 -q -U times.txt
	[[ $(wc -l <times.txt) == 30 ]] && awk '$1 != 64 || $2 < 1 { bad = 1 } END { exit bad }' times.txt
	ok $? "the file of --samples has the bytes and ns of each operation"
	does 0 "a plot of an earlier run" -f plot show lat.json
	holds "is drawn in text" "*krping rlat, $RDMADEV*4096 bytes*"
}

# Only who looks at a terminal is told how it goes.
progress() {
	local command="/add/krping client $server port=9998 rlat duration=2"
	said=$(script -qec "$command" /dev/null | tr '\r' '\n')
	[[ $said == *"run "*" s, "*" work requests, "*"/s"*"operations"* ]]
	ok $? "a progress line"
	does 0 "none elsewhere" client "$server" port=9998 rlat duration=1
	[[ -z $said ]]
	ok $? "is nothing to read"
}

fail() {
	does 1 "nobody listens" client "$server" port=9997 count=1
	does 1 "slower than max_p99" -f line client "$server" count=20 max_p99=1
	[[ $said == *"not as good as min_bw, max_lat or max_p99 demand (ERANGE)"* ]]
	ok $? "says why"
	holds "and has numbers" "run=* error=-34 * p99_ns=*"
	does 2 "no such option" client "$server" nonsense
	does 2 "no option" client "$server" "a,b"
	does 1 "no such host" client nowhere.invalid
	does 1 "nothing to draw" -f plot client "$server" fr count=1
	said=$(setpriv --reuid 65534 --clear-groups /add/krping client "$server" 2>&1)
	[[ $? == 1 && $said == "krping: /proc/krping is for root" ]]
	ok $? "not for everybody: $said"
}

# What has no end ends by a signal, and so does the run.
interrupted() {
	local status=0 pid
	/add/krping client "$server" 2>/dev/null >"$out" &
	pid=$!
	within 10 grep -q -- "-$RDMADEV " /proc/krping
	ok $? "a ping without end"
	kill -TERM $pid
	{ wait $pid; } 2>/dev/null || status=$?
	((status == 1))
	ok $? "ends by SIGTERM: $status"
	check "as does the run" within 5 is_over
	holds "and tells what it has done" "run *"
}

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

same_resources "$before" "resources are as before"
finish
