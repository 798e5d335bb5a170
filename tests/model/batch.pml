/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Batches of node A on a link to node B: vrfm/batch.c, link_ops.c and write.c.
 *
 * Two programs of A execute batches. A batch writes data and a counter, and then
 * sends an event. Batch N writes the number N into both words. Each operation
 * needs a message of its own, which is the worst case: a batch of more than 16
 * KiB. The link is cut once. Then, or if B is slow, B misses whole batches, and
 * catches up.
 *
 * A message has the number of the last batch of which B has all bytes. PART: B
 * also has bytes of a later batch. If A departs, the nodes that were linked with
 * it compare these two values, and count as equal if the values are equal (gone.pml).
 *
 * BA: no other write of A comes between the operations of a batch.
 * G2: a node that has received SYNCED never has a counter without its data.
 * G3: a node that receives an event has the writes that precede it in the batch.
 * G8: number and PART determine the memory of B; at the end B has what A wrote.
 * G9: a link queues no more messages than the window has slots.
 *
 * variant SPLIT BA: the order is released between the operations of a batch
 * variant ROOM_FIRST G9: a batch finds room for its first operation only
 * variant ROOM_EACH G3: each operation finds room for itself, and words without room are missed
 * variant REVERSED G2: the writes of a batch are sent in the reverse order
 * variant EVENT_AHEAD G3: the event of a batch is sent before its writes
 * variant NUMBERED_EARLY G8: all messages of a batch have its number
 * variant PART_UNSAID G8: the message with the first bytes of a batch has the number before it, without PART
 */
#include "model.h"

#define WINDOW 4
#define NEED 3			/* number of messages of a batch */
#define BATCHES 4		/* number of batches of both programs */

mtype = { UPDATE, EVENT, PROBE };
mtype = { DOWN, SYNCING, READY };

/* State of node A */
byte mem[2];
byte missed;			/* bit mask of words */
mtype state = SYNCING;
byte serial;			/* number of the last batch */
bool order;
byte sent;			/* number of messages that are not acknowledged */
#define FREE (WINDOW - sent)

/*
 * wire: messages that B has not applied: type, word, value, SYNCED, number, PART. There is more room than a window has, so
 * that G9 can fail. unheard: number of messages that B has applied, and whose acknowledgement A has not received.
 */
chan wire = [8] of { mtype, byte, byte, bool, byte, bool };
byte unheard;

/* State of node B */
byte b_mem[2];
bool b_up = true;

inline send(type, x, y, number, part)
{
	d_step {
		wire!type, x, y, (state == READY), number, part;
		sent++;
		G9 = (sent <= WINDOW);
		assert(G9)
	}
}

#if defined(ROOM_FIRST)
#define ROOM (FREE > 0)
#elif defined(ROOM_EACH)
#define ROOM true
#else
#define ROOM (FREE >= NEED)
#endif

#ifdef ROOM_EACH
#define FITS (state == READY && FREE > 0)
#else
#define FITS (state == READY)
#endif

/* The messages before the one with the last bytes have the number of the previous batch. */
#ifdef NUMBERED_EARLY
#define NUMBER(word, n) n
#define PART(word) false
#else
#define NUMBER(word, n) n - 1 + word
#ifdef PART_UNSAID
#define PART(word) false
#else
#define PART(word) (word == 0)
#endif
#endif

/* Model of vrfm_batch_store() and vrfm_link_ops() for a write. */
inline operation(word, n)
{
	atomic {
		mem[word] = n;
		#ifndef REVERSED
		BA = (word == 0 || mem[0] == n);
		assert(BA);
#endif
		if
		:: FITS -> send(UPDATE, word, n, NUMBER(word, n), PART(word))
		:: else -> missed = missed | (1 << word)
		fi
	}
#ifdef SPLIT
	order = false;
	atomic { !order && (state != READY || ROOM) -> order = true };
#endif
}

/* Model of vrfm_link_event_locked() for an event of a batch. A link that is not READY has no room at times. */
inline tell(n)
{
	atomic {
		if
		:: state != DOWN && FREE > 0 -> send(EVENT, 0, n, n, false)
		:: else
		fi
	}
}

/* Model of vrfm_batch_execute(). If the window has no room for the batch, B is overloaded, and misses all its words. */
active [2] proctype program()
{
	byte n;

	do
	:: atomic {
		!order && serial < BATCHES ->
		order = true;
		serial++;
		n = serial;
		if
		:: state == READY && !(ROOM) -> state = SYNCING
		:: else
		fi
	   };
#ifdef EVENT_AHEAD
		tell(n);
#endif
#ifdef REVERSED
		operation(1, n);
		operation(0, n);
#else
		operation(0, n);
		operation(1, n);
#endif
#ifndef EVENT_AHEAD
		tell(n);
#endif
		d_step { order = false; n = 0 }
	:: atomic { serial == BATCHES -> break }
	od
}

/* Model of vrfm_catchup_work() and vrfm_catchup_finish(): send missed words, and make the link READY. */
active proctype sweeper()
{
	byte word;

end:	do
	:: atomic {
		!order && state == SYNCING && missed && FREE > 1 ->
		if
		:: missed & 1 -> word = 0
		:: missed & 2 -> word = 1
		fi;
		missed = missed & ~(1 << word);
		send(UPDATE, word, mem[word], serial, false);
		word = 0
	   }
	:: atomic {
		!order && state == SYNCING && !missed && FREE > 0 ->
		state = READY;
		send(PROBE, 0, 0, serial, false)
	   }
	od
}

/* Model of vrfm_rx_message() at A: an acknowledgement frees a slot of the window. */
active proctype acknowledged()
{
end:	do
	:: d_step { state != DOWN && unheard > 0 -> unheard--; sent-- }
	od
}

/* Model of vrfm_rx_body() at B. */
active proctype receiver()
{
	mtype type;
	byte x, y, number;
	bool synced, part;

end:	do
	:: d_step {
		b_up && nempty(wire) ->
		wire?type, x, y, synced, number, part;
		unheard++;
		if
		:: type == UPDATE -> b_mem[x] = y
		:: else
		fi;
		G3 = (type != EVENT || !synced || (b_mem[0] >= y && b_mem[1] >= y));
		assert(G3);
		G2 = (!synced || b_mem[1] <= b_mem[0]);
		assert(G2);
#ifndef SPLIT
		G8 = (!synced || part || (b_mem[0] == number && b_mem[1] == number));
		assert(G8);
#endif
		x = 0; y = 0; number = 0; synced = false; part = false
	   }
	od
}

/* Cut the link at any time, and connect it again. Words in flight become missed (vrfm_link_down()). */
active proctype cable()
{
	if
	:: atomic {
		!order;
		state = DOWN;
		b_up = false;
		/* The words of all messages that are not acknowledged are missed, also those that B has applied. */
		if
		:: sent -> missed = 3
		:: else
		fi;
		do
		:: nempty(wire) -> wire?_, _, _, _, _, _
		:: empty(wire) -> break
		od;
		unheard = 0;
		sent = 0
	   };
	   atomic {
		!order;
		b_up = true;
		state = SYNCING
	   }
	:: skip
	fi;
	timeout;
	G8 = (state == READY && b_mem[0] == mem[0] && b_mem[1] == mem[1]);
	assert(G8)
}
