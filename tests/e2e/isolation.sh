#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# isolation: peers that do not know each other. No old memory of the victim reaches one of them; one that is silent delays no
# other.
#
#   node 1 (victim, listens on 7000) <--- krdma_hostile: raw verbs, every byte by hand --- node 2
#                                    <--- krdma: a client that keeps to the protocol -----
#
# kernels: uml uml/siw
# long: uml-debug uml-debug/siw stock-6.1
# load: krdma krdma_test krdma_hostile
# add: hostile-lib.sh
# append: init_on_alloc=0 init_on_free=0
# timeout: 180

# shellcheck source=tests/e2e/lib.sh
. lib.sh
# shellcheck source=tests/e2e/hostile-lib.sh
. hostile-lib.sh

before=$(resources)
barrier begun
files=/sys/kernel/debug/krdma
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
victim=$(addr4 1)
max_msg=65536
# On siw START may be missed until there is another message.
started=("send:{type=1}" sleep:200 "send:{type=4}" start:5000)

# attack STEP...: as krdma_hostile does them
attack() {
	translate "$@"
	hello max=$max_msg
	ht attack "$victim" 7000 "$hex" "${steps[@]}"
}

# The key of the live region of $max_msg bytes, in "key".
sink_key() {
	local size rkey state
	key=
	while read -r _ size _ _ rkey state; do
		[[ $size != "$max_msg" || $state != live ]] || key=$rkey
	done <$files/regions
	[[ -n $key ]]
}

# Most of the free memory has been used, for bytes that are not zero.
soil() {
	local name kib rest
	while read -r name kib rest; do
		[[ $name != MemAvailable: ]] || break
	done </proc/meminfo
	tr '\0' x </dev/zero | head -c $(((kib - 32768) * 1024)) >/dev/shm/soil
	rm /dev/shm/soil
}

# A peer on iWARP learns the key of the memory that its long message is read into, and siw lets it read that memory: all of
# it, when the peer has described a single byte.
sink() {
	if ((NODE == 1)); then
		soil
		barrier soiled
		expect 0 accept v l 20000
		within 20 sink_key
		ok $? "the memory for the long message is registered: $key"
		echo "$key" >/exchange/key
		kt receive v $max_msg 20000
		kt_is ECONNRESET "the message does not become whole"
		expect 0 release v
	else
		barrier soiled
		(
			trap - EXIT
			within 20 test -s /exchange/key
			cat /exchange/key >/sys/module/krdma_hostile/parameters/told
		) &
		attack "${started[@]}" "offer:{type=7,len=$max_msg,seg=0/0/1}" told:20000 read:told:0:$max_msg
		((ht_ret == 0 && got[failed] + got[refused] + got[flushed] == 0))
		ok $? "the memory is read: $ht_text"
		((got[nonzero] == 0))
		ok $? "bytes of others in the memory for a long message: ${got[nonzero]}"
		wait $!
	fi
	barrier sunk
}

somebody_is_connected() { [[ $(<$files/connections) == *server*:7000* ]]; }

# A client that is connected and never sends START, with the times that are the default, and another one while it is silent.
silent() {
	if ((NODE == 1)); then
		kt_start taker accept new l 20000
		within 20 somebody_is_connected
		ok $? "a client that never sends START is connected"
		barrier silent
		kt_result taker 30
		kt_is 0 "another client is accepted while that one is silent"
		kt receive new 64 20000
		kt_is 64 "and its message is received"
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

[[ $NODE == 2 ]] || expect 0 listen l 0.0.0.0 7000 max_msg=$max_msg
barrier listening
[[ $LINK != siw ]] || sink
silent
[[ $NODE == 2 ]] || expect 0 release l
same_resources "$before" "resources are as before"
finish
