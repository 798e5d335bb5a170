#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# isolation: the peers of one listener do not affect each other. No peer can read old contents of the victim's memory. A
# silent peer delays neither other peers nor the end of the listener.
#
#   node 1 (victim, listens on 7000) <--- krdma_hostile: raw verbs, every byte by hand --- node 2
#                                    <--- krdma: a valid client ------------------------
#
# kernels: uml uml/siw
# long: uml-debug uml-debug/siw stock-6.1
# load: krdma krdma_test krdma_hostile
# add: hostile-lib.sh
# append: init_on_alloc=0 init_on_free=0
# timeout: 180

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/krdma/hostile-lib.sh
. hostile-lib.sh

before=$(resources)
barrier begun
files=/sys/kernel/debug/krdma
mount_debugfs
# First steps of an attack by krdma_hostile: send START, and wait for the victim's START. On siw the victim may miss the
# message START until another message arrives, so send a second message.
started=("send:{type=1}" sleep:200 "send:{type=4}" start:5000)

# attack STEP...: let krdma_hostile connect to the victim, and do the steps.
attack() {
	translate "$@"
	hello max=$max_msg
	ht attack "$victim" 7000 "$hex" "${steps[@]}"
}

# sink_key: set "key" to the key of the live region of $max_msg bytes. Fail if there is none.
sink_key() {
	local size rkey state
	key=
	while read -r _ size _ _ rkey state; do
		[[ $size != "$max_msg" || $state != live ]] || key=$rkey
	done <"$files/regions"
	[[ -n $key ]]
}

# Fill recently freed memory with bytes that are not zero.
soil() {
	tr '\0' x </dev/zero | head -c $((256 << 20)) >/dev/shm/soil
	rm /dev/shm/soil
}

# A peer cannot read old data in the victim's memory for a long message. On iWARP the victim's READ tells the peer the
# key of this memory. siw lets the peer read all of this memory, even if the peer has described a single byte of its
# message.
sink() {
	if ((NODE == 1)); then
		soil
		barrier soiled
		expect 0 accept v l 20000
		within 20 sink_key
		ok $? "the memory for the long message is registered: $key"
		echo "$key" >/exchange/key
		kt receive v $max_msg 20000
		kt_is ECONNRESET "an incomplete long message is not received"
		expect 0 release v
	else
		barrier soiled
		(
			trap - EXIT
			within 20 test -s /exchange/key
			echo "$(</exchange/key)" >/sys/module/krdma_hostile/parameters/told
			# Keep this background process alive until the attack has completed. When the process exits,
			# the shell gets SIGCHLD, which would interrupt the attack in the shell's system call.
			within 20 test -e /exchange/read
		) &
		attack "${started[@]}" "offer:{type=7,len=$max_msg,seg=0/0/1}" told:20000 read:told:0:$max_msg
		((ht_ret == 0 && got[failed] + got[refused] + got[flushed] == 0))
		ok $? "the peer reads the memory for its long message: $ht_text"
		: >/exchange/read
		((got[nonzero] == 0))
		ok $? "the memory for a long message has no old data: ${got[nonzero]} bytes"
		wait $!
	fi
	barrier sunk
}

somebody_is_connected() { [[ $(<"$files/connections") == *server*:7000* ]]; }

# A client never sends START. The victim has default timeouts, and serves a second client while the first one is silent.
silent() {
	if ((NODE == 1)); then
		kt_start taker accept new l 20000
		within 20 somebody_is_connected
		ok $? "a client that never sends START is connected"
		barrier silent
		kt_result taker 30
		kt_is 0 "another client is accepted while one client never sends START"
		kt receive new 64 20000
		kt_is 64 "a message of another client is received while one client never sends START"
		barrier accepted
		expect 0 release new
	else
		translate sleep:60000
		hello max=$max_msg
		(
			trap - EXIT
			exec 3<>/proc/krdma_hostile
			echo "attack $victim 7000 $hex ${steps[*]}" >&3
		) 2>/dev/null &
		barrier silent
		expect 0 connect new "$victim" 7000 max_msg=$max_msg
		kt_within 0 1000 "a client is accepted within a second although another one is silent: $kt_ms ms"
		expect 0 send new 64
		barrier accepted
		expect 0 release new
		kill $!
		wait $!
	fi
	barrier spoken
}

# stalled: number of senders of long messages that are cut off before they answer the victim's READs. deaf: address of
# node 2 that these senders use. Node 1 drops packets to this address.
stalled=24
deaf=10.56.0.202

chunks_are_there() { (($(grep -c " $max_msg .* live" "$files/regions") >= stalled)); }
dials() { grep -q "client .* CONNECTING " "$files/connections"; }

new_sends() {
	expect 0 accept new l 20000
	expect 64 receive new 64 20000
	expect "$max_msg" receive new "$max_msg" 3000
}

