#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# auth: two ends connect only if they have the same level of security, and the client's first key is one of the
# server's. Each refusal has its errno, its counter and its log line on both sides. A client that connects again ends
# its old connection, and a recorded request ends none. Keys come from a keyring.
#
#   node 1 (echoes on 7000 to 7003; levels and keys: see listen_all) <--- krdma ---> node 2 (connects)
#
# kernels: uml
# long: stock-6.1 uml/siw stock-new stock-6.12 uml-debug debug-6.1 uml/ntr
# load: krdma krdma_test
# guarantees: S1
# timeout: 600

# shellcheck source=tests/e2e/lib.sh
. lib.sh

network_ready
mount_debugfs
server=$(addr4 1)

# works PORT WHAT OPTION...: one case: a client with these options is connected, and its messages come back.
works() {
	local port=$1 what=$2
	shift 2
	kt rounds c "$server" "$port" 2 "$@"
	kt_is 0 "$what"
	kt release c
}

# fails ERRNO PORT WHAT OPTION...: one case: connecting with these options returns ERRNO.
fails() {
	local wanted=$1 port=$2 what=$3
	shift 3
	kt_rejected connect c "$server" "$port" "$@"
	kt_is "$wanted" "$what"
	kt release c
}

# ---- node 1 ----

listen_all() {
	expect 0 listen auth 0.0.0.0 7000 security=1 keys=A
	expect 0 listen none 0.0.0.0 7001
	expect 0 listen two 0.0.0.0 7002 security=1 keys=BA
	expect 0 listen rw 0.0.0.0 7003 security=1 keys=A rw=1 max_msg=65536
	expect 0 server 0.0.0.0 7004 security=1 keys=A
	# Each thread serves one connection at a time.
	for slot in auth none two rw; do expect 0 kthread "serve-$slot" serve "$slot"; done
	expect 0 kthread serve-again serve auth
}

server() {
	local key security
	key=$(counter refused.key) security=$(counter refused.security)
	listen_all
	barrier listening
	barrier refused
	key=$(($(counter refused.key) - key)) security=$(($(counter refused.security) - security))
	# On siw, clients may have repeated requests.
	((key == 4 && security == 4)) || [[ $LINK == siw && $key -ge 4 && $security -ge 4 ]]
	ok $? "the server has counted 4 requests of another key and 4 of another level: $key $security"
	logged "connect request refused: -129, other key"
	ok $? "the server's log names the other key"
	logged "connect request refused: -1, other security level"
	ok $? "the server's log names the other level"
	barrier end
	for slot in auth none two rw; do
		kt stop "serve-$slot"
		kt_is EINTR "serving $slot ends"
		expect 0 release "$slot"
	done
	kt stop serve-again
	expect 0 server end
	expect 0 unkey
	clean
}

