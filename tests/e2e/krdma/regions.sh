#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# regions: memory that is registered for the peer or for own requests.
# - access: READs and WRITEs of the peer access exactly the memory of a region, whatever kind of memory it is. The peer
#   cannot write a region for reading, and cannot read a region for writing. After the keys of a region are revoked, the
#   peer cannot access the region, although the connection is up. A key of a region in a domain is valid only in that
#   domain. A key of a region outside any domain is valid only on one connection. A region of a domain is registered once
#   for all connections of the domain.
# - pool: a pool keeps MRs of freed regions, up to its limit, for new regions of any size. It keeps an MR only if the key of
#   the MR is invalid, and gives the MR another key for each region. The key of a freed region is refused, even while
#   another region uses its MR. Long messages reuse the same MRs. The pool is freed with the connection.
#
#   node 1 (exposes regions; listens on 7000, in domain 1 on 7001 and 7003, in domain 2 on 7002) <--- krdma ---> node 2
#
# kernels: uml
# long: uml/siw stock-6.1 uml-debug stock-new stock-6.12 debug-6.1 debug-6.1/siw uml/ntr uml/ntr-small uml/ntr-order stock-6.1/ntr-dma debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 480

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
MiB=$((1 << 20))
mount_debugfs

# mrs: print the number of MRs of this node that the RDMA core reports.
mrs() { resources | sed -n 's/.* mr \([0-9]*\).*/\1/p'; }

# key_refused WHAT: one case: the adapter refuses a request because of its key. The call returns the error of the request or
# of the peer's disconnect, whichever comes first. On iWARP a WRITE, whose WHAT begins with "store", may also return 0,
# because it completes when TCP has taken its data. Node 1 checks that a refused WRITE has not changed its memory.
key_refused() {
	local also=
	[[ $LINK != siw || $1 != store* ]] || also=0
	# shellcheck disable=SC2086 # a word or none
	is_one_of "$kt_ret" "${errno[EACCES]}" "${errno[ECONNRESET]}" $also
	ok $? "$1: $kt_ret"
}

# ---- access of the peer ----

# The values of KRDMA_REMOTE_READ, KRDMA_REMOTE_WRITE and KRDMA_DOMAIN.
readable=1
writable=2
shared=128
pds() { resources | sed -n 's/.* pd \([0-9]*\).*/\1/p'; }

open() {
	if ((NODE == 1)); then expect 0 accept a l 20000; else expect 0 connect c "$server" 7000 "$@"; fi
}

closed() {
	if ((NODE == 1)); then
		kt until a CLOSED 20000
		kt_is 0 "the connection is CLOSED at the end of a test of regions"
		kt withdraw 0
		expect 0 release a
	else
		kt forget 0
		expect 0 release c
	fi
}

# kind LEN [option]...: node 2 reads a region of node 1, writes it, and reads it again.
kind() {
	local len=$1
	shift
	if ((NODE == 1)); then
		expect 0 expose a 0 "$len" access=$((readable | writable)) "$@"
		barrier written
		kt holds 0 77
		kt_is 0 "a region of $len bytes $* has the data that the peer wrote"
		expect 0 withdraw 0
	else
		expect 0 learn c 0
		kt fetch c 0 "$len"
		kt_is 0 "the peer reads the data of a region of $len bytes $*"
		# With skip=2000, the local MRs have other boundaries than the MRs of the peer.
		expect 0 store c 0 "$len" 77 "$1" skip=2000
		kt fetch c 0 "$len" 77
		kt_is 0 "the peer reads the data that it wrote to a region of $len bytes $*"
		barrier written
	fi
}

kinds() {
	local of len skip
	open
	for of in alloc vmalloc sg; do
		for len in 1 4096 4097 100000 $((5 * MiB + 1)); do
			for skip in 0 100 4095; do
				[[ $of == alloc && $skip != 0 ]] || kind "$len" of="$of" skip="$skip"
			done
		done
	done
	if ((NODE == 1)); then
		expect EINVAL expose a 0 10000 of=sg-gap
		expect EINVAL expose a 0 10000 of=kmalloc
		expect EINVAL expose a 0 0 of=vmalloc
		expect EINVAL expose a 0 10000 of=sg access=128
		expect EINVAL expose a 0 10000 of=vmalloc access=128
		kind 100 of=sg
		barrier withdrawn
		kt until a CLOSED 20000
		expect ECONNRESET expose a 0 10000 of=vmalloc
		expect ECONNRESET expose a 0 10000 of=sg
	else
		kind 100 of=sg
		barrier withdrawn
		kt disconnect c
	fi
	closed
}

