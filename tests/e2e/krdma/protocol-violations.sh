#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# protocol-violations: a peer breaks the protocol in every way, as client and as server. The connection of this peer
# ends with the expected errno and counter, and with few log lines. Another connection continues, and the next new
# connection works. Each case proves that the attack was sent: the victim's adapter has acknowledged it, and the
# victim's counters have changed.
#
#   node 1 (victim) <--- krdma_hostile: raw verbs, every byte by hand --- node 2
#          (echoes on 7000, exports a buffer on 7001) <--- krdma: valid connections ---
#
# kernels: uml
# long: stock-6.1 uml-debug
# load: krdma krdma_test krdma_hostile
# add: hostile-lib.sh
# timeout: 900

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krdma/hostile-lib.sh
. hostile-lib.sh

before=$(resources)
barrier begun
files=/sys/kernel/debug/krdma
mount_debugfs
rows=0
declare -A was now
declare -A ports=([m]=7010 [rw]=7011 [strict]=7012 [rxcb]=7013)

start='send:{type=1'
data='send:{type=2'
# First steps of an attack: send START, and wait for the victim's START. The victim's accept waits for a START.
started=("$start}" start:5000)

# ---- node 2: attack ----

# left STEP...: check that all messages of these steps have left this node: the victim's adapter has acknowledged or
# refused each of them. The last message may have no answer if the victim has closed the connection, or if the QP of the
# attacker has failed, which flushes the message. In these cases the counters on node 1 show that the message has arrived.
# For a flood it is enough if some messages have an answer.
left() {
	local answered=$((got[acked] + got[refused]))
	if [[ $* == *flood:* || $* == *count:* ]]; then
		((answered > 0))
	elif [[ $* == *"{"* || $* == *w[ri]* || $* == *read* || $* == *add:* ]]; then
		((got[posted] > 0 && answered >= got[posted] - (got[closed] != 0 || got[flushed] != 0)))
	fi
}

# good_answers NAME: one case: the valid connection that exists during all attacks still works.
good_answers() {
	kt send goodm 777 && kt receive goodm 65536 20000
	ok $((kt_ret != 777)) "$1: a valid connection still works after the attack ($kt_ret $kt_text)"
}

# newcomer NAME PORT MODE: one case: a new valid connection works. Its message lets suffer() on node 1 return.
newcomer() {
	local port=$2 mode=$3
	kt connect new "$victim" "$port" rw=$((mode)) max_msg=$max_msg && kt send new 333
	ok $((kt_ret != 0)) "$1: a new connection works after the attack ($kt_ret $kt_text)"
	kt release new
}

