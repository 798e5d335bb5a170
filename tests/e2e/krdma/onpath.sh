#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# onpath: an attacker on the path changes, drops, delays, repeats and exchanges packets, whose ICRC stays valid. Adapters
# repair what is dropped or delayed. Without a level of security, and with the level auth, krdma delivers what is changed.
# It notices what is repeated or exchanged only because messages have numbers. With the level auth, a change of the
# handshake prevents the connection, and ends no other one. With the levels integrity and encrypt, what is changed,
# repeated or exchanged ends the connection, and is not delivered.
#
#   node 1 (listens on 7000 with the level auth, on 7001 with none, on 7003 with integrity, on 7004 with encrypt)
#          --- attacker --- node 2 (connects)
#
# kernels: uml
# alone: stock-6.1 stock-new
# load: krdma krdma_test
# capture: /exchange/capture
# guarantees: S2 S3 S4
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

network_ready
mount_debugfs
server=$(addr4 1)

# rule NAME RULE: the attacker applies this rule next.
rule() {
	on 2 meddle "$2"
	barrier "$1-$level-rule"
}

# hit NAME WHAT: one case on node 2: the rule has been applied.
hit() {
	on 2 meddled "$level: $2"
	barrier "$1-$level-hit"
}

# arrives WHAT RESULT...: one case for each result of receiving on node 1.
arrives() {
	local what=$1 result
	shift
	((NODE == 1)) || return 0
	for result; do
		kt receive c 4096 $((20000 * slow))
		kt_is "$result" "$level: $what: $result"
	done
}

# pair: node 2 posts two messages of 1000 bytes at once. They may fail, because node 1 may end the connection.
pair() {
	on 2 kt async c send virt 2 1000
	[[ $NODE == 1 ]] || echo "# two messages: $kt_ret"
}

dropped() {
	rule drop drop,from=2,min=1000
	pair
	hit drop "a packet is dropped"
	arrives "messages arrive in order, although one was dropped" 1000 1000
}

delayed() {
	rule hold hold,from=2,min=1000
	pair
	hit hold "a packet is delayed"
	arrives "messages arrive in order, although one was late" 1000 1000
}

# krdma_test checks the content of a message.
changed() {
	rule change change,from=2,min=1000,byte=40
	pair
	hit change "a byte of a SEND is changed"
	arrives "the level does not stop a changed byte" EBADMSG 1000
}

changed_read() {
	on 1 expect 0 show c 4096 0
	rule read change,kind=read,from=1,min=4096,byte=100
	on 2 expect EBADMSG read c 4096 0
	hit read "a byte of an answer to a READ is changed"
	on 2 expect 0 read c 4096 0
}

repeated() {
	rule repeat repeat,from=2,min=1000
	pair
	hit repeat "a SEND is repeated in place of the next one"
	arrives "the number of a repeated message ends the connection" 1000 EPROTO
}

exchanged() {
	rule swap swap,from=2,min=1000
	pair
	hit swap "two SENDs are exchanged"
	arrives "the number of an exchanged message ends the connection" EPROTO
}

# The levels integrity and encrypt end the connection with the first message that is not the next one of the peer.
sealed_changed() {
	rule change change,from=2,min=1000,byte=40
	pair
	hit change "a byte of a SEND is changed"
	arrives "a changed byte ends the connection" EBADMSG EBADMSG
}

sealed_repeated() {
	rule repeat repeat,from=2,min=1000
	pair
	hit repeat "a SEND is repeated in place of the next one"
	arrives "a repeated message ends the connection" 1000 EBADMSG
}

sealed_exchanged() {
	rule swap swap,from=2,min=1000
	pair
	hit swap "two SENDs are exchanged"
	arrives "an exchanged message ends the connection" EBADMSG
}