# forbidden ACCESS COMMAND: COMMAND of node 2 is refused, because the region of node 1 has only the rights in ACCESS.
forbidden() {
	local access=$1
	shift
	if [[ $LINK == siw && $1 == fetch ]]; then
		skip "fetch where the access is $access" "siw does not look at it"
		return
	fi
	open
	if ((NODE == 1)); then
		expect 0 expose a 0 10000 "access=$access"
		barrier exposed
		barrier tried
		kt until a CLOSED 20000
		expect 0 holds 0
	else
		expect 0 learn c 0
		# Wait until the message of node 1 is acknowledged. The refused request below may end the connection,
		# and node 1 would then not get the acknowledgement.
		barrier exposed
		kt "$1" c 0 10000 77 dry=1
		key_refused "$1 where the access is $access is refused"
		barrier tried
	fi
	closed
}

# allowed ACCESS COMMAND SEED: COMMAND of node 2 succeeds; afterwards the region has the pattern of SEED.
allowed() {
	local access=$1 what=$2 pattern=$3
	open
	if ((NODE == 1)); then
		expect 0 expose a 0 10000 "access=$access"
		barrier moved
		# On siw a WRITE completes when TCP has taken its data, so wait until the data have arrived.
		[[ $LINK != siw ]] || within 10 kt holds 0 "$pattern"
		expect 0 holds 0 "$pattern"
		barrier held
	else
		expect 0 learn c 0
		kt "$what" c 0 10000 "$pattern"
		kt_is 0 "$what succeeds where the access is $access"
		barrier moved
		barrier held
		kt disconnect c
	fi
	closed
}

# gone COMMAND [revoke=0]: COMMAND of node 2 succeeds while node 1 exposes its region, and is refused after node 1 has
# revoked the region's keys. With revoke=0 node 1 frees the region instead, which makes its keys invalid as well. The
# connection stays up until the refused request ends it.
gone() {
	local what=$1 how=${2:-keep=1}
	open mr_pool=16
	if ((NODE == 1)); then
		expect 0 expose a 0 10000 access=$((readable | writable))
		barrier used
		expect 0 withdraw 0 "$how"
		[[ $how != keep=1 ]] || expect EALREADY withdraw 0 keep=1
		# The connection is still up, and can use a second region.
		expect 0 expose a 1 10000 access=$((readable | writable))
		barrier gone
		barrier alive
		[[ $(kt_state a) == ESTABLISHED ]]
		ok $? "the connection stays ESTABLISHED after withdraw $how"
		barrier looked
		barrier tried
		kt until a CLOSED 20000
		[[ $how != keep=1 ]] || expect 0 holds 0 77
		expect 0 holds 1 78
		kt withdraw 1
	else
		expect 0 learn c 0
		expect 0 store c 0 10000 77
		expect 0 fetch c 0 10000 77
		barrier used
		barrier gone
		expect 0 learn c 1
		expect 0 store c 1 10000 78
		barrier alive
		barrier looked
		kt "$what" c 0 10000 79 dry=1
		key_refused "$what after withdraw $how is refused"
		barrier tried
		kt forget 1
	fi
	closed
}

# A key of domain 1 can be used on another connection of domain 1. On a connection of domain 2 its use is refused.
domains() {
	local i what
	for what in fetch store; do
		for i in 1 2 3; do
			if ((NODE == 1)); then expect 0 accept "a$i" "l$i" 20000; else expect 0 connect "c$i" "$server" "700$i"; fi
		done
		if ((NODE == 1)); then
			(($(pds) - none == 2))
			ok $? "three connections of two domains have two PDs: $(($(pds) - none))"
			expect 0 expose a1 0 10000 access=$((readable | writable))
			barrier tried
			kt until a2 CLOSED 20000
			kt_is 0 "$what with the key of another domain ends the connection"
			expect 0 holds 0 77
			[[ $(kt_state a1) == ESTABLISHED && $(kt_state a3) == ESTABLISHED ]]
			ok $? "$what with the key of another domain leaves the other connections ESTABLISHED"
			barrier held
			for i in 1 2 3; do kt until "a$i" CLOSED 20000; done
			kt withdraw 0
			for i in 1 2 3; do expect 0 release "a$i"; done
			(($(pds) == none))
			ok $? "no PD is left after connections of two domains"
		else
			expect 0 learn c1 0
			expect 0 store c1 0 10000 76
			expect 0 fetch c3 0 10000 76
			expect 0 store c3 0 10000 77
			kt "$what" c2 0 10000 79 dry=1
			key_refused "$what with the key of another domain is refused"
			expect 0 fetch c1 0 10000 77
			barrier tried
			barrier held
			kt forget 0
			for i in 1 2 3; do expect 0 release "c$i"; done
		fi
		barrier next
	done
}

