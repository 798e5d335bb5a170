#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# device-limits: limits of RDMA devices.
# - limits: krdma stays within the limits of a device, and ends a connection in the way that its driver needs. The test
#   reduces the limits of the device, changes its driver id, and checks krdma's calls to its driver.
# - large_region: regions of 256 MiB, as large as the reflective memory of the largest cards. A region has as many MRs as
#   the device needs.
#
#   limits:       node 1 (echoes on 7000, accepts by callback on 7001) <--- krdma ---> node 2 (checks its device)
#   large_region: node 1 (exports 256 MiB on 7001) <--- krdma ---> node 2 (exports as much, reads and writes)
#
# kernels: uml uml/siw
# long: stock-6.1 uml/ntr uml/ntr-order
# load: krdma krdma_test
# mem: 1G
# timeout: 360

# Arguments: names of the sections to run; without arguments, all sections run.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

server=$(addr4 1)
# The driver id RDMA_DRIVER_CXGB4, from enum rdma_driver_id of include/uapi/rdma/ib_user_ioctl_verbs.h.
cxgb4=4

# spied WORD...: end the recording of krdma's calls to the driver by the command spied. One case for each WORD: the
# result of spied has WORD.
spied() {
	local wanted words
	kt spied
	read -ra words <<<"$kt_text"
	for wanted in "$@"; do
		is_one_of "$wanted" "${words[@]}"
		ok $? "the calls of the driver have $wanted ($kt_text)"
	done
}

# If the device limits its queues, krdma posts fewer receives, and grants fewer credits to the peer.
short_queues() {
	expect 0 spy first max_qp_wr=40
	kt connect c "$server" 7000 send_depth=64 recv_depth=64
	kt_is 0 "connected with 64 receives on a device of 40 work requests"
	expect 0 query c
	[[ $kt_text == *" depth=34/34 "* ]]
	ok $? "query returns the depths within the limit of the device ($kt_text)"
	kt_start sink take c 100 64
	kt async c send virt 100 64 chain=10
	kt_is 0 "100 messages are sent with short queues ($kt_text)"
	kt_result sink 30
	kt_is 0 "100 messages are echoed with short queues ($kt_text)"
	kt release c
	spied refused=0
	expect 0 spy first max_qp_wr=9
	kt connect c "$server" 7000
	kt_is EOPNOTSUPP "a device with too few work requests for credits is refused"
	kt release c
	spied created=0
}

# The first connection has determined the inline size of the device. Later connections must use this size, because the
# driver logs a line for each larger size that it refuses.
inline_is_known() {
	expect 0 spy first
	kt connect c "$server" 7000
	kt_is 0 "connected after the inline size is known"
	kt release c
	spied created=1 refused=0
}

# siw loses READs in an orderly close, so krdma moves the QP of siw to ERROR first. krdma must not do this for other
# iWARP drivers, such as cxgb4, because these drivers would reset the TCP connection.
leaves_in_order() {
	expect 0 spy first
	kt connect c "$server" 7000
	kt_is 0 "connected to check the state before a release"
	kt release c
	spied left=ERR
	[[ $LINK == siw ]] || return 0
	connect_as_chelsio
	kt_is 0 "connected with the driver id of a Chelsio adapter"
	expect 0 send c 64
	expect 64 receive c 64 10000
	kt release c
	spied left=SQD
}

# connect_as_chelsio: connect a device of siw that has the driver id of a Chelsio adapter. siw sometimes loses the first
# message of a connection, see MISSED_START in krdma/quirks.c. With another driver id krdma does not work around this.
# So try again.
connect_as_chelsio() {
	local i
	for ((i = 0; i < 20; i++)); do
		kt spy first driver="$cxgb4"
		kt connect c "$server" 7000 connect_ms=1000
		((kt_ret != 0)) || return 0
		kt release c
	done
}

limits() {
	if ((NODE == 1)); then
		expect 0 listen l 0.0.0.0 7000
		expect 0 server 0.0.0.0 7001
		kt kthread serve serve l
		barrier listening
		barrier over
		kt stop serve
		kt_is EINTR "serve: $kt_text"
		expect 0 release l
		expect 0 server end
	else
		barrier listening
		kt connect first "$server" 7001
		kt_is 0 "connected to a server by callbacks"
		short_queues
		inline_is_known
		leaves_in_order
		kt release first
		barrier over
	fi
}

large_region() {
	local size=$((256 << 20)) offset
	# The description of the region must fit into one receive buffer; on siw it has 256 segments of 16 bytes. Connecting has
	# a long timeout: registering the region takes seconds on a busy machine, and each side waits for the other one.
	local options="rw=1 max_msg=$size buf_size=8192 connect_ms=60000"

	if ((NODE == 1)); then
		# shellcheck disable=SC2086 # words of a command
		expect 0 listen rw 0.0.0.0 7001 $options
		barrier listening
		kt accept a rw 60000
		kt_is 0 "accepted a connection with 256 MiB"
		barrier written
		# Check data at the beginning, across the boundary of two MRs, and up to the last byte.
		for offset in 0 $((size / 2 - 500000)) $((size - 1000000)); do
			expect 0 exported a 1000000 "$offset"
		done
		barrier looked
		kt release a
		expect 0 release rw
	else
		barrier listening
		# shellcheck disable=SC2086 # words of a command
		kt connect c "$server" 7001 $options
		kt_is 0 "connected with 256 MiB on both sides, in $kt_ms ms"
		kt exported c 0 0
		[[ $kt_text == "own=$size peer=$size" ]]
		ok $? "both sides have the size of the other one ($kt_text)"
		for offset in 0 $((size / 2 - 500000)) $((size - 1000000)); do
			expect 0 write c 1000000 "$offset"
			expect 0 read c 1000000 "$offset"
		done
		expect EMSGSIZE write c 1 "$size"
		kt async c write virt 40 100000 chain=40 offset=$((size - 4000000))
		kt_is 0 "WRITEs up to the last byte complete ($kt_text)"
		kt async c read region 40 100000 chain=40 offset=$((size - 4000000))
		kt_is 0 "READs up to the last byte return the written data ($kt_text)"
		expect 0 write c 1000000 $((size - 1000000))
		barrier written
		barrier looked
		kt release c
	fi
}

# Other kernels and adapters have other limits.
[[ $KERNEL != uml || $LINK == ntr ]] || section limits
section large_region
finish
