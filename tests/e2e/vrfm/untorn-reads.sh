#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# untorn-reads: a process reads a block while another process writes 8 bytes into it. Each aligned 8 bytes of the block
# are those before the write or those after the write. This needs two processors.
#
#   node 1: reads blocks, writes 8 bytes
#
# nodes: 1
# kernels: uml
# alone: stock-6.1
# load: krdma vrfm
# programs: rfm2g/rfm
# guarantees: G7
# timeout: 60

# shellcheck source=tests/e2e/lib.sh
. lib.sh

check "a device without peers is created" rfm_make 1M
check "blocks that are read during writes have no torn word" rfm whole 4096 $((2 * slow))
check "the device is removed" rfm_unmake
finish
