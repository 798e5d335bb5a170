#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# node.sh: use the packages on two nodes. The root of the nodes has systemd and our packages. At boot the service has created
# the device of node 1, before the adapter existed. Node 2 gets another vrfm.conf. /debs has newer packages for an upgrade.
# Node 1 also runs servers for virtual machines, in place of which ntrclient.py joins.
#
#   node 1 (vrfm.conf of the tree) <--- vrfm ---> node 2 (another vrfm.conf)

# shellcheck source=tests/e2e/lib.sh
. lib.sh

peer=$((3 - NODE))

# eventually COMMAND...: wait up to a minute until COMMAND succeeds.
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

# as USER COMMAND...: run COMMAND as USER.
as() {
	runuser -u "$1" -- "${@:2}"
}

# reads OFFSET VALUE: succeed if a member of the group reads VALUE at OFFSET.
reads() {
	[[ $(as friend rfm2g_util -d 0 peek32 "$1" 2>&1) == *"$2"* ]]
}

at_boot() {
	if ((NODE == 2)); then
		printf '%s\n' '[rfm2g0]' 'node = 2' 'size = 1M' 'listen = 10.56.0.2' 'peer = 1 10.56.0.1' >/etc/vrfm.conf
		check "the service restarts with another vrfm.conf" systemctl restart vrfm
	fi
	[[ $(systemctl is-active vrfm) == active ]]
	ok $? "the service is active"
	[[ $(stat -c %U:%G:%a /dev/rfm2g0) == root:rfm2g:660 ]]
	ok $? "the device belongs to the group: $(stat -c %U:%G:%a /dev/rfm2g0)"
	check "the peers are linked, although the adapter was added late" eventually peer_is ready
	barrier linked
}

use() {
	check "a member of the group can write" as friend rfm2g_util -d 0 poke32 $((NODE * 1111)) $((NODE * 256))
	check "a member of the group reads data of the other node" eventually reads $((peer * 256)) "$(printf %x $((peer * 1111)))"
	[[ $(as stranger rfm2g_util -d 0 peek32 0 2>&1) == *"members of group rfm2g"* ]]
	ok $? "the error for another user names the group"
	vrfmctl --json status | python3 -c 'import json, sys; assert json.load(sys.stdin)[0]["size"] == 1 << 20'
	ok $? "vrfmctl prints its status as JSON"
	check "krping's front end runs" krping --dry-run client 10.56.0.1
	check "the example of a krdma user can be loaded" insmod /opt/krdma/krdma_sample.ko server=1
	check "the example of a krdma user can be unloaded" rmmod krdma_sample
	barrier used
}

# links: print the number of times that the peer was linked.
links() {
	sed -n "s/^ *peer $peer .* links \([0-9]*\) .*/\1/p" /proc/rfm2g
}

# status_says TEXT: succeed if TEXT is in the status of the service, which includes its log. Poll this, because the log
# may be late.
status_says() {
	[[ $(systemctl status vrfm) == *"$1"* ]]
}

is_up() {
	[[ $(systemctl is-active vrfm) == active && -c /dev/rfm2g0 ]]
}

# A reload of the service adds or removes peers, and does not change the memory or other links.
reload() {
	local before
	before=$(links)
	cp /etc/vrfm.conf /tmp/vrfm.conf
	echo 'peer = 9 10.56.0.9' >>/etc/vrfm.conf
	check "a reload with another peer succeeds" systemctl reload vrfm
	[[ $(</proc/rfm2g) == *"peer 9 down "* ]]
	ok $? "a reload adds a peer"
	echo 'peer = 10 nowhere' >>/etc/vrfm.conf
	systemctl reload vrfm
	ok $(($? == 0)) "a reload with an invalid vrfm.conf fails"
	check "the status names the invalid line" eventually status_says "/etc/vrfm.conf:$(wc -l </etc/vrfm.conf): peer 10: nowhere"
	check "the device stays up after a failed reload" is_up
	cp /tmp/vrfm.conf /etc/vrfm.conf
	check "a reload with one peer less succeeds" systemctl reload vrfm
	[[ $(</proc/rfm2g) != *"peer 9 "* && $(links) == "$before" ]] && peer_is ready
	ok $? "a reload removes a peer, and keeps the other link: linked $before times, then $(links)"
	reads $((NODE * 256)) "$(printf %x $((NODE * 1111)))"
	ok $? "a reload keeps the memory"
	barrier reloaded
}

# A restart of the service removes a device that is no longer in vrfm.conf.
lost() {
	printf '%s\n' '[rfm2g1]' "node = $NODE" 'size = 4K' 'port = 5566' >>/etc/vrfm.conf
	check "a reload with another device succeeds" systemctl reload vrfm
	check "a reload adds a device" test -c /dev/rfm2g1
	cp /tmp/vrfm.conf /etc/vrfm.conf
	check "a restart with one device less succeeds" systemctl restart vrfm
	check "a restart removes a device" test ! -e /dev/rfm2g1
	check "the other device is up after a restart" is_up
	check "the other device is linked after a restart" eventually peer_is ready
	check "the other device has this node's data after a restart" eventually reads $((NODE * 256)) "$(printf %x $((NODE * 1111)))"
}

