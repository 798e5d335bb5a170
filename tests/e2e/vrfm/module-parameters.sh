#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# module-parameters: loading vrfm with parameters creates a device, or logs the reason of a failure in one line. An open
# device keeps the module loaded. vrfmctl does not change a device that was created by parameters.
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

# refused TEXT PARAMETER...: one case, which passes if loading vrfm fails and one line with TEXT is logged.
refused() {
	local text=$1 before
	shift
	before=$(dmesg_node | grep -c "$text")
	! load "$@" && (($(dmesg_node | grep -c "$text") == before + 1)) && [[ ! -e $device && ! -e /proc/rfm2g ]]
	ok $? "$* is refused with one line in the log"
	! unload || ok 1 "the module is not loaded after $* was refused"
}

# vrfmctl neither removes a device that was created by parameters, nor creates another one with its number.
foreign() {
	local word said
	printf '%s\n' '[rfm2g0]' 'node = 7' >"$results/vrfm.conf"
	for word in up down "down rfm2g0"; do
		# shellcheck disable=SC2086
		! said=$(vrfmctl -f "$results/vrfm.conf" $word 2>&1) && [[ $said == *" by node= of the module: modprobe -r vrfm "* ]]
		ok $? "vrfmctl $word refuses a device by parameters: $said"
	done
	check "vrfmctl down --all ignores a device by parameters" vrfmctl down --all
	[[ -c $device && -z $(ls $rfm_config) ]]
	ok $? "vrfmctl leaves a device by parameters unchanged"
}

modprobe configfs 2>/dev/null

check "vrfm is loaded without parameters" load
[[ ! -e $device && $(</proc/rfm2g) == "RFM2G_DEVICE_COUNT 0" ]]
ok $? "vrfm without parameters creates no device"
check "vrfm without parameters is unloaded" unload

check "vrfm is loaded with node=7" load node=7
[[ $(stat -c %a $device) == 660 && $(</sys/class/rfm2g/rfm2g0/node_id) == 7 ]]
ok $? "node=7 creates a device"
[[ $(</sys/class/rfm2g/rfm2g0/size) == $((64 << 20)) && $(</sys/class/rfm2g/rfm2g0/network) == 1 ]]
ok $? "node=7 creates a device of 64 MiB in network 1"
foreign
exec 7<>$device
! unload
ok $? "vrfm cannot be unloaded while its device is open"
exec 7>&-
check "vrfm is unloaded when its device is closed" unload
[[ ! -e $device && ! -e /proc/rfm2g && ! -e /sys/class/rfm2g ]]
ok $? "unloading vrfm removes its device and files"

check "vrfm is loaded with all parameters" load node=0 size=1M network=5 mode=0600
[[ $(stat -c %a $device) == 600 && $(</sys/class/rfm2g/rfm2g0/node_id) == 0 &&
	$(</sys/class/rfm2g/rfm2g0/size) == 1048576 && $(</sys/class/rfm2g/rfm2g0/network) == 5 ]]
ok $? "the device has all parameters of the module"
[[ $(cd /sys/module/vrfm/parameters && stat -c %a size listen peers) == $'444\n400\n400' ]]
ok $? "only root can read addresses in parameters"
check "vrfm with all parameters is unloaded" unload

refused "node 256: not in 0..255" node=256
refused "node -2: not in 0..255" node=-2
refused "size 5000: not a multiple" node=1 size=5000
refused "size 4Q: not a multiple" node=1 size=4Q
refused "mode 0777: not permissions" node=1 mode=0777
# 2 GiB is more memory than these nodes have.
refused "rfm2g0: node 1, 2147483648 bytes: error -12" node=1 size=2G
check "vrfm is loaded after refused parameters" load node=1
check "vrfm is unloaded after refused parameters" unload
finish
