#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# vrfmctl: the tool brings devices up as a file describes them, changes them, and takes them down. It reports each error
# in the file with its line, and processes that keep a device busy. On two linked nodes it shows peers and rates, waits
# until the nodes have joined, compares their memories, and measures.
#
#   each node for itself: vrfm.conf ---> vrfmctl ---> /sys/kernel/config/vrfm
#   node 1 --- node 2
#
# kernels: uml
# long: stock-6.1
# load: krdma vrfm
# tools: vrfmctl rfm2g_util
# programs: rfm2g/rfm
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

name=${RFM#/dev/}
unit=${name#rfm2g}
# Start of the message that "vrfmctl up" prints about the device of the other node if both nodes share a kernel.
neighbour="rfm2g$((2 - NODE)) is up, but not in "
config=/sys/kernel/config/vrfm
conf=$results/vrfm.conf
export LD_LIBRARY_PATH=/add

# says STATUS PATTERN COMMAND...: do the same as says() of lib.sh, without the message about the device of the other node.
says() {
	local wanted=$1 pattern=$2 said status=0
	shift 2
	said=$("$@" 2>&1 | sed "/: $neighbour/d") || status=$?
	# shellcheck disable=SC2053
	[[ $status == "$wanted" && $said == $pattern ]]
	ok $? "${*##*/}: $status, ${said//$'\n'/ / }"
}

# ctl STATUS PATTERN ARGUMENT...: run vrfmctl on the file $conf as one case, see says().
ctl() {
	says "$1" "$2" vrfmctl -f "$conf" "${@:3}"
}

# file LINE...: write these lines into the file $conf.
file() {
	printf '%s\n' "$@" >"$conf"
}

devices() {
	says 0 "vrfmctl $(</sys/module/vrfm/version)" vrfmctl --version
	says 1 "vrfmctl: there is no device: describe one in /etc/vrfm.conf, then vrfmctl up" vrfmctl status
	file "# a device" "[$name]" "node = $NODE  # mine" "size=1M" "network = 0x7"
	ctl 0 "*: 1 device
$name: node $NODE, size 1M, 0 peers" conf
	ctl 0 "" up
	check "$name exists after up" test -c "$RFM"
	[[ $(<"$config/$name/size") == 1048576 && $(<"$config/$name/network") == 7 && $(<"$config/$name/node_id") == "$NODE" ]]
	ok $? "$name has the size, network and node of the file"
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
	ok $? "status as JSON has the node, size and events of the device"
	file "[$name]" "node = $NODE" "size = 1M" "network = 7" "flush_us = 50" "direct = off"
	ctl 1 "*$name is up with direct auto, not off: vrfmctl down $name first" up
	file "[$name]" "node = $NODE" "size = 2M" "network = 7"
	ctl 1 "*$name is up with size 1048576, not 2M: vrfmctl down $name first" up
	exec 7<>"$RFM"
	ctl 1 "*busy*opened by process $$ (*" down
	exec 7>&-
	bash -c 'printf "\033]0;x" >/proc/self/comm; exec 7<>"$1"; ! vrfmctl -f "$2" down' bash "$RFM" "$conf" 2>"$results/named"
	[[ $(<"$results/named") == *"(?]0;x)"* ]]
	ok $? "down masks terminal commands in the name of a process"
	ctl 0 "" down
	check "$name does not exist after down" test ! -e "$RFM" -a ! -e "$config/$name"
	ctl 0 "" down "$name"
	ctl 0 "" up "$name"
	[[ $(<"$config/$name/size") == 2097152 ]]
	ok $? "$name has the new size of the file after down and up"
	ctl 0 "" down
	file "[$name]" "node = $NODE" "overload_ms = 250" "keepalive_ms = 300" "flush_us = 0" "direct = off" "direct_min = 8192"
	ctl 0 "*
$name: node $NODE, size 64M (default), 0 peers" conf
	ctl 0 "" up
	[[ $(cd "$config/$name" && cat overload_ms keepalive_ms flush_us direct direct_min | tr '\n' ' ') == "250 300 0 off 8192 " ]]
	ok $? "$name has the other attributes of the file: $(cd "$config/$name" && cat overload_ms keepalive_ms flush_us direct direct_min | tr '\n' ' ')"
	ctl 0 "" up
	ctl 0 "" down
}

# peers_are TEXT: one case, which passes if TEXT lists the peers of the device, each as ID@ADDRESS:PORT.
peers_are() {
	local peer all=""
	for peer in "$config/$name/peers"/*; do
		all+=" ${peer##*/}@$(<"$peer/addr"):$(<"$peer/port")"
	done
	[[ $all == " $1" ]]
	ok $? "peers:$all"
}

# Peers are added, changed and removed while the device is open.
configured() {
	local device=("[$name]" "node = $NODE" "size = 4K" "listen = $(addr4 "$NODE")")
	file "${device[@]}" "peer = 200 10.56.9.1"
	ctl 0 "" up
	peers_are "200@10.56.9.1:5565"
	exec 7<>"$RFM"
	file "${device[@]}" "peer = 200 10.56.9.1" "peer = 201 10.56.9.2 5566"
	ctl 0 "" up
	peers_are "200@10.56.9.1:5565 201@10.56.9.2:5566"
	file "${device[@]}" "peer = 200 10.56.9.3" "peer = 201 10.56.9.2 0x000015bf"
	ctl 0 "" up
	peers_are "200@10.56.9.3:5565 201@10.56.9.2:5567"
	file "${device[@]}" "peer = 200 10.56.9.3" "peer = 201 10.56.9.2"
	ctl 0 "" up
	peers_are "200@10.56.9.3:5565 201@10.56.9.2:5565"
	file "${device[@]}" "peer = 201 10.56.9.2"
	ctl 0 "" up
	peers_are "201@10.56.9.2:5565"
	file "${device[@]}" "peer = 201 fe80::9%$NETDEV 5566"
	ctl 0 "" up
	peers_are "201@fe80::9%$NETDEV:5566"
	ctl 0 "" up
	says 0 "* 201 down * \[fe80::9%$NETDEV\]:5566*" vrfmctl peers "$name"
	exec 7>&-
	ctl 0 "" down
}

# waits_are DEVICE PEER TEXT: one case with description TEXT, which passes if overload_us of the device is DEVICE, and
# that of peer 201 is PEER.
waits_are() {
	[[ $(<"$config/$name/overload_us")-$(<"$config/$name/peers/201/overload_us") == "$1-$2" ]]
	ok $? "$3: $(<"$config/$name/overload_us") and $(<"$config/$name/peers/201/overload_us")"
}

tuned() {
	(cd "$config/$name" && cat overload_us flush_us quiet_us stage_ms unstage_ms direct_min | tr '\n' ' ')
}

# After a line is removed from the file, "vrfmctl up" resets its attribute to the default of the driver.
defaults() {
	local fresh device=("[$name]" "node = $NODE" "size = 4K" "listen = $(addr4 "$NODE")")
	file "${device[@]}"
	ctl 0 "" up
	fresh=$(tuned)
	file "${device[@]}" "overload_us = 5" "flush_us = 6" "quiet_us = 700" "stage_ms = 8" "unstage_ms = 9" "direct_min = 10"
	ctl 0 "" up
	[[ $(tuned) == "5 6 700 8 9 10 " ]]
	ok $? "up changes all tunable attributes: $(tuned)"
	file "${device[@]}"
	ctl 0 "" up
	[[ $(tuned) == "$fresh" ]]
	ok $? "attributes whose lines are removed have their defaults: $(tuned), $fresh"
	ctl 0 "" down
}

# "vrfmctl up" changes overload_us of the device and of a peer while the device is open.
waits() {
	local device=("[$name]" "node = $NODE" "size = 4K" "listen = $(addr4 "$NODE")")
	file "${device[@]}" "overload_us = 500" "peer = 201 10.56.9.2 overload_us=0"
	ctl 0 "" up
	exec 7<>"$RFM"
	waits_are 500 0 "the limits of the device and of peer 201 are set"
	file "${device[@]}" "overload_us = 700" "peer = 201 10.56.9.2 overload_us=800"
	ctl 0 "" up
	waits_are 700 800 "the limits of the device and of peer 201 are changed"
	file "${device[@]}" "overload_ms = 2" "peer = 201 10.56.9.2"
	ctl 0 "" up
	waits_are 2000 device "a peer without a limit has that of the device"
	echo 500 >"$config/$name/overload_us"
	file "${device[@]}" "overload_ms = 1" "peer = 201 10.56.9.2"
	ctl 0 "" up
	waits_are 1000 device "500 us, which the driver shows as 1 ms, become 1 ms"
	file "${device[@]}" "flush_us = 7" "keepalive_ms = 777" "peer = 201 10.56.9.2"
	ctl 1 "*is up with keepalive_ms 1000, not 777*" up
	[[ $(<"$config/$name/flush_us") == 50 ]]
	ok $? "a file that is refused changes nothing: flush_us $(<"$config/$name/flush_us")"
	file "${device[@]}" "overload_us = 60000001" "peer = 201 10.56.9.2 5565 5566" "peer = 202 10.56.9.2 overload_us=soon"
	ctl 1 "*overload_us 60000001: 0 to*peer = ID ADDRESS*peer: overload_us=soon: 0 to*" up
	file "${device[@]}" "overload_us = 1" "overload_ms = 1"
	ctl 1 "*one of them*" up
	exec 7>&-
	file "${device[@]}"
	ctl 0 "" down
}

# A process keeps the device busy by a mapping alone: it has closed its file descriptor.
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
	file "[$name]" "node = $NODE" "speed = 5"
	ctl 1 "*:3: speed*" down
	check "down of a file with an error keeps the device" test -e "$config/$name"
	file "[$name]" "node = $NODE"
	ctl 0 "" down
}