# The use of a key of a connection without a domain is refused on another connection of the same listener.
strangers() {
	local i what
	for what in fetch store; do
		for i in 1 2; do
			if ((NODE == 1)); then expect 0 accept "s$i" l 20000; else expect 0 connect "s$i" "$server" 7000; fi
			barrier accepted
		done
		if ((NODE == 1)); then
			(($(pds) - none == 2))
			ok $? "two connections without a domain have two PDs: $(($(pds) - none))"
			expect 0 expose s1 0 10000 access=$((readable | writable))
			barrier tried
			kt until s2 CLOSED 20000
			kt_is 0 "$what with the key of another connection ends the using connection"
			expect 0 holds 0 76
			[[ $(kt_state s1) == ESTABLISHED ]]
			ok $? "$what with the key of another connection leaves the owning connection ESTABLISHED"
			barrier held
			kt until s1 CLOSED 20000
			kt withdraw 0
			for i in 1 2; do expect 0 release "s$i"; done
			(($(pds) == none))
			ok $? "no PD is left after connections without a domain"
		else
			expect 0 learn s1 0
			expect 0 store s1 0 10000 76
			kt "$what" s2 0 10000 79 dry=1
			key_refused "$what with the key of another connection is refused"
			expect 0 fetch s1 0 10000 76
			barrier tried
			barrier held
			kt forget 0
			for i in 1 2; do expect 0 release "s$i"; done
		fi
		barrier next
	done
}

# A region of domain 1 has one key, which is valid on connections 1 and 3, and on a later connection of domain 1.
# Connection 2 is in domain 2.
shared() {
	local i before what
	for what in fetch store; do
		for i in 1 2 3; do
			if ((NODE == 1)); then expect 0 accept "a$i" "l$i" 20000; else expect 0 connect "c$i" "$server" "700$i"; fi
		done
		if ((NODE == 1)); then
			before=$(mrs)
			expect 0 expose a1 0 10000 access=$((readable | writable | shared))
			(($(mrs) - before == 1))
			ok $? "region of a domain: one MR is allocated: $(($(mrs) - before))"
			barrier learnt
			kt until a1 CLOSED 20000
			expect 0 release a1
			barrier released
			expect 0 accept a1 l1 20000
			barrier used
			(($(mrs) - before == 1))
			ok $? "region of a domain: no MR is allocated for another connection: $(($(mrs) - before))"
			expect 0 holds 0 79
			barrier held
			kt until a2 CLOSED 20000
			kt_is 0 "region of a domain: using the key in another domain ends the connection"
			barrier refused
			expect 0 withdraw 0 keep=1
			expect EALREADY withdraw 0 keep=1
			barrier revoked
			[[ $(kt_state a1) == ESTABLISHED && $(kt_state a3) == ESTABLISHED ]]
			ok $? "region of a domain: its connections stay ESTABLISHED when it is revoked"
			barrier looked
			for i in 1 3; do kt until "a$i" CLOSED 20000; done
			for i in 1 2 3; do expect 0 release "a$i"; done
			expect 0 holds 0 79
			(($(pds) - none == 1))
			ok $? "region of a domain: the region holds the PD: $(($(pds) - none))"
			kt withdraw 0
			(($(pds) == none && $(mrs) == before))
			ok $? "region of a domain: no PD and no MR is left"
		else
			expect 0 learn c1 0
			expect 0 store c1 0 10000 76
			expect 0 fetch c1 0 10000 76
			expect 0 fetch c3 0 10000 76
			expect 0 store c3 0 10000 77
			expect 0 fetch c3 0 10000 77
			expect 0 release c1
			barrier learnt
			barrier released
			expect 0 store c3 0 10000 78
			expect 0 fetch c3 0 10000 78
			expect 0 connect c1 "$server" 7001
			expect 0 fetch c1 0 10000 78
			expect 0 store c1 0 10000 79
			expect 0 fetch c1 0 10000 79
			barrier used
			barrier held
			kt "$what" c2 0 10000 80 dry=1
			key_refused "$what with the key of a region of another domain is refused"
			barrier refused
			barrier revoked
			barrier looked
			for i in 1 3; do
				kt "$what" "c$i" 0 10000 81 dry=1
				key_refused "$what by connection $i after the region of the domain was revoked is refused"
			done
			kt forget 0
			for i in 1 2 3; do expect 0 release "c$i"; done
		fi
		barrier next
	done
}

