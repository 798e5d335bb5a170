/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link from node A to node B: link.c, window.c, backlog.c, missed.c, rx.c and
 * catchup.c of vrfm.
 *
 * A repeatedly writes data, then a counter, and then sends an event. The link is
 * cut and comes up again. While the link is down, B may restart, or the admin of A
 * may remove the peer B and add it again. If B is slow, A continues without waiting
 * for B. The window has three messages, each with one word, an event, or nothing.
 *
 * G2: a node that has received SYNCED never has a counter without its data.
 * G3: a node that receives an event has the data that was written before.
 * G8: at the end the link is READY, and B has what A wrote.
 * EV: at the end B has the last event, and none has arrived twice.
 *
 * variant NOT_MISSED_AT_DROP G2: words in flight when the link is cut are not missed
 * variant NOT_MISSED_WHILE_DOWN G2: words that are written while the link is down are not missed
 * variant BEHIND_DROPS G8: words without room in the window of a slow peer are not missed
 * variant EPOCH_IGNORED G2: a peer that has restarted receives missed words only
 * variant READY_EARLY G8: the link becomes READY while words are missed
 * variant READY_UNTOLD G8: no message is sent when the link becomes READY, and the peer waits for SYNCED
 * variant OLD_LIVES G2: messages of the old connection are applied after the new one is up
 * variant TAKE_OUTSIDE G8: the value is read without the order, and the bit cleared with it
 * variant CLEAR_LATE G8: the bit is cleared after the order was released, when the value has been sent
 * variant SYNCED_KEPT G2: messages have SYNCED although the peer has fallen behind
 * variant NOT_HELD G3: an event is handed over before its sender has sent SYNCED
 * variant FLAG_BEHIND_EVENT G3: an event is handed over by the SYNCED flag of the message before it
 * variant NOT_RESENT EV: events that were not acknowledged when the link was cut are not sent again
 * variant NO_NUMBERS EV: the numbers of events that are sent again are ignored
 * variant NUMBERS_BEGIN_ANEW EV: the numbers start again when an admin adds the peer again
 */
#include "model.h"

#define WINDOW 3
#define CUTS 2
#define ROUNDS 2

mtype = { UPDATE, EVENT, PROBE };
mtype = { DOWN, SYNCING, READY };

/* State of node A */
byte mem[2];
byte own, missed;		/* bit masks of words */
mtype state = DOWN;
bool lost = true;
byte known_epoch;
byte event_number;		/* number of the last event */
byte resend[WINDOW], resend_data[WINDOW];
byte nresend;
chan window = [WINDOW] of { mtype, byte, byte };
byte wanted;			/* data of the last event that B must receive */
bool order;
#define FREE (WINDOW - len(window))

/*
 * wire: messages that B has not applied. old: messages of the connection that was cut. unheard: number of messages that B
 * has applied, and whose acknowledgement A has not received.
 */
chan wire = [WINDOW] of { mtype, byte, byte, bool };
chan old = [WINDOW] of { mtype, byte, byte, bool };
byte unheard;

/* State of node B */
byte b_mem[2];
bool b_up, b_synced;
byte b_epoch = 1;
byte b_event;			/* number of the last event */
byte b_handed;			/* data of the last event that was handed over to programs */
chan b_held = [ROUNDS] of { byte };

inline send(type, x, y)
{
#ifdef SYNCED_KEPT
	wire!type, x, y, (state == READY || behind);
#else
	wire!type, x, y, (state == READY);
#endif
	window!type, x, y
}
#ifdef SYNCED_KEPT
bool behind;
#endif

inline miss(word)
{
	missed = missed | (1 << word)
}

/* Model of vrfm_accept_locked(). If the window has no room, B is overloaded (vrfm_link_overloaded()), and misses words. */
inline write(word, value)
{
	atomic {
		!order;
		mem[word] = value;
		own = own | (1 << word);
		if
		:: state == READY && FREE > 0 -> send(UPDATE, word, value)
		:: state == READY && FREE == 0 ->
			state = SYNCING;
#ifdef SYNCED_KEPT
			behind = true;
#endif
#ifndef BEHIND_DROPS
			miss(word)
#endif
		:: state == SYNCING -> miss(word)
#ifdef NOT_MISSED_WHILE_DOWN
		:: state == DOWN
#else
		:: state == DOWN -> miss(word)
#endif
		fi
	}
}