# "vrfmctl down --all" removes devices that are not in the file.
leftovers() {
	local two=("[$name]" "node = $NODE" "size = 4K" "[rfm2g5]" "node = $NODE" "size = 4K" "port = 5566")
	file "${two[@]}"
	ctl 0 "" up
	file "${two[@]:0:3}"
	ctl 0 "vrfmctl: rfm2g5 is up, but not in $conf: vrfmctl down rfm2g5 takes it away" up
	ctl 0 "" up "$name"
	exec 7<>/dev/rfm2g5
	ctl 1 "*rfm2g5*busy*opened by process $$ (*" down --all
	check "down --all removes closed devices and keeps open ones" test ! -e "$config/$name" -a -e "$config/rfm2g5"
	exec 7>&-
	rm "$conf"
	ctl 0 "" down --all
	check "down --all without a file removes the device" test ! -e "$config/rfm2g5"
	ctl 0 "" down -a
	mkdir "$config/rfm2g5"
	umount /sys/kernel/config
	ctl 0 "" down --all
	check "down --all mounts configfs and removes a device that was never enabled" test ! -e "$config/rfm2g5" -a -e "$config"
	ctl 2 "*Exit status*" down --all "$name"
}

wrong() {
	local word
	ctl 1 "*No such file*" up
	file "# nothing"
	ctl 1 "*has no device" up
	file "node = 1" "[rfm2g8]" "[$name" "[$name]" "node = 256" "size = 6K" "size = 4Q" "network = -1" "listen = here" \
		"port = 0" "peer = 2" "peer = 300 10.0.0.1" "peer = 2 nowhere" "peer = 2 10.0.0.2 70000" "speed = 5" what \
		"overload_ms = 0" "keepalive_ms = 60001" "flush_us = fast" "direct = yes" "direct_min = 65537" "[$name]" "node = 999"
	ctl 1 "*:1: *comes first*:2: rfm2g8:*:3: *:5: node 256*:6: size 6K*:7: size 4Q*:8: network -1*:9: listen here*
*:10: port 0*:11: peer = ID*:12: peer 300*:13: peer 2: nowhere*:14: peer 2: port*:15: speed*:16: what: *
*:17: overload_ms 0: 1 to*:18: keepalive_ms 60001*:19: flush_us fast*:20: direct yes: auto, on or off*:21: direct_min 65537*
*:22: $name is in line 4 already" \
		up
	check "up of a file with errors creates no device" test ! -e "$config/$name"
	file "[$name]" "listen = fd00::1%eth0" "listen = fe80::1%" "peer = 2 10.0.0.1%eth0" "peer = 2 fe80::2%sixteenletters16"
	ctl 1 "*:2: listen fd00*:3: listen fe80*:4: peer 2: 10*:5: peer 2: fe80*" up
	file "[$name]" "node = 1" "node = 2"
	ctl 1 "*:3: node is there already" up
	file "[$name]" "size = 4K"
	ctl 1 "*:1: $name has no node" up
	file "[$name]" "node = 5" "peer = 5 any"
	ctl 1 "*:1: $name is node 5 itself, no peer" up
	printf '%s\n\0%s\n' "[$name]" "node = 5" >"$conf"
	ctl 1 "*:2: a byte is 0*" up
	says 1 "*Is a directory*" vrfmctl -f /etc up
	file "[$name]" "node = 5"
	vrfmctl -f "$conf" conf >/dev/full
	ok $(($? != 1)) "conf fails on a full disk"
	ctl 1 "*rfm2g7 is not in *" up rfm2g7
	ctl 2 "*eth0: devices are rfm2g0 to rfm2g7" up eth0
	ctl 2 "*eth0: devices are rfm2g0 to rfm2g7" down eth0
	ctl 2 "vrfmctl: sideways: no such command*Exit status*" sideways
	says 2 "*Exit status*" vrfmctl
	says 2 "*Exit status*" vrfmctl -x
	says 0 "*Exit status*" vrfmctl --help
	says 1 "vrfmctl: there is no rfm2g7" vrfmctl status rfm2g7
	for word in peers top join check bench; do
		says 1 "vrfmctl: there is no rfm2g7" vrfmctl $word rfm2g7
		says 1 "*eth0: devices are rfm2g0 to rfm2g7" vrfmctl $word eth0
		says 2 "*Exit status*" vrfmctl $word rfm2g6 rfm2g7
	done
	for word in "-n 0" "-n 1.5" "-n x" "-i 0" "-i -1" "-t 0" "-b 0" "-b 6" "-b 4G" "-b 4Kx" "-w 2" "-w -4" "-w 1M1" "-e 0" \
		"-e 5" "-e"; do
		# shellcheck disable=SC2086
		says 2 "*Exit status*" vrfmctl top $word
	done
}

