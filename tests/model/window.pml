/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of the window of a link: vrfm/window.c, vrfm/write.c.
 *
 * A writer waits for room, takes the write lock (order), and appends the runs
 * (consecutive words) of a call to the open message. If this message is full,
 * the writer opens another one. At the same time, in softirq context, the
 * adapter completes messages, and the peer acknowledges them. A completion may
 * post the open message. The link is cut once. Then the runs of all messages
 * that are not acknowledged become missed words.
 *
 *	acked <= completed <= posted <= opened <= acked + SLOTS
 *
 * G8: each write is applied by the peer, or is missed when the link is down.
 * G9: a link queues no more messages than the window has slots.
 *
 * variant CLOSED_MEANWHILE G9: a completion posts the open message while a writer fills it
 * variant CLOSED_LOST G8: a completion posts it, and a message that is not applied is overwritten
 * variant PUSH_EACH_RUN G9: the open message may be posted after each run, not only after the last one
 * variant FREE_AT_COMPLETION G8: a slot is free when its message is completed, not when it is applied
 * variant NO_ROOM G9: a writer does not wait for room
 * variant NOT_MISSED G8: messages in flight when the link is cut are not missed
 */
#include "model.h"

#define SLOTS 3
#define WRITES 4
#define RUNS 2			/* number of runs of a write */

#define CAPACITY 3		/* size of a message, in runs */

#ifdef CLOSED_LOST
#define CLOSED_MEANWHILE
#define ANY_WINDOW
#endif
#ifdef FREE_AT_COMPLETION
#define ANY_WINDOW
#endif

byte opened, posted, completed, acked, applied;
byte fill;			/* number of runs in the newest message */
bool closed = true;		/* the newest message is complete */
bool filling;			/* the holder of the write lock still appends to the newest message */
byte slot[SLOTS];		/* bit mask of the runs in each message */
byte wire[16];			/* runs of posted messages, by number of the message */
byte written, has, missed;	/* bit masks of runs */
bool up = true, cut, order;

#ifdef FREE_AT_COMPLETION
#define OVER completed
#else
#define OVER (acked < completed -> acked : completed)
#endif
#define FREE (opened - (OVER) < SLOTS)
#define GROWING (opened && !closed && fill < CAPACITY)
#define FITS (GROWING && fill + RUNS <= CAPACITY)
#ifdef CLOSED_MEANWHILE
#define KEPT false
#else
#define KEPT filling
#endif

inline post_next()
{
	posted++;
	wire[posted] = slot[posted % SLOTS];
	if
	:: posted == opened -> closed = true
	:: else
	fi
}

/*
 * Model of vrfm_link_push_locked(): post all complete messages. Post the open one
 * only if no message is in flight and no writer fills the open one.
 */
inline push()
{
	do
	:: up && posted < opened && 
	   !(posted + 1 == opened && !closed && (posted != completed || KEPT)) ->
		post_next()
	:: else -> break
	od
}

inline open_one()
{
	opened++;
	slot[opened % SLOTS] = 0;
	fill = 0;
	closed = false;
#ifndef ANY_WINDOW
	G9 = (opened - acked <= SLOTS);
	assert(G9);
#endif
}

inline append(nr)
{
	if
	:: !GROWING -> open_one()
	:: else
	fi;
	slot[opened % SLOTS] = slot[opened % SLOTS] | (1 << nr);
	fill++;
	written = written | (1 << nr);
#ifdef PUSH_EACH_RUN
	filling = false;
#endif
	push()
}

#ifdef NO_ROOM
#define ROOM true
#else
#define ROOM (FITS || FREE)
#endif

proctype writer()
{
	byte n, i;

	do
	:: n < WRITES ->
		/* Model of vrfm_write_trylock(): wait for room, and take the write lock. */
		d_step { !order && (!up || ROOM) -> order = true; filling = true; i = 0 }
		do
		:: i < RUNS ->
			/* Model of vrfm_link_update(), which holds the link's lock: append one run. */
			d_step {
				if
				:: up -> append(n * RUNS + i)
				:: else ->
					written = written | (1 << (n * RUNS + i));
					missed = missed | (1 << (n * RUNS + i))
				fi;
				i++
			}
		:: else -> break
		od;
		skip;
		d_step { filling = false; push(); order = false; n++ }
	:: else -> break
	od
}

/* Model of vrfm_slot_done(): the adapter completes the oldest posted message. */
active proctype adapter()
{
end:	do
	:: d_step { up && completed < posted -> completed++; push(); skip }
	od
}

active proctype peer()
{
end:	do
	:: d_step { !cut && applied < completed -> applied++; has = has | wire[applied] }
	:: d_step { up && acked < applied -> acked = applied }
	od
}

proctype cable()
{
	byte n;

	cut = true;
	/* Model of vrfm_link_down(), under the write lock: runs in the window are missed. */
	d_step {
		!order;
		up = false;
#ifndef NOT_MISSED
		n = acked + 1;
		do
		:: n <= opened -> missed = missed | slot[n % SLOTS]; n++
		:: else -> break
		od;
		n = 0
#endif
	}
	timeout;
	G8 = ((has | missed) == written);
	assert(G8)
}

init
{
	atomic { run writer(); run cable() }
}
