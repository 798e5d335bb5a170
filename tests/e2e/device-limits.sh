#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# device-limits: krdma asks a device for no more than it has, and ends a connection in the way that its driver wants. The
# device is told to say less than it has, and to have another name; what the driver is asked for is looked at.
#
#   node 1 (echoes on 7000, takes whoever comes on 7001) <--- krdma ---> node 2 (looks at its device)
#
# kernels: uml uml/siw
# load: krdma krdma_test
# timeout: 120

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
# enum rdma_driver_id of include/uapi/rdma/ib_user_ioctl_verbs.h
cxgb4=4

# spied WORD...: words that the result of "spied" must have
spied() {
	local wanted words
	kt spied
	read -ra words <<<"$kt_text"
	for wanted in "$@"; do
		is_one_of "$wanted" "${words[@]}"
		ok $? "the driver saw $wanted ($kt_text)"
	done
}

# Queues that are shorter than the parameters ask for: the rest is posted, and promised to the peer.
short_queues() {
	expect 0 spy first max_qp_wr=40
	kt connect c "$server" 7000 send_depth=64 recv_depth=64
	kt_is 0 "connected with 64 receives on a device of 40 work requests"
	expect 0 query c
	[[ $kt_text == *" depth=34/34 "* ]]
	ok $? "query says what is left of the queues ($kt_text)"
	kt_start sink take c 100 64
	kt async c send virt 100 64 chain=10
	kt_is 0 "100 messages ($kt_text)"
	kt_result sink 30
	kt_is 0 "and their echo ($kt_text)"
	kt release c
	spied refused=0
	expect 0 spy first max_qp_wr=9
	kt connect c "$server" 7000
	kt_is EOPNOTSUPP "a device with too few work requests for credits is refused"
	kt release c
	spied created=0
}

# The first connection has found out how much goes inline: the driver prints a line for each size that it refuses.
inline_is_known() {
	expect 0 spy first
	kt connect c "$server" 7000
	kt_is 0 "connected"
	kt release c
	spied created=1 refused=0
}

# siw loses READs in an orderly close, so it is put to ERROR first; other iWARP drivers reset the TCP connection then.
leaves_in_order() {
	expect 0 spy first
	kt connect c "$server" 7000
	kt_is 0 "connected"
	kt release c
	spied left=ERR
	[[ $LINK == siw ]] || return 0
	expect 0 spy first driver=$cxgb4
	kt connect c "$server" 7000
	kt_is 0 "connected with the driver of a Chelsio adapter, as it seems"
	expect 0 send c 64
	expect 64 receive c 64 10000
	kt release c
	spied left=SQD
}

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
	kt_is 0 "connected"
	short_queues
	inline_is_known
	leaves_in_order
	kt release first
	barrier over
fi
same_resources "$before" "resources are as before"
finish
