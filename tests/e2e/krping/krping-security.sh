#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# krping-security: the tests mlat and mbw of krping, with and without a level of security. Results are complete. Without the
# key of the server, or with another level, a client gets a clear errno. Checksums detect data that were changed on the way.
#
#   node 1 (server) <--- messages of krdma ---> node 2 (client)
#
# kernels: uml
# capture: /exchange/krping-wire
# load: krdma krping
# add: ../../tools/krping
# guarantees: S1
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

network_ready
mount_debugfs
server=$(addr4 1)
debugfs=/sys/kernel/debug/krping
# "secure" are the options of a level that both sides have, with the same key.
secure=security=auth,key=krping:test
levels="none auth integrity encrypt"

# of KEY: print the value of KEY in the line of results in "line".
of() {
	local word
	for word in $line; do
		[[ ${word%%=*} != "$1" ]] || echo "${word#*=}"
	done
}

# serve OPTIONS: start a server in the background on node 1. served: stop it.
serve() {
	if ((NODE == 1)); then
		krping_run "server,bg,addr=$server,port=7500,accept=0,$1"
		run=$(of run)
		check "server,$1 listens" within 10 krping_listens
	fi
	barrier serve
}

served() {
	barrier served
	if ((NODE == 1)); then
		krping_run "stop=$run"
		check "the server ends" within 10 krping_idle
	fi
	barrier stopped
}

# works NAME OPTIONS: one case: a client succeeds. fails ERROR NAME OPTIONS: one case: a client fails.
works() {
	krping_run "client,addr=$server,port=7500,$2"
	ok $? "$1${said:+: ${said##*: }}"
}

fails() {
	! krping_run "client,addr=$server,port=7500,$3" && [[ $said == *"$1"* ]]
	ok $? "$2: ${said##*: }"
}

# level OPTIONS of a level: print them.
level() {
	[[ $1 == none ]] || echo ",security=$1,key=krping:test"
}

tests() {
	local name options
	for name in $levels; do
		options=$(level "$name")
		serve "mlat,size=65536$options"
		if ((NODE == 2)); then
			works "$name: mlat with 100 messages" "mlat,count=100,size=4096,validate$options"
			[[ $(of ops) == 100 && $(of sent) == 101 && $(of received) == 101 && $(of rtt_min_ns) -gt 0 ]]
			ok $? "$name: the result has all messages: $line"
			works "$name: mlat with sizes" "mlat,count=5,sweep=1-65536,warmup=2,samples=10$options"
			[[ $(of ops) == 85 && $(of sent) == 120 ]]
			ok $? "$name: the result has all sizes: $(of ops) operations, $(of sent) messages"
			[[ $(wc -l <"$debugfs/$(of run)/samples") == 10 ]]
			ok $? "$name: samples are kept"
			grep "\"security\": \"$name\"" "$debugfs/$(of run)/result" >/dev/null
			ok $? "$name: the result names the level"
			works "$name: mlat for a second" "mlat,duration=1$options"
			works "$name: mlat without messages" "mlat$options"
			fails "Protocol wrong type" "$name: mlat with a size above that of the server" "mlat,count=1,size=65537$options"
			fails "Protocol wrong type" "$name: mbw to a server of mlat" "mbw,count=1$options"
			fails "Numerical result out of range" "$name: max_lat" "mlat,count=10,max_lat=1$options"
		fi
		served
		serve "mbw,size=131072,validate$options"
		if ((NODE == 2)); then
			works "$name: mbw with checksums" "mbw,count=200,size=131072,txdepth=8,validate$options"
			[[ $(of ops) == 200 && $(of bytes) == 26214400 && $(of kbits) -gt 0 ]]
			ok $? "$name: the result has the bandwidth: $(of kbits) kbit/s"
			works "$name: mbw with more messages than krdma queues" "mbw,count=600,size=131072,txdepth=600,validate$options"
			works "$name: mbw with sizes" "mbw,count=20,sweep=5-131072,validate$options"
			works "$name: mbw for a second over four connections" "mbw,duration=1,qps=4,txdepth=1024,validate$options"
			fails "Protocol wrong type" "$name: mbw without the checksums of the server" "mbw,count=1$options"
		fi
		served
	done
}

keys() {
	serve "mlat,$secure"
	if ((NODE == 2)); then
		add_key logon krping:other Q
		works "the same key" "mlat,count=3,$secure"
		fails "Key was rejected" "another key" "mlat,count=3,security=auth,key=krping:other"
		fails "not available" "a key that does not exist" "mlat,count=3,security=auth,key=krping:none"
		fails "not permitted" "no level" "mlat,count=3"
		fails "Invalid argument" "a test of adapters with a key" "slat,count=3,$secure"
		fails "Invalid argument" "a level without a key" "mlat,count=3,security=auth"
		[[ $(/add/krping client "$server" port=7500 mlat count=3 security=auth key=krping:other 2>&1) == *"the server has another key"* ]]
		ok $? "the tool explains the refusal"
		[[ $(/add/krping --format line client "$server" port=7500 mlat count=3 "security=auth" key=krping:test 2>&1) == *"ops=3"* ]]
		ok $? "the tool runs mlat"
		works "the same key after refusals" "mlat,count=3,$secure"
	fi
	served
	serve mlat
	((NODE != 2)) || fails "not permitted" "a level that the server does not have" "mlat,count=3,$secure"
	served
}

# Peers that run a test of adapters, or end in the middle.
peers() {
	serve slat,count=3
	((NODE != 2)) || fails "" "mlat to a server of slat" "mlat,count=3,conn_timeout=5000"
	served
	serve mlat
	((NODE != 2)) || fails "" "slat to a server of mlat" "slat,count=3,conn_timeout=5000"
	served
	serve "mlat,idle_timeout=1000"
	if ((NODE == 2)); then
		krping_run "client,bg,addr=$server,port=7500,mlat,duration=60"
		run=$(of run)
		within 10 connected
		krping_run "stop=$run"
		check "a client is stopped in the middle" within 10 krping_idle
		works "another client after it" "mlat,count=3"
		krping_run "client,bg,addr=$server,port=7500,mlat,duration=60"
		within 10 connected
	fi
	served
	((NODE != 2)) || check "a client whose server stops ends" within 40 krping_idle
	barrier ended
}

connected() {
	[[ $(</proc/krping) == *"-$RDMADEV "* ]]
}

# The attacker on the path changes one byte of a message.
changed() {
	serve "mbw,size=4096"
	if ((NODE == 2)); then
		meddle "change,from=2,min=2000,byte=1000"
		fails "Remote I/O error" "a change of a message with a checksum" "mbw,count=50,size=4000,validate"
		meddled "a byte was changed"
		meddle "change,from=2,min=2000,byte=1000"
		works "a change of a message without a checksum" "mbw,count=50,size=4000"
		meddled "another byte was changed"
	fi
	served
	serve "mlat,size=4096"
	if ((NODE == 2)); then
		meddle "change,from=1,min=2000,byte=1000"
		fails "Bad message" "a change of an answer with a checksum" "mlat,count=50,size=4000,validate"
		meddled "a byte of an answer was changed"
	fi
	served
}

add_key logon krping:test K
section tests
section keys
section peers
section changed
finish