wrong_rights() {
	file "[$name]" "node = $NODE"
	chmod 755 "$results"
	says 1 "*Permission denied*only root may bring devices up and down" setpriv --reuid 65534 --regid 65534 --clear-groups \
		vrfmctl -f "$conf" up
	check "up without privileges creates no device" test ! -e "$config/$name"
}

# linked [LINE]...: bring up a device with the other node as peer. LINE is added to its section of the file.
linked() {
	local other=$((3 - NODE))
	file "[$name]" "node = $NODE" "size = 1M" "listen = $(addr4 "$NODE")" "peer = $other $(addr4 "$other")" "$@"
	ctl 0 "" up
}

joining() {
	linked
	ctl 0 "" up
	says 0 "*$name: has all" vrfmctl join "$name"
	ctl 0 "" up
	(($(rfm_peer_line $((3 - NODE)) | sed 's/.* links \([0-9]*\).*/\1/') == 1))
	ok $? "up again keeps the link of the peer"
	barrier joined
	rfm poke $((4096 * NODE)) $((70 + NODE))
	says 0 "*\"device\":\"$name\",\"joined\":true,\"seconds\":*,\"without\":\[\]}" vrfmctl --json join "$name"
	barrier written
	if ((NODE == 2)); then
		ctl 0 "" down
		linked
		says 0 "*\[####*\] has all*" script -qec "vrfmctl join $name" /dev/null
		[[ $(rfm peek 4096) == 71 && $(rfm peek 8192) == 72 ]]
		ok $? "node 2 has the words of both nodes after join"
	fi
	barrier anew
	rfm_settle
	barrier settled
}

