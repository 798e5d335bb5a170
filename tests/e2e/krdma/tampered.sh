#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# tampered: with the levels integrity and encrypt, a message that was changed, repeated, moved, cut or injected ends its
# connection with EBADMSG, and has no other effect. So does a message behind a missing one. A peer that has the key, and
# breaks the protocol in messages that it seals well, gets no further than one without a level.
#
#   node 1 (victim; echoes on 7000 + level, callbacks on 7010 + level) <--- krdma_hostile, with the key A --- node 2
#
# kernels: uml
# long: stock-6.1 uml-debug stock-new debug-6.1
# load: krdma krdma_test krdma_hostile
# add: hostile-lib.sh
# guarantees: S4 S6
# timeout: 900

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krdma/hostile-lib.sh
. hostile-lib.sh

network_ready
mount_debugfs
levels="2 3"

# Bodies of messages by name, for translate. Version 2 is that of sealed messages.
data="version=2,type=2,len=8,body=8"
declare -A kinds=([CREDIT]=3 [PING]=4 [PONG]=5 [BYE]=6)

# strike STEP...: connect with the level and the key, and do these steps after the handshake.
strike() {
	translate "$@"
	ht attack "$victim" $((7000 + level)) "$request" auth:A "start:$((20000 * slow))" "${steps[@]}"
}

# note, grown NAME...: remember counters of the victim, and print the sum by which these have grown. Node 1 calls them.
note() { was=$(</sys/kernel/debug/krdma/counters); }
grown() {
	local name sum=0
	for name; do
		sum=$((sum + $(counter "$name") - $(awk -v name="$name" '$1 == name { print $2 }' <<<"$was")))
	done
	echo $sum
}

rows=0

# breaks NAME COUNTER STEP...: three cases: these steps end their connection, and the victim counts one breach.
breaks() {
	local name="$level: $1" counter=protocol_error.$2
	shift 2
	rows=$((rows + 1))
	((NODE == 2)) || note
	barrier "ready$rows"
	if ((NODE == 2)); then
		strike "$@" "closed:$((20000 * slow))"
		((ht_ret == 0 && got[closed]))
		ok $? "$name: the victim closes ($ht_text)"
	fi
	barrier "done$rows"
	if ((NODE == 1)); then
		[[ $(grown "$counter") == 1 && $(grown messages_received) == "${received:-0}" ]]
		ok $? "$name: $counter is counted, and nothing else is received: $(grown "$counter") $(grown messages_received)"
	fi
	barrier "judged$rows"
}

# each_byte NAME LENGTH WORDS: two cases: a sealed message of these words ends its connection if one of its bytes is
# changed, for each byte. After three bytes that were accepted, stop, because each of them takes the whole time limit.
each_byte() {
	local i open=0 name="$level: $1"
	rows=$((rows + 1))
	((NODE == 2)) || note
	barrier "ready$rows"
	if ((NODE == 2)); then
		for ((i = 0; i < $2 && open < 3; i++)); do
			message "$3"
			strike "seal:$hex:flip=$i" "closed:$((20000 * slow))"
			((ht_ret == 0 && got[closed])) || { open=$((open + 1)); echo "# byte $i: $ht_text"; }
		done
		((open == 0))
		ok $? "$name with one changed byte ends its connection, for each of $2 bytes: $open of $i do not"
	fi
	barrier "done$rows"
	if ((NODE == 1)); then
		[[ $(grown protocol_error.seal) == "$2" && $(grown ended.protocol) == "$2" ]]
		ok $? "$name with one changed byte has no effect but the end of its connection: $(grown protocol_error.seal)"
	fi
	barrier "judged$rows"
}

# answered NAME: two cases: valid messages come back.
answered() {
	local name="$level: $1"
	shift
	rows=$((rows + 1))
	((NODE == 2)) || note
	barrier "ready$rows"
	if ((NODE == 2)); then
		strike "$@" sleep:$((500 * slow))
		# START, and the echo.
		((ht_ret == 0 && got[received] >= 2 && got[closed] == 0))
		ok $? "$name: the victim answers ($ht_text)"
	fi
	barrier "done$rows"
	if ((NODE == 1)); then
		[[ $(grown messages_received) == 1 && $(grown protocol_error.seal) == 0 ]]
		ok $? "$name: the victim receives one message: $(grown messages_received)"
	fi
	barrier "judged$rows"
}

# seal_of WORDS[:CHANGE]: print a step that sends a sealed message.
seal_of() {
	message "${1%%:*}"
	echo "seal:$hex${1#"${1%%:*}"}"
}

