#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# events: events over a link behave like those of a card. Up to 127 of each type are queued while no program waits, and
# are delivered in order. RESET has neither sender nor data. A node with its transmitter off still receives events. No
# event is lost while a peer catches up. poll() reports the events that the program requested.
#
#   node 1 (sends) --- node 2 (receives)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-new uml-debug
# load: krdma vrfm
# programs: rfm2g/rfm
# guarantees: G3 G8
# security: auth encrypt
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
peer=$((3 - NODE))
size=1M

# hears TYPE WANTED TEXT: one case, which passes if WANTED is the list of the data of all queued events of TYPE, in order.
hears() {
	local got
	got=$(rfm drain "$1" $((300 * slow)))
	[[ $got == "$2" ]]
	ok $? "$3: $got"
}

# numbers FIRST LAST: print the numbers from FIRST to LAST, in the format of "rfm drain".
numbers() {
	seq -s ' ' "$1" "$2" | sed 's/$/ /'
}

# event WORD NAME: print the value that follows WORD in the line of /proc/rfm2g about events of type NAME.
event() {
	awk -v dev="${RFM#/dev/}" -v word="$1" -v name="$2" '
		/^[^ ]/ { mine = $1 == dev }
		mine && $1 == "event" && $2 == name { for (i = 3; i < NF; i++) if ($i == word) print $(i + 1) }' /proc/rfm2g
}

dropped() {
	local line
	line=$(rfm_peer_line "$peer")
	line=${line##* events_dropped }
	echo "${line%% *}"
}

syncing() { rfm_is syncing; }

# Send events while no program has the device open. All types are then disabled, so node 2 queues the events.
backlog() {
	if ((NODE == 1)); then
		check "node 1 sends 127 events of a type that is disabled on node 2" rfm burst 2 1 1 127
		rfm burst 2 2 1001 1003
		rfm sync
	fi
	barrier sent
	if ((NODE == 2)); then
		hears 1 "$(numbers 1 127)" "127 queued events are delivered in order"
		hears 2 "$(numbers 1001 1003)" "3 queued events of another type are delivered in order"
		hears 1 "" "queued events are delivered once"
	fi
	barrier heard
	((NODE != 1)) || { rfm burst 2 1 1 130 && rfm sync; }
	barrier overflowed
	if ((NODE == 2)); then
		hears 1 "$(numbers 1 127)" "the first 127 of 130 events are queued"
		[[ $(event lost intr1) == 3 ]]
		ok $? "3 events beyond the queue are counted as lost: $(event lost intr1)"
	fi
	barrier counted
}

to_whom() {
	local sender
	if ((NODE == 1)); then
		check "node 1 sends an event to all" rfm event 65535 3 77
		check "node 1 sends an event to a node that does not exist" rfm event 9 3 78
		check "node 1 sends a RESET" rfm event 2 0 4711
		rfm sync
	fi
	barrier to-whom
	if ((NODE == 2)); then
		sender=$(rfm wait 3 $((1000 * slow)))
		[[ $sender == "1 77" ]]
		ok $? "an event has its sender and data: $sender"
		sender=$(rfm wait 0 $((1000 * slow)))
		[[ $sender == "0 0" ]]
		ok $? "a RESET has neither sender nor data: $sender"
	else
		hears 3 "" "an event to all is not delivered to its sender"
	fi
	barrier to-whom-over
}

dark() {
	if ((NODE == 2)); then
		check "node 2 disables its transmitter" rfm dark 1
		rfm event 1 1 5
		rfm poke 64 5
	fi
	barrier dark
	if ((NODE == 1)); then
		rfm poke 128 6
		rfm event 2 1 6
		rfm sync
	fi
	barrier in-the-dark
	if ((NODE == 2)); then
		hears 1 "6 " "a node without transmitter receives an event"
		[[ $(rfm peek 128) == 6 ]]
		ok $? "a node without transmitter has the word that was written before the event: $(rfm peek 128)"
		check "node 2 enables its transmitter" rfm dark 0
	else
		hears 1 "" "no event arrives from a node without transmitter"
		[[ $(rfm peek 64) == 0 ]]
		ok $? "no data arrive from a node without transmitter: $(rfm peek 64)"
	fi
	barrier bright
}

# While node 2 catches up over a slow link, send more events than the link has room for.
catching_up() {
	on 1 network loss 100%
	check "node $NODE notices that the link is cut" within 60 rfm_is down
	barrier broken
	if ((NODE == 1)); then
		rfm fill 0 1048576 7
		network rate $((4000 / slow))kbit
		check "node 2 catches up over a slow link" within 60 syncing
		check "node 1 sends 100 events while node 2 catches up" rfm burst 2 1 1 100
		check "node 2 still catches up after 100 events" syncing
		network
	fi
	barrier burst
	check "node $NODE is ready after catching up" within 120 rfm_is ready
	on 1 rfm_settle
	barrier ready
	if ((NODE == 2)); then
		hears 1 "$(numbers 1 100)" "100 events sent while node 2 catches up are delivered in order"
	else
		[[ $(dropped) == 0 ]]
		ok $? "no event is dropped while node 2 catches up: $(dropped)"
	fi
	rfm sum >"/exchange/sum-$NODE"
	barrier summed
	cmp "/exchange/sum-1" "/exchange/sum-2"
	ok $? "both memories are equal after catching up"
}

# polls TYPE IN PRI WANTED TEXT: one case, which passes if "rfm poll TYPE IN PRI" prints WANTED.
polls() {
	local said
	said=$(rfm poll "$1" "$2" "$3")
	[[ $said == "$4" ]]
	ok $? "$5: $said"
}

# poll() reports only events that the program requested. The fault SYNC_LOSS, type 9, is queued since the link was cut,
# because no program has taken it.
polling() {
	if ((NODE == 2)); then
		polls 1 - - pri "a fault that no program takes is not reported as POLLIN"
		polls 1 1f 0 "" "a fault is not reported as POLLPRI to a program that did not request it"
		polls 1 200 0 in "a fault is reported as POLLIN to a program that requested it"
	fi
	barrier polled
	((NODE != 1)) || { rfm burst 2 2 1 1 && rfm sync; }
	barrier sent-one
	if ((NODE == 2)); then
		polls 2 4 0 in "INTR2 is reported as POLLIN to a program that requested it"
		polls 2 2 0 "" "INTR2 is not reported to a program that requested INTR1"
	fi
	barrier polled-again
}

check "node $NODE creates a device with one peer" rfm_make $size direct=off
check "node $NODE is linked" within 30 rfm_is ready
barrier linked
backlog
to_whom
dark
catching_up
polling
barrier over
check "node $NODE removes its device" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
