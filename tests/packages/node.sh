#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# node.sh: on a node whose root has our packages, and systemd. The service has brought the device of node 1 up at boot,
# before there was an adapter; node 2 gets a file of its own. In /debs are newer packages.
#
#   node 1 (vrfm.conf of the tree) <--- vrfm ---> node 2 (its own)

# shellcheck source=tests/e2e/lib.sh
. lib.sh

peer=$((3 - NODE))

# eventually COMMAND...: within a minute.
eventually() {
	local end=$((SECONDS + 60))
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.5
	done
}

peer_is() {
	[[ $(</proc/rfm2g) == *"peer $peer $1 "* ]]
}

# as USER COMMAND...: with the groups of that user.
as() {
	runuser -u "$1" -- "${@:2}"
}

# reads OFFSET VALUE: as a member of the group.
reads() {
	[[ $(as friend rfm2g_util -d 0 peek32 "$1" 2>&1) == *"$2"* ]]
}

at_boot() {
	if ((NODE == 2)); then
		printf '%s\n' '[rfm2g0]' 'node = 2' 'size = 1M' 'listen = 10.56.0.2' 'peer = 1 10.56.0.1' >/etc/vrfm.conf
		check "the service takes another file" systemctl restart vrfm
	fi
	[[ $(systemctl is-active vrfm) == active ]]
	ok $? "the service is active"
	[[ $(stat -c %U:%G:%a /dev/rfm2g0) == root:rfm2g:660 ]]
	ok $? "the device belongs to the group: $(stat -c %U:%G:%a /dev/rfm2g0)"
	check "the peers find each other, though the adapter came late" eventually peer_is ready
	barrier linked
}

use() {
	check "a member of the group writes" as friend rfm2g_util -d 0 poke32 $((NODE * 1111)) $((NODE * 256))
	check "and reads what the other node wrote" eventually reads $((peer * 256)) "$(printf %x $((peer * 1111)))"
	[[ $(as stranger rfm2g_util -d 0 peek32 0 2>&1) == *"members of group rfm2g"* ]]
	ok $? "another one is told which group to be in"
	vrfmctl --json status | python3 -c 'import json, sys; assert json.load(sys.stdin)[0]["size"] == 1 << 20'
	ok $? "vrfmctl has a status for programs"
	check "krping's front end runs" krping --dry-run client 10.56.0.1
	check "the example of a krdma user is loaded" insmod /opt/krdma/krdma_sample.ko server=1
	check "and unloaded" rmmod krdma_sample
	barrier used
}

# Node 1 is upgraded while a program has its device open.
upgrade() {
	if ((NODE == 1)); then
		exec 7<>/dev/rfm2g0
		dpkg -i /debs/librfm2g0_*.deb /debs/librfm2g-dev_*.deb /debs/rfm2g-tools_*.deb
		check "tools and library are upgraded" test $? = 0
		reads 256 "$(printf %x 1111)"
		ok $? "the memory is as it was"
		[[ $(systemctl is-active vrfm) == active ]] && peer_is ready
		ok $? "service and link as well"
		exec 7>&-
	fi
	barrier upgraded
}

purge() {
	dpkg --purge rfm2g-tools
	check "the tools are purged" test $? = 0
	[[ ! -e /dev/rfm2g0 && ! -e /etc/vrfm.conf ]] && ! getent group rfm2g
	ok $? "and with them device, file and group"
	[[ $(systemctl is-active vrfm) == inactive ]]
	ok $? "and service"
}

at_boot
use
upgrade
purge
rdma link delete "$RDMADEV"
finish