access() {
	local none how what l
	none=$(pds)
	if ((NODE == 1)); then
		expect 0 listen l 0.0.0.0 7000 mr_pool=16
		expect 0 listen l1 0.0.0.0 7001 domain=1
		expect 0 listen l2 0.0.0.0 7002 domain=2
		expect 0 listen l3 0.0.0.0 7003 domain=1
		# Put the references of krdma_test to the domains. The domains continue to exist, because the listeners hold
		# references to them.
		expect 0 undomain
	fi
	barrier listening
	allowed "$readable" fetch 0
	allowed "$writable" store 77
	forbidden "$readable" store
	forbidden "$writable" fetch
	forbidden 0 store
	forbidden 0 fetch
	for how in keep=1 revoke=0; do
		for what in store fetch; do gone "$what" "$how"; done
	done
	kinds
	domains
	shared
	strangers
	if ((NODE == 1)); then for l in l l1 l2 l3; do expect 0 release "$l"; done; fi
}

# ---- pool of MRs ----

never=4294967295
# Maximum size of one MR, in bytes.
one=$((2 * MiB))
[[ $LINK != siw ]] || one=$MiB
files=/sys/kernel/debug/krdma

# conn_counter NAME: print a counter of the newest connection.
conn_counter() {
	local id
	id=$(awk 'NR > 1 && $2 != "listener" { id = $1 } END { print id }' "$files/connections")
	awk -v id="$id" -v name="$1" '$1 == id && $2 == name { value = $3 } END { print value + 0 }' "$files/conn_counters"
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

pool_closed() {
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
	pool_closed
	opened mr_pool=16
	regions 100 4096
	grew 1 99 "100 regions one after the other"
	are 1 "one MR is kept after 100 regions"
	# One MR has 256 keys, so 500 regions in all need two MRs.
	regions 400 4096
	grew 2 498 "500 regions one after the other"
	are 1 "one MR is kept after 500 regions"
	pool_closed
}

sizes() {
	local len
	opened mr_pool=16
	for len in 4096 5000 65536 100000 $MiB; do regions 3 "$len"; done
	grew 5 10 "regions that grow"
	for len in 600000 70000 5000 300; do regions 3 "$len"; done
	grew 5 22 "regions that shrink"
	are 5 "five MRs of different sizes are kept"
	pool_closed
	opened mr_pool=16
	regions 4 $((5 * MiB + 1))
	len=$((5 * MiB / one + 1))
	grew "$len" $((3 * len)) "regions of $len MRs"
	pool_closed
}

limits() {
	opened mr_pool=2
	regions 6 4096 live=6
	are 2 "a pool of two after six regions at a time"
	regions 4 4096 live=2
	grew 6 4 "regions from a pool of two"
	# The pool is full of small MRs, which must make room for larger MRs.
	regions 3 "$MiB"
	grew 7 6 "larger regions with a full pool"
	are 2 "a pool of two after larger regions"
	pool_closed
	opened "mr_pool=$never"
	regions 10 4096
	grew 10 0 "regions without a pool"
	are 0 "no MR is kept without a pool"
	pool_closed
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
	pool_closed
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
		pool_closed
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
		pool_closed
	fi
	barrier next
}

pool() {
	local len
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
	for len in 0 100000 5000 120000; do again "$len"; done
	messages mr_pool=16 $((8 * MiB / one)) $((9 * 8 * MiB / one))
	messages "mr_pool=$never" $((10 * 8 * MiB / one)) 0
	if ((NODE == 1)); then expect 0 release l; fi
}

section access
# The counters of a connection are those of the newest connection of the kernel, so the nodes need kernels of their own. The
# numbers of MRs are those of rxe and siw.
((NAMESPACES)) || [[ $LINK == ntr ]] || section pool
finish
