#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# fuzz: any command and any call with any argument, on two linked devices at once, in a kernel that checks itself: each is
# answered, programs and kernel live, and afterwards the devices do what they should.
#
#   node 1 (fuzz) <---> node 2 (fuzz)
#
# kernels: uml-debug
# alone: uml debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/fuzz
# append: ncpus=1
# guarantees: G10
# timeout: 300

# Arguments: how many calls each node makes, and the seed of node 1.
# shellcheck source=tests/e2e/lib.sh
. lib.sh

calls=${1:-60000}
start=${2:-$RANDOM$RANDOM}

check "a device" rfm_make 1M
check "is linked" within 30 rfm_is ready
barrier linked
began=$SECONDS
while read -r status line; do
	case $status in
	end) ok "$line" "it ends by itself: $line" ;;
	[01]) ok "$status" "$line" ;;
	*) echo "$status $line" ;;
	esac
done < <(/add/fuzz "$RFM" "$calls" $((start + NODE)); echo "end $?")
echo "# $calls calls in $((SECONDS - began)) s"
barrier over
# It may have been turned off.
check "the transmitter is on" rfm dark 0
barrier on
check "all of the memory is written" rfm fill $((524288 * (NODE - 1))) 524288 "$NODE"
check "all that was written is sent" rfm_settle
barrier settled
rfm sum >"/exchange/sum-$NODE"
barrier summed
[[ $(</exchange/sum-1) == "$(</exchange/sum-2)" ]]
ok $? "both are equal: $(<"/exchange/sum-$NODE")"
barrier equal
check "the device goes" rfm_unmake
finish
