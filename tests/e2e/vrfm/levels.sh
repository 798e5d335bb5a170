#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# levels: two nodes are linked only if their devices have the same level of security. If the levels differ, both nodes log
# the reason once, and the node that connects gets EPERM. A level needs a key, and its attributes refuse invalid values.
#
#   node 1 (none, auth, integrity, encrypt) --- node 2 (the same levels, in all pairs)
#
# kernels: uml uml/siw
# alone: stock-6.1 debug-6.1
# load: krdma vrfm
# programs: rfm2g/rfm rfm2g/own
# add: peers-lib.sh
# tools: vrfmctl
# guarantees: S1
# timeout: 400

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/vrfm/peers-lib.sh
. peers-lib.sh

network_ready
mount_debugfs
other=$((3 - NODE))

# make LEVEL: configure this node's device with that level and the key A, and its peer.
make() {
	device "$NODE" keepalive_ms=500 && put "$dir/security" "$1" || return
	[[ $1 == none ]] || put "$dir/key" vrfm:a || return
	peer "$other" "$(addr4 $other)"
}

# A device with the level auth says what the level does not do.
auth_is_logged() {
	make auth
	check "a device with the level auth is enabled" enable_device
	check "the log says what the level auth does not protect" \
		logged "security auth: peers are authenticated, their data are neither secret nor protected"
	rfm_unmake
}

# linked LEVEL: both devices have this level.
linked() {
	local key=00000000 shown=yes line
	[[ $LINK != siw ]] || shown=iwarp # There are no direct writes on iWARP.
	[[ $1 == none ]] || key=$(key_id A)
	[[ $1 == none || $1 == auth ]] || shown=sealed
	check "$1: node $NODE is linked" within 20 rfm_joined $other
	check "$1: node $NODE writes a word" rfm poke $((64 * NODE)) $((NODE + 7))
	check "$1: node $NODE receives a word" rfm await $((64 * other)) $((other + 7)) 20
	[[ $(grep "^$name " /proc/rfm2g) == *" security $1" ]]
	ok $? "$1: /proc/rfm2g shows the level"
	[[ $(<"/sys/class/rfm2g/$name/security") == "$1" ]]
	ok $? "$1: sysfs shows the level"
	line=$(rfm_peer_line $other)
	[[ $line == *" shown $shown "* && $line == *" key $key" ]]
	ok $? "$1: /proc/rfm2g shows the key $key, and direct writes $shown: $line"
	refused busy "$1: the level of an enabled device cannot change" put "$dir/security" none
}

# parted LEVEL1 LEVEL2: the nodes have different levels, and log TEXT.
parted() {
	check "$1 and $2: node $NODE logs the refusal" within 20 said "$text"
	# At least one more attempt must not be logged.
	((NODE == 1)) || check "$1 and $2: the refusals are counted" within 20 refused_twice
	barrier "counted-$1-$2"
	check "$1 and $2: node $NODE logs the refusal once" logged_once "$text"
	check "$1 and $2: node $NODE is not linked" peer_is down $other
}

# logged_once TEXT: succeed if this node has logged TEXT once. On siw, the node that connects can miss a reason (see
# krdma_quirk_reject_data()), and logs the next one again.
# shellcheck disable=SC2317 # called by check
logged_once() {
	if ((NODE == 1)) && [[ $LINK == siw ]]; then said "$1"; else once "$1"; fi
}

# shellcheck disable=SC2317 # called by within
refused_twice() { [[ $(grep "^$name " /proc/rfm2g) =~ " refused "([2-9]|[1-9][0-9]) ]]; }

pair() {
	local mine=$1 text="node 2: not linked: it has another security level"
	((NODE == 1)) || mine=$2 text="$(addr4 1).*: refused: it has another security level"
	make "$mine"
	mark "$text"
	barrier "made-$1-$2"
	check "$1 and $2: node $NODE enables its device with the level $mine" enable_device
	if [[ $1 == "$2" ]]; then linked "$1"; else parted "$1" "$2"; fi
	barrier "over-$1-$2"
	rfm_unmake
}

# Invalid values, and keys that are absent.
settings() {
	check "a key of another length is added" add_key logon vrfm:short A 31
	make none
	refused "Invalid argument" "an unknown level is refused" put "$dir/security" secret
	[[ $(<"$dir/security") == none && $(<"$dir/key") == none ]]
	ok $? "a new device has no level and no key"
	[[ $(stat -c %a "$dir/key" "$dir/peers/$other/key" | sort -u) == 600 ]]
	ok $? "only root can read the files of keys"
	refused "Required key not available" "the description of an absent key is refused" put "$dir/key" vrfm:absent
	refused "Invalid argument" "an empty description is refused" put "$dir/key" ""
	refused "Invalid argument" "a key of 31 bytes is refused" put "$dir/key" vrfm:short
	check "a key is found by its description" put "$dir/key" vrfm:a
	[[ $(<"$dir/key") == "$(key_id A)" ]]
	ok $? "the file of the key shows its id: $(<"$dir/key")"
	check "the key is removed" put "$dir/key" none
	put "$dir/security" auth
	mark "peer $other: there is no key for it"
	refused "Required key not available" "a device with a level and without a key is not enabled" put "$dir/enable" 1
	check "the log names the peer without a key" once "peer $other: there is no key for it"
	put "$dir/key" vrfm:a
	put "$dir/security" encrypt
	put "$dir/direct" on
	mark "security encrypt: direct must not be on"
	refused "Invalid argument" "the level encrypt refuses direct=on" put "$dir/enable" 1
	check "the log says that direct must not be on" once "security encrypt: direct must not be on"
	rfm_unmake
}

# The parameters of the module.
parameters() {
	rmmod vrfm
	refused "" "an unknown level in security= is refused" insmod /modules/vrfm.ko node=1 security=secret
	check "the log names the unknown level" logged "security secret: not none, auth, integrity or encrypt"
	refused "" "an absent key in key= is refused" insmod /modules/vrfm.ko node=1 security=auth key=vrfm:absent
	check "the log names the absent key" logged "key vrfm:absent: error -126"
	barrier parameters
	check "a device with security= and key= is created" insmod /modules/vrfm.ko node="$NODE" size=1M \
		listen="$(addr4 "$NODE")" peers="$other@$(addr4 $other)" security=auth key=vrfm:a
	check "a device with security= and key= is linked" within 30 rfm_joined $other
	barrier joined
	check "vrfm is unloaded" rmmod vrfm
	insmod /modules/vrfm.ko
}

check "the key A is added" add_key logon vrfm:a A
auth_is_logged
for one in none auth integrity encrypt; do
	for two in none auth integrity encrypt; do
		pair $one $two
	done
done
settings
parameters
! { dmesg; cat /proc/rfm2g /sys/kernel/debug/krdma/* /sys/kernel/debug/vrfm/*/*; } 2>/dev/null | grep -E 'A{8}|(41){8}' >/dev/null
ok $? "no key is in the log, in /proc/rfm2g or in debugfs"
finish
