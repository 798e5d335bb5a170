#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# oneliner: modprobe with parameters makes a device, or says in one line why not; who has it open holds the module. vrfmctl
# knows whose it is.
#
#   insmod vrfm.ko node=... ---> /dev/rfm2g0
#
# kernels: uml
# alone: stock-6.1 debug-6.1
# load: krdma
# tools: vrfmctl
# timeout: 120

# shellcheck source=tests/e2e/lib.sh
. lib.sh

device=/dev/rfm2g0

load() {
	insmod /modules/vrfm.ko "$@" 2>/dev/null
}

unload() {
	rmmod vrfm 2>/dev/null
}

# refused TEXT PARAMETER...: and the kernel's log has TEXT
refused() {
	local text=$1 before
	shift
	before=$(dmesg_node | grep -c "$text")
	! load "$@" && (($(dmesg_node | grep -c "$text") == before + 1)) && [[ ! -e $device && ! -e /proc/rfm2g ]]
	ok $? "$*: refused with one line"
	! unload || ok 1 "$*: it was loaded"
}

# vrfmctl neither takes the device away nor makes another one of that number.
foreign() {
	local word said
	printf '%s\n' '[rfm2g0]' 'node = 7' >"$results/vrfm.conf"
	for word in up down "down rfm2g0"; do
		# shellcheck disable=SC2086
		! said=$(vrfmctl -f "$results/vrfm.conf" $word 2>&1) && [[ $said == *" by node= of the module: modprobe -r vrfm "* ]]
		ok $? "vrfmctl $word: $said"
	done
	check "not among all that vrfmctl takes away" vrfmctl down --all
	[[ -c $device && -z $(ls $rfm_config) ]]
	ok $? "it is as it was"
}

modprobe configfs 2>/dev/null

check "without a parameter" load
[[ ! -e $device && $(</proc/rfm2g) == "RFM2G_DEVICE_COUNT 0" ]]
ok $? "there is no device"
check "unloaded" unload

check "node=7" load node=7
[[ $(stat -c %a $device) == 660 && $(</sys/class/rfm2g/rfm2g0/node_id) == 7 ]]
ok $? "makes a device"
[[ $(</sys/class/rfm2g/rfm2g0/size) == $((64 << 20)) && $(</sys/class/rfm2g/rfm2g0/network) == 1 ]]
ok $? "of 64 MiB in network 1"
foreign
exec 7<>$device
! unload
ok $? "the module stays while it is open"
exec 7>&-
check "and goes when it is closed" unload
[[ ! -e $device && ! -e /proc/rfm2g && ! -e /sys/class/rfm2g ]]
ok $? "with all that it made"

check "all parameters" load node=0 size=1M network=5 mode=0600
[[ $(stat -c %a $device) == 600 && $(</sys/class/rfm2g/rfm2g0/node_id) == 0 &&
	$(</sys/class/rfm2g/rfm2g0/size) == 1048576 && $(</sys/class/rfm2g/rfm2g0/network) == 5 ]]
ok $? "are heard"
[[ $(cd /sys/module/vrfm/parameters && stat -c %a size listen peers) == $'444\n400\n400' ]]
ok $? "addresses are root's to read"
check "unloaded" unload

refused "node 256: not in 0..255" node=256
refused "node -2: not in 0..255" node=-2
refused "size 5000: not a multiple" node=1 size=5000
refused "size 4Q: not a multiple" node=1 size=4Q
refused "mode 0777: not permissions" node=1 mode=0777
# More than these machines have.
refused "rfm2g0: node 1, 2147483648 bytes: error -12" node=1 size=2G
check "after all of it" load node=1
check "unloaded" unload
finish