/* Model of vrfm_event_send(): send an event if the link is up. */
inline tell(data)
{
	atomic {
		!order && (state != READY || FREE > 0);
		if
		:: state != DOWN && FREE > 0 ->
			event_number++;
			send(EVENT, event_number, data);
			wanted = data
		:: else
		fi
	}
}

active proctype program()
{
	byte k = 1;

	do
	:: k <= ROUNDS ->
		write(0, k);
		write(1, k);
		tell(k);
		k++
	:: else -> break
	od
}

inline ready()
{
	state = READY;
#ifdef SYNCED_KEPT
	behind = false;
#endif
#ifndef READY_UNTOLD
	send(PROBE, 0, 0)
#endif
}

#define NMISSED ((missed & 1) + (missed >> 1))
#ifdef READY_EARLY
#define MAY_FINISH (state == SYNCING && FREE > 0)
#else
#define MAY_FINISH (state == SYNCING && FREE > NMISSED)
#endif

inline take(word)
{
	if
	:: missed & (1 << word) ->
		missed = missed & ~(1 << word);
		send(UPDATE, word, mem[word])
	:: else
	fi
}

/* Model of vrfm_catchup_work(): send missed words, and make the link READY when none is left. */
active proctype sweeper()
{
	byte word, value;

end:	do
	:: atomic {
		!order && MAY_FINISH && !lost ->
#ifdef READY_EARLY
		ready()
#else
		take(0);
		take(1);
		ready()
#endif
	   }
	:: atomic { !order && state == SYNCING && lost -> missed = missed | own; lost = false }
	:: atomic {
		!order && state == SYNCING && !lost && missed && FREE > 1 ->
		if
		:: missed & 1 -> word = 0
		:: missed & 2 -> word = 1
		fi;
#if defined(TAKE_OUTSIDE)
		value = mem[word]
	   };
	   atomic {
		!order;
		if
		:: state == SYNCING && FREE > 1 ->
			missed = missed & ~(1 << word);
			send(UPDATE, word, value)
		:: else
		fi;
#elif defined(CLEAR_LATE)
		send(UPDATE, word, mem[word])
	   };
	   atomic {
		!order;
		missed = missed & ~(1 << word);
#else
		take(word);
#endif
		word = 0;
		value = 0
	   }
	od
}

/* Model of vrfm_rx_message(): A receives an acknowledgement, which frees a slot of the window. */
active proctype acknowledged()
{
end:	do
	:: d_step { state != DOWN && unheard > 0 -> unheard--; window?_, _, _ }
	od
}

inline hand(data)
{
	d_step {
		G3 = (b_mem[0] >= data);
		assert(G3);
		EV = (data > b_handed);
		assert(EV);
		b_handed = data
	}
}

inline hand_held()
{
	do
	:: b_synced && nempty(b_held) -> b_held?d; hand(d)
	:: else -> break
	od
}

/* Model of vrfm_rx_event(): B ignores an event that it has, and holds an event until it is SYNCED. */
inline event(n, data)
{
	if
#ifdef NO_NUMBERS
	:: false
#else
	:: n <= b_event
#endif
	:: else ->
		b_event = n;
		if
#ifdef NOT_HELD
		:: true -> hand(data)
#else
		:: b_synced -> hand(data)
		:: else -> b_held!data
#endif
		fi
	fi
}

/* Model of vrfm_rx_body(): B applies a message, and hands over its event. */
inline apply()
{
	if
	:: type == UPDATE -> b_mem[x] = y
	:: else
	fi;
#ifndef FLAG_BEHIND_EVENT
	b_synced = synced;
	hand_held();
#endif
	if
	:: type == EVENT -> event(x, y)
	:: else
	fi;
#ifdef FLAG_BEHIND_EVENT
	b_synced = synced;
	hand_held();
#endif
	if
	:: synced ->
		G2 = (b_mem[1] <= b_mem[0]);
		assert(G2)
	:: else
	fi
}

