/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Node L loads the image of node H while node W goes on writing.
 *
 * Word 0 is W's, who writes it all the time. Word 1 was written by one that is
 * gone; H has it, L has not. Word 2 is L's own. The link of W and L is cut, the
 * one of W and H is slow, and the one of L and H is neither.
 *
 * L tells W to sweep: LOAD(number). W sends all its own words, then SWEPT(number).
 * What comes from W is live. When W has answered, or is not linked, L pulls H's
 * words one after the other and takes those that are neither live nor own. Then
 * it GRANTs READY. Who comes up says the number of its last load; if W has not
 * answered that one, all W's own words are missed: L may have taken older ones
 * for those that W knows to be applied.
 *
 * G2: whoever has been told SYNCED never sees W's word go back.
 * G3: nobody is told SYNCED who is loading.
 * G6: L's own word is never lost.
 * G8: at the end all have the same, and W's link is READY. When a load is over L
 * has what W had written when it began, if W was linked all the time.
 *
 * variant NO_NUMBER G8: a link that comes up after the load does not know of it (the design until now)
 * variant LIVE_IGNORED G8: the image goes over words that arrived live
 * variant OWN_IGNORED G6: the image goes over L's own words
 * variant SWEPT_IGNORED G8: L pulls before W has answered
 * variant MISSED_ONLY G8: W answers with what is missed, not with all its own words
 * variant SWEPT_FIRST G8: W answers before it sends them
 * variant NO_GRANT G3: W is READY though L does not want it
 */
#include "model.h"

#define WRITES 2
#define CUTS 1
#define LOADS 2
#define ROOM 2
#define GONE 7		/* word 1 of H */

mtype = { UPDATE, SWEPT, SYNCED, LOAD, GRANT, PULL, IMAGE };
mtype = { DOWN, SYNCING, READY };

/* W */
byte w_mem;
mtype w_state = READY;
bool w_own, w_missed, w_granted = true;
byte w_asked, w_answered;

/* L */
byte l_mem[3], live, number, l_own;
byte begun;			/* what W had when the load began */
bool loading, swept, l_up = true, synced = true;

/* H */
byte h_mem[3];

chan w_l = [ROOM] of { mtype, byte };
chan l_w = [LOADS * 2] of { mtype, byte };
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
			:: w_state == READY && len(w_l) < ROOM -> w_l!UPDATE, w_mem
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
	:: atomic { w_state != DOWN && l_w?[GRANT, _] -> l_w?_, _; w_granted = true }
	:: atomic {
		w_state == SYNCING && w_missed && len(w_l) < ROOM ->
		w_missed = false;
		w_l!UPDATE, w_mem
	   }
	:: atomic {
#ifdef SWEPT_FIRST
		w_state == SYNCING && w_asked != w_answered && len(w_l) < ROOM ->
#else
		w_state == SYNCING && w_asked != w_answered && !w_missed && len(w_l) < ROOM ->
#endif
		w_answered = w_asked;
		w_l!SWEPT, w_asked
	   }
	:: atomic {
#ifdef NO_GRANT
		w_state == SYNCING && w_asked == w_answered && !w_missed && len(w_l) < ROOM ->
#else
		w_state == SYNCING && w_asked == w_answered && !w_missed && len(w_l) < ROOM && w_granted ->
#endif
		w_state = READY;
		w_l!SYNCED, w_asked
	   }
	od
}

inline store(value)
{
	G2 = (!synced || value >= l_mem[0]);
	assert(G2);
	l_mem[0] = value;
	if
	:: loading -> live = live | 1
	:: else
	fi
}

active proctype receiver()
{
	byte x;
	mtype type;

end:	do
	:: atomic {
		l_up && nempty(w_l) -> w_l?type, x;
		if
		:: type == UPDATE -> store(x)
		:: type == SWEPT -> swept = (swept || x == number)
		:: type == SYNCED ->
			if
			:: x == number ->
				G3 = !loading;
				assert(G3);
				synced = true
			:: else		/* it had not heard of this load when it said so */
			fi
		fi;
		x = 0;
		type = 0
	   }
	od
}

active proctype holder()
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
			loading = true;
			synced = false;
			swept = false;
			live = 0;
			if
			:: l_up -> l_w!LOAD, number; begun = w_mem
			:: else
			fi
		}
		do
		:: word < 3 ->
#ifndef SWEPT_IGNORED
			(swept || !l_up);
#endif
			atomic { l_h!PULL, word };
			atomic { h_l?_, value; merge(word, value); word++; value = 0 }
		:: else -> break
		od;
		atomic {
			G8 = (l_mem[0] >= begun);
			assert(G8);
			begun = 0;
			loading = false;
			word = 0;
			if
			:: l_up -> l_w!GRANT, 0
			:: else
			fi
		}
	:: number -> break
	od
}

/* L's own program */
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
		/* Rule 7: both are down, what came is applied or dropped, before they are up. */
		atomic {
			w_state = DOWN;
			do
			:: nempty(w_l) ->
				w_l?type, _;
				if
				:: type == UPDATE -> w_missed = true
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
			w_granted = !loading;
			w_state = SYNCING;
			if
			:: loading -> ask(number)
#ifndef NO_NUMBER
			:: !loading && w_answered != number -> ask(number)
#endif
			:: else
			fi
		}
	:: break
	od;
	timeout;
	G8 = (w_state == READY && synced && !loading &&
	      l_mem[0] == w_mem && h_mem[0] == w_mem && l_mem[1] == GONE && l_mem[2] == h_mem[2]);
	assert(G8)
}
