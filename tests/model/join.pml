/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Node L loads the image of node H while node W continues to write.
 *
 * W writes word 0 repeatedly. A departed node wrote word 1, which H has and L does
 * not have. L writes word 2. The link of W and L is cut, and the link of W and H is
 * slow. The link of L and H is fast, and never cut.
 *
 * L sends LOAD(number) to W. W answers with all its own words, and then
 * SWEPT(number). Words that arrive from W during the load are live. When W has
 * answered, or is not linked, L pulls one word after the other from H. L takes words
 * that are neither live nor own words of L. Then L sends GRANT, and W may become
 * READY.
 *
 * When the link comes up, L sends INFO with the number of its last load. If W
 * has not answered this load, all own words of W are missed words: L may have
 * overwritten applied words of W by older ones of the image. W does not become
 * READY before INFO arrives, even after a GRANT. The reason is that in the
 * protocol each message carries the grant, so a message with the grant may
 * arrive before INFO.
 *
 * G2: on a node that has received SYNCED, the word of W never returns to an older
 * value.
 * G3: when a node receives SYNCED, it has all words that W wrote before, and is not
 * loading. Events are handed over after SYNCED.
 * G6: the own word of L is never lost.
 * G8: at the end all nodes have the same words, and the link of W is READY. If W was
 * linked during a whole load, L has all words at the end of the load that W had
 * written before the load.
 *
 * variant NO_NUMBER G3: a link that comes up does not compare the number of the load
 * variant LIVE_IGNORED G3: the image overwrites words that arrived live
 * variant OWN_IGNORED G6: the image overwrites the own words of L
 * variant SWEPT_IGNORED G2: L pulls before W has answered
 * variant MISSED_ONLY G8: W sends missed words only, not all its own words
 * variant SWEPT_FIRST G8: W answers before it has sent its words
 * variant NO_GRANT G3: W becomes READY without a grant
 * variant INFO_IGNORED G3: W becomes READY before INFO arrives
 */
#include "model.h"

#define WRITES 2
#define CUTS 1
#ifdef INFO_IGNORED
#define LOADS 1		/* one load is enough for a counter-example, and quicker */
#else
#define LOADS 2
#endif
#define ROOM 2
#define GONE 7		/* value of word 1 at H */

mtype = { UPDATE, MISSED, SWEPT, SYNCED, LOAD, INFO, GRANT, PULL, IMAGE };
mtype = { DOWN, SYNCING, READY };
mtype = { IDLE, SWEEPING, PULLING };	/* states of enum vrfm_resync_state; H is the only donor, so L does not choose */

/* State of node W */
byte w_mem;
mtype w_state = READY;
bool w_own, w_missed, w_granted = true, w_informed = true;
byte w_asked, w_answered;

/* State of node L */
byte l_mem[3], live, number, l_own;
byte begun;			/* value of W when the load began */
mtype resync = IDLE;
bool swept, l_up = true, synced = true;
#define loading (resync != IDLE)

/* State of node H */
byte h_mem[3];

chan w_l = [ROOM] of { mtype, byte, byte };
chan l_w = [LOADS * 2 + 1] of { mtype, byte };
chan w_h = [WRITES] of { byte };
chan l_h = [2] of { mtype, byte };
chan h_l = [1] of { byte, byte };

active proctype writer()
{
	do
	:: w_mem < WRITES ->
		atomic {
			w_mem++;
			w_own = true;
			w_h!w_mem;
			if
			:: w_state == READY && len(w_l) < ROOM -> w_l!UPDATE, w_mem, 0
			:: else ->
				w_missed = true;
				if
				:: w_state == READY -> w_state = SYNCING
				:: else
				fi
			fi
		}
	:: else -> break
	od
}

inline ask(n)
{
	w_asked = n;
	w_answered = 0;
#ifndef MISSED_ONLY
	w_missed = w_missed || w_own;
#endif
	if
	:: w_state == READY -> w_state = SYNCING
	:: else
	fi
}

active proctype sweeper()
{
	byte n;

end:	do
	:: atomic { w_state != DOWN && l_w?[LOAD, _] -> l_w?LOAD, n; w_granted = false; ask(n); n = 0 }
	:: atomic {
		w_state != DOWN && l_w?[INFO, _] -> l_w?INFO, n;
		w_informed = true;
		if
#ifndef NO_NUMBER
		:: w_answered != n -> ask(n)
#endif
		:: else
		fi;
		n = 0
	   }
	:: atomic { w_state != DOWN && l_w?[GRANT, _] -> l_w?_, _; w_granted = true }
	:: atomic {
		w_state == SYNCING && w_missed && len(w_l) < ROOM ->
		w_missed = false;
		w_l!MISSED, w_mem, 0
	   }
	:: atomic {
#ifdef SWEPT_FIRST
		w_state == SYNCING && w_asked != w_answered && len(w_l) < ROOM ->
#else
		w_state == SYNCING && w_asked != w_answered && !w_missed && len(w_l) < ROOM ->
#endif
		w_answered = w_asked;
		w_l!SWEPT, w_asked, 0
	   }
	:: atomic {
#ifdef NO_GRANT
		w_state == SYNCING && w_asked == w_answered && !w_missed && len(w_l) < ROOM ->
#else
		w_state == SYNCING && w_asked == w_answered && !w_missed && len(w_l) < ROOM && w_granted &&
#ifdef INFO_IGNORED
		true ->
#else
		w_informed ->
#endif
#endif
		w_state = READY;
		w_l!SYNCED, w_asked, w_mem
	   }
	od
}