# One case: neither the log nor debugfs has a key.
clean() {
	! { dmesg; cat /sys/kernel/debug/krdma/*; } | grep -E 'A{8}|(41){8}|B{8}|(42){8}' >/dev/null
	ok $? "no key is in the log or in debugfs of node $NODE"
}

# ---- node 2 ----

connected() {
	local line
	works 7000 "a client with the same key is connected" security=1 keys=A
	works 7001 "a client without a level is connected to a server without a level"
	works 7002 "a server accepts its second key" security=1 keys=A
	works 7002 "a server accepts its first key" security=1 keys=B
	works 7000 "a client with two keys uses the first one" security=1 keys=AB
	fails 0 7004 "a server with callbacks accepts the key" security=1 keys=A
	expect 0 connect q "$server" 7000 security=1 keys=A
	expect 0 query q
	[[ $kt_text == *version=2\ *"security=1 key=$(key_id A)" ]]
	ok $? "a query shows the level and the id of the key: $kt_text"
	line=$(grep ' client ' /sys/kernel/debug/krdma/connections)
	[[ $line == *" auth $(key_id A)" ]]
	ok $? "debugfs shows the level and the id of the key: $line"
	expect 0 release q
	expect 0 connect q "$server" 7001
	expect 0 query q
	[[ $kt_text == *version=1\ *security=0\ key=00000000 ]]
	ok $? "a query shows no level and no key: $kt_text"
	expect 0 release q
	expect 0 connect long "$server" 7000 security=1 keys=A private=xxxxxxxxxxxxxxxxxxxxxxxx
	expect 0 release long
	expect EINVAL connect long "$server" 7000 security=1 keys=A private=xxxxxxxxxxxxxxxxxxxxxxxxx
}

exported() {
	expect 0 connect rw "$server" 7003 security=1 keys=A rw=1 max_msg=65536
	expect 0 async rw write virt 1 4096
	expect 0 async rw read region 1 4096
	expect 0 send rw 10000
	expect 10000 receive rw 65536
	expect 0 release rw
}

refusals() {
	fails EKEYREJECTED 7000 "a client with another key is refused" security=1 keys=C
	fails EKEYREJECTED 7002 "a client with neither of two keys is refused" security=1 keys=C
	fails EKEYREJECTED 7000 "a client whose second key fits is refused" security=1 keys=CA
	fails EKEYREJECTED 7004 "a server with callbacks refuses another key" security=1 keys=C
	fails EPERM 7000 "a client without a level is refused"
	fails EPERM 7001 "a client with a level is refused by a server without" security=1 keys=A
	fails EPERM 7000 "a client with the level integrity is refused by a server with auth" security=2 keys=A
	fails EPERM 7000 "a client with the level encrypt is refused by a server with auth" security=3 keys=A
	barrier refused
	check "the client's log names the other key" logged "refuses this host: it has another key"
	check "the client's log names the other level" logged "refuses this host: it has another security level"
	fails ENOKEY 7000 "a level without a key" security=1
	fails EINVAL 7000 "a key without a level" keys=A
	fails EINVAL 7000 "a level in raw mode" security=1 keys=A raw=1
	fails EINVAL 7000 "an unknown level" security=4 keys=A
	fails EINVAL 7000 "five keys" security=1 keys=ABCDE
	works 7000 "a client with the key is connected after the refusals" security=1 keys=A
}

# alive WHAT: one case: the connection in the slot "new" works. The server on port 7004 does not answer messages.
alive() {
	if ((port == 7004)); then
		[[ $(kt_state new) == ESTABLISHED ]]
		ok $? "$1"
	else
		kt send new 100 && kt receive new 100 20000
		kt_is 100 "$1"
	fi
}

# A client that connects again with the same session number ends its old connection, at servers of both kinds.
again() {
	local port
	for port in 7000 7004; do
		expect 0 connect old "$server" $port security=1 keys=A session=7
		expect 0 connect new "$server" $port security=1 keys=A session=7
		kt until old CLOSED 20000
		kt_is 0 "$port: the old connection of a client that connects again ends"
		alive "$port: its new connection works"
		# Another key must not end the connection.
		kt connect foe "$server" $port security=1 keys=C session=7
		kt release foe
		alive "$port: a client with another key and the same session number ends no connection"
		expect 0 release old
		expect 0 release new
	done
}

keyring() {
	expect ENOKEY connect k "$server" 7000 security=1 keyring=krdma:absent
	check "a logon key is added" add_key logon krdma:a A
	check "a user key is added" add_key user krdma:u A
	check "a key of another length is added" add_key user krdma:short A 31
	works 7000 "a logon key is found" security=1 keyring=krdma:a
	works 7000 "a user key is found" security=1 keyring=krdma:u
	fails EINVAL 7000 "a key of 31 bytes is refused" security=1 keyring=krdma:short
}

client() {
	barrier listening
	connected
	exported
	refusals
	again
	keyring
	expect 0 reconnect r "$server" 7000 security=1 keys=A
	expect 0 unkey
	within 20 kept_is_connected
	ok $? "a persistent connection with a key is connected, although the owner has put its own reference"
	expect 0 kept stop r
	clean
	barrier end
}

# shellcheck disable=SC2317 # called by within
kept_is_connected() { grep -q ' connected ' /sys/kernel/debug/krdma/kept; }

if ((NODE == 1)); then server; else client; fi
finish