peers() {
	local other=$((3 - NODE))
	says 0 "$name: 1.0M, image *, complete
*node state * late *
* $other ready * $(addr4 "$other"):5565" vrfmctl peers "$name"
	vrfmctl --json peers | python3 -c "
import json, sys
device = [one for one in json.load(sys.stdin) if one['device'] == '$name'][0]
assert device['size'] == 1048576 and not device['loading'] and len(device['image']) == 16, device
peer, = device['peers']
assert peer['node'] == $other and peer['state'] == 'ready' and peer['address'] == '$(addr4 "$other"):5565', peer
assert peer['peer_synced'] and peer['same_image'] and not peer['misses_all'] and not peer['missed_bytes'], peer
assert peer['links'] >= 1 and peer['bytes_received'] > 0 and peer['since_ms'] > 0, peer"
	ok $? "peers as JSON has the state and counters of the peer"
	says 0 "*sent/s *
* $other ready * -      - *
*sent/s *
* $other ready *" vrfmctl -n 2 -i 0.1 top "$name"
	says 0 $'*\e[H*ready*' script -qec "vrfmctl -n 1 top $name" /dev/null
	barrier quiet
	vrfmctl --json -n 2 -i 1 top "$name" >"$results/top" &
	sleep 0.3
	# Write blocks that are sent as messages, because a peer does not count the bytes of direct writes.
	dd if=/dev/urandom of="$RFM" bs=8192 count=60 seek=16 conv=notrunc status=none
	wait $!
	python3 -c "
import json
first, second = [json.loads(line) for line in open('$results/top')]
assert 'sent_per_s' not in first['peers'][0], first
assert 100000 < second['peers'][0]['sent_per_s'] < 5000000, second
assert second['peers'][0]['received_per_s'] > 100000, second"
	ok $? "top as JSON has the rates of a writer of 8 KiB blocks: $(tail -n 1 "$results/top")"
	barrier rated
	# Both nodes wrote to the same range, so node 1 writes that range again to make both memories equal.
	on 1 rfm fill 131072 500000 9
	rfm_settle
	barrier filled
}

