#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# mr-pool: a pool keeps MRs of freed regions, up to its limit, for new regions of any size. It keeps an MR only if the
# key of the MR is invalid, and gives the MR another key for each region. The key of a freed region is refused, even
# while another region uses its MR. Long messages reuse the same MRs. The pool is freed with the connection.
#
#   node 1 (exposes regions, receives on 7000) <--- krdma ---> node 2 (creates regions, reads exposed ones, sends)
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
# Maximum size of one MR, in bytes.
one=$((2 * MiB))
[[ $LINK != siw ]] || one=$MiB
files=/sys/kernel/debug/krdma
mount_debugfs

# mrs: print the number of MRs of this node that the RDMA core reports.
mrs() { resources | sed -n 's/.* mr \([0-9]*\).*/\1/p'; }

# conn_counter NAME: print a counter of the newest connection.
conn_counter() {
	local id
	id=$(awk 'NR > 1 && $2 != "listener" { id = $1 } END { print id }' $files/connections)
	awk -v id="$id" -v name="$1" '$1 == id && $2 == name { value = $3 } END { print value + 0 }' $files/conn_counters
}

note() {
	allocated=$(conn_counter mrs_allocated)
	reused=$(conn_counter mrs_reused)
}

# grew ALLOCATED REUSED WHAT: one case: since the last call of note, ALLOCATED MRs were allocated, and MRs were reused
# REUSED times.
grew() {
	local now_allocated now_reused
	now_allocated=$(($(conn_counter mrs_allocated) - allocated))
	now_reused=$(($(conn_counter mrs_reused) - reused))
	((now_allocated == $1 && now_reused == $2))
	ok $? "$3: $1 MRs are allocated, $2 reused: $now_allocated, $now_reused"
}

# are N WHAT: one case: this node has N MRs more than before the connection.
are() {
	local now
	now=$(mrs)
	((now - none == $1))
	ok $? "$2: $1 MRs: $((now - none))"
}

# opened OPTIONS: one case: node 2 connects with OPTIONS.
opened() {
	none=$(mrs)
	# shellcheck disable=SC2086 # words of a command
	kt connect c "$server" 7000 max_msg=$((64 * MiB)) $1
	kt_is 0 "connected with ${1:-default options}"
	note
}

closed() {
	kt release c
	are 0 "a connection is released"
}

# regions N LEN [option]...: two cases: N regions are created, and all of their keys differ.
regions() {
	kt regions c "$@"
	kt_is 0 "regions are created: $*"
	[[ $kt_text == *same=0 ]]
	ok $? "regions have different keys: $* ($kt_text)"
}

in_turn() {
	opened ""
	regions 10 4096
	grew 10 0 "10 regions on a software device by default"
	are 0 "no MR is kept on a software device by default"
	closed
	opened mr_pool=16
	regions 100 4096
	grew 1 99 "100 regions one after the other"
	are 1 "one MR is kept after 100 regions"
	# One MR has 256 keys, so 500 regions in all need two MRs.
	regions 400 4096
	grew 2 498 "500 regions one after the other"
	are 1 "one MR is kept after 500 regions"
	closed
}

sizes() {
	local len
	opened mr_pool=16
	for len in 4096 5000 65536 100000 $MiB; do regions 3 "$len"; done
	grew 5 10 "regions that grow"
	for len in 600000 70000 5000 300; do regions 3 "$len"; done
	grew 5 22 "regions that shrink"
	are 5 "five MRs of different sizes are kept"
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
	are 2 "a pool of two after six regions at a time"
	regions 4 4096 live=2
	grew 6 4 "regions from a pool of two"
	# The pool is full of small MRs, which must make room for larger MRs.
	regions 3 $MiB
	grew 7 6 "larger regions with a full pool"
	are 2 "a pool of two after larger regions"
	closed
	opened "mr_pool=$never"
	regions 10 4096
	grew 10 0 "regions without a pool"
	are 0 "no MR is kept without a pool"
	closed
	kt connect c "$server" 7000 mr_pool=1025
	kt_is EINVAL "a pool that is too large is refused"
	kt release c
}

# The pool keeps no MR of a region that is not revoked, because the key of this MR may be valid in the adapter.
valid_ones() {
	opened mr_pool=16
	regions 10 4096 revoke=0
	grew 10 0 "regions that are not revoked"
	are 0 "no MR is kept of regions that are not revoked"
	regions 2 4096
	grew 11 1 "regions that are revoked"
	regions 2 4096 revoke=0
	grew 12 2 "regions that are not revoked, with an MR of the pool"
	are 0 "no MR is kept after it was not revoked"
	closed
}

# key_refused WHAT: one case: the adapter has refused a READ. The call returns the error of the READ or of the peer's
# disconnect, whichever comes first.
key_refused() {
	is_one_of "$kt_ret" "${errno[EACCES]}" "${errno[ECONNRESET]}"
	ok $? "$1: $kt_ret"
}

# again LEN: node 2 uses the key of a region that node 1 has freed. During this use, a new region of LEN bytes uses the
# MR of the freed region. With LEN 0, no region uses this MR.
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
			ok $? "the key of a reused MR has changed: $kt_text after $key"
			grew 0 1 "a region from the pool"
		fi
		barrier gone
		barrier tried
		kt until a CLOSED 20000
		kt_is 0 "using the key of a freed region ends the connection"
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
		key_refused "the old key is refused, with $len bytes behind its MR"
		barrier tried
		kt forget 0
		kt forget 1
		closed
	fi
	barrier next
}

# messages OPTIONS ALLOCATED REUSED: node 2 connects with OPTIONS, and sends ten messages of 8 MiB. For these messages
# node 2 allocates ALLOCATED MRs, and reuses MRs REUSED times.
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
	ok $? "node $NODE transfers ten messages of 8 MiB, ${1:-default options}$bad"
	barrier over
	# The numbers of the receiver do not depend on OPTIONS, because the receiver has the parameters of its listener.
	if ((NODE == 1)); then
		grew $((8 * MiB / one)) $((9 * 8 * MiB / one)) "the receiver of ten messages of 8 MiB"
		expect 0 release a
	else
		grew "$2" "$3" "the sender of ten messages of 8 MiB, ${1:-default options}"
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
