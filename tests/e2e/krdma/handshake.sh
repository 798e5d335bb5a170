#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# handshake: a peer without the key, or with a recorded or changed message, does not get a connection with a listener
# that has a level of security. It ends no other connection, although it uses the session number of a client that is
# connected. A peer with the key ends that connection. Clients that are not proved take up few places. A server without
# the key, or with a recorded, reflected or changed message, does not get a connection with a client that has a level.
#
#   node 1 (victim; listens with the key A on 7000, on 7001 and 7003 with a backlog of 2, and on 7002 without a server)
#          <--- krdma_hostile --- node 2
#          <--- krdma: a client with the key A and session number 7 ---
#
#   node 1 (clients with the key A) ---> node 2 (krdma_hostile on 7100; krdma with the key A on 7004)
#
# kernels: uml uml/siw
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

# Public keys with which each product is the null point.
points=(
	"$(printf '0%.0s' {1..64})"
	"01$(printf '0%.0s' {1..62})"
	e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800
	5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157
	"ec$(printf 'f%.0s' {1..60})7f"
	"ed$(printf 'f%.0s' {1..60})7f"
	"ee$(printf 'f%.0s' {1..60})7f"
)

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

siw=0 nudge=()
# On siw the victim may miss the first message until another message arrives, so krdma_hostile sends a CREDIT behind it.
[[ $LINK != siw ]] || siw=1 nudge=(sleep:50 "send:0103$(printf '0%.0s' {1..28})")