comparing() {
	local word
	vrfmctl check "$name" >"/exchange/check-$NODE"
	ok $? "check prints checksums: $(wc -l <"/exchange/check-$NODE") lines"
	vrfmctl --json -b 256K check "$name" | python3 -c "
import json, sys
image = json.load(sys.stdin)
assert image['node'] == $NODE and image['size'] == 1048576 and image['block'] == 262144 and len(image['sums']) == 4, image"
	ok $? "check as JSON has the checksums of the blocks"
	barrier summed
	says 0 "nodes $NODE and $((3 - NODE)): 0 of 16 blocks differ" vrfmctl -c "/exchange/check-$((3 - NODE))" check "$name"
	if ((NODE == 1)); then
		rfm dark 1
		rfm poke 196608 99
		rfm dark 0
		says 1 "00030000 differs
nodes 1 and 2: 1 of 16 blocks differ" vrfmctl -c - check "$name" </exchange/check-2
		says 1 '{"device":"*","node":1,"with":2,"blocks":16,"block":65536,"different":\[196608\],"same":false}' \
			vrfmctl --json -c /exchange/check-2 check "$name"
	fi
	says 1 "*No such file*" vrfmctl -c "$results/nowhere" check "$name"
	says 1 "*not what vrfmctl check prints" vrfmctl -c /dev/null check "$name"
	head -n 5 "/exchange/check-$NODE" >"$results/short"
	says 1 "*short:6: a block is missing" vrfmctl -c "$results/short" check "$name"
	sed '1s/1048576/2097152/' "/exchange/check-$NODE" "/exchange/check-$NODE" >"$results/other"
	says 1 "*a block is missing" vrfmctl -c "$results/other" check "$name"
	sed 's/size 1048576 block 65536/size 65536 block 65536/' "/exchange/check-$NODE" >"$results/small"
	says 1 "*$name has 1048576 bytes, */small 65536" vrfmctl -c "$results/small" check "$name"
	for word in "size 0 block 4" "size 4096 block 0" "size 4096 block 6" "size 4294967296 block 4096" "size -1 block 4" \
		"size 4096 block -4"; do
		echo "vrfmctl-check node 1 $word" >"$results/bad"
		says 1 "*not what vrfmctl check prints" vrfmctl -c "$results/bad" check "$name"
	done
	barrier compared
}

