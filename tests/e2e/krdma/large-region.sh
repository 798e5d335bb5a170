#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# large-region: regions of 256 MiB, as large as the reflective memory of the largest cards. A region has as many MRs as
# the device needs.
#
#   node 1 (exports 256 MiB on 7001) <--- krdma ---> node 2 (exports as much, reads and writes)
#
# kernels: uml
# long: uml/siw stock-6.1 uml/ntr uml/ntr-order
# load: krdma krdma_test
# mem: 1G
# timeout: 240

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
size=$((256 * 1024 * 1024))
# The description of the region must fit into one receive buffer; on siw it has 256 segments of 16 bytes. Connecting has
# a long timeout: registering the region takes seconds on a busy machine, and each side waits for the other one.
options="rw=1 max_msg=$size buf_size=8192 connect_ms=60000"

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
same_resources "$before" "resources are as before"
finish
