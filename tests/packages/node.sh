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

# links: how often the peer was linked
links() {
	sed -n "s/^ *peer $peer .* links \([0-9]*\) .*/\1/p" /proc/rfm2g
}

# status_says TEXT: the log of the service comes a little late.
status_says() {
	[[ $(systemctl status vrfm) == *"$1"* ]]
}

is_up() {
	[[ $(systemctl is-active vrfm) == active && -c /dev/rfm2g0 ]]
}

# Peers come and go: the memory and the other link do not notice.
reload() {
	local before
	before=$(links)
	cp /etc/vrfm.conf /tmp/vrfm.conf
	echo 'peer = 9 10.56.0.9' >>/etc/vrfm.conf
	check "reload takes a peer that came" systemctl reload vrfm
	[[ $(</proc/rfm2g) == *"peer 9 down "* ]]
	ok $? "which is there"
	echo 'peer = 10 nowhere' >>/etc/vrfm.conf
	systemctl reload vrfm
	ok $(($? == 0)) "but no file that is wrong"
	check "the status says in which line" eventually status_says "/etc/vrfm.conf:$(wc -l </etc/vrfm.conf): peer 10: nowhere"
	check "the device is still up" is_up
	cp /tmp/vrfm.conf /etc/vrfm.conf
	check "reload takes a peer that went" systemctl reload vrfm
	[[ $(</proc/rfm2g) != *"peer 9 "* && $(links) == "$before" ]] && peer_is ready
	ok $? "the other one has not noticed: linked $before times, then $(links)"
	reads $((NODE * 256)) "$(printf %x $((NODE * 1111)))"
	ok $? "and the memory is as it was"
	barrier reloaded
}

# A device that the file has lost goes with the next restart.
lost() {
	printf '%s\n' '[rfm2g1]' "node = $NODE" 'size = 4K' 'port = 5566' >>/etc/vrfm.conf
	check "reload takes a device that came" systemctl reload vrfm
	check "which is there" test -c /dev/rfm2g1
	cp /tmp/vrfm.conf /etc/vrfm.conf
	check "restart takes one that went" systemctl restart vrfm
	check "which is gone" test ! -e /dev/rfm2g1
	check "the other one is there" is_up
	check "and linked again" eventually peer_is ready
	check "and has what this node wrote" eventually reads $((NODE * 256)) "$(printf %x $((NODE * 1111)))"
}

# A device that a program has open stays; one that nobody has goes, and gets its memory back from the peer.
stop_and_start() {
	if ((NODE == 1)); then
		exec 7<>/dev/rfm2g0
		systemctl stop vrfm
		check "a device that is open survives a stop" test -c /dev/rfm2g0
		check "the status says who has it open" eventually status_says "opened by process $$ "
		check "the service is started again" systemctl start vrfm
		check "and is as before" is_up
		systemctl stop vrfm
		exec 7>&-
		check "the service has failed, and no stop stops it" systemctl stop vrfm
		check "the device is still there" test -c /dev/rfm2g0
		check "vrfmctl takes it away" vrfmctl down --all
		check "and it is gone" test ! -e /dev/rfm2g0
		check "the service is started once more" systemctl start vrfm
		check "now that nobody has it open it is stopped" systemctl stop vrfm
		[[ $(systemctl is-active vrfm) == inactive && ! -e /dev/rfm2g0 ]]
		ok $? "and the device is gone"
	fi
	barrier stopped
	((NODE == 1)) || check "the peer sees it go" eventually peer_is down
	barrier seen
	((NODE != 1)) || check "started, it is there" systemctl start vrfm
	check "linked again" eventually peer_is ready
	check "and what this node wrote is in it" eventually reads $((NODE * 256)) "$(printf %x $((NODE * 1111)))"
	barrier started
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
reload
((NODE == 2)) || lost
barrier lost
stop_and_start
upgrade
purge
rdma link delete "$RDMADEV"
finish