measuring() {
	says 0 "us *p50*p99.9*
load *
read *
flush *" vrfmctl -n 100 bench "$name"
	vrfmctl --json -n 100 -w $((16384 + 4 * NODE)) -e 3 bench "$name" | python3 -c "
import json, sys
tests = json.load(sys.stdin)['tests']
assert [test['name'] for test in tests] == ['load', 'read', 'flush', 'write', 'write+flush', 'event'], tests
for test in tests:
	assert 0 < test['p50_ns'] <= test['p90_ns'] <= test['p99_ns'] <= test['p99.9_ns'] <= test['max_ns'], test
	assert test['count'] == (10 if test['name'] in ('flush', 'write+flush', 'event') else 100), test
one = {test['name']: test['p50_ns'] for test in tests}
assert one['load'] < one['read'] and one['write'] < one['write+flush'], one"
	ok $? "bench as JSON has plausible times of all tests"
	[[ $(rfm peek $((16384 + 4 * NODE))) == 9 && $(rfm peek 16384) == 0 ]]
	ok $? "bench writes only the word given by -w"
	says 1 "*there is no word at that offset" vrfmctl -w 1M bench "$name"
	barrier measured
}

# Let all ioctls fail, as with a driver that lacks the ioctls of vrfm: the driver of the cards, or an older vrfm.
older() {
	local word
	for word in peers "-n 1 top" join check; do
		# shellcheck disable=SC2086
		says 1 "*$name: its driver is older than this, or not vrfm*" \
			strace -o /dev/null -e trace=ioctl -e inject=ioctl:error=ENOTTY vrfmctl $word "$name"
	done
}

