#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# late: a completion handler that has said that it is done still looks at its completion queue. That is not freed before it
# has gone on, however long the device lets it wait.
#
#   node 1 (echoes) <--- connect, 64 bytes there and back, disconnect ---> node 2
#
# It takes two processors: on one the handler cannot be interrupted.
#
# kernels: stock-6.1
# long: stock-new stock-6.12 debug-6.1 debug-6.1/siw
# load: krdma krdma_test
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
rounds=50
late_ms=20

# in_time: the device answers as before
in_time() {
	local early near
	kt intime
	kt_is 0 "$kt_text"
	read -r early near <<<"$kt_text"
	((${early#early=} == 0))
	ok $? "no queue was destroyed under a handler"
	((${near#near=} > 0))
	ok $? "it was close"
}

if ((NODE == 1)); then
	expect 0 listen l 0.0.0.0 7000
	barrier listening
	kt accept a l 20000
	kt_is 0 "accepted"
	kt late a $late_ms
	kt_is 0 "the device answers handlers $late_ms ms late"
	kt kthread job serve l
	barrier serving
	barrier end
	kt stop job
	kt_is EINTR "served"
	in_time
	expect 0 release a
	expect 0 release l
else
	barrier listening
	kt connect c "$(addr4 1)" 7000
	kt_is 0 "connected"
	kt late c $late_ms
	kt_is 0 "the device answers handlers $late_ms ms late"
	barrier serving
	kt_start job rounds r "$(addr4 1)" 7000 $rounds
	kt_result job $((50 * slow))
	kt_is 0 "$rounds rounds: $kt_text in $kt_ms ms"
	kt release r
	barrier end
	in_time
	expect 0 release c
fi
same_resources "$before" "resources are as before"
finish
