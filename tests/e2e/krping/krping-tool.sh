#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-tool: all commands and options of the tool krping have the expected output, plots and exit status.
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
mount_debugfs
out=$results/out
cd "$results" || exit

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

is_over() { [[ -z $(</proc/krping) ]]; }

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
	check "stop all ends all servers" is_over
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
	kill -TERM $pid
	{ wait $pid; } 2>/dev/null || status=$?
	((status == 1))
	ok $? "SIGTERM ends an endless client with exit status 1: $status"
	check "SIGTERM ends the run of an endless client" within 5 is_over
	holds "an endless client prints its result after SIGTERM" "run *"
}

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

same_resources "$before" "resources are as before"
finish
