#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Author: The krdma developers
#
# events: over a link they are what a card's are: those that come while nobody listens wait, 127 of each type, and come in
# order; RESET tells nothing but itself; with the transmitter off a node still hears. And none is lost while a peer catches
# up. poll() reports the events that the program asked for.
#
#   node 1 (sends) --- node 2 (hears)
#
# kernels: uml
# long: uml/siw stock-6.1 stock-new uml-debug
# load: krdma vrfm
# programs: rfm2g/rfm
# guarantees: G3 G8
# timeout: 300

# shellcheck source=tests/e2e/lib.sh
. lib.sh

before=$(resources)
network_ready
peer=$((3 - NODE))
size=1M

# hears TYPE WANTED TEXT: all that is there, in order
hears() {
	local got
	got=$(rfm drain "$1" $((300 * slow)))
	[[ $got == "$2" ]]
	ok $? "$3: $got"
}

# numbers FIRST LAST: as "rfm drain" prints them
numbers() {
	seq -s ' ' "$1" "$2" | sed 's/$/ /'
}

# event WORD NAME: what /proc/rfm2g says after WORD of the events of that name
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

# Nobody has the device open, so all types are disabled.
backlog() {
	if ((NODE == 1)); then
		check "100 events, and 27 more" rfm burst 2 1 1 127
		rfm burst 2 2 1001 1003
		rfm sync
	fi
	barrier sent
	if ((NODE == 2)); then
		hears 1 "$(numbers 1 127)" "127 have waited, and come in order"
		hears 2 "$(numbers 1001 1003)" "those of another type besides"
		hears 1 "" "each of them once"
	fi
	barrier heard
	((NODE != 1)) || { rfm burst 2 1 1 130 && rfm sync; }
	barrier overflowed
	if ((NODE == 2)); then
		hears 1 "$(numbers 1 127)" "the first 127 of 130"
		[[ $(event lost intr1) == 3 ]]
		ok $? "the others are counted: $(event lost intr1)"
	fi
	barrier counted
}

to_whom() {
	local sender
	if ((NODE == 1)); then
		check "an event to all" rfm event 65535 3 77
		check "one to nobody" rfm event 9 3 78
		check "a RESET" rfm event 2 0 4711
		rfm sync
	fi
	barrier to-whom
	if ((NODE == 2)); then
		sender=$(rfm wait 3 $((1000 * slow)))
		[[ $sender == "1 77" ]]
		ok $? "who sent it, and what: $sender"
		sender=$(rfm wait 0 $((1000 * slow)))
		[[ $sender == "0 0" ]]
		ok $? "a RESET tells neither: $sender"
	else
		hears 3 "" "who sends to all does not hear it"
	fi
	barrier to-whom-over
}

dark() {
	if ((NODE == 2)); then
		check "the transmitter of node 2 is off" rfm dark 1
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
		hears 1 "6 " "it hears an event"
		[[ $(rfm peek 128) == 6 ]]
		ok $? "and gets what was written before: $(rfm peek 128)"
		check "the transmitter is on" rfm dark 0
	else
		hears 1 "" "nothing comes from there"
		[[ $(rfm peek 64) == 0 ]]
		ok $? "nor data: $(rfm peek 64)"
	fi
	barrier bright
}

# While a peer catches up over a slow cable, more events than there is room for.
catching_up() {
	((NODE != 1)) || network loss 100%
	check "the link breaks" within 60 rfm_is down
	barrier broken
	if ((NODE == 1)); then
		rfm fill 0 1048576 7
		network rate $((4000 / slow))kbit
		check "the peer catches up" within 60 syncing
		check "a hundred events" rfm burst 2 1 1 100
		check "it still does" syncing
		network
	fi
	barrier burst
	check "is ready" within 120 rfm_is ready
	((NODE != 1)) || rfm_settle
	barrier ready
	if ((NODE == 2)); then
		hears 1 "$(numbers 1 100)" "all have come, in order"
	else
		[[ $(dropped) == 0 ]]
		ok $? "none was dropped: $(dropped)"
	fi
	rfm sum >"/exchange/sum-$NODE"
	barrier summed
	cmp "/exchange/sum-1" "/exchange/sum-2"
	ok $? "both memories are equal"
}

# polls TYPE IN PRI WANTED TEXT: see "rfm poll"
polls() {
	local said
	said=$(rfm poll "$1" "$2" "$3")
	[[ $said == "$4" ]]
	ok $? "$5: $said"
}

# SYNC_LOSS (9) came when the link broke, and nobody has taken it. What a program did not ask for wakes nobody.
polling() {
	if ((NODE == 2)); then
		polls 1 - - pri "a fault that nobody takes is no POLLIN"
		polls 1 1f 0 "" "nor is it POLLPRI for a program that does not want it"
		polls 1 200 0 in "it is POLLIN for one that wants that"
	fi
	barrier polled
	((NODE != 1)) || { rfm burst 2 2 1 1 && rfm sync; }
	barrier sent-one
	if ((NODE == 2)); then
		polls 2 4 0 in "INTR2 is POLLIN for a program that waits for it"
		polls 2 2 0 "" "INTR2 is nothing for one that waits for INTR1"
	fi
	barrier polled-again
}

check "a device" rfm_make $size direct=off
check "is linked" within 30 rfm_is ready
barrier linked
backlog
to_whom
dark
catching_up
polling
barrier over
check "the device goes" rfm_unmake
barrier gone
same_resources "$before" "no RDMA resource is left"
finish