inline store(value)
{
	G2 = (!synced || loading || value >= l_mem[0]);
	assert(G2);
	l_mem[0] = value;
	if
	:: loading -> live = live | 1
	:: else
	fi
}

active proctype receiver()
{
	byte x, written;	/* written: value of W when W sent SYNCED; only the properties use it */
	mtype type;

end:	do
	:: atomic {
		l_up && nempty(w_l) -> w_l?type, x, written;
		if
		:: type == UPDATE -> store(x)
		:: type == MISSED -> synced = false; store(x)
		:: type == SWEPT -> synced = false; swept = (swept || x == number)
		:: type == SYNCED ->
			/* L may have begun another load while SYNCED was in flight. The SWEPT of this load follows later. */
			G3 = (loading -> x != number : l_mem[0] >= written);
			assert(G3);
			synced = true
		fi;
		x = 0;
		written = 0;
		type = 0
	   }
	od
}

active proctype donor()
{
	byte x;

end:	do
	:: d_step { w_h?x -> h_mem[0] = x; x = 0 }
	:: d_step { l_h?[UPDATE, _] -> l_h?UPDATE, x -> h_mem[2] = x; x = 0 }
	:: d_step { nfull(h_l) && l_h?[PULL, _] -> l_h?PULL, x; h_l!x, (x == 1 -> GONE : h_mem[x]); x = 0 }
	od
}

inline merge(word, value)
{
	if
#ifndef LIVE_IGNORED
	:: live & (1 << word)
#endif
#ifndef OWN_IGNORED
	:: l_own & (1 << word)
#endif
	:: else ->
		G6 = (word != 2 || value >= l_mem[2]);
		assert(G6);
		l_mem[word] = value
	fi
}

active proctype loader()
{
	byte word, value;

	do
	:: number < LOADS ->
		atomic {
			number++;
			resync = SWEEPING;
			swept = false;
			live = 0;
			if
			:: l_up -> l_w!LOAD, number; begun = w_mem
			:: else
			fi
		}
		atomic {
#ifndef SWEPT_IGNORED
			(swept || !l_up);
#endif
			resync = PULLING
		};
		do
		:: word < 3 ->
			atomic { l_h!PULL, word };
			atomic { h_l?_, value; merge(word, value); word++; value = 0 }
		:: else -> break
		od;
		atomic {
			G8 = (l_mem[0] >= begun);
			assert(G8);
			begun = 0;
			resync = IDLE;
			word = 0;
			if
			:: l_up -> l_w!GRANT, 0
			:: else
			fi
		}
	:: number -> break
	od
}

/* A program on L writes word 2 once. */
active proctype program()
{
	do
	:: l_mem[2] < 1 ->
		d_step { l_mem[2] = l_mem[2] + 1; l_own = 4; l_h!UPDATE, l_mem[2] }
	:: else -> break
	od
}

active proctype cable()
{
	byte cuts, x;
	mtype type;

	do
	:: cuts < CUTS ->
		cuts++;
		/* Take both ends down, and apply or drop all messages, before the link comes up again. */
		atomic {
			w_state = DOWN;
			do
			:: nempty(w_l) ->
				w_l?type, _, _;
				if
				:: type == UPDATE || type == MISSED -> w_missed = true
				:: else
				fi
			:: else -> break
			od;
			type = 0
		}
		atomic {
			l_up = false;
			begun = 0;
			synced = false;
			do
			:: nempty(l_w) -> l_w?_, _
			:: else -> break
			od
		}
		atomic {
			do
			:: nempty(l_w) -> l_w?_, _
			:: else -> break
			od;
			l_up = true;
			swept = false;
			w_granted = false;
			w_informed = false;
			w_state = SYNCING;
			if
			:: loading -> l_w!INFO, number; l_w!LOAD, number
			:: else -> l_w!GRANT, 0; l_w!INFO, number
			fi
		}
	:: break
	od;
	timeout;
	G8 = (w_state == READY && synced && !loading &&
	      l_mem[0] == w_mem && h_mem[0] == w_mem && l_mem[1] == GONE && l_mem[2] == h_mem[2]);
	assert(G8)
}