attacker_row() {
	local name=$1 target=${2%%/*} fields=$3 wanted=$4 mode=0
	shift 5
	translate "$@"
	[[ $wanted == refused || $wanted == *-104 ]] || steps+=("closed:$((4000 * slow))")
	[[ $target != rw ]] || mode=1
	# shellcheck disable=SC2086 # words
	hello mode=$mode $fields
	barrier "ready$rows"
	ht attack "$victim" "${ports[$target]}" "$hex" "${steps[@]}"
	if [[ $wanted == refused ]]; then
		((ht_ret == errno[ECONNREFUSED] && got[connect] == ht_ret))
	elif [[ $wanted == *-104 ]]; then
		((ht_ret == 0)) && left "$@"
	else
		((ht_ret == 0 && got[closed])) && left "$@"
	fi
	ok $? "$name: the attack is sent: $ht_text"
	newcomer "$name" "${ports[$target]}" $mode
	good_answers "$name"
	barrier "done$rows"
}

# ---- node 1: suffer ----

# Read all counters into the array "now". Read the file at once: line by line, bash would read single bytes, or seek
# back in a file that may have grown.
note() {
	local i words
	now=()
	# shellcheck disable=SC2207 # words
	words=($(<$files/counters))
	for ((i = 0; i < ${#words[@]}; i += 2)); do now[${words[i]}]=${words[i + 1]}; done
}

# Save the counters in the array "was", with which moved() and judge() compare the later counters.
begin() {
	local name
	note
	was=()
	for name in "${!now[@]}"; do was[$name]=${now[$name]}; done
	: >"$results/record"
}

# Print the number of krdma's log lines. Counting takes a quarter of a second. So the count at the end of a row is used
# again as the count at the start of the next row, and a line that is logged between two rows counts for the later row.
log_lines() { dmesg_node | grep -c '\] krdma:'; }

# moved COUNTERS: check that each of COUNTERS has grown, and that no other counter of protocol errors has grown. NAME
# must have grown by 1, NAME=N by N, and NAME=+ by any number above 0. With NAME/NAME=N, the sum of both must have grown
# by N, which may be +. Append a text to "wrong" for each counter that is not as expected.
moved() {
	local name wanted grown
	local -A expected=()
	for name in $1; do
		wanted=1
		[[ $name != *=* ]] || { wanted=${name#*=}; name=${name%%=*}; }
		if [[ $name == */* ]]; then
			grown=$((now[${name%/*}] + now[${name#*/}] - was[${name%/*}] - was[${name#*/}]))
			[[ $grown == "$wanted" ]] || [[ $wanted == + && $grown -gt 0 ]] || wrong+=" $name grew by $grown"
			continue
		fi
		[[ $name == *.* || $name == *_* || $name == connected ]] || name=protocol_error.$name
		expected[$name]=$wanted
	done
	for name in "${!now[@]}"; do
		grown=$((now[$name] - was[$name]))
		wanted=${expected[$name]-}
		[[ -n $wanted || $name != protocol_error.* ]] || wanted=0
		case $wanted in
		"") ;;
		+) ((grown > 0)) || wrong+=" $name did not grow" ;;
		*) ((grown == wanted)) || wrong+=" $name grew by $grown" ;;
		esac
		unset "expected[$name]"
	done
	[[ -z ${!expected[*]} ]] || wrong+=" no counter ${!expected[*]}"
}

