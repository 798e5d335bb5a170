/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A writer is gone, and some have more of what it wrote than others: vrfm/load.c
 * and vrfm/past.c, made simpler.
 *
 * Each node has a record of how far its image has each life (id and epoch) of
 * the writer: was it READY, the serial of the last update, may there be a part of
 * one more (DIRECT); and, unless that is sure, who says so, to tell apart what is
 * not equal. Records are ordered by that, of the last life first. A record
 * is complete when the own link is down (rule 7). Nodes tell their record when it
 * changes and when a link between them comes up. Who hears of a better one loads
 * from there, and takes the record with the image: also one who never met that
 * writer, such as its own next life.
 *
 * Two nodes are survivors, the third is one, too, or a newcomer. G wrote up to
 * serial 2, and in another life, that is over, too, and that not all have met,
 * other words. MIXED is what a node has whose link was not READY, and PART what
 * one has that got the first messages of a write: neither of what G's memory was
 * at one time, nor what another one has.
 *
 * G8: at the end all have the same, and that is what the best of them had: who
 * was there last, was READY, and has seen most.
 *
 * variant AT_DROP G8: records are told when the writer's link goes down, and not when others come up
 * variant ONCE G8: who has heard of all that are linked decides, and never again (the design until now)
 * variant ONCE_NOT_ALL G8: who has heard of one decides, and never again
 * variant UNDRAINED G8: the record is told while messages of the writer's may still be applied
 * variant NEXT_LIFE G8: who is linked with the writer's next life does nothing (the design until now)
 * variant NEWCOMER_APART G8: who never met the writer loads an image once, without a record
 * variant LOWEST_ID G8: the reference is the lowest id
 * variant LAST_LIFE G8: a record is of the last life only (the design until now)
 * variant LIVES_APART G8: records of two lives are not compared (the same)
 * variant SYNCED_IGNORED G8: the reference is the highest serial, READY or not
 * variant PART_UNSAID G8: who has a part of a write says what he says who has none of it (the design until now)
 * variant WHOSE_UNSAID G8: nobody says whose memory it is
 */
#include "model.h"

#define NODES 3
#define LAST 2
#define MIXED(i) (7 + (i))
#define PART(i) (10 + (i))
#define AT(a, b) ((a) * NODES + (b))

byte mem[NODES], record[NODES];
bool synced[NODES], part[NODES], down[NODES], newcomer, loading[NODES], again[NODES], decided[NODES];
bool link[NODES * NODES];
bool told[NODES * NODES];	/* to A of B: it need not be told */
byte heard[NODES * NODES];	/* what A knows of B's record; 0: nothing */
byte serial[NODES];
byte second[NODES], mem2[NODES];	/* of the other life; 0: never met */
byte best, best2, top;

#if defined(PART_UNSAID)
#define SAYS_PART(i) 0
#else
#define SAYS_PART(i) part[i]
#endif

#if defined(WHOSE_UNSAID)
#define WHOSE(i) 0
#else
#define WHOSE(i) (synced[i] && !SAYS_PART(i) -> 0 : NODES - 1 - (i))
#endif

#define SEEN(i) (serial[i] * 2 + SAYS_PART(i))
#define LIVES 64
#define FIRST(i) (1 + synced[i] * 18 + SEEN(i) * NODES + WHOSE(i))
#define RIGHT(i) (second[i] * LIVES + FIRST(i))

#if defined(LOWEST_ID)
#define RECORD(i) (1 + NODES - (i))
#elif defined(SYNCED_IGNORED)
#define RECORD(i) (second[i] * LIVES + 1 + SEEN(i) * NODES + NODES - 1 - (i))
#elif defined(LAST_LIFE)
#define RECORD(i) (second[i] -> second[i] * LIVES : FIRST(i))
#else
#define RECORD(i) RIGHT(i)
#endif

inline tell(i, j)
{
	j = 0;
	do
	:: j < NODES ->
		told[AT(j, i)] = false;
#ifdef AT_DROP
		if
		:: !link[AT(j, i)] -> told[AT(j, i)] = true
		:: else
		fi;
#endif
		j++
	:: else -> break
	od;
	j = 0
}

#if defined(ONCE)
#define MAY_LOAD(i, j) (!decided[i] && heard[AT(i, j)] > record[i] && \
	(!link[AT(i, 0)] || heard[AT(i, 0)] || i == 0) && (!link[AT(i, 1)] || heard[AT(i, 1)] || i == 1) && \
	(!link[AT(i, 2)] || heard[AT(i, 2)] || i == 2) && \
	heard[AT(i, j)] >= heard[AT(i, 0)] && heard[AT(i, j)] >= heard[AT(i, 1)] && heard[AT(i, j)] >= heard[AT(i, 2)])