# refused_auth WHAT [STEP...]: two cases: the victim closes the connection, and no other connection ends.
refused_auth() {
	local what=$1
	shift
	(($# == 0)) || set -- "$@" "${nudge[@]}"
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
		ht attack "$victim" 7000 "$valid" "auth:A:flip=$i" "${nudge[@]}" "closed:$((10000 * slow))"
		((ht_ret == 0 && got[closed] && !got[received])) || { other=$((other + 1)); echo "# byte $i: $ht_text"; }
	done
	((other == 0))
	ok $? "AUTH with one changed byte ends its connection, for each byte: $other do not"
	good_answers "changed AUTHs"
	# This AUTH is valid, so the same AUTH on another connection is a recorded one.
	request session=9
	ht attack "$victim" 7000 "$hex$(tag A "$here" 7000 "$hex")" auth:A "${nudge[@]}" "start:$((5000 * slow))"
	((ht_ret == 0 && got[received] > 0))
	ok $? "a valid AUTH is answered ($ht_text)"
	refused_auth "a recorded AUTH" auth:A:again
	# The prologue contains the bytes of the request, not their meaning.
	request session=12 features=65535
	ht attack "$victim" 7000 "$hex$(tag A "$here" 7000 "$hex")" auth:A "${nudge[@]}" "start:$((5000 * slow))"
	((ht_ret == 0 && got[received] > 0))
	ok $? "a client with features that the server does not know gets a connection ($ht_text)"
	request session=13
	ht attack "$victim" 7000 "$hex$(tag A "$here" 7000 "$hex")" auth:A "${nudge[@]}" "start:$((5000 * slow))" reflect \
		"closed:$((10000 * slow))"
	((ht_ret == 0 && got[received] > 0 && got[closed]))
	ok $? "a client that sends the server's START back loses its connection ($ht_text)"
}

# A client with the key ends the connection of the same session.
proved() {
	ht attack "$victim" 7000 "$valid" auth:A "${nudge[@]}" "start:$((20000 * slow))"
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
		ht attack "$victim" 7002 "$hex$(tag A "$here" 7002 "$hex")" auth:A "${nudge[@]}" "closed:$((20000 * slow))"
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
# the requests that wait for a task. On 7003, callbacks accept requests at once, so no request waits. On siw, krdma_hostile
# cannot send requests without a QP.
bounded() {
	local port ports="7001 7003"
	((!siw)) || ports=""
	request session=10
	for port in $ports; do
		ht flood "$victim" "$port" "$hex$(tag A "$here" "$port" "$hex")" 8 $((3000 * slow))
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
	expect 0 listen right 0.0.0.0 7004 security=1 keys=A
	expect 0 kthread serve-right serve right
	barrier serving
	servers
	barrier end
	expect 0 release right
	kt stop serve-right
}

# ---- both nodes: the victim is the client ----

# dial: the victim connects to the attacker. While the attacker does not listen, it tries again. Set "result" to the result of
# the call.
dial() {
	local end=$((SECONDS + 20 * slow))
	result=${errno[ECONNREFUSED]}
	while ((result == errno[ECONNREFUSED] && SECONDS < end)); do
		kt connect bad "$(addr4 2)" 7100 security=1 keys=A connect_ms=$((3000 * slow)) session="$session"
		result=$kt_ret
		kt release bad
		pause 0.02
	done
}

# answer WANTED HELLO[/PROOF] [STEP]...: the attacker answers a connect request of the victim, and does the steps. Succeed on
# node 1 if the victim's call returns one of the results WANTED, and on node 2 if the answer is sent.
answer() {
	local name
	if ((NODE == 2)); then
		ht serve 7100 $((20000 * slow)) "${@:2}" "closed:$((5000 * slow))"
		((ht_ret == 0 || ht_ret == errno[ECONNREFUSED] || ht_ret == errno[ECONNRESET]))
		return
	fi
	dial
	for name in $1; do
		((result != ${errno[$name]:-$name})) || return 0
	done
	return 1
}

# served WHAT ANSWER...: one case for one answer.
served() {
	local result
	answer "${@:2}"
	ok $? "$1: $([[ $NODE == 1 ]] && echo "the client's call returns $result" || echo "$ht_text")"
}

# served_each WHAT FIRST LAST ANSWER...: one case for answers whose last word ends with each number from FIRST to LAST.
served_each() {
	local i other=0 result=- ht_text=-
	for ((i = $2; i <= $3; i++)); do
		answer "${@:4:$#-4}" "${!#}$i" || { other=$((other + 1)); echo "# $1 $i: $result $ht_text"; }
	done
	ok "$other" "$1, $2 to $3, do not make a connection"
}

# good_server WHAT: one case on node 1: a client connects to a server with the key.
good_server() {
	((NODE == 1)) || return 0
	kt rounds new "$(addr4 2)" 7004 1 security=1 keys=A
	kt_is 0 "$1: a client connects to a server with the key"
	kt release new
}

servers() {
	local rep point session=0 start=start:$((5000 * slow))
	hello version=2 min=2 mode=16
	rep=$hex
	served "a server with the key gets a connection" 0 "$rep/A" "$start" welcome
	served "a recorded reply" EKEYREJECTED -/again
	served "a reply without a proof" EKEYREJECTED "$rep"
	served "a reply with zeroes for a proof" EKEYREJECTED "$rep+48"
	served "a reply that is filled up with zeroes" EKEYREJECTED "$rep+32"
	served "a reply with another key" EKEYREJECTED "$rep/B"
	served "the request as its own reply" EKEYREJECTED -/mirror
	hello
	served "a reply without a level" EPROTO "$hex"
	hello version=2 min=2 mode=32
	served "a reply of the level integrity" EPROTO "$hex/A"
	served_each "replies without their last bytes" 1 48 EKEYREJECTED "$rep/A:cut="
	served_each "replies with one changed byte" 0 71 "EPROTO -93 EKEYREJECTED" "$rep/A:flip="
	good_server "after wrong replies"
	for point in "${points[@]}"; do
		served "the public key $point" EKEYREJECTED "$rep/A:point=$point"
	done
	served "the client's AUTH in place of START" EPROTO "$rep/A" "$start" reflect
	served "the client's AUTH as START" EKEYREJECTED "$rep/A" "$start" reflect:1
	served "the START of an earlier connection" EKEYREJECTED "$rep/A" "$start" welcome:again
	served "a START without a seal" EPROTO "$rep/A" "$start" "send:0101$(printf '0%.0s' {1..28})"
	served_each "STARTs with one changed byte" 0 31 "EPROTO EKEYREJECTED" "$rep/A" "$start" "welcome:flip="
	served_each "STARTs without their last bytes" 1 32 "EPROTO EKEYREJECTED" "$rep/A" "$start" "welcome:cut="
	good_server "after wrong STARTs"
	# A recorded reply is valid if the request is the same. The recorded START does not fit to the client's new AUTH.
	session=14
	served "a server with the key gets a connection with this session number" 0 "$rep/A" "$start" welcome
	served "a recorded reply to the same request, and a recorded START" EKEYREJECTED -/again "$start" welcome:again
	good_server "after recorded messages"
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
	key=$(($(counter refused.key) - key)) failed=$(($(counter auth_failed) - failed))
	breach=$(($(counter protocol_error.start) - breach))
	# InfiniBand pads a request without a tag, so that its tag is zero. On siw that request is too short.
	((key >= (siw ? 29 : 30) && failed >= 49 && breach >= 17))
	ok $? "refused tags, false proofs and other first messages are counted: $key, $failed, $breach"
	logged "handshake failed: other key or changed message, closing"
	ok $? "the log reports a false proof"
	barrier serving
	failed=$(counter auth_failed)
	servers
	(($(counter auth_failed) - failed >= 150))
	ok $? "clients count servers without a proof: $(($(counter auth_failed) - failed))"
	barrier end
	for slot in l few manual; do expect 0 release "$slot"; done
	for i in 1 2 3 -few; do kt stop "serve$i"; done
	expect 0 server end
	kt unkey
}

if ((NODE == 1)); then victim; else attacker; fi
finish
