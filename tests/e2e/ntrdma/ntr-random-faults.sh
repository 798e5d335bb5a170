#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# ntr-random-faults: QPs fail with QP_FATAL and links end at random (fault_ms) while persistent connections write and read.
# Each connection reconnects, no request ends wrongly, and after the faults all connections are up.
#
#   node 1 (server on 7000) <--- krdma over ntrdma --- node 2 (four persistent connections)
#
# kernels: uml/ntr uml-debug/ntr
# long: stock-6.1/ntr
# load: krdma krdma_test
# timeout: 180

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
server=$(addr4 1)
options="rw=1 max_msg=65536 recv_depth=8"
fault_ms=/sys/module/ntrdma/parameters/fault_ms
names="a b c d"
lost=0

# is_up NAME: check whether a persistent connection is connected.
is_up() {
	kt kept show "$1"
	[[ $kt_text == "connected "* ]]
}

barrier begun
# shellcheck disable=SC2086 # words of a command
on 1 expect 0 server "$server" 7000 backlog=512 $options
barrier listening
if ((NODE == 2)); then
	for name in $names; do
		# shellcheck disable=SC2086
		expect 0 reconnect "$name" "$server" 7000 min=20 max=200 $options
		kt_start "pump-$name" kept pump "$name"
	done
	echo 100 >"$fault_ms"
	sleep 20
	echo 0 >"$fault_ms"
	for name in $names; do
		within 20 is_up "$name"
		ok $? "connection $name is up after the faults ($kt_text)"
		[[ ! $kt_text =~ lost=([0-9]+) ]] || lost=$((lost + BASH_REMATCH[1]))
	done
	((lost >= 8))
	ok $? "the faults have ended many connections: $lost"
	sleep 1
	for name in $names; do
		kt kept stop "$name"
		kt_is 0 "connection $name is stopped ($kt_text)"
		kt_result "pump-$name" 30
		kt_is 0 "connection $name: no request failed except at a lost connection ($kt_text)"
	done
fi
barrier stopped
on 1 expect 0 server end
same_resources "$before" "resources are as before"
finish
