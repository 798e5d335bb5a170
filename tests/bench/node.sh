#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# What tools/bench runs on the nodes: node 1 serves, the last node measures; with one node that is the same one.
#
# Each argument is a job "KEY TEST VARIANTS ROUNDS [NAME=NUMBER]...": a test of krdma_bench, or the test "user", which
# compares krdma's stream with ib_write_bw. Prints "result KEY VARIANT ROUND NAME=NUMBER...", or "failed KEY", or
# "skipped KEY WHY", and on top of all "node NAME=VALUE..." with what there is to know of the kernel.

set -uo pipefail

port=7100
server=10.56.0.1
user_iterations=5000
failures=0

# kb COMMAND...: run a command of krdma_bench in this very process and print what it says.
kb() {
	local fd status=0
	exec {fd}<>/proc/krdma_bench || return 1
	echo "$*" >&"$fd" || status=1
	cat <&"$fd"
	exec {fd}>&-
	return "$status"
}

describe() {
	local mtu
	mtu=$(ibv_devinfo -d "$RDMADEV" | sed -n 's/.*active_mtu:[^0-9]*\([0-9]*\).*/\1/p')
	echo "node release=$(uname -r) mtu=$mtu"
}

# perftest takes the processor's speed from where User-mode Linux does not say it. Any number will do: one that is
# far from what it measures itself makes it believe that.
say_speed() {
	grep -q "cpu MHz" /proc/cpuinfo && return
	echo "cpu MHz : 1" >/tmp/cpuinfo
	mount --bind /tmp/cpuinfo /proc/cpuinfo
}

user_server() {
	while :; do
		timeout 30 ib_write_bw -d "$RDMADEV" -F -s "$1" -n "$user_iterations" || sleep 0.1
	done >/dev/null 2>&1
}

# user_turn SIZE: "n=N ns=NS" of ib_write_bw. The server needs a moment after each run.
user_turn() {
	local try
	for ((try = 0; try < 3; try++)); do
		timeout 10 ib_write_bw -d "$RDMADEV" -F -s "$1" -n "$user_iterations" "$server" 2>/dev/null |
			awk -v size="$1" '$1 == size && $4 > 0 {
				printf "n=%d ns=%.0f\n", $2, $2 * size / ($4 * 1048576) * 1e9; good = 1
			} END { exit !good }' && return
		sleep 0.5
	done
	return 1
}

# user ROUNDS [NAME=NUMBER]...: like kb, for variants krdma and user.
user() {
	local round rounds=$1 line
	shift
	for ((round = 1; round <= rounds; round++)); do
		kb stream krdma "$server" "$port" rounds=1 "$@" | sed "s/^krdma 1 /krdma $round /" || return
		line=$(user_turn "$user_size") || { echo "skip ib_write_bw does not work here"; return; }
		echo "user $round $line"
	done
}

job() {
	local key=$1 test=$2 variants=$3 rounds=$4 out line status=0
	shift 4
	if [[ $test == user ]]; then
		out=$(user "$rounds" "$@") || status=$?
	else
		out=$(kb "$test" "$variants" "$server" "$port" rounds="$rounds" "$@") || status=$?
	fi
	if ((status)); then
		echo "failed $key"
		failures=$((failures + 1))
	elif [[ $out == *"skip "* ]]; then
		echo "skipped $key ${out##*skip }"
	else
		while read -r line; do echo "result $key $line"; done <<<"$out"
	fi
}

# The size of the jobs that need a server in user space, "" if there is none.
user_size=
for words in "$@"; do
	[[ $words =~ \ user\ .*size=([0-9]+) ]] && user_size=${BASH_REMATCH[1]}
done

if ((NODE == 1)); then
	kb serve "$port" || exit
	if [[ $user_size ]]; then
		say_speed
		user_server "$user_size" &
	fi
fi
barrier serving
if ((NODE == NODES)); then
	((NODE == 1)) || [[ ! $user_size ]] || say_speed
	describe
	for words in "$@"; do
		read -ra words <<<"$words"
		job "${words[@]}"
	done
fi
barrier measured
if ((NODE == 1)); then
	if [[ $user_size ]]; then
		kill %1 2>/dev/null
		wait
		umount /proc/cpuinfo 2>/dev/null
	fi
	kb stop || exit
fi
((failures == 0))
