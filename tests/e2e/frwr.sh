#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# frwr: MRs of regions that go are kept for the next ones, if it is sure that they are invalid: as many as may be, of any
# size, each time with another key. What a peer was told of a region that is gone is worth nothing, also while its MR
# serves another region. Long messages use the same MRs all the time. Nothing is left with the connection.
#
#   node 1 (exposes regions, receives on 7000) <--- krdma ---> node 2 (makes regions, reads what is exposed, sends)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-new stock-6.12 debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
never=4294967295
MiB=$((1 << 20))
# So much is one MR.
one=$((2 * MiB))
[[ $LINK != siw ]] || one=$MiB
files=/sys/kernel/debug/krdma
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug

# MRs that the RDMA core knows of here.
mrs() { resources | sed -n 's/.* mr \([0-9]*\).*/\1/p'; }

# A counter of the newest connection.
counter() {
	local id
	id=$(awk 'NR > 1 && $2 != "listener" { id = $1 } END { print id }' $files/connections)
	awk -v id="$id" -v name="$1" '$1 == id && $2 == name { value = $3 } END { print value + 0 }' $files/conn_counters
}

note() {
	allocated=$(counter mrs_allocated)
	reused=$(counter mrs_reused)
}

# MRs since the last note.
grew() {
	local now_allocated now_reused
	now_allocated=$(($(counter mrs_allocated) - allocated))
	now_reused=$(($(counter mrs_reused) - reused))
	((now_allocated == $1 && now_reused == $2))
	ok $? "$3: $now_allocated MRs allocated, $now_reused reused; $1 and $2"
}

# are N WHAT: so many MRs are there, besides those of others.
are() {
	local now
	now=$(mrs)
	((now - none == $1))
	ok $? "$2: $((now - none)) MRs, $1"
}

# opened OPTIONS: node 2 connects.
opened() {
	none=$(mrs)
	# shellcheck disable=SC2086 # words of a command
	kt connect c "$server" 7000 max_msg=$((64 * MiB)) $1
	kt_is 0 "connected ${1:-as usual}"
	note
}

closed() {
	kt release c
	are 0 "released"
}

# regions N LEN [option]...: all of them have keys of their own.
regions() {
	kt regions c "$@"
	kt_is 0 "regions $*"
	[[ $kt_text == *same=0 ]]
	ok $? "regions $*: no key twice ($kt_text)"
}

in_turn() {
	opened ""
	regions 10 4096
	grew 10 0 "a software device keeps none by default"
	are 0 "none is"
	closed
	opened mr_pool=16
	regions 100 4096
	grew 1 99 "a hundred regions, one after the other"
	are 1 "one is kept"
	# An MR has no more keys than that.
	regions 400 4096
	grew 2 498 "five hundred"
	are 1 "one is kept"
	closed
}

sizes() {
	local len
	opened mr_pool=16
	for len in 4096 5000 65536 100000 $MiB; do regions 3 "$len"; done
	grew 5 10 "regions that grow"
	for len in 600000 70000 5000 300; do regions 3 "$len"; done
	grew 5 22 "regions that shrink"
	are 5 "five are kept"
	closed
	opened mr_pool=16
	regions 4 $((5 * MiB + 1))
	len=$((5 * MiB / one + 1))
	grew $len $((3 * len)) "regions of $len MRs"
	closed
}

limits() {
	opened mr_pool=2
	regions 6 4096 live=6
	are 2 "six at a time, two may be kept"
	regions 4 4096 live=2
	grew 6 4 "two were"
	# What is not wanted any more must not stay for ever.
	regions 3 $MiB
	grew 7 6 "there is room for a larger one"
	are 2 "two are kept"
	closed
	opened "mr_pool=$never"
	regions 10 4096
	grew 10 0 "none may be kept"
	are 0 "none is"
	closed
	kt connect c "$server" 7000 mr_pool=1025
	kt_is EINVAL "too many to keep"
	kt release c
}

# Who does not revoke, leaves MRs of which nobody knows what the adapter thinks.
valid_ones() {
	opened mr_pool=16
	regions 10 4096 revoke=0
	grew 10 0 "regions that are not revoked"
	are 0 "none is kept"
	regions 2 4096
	grew 11 1 "those that are revoked"
	regions 2 4096 revoke=0
	grew 12 2 "an MR that was kept is not for ever"
	are 0 "none is kept"
	closed
}

# The adapter refuses a read: that, or the end that the peer makes of it, is heard first.
refused() {
	is_one_of "$kt_ret" "${errno[EACCES]}" "${errno[ECONNRESET]}"
	ok $? "$1: $kt_ret"
}

# again LEN: node 2 uses what it was told of a region that is gone; LEN is that of the region that has its MR then, 0: none.
again() {
	local len=$1
	if ((NODE == 1)); then
		expect 0 accept a l 20000
		expect 0 expose a 0 100000
		local key=$kt_text
		barrier told
		barrier fetched
		note
		expect 0 withdraw 0
		if ((len)); then
			expect 0 expose a 1 "$len"
			[[ $kt_text != "$key" ]]
			ok $? "another key: $kt_text after $key"
			grew 0 1 "the same MR"
		fi
		barrier gone
		barrier tried
		kt until a CLOSED 20000
		kt_is 0 "the connection is over"
		[[ $len == 0 ]] || kt withdraw 1
		expect 0 release a
	else
		opened mr_pool=16
		barrier told
		expect 0 learn c 0
		expect 0 fetch c 0 100000
		barrier fetched
		barrier gone
		if ((len)); then
			expect 0 learn c 1
			expect 0 fetch c 1 "$len"
		fi
		kt fetch c 0 "$((len && len < 100000 ? len : 100000))"
		refused "the old key is refused, with $len bytes behind its MR"
		barrier tried
		kt forget 0
		kt forget 1
		closed
	fi
	barrier next
}

# messages OPTIONS ALLOCATED REUSED: ten long ones, of eight MiB, and what each end needs for them
messages() {
	local bad=""
	if ((NODE == 1)); then
		expect 0 accept a l 20000
		note
	else
		opened "$1"
	fi
	barrier open
	for _ in {1..10}; do
		if ((NODE == 1)); then
			kt longreceive a $((8 * MiB)) 60000
			((kt_ret == 8 * MiB)) || bad+=" $kt_ret"
		else
			kt longsend c $((8 * MiB)) 60000
			((kt_ret == 0)) || bad+=" $kt_ret"
		fi
	done
	[[ -z $bad ]]
	ok $? "ten long messages$bad"
	barrier over
	# The receiver's parameters are the listener's.
	if ((NODE == 1)); then
		grew $((8 * MiB / one)) $((9 * 8 * MiB / one)) "receiver"
		expect 0 release a
	else
		grew "$2" "$3" "sender ${1:-as usual}"
		closed
	fi
	barrier next
}

if ((NODE == 1)); then expect 0 listen l 0.0.0.0 7000 max_msg=$((64 * MiB)) mr_pool=16; fi
barrier listening
if ((NODE == 1)); then
	for _ in {1..7}; do
		expect 0 accept a l 60000
		kt until a CLOSED 60000
		kt release a
	done
else
	in_turn
	sizes
	limits
	valid_ones
fi
barrier own
for len in 0 100000 5000 120000; do again $len; done
messages mr_pool=16 $((8 * MiB / one)) $((9 * 8 * MiB / one))
messages "mr_pool=$never" $((10 * 8 * MiB / one)) 0
if ((NODE == 1)); then expect 0 release l; fi
same_resources "$before" "resources are as before"
finish
