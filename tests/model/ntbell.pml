/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One ring: its indexes, doorbells and room, ntrdma/ring.c and the rules of its users.
 *
 * A producer sends frames of one or NEED cells, and stops at any time. A
 * consumer takes cells and gives them back. Each side's stores and doorbells
 * pass through a FIFO, in order, and reach the other side at any time later.
 * The FIFO models the store buffer of a processor, or posted writes of an NTB.
 * virt_mb() waits until the FIFO of the calling side is empty.
 *
 * COHERENT memory: each side writes to a word (bell or room) whether it sleeps,
 * and its peer reads this word. A doorbell is remembered if it arrives after
 * the side has begun to arm, until the side wakes.
 *
 * NTB: nothing depends on such a word. The producer always rings. A side clears
 * and unmasks its doorbell by posted writes, and reads a register of the bridge,
 * which waits for them, before it reads the peer's index again. The consumer
 * rings at the end of a poll if it has freed more than CELLS - NEED since it
 * last rang. A frame with its padding may need more than half of the smallest
 * ring, so to ring after half of the ring would be too late. It never needs
 * more than three quarters, so to ring after a quarter is soon enough.
 *
 * Indexes count modulo WRAP, so the search covers any number of frames.
 *
 * N4: when nothing moves any more, the consumer has taken all cells.
 * N5: when nothing moves any more, the producer does not wait for room.
 *
 * variant NO_MB_SLEEP N4: COHERENT: no virt_mb() between bell and the second look at prod
 * variant NO_MB_BELL N4: COHERENT: no virt_mb() between prod and the look at bell
 * variant NO_MB_WAIT N5: COHERENT: no virt_mb() between room and the second look at cons
 * variant NO_MB_ROOM N5: COHERENT: no virt_mb() between cons and the look at room
 * variant NO_SECOND_PROD N4: COHERENT: the consumer does not look again after it has written bell
 * variant NO_SECOND_CONS N5: COHERENT: the producer does not look again after it has written room
 * variant BELL_BEHIND N4: COHERENT: the producer rings if bell lies in (old, new]
 * variant NO_UNMASK_LOOK N4: NTB: the consumer does not look again after it has unmasked its doorbell
 * variant NO_READ_BACK N4: NTB: the consumer does not wait until its doorbell is cleared
 * variant NO_WAIT_LOOK N5: NTB: the producer does not look again after it has cleared its doorbell
 * variant BELL_AHEAD N4: NTB: the producer rings before it writes prod
 * variant MORE_THAN_HALF N5: NTB: the consumer rings if it has freed more than half of the ring
 * variant MORE_THAN_RING N5: NTB: the consumer rings if it has freed more than the whole ring
 */
#include "model.h"

#define CELLS 4
#define NEED 3
#define WRAP 8
#define MASK(index) ((index) & (WRAP - 1))
#define DIFF(a, b) MASK((a) + WRAP - (b))

mtype = { PROD, CONS, BELL, ROOM, RING, CLEAR };

/* Words as the reader of each sees them, and doorbells that have arrived. */
byte prod, cons, bell;
bool room;
bool rung_producer, rung_consumer;

/* Stores and doorbells that are not visible to the other side. */
chan producer_fifo = [2] of { mtype, byte };
chan consumer_fifo = [2] of { mtype, byte };

bool ntb;
bool waits;			/* the producer waits for a doorbell */
byte index;			/* cells before it are taken */

#define virt_mb(fifo) (len(fifo) == 0)

/* Model of ntrdma_ring_must_bell() */
#ifdef BELL_BEHIND
#define MUST_BELL (DIFF(seen_bell, from) > 0 && DIFF(seen_bell, from) <= DIFF(to, from))
#else
#define MUST_BELL (DIFF(seen_bell, from) < DIFF(to, from))
#endif

#if defined(MORE_THAN_HALF)
#define MUST_RING_ROOM (freed > CELLS / 2)
#elif defined(MORE_THAN_RING)
#define MUST_RING_ROOM (freed > CELLS)
#else
#define MUST_RING_ROOM (freed > CELLS - NEED)
#endif

proctype producer_stores()
{
	byte x;

end:	do
	:: atomic { producer_fifo?PROD, x -> prod = x; x = 0 }
	:: atomic { producer_fifo?ROOM, x -> room = x; x = 0 }
	:: atomic { producer_fifo?RING, x -> rung_consumer = true; x = 0 }
	od
}