active proctype receiver()
{
	mtype type;
	byte x, y, d;
	bool synced;

end:	do
	:: atomic { b_up && nempty(wire) -> wire?type, x, y, synced; apply(); unheard++; x = 0; y = 0; d = 0; synced = false }
#ifdef OLD_LIVES
	:: atomic {
		old?type, x, y, synced;
		if
		:: type == UPDATE -> b_mem[x] = y
		:: else
		fi;
		x = 0; y = 0; synced = false
	   }
#endif
	od
}

/* Model of vrfm_link_down() at A: words in the window are missed, and events in it will be sent again. */
inline a_down()
{
	atomic {
		!order;
		state = DOWN;
		nresend = 0;
		do
		:: nempty(window) ->
			window?type, x, y;
			if
#ifndef NOT_MISSED_AT_DROP
			:: type == UPDATE -> miss(x)
#endif
#ifndef NOT_RESENT
			:: type == EVENT -> resend[nresend] = x; resend_data[nresend] = y; nresend++
#endif
			:: else
			fi
		:: else -> break
		od;
		x = 0; y = 0;
#ifdef SYNCED_KEPT
		behind = false
#endif
	}
}

/* Model of vrfm_link_down() at B: messages that are not applied are dropped. */
inline b_down()
{
#ifdef OLD_LIVES
	skip
#else
	atomic {
		b_up = false;
		do
		:: nempty(wire) -> wire?_, _, _, _
		:: else -> break
		od;
		b_synced = false
	}
#endif
}

/* Model of vrfm_link_up() at both nodes: A compares the epoch of B, and sends unacknowledged events again. */
inline both_up()
{
	atomic {
#ifdef OLD_LIVES
		do
		:: nempty(wire) -> wire?type, x, y, synced; old!type, x, y, synced
		:: else -> break
		od;
		x = 0; y = 0; synced = false;
		b_synced = false;
#else
		/* Drop messages that A sent while B was down. */
		do
		:: nempty(wire) -> wire?_, _, _, _
		:: else -> break
		od;
#endif
		unheard = 0;
		b_up = true;
		state = SYNCING;
		if
		:: known_epoch != b_epoch ->
			known_epoch = b_epoch;
#ifndef EPOCH_IGNORED
			lost = true;
#endif
			nresend = 0;
			event_number = 0;
			wanted = 0
		:: else
		fi;
		x = 0;
		do
		:: x < nresend -> send(EVENT, resend[x], resend_data[x]); resend[x] = 0; resend_data[x] = 0; x++
		:: else -> break
		od;
		nresend = 0;
		x = 0
	}
}

active proctype cable()
{
	mtype type;
	byte x, y, cuts;
	bool synced, again;

	both_up();
	do
	:: cuts < CUTS ->
		cuts++;
		if
		:: a_down(); b_down()
		:: b_down(); a_down()
		fi;
		if
		:: skip
#ifndef OLD_LIVES
		:: !again ->		/* B restarts */
			atomic {
				again = true;
				b_mem[0] = 0;
				b_mem[1] = 0;
				b_event = 0;
				b_handed = 0;
				do
				:: nempty(b_held) -> b_held?_
				:: else -> break
				od;
				b_epoch++
			}
		:: !again ->		/* A removes B and adds it again, with another struct vrfm_link */
			atomic {
				again = true;
				lost = true;
				missed = 0;
				if
				:: nresend -> wanted = b_handed	/* events to resend are dropped with the struct */
				:: else
				fi;
				nresend = 0;
#ifdef NUMBERS_BEGIN_ANEW
				event_number = 0
#endif
			}
#endif
		fi;
		both_up()
	:: break
	od;
	timeout;
	G8 = (state == READY && b_synced && b_mem[0] == mem[0] && b_mem[1] == mem[1]);
	assert(G8);
	EV = (b_handed >= wanted);
	assert(EV)
}
