/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link from node A to node B on which blocks are written directly: direct.c, stage.c.
 *
 * A writes a word of data and then a counter, each directly or by a message, again and again. A program of B's stores
 * beside the data through a mapping, now and then: before it may, A is told, and has answered. The link is cut once.
 *
 * What A writes directly is in B's memory when it arrives; a message waits at B until it is applied.
 *
 * G2: nobody ever sees a counter without its data.
 * G5: what A wrote is never taken for a store of B's program.
 * G8: at the end B has what A wrote.
 *
 * variant NO_FENCE G2: what is written directly does not wait until what was sent is applied
 * variant FENCE_ON_SENT G2: it waits until that has arrived only
 * variant TWIN_AT_ONCE G5: the twin is made when A has been told, not when it has answered
 * variant NO_NUMBERS G5: any answer counts, also one to what was said before
 * variant ANSWER_AHEAD G5: the answer does not wait for what was posted before it
 * variant STAGE_IGNORED G5: A answers, and goes on
 * variant UNSTAGE_EARLY G5: A is told that it may write there before the twin is gone
 * variant NO_TWIN_APPLY G5: what is sent goes into the memory, and not into the twin
 * variant FLIGHT_FORGOTTEN G2: what was under way when the link was cut is not missed
 * variant SENT_FORGOTTEN G2: what was sent is not
 * variant OLD_LIVES G2: what the old connection had under way arrives when the new one is up
 */
#include "model.h"

#define ROUNDS 3
#define DATA 0
#define COUNTER 1
#define STORE 2		/* B's own word, beside the data */
#define STORES 2

mtype = { WRITE, UPDATE, ANSWER };

/* A */
byte a_mem[2];
byte sent;			/* updates of which A has not heard that they are applied */
byte flight[2];			/* direct writes of each word that are not over */
byte missed;			/* bits */
bool a_staged;			/* data must be sent */
bool a_up = true;

/* From A to B in order; and what B has not looked at. */
chan wire = [6] of { mtype, byte, byte };
chan inbox = [6] of { mtype, byte, byte };
chan old = [6] of { mtype, byte, byte };
/* From B to A: the last thing that was said, and its number. */
chan told = [2] of { bool, byte };

/* B */
byte b_mem[3], twin[3];
bool has_twin;
byte number, answered;
bool b_staged;			/* vrfm_stage.told */
bool b_up = true;

inline judge()
{
	G2 = (b_mem[COUNTER] <= b_mem[DATA]);
	assert(G2)
}

#if defined(NO_FENCE)
#define FENCE true
#elif defined(FENCE_ON_SENT)
#define FENCE (len(wire) == 0)
#else
#define FENCE (sent == 0)
#endif
#define MAY(word) (FENCE && (word != DATA || !a_staged))

/* vrfm_link_update() */
inline update(word, value)
{
	atomic {
		(!a_up || len(wire) < 6);
		a_mem[word] = value;
		if
		:: (!a_up || missed) -> missed = missed | (1 << word)
		:: (a_up && !missed && MAY(word)) -> flight[word]++; wire!WRITE, word, value
		:: (a_up && !missed && !MAY(word)) -> sent++; wire!UPDATE, word, value
		fi
	}
}

active proctype program_a()
{
	byte k = 1;

	do
	:: k <= ROUNDS -> update(DATA, k); update(COUNTER, k); k++
	:: else -> break
	od
}

/* vrfm_sync_finish(): all that is missed in one step. */
active proctype sweeper()
{
end:	do
	:: atomic {
		a_up && missed && len(wire) < 5 ->
		if
		:: missed & 1 -> sent++; wire!UPDATE, DATA, a_mem[DATA]
		:: else
		fi;
		if
		:: missed & 2 -> sent++; wire!UPDATE, COUNTER, a_mem[COUNTER]
		:: else
		fi;
		missed = 0
	   }
	od
}

/* vrfm_direct_rx_stage() */
active proctype told_a()
{
	bool staged;
	byte n;

end:	do
	:: atomic {
		a_up && len(told) > 0 && len(wire) < 6 ->
		told?staged, n;
#ifndef STAGE_IGNORED
		a_staged = staged;
#endif
#ifdef ANSWER_AHEAD
		answered = n;
#else
		wire!ANSWER, 0, n;
#endif
		staged = false;
		n = 0
	   }
	od
}

