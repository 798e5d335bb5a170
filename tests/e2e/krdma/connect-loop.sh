#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# connect-loop: a thousand connections leave no resource. Four clients run at a time, and each of them makes 250
# connections, one after the other.
#
#   node 1 (echoes) <--- connect, 64 bytes there and back, disconnect ---> node 2
#
# kernels: uml
# long: stock-6.1 uml/siw stock-new debug-6.1 debug-6.1/siw uml-debug uml/ntr uml/ntr-small uml/ntr-order debug-6.1/ntr-dma
# load: krdma krdma_test
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
jobs=4
rounds=250

if ((NODE == 1)); then
	expect 0 listen l :: 7000
	expect 0 listen l4 0.0.0.0 7001
	for ((i = 1; i <= jobs; i++)); do
		kt kthread "serve$i" serve l
		kt kthread "serve4$i" serve l4
	done
	barrier listening
	barrier end
	served=0
	for ((i = 1; i <= jobs; i++)); do
		for job in "serve$i" "serve4$i"; do
			kt stop "$job"
			kt_is EINTR "$job ($kt_text)"
			kt_text=${kt_text#served=}
			served=$((served + ${kt_text%% *}))
		done
	done
	((served == jobs * rounds))
	ok $? "all connections are served: $served of $((jobs * rounds))"
	expect 0 release l
	expect 0 release l4
else
	barrier listening
	for ((i = 1; i <= jobs; i++)); do
		if ((i % 2)); then to="$(addr6 1) 7000"; else to="$(addr4 1) 7001"; fi
		kt_start "job$i" rounds "job$i" "${to% *}" "${to#* }" "$rounds"
	done
	for ((i = 1; i <= jobs; i++)); do
		kt_result "job$i" 500
		kt_is 0 "client $i completes $rounds rounds: $kt_text in $kt_ms ms"
		kt release "job$i"
	done
	barrier end
fi
same_resources "$before" "resources are as before"
finish