proctype consumer_stores()
{
	byte x;

end:	do
	:: atomic { consumer_fifo?CONS, x -> cons = x; x = 0 }
	:: atomic { consumer_fifo?BELL, x -> bell = x; x = 0 }
	:: atomic { consumer_fifo?RING, x -> rung_producer = true; x = 0 }
	:: atomic { consumer_fifo?CLEAR, x -> rung_consumer = false; x = 0 }
	od
}

#define HAS_ROOM (need <= CELLS - DIFF(from, seen_cons))

proctype producer()
{
	byte from, to, need, seen_cons, seen_bell;

	do
	:: true -> break
	:: true ->
		if
		:: need = 1
		:: need = NEED
		fi;
		/* Wait for room. */
		do
		:: HAS_ROOM -> break
		:: else ->
			rung_producer = false;
			if
			:: !ntb ->
				producer_fifo!ROOM, 1;
#ifndef NO_MB_WAIT
				virt_mb(producer_fifo);
#endif
			:: else
			fi;
#if defined(NO_SECOND_CONS)
			if
			:: ntb -> seen_cons = cons
			:: else
			fi;
#elif defined(NO_WAIT_LOOK)
			if
			:: !ntb -> seen_cons = cons
			:: else
			fi;
#else
			seen_cons = cons;
#endif
			if
			:: HAS_ROOM
			:: else ->
				waits = true;
end_wait:			d_step { rung_producer -> waits = false; seen_cons = cons }
			fi;
			if
			:: !ntb && HAS_ROOM -> producer_fifo!ROOM, 0
			:: else
			fi
		od;
		/* Publish the frame. */
		to = MASK(from + need);
#ifdef BELL_AHEAD
		if
		:: ntb -> producer_fifo!RING, 0
		:: else
		fi;
#endif
		producer_fifo!PROD, to;
		if
		:: !ntb ->
#ifndef NO_MB_BELL
			virt_mb(producer_fifo);
#endif
			seen_bell = bell;
			if
			:: MUST_BELL -> producer_fifo!RING, 0
			:: else
			fi
		:: else ->
#ifdef BELL_AHEAD
			skip
#else
			producer_fifo!RING, 0
#endif
		fi;
		d_step { from = to; to = 0; need = 0; seen_bell = 0 }
	od
}

proctype consumer()
{
	byte seen_prod, freed;

end:	do
	:: seen_prod != index ->
		/* A poll takes all cells that it has seen. */
		d_step {
			freed = freed + DIFF(seen_prod, index);
			index = seen_prod
		};
		consumer_fifo!CONS, index;
		if
		:: !ntb ->
#ifndef NO_MB_ROOM
			virt_mb(consumer_fifo);
#endif
			freed = 0;
			if
			:: room -> consumer_fifo!RING, 0
			:: else
			fi
		:: else ->
			if
			:: MUST_RING_ROOM ->
				freed = 0;
				consumer_fifo!RING, 0
			:: else
			fi
		fi;
		seen_prod = prod
	:: else ->
		/* Arm the doorbell. */
		if
		:: !ntb ->
			rung_consumer = false;
			consumer_fifo!BELL, index;
#ifndef NO_MB_SLEEP
			virt_mb(consumer_fifo);
#endif
		:: else ->
			consumer_fifo!CLEAR, 0;
#ifndef NO_READ_BACK
			virt_mb(consumer_fifo);
#endif
		fi;
#if defined(NO_SECOND_PROD)
		if
		:: ntb -> seen_prod = prod
		:: else
		fi;
#elif defined(NO_UNMASK_LOOK)
		if
		:: !ntb -> seen_prod = prod
		:: else
		fi;
#else
		seen_prod = prod;
#endif
		if
		:: seen_prod != index
		:: else ->
end_sleep:		d_step { rung_consumer -> rung_consumer = false; seen_prod = prod }
		fi
	od
}

init
{
	/*
	 * Search both kinds of memory, first the kind that the variant
	 * concerns.
	 */
	if
#if defined(NO_UNMASK_LOOK) || defined(NO_READ_BACK) || defined(NO_WAIT_LOOK) || defined(BELL_AHEAD) || \
	defined(MORE_THAN_HALF) || defined(MORE_THAN_RING)
	:: ntb = true
	:: ntb = false
#else
	:: ntb = false
	:: ntb = true
#endif
	fi;
	atomic { run producer_stores(); run consumer_stores(); run producer(); run consumer() };
	timeout;
	N4 = (prod == index);
	assert(N4);
	N5 = !waits;
	assert(N5)
}