/* B's adapter */
active proctype adapter()
{
	byte x, y;

end:	do
	:: atomic { b_up && wire?[WRITE, x, y] -> wire?WRITE, x, y; b_mem[x] = y; flight[x]--; judge(); x = 0; y = 0 }
	:: atomic { b_up && wire?[UPDATE, x, y] && len(inbox) < 6 -> wire?UPDATE, x, y; inbox!UPDATE, x, y; x = 0; y = 0 }
	:: atomic { b_up && wire?[ANSWER, x, y] && len(inbox) < 6 -> wire?ANSWER, x, y; inbox!ANSWER, x, y; x = 0; y = 0 }
#ifdef OLD_LIVES
	:: atomic { old?WRITE, x, y -> b_mem[x] = y; x = 0; y = 0 }
	:: atomic { old?UPDATE, x, y -> x = 0; y = 0 }
	:: atomic { old?ANSWER, x, y -> x = 0; y = 0 }
#endif
	od
}

inline look()
{
	if
	:: type == UPDATE ->
		b_mem[x] = y;
#ifndef NO_TWIN_APPLY
		if
		:: has_twin -> twin[x] = y
		:: else
		fi;
#endif
		sent--;
		judge()
	:: type == ANSWER && y > answered -> answered = y
	:: else
	fi
}

/* vrfm_link_receive() */
active proctype receiver()
{
	mtype type;
	byte x, y;

end:	do
	:: atomic { b_up && len(inbox) > 0 -> inbox?type, x, y; look(); x = 0; y = 0 }
	od
}

inline tell(stage)
{
	atomic {
		(!b_up || len(told) < 2);
		number++;
		b_staged = stage;
		if
		:: b_up -> told!stage, number
		:: else
		fi
	}
}

#ifdef NO_NUMBERS
#define ANSWERED (answered > 0)
#else
#define ANSWERED (answered >= number)
#endif

/* vrfm_compare_page() */
inline compare()
{
	d_step {
		G5 = (b_mem[DATA] == twin[DATA]);
		assert(G5);
		twin[STORE] = b_mem[STORE]
	}
}

/* vrfm_stage_fault(), the flusher, vrfm_stage_begin() */
active proctype program_b()
{
	byte n;

	do
	:: n < STORES ->
		n++;
		tell(true);
#ifndef TWIN_AT_ONCE
		/* A peer that is down does not write. */
		(ANSWERED || !b_up);
#endif
		d_step { twin[DATA] = b_mem[DATA]; twin[STORE] = b_mem[STORE]; has_twin = true };
		b_mem[STORE] = n;
		compare();
#ifdef UNSTAGE_EARLY
		tell(false);
		compare();
		has_twin = false
#else
		has_twin = false;
		tell(false)
#endif
	:: else -> break
	od
}

/* vrfm_link_down() at both, and vrfm_link_up(): what B says first is what is staged. */
active proctype cable()
{
	mtype type;
	byte x, y;

	if
	:: atomic {
		a_up = false;
		b_up = false;
#ifndef SENT_FORGOTTEN
		do
		:: wire?[UPDATE, x, y] -> wire?type, x, y; missed = missed | (1 << x)
		:: inbox?[UPDATE, x, y] -> inbox?type, x, y; missed = missed | (1 << x)
		:: wire?[ANSWER, x, y] -> wire?type, x, y
		:: inbox?[ANSWER, x, y] -> inbox?type, x, y
#ifdef OLD_LIVES
		:: wire?[WRITE, x, y] -> wire?type, x, y; old!type, x, y
#else
		:: wire?[WRITE, x, y] -> wire?type, x, y
#endif
		:: len(wire) + len(inbox) == 0 -> break
		od;
#else
		do
		:: len(wire) > 0 -> wire?type, x, y
		:: len(inbox) > 0 -> inbox?type, x, y
		:: len(wire) + len(inbox) == 0 -> break
		od;
#endif
#ifndef FLIGHT_FORGOTTEN
		if
		:: flight[DATA] -> missed = missed | 1
		:: else
		fi;
		if
		:: flight[COUNTER] -> missed = missed | 2
		:: else
		fi;
#endif
		flight[DATA] = 0;
		flight[COUNTER] = 0;
		sent = 0;
		do
		:: len(told) > 0 -> told?_, _
		:: len(told) == 0 -> break
		od;
		x = 0;
		y = 0
	   };
	   atomic {
		a_staged = b_staged;
		answered = number;
		b_up = true;
		a_up = true
	   }
	:: skip
	fi;
	timeout;
	G8 = (b_mem[DATA] == a_mem[DATA] && b_mem[COUNTER] == a_mem[COUNTER]);
	assert(G8)
}
