#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# nverbs: an RDMA device as an ordinary consumer of verbs sees it. Each opcode with each size, errors of both sides,
# states of queue pairs, shared receive queues, datagrams and queries. The cases are in the module nverbs, and are the
# same on each device. The table "differs" lists the cases in which a device differs, with the reasons.
#
#   node 1 (runs the cases) --- rdma_cm, and TCP for control ---> node 2 (serves)
#
# kernels: uml/ntr uml-debug/ntr uml uml/ntr-ntb uml/ntr-ntb-dma
# long: uml/siw uml-debug uml/ntr-order debug-6.1/ntr-dma uml-debug/ntr-ntb uml-debug/ntr-ntb-dma
# load: nverbs
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun

# Cases in which a device differs: LINK, CASE as a pattern of the shell, and the reason.
own_event="rxe raises an event only for an invalid key of a plain WRITE, READ or atomic"
not_placed="rxe acknowledges SEND_WITH_INV although it fails, and does not check PD and rights of the key"
differs=(
	ntr "CMP_AND_SWP of an unaligned address raises *" "its frame would end the session, so the requester refuses it"
	rxe "RDMA_WRITE_WITH_IMM with a* raises *" "$own_event"
	rxe "* with a QP without rights raises *" "$own_event"
	rxe "* raises QP_REQ_ERR at the peer" "$own_event"
	rxe "* with a QP without rights ends with *" "rxe reports a function that the QP does not have as invalid request"
	rxe "SEND * receive*ends with REM_INV_REQ_ERR" "rxe reports a message that is too long as an error of the receive"
	rxe "SEND *: the peer's receive ends with LOC_*" "rxe completes an invalid receive with LOC_QP_OP_ERR"
	rxe "list of RDMA_READs to * ends with *" "rxe overwrites the oldest answer"
	rxe "CMP_AND_SWP of an unaligned address ends with *" "rxe refuses the post"
	rxe "* from memory with an invalid key ends with *" "rxe flushes the request that failed"
	rxe "SEND_WITH_INV of * ends with *" "$not_placed"
	rxe "RDMA_READ on a QP that may have none in flight *" "the READ waits endlessly"
	rxe "CQ without room *" "the QP stays in RTS"
	rxe "SEND that finds no receive is repeated *" "rxe flushes the SEND when it finds the request that fails"
	rxe "REG_MR behind a SEND that is repeated *" "rxe flushes the SEND when it reaches REG_MR again"
	rxe "SENDs that find no receive are repeated *" "rxe waits for the whole RNR timer"
	siw "*_IMM of * bytes arrives complete" "iWARP has no immediate data"
	siw "CMP_AND_SWP of *" "siw has no atomics"
	siw "FETCH_AND_ADD adds*" "siw has no atomics"
	siw "SEND of 0 bytes *" "siw refuses inline requests without SGEs"
	siw "SEND_WITH_INV of * bytes *" "siw refuses inline data with SEND_WITH_INV"
	siw "RDMA_READ of * bytes *" "a WRITE completes before an earlier READ has its data"
	siw "RDMA_WRITE of 1048576 bytes *" "a WRITE completes when TCP has its data, not at the peer"
	siw "RDMA_WRITE with a fence *" "siw may send before the READ has its data, see krdma/quirks.c"
	siw "requests complete in the order *" "a WRITE completes before an earlier READ"
	siw "posts in R* return -22 and *" "siw accepts posts before RTS"
	siw "posts in INIT return *" "siw accepts posts before RTS"
	siw "posts in ERR return *" "siw calls the handler of the CQ within the post"
	siw "RESET drops all requests *" "siw flushes at RESET, and only its CM sets up a QP"
	siw "post with too many SGEs *" "siw accepts more inline bytes than it announces"
	siw "RDMA_WRITE behind SEND_WITH_INV *" "a WRITE completes when TCP has its data, not at the peer"
	siw "CQ that waits for solicited events *" "siw raises no event for a solicited SEND"
	siw "QP with an SRQ raises *" "siw raises no such event when the consumer sets the error state"
	siw "SEND that finds no receive is repeated *" "siw reports LOC_QP_OP_ERR for an invalid key"
	siw "the port is active" "iWARP has no partition keys"
	siw "a GID of the port *" "the GID of iWARP is a MAC address"
	siw "ib_query_qp() returns *" "iWARP knows no number of the peer's QP"
)

# find_reason CASE: set why to the reason why this device differs in CASE, or to nothing. It starts no process, because
# there are hundreds of cases.
find_reason() {
	local i
	why=
	for ((i = 0; i < ${#differs[@]}; i += 3)); do
		# shellcheck disable=SC2053 # patterns
		[[ $LINK != "${differs[i]}" || $1 != ${differs[i + 1]} ]] || why=${differs[i + 2]}
	done
}

# show STATUS CASE: print the result of a case. A case that is listed in "differs" must fail, except on siw, where the
# results depend on the time at which TCP delivers data.
show() {
	find_reason "${2%% | *}"
	if [[ -z $why ]]; then
		ok "$1" "$2"
	elif [[ $LINK == siw ]]; then
		ok 0 "$LINK may differ ($why): $2"
	else
		ok $((!$1)) "$LINK differs ($why): $2"
	fi
}

# nverbs FD COMMAND: let nverbs run COMMAND, by the file descriptor FD of /proc/nverbs.
nverbs() {
	# shellcheck disable=SC2317 # check() calls it
	echo "$2" >&"$1"
}

# run GROUP: run the cases of a group on node 1. Node 2 serves them.
run() {
	local fd status text count=0
	exec {fd}<>/proc/nverbs || return 1
	if ((NODE == 2)); then
		check "node 2 serves the group $1" nverbs "$fd" "serve 7000"
	else
		check "the group $1 ends" nverbs "$fd" "run $(addr4 2) 7000 $1"
		while read -r status text; do
			show "$status" "$text"
			count=$((count + 1))
		done <&"$fd"
		((count > 0))
		ok $? "the group $1 has cases: $count"
	fi
	exec {fd}>&-
	barrier "$1"
}

groups="data errors states srq query datagrams"
# iWARP has no datagrams, and answers errors by ending the connection, without a status for the requester.
[[ $LINK != siw ]] || groups="data states srq query"
for group in ${1:-$groups}; do run "$group"; done
same_resources "$before" "resources are as before"
finish
