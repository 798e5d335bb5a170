#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# late-completion: a completion handler still uses its completion queue after it has handled the last completion. krdma
# does not free the queue before the handler returns, even if the device delays the handler.
#
#   node 1 (echoes) <--- connect, 64 bytes there and back, disconnect ---> node 2
#
# The scenario needs two processors, because on a single processor nothing interrupts the handler. It does not run over
# siw, which connects so slowly on an emulated processor that too few connections end during the delay of a handler.
#
# kernels: stock-6.1
# long: stock-new stock-6.12 debug-6.1
# load: krdma krdma_test
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
rounds=$((40 * slow))
late_ms=20

# in_time: end the delay of handlers. Check that no queue was destroyed while its handler was delayed ("early"), and
# that some queues were destroyed soon after their handler had continued ("near").
in_time() {
	local early near
	kt intime
	kt_is 0 "$kt_text"
	read -r early near <<<"$kt_text"
	((${early#early=} == 0))
	ok $? "no queue was destroyed under a handler"
	((${near#near=} > 0))
	ok $? "handlers were delayed while their queue was about to be destroyed"
}

if ((NODE == 1)); then
	expect 0 listen l 0.0.0.0 7000
	barrier listening
	kt accept a l 20000
	kt_is 0 "accepted a connection for delayed handlers"
	kt late a $late_ms
	kt_is 0 "handlers on node $NODE are delayed by $late_ms ms"
	kt kthread job serve l
	barrier serving
	barrier end
	kt stop job
	kt_is EINTR "serving is stopped"
	in_time
	expect 0 release a
	expect 0 release l
else
	barrier listening
	kt connect c "$(addr4 1)" 7000
	kt_is 0 "connected for delayed handlers"
	kt late c $late_ms
	kt_is 0 "handlers on node $NODE are delayed by $late_ms ms"
	barrier serving
	kt_start job rounds r "$(addr4 1)" 7000 $rounds
	kt_result job $((50 * slow))
	kt_is 0 "$rounds connections with delayed handlers work: $kt_text in $kt_ms ms"
	kt release r
	barrier end
	in_time
	expect 0 release c
fi
same_resources "$before" "resources are as before"
finish