#elif defined(ONCE_NOT_ALL)
#define MAY_LOAD(i, j) (!decided[i] && heard[AT(i, j)] > record[i])
#elif defined(NEXT_LIFE)
#define MAY_LOAD(i, j) (!again[i] && heard[AT(i, j)] > record[i])
#elif defined(NEWCOMER_APART)
#define MAY_LOAD(i, j) (heard[AT(i, j)] > record[i] && !(newcomer && i == 2 && decided[i]))
#elif defined(LIVES_APART)
#define MAY_LOAD(i, j) (heard[AT(i, j)] > record[i] && (!record[i] || heard[AT(i, j)] / LIVES == record[i] / LIVES))
#else
#define MAY_LOAD(i, j) (heard[AT(i, j)] > record[i])
#endif

#define CAN_LOAD(i, j) (down[i] && !loading[i] && link[AT(i, j)] && !loading[j] && MAY_LOAD(i, j))

proctype node(byte i)
{
	byte j, from, taken;

end:	do
	/* What was on its way is applied before the link is down. */
#ifdef UNDRAINED
	:: d_step { !(newcomer && i == 2) && synced[i] && serial[i] < LAST && !loading[i] && !decided[i] ->
#else
	:: d_step { !down[i] && synced[i] && serial[i] < LAST ->
#endif
		serial[i]++;
		part[i] = false;
		mem[i] = serial[i]
	   }
	:: d_step { !down[i] ->
		down[i] = true;
		record[i] = RECORD(i);
		if
		:: RIGHT(i) > top -> top = RIGHT(i); best = mem[i]; best2 = mem2[i]
		:: else
		fi;
		tell(i, j)
	   }
	/* Its next life links with those that have noticed. */
	:: d_step { down[i] && newcomer && i != 2 && !again[i] -> again[i] = true }
	:: d_step { link[AT(i, 0)] && record[0] && !told[AT(i, 0)] -> told[AT(i, 0)] = true; heard[AT(i, 0)] = record[0] }
	:: d_step { link[AT(i, 1)] && record[1] && !told[AT(i, 1)] -> told[AT(i, 1)] = true; heard[AT(i, 1)] = record[1] }
	:: d_step { link[AT(i, 2)] && record[2] && !told[AT(i, 2)] -> told[AT(i, 2)] = true; heard[AT(i, 2)] = record[2] }
	/* LOAD: not from one who is loading. */
	:: d_step { CAN_LOAD(i, 0) -> loading[i] = true; from = 0; taken = heard[AT(i, 0)] }
	:: d_step { CAN_LOAD(i, 1) -> loading[i] = true; from = 1; taken = heard[AT(i, 1)] }
	:: d_step { CAN_LOAD(i, 2) -> loading[i] = true; from = 2; taken = heard[AT(i, 2)] }
	:: d_step { loading[i] ->
		mem[i] = mem[from];
		mem2[i] = mem2[from];
		loading[i] = false;
		decided[i] = true;
		record[i] = taken;
		taken = 0;
		from = 0;
		tell(i, j)
	   }
	od
}

inline up(a, b)
{
	d_step {
		link[AT(a, b)] = true;
		link[AT(b, a)] = true;
#ifndef AT_DROP
		told[AT(a, b)] = false;
		told[AT(b, a)] = false
#endif
	}
}

inline begin(i)
{
	if
	/* One of them is enough, and takes less time. */
	:: i == 0 -> synced[i] = true; serial[i] = 1; part[i] = true; mem[i] = PART(i)
	:: synced[i] = true; serial[i] = 0; mem[i] = 0
	:: synced[i] = true; serial[i] = 1; mem[i] = 1
	:: synced[i] = false; serial[i] = 0; mem[i] = MIXED(i)
	:: synced[i] = false; serial[i] = 2; mem[i] = MIXED(i)
	fi;
	if
	:: skip
	:: second[i] = 1
	fi;
	mem2[i] = second[i]
}

init
{
	atomic {
		begin(0);
		begin(1);
		if
		:: begin(2)
		:: newcomer = true; down[2] = true
		fi;
		if
		:: up(0, 1)
		:: skip
		fi;
		if
		:: up(0, 2)
		:: skip
		fi;
		if
		:: up(1, 2)
		:: skip
		fi;
		run node(0);
		run node(1);
		run node(2)
	}
	if
	:: !link[AT(0, 1)] -> up(0, 1)
	:: else
	fi;
	if
	:: !link[AT(0, 2)] -> up(0, 2)
	:: else
	fi;
	if
	:: !link[AT(1, 2)] -> up(1, 2)
	:: else
	fi;
	timeout;
	G8 = (mem[0] == mem[1] && mem[1] == mem[2] && mem2[0] == mem2[1] && mem2[1] == mem2[2]);
	assert(G8);
	G8 = (mem[0] == best && mem2[0] == best2);
	assert(G8)
}