# A stop of the service keeps a device that a program has open, and removes an unused device. After the next start, the
# unused device receives its memory from the peer.
stop_and_start() {
	if ((NODE == 1)); then
		exec 7<>/dev/rfm2g0
		systemctl stop vrfm
		check "a stop keeps an open device" test -c /dev/rfm2g0
		check "the status names the process that has it open" eventually status_says "opened by process $$ "
		check "the service starts with an open device" systemctl start vrfm
		check "the open device is up after the start" is_up
		systemctl stop vrfm
		exec 7>&-
		check "a second stop of the failed service succeeds" systemctl stop vrfm
		check "a stop of the failed service keeps the device" test -c /dev/rfm2g0
		check "vrfmctl down --all succeeds" vrfmctl down --all
		check "vrfmctl down --all removes the device" test ! -e /dev/rfm2g0
		check "the service starts after vrfmctl down" systemctl start vrfm
		check "the service stops without an open device" systemctl stop vrfm
		[[ $(systemctl is-active vrfm) == inactive && ! -e /dev/rfm2g0 ]]
		ok $? "a stop removes an unused device"
	fi
	barrier stopped
	((NODE == 1)) || check "the link is down at the peer" eventually peer_is down
	barrier seen
	((NODE != 1)) || check "the service starts after a stop" systemctl start vrfm
	check "the peers are linked after the start" eventually peer_is ready
	check "the device has this node's data after the start" eventually reads $((NODE * 256)) "$(printf %x $((NODE * 1111)))"
	barrier started
}

# Upgrade the packages of node 1 while a program has the device open.
upgrade() {
	if ((NODE == 1)); then
		exec 7<>/dev/rfm2g0
		dpkg -i /debs/librfm2g0_*.deb /debs/librfm2g-dev_*.deb /debs/rfm2g-tools_*.deb
		check "tools and library can be upgraded" test $? = 0
		reads 256 "$(printf %x 1111)"
		ok $? "an upgrade keeps the memory"
		[[ $(systemctl is-active vrfm) == active ]] && peer_is ready
		ok $? "an upgrade keeps service and link"
		exec 7>&-
	fi
	barrier upgraded
}

# joined SOCKET DOORBELLS USER TEXT: succeed if USER can join a server, which gives what TEXT says.
joined() {
	said=$(as "$3" python3 /add/ntrclient.py "$1" "$2" 2>&1)
	[[ $said == *"$4"* ]]
}

# Node 1 is the host of virtual machines: two sets of machines, each with its own server.
serve() {
	local socket=/run/ntr-server/red/socket pid
	((NODE == 1)) || return 0
	[[ $(systemctl is-enabled ntr-server@red) == disabled && $(systemctl is-active ntr-server@red) == inactive ]]
	ok $? "no instance of ntr-server runs or is enabled after the installation"
	usermod -aG kvm friend
	echo "OPTIONS=-l 1M -n 2" >/etc/default/ntr-server-red
	touch /dev/shm/other && chown friend:kvm /dev/shm/other
	check "an instance of ntr-server starts" systemctl start ntr-server@red
	check "another instance of ntr-server starts" systemctl start ntr-server@blue
	joined "$socket" 2 friend "version 0 number 0 memory 1048576"
	ok $? "a member of kvm joins a server with options: $said"
	joined "$socket" 2 friend "version 0 number 1 memory 1048576"
	ok $? "the next machine has the next number: $said"
	joined /run/ntr-server/blue/socket 5 friend "version 0 number 0 memory 16777216"
	ok $? "a member of kvm joins a server without options: $said"
	joined "$socket" 2 stranger "PermissionError"
	ok $? "another user cannot join a server: ${said##*$'\n'}"
	pid=$(systemctl show -P MainPID ntr-server@red)
	(($(stat -c %u "/proc/$pid") > 999)) && grep -q "^CapEff:\s*0*$" "/proc/$pid/status"
	ok $? "the server has a user of its own and no capabilities: $(stat -c %u "/proc/$pid")"
	echo "OPTIONS=-l 3M" >/etc/default/ntr-server-green
	systemctl start ntr-server@green
	ok $(($? == 0)) "an instance with invalid options does not start"
	check "an instance of ntr-server stops" systemctl stop ntr-server@red
	[[ ! -e $socket && $(systemctl is-active ntr-server@red) == inactive ]]
	ok $? "the stopped server has removed its socket"
	dpkg --purge ntrdma-tools
	check "the server can be purged" test $? = 0
	[[ $(systemctl is-active ntr-server@blue) == inactive && ! -e /run/ntr-server/blue ]]
	ok $? "a purge stops the server"
	check "memory of other machines of the group stays" test -e /dev/shm/other
}

purge() {
	dpkg --purge rfm2g-tools
	check "the tools can be purged" test $? = 0
	[[ ! -e /dev/rfm2g0 && ! -e /etc/vrfm.conf ]] && ! getent group rfm2g
	ok $? "a purge removes device, vrfm.conf and group"
	[[ $(systemctl is-active vrfm) == inactive ]]
	ok $? "a purge stops the service"
}

at_boot
use
reload
((NODE == 2)) || lost
barrier lost
stop_and_start
upgrade
serve
purge
rdma link delete "$RDMADEV"
finish
