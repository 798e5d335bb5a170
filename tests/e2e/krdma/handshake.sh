#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# handshake: a peer without the key, or with a recorded or changed message, does not get a connection with a listener
# that has a level of security. It ends no other connection, although it uses the session number of a client that is
# connected. A peer with the key ends that connection. Clients that are not proved take up few places.
#
#   node 1 (victim; listens with the key A on 7000, on 7001 and 7003 with a backlog of 2, and on 7002 without a server)
#          <--- krdma_hostile --- node 2
#          <--- krdma: a client with the key A and session number 7 ---
#
# kernels: uml
# long: stock-6.1 uml-debug
# load: krdma krdma_test krdma_hostile
# add: hostile-lib.sh
# guarantees: S1 S2 S3
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krdma/hostile-lib.sh
. hostile-lib.sh

network_ready
mount_debugfs
victim=$(addr4 1)
here=$(addr4 2)
max_msg=65536

# ---- node 2 ----

# good_answers WHAT: one case: the client that was connected before WHAT is still connected, and its messages come back.
good_answers() {
	kt send good 100 && kt receive good 100 20000
	kt_is 100 "$1: another connection with the same session number still works"
}

# refused_req WHAT HEX: two cases: a request with these bytes is refused, and ends no connection.
refused_req() {
	ht attack "$victim" 7000 "$2"
	((ht_ret == errno[ECONNREFUSED]))
	ok $? "$1: the request is refused ($ht_ret)"
	good_answers "$1"
}

# refused_auth WHAT STEP...: two cases: the victim closes the connection, and no other connection ends.
refused_auth() {
	local what=$1
	shift
	ht attack "$victim" 7000 "$valid" "$@" "closed:$((10000 * slow))"
	((ht_ret == 0 && got[closed] != 0 && got[received] == 0))
	ok $? "$what: the connection ends without an answer ($ht_text)"
	good_answers "$what"
}