# Let node 1 connect to a host that answers no SYN. Skip this on uml-debug, where sockets of siw are in the namespace of
# neither node.
connecting() {
	((! NAMESPACES)) || return 0
	echo 5 >/proc/sys/net/ipv4/tcp_syn_retries
	expect 0 reconnect dialling $deaf 7009
	within 10 dials
	ok $? "a connect waits for TCP"
}

pinged() { (($(counter pings) > $1)); }

pulls() {
	local i pings
	if ((NODE == 2)); then
		ip addr add $deaf/32 dev "$NETDEV"
		barrier address
		for ((i = 0; i < stalled; i++)); do expect 0 connect "c$i" "$victim" 7000 src=$deaf max_msg=$max_msg; done
		barrier short
		expect 0 connect good "$victim" 7003
		expect 0 connect brief "$victim" 7002 src=$deaf max_msg=$max_msg
		barrier connected
		barrier cut
		for ((i = 0; i < stalled; i++)); do kt_start "send$i" send "c$i" $max_msg 60000; done
		kt_start brief send brief $max_msg 60000
		barrier stalled
		expect 0 connect new "$victim" 7000 max_msg=$max_msg
		kt_within 0 1000 "a client is accepted within a second although $stalled READs are not answered: $kt_ms ms"
		expect 0 send new 64
		expect 0 send new $max_msg
		expect 0 close new 0 10000
		kt_within 0 1000 "a connection is closed within a second although $stalled READs are not answered: $kt_ms ms"
		expect 0 release new
		barrier restored
		for ((i = 0; i < stalled; i++)); do
			kt_result "send$i" 60
			((kt_ret == 0)) || break
		done
		kt_is 0 "all long messages are sent when their sender is reachable again"
		barrier sent
		for ((i = 0; i < stalled; i++)); do kt release "c$i"; done
		kt_result brief 60
		((kt_ret < 0))
		ok $? "a message that takes longer than op_timeout_ms is not sent: $kt_ret"
		kt release brief
		expect 0 release good
		ip addr del $deaf/32 dev "$NETDEV"
	else
		barrier address
		ip route add $deaf/32 dev "$NETDEV"
		for ((i = 0; i < stalled; i++)); do expect 0 accept "v$i" l 20000; done
		expect 0 listen probing 0.0.0.0 7003 keepalive_ms=$((300 * slow))
		expect 0 listen short 0.0.0.0 7002 max_msg=$max_msg op_ms=$((2000 * slow))
		barrier short
		expect 0 accept good probing 20000
		expect 0 accept brief short 20000
		barrier connected
		cut egress
		barrier cut
		within 20 chunks_are_there
		ok $? "$stalled long messages wait for the answers of their READs"
		connecting
		pings=$(counter pings)
		barrier stalled
		with_workers krdma-peer 1 new_sends
		kt until new CLOSED 5000
		kt_is 0 "the end of a connection is noticed while $stalled READs are not answered"
		expect 0 release new
		within 10 pinged "$pings"
		ok $? "peers are probed while $stalled READs are not answered"
		kt until brief CLOSED 20000
		kt receive brief $max_msg 1000
		kt_is ETIMEDOUT "READs that take longer than op_timeout_ms end the connection"
		for i in brief short; do expect 0 release $i; done
		tc qdisc del dev "$NETDEV" clsact
		kt kept stop dialling
		barrier restored
		for ((i = 0; i < stalled; i++)); do
			kt receive "v$i" $max_msg 60000
			((kt_ret == max_msg)) || break
		done
		kt_is $max_msg "all long messages are received when their sender is reachable again"
		barrier sent
		for ((i = 0; i < stalled; i++)); do kt release "v$i"; done
		for i in good probing; do expect 0 release $i; done
		ip route del $deaf/32 dev "$NETDEV"
	fi
	barrier pulled
}

# cut egress|ingress: drop packets to the address $deaf that leave this node (egress) or enter it (ingress).
cut() {
	tc qdisc add dev "$NETDEV" clsact
	tc filter add dev "$NETDEV" "$1" protocol ip pref 1 u32 match ip dst $deaf/32 action drop
	ok $? "packets for $deaf are dropped at $1"
}

# released SLOT WHAT: one case: the listener in SLOT is released in time.
released() {
	kt_start release release "$1"
	kt_result release $((20 * slow))
	kt_is 0 "a listener is released with $2"
}

# Connect raw clients that do not get the REP of node 1 (ports 7004 and 7005), or get it late (7006 and 7007). Node 1
# answers their requests, and krdma_accept_timeout() must not return a connection whose client is silent. Node 2 drops
# the REP, because rxe of node 1 must be able to send it, see network_ready() in lib.sh.
raw() {
	local port
	[[ $NODE == 2 ]] || ip route add $deaf/32 dev "$NETDEV"
	[[ $NODE == 1 ]] || ip addr add $deaf/32 dev "$NETDEV"
	for port in 7004 7005 7006 7007; do
		if ((NODE == 1)); then raw_server $port; else raw_client $port; fi
		barrier "raw-$port"
	done
	[[ $NODE == 2 ]] || ip route del $deaf/32 dev "$NETDEV"
	[[ $NODE == 1 ]] || ip addr del $deaf/32 dev "$NETDEV"
}