attacks() {
	local kind
	answered "a sealed message" "seal:{$data}"
	each_byte "DATA" 40 "$data"
	for kind in "${!kinds[@]}"; do each_byte "$kind" 32 "version=2,type=${kinds[$kind]}"; done
	received=1 breaks "a repeated message" seal "seal:{$data}" "$(seal_of "$data:again")"
	breaks "a message behind a missing one" seal "$(seal_of "$data:drop")" "seal:{$data,id=1}"
	breaks "a message with a higher number" seal "$(seal_of "$data:ahead=1")"
	breaks "data with a number of an internal message" seal "$(seal_of "$data:ahead=0x8000000000000000")"
	breaks "an internal message with a number of data" seal "$(seal_of "version=2,type=4:ahead=0x8000000000000000")"
	breaks "a CREDIT behind missing data" seal "$(seal_of "$data:drop")" "seal:{version=2,type=3}"
	breaks "a BYE behind missing data" seal "$(seal_of "$data:drop")" "seal:{version=2,type=6}"
	breaks "a message without its last byte" seal "$(seal_of "$data:cut=1")"
	breaks "a message without its tag" seal "$(seal_of "$data:cut=16")"
	breaks "a header alone" seal "$(seal_of "$data:cut=24")"
	breaks "a message without a tag" seal "send:{$data}"
	breaks "a message of version 1 without a tag" seal "send:{type=2,len=8,body=8}"
	breaks "a PING of version 1 without a tag" seal "send:{type=4}"
	breaks "a CHUNK" seal "send:{version=2,type=7,len=4096,seg=0/1/4096}"
	breaks "a PULLED" seal "send:{version=2,type=8,more=16}"
	breaks "bytes of zero" seal "send:{version=0,type=0,more=64}"
	breaks "no bytes" seal send:-
	breaks "immediate data" opcode "imm:{$data}"
	breaks "a write with immediate data" opcode wimm
	# The tags of these messages are valid.
	breaks "a sealed message of version 1" header "seal:{type=2,len=8,body=8}"
	breaks "a second START" start "seal:{version=2,type=1}"
	breaks "a sealed message with a wrong number of its header" sequence "seal:{$data,id=1}"
	breaks "a sealed message with too many credits" credit "seal:{$data,credits=60000}"
}

# told: two cases: an end with callbacks gets no notice of a write with immediate data, which has no tag.
told() {
	local name="$level: a write with immediate data to an end with callbacks"
	if ((NODE == 1)); then
		note
		expect 0 server 0.0.0.0 $((7010 + level)) "security=$level" keys=A rxcb=1
	fi
	barrier "told$level"
	if ((NODE == 2)); then
		hello version=2 min=2 mode=$((level << 4)) session=8
		ht attack "$victim" $((7010 + level)) "$hex$(tag A "$here" $((7010 + level)) "$hex")" auth:A "start:$((20000 * slow))" \
			wimm "closed:$((20000 * slow))"
		((ht_ret == 0 && got[closed]))
		ok $? "$name: the victim closes ($ht_text)"
	fi
	barrier "told-over$level"
	if ((NODE == 1)); then
		[[ $(grown protocol_error.opcode) == 1 && $(grown writes_told) == 0 ]]
		ok $? "$name: it is counted as a breach: $(grown protocol_error.opcode) $(grown writes_told)"
		expect 0 server end
	fi
}

if ((NODE == 1)); then
	for level in $levels; do
		expect 0 listen "l$level" 0.0.0.0 $((7000 + level)) "security=$level" keys=A connect_ms=$((20000 * slow))
		for i in 1 2 3; do expect 0 kthread "serve$level-$i" serve "l$level"; done
	done
fi
barrier listening
for level in $levels; do
	hello version=2 min=2 mode=$((level << 4)) session=7
	request=$hex$(tag A "$here" $((7000 + level)) "$hex")
	attacks
	told
	if ((NODE == 2)); then
		kt rounds good "$victim" $((7000 + level)) 2 "security=$level" keys=A
		kt_is 0 "$level: a good client is served after the attacks"
		kt release good
	fi
	barrier "attacked$level"
done
barrier end
if ((NODE == 1)); then
	logged "was changed, repeated or injected, or one is missing, closing"
	ok $? "the log reports a wrong tag"
	for level in $levels; do
		expect 0 release "l$level"
		for i in 1 2 3; do kt stop "serve$level-$i"; done
	done
	kt unkey
fi
finish
