#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# sample: the example consumer, as server and as client, with rw=0 and rw=1. It can be unloaded while it works.
#
#   node 1 (server=1) <--- krdma ---> node 2 (server=0)
#
# The scenario does not run on uml-debug, where the nodes share a kernel, which cannot load the module twice.
#
# kernels: uml
# long: stock-6.1 uml/siw stock-new stock-6.12 debug-6.1 debug-6.1/siw
# load: krdma
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
result() { cat /sys/module/krdma_sample/parameters/result 2>/dev/null; }

wait_result() {
	local end=$((SECONDS + 30 * slow))
	while [[ $(result) == running ]] && ((SECONDS < end)); do sleep 0.1; done
	[[ $(result) == ok ]]
}

listening() { grep -q "state LISTEN" < <(rdma resource show cm_id); }

wait_listening() {
	local end=$((SECONDS + 10 * slow))
	until listening; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

# sample RW HOST OPTIONS...: run server and client with rw=RW from start to end.
sample() {
	local rw=$1 host=$2
	shift 2
	if ((NODE == 1)); then
		check "insmod server=1 rw=$rw" insmod /modules/krdma_sample.ko server=1 "rw=$rw" "host=$host"
		check "a server with rw=$rw listens" wait_listening
		barrier "listening$cases"
		barrier "done$((cases - 2))"
	else
		barrier "listening$((cases + 2))"
		check "insmod server=0 rw=$rw $*" insmod /modules/krdma_sample.ko server=0 "rw=$rw" "$@"
		check "the client of rw=$rw $* succeeds" wait_result
		barrier "done$((cases - 2))"
	fi
	check "result of node $NODE is ok, not $(result)" wait_result
	check "rmmod of node $NODE after a run with rw=$rw succeeds" rmmod krdma_sample
}

# removed RW: unload the module on one end while both ends work. rmmod ends at once, and the other end detects the
# disconnect.
removed() {
	local rw=$1
	if ((NODE == 1)); then
		check "insmod server=1 rw=$rw" insmod /modules/krdma_sample.ko server=1 "rw=$rw"
		check "a server with rw=$rw listens" wait_listening
		barrier "ready$rw"
		barrier "removed$rw"
	else
		barrier "ready$rw"
		check "insmod of a client with much to do" insmod /modules/krdma_sample.ko server=0 "rw=$rw" "host=$(addr4 1)" \
			rounds=100000000
		sleep 1
		[[ $(result) == running ]]
		ok $? "a client with rw=$rw and much to do is running"
	fi
	SECONDS=0
	check "rmmod of node $NODE at work" rmmod krdma_sample
	((SECONDS <= 3 * slow))
	ok $? "rmmod of node $NODE at work is quick: $SECONDS s"
	on 2 barrier "removed$rw"
}

nobody_comes() {
	check "insmod of a server without clients" insmod /modules/krdma_sample.ko server=1 rw=0
	sleep 0.3
	SECONDS=0
	check "rmmod of a server without clients" rmmod krdma_sample
	((SECONDS <= 3 * slow))
	ok $? "rmmod of a server without clients is quick: $SECONDS s"
}

nobody_comes
sample 0 0.0.0.0 "host=$(addr4 1)" rounds=100
sample 1 0.0.0.0 "host=$(addr4 1)" rounds=20 size=100000
sample 0 :: "host=$(addr6 1)" rounds=10 size=1
sample 1 :: "host=$(addr6 1)" rounds=10 size=1
removed 0
removed 1
same_resources "$before" "resources are as before"
finish