# attacked ATTACK PORT OPTION...: connect, and run ATTACK on that connection.
attacked() {
	on 1 kt_start "accept-$level-$1" accept c "l$2" $((20000 * slow))
	on 2 expect 0 connect c "$server" "${@:2}" max_msg=65536
	if ((NODE == 1)); then
		kt_result "accept-$level-$1" && ((kt_ret == 0))
		ok $? "$level: the server accepts a connection to be attacked: $1"
	fi
	"$1"
	barrier "$level-$1-attacked"
	expect 0 release c
	barrier "$level-$1-over"
}

# messages LEVEL PORT OPTION...: attack messages of connections with this level.
messages() {
	local attack
	level=$1
	for attack in dropped delayed changed changed_read repeated exchanged; do attacked $attack "${@:2}"; done
}

# sealed LEVEL PORT OPTION...: attack messages of connections with this level.
sealed() {
	local attack
	level=$1
	for attack in dropped delayed sealed_changed sealed_repeated sealed_exchanged; do attacked $attack "${@:2}"; done
}

# spoiled NAME NODE KIND LENGTH: the attacker changes a byte of this message, which NODE sends, for each byte. The client
# is never connected.
spoiled() {
	local byte connected=0 missed=0
	((NODE == 2)) || return 0
	for ((byte = 0; byte < $4; byte++)); do
		meddle "change,from=$2,kind=$3,min=$4,byte=$byte"
		if kt connect new "$server" 7002 security=1 keys=A session=7; then
			connected=$((connected + 1))
			echo "# byte $byte: connected"
		fi
		within 20 test ! -e /exchange/.rig/meddle || missed=$((missed + 1))
		kt release new
	done
	((connected == 0 && missed == 0))
	ok $? "a client is not connected if a byte of $1 is changed, for each byte: $connected connected, $missed not changed"
}

# A connection with the session number of the attacked client ends only after AUTH was valid.
handshake() {
	local failed
	on 2 expect 0 connect old "$server" 7002 security=1 keys=A session=7
	failed=$(counter auth_failed)
	barrier counters
	# REQ has a hello of 24 bytes and a tag of 8 bytes. In REP and AUTH, a public key of 32 bytes and a tag of 16 bytes
	# follow a hello, or a header of 16 bytes.
	spoiled REQ 2 req 32
	spoiled REP 1 rep 72
	spoiled AUTH 2 send 64
	barrier changed
	if ((NODE == 2)); then
		kt send old 100 && kt receive old 100 $((20000 * slow))
		kt_is 100 "a connection with the same session number works after changed REQs, REPs and AUTHs"
	else
		(($(counter auth_failed) - failed == 48))
		ok $? "the server counts each AUTH with a valid header: $(($(counter auth_failed) - failed))"
	fi
	barrier counted
	# START has a header of 16 bytes and a tag.
	spoiled START 1 send 32
	barrier start-changed
	on 2 kt release old
	if ((NODE == 2)); then
		kt rounds new "$server" 7002 2 security=1 keys=A session=7
		kt_is 0 "a client is connected after the attacks"
		kt release new
	fi
}

if ((NODE == 1)); then
	expect 0 listen l7000 0.0.0.0 7000 security=1 keys=A rw=1 max_msg=65536
	expect 0 listen l7001 0.0.0.0 7001 rw=1 max_msg=65536
	expect 0 listen l7002 0.0.0.0 7002 security=1 keys=A
	expect 0 listen l7003 0.0.0.0 7003 security=2 keys=A max_msg=65536
	expect 0 listen l7004 0.0.0.0 7004 security=3 keys=A max_msg=65536
	for i in {1..4}; do expect 0 kthread "serve$i" serve l7002; done
fi
barrier listening
messages none 7001 rw=1
messages auth 7000 security=1 keys=A rw=1
sealed integrity 7003 security=2 keys=A
sealed encrypt 7004 security=3 keys=A
handshake
barrier end
if ((NODE == 1)); then
	for i in {1..4}; do kt stop "serve$i"; done
	for slot in l7000 l7001 l7002 l7003 l7004; do expect 0 release "$slot"; done
fi
expect 0 unkey
finish
