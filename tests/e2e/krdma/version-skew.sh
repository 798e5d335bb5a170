#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# version-skew: the previous version of krdma as server, and then as client, with this version at the other end. Both
# versions exchange messages of all lengths, access exported buffers, receive messages by callback, and transfer the
# reason of a close. The previous version has no levels of security. If this version has a level, no connection is made,
# and the client gets the reason.
#
#   node 1 (server on 7000 to 7004, and on 5565) <--- krdma, one of them the previous version ---> node 2 (client)
#
# kernels: uml
# alone: stock-6.1 uml/siw stock-new
# previous: krdma krdma_test
# guarantees: S10
# timeout: 200

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
barrier begun
server=$(addr4 1)
mount_debugfs

# insert FILE [WORD]...: load a module, and first the modules of the kernel that it needs, which insmod does not load.
insert() {
	local name
	for name in $(modinfo -F depends "$1" | tr , ' '); do
		[[ -e /modules/$name.ko ]] || modprobe "$name" || return
	done
	insmod "$@"
}

# load SUFFIX: load krdma and krdma_test of this version, or of the previous version if SUFFIX is "-previous".
load() {
	local name
	for name in krdma krdma_test; do
		if [[ $1 ]]; then insert "/add/$name$1.ko"; else insert "/modules/$name.ko"; fi
		ok $? "$name$1 is loaded"
	done
}

features() {
	kt query "$1"
	[[ " $kt_text " =~ \ features=([^ ]*) ]]
	echo "${BASH_REMATCH[1]}"
}

serve() {
	local callback=rxcb
	# In older versions of krdma_test, the command rxcb has the name lend.
	kt rxcb 0
	((kt_ret == 0)) || callback=lend
	expect 0 listen l 0.0.0.0 7000 max_msg=1048576
	expect 0 listen rw 0.0.0.0 7001 rw=1 max_msg=1048576
	expect 0 server 0.0.0.0 7002 $callback=1 max_msg=1048576
	kt $callback 0
	kt kthread echo serve l
	kt kthread hold hold rw
	barrier "listening$1"
	barrier "talked$1"
	kt $callback
	[[ $kt_text == "messages=200 bad=0 unanswered=0"* ]]
	ok $? "all messages are delivered by callback ($kt_text)"
	for job in echo hold; do kt stop $job; done
	expect 0 listen reason 0.0.0.0 7003
	barrier "reason-listens$1"
	kt accept a reason 20000
	kt_is 0 "accepted for a close with a reason"
	kt receive a 100 20000
	kt_is ECONNRESET "receiving ends when the peer closes"
	kt reason a
	kt_is 4711 "the reason of the peer's close is known"
	expect 0 release a
	expect 0 server end
	for slot in l rw reason; do expect 0 release $slot; done
}

talk() {
	local len
	barrier "listening$1"
	kt connect c "$server" 7000 max_msg=1048576
	kt_is 0 "connected for messages"
	echo "# features $(features c)"
	for len in 0 1 4080 4081 65535 65536 300000 1000000; do
		kt send c "$len" && kt receive c 1048576 20000
		kt_is "$len" "$len bytes are echoed"
	done
	expect 0 close c
	kt connect w "$server" 7001 rw=1 max_msg=1048576
	kt_is 0 "connected with an exported buffer"
	for len in 8 1000 1000000; do
		expect 0 write w "$len" 0
		expect 0 read w "$len" 0
	done
	kt async w write virt 100 1000 chain=10
	kt_is 0 "100 WRITEs complete ($kt_text)"
	expect 0 close w
	kt connect t "$server" 7002 max_msg=1048576
	kt talk t 200 200000 4
	kt_is 0 "200 messages by callback are answered in order ($kt_text)"
	# Close after the server has read its counts, because a close flushes a send whose acknowledgment has not arrived.
	barrier "talked$1"
	expect 0 close t
	barrier "reason-listens$1"
	kt connect r "$server" 7003
	expect 0 close r 4711
	for slot in c w t r; do expect 0 release $slot; done
}

# A node of vrfm with a level connects to the previous version of krdma, which listens at the port of vrfm.
vrfm_refused() {
	add_key logon vrfm:a A
	check "vrfm with a level is loaded" insert /modules/vrfm.ko node=2 size=1M listen="$(addr4 2)" peers="3@$server" \
		security=auth key=vrfm:a
	within 20 logged "node 3: not linked: it \(speaks another version\|has another security level\)"
	ok $? "vrfm with a level logs why the previous version refuses it"
	check "vrfm is unloaded" rmmod vrfm
}

# level_refused OLD: the node OLD has the previous version and no level, and the other node has a level. The errno is EPERM
# if the previous version has levels too.
level_refused() {
	local level=(security=1 keys=A) wanted=EPROTONOSUPPORT before
	((NODE != $1)) || level=() wanted=ECONNREFUSED
	if ((NODE == 1)); then
		((NODE == $1)) || before=$(counter refused.security)
		expect 0 listen level 0.0.0.0 7004 "${level[@]}"
		((NODE != $1)) || expect 0 listen vrfm 0.0.0.0 5565
	fi
	barrier "level-listens$1"
	if ((NODE == 2)); then
		kt connect v "$server" 7004 "${level[@]}"
		is_one_of "$kt_ret" "${errno[$wanted]}" "${errno[EPERM]}"
		ok $? "a client gets $wanted if only one end has a level: $kt_ret"
		kt release v
		((NODE == $1)) || vrfm_refused
	fi
	barrier "level-refused$1"
	if ((NODE == 1 && NODE != $1)); then
		(($(counter refused.security) == before + 1))
		ok $? "a server with a level counts a client of the previous version"
		check "a server with a level logs a client of the previous version" \
			logged "connect request refused: -1, other security level"
	fi
	((NODE == 2)) || expect 0 release level
	((NODE == 2 || $1 == 2)) || expect 0 release vrfm
}

for old in 1 2; do
	if ((NODE == old)); then load -previous; else load ""; fi
	barrier "loaded$old"
	if ((NODE == 1)); then serve "$old"; else talk "$old"; fi
	level_refused "$old"
	barrier "over$old"
	for module in krdma_test krdma; do
		rmmod $module
		ok $? "$module is unloaded"
	done
	barrier "unloaded$old"
done
same_resources "$before" "resources are as before"
finish