door() {
	local i other=0 changed
	hello session=7
	refused_req "a request without a level" "$hex"
	request
	refused_req "a request without a tag" "$hex"
	refused_req "a tag of zeroes" "$hex+8"
	refused_req "a tag with another key" "$hex$(tag B "$here" 7000 "$hex")"
	refused_req "a tag for another client" "$hex$(tag A 10.56.0.77 7000 "$hex")"
	refused_req "a tag for another port" "$hex$(tag A "$here" 7001 "$hex")"
	request session=8
	changed=$(tag A "$here" 7000 "$hex")
	request
	refused_req "the tag of another request" "$hex$changed"
	request mode=32
	refused_req "a request of the level integrity" "$hex$(tag A "$here" 7000 "$hex")"
	# Change each byte of a valid request, but not those that InfiniBand pads.
	for ((i = 0; i < ${#valid} / 2; i++)); do
		printf -v changed %02x $((0x${valid:2 * i:2} ^ 1))
		ht attack "$victim" 7000 "${valid:0:2 * i}$changed${valid:2 * i + 2}"
		((ht_ret == errno[ECONNREFUSED])) || { other=$((other + 1)); echo "# byte $i: $ht_ret"; }
	done
	((other == 0))
	ok $? "a request with one changed byte is refused, for each byte: $other are not"
	good_answers "changed requests"
}

handshake() {
	local i other=0
	# The victim keeps the connection until its time for connecting is over.
	refused_auth "a recorded request without AUTH"
	refused_auth "AUTH with another key" auth:B
	refused_auth "START in place of AUTH" "send:0101$(printf '0%.0s' {1..28})"
	refused_auth "AUTH without its last byte" auth:A:cut=1
	refused_auth "a header without AUTH" auth:A:cut=48
	for i in {0..63}; do
		ht attack "$victim" 7000 "$valid" "auth:A:flip=$i" "closed:$((10000 * slow))"
		((ht_ret == 0 && got[closed] && !got[received])) || { other=$((other + 1)); echo "# byte $i: $ht_text"; }
	done
	((other == 0))
	ok $? "AUTH with one changed byte ends its connection, for each byte: $other do not"
	good_answers "changed AUTHs"
	# This AUTH is valid, so the same AUTH on another connection is a recorded one.
	request session=9
	ht attack "$victim" 7000 "$hex$(tag A "$here" 7000 "$hex")" auth:A "start:$((5000 * slow))"
	((ht_ret == 0 && got[received] > 0))
	ok $? "a valid AUTH is answered ($ht_text)"
	refused_auth "a recorded AUTH" auth:A:again
	# The prologue contains the bytes of the request, not their meaning.
	request session=12 features=65535
	ht attack "$victim" 7000 "$hex$(tag A "$here" 7000 "$hex")" auth:A "start:$((5000 * slow))"
	((ht_ret == 0 && got[received] > 0))
	ok $? "a client with features that the server does not know gets a connection ($ht_text)"
}

# A client with the key ends the connection of the same session.
proved() {
	ht attack "$victim" 7000 "$valid" auth:A "start:$((20000 * slow))"
	((ht_ret == 0 && got[received] > 0))
	ok $? "a peer with the key gets a connection ($ht_text)"
	kt until good CLOSED $((20000 * slow))
	kt_is 0 "a peer with the key and the same session number ends the older connection"
	kt release good
}

# A client sends two requests with the same session number. The victim accepts the newer one first. A late AUTH on the
# older connection does not end the newer one, although it is valid.
late() {
	local result
	request session=11
	(
		trap - EXIT
		ht attack "$victim" 7002 "$hex$(tag A "$here" 7002 "$hex")" auth:A "closed:$((20000 * slow))"
		echo "$ht_ret ${got[closed]} ${got[received]}" >"$results/late"
	) &
	barrier held
	kt_start new connect new "$victim" 7002 security=1 keys=A session=11
	barrier newer
	kt_result new
	kt_is 0 "the newer request of a client is accepted first"
	barrier older
	wait
	result=$(<"$results/late")
	[[ $result =~ ^0\ -?[1-9][0-9]*\ 0$ ]]
	ok $? "the older connection ends without an answer to AUTH: $result"
	kt receive new 100 20000
	kt_is 100 "the newer connection works after a late AUTH on the older one"
	kt release new
}

# Of clients that do not send AUTH, at most the backlog of the listener have a connection. The listener on 7001 also limits
# the requests that wait for a task. On 7003, callbacks accept requests at once, so no request waits.
bounded() {
	local port
	request session=10
	for port in 7001 7003; do
		ht flood "$victim" $port "$hex$(tag A "$here" $port "$hex")" 8 $((3000 * slow))
		((ht_ret == 0 && got[rejected] == 6 && got[held] == 2))
		ok $? "of 8 recorded requests to port $port, 2 get a place ($ht_text)"
	done
	barrier flooded
}

attacker() {
	barrier listening
	request
	valid=$hex$(tag A "$here" 7000 "$hex")
	expect 0 connect good "$victim" 7000 security=1 keys=A session=7
	door
	handshake
	proved
	late
	bounded
	barrier end
}

# ---- node 1 ----

victim() {
	local key failed breach
	key=$(counter refused.key) failed=$(counter auth_failed) breach=$(counter protocol_error.start)
	expect 0 listen l 0.0.0.0 7000 security=1 keys=A connect_ms=$((3000 * slow))
	expect 0 listen few 0.0.0.0 7001 security=1 keys=A backlog=2 connect_ms=$((20000 * slow))
	expect 0 server 0.0.0.0 7003 security=1 keys=A backlog=2 connect_ms=$((20000 * slow))
	# Each thread serves one connection at a time.
	for i in 1 2 3; do expect 0 kthread "serve$i" serve l; done
	expect 0 kthread serve-few serve few
	expect 0 listen manual 0.0.0.0 7002 security=1 keys=A connect_ms=$((20000 * slow))
	barrier listening
	expect 0 request older manual 300000
	barrier held
	expect 0 request newer manual 20000
	expect 0 answer newer
	barrier newer
	expect ECONNRESET answer older
	barrier older
	expect 0 send newer 100
	expect 0 release older
	barrier flooded
	expect 0 release newer
	(($(counter refused.key) - key >= 30 && $(counter auth_failed) - failed >= 49 && $(counter protocol_error.start) - breach >= 17))
	ok $? "refused tags, false proofs and other first messages are counted"
	logged "handshake failed: other key or changed message, closing"
	ok $? "the log reports a false proof"
	barrier end
	for slot in l few manual; do expect 0 release "$slot"; done
	for i in 1 2 3 -few; do kt stop "serve$i"; done
	expect 0 server end
	kt unkey
}

if ((NODE == 1)); then victim; else attacker; fi
finish