raw_server() {
	expect 0 listen r 0.0.0.0 "$1" raw=2
	barrier "listens-$1"
	kt accept none r $((1500 * slow))
	kt_is ETIMEDOUT "port $1: accept() does not return a silent raw client"
	case $1 in
	7004)
		barrier departed
		expect 0 accept new r 20000
		barrier accepted
		expect 0 release new
		expect 0 release r
		;;
	7005) released r "a raw client in the handshake" ;;
	7006)
		barrier waiting
		barrier established
		released r "a raw connection that no task has accepted"
		;;
	7007)
		barrier waiting
		barrier established
		barrier departed
		sleep 0.5
		kt accept none r $((500 * slow))
		kt_is ETIMEDOUT "accept() does not return a raw connection that has ended"
		released r "no connection"
		;;
	esac
}

raw_client() {
	cut ingress
	barrier "listens-$1"
	kt_start silent connect silent "$victim" "$1" raw=2 src=$deaf connect_ms=$(($1 < 7006 ? 3000 * slow : 60000))
	(($1 < 7006)) || {
		barrier waiting
		tc qdisc del dev "$NETDEV" clsact
	}
	kt_result silent 60
	if (($1 < 7006)); then
		((kt_ret < 0))
		ok $? "port $1: a raw client without an answer is not connected: $kt_ret"
		tc qdisc del dev "$NETDEV" clsact
	else
		kt_is 0 "port $1: a raw client is connected when it is reachable again"
		barrier established
	fi
	case $1 in
	7004)
		barrier departed
		expect 0 connect new "$victim" 7004 raw=2
		barrier accepted
		expect 0 release new
		;;
	7006)
		kt until silent CLOSING $((20000 * slow))
		kt_is 0 "a raw client is disconnected when the listener is released"
		;;
	7007)
		expect 0 release silent
		barrier departed
		;;
	esac
	kt release silent
}

# Check the limits of a listener: max_conns for connections, and msg_memory for the memory of long messages.
limits() {
	if ((NODE == 1)); then
		# With noio=1, krdma checks that allocations for long messages start no I/O.
		expect 0 listen few 0.0.0.0 7001 max_msg=$max_msg max_conns=2 msg_memory=100000 noio=1
		barrier few
		for i in 1 2; do expect 0 accept "f$i" few 20000; done
		barrier full
		barrier refused
		(($(counter max_conns_reached) == 1))
		ok $? "a client beyond max_conns is counted: $(counter max_conns_reached)"
		expect 0 release f2
		barrier room
		expect 0 accept f3 few 20000
		barrier sending
		kt until f3 CLOSED 20000
		kt receive f3 $max_msg 1000
		kt_is EDQUOT "a message beyond msg_memory of the listener ends its connection"
		[[ $(<$files/listeners) == *" 2 2 $max_msg 100000"* ]]
		ok $? "debugfs has the limits of the listener: $(tail -n +2 $files/listeners)"
		(($(counter msg_memory_reached) == 1))
		ok $? "a message beyond msg_memory is counted: $(counter msg_memory_reached)"
		grep -q 'no memory left for a message of 65536 bytes: msg_memory is 100000, closing' < <(dmesg_node)
		ok $? "the log has the message beyond msg_memory"
		expect $max_msg receive f1 $max_msg 20000
		[[ $(<$files/listeners) == *" 2 2 0 100000"* ]]
		ok $? "a received message does not count for msg_memory"
		barrier received
		for i in f1 f3 few; do expect 0 release $i; done
		expect EINVAL listen few 0.0.0.0 7001 max_msg=$max_msg msg_memory=65535
		kt release few
	else
		barrier few
		for i in 1 2; do expect 0 connect "f$i" "$victim" 7001 noio=1; done
		barrier full
		kt connect f3 "$victim" 7001
		# iWARP does not carry the reason of a refused connect, so the client gets ECONNREFUSED.
		is_one_of "$kt_ret" "${errno[EBUSY]}" "${errno[ECONNREFUSED]}"
		ok $? "a client beyond max_conns is refused: $kt_ret"
		barrier refused
		barrier room
		expect 0 connect f3 "$victim" 7001
		expect 0 send f1 $max_msg
		barrier sending
		expect ECONNRESET send f3 $max_msg
		barrier received
		for i in 1 2 3; do kt release "f$i"; done
	fi
	barrier limited
}

[[ $NODE == 2 ]] || expect 0 listen l 0.0.0.0 7000 max_msg=$max_msg
barrier listening
[[ $LINK != siw ]] || sink
silent
limits
# raw() cannot run on siw, where a server is connected as soon as it has answered. pulls() runs on siw only.
if [[ $LINK == siw ]]; then pulls; else raw; fi
[[ $NODE == 2 ]] || expect 0 release l
same_resources "$before" "resources are as before"
finish
