#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfmctl: devices as a file describes them: up, changed, down; what is wrong with a file, line by line; who has a device
# open that shall go.
#
#   each node for itself: vrfm.conf ---> vrfmctl ---> /sys/kernel/config/vrfm
#
# kernels: uml
# long: stock-6.1
# load: krdma vrfm
# tools: vrfmctl rfm2g_util
# timeout: 200

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
unit=${name#rfm2g}
config=/sys/kernel/config/vrfm
conf=$results/vrfm.conf
export LD_LIBRARY_PATH=/add

# says STATUS PATTERN COMMAND...
says() {
	local wanted=$1 pattern=$2 said status=0
	shift 2
	said=$("$@" 2>&1) || status=$?
	# shellcheck disable=SC2053
	[[ $status == "$wanted" && $said == $pattern ]]
	ok $? "${*##*/}: $status, ${said//$'\n'/ / }"
}

# ctl STATUS PATTERN ARGUMENT...
ctl() {
	says "$1" "$2" vrfmctl -f "$conf" "${@:3}"
}

# file LINE...
file() {
	printf '%s\n' "$@" >"$conf"
}

devices() {
	file "# a device" "[$name]" "node = $NODE  # mine" "size=1M" "network = 0x7"
	ctl 0 "*: 1 devices" conf
	ctl 0 "" up
	check "$name is there" test -c "$RFM"
	[[ $(<"$config/$name/size") == 1048576 && $(<"$config/$name/network") == 7 && $(<"$config/$name/node_id") == "$NODE" ]]
	ok $? "as the file says"
	ctl 0 "" up
	says 0 "size 1048576 *" rfm2g_util -d "$unit" size
	says 0 "$name node $NODE network 7 size 1048576 opens 0 refused 0*" vrfmctl status "$name"
	vrfmctl --json status | python3 -c "
import json, sys
device = [one for one in json.load(sys.stdin) if one['device'] == '$name'][0]
assert device['node'] == $NODE and device['size'] == 1048576, device
events = [line for line in device['details'] if line['kind'] == 'event']
assert len(events) == 12 and events[1] == {'kind': 'event', 'name': 'intr1', 'state': 'disabled', 'queued': 0, 'waiting': 0,
	'count': 0, 'lost': 0}, events"
	ok $? "status for programs"
	file "[$name]" "node = $NODE" "size = 2M" "network = 7"
	ctl 1 "*$name is up with size 1048576, not 2M: vrfmctl down $name first" up
	exec 7<>"$RFM"
	ctl 1 "*busy*opened by process $$ (*" down
	exec 7>&-
	ctl 0 "" down
	check "it is gone" test ! -e "$RFM" -a ! -e "$config/$name"
	ctl 0 "" down "$name"
	ctl 0 "" up "$name"
	[[ $(<"$config/$name/size") == 2097152 ]]
	ok $? "up again, with the other size"
	ctl 0 "" down
}

# peers_are TEXT: which there are, with their addresses
peers_are() {
	local peer all=
	for peer in "$config/$name/peers"/*; do
		all+=" ${peer##*/}@$(<"$peer/addr"):$(<"$peer/port")"
	done
	[[ $all == " $1" ]]
	ok $? "peers:$all"
}

# Peers come, change and go while the device is open.
peers() {
	local device=("[$name]" "node = $NODE" "size = 4K" "listen = $(addr4 "$NODE")")
	file "${device[@]}" "peer = 200 10.56.9.1"
	ctl 0 "" up
	peers_are "200@10.56.9.1:5565"
	exec 7<>"$RFM"
	file "${device[@]}" "peer = 200 10.56.9.1" "peer = 201 10.56.9.2 5566"
	ctl 0 "" up
	peers_are "200@10.56.9.1:5565 201@10.56.9.2:5566"
	file "${device[@]}" "peer = 200 10.56.9.3" "peer = 201 10.56.9.2"
	ctl 0 "" up
	peers_are "200@10.56.9.3:5565 201@10.56.9.2:5565"
	file "${device[@]}" "peer = 201 10.56.9.2"
	ctl 0 "" up
	peers_are "201@10.56.9.2:5565"
	exec 7>&-
	ctl 0 "" down
}

# A device that is held by nothing but a mapping.
mapped() {
	file "[$name]" "node = $NODE"
	ctl 0 "" up
	python3 -c "
import mmap, os, sys, time
fd = os.open('$RFM', os.O_RDWR)
memory = mmap.mmap(fd, 4096)
os.close(fd)
print('mapped', flush=True)
sys.stdin.read()" < <(until [[ -e $results/done ]]; do sleep 0.1; done) >"$results/mapped" &
	until [[ -s $results/mapped ]]; do sleep 0.1; done
	ctl 1 "*opened by process * (python3)*" down
	touch "$results/done"
	wait $!
	ctl 0 "" down
}

wrong() {
	ctl 1 "*No such file*" up
	file "# nothing"
	ctl 1 "*has no device" up
	file "node = 1" "[rfm2g8]" "[$name" "[$name]" "node = 256" "size = 6K" "size = 4Q" "network = -1" "listen = here" \
		"port = 0" "peer = 2" "peer = 300 10.0.0.1" "peer = 2 nowhere" "peer = 2 10.0.0.2 70000" "speed = 5" what "[$name]"
	ctl 1 "*:1: *comes first*:2: rfm2g8:*:3: *:5: node 256*:6: size 6K*:7: size 4Q*:8: network -1*:9: listen here*
*:10: port 0*:11: peer = ID*:12: peer 300*:13: peer 2: nowhere*:14: peer 2: port*:15: speed*:16: what: *:17: $name is in line 4*" \
		up
	check "nothing is made of such a file" test ! -e "$config/$name"
	file "[$name]" "node = 1" "node = 2"
	ctl 1 "*:3: node is there already" up
	file "[$name]" "size = 4K"
	ctl 1 "*:1: $name has no node" up
	file "[$name]" "node = 5" "peer = 5 any"
	ctl 1 "*:1: $name is node 5 itself, no peer" up
	file "[$name]" "node = 5"
	ctl 1 "*rfm2g7 is not in *" up rfm2g7
	ctl 2 "*eth0: devices are rfm2g0 to rfm2g7" up eth0
	ctl 2 "*eth0: devices are rfm2g0 to rfm2g7" down eth0
	ctl 2 "*Exit status*" sideways
	says 2 "*Exit status*" vrfmctl
	says 2 "*Exit status*" vrfmctl -x
	says 0 "*Exit status*" vrfmctl --help
	says 1 "vrfmctl: there is no rfm2g7" vrfmctl status rfm2g7
}

wrong_rights() {
	file "[$name]" "node = $NODE"
	chmod 755 "$results"
	says 1 "*Permission denied*" setpriv --reuid 65534 --regid 65534 --clear-groups vrfmctl -f "$conf" up
	check "who may not makes nothing" test ! -e "$config/$name"
}

! mountpoint -q /sys/kernel/config || umount /sys/kernel/config 2>/dev/null
barrier begun
mapped
devices
peers
rm -f "$conf"
wrong
wrong_rights
finish