# add VALUE: append VALUE to the array "record". N equal values, one after the other, become N*VALUE.
add() {
	local last='' times
	((${#record[@]} == 0)) || last=${record[-1]}
	if [[ ${last##*\*} == "$1" ]]; then
		times=1
		[[ $last != *\** ]] || times=${last%%\**}
		record[-1]="$((times + 1))*$1"
	else
		record+=("$1")
	fi
}

until_over() {
	local end=$((SECONDS + 10 * slow))
	until [[ $(kt_state v) != ESTABLISHED ]] || ((SECONDS >= end)); do sleep 0.02; done
}

# suffer LISTENER HOW: accept connections, and receive messages until the message of newcomer() arrives. Write the
# results of all calls before that to a file. HOW: see row().
suffer() {
	local how=$2 record=()
	while kt accept v "$1" $((20000 * slow)); do
		[[ $how != hold ]] || until_over
		[[ $how != write ]] || { kt write v 64 0; add "$kt_ret"; }
		[[ $how != push ]] || { kt send v 65536 $((1000 * slow)); add "$kt_ret"; }
		how=
		while kt receive v 65536 $((20000 * slow)) || ((kt_ret == errno[EBADMSG])); do
			add "$kt_ret"
		done
		((${#record[@]} == 0)) || [[ ${record[-1]} != 333 ]] || break
		add "$kt_ret"
		kt release v
	done
	kt release v
	if ((${#record[@]})) && [[ ${record[-1]} == 333 ]]; then unset "record[-1]"; else add "accept:$kt_ret"; fi
	echo "${record[*]}" >"$results/record.new"
	mv "$results/record.new" "$results/record"
}

# judge NAME RECORD COUNTERS [LINES]: one case: the results are RECORD, the counters have grown by COUNTERS since
# begin(), and the log has at most LINES new lines.
judge() {
	local name=$1 wanted=$2 counters=$3 lines now_logged recorded=
	note
	wrong=
	read -r recorded <"$results/record"
	[[ "|$wanted|" == "|$recorded|"* ]] || counters=${counters#*|}
	[[ $wanted != refused && $wanted != dropped ]] || wanted=
	[[ "|$wanted|" == *"|$recorded|"* ]] || wrong+=" got \"$recorded\" instead of \"$wanted\""
	moved "${counters%%|*}"
	now_logged=$(log_lines)
	lines=$((now_logged - lines_before))
	lines_before=$now_logged
	((lines <= ${4:-3})) || wrong+=" $lines lines in the log"
	[[ -z $wrong ]]
	ok $? "$name: ${2:-nothing}, $3${wrong:+:$wrong}"
}

victim_row() {
	local name=$1 target=$2 wanted=$4 counters=$5 most=3 since=$SECONDS
	begin
	suffer "${target%%/*}" "${target#*/}" &
	barrier "ready$rows"
	wait $!
	barrier "done$rows"
	[[ $wanted != refused ]] || counters+=" requests_refused"
	# krdma limits each kind of log line to 10 in an interval of 5 seconds. The flood causes two kinds, "connect request
	# refused" and "connects again". It may touch two more intervals at its ends.
	[[ $name != *-flood ]] || most=$((20 * (2 + (SECONDS - since) / 5)))
	judge "$name" "$wanted" "$counters" $most
}

# ---- the table ----

# row NAME TARGET HELLO RECORD COUNTERS STEP...: one attack, with its cases. The arguments are:
#   TARGET    the listener of node 1. A behaviour of the victim may follow: /hold (receive only after the connection has
#             ended), /write (first write to the attacker) or /push (first send a long message)
#   HELLO     fields that differ from a valid HELLO
#   RECORD    expected return values of the victim's calls: lengths of messages, and the errno of the end. N*VALUE is N
#             times VALUE; "refused": the connect request is refused; "dropped": accept() never returns the connection
#   COUNTERS  see moved()
# In RECORD and COUNTERS, A|B means A or B.
row() {
	((++rows))
	if ((NODE == 1)); then victim_row "$@"; else attacker_row "$@"; fi
}

hellos() {
	local field
	for field in magic=0 magic=0x6b646d61 min=2 user=33 user=255 buf=0 buf=255 buf=65537 buf=0xffffffff max=0x40000001 \
		max=0xffffffff depth=0 depth=3 depth=4097 depth=65535 mode=2 mode=255 cut=0 cut=8 cut=15; do
		row "hello-$field" m "$field" refused hello
	done
	row hello-version-0 m "version=0 min=0" refused ""
	row hello-version-3 m "version=3 min=3" refused ""
	row hello-version-2-without-level m "version=2 min=2" refused hello
	row hello-other-level m "version=2 min=2 mode=16" refused ""
	row hello-other-mode m mode=1 refused ""
	row hello-rw-other-mode rw mode=0 refused ""
	# These values are unusual, and they are valid.
	for field in features=0xffff "version=9 min=0" max=0 "depth=4 buf=256" session=0 "user=32 more=32"; do
		row "hello-${field// /-}-is-right" m "$field" "5 -104" "" "${started[@]}" "$data,len=5,body=5}"
	done
}

# bad NAME COUNTER STEP...: a row in which the steps after START end the connection with EPROTO, and increase COUNTER.
bad() {
	local name=$1 counter=$2
	shift 2
	row "$name" m "" -71 "$counter ended.protocol" "${started[@]}" "$@"
}

headers() {
	local field
	for field in version=0 version=2 version=255 type=0 type=7 type=9 type=10 type=255 len=4 len=$((max_msg + 1)) len=0xffffffff offset=6 \
		offset=0xffffffff; do
		bad "header-$field" header "$data,len=5,body=5,$field}"
	done
	for field in 0 1 15; do bad "header-of-$field-bytes" header "$data,cut=$field}"; done
	bad header-empty-part header "$data,len=5}"
	bad header-credit-with-body header 'send:{type=3,body=1}'
	bad header-credit-with-len header 'send:{type=3,len=1}'
	bad header-credit-with-id header 'send:{type=3,id=1}'
	bad header-credit-with-offset header 'send:{type=3,offset=1}'
	bad header-ping-with-credits header 'send:{type=4,credits=1}'
	bad header-pong-with-body header 'send:{type=5,body=1}'
	for field in body=1 len=1 offset=1 credits=1; do bad "header-bye-with-$field" header "send:{type=6,id=5,$field}"; done
	row bye-is-right m "" -104 "" "${started[@]}" 'send:{type=6,id=5}'
	bad credits-not-taken credit "$data,len=5,body=5,credits=2}"
	bad credits-65535 credit 'send:{type=3,credits=65535}'
	bad id-not-0 sequence "$data,len=5,body=5,id=1}"
	bad offset-not-0 sequence "$data,len=5,body=4,offset=1}"
	bad part-overlaps sequence "$data,len=20,body=10}" "$data,len=20,body=10,offset=5}"
	bad part-repeated sequence "$data,len=20,body=10}" "$data,len=20,body=10}"
	bad part-missing sequence "$data,len=20,body=5}" "$data,len=20,body=10,offset=10}"
	bad part-of-another-length sequence "$data,len=20,body=10}" "$data,len=21,body=11,offset=10}"
	bad message-in-a-message sequence "$data,len=20,body=10}" "$data,len=5,body=5,id=1}"
	bad start-twice start "$start}"
	bad start-with-len header "$start,len=1}"
	row id-repeated m "" "5 -71" "sequence ended.protocol" "${started[@]}" "$data,len=5,body=5}" "$data,len=5,body=5}"
	row message-empty m "" "0 -104" "" "${started[@]}" "$data}"
	row message-fills-buffer m "" "-74 -104" "" "${started[@]}" "$data,len=4080,more=4080}"
}

# Attacks by CHUNK and PULLED. A CHUNK describes memory of the attacker, which the victim reads. PULLED completes a
# CHUNK of the victim.
chunks() {
	local chunk='send:{type=7,len=65536'
	bad chunk-without-segments header "$chunk}"
	bad chunk-cut header "$chunk,seg=0/1/65536,cut=31}"
	bad chunk-and-more header "$chunk,seg=0/1/65536,more=1}"
	bad chunk-empty-segment header "$chunk,seg=0/1/0}"
	bad chunk-with-an-empty-segment header "$chunk,seg=0/1/65536,seg=0/1/0}"
	bad chunk-wraps header "$chunk,seg=-1/1/65536}"
	bad chunk-beyond-the-message header "$chunk,seg=0/1/65537}"
	bad chunk-of-two-beyond-the-message header "$chunk,seg=0/1/65535,seg=0/1/2}"
	bad chunk-of-a-long-message header 'send:{type=7,len=65537,seg=0/1/65537}'
	bad chunk-with-a-gap sequence "$chunk,offset=1,seg=0/1/65535}"
	bad chunk-behind-a-part sequence "$data,len=20,body=10}" 'send:{type=7,len=20,offset=10,seg=0/1/10}'
	# The adapter reports the access error to the attacker as well. The attacker may disconnect before the victim
	# receives the response.
	row chunk-of-a-guess m "" "-13|-104" "ended.access|" "${started[@]}" "$chunk,seg=0/0x1234/65536}"
	# With /hold, krdma_test on node 1 does not receive the first message, so krdma does not read the CHUNK behind
	# that message.
	row part-behind-a-chunk m/hold "" "5 -71" "sequence ended.protocol" "${started[@]}" "$data,len=5,body=5}" \
		'send:{type=7,id=1,len=20,seg=0/1/10}' "$data,id=1,len=20,body=10,offset=10}"
	bad pulled-without-a-chunk sequence 'send:{type=8,offset=65536}'
	bad pulled-nothing sequence 'send:{type=8}'
	bad pulled-with-body header 'send:{type=8,offset=65536,body=1}'
	bad pulled-with-credits header 'send:{type=8,offset=65536,credits=1}'
	bad pulled-with-len header 'send:{type=8,offset=65536,len=1}'
	row never-pulls m/push features=4 "2*-110" ended.timeout "${started[@]}"
	row pulls-another-message m/push features=4 "2*-71" "sequence ended.protocol" "${started[@]}" sleep:300 \
		'send:{type=8,offset=65536,id=1}'
	row pulls-a-part m/push features=4 "2*-71" "sequence ended.protocol" "${started[@]}" sleep:300 \
		'send:{type=8,offset=65535}'
	row says-pulled-and-did-not m/push features=4 "0 -104" "" "${started[@]}" sleep:300 'send:{type=8,offset=65536}'
}

starts() {
	row start-is-data m "" dropped "start connect_failed.protocol" "$data,len=5,body=5}"
	row start-is-credit m "" dropped "start connect_failed.protocol" "send:{type=3}"
	row start-is-bye m "" dropped connect_failed.reset 'send:{type=6}'
	row start-with-body m "" dropped "start connect_failed.protocol" "$start,body=16}"
	row start-with-buffer m "" dropped "start connect_failed.protocol" "$start,shown=4096/1,seg=0/1/4096}"
	row start-takes-credits m "" dropped "credit connect_failed.protocol" "$start,credits=1}"
}

# Send a flood without waiting for credits. This breaks the protocol, unless the flood is slow and the victim returns
# the credits in time, which may happen on a busy machine. So make five attempts.
credit_floods() {
	local i ended=1
	for i in {1..5}; do
		row "credits-never-returned-$i" m "" "-71|-104" "credit ended.protocol|" "${started[@]}" "flood:200:{type=3}"
		((NODE == 2)) || [[ $(<"$results/record") != -71 ]] || ended=0
	done
	((NODE == 2 || slow > 1)) || ok "$ended" "a flood of credits ends a connection"
}

sizes_and_opcodes() {
	row longer-than-buffer m "" -5 ended.other "${started[@]}" "$data,len=4081,more=4081}"
	row 64-kilobytes m "" -5 ended.other "${started[@]}" "$data,len=65520,more=65520}"
	bad immediate opcode "imm:{type=2,len=5,body=5}"
	bad immediate-without-message opcode wimm
	bad written-to-nobody opcode "send:{type=9,id=5}"
	row invalidates-nothing m "" -5 ended.other "${started[@]}" "inv:0x12345678:{type=2,len=5,body=5}"
	row ping-flood m "" "5 -104" posted.control=+ "${started[@]}" "flood:200:{type=4}" "$data,len=5,body=5}"
	row pong-flood m "" "5 -104" "" "${started[@]}" "flood:200:{type=5}" "$data,len=5,body=5}"
	row no-credit-left m/hold "" "64*1 -71" "credit ended.protocol" "${started[@]}" "count:80:{type=2,len=1,body=1}"
	credit_floods
	row write-to-a-guess m "" -5 ended.other "${started[@]}" "write:0x1234:0:8"
	row read-from-a-guess m "" -5 ended.other "${started[@]}" "read:0x1234:0:8"
}

# A START that describes a buffer with an invalid key. The victim cannot know that the key is invalid.
shows="$start,shown=4096/1,seg=0/0x1234/4096}"

# reach NAME STEP...: a row in which the steps after the victim's START end the connection by an access error.
reach() {
	local name=$1
	shift
	row "$name" rw "" -5 ended.other "$shows" start:5000 "$@"
}

one_sided() {
	local field
	for field in "" shown=0/0 shown=4096/0,seg=0/1/4096 shown=4096/2,seg=0/1/4096 shown=4096/1025,seg=0/1/4096 \
		shown=4096/0xffffffff,seg=0/1/4096 shown=4097/1,seg=0/1/4096 shown=0/1,seg=0/1/0 \
		shown=4096/2,seg=0/1/4096,seg=0/1/0 shown=4096/1,seg=-1/1/4096 shown=4096/1,seg=-4095/1/4096 \
		shown=4096/1,seg=0/1/4096,more=1 shown=4096/1,cut=31; do
		row "shows-${field:-nothing}" rw "" dropped "start connect_failed.protocol" "$start,$field}"
	done
	row shows-what-is-not-there rw/write "" "2*-104|2*-13" "" "$shows" start:5000
	row within-the-buffer rw "" -104 "" "$shows" start:5000 write:shown:shown:64 write:shown:end-1:1 read:shown:shown:65536
	reach write-beyond write:shown:end-1:2
	reach write-behind write:shown:end:1
	reach write-before write:shown:shown-1:1
	reach read-beyond read:shown:end-1:2
	reach write-wrong-key write:shown+1:shown:8
	reach read-wrong-key read:shown+256:shown:8
	reach write-dead-key write:old:old:8
	row adds-within-the-buffer rw "" -104 "" "$shows" start:5000 add:shown:shown
	reach add-behind add:shown:end
	reach add-dead-key add:old:old
	reach add-to-a-guess add:0x1234:0
	row invalidates-exported-buffer rw "" -71 "key ended.protocol" "$shows" start:5000 "inv:shown:{type=2,len=5,body=5}"
}

# rxcb NAME HOW COUNTERS STEP...: attack a server with a receive callback. If HOW is -71, the victim must close the
# connection. If HOW is -104, the victim must keep the connection open.
rxcb() {
	local name=$1 how=$2 counters=$3 end=$((SECONDS + 5 * slow))
	shift 3
	((++rows))
	if ((NODE == 2)); then
		attacker_row "$name" rxcb "" "$how" "" "$@"
		return
	fi
	begin
	echo >"$results/record"
	barrier "ready$rows"
	barrier "done$rows"
	# Repeat the check: no task waits for the end of this connection, so krdma may count the end a little later.
	until note && wrong= && moved "$counters" && [[ -z $wrong ]] || ((SECONDS >= end)); do sleep 0.1; done
	judge "$name" "" "$counters"
}

# Attacks by notifications, which need a receive callback, and by messages that the callback keeps.
callbacks() {
	on 1 expect 0 rxcb 0
	rxcb tells-a-write -104 writes_told=1 "${started[@]}" 'send:{type=9,id=7}'
	rxcb tells-a-write-by-immediate-data -104 writes_told=1 "${started[@]}" wimm
	rxcb tells-before-start -71 "start connect_failed.protocol" wimm
	rxcb tells-with-body -71 "header ended.protocol" "${started[@]}" 'send:{type=9,body=1}'
	rxcb tells-with-len -71 "header ended.protocol" "${started[@]}" 'send:{type=9,len=1}'
	rxcb tells-with-offset -71 "header ended.protocol" "${started[@]}" 'send:{type=9,offset=1}'
	rxcb tells-too-many-credits -71 "credit ended.protocol" "${started[@]}" 'send:{type=9,credits=9}'
	rxcb tells-amid-a-message -71 "sequence ended.protocol" "${started[@]}" "$data,len=20,body=10}" 'send:{type=9}'
	rxcb tells-by-immediate-data-amid-a-message -71 "sequence ended.protocol" "${started[@]}" "$data,len=20,body=10}" wimm
	rxcb half-a-message-to-a-callback -104 "" "${started[@]}" "$data,len=20,body=10}"
	rxcb bad-header-to-a-callback -71 "header ended.protocol" "${started[@]}" "$data,len=4,body=5}"
	# As in chunks(), the connection of the attack ends by an access error or by a reset. The connection of
	# newcomer() ends by a reset. So the sum of both counters grows by 2.
	rxcb chunk-of-a-guess-to-a-callback -71 ended.access/ended.reset=2 "${started[@]}" 'send:{type=7,len=65536,seg=0/0x1234/65536}'
	on 1 expect 0 rxcb 512
	rxcb all-is-kept -71 "credit ended.protocol" "${started[@]}" "count:80:{type=2,len=1,body=1}"
	on 1 expect 0 rxcb 0
}

stalls() {
	row never-starts strict "" dropped connect_failed.timeout
	row pings-for-a-start strict "" dropped connect_failed.timeout "flood:20:{type=4}"
	row half-a-message-and-closes m "" -104 "" "${started[@]}" "$data,len=20,body=10}"
	row silent-after-start strict features=1 -110 "alive_misses=3 ended.timeout" "${started[@]}"
	row silent-amid-a-message strict features=1 -110 "alive_misses=3 ended.timeout" "${started[@]}" "$data,len=20,body=10}"
}

# ---- attacks that do not fit into the table ----

# flood NAME N REFUSED END: a client begins N connects that never complete. Only the first ones fit into the backlog,
# and REFUSED connects are refused. END is the member of connect_failed that counts the other connects.
flood() {
	local name=$1 n=$2 refused=$3
	((++rows))
	if ((NODE == 1)); then
		victim_row "$name" strict "" dropped "connect_failed.$4 requests_refused=$refused"
		return
	fi
	hello
	barrier "ready$rows"
	ht flood "$victim" "${ports[strict]}" "$hex" "$n" $((4000 * slow))
	((ht_ret == 0 && got[dialled] == n && got[answered] > 0))
	ok $? "$name: $ht_text"
	newcomer "$name" "${ports[strict]}" 0
	good_answers "$name"
	barrier "done$rows"
}

attacker_listens() { [[ $(<"$files/connections") =~ listener[^$'\n']*:7100\  ]]; }

# back NAME RW HELLO RECORD COUNTERS STEP...: one attack in which the attacker listens, and the victim connects. With
# HELLO mute, the attacker does not answer the connect request.
back() {
	local name=$1 mode=$2 fields=$3 wanted=$4 counters=$5
	shift 5
	((++rows))
	if ((NODE == 1)); then
		begin
		barrier "ready$rows"
		client "$mode"
		barrier "done$rows"
		judge "$name" "$wanted" "$counters"
		return
	fi
	translate "$@"
	if [[ $fields == mute ]]; then
		hex=mute
	else
		[[ $wanted == *-104 ]] || steps+=("closed:$((4000 * slow))")
		# shellcheck disable=SC2086 # words
		hello mode="$mode" $fields
	fi
	(
		trap - EXIT
		ht serve 7100 $((20000 * slow)) "$hex" "${steps[@]}"
		((ht_ret == 0)) && left "$@"
		echo "$? $ht_text" >"$results/served"
	) &
	within 20 attacker_listens
	barrier "ready$rows"
	wait $!
	read -r status ht_text <"$results/served"
	ok "$status" "$name: the attack is sent: $ht_text"
	good_answers "$name"
	barrier "done$rows"
}

# client RW: the victim connects to the attacker, and receives messages until a call fails.
client() {
	local record=()
	if kt connect v "$(addr4 2)" 7100 connect_ms=$((1500 * slow)) rw="$1" max_msg="$max_msg"; then
		while kt receive v 65536 $((20000 * slow)); do add "$kt_ret"; done
	fi
	add "$kt_ret"
	kt release v
	echo "${record[*]}" >"$results/record"
}

servers() {
	local field
	for field in magic=0 min=2 user=33 buf=0 max=0xffffffff depth=0 mode=1 mode=2 cut=0; do
		back "server-hello-$field" 0 "$field" -71 "hello connect_failed.protocol"
	done
	back server-hello-version 0 "version=3 min=3" -93 "hello connect_failed.protocol"
	back server-hello-other-level 0 "version=2 min=2 mode=16" -71 "hello connect_failed.protocol"
	back server-never-answers 0 mute -110 connect_failed.timeout "sleep:$((2500 * slow))"
	back server-never-starts 0 "" -110 connect_failed.timeout
	back server-is-right 0 "" "5 -104" connected "${started[@]}" "$data,len=5,body=5}" sleep:200
	back server-start-is-data 0 "" -71 "start connect_failed.protocol" "$data,len=5,body=5}"
	back server-start-takes-credits 0 "" -71 "credit connect_failed.protocol" "$start,credits=2}"
	back server-shows-too-much 1 "" -71 "start connect_failed.protocol" "$start,shown=4096/1,seg=-1/1/4096}"
	back server-bad-header 0 "" -71 "header ended.protocol" "${started[@]}" sleep:200 "$data,len=4,body=5}"
	back server-start-twice 0 "" -71 "start ended.protocol" "${started[@]}" sleep:200 "$start}"
}

# The attacker invalidates a key of another connection. This succeeds, because rxe lets any peer invalidate any key. The
# other connection, a valid one with a buffer, must end with an expected errno.
foreign_key() {
	local id conn access rkey state
	if ((NODE == 1)); then
		barrier shown
		id=$(awk '$2 == "server" && $3 ~ /:7001$/ { id = $1 } END { print id }' $files/connections)
		while read -r conn _ _ access rkey state; do
			[[ "$conn $state" != "$id live" ]] || ((!(access & 4))) || echo "$rkey" >/exchange/key
		done <$files/regions
		barrier key
		row foreign-key m "" -71 "key ended.protocol"
		barrier known
		return
	fi
	expect 0 connect rw2 "$victim" 7001 rw=1 max_msg=$max_msg
	expect 0 rwpump rw2 4096 100
	barrier shown
	barrier key
	row foreign-key m "" -71 "key ended.protocol" "${started[@]}" "inv:$(</exchange/key):{type=2,len=5,body=5}"
	kt rwpump rw2 4096 100
	# Either the access error or the victim's disconnect comes first, because both are in flight at the same time.
	is_one_of "$kt_ret" -13 -104
	ok $? "foreign-key: the connection whose key was invalidated ends ($kt_ret $kt_text)"
	expect 0 release rw2
	expect 0 connect rw3 "$victim" 7001 rw=1 max_msg=$max_msg
	kt rwpump rw3 4096 100
	kt_is 0 "foreign-key: a new connection with new keys works"
	expect 0 release rw3
	barrier known
}

if ((NODE == 1)); then
	kt listen l 0.0.0.0 7000
	kt listen shows 0.0.0.0 7001 rw=1 max_msg=$max_msg
	kt kthread echo serve l
	kt kthread hold hold shows
	kt listen m 0.0.0.0 "${ports[m]}" max_msg=$max_msg
	kt listen rw 0.0.0.0 "${ports[rw]}" rw=1 max_msg=$max_msg
	kt server 0.0.0.0 "${ports[rxcb]}" rxcb=1 max_msg=$max_msg
	kt listen strict 0.0.0.0 "${ports[strict]}" max_msg=$max_msg connect_ms=$((1000 * slow)) \
		keepalive_ms=$((250 * slow))
	barrier listening
else
	barrier listening
	expect 0 connect goodm "$victim" 7000
	expect 0 connect goodrw "$victim" 7001 rw=1 max_msg=$max_msg
	expect 0 kthread pump rwpump goodrw 4096 3600000
fi
if (($#)); then groups=("$@"); else groups=(hellos headers chunks starts sizes_and_opcodes one_sided callbacks stalls servers); fi
((NODE == 2)) || lines_before=$(log_lines)
for group in "${groups[@]}"; do $group; done
flood no-confirmation 1 0 timeout
# On a slow machine the next connect request of the attacker may end a connection before its timeout.
flood connect-flood 200 + timeout/connect_failed.reset=+
barrier attacked
if ((NODE == 2)); then
	kt stop pump
	# The stop has interrupted the call that was in progress, or the call had just completed.
	is_one_of "$kt_ret" 0 -4 && ((${kt_text#count=} > 0))
	ok $? "the valid connection with a buffer worked until it was stopped ($kt_ret $kt_text)"
	foreign_key
	for slot in goodm goodrw; do expect 0 release $slot; done
	barrier over
else
	foreign_key
	barrier over
	for job in echo hold; do
		kt stop $job
		kt_is EINTR "$job: $kt_text"
	done
	for slot in l shows m rw strict; do expect 0 release $slot; done
	expect 0 server end
	# If arguments select groups of attacks, perhaps none of these groups sends a bad message.
	if (($# == 0)); then
		grep -q 'bad message of [0-9]* bytes, closing' < <(dmesg_node)
		ok $? "the log names a bad message as the cause of an end"
	fi
fi
end=$((SECONDS + 5 * slow))
until (($(wc -l <$files/connections) == 1)) || ((SECONDS >= end)); do sleep 0.1; done
(($(wc -l <$files/connections) == 1))
ok $? "no connection is left: $(tail -n +2 $files/connections)"
same_resources "$before" "resources are as before"
finish
