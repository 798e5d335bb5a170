/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link from node A to node B, on which A writes blocks by RDMA WRITE (directly): vrfm/direct.c, vrfm/stage.c.
 *
 * A repeatedly writes a word of data and then a counter, each directly or by a message. A program on B sometimes stores
 * beside the data through a mapping. Before such a store, B sends STAGE to A, and A must answer. The link is cut once.
 *
 * A direct write changes the memory of B when the data arrives. A message waits at B until B applies it.
 *
 * G2: a counter is never visible without its data.
 * G5: data of A is never mistaken for a store of the program on B.
 * G8: at the end B has what A wrote.
 *
 * variant NO_FENCE G2: a direct write does not wait until messages before it are applied
 * variant FENCE_ON_SENT G2: a direct write waits only until messages before it have arrived
 * variant TWIN_AT_ONCE G5: the twin is created when STAGE is sent, not when A has answered
 * variant NO_NUMBERS G5: an answer to an earlier STAGE counts
 * variant ANSWER_AHEAD G5: the answer overtakes writes that were posted before it
 * variant STAGE_IGNORED G5: A answers, and continues to write directly
 * variant UNSTAGE_EARLY G5: A may write directly before the twin is freed
 * variant NO_TWIN_APPLY G5: messages are applied to the memory, but not to the twin
 * variant FLIGHT_FORGOTTEN G2: direct writes in flight when the link is cut are not missed
 * variant SENT_FORGOTTEN G2: messages in flight when the link is cut are not missed
 * variant OLD_LIVES G2: writes of the old connection arrive after the new one is up
 */
#include "model.h"

#define ROUNDS 3
#define DATA 0
#define COUNTER 1
#define STORE 2		/* word of the program on B, beside the data */
#define STORES 2

mtype = { WRITE, UPDATE, ANSWER };

/* State of node A */
byte a_mem[2];
byte sent;			/* number of updates that are not acknowledged */
byte flight[2];			/* number of direct writes in flight, by word */
byte missed;			/* bit mask of missed words */
bool a_staged;			/* data must be sent by messages */
bool a_up = true;

/*
 * wire: direct writes and messages in flight from A to B, in order. inbox: messages that have arrived and that B has not
 * applied. old: direct writes of the connection that was cut.
 */
chan wire = [6] of { mtype, byte, byte };
chan inbox = [6] of { mtype, byte, byte };
chan old = [6] of { mtype, byte, byte };
/* Messages STAGE from B to A: whether the block is staged, and the number of the message. */
chan told = [2] of { bool, byte };

/* State of node B */
byte b_mem[3], twin[3];
bool has_twin;
byte number, answered;
bool b_staged;			/* the last STAGE contained the block: vrfm_stage.told */
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

/*
 * Model of vrfm_link_update(): write a word directly if MAY() allows it, else
 * by a message. If the link is down or words are missed, miss the word.
 */
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

/* Model of vrfm_catchup_finish(): send all missed words in one step. */
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

/* Model of vrfm_direct_rx_stage(): A answers a STAGE of B. */
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

/* The adapter of B: direct writes change the memory at once, messages wait for the receiver. */
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

/* Model of vrfm_link_receive(): B applies messages. */
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

/* Model of vrfm_compare_locked(): a difference of page and twin must be a store of the program on B. */
inline compare()
{
	d_step {
		G5 = (b_mem[DATA] == twin[DATA]);
		assert(G5);
		twin[STORE] = b_mem[STORE]
	}
}

/*
 * Model of vrfm_stage_fault(), the scanner, and vrfm_stage_begin(): B stages the block, creates the twin, stores, compares,
 * and frees the twin.
 */
active proctype program_b()
{
	byte n;

	do
	:: n < STORES ->
		n++;
		tell(true);
#ifndef TWIN_AT_ONCE
		/* Do not wait for the answer of a peer that is down: such a peer does not write. */
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

/* Model of vrfm_link_down() at both nodes, and of vrfm_link_up(), where B first tells A whether the block is staged. */
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