# Join while peer 9, which is in the file, does not exist.
absent() {
	linked "peer = 9 $(addr4 9)"
	says 3 "*$name: 1 of 2 peers linked, waits for 9*$name: has all of those that are linked*node 9 is down since *" \
		vrfmctl join "$name"
	# This node connects to node 9, because its own id is lower, so it knows the error.
	says 3 "*node 9 is down since *, Connection timed out" vrfmctl -t 0.5 join "$name"
	script -qec "stty columns 60; vrfmctl -t 1 join $name" /dev/null >"$results/bar"
	python3 -c "
bars = [bar.split('\x1b[K')[0] for bar in open('$results/bar', newline='').read().split('\r') if '] ' in bar]
assert len(bars) > 5 and all(bar.endswith('1 of 2 peers linked') and len(bar) < 60 for bar in bars), bars"
	ok $? "the progress bar of join fits into one line of the terminal: $(head -n 1 "$results/bar" | tr '\r' '\n' | tail -n 1)"
	says 3 "*\"joined\":true,\"seconds\":*,\"without\":\[{\"node\":9,\"state\":\"down\",\"since_ms\":*}\]}" \
		vrfmctl --json -t 0.5 join "$name"
	chmod 755 "$results"
	says 1 "*only root may open $RFM" setpriv --reuid 65534 --regid 65534 --clear-groups vrfmctl peers "$name"
	chgrp disk "$RFM"
	says 1 "*only members of group disk may open $RFM: adduser USER disk, and log in again" \
		setpriv --reuid 65534 --regid 65534 --clear-groups vrfmctl peers "$name"
	says 0 "*9 down *" setpriv --reuid 65534 --regid 65534 --groups disk vrfmctl peers "$name"
	barrier absent
	ctl 0 "" down
}

is_told() { [[ $(vrfmctl peers "$name") == *"$1"* ]]; }

# The connection is refused, because the memories of the nodes have different sizes. Both nodes show the reason.
refusing() {
	local other=$((3 - NODE)) why="refused: its memory has another size"
	barrier refusing
	file "[$name]" "node = $NODE" "size = ${NODE}M" "listen = $(addr4 "$NODE")" "peer = $other $(addr4 "$other")"
	ctl 0 "" up
	check "peers shows the refusal of another size" within 20 is_told "$why"
	says 0 "* $other down * $(addr4 "$other"):5565, $why" vrfmctl peers "$name"
	says 0 "*\"why\":\"$why\"}\]}*" vrfmctl --json peers "$name"
	says 1 "*\"joined\":false,*\"why\":\"$why\"}\]}" vrfmctl --json -t 0.5 join "$name"
	says 1 "*: 0 of 1 peers linked, waits for $other*node $other is down since *, $why" vrfmctl -t 0.5 join "$name"
	barrier refused
	on 2 ctl 0 "" down
	barrier left
	# The last error replaces an earlier refusal.
	((NODE == 2)) || check "peers shows the last error after the peer has gone down" within 40 is_told "$(addr4 2):5565, Connection refused"
	on 1 ctl 0 "" down
	# The kernel of node 2 must refuse the connections of node 1, so node 2 has to run until here.
	barrier told
}

late_is_named() {
	! said=$(strace -o /dev/null -e trace=ioctl -e inject=ioctl:error=ETIMEDOUT:when=1 vrfmctl -n 1 bench "$name" 2>&1) &&
		[[ $said == *"$name: flush: Connection timed out"*"$name: node 2 is "*" ms late" ]]
}

# With a slow peer, "vrfmctl bench" ends in time. If its flush times out, it names the peer.
slow_peer() {
	on 2 network delay 400ms
	barrier slow
	if ((NODE == 1)); then
		local begun=$SECONDS said
		says 0 "*write+flush *" vrfmctl -w 16388 bench "$name"
		((SECONDS - begun < 60))
		ok $? "bench with a slow peer ends in time: $((SECONDS - begun)) s"
		until [[ -e $results/late ]]; do rfm poke 16388 1 || echo "# poke: exit status $?"; done &
		# Repeat bench, because all messages may be acknowledged when it looks for a late peer.
		within 30 late_is_named
		ok $? "bench names a late peer when its flush times out: ${said//$'\n'/ / }"
		touch "$results/late"
		wait $!
	fi
	barrier slow.over
	on 2 network
	barrier fast
}

! mountpoint -q /sys/kernel/config || umount /sys/kernel/config 2>/dev/null
network_ready
barrier begun
mapped
devices
configured
waits
defaults
rm -f "$conf"
wrong
wrong_rights
barrier alone
on 1 leftovers
barrier leftovers
joining
peers
comparing
measuring
slow_peer
older
absent
refusing
finish
