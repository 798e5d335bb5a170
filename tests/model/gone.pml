/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A writer has departed, and each node has received a different part of its writes.
 * This is a simple model of vrfm/resync.c and vrfm/history.c.
 *
 * Each node has a record of its image for each life (id and epoch) of the
 * writer. The record has the state of the link, READY or not, and the serial of
 * the last update. The record also tells whether the image may have a part of
 * another update (DIRECT). If state, serial and DIRECT do not determine the
 * image, the record has the id of a node as well. Without the id, images with
 * equal records could differ. Records are ordered, first by the last life of
 * the writer.
 *
 * A node completes its record when its link to the writer is down. The node
 * sends the record when the record changes, and when a link comes up. A node
 * that receives a higher record loads the image of the sender, and adopts the
 * record. Nodes that were never linked with the writer, such as the writer's
 * own next life, do the same.
 *
 * Two nodes are survivors, which were linked with the writer. The third one is
 * a survivor or a newcomer, which was not. The writer wrote up to serial 2. In
 * another life, which has also ended, it wrote other words, and some nodes have
 * not seen that life. MIXED is the image of a node whose link was not READY.
 * PART is the image of a node that received only the first messages of a write.
 * Neither image was ever the content of the writer's memory, and no other node
 * has the same image.
 *
 * G8: at the end all nodes have the image of the node with the highest record.
 *
 * variant AT_DROP G8: records are sent when the link of the writer goes down, not when links come up
 * variant ONCE G8: a node decides once, after the records of all linked nodes (an earlier design)
 * variant ONCE_NOT_ALL G8: a node decides once, after the first record
 * variant UNDRAINED G8: a record is sent while messages of the writer may still be applied
 * variant NEXT_LIFE G8: a node that is linked with the writer's next life does not load (an earlier design)
 * variant NEWCOMER_APART G8: a newcomer loads an image once, without a record
 * variant LOWEST_ID G8: the lowest id decides
 * variant LAST_LIFE G8: a record has the last life only (an earlier design)
 * variant LIVES_APART G8: records of different lives are not compared (an earlier design)
 * variant SYNCED_IGNORED G8: the highest serial decides, READY or not
 * variant PART_UNSAID G8: a record does not tell a part of a write from none of it (an earlier design)
 * variant WHOSE_UNSAID G8: records have no id to distinguish images
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
bool told[NODES * NODES];	/* A has received the current record of B */
byte heard[NODES * NODES];	/* the record of B that A has received; 0: none */
byte serial[NODES];
byte second[NODES], mem2[NODES];	/* record and words of the writer's other life; 0 if the node has not seen it */
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
	/* Apply an update of the writer; this stops when the link to the writer is down. */
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
	/* The writer's next life is linked with this node, whose link to the former life is down. */
	:: d_step { down[i] && newcomer && i != 2 && !again[i] -> again[i] = true }
	:: d_step { link[AT(i, 0)] && record[0] && !told[AT(i, 0)] -> told[AT(i, 0)] = true; heard[AT(i, 0)] = record[0] }
	:: d_step { link[AT(i, 1)] && record[1] && !told[AT(i, 1)] -> told[AT(i, 1)] = true; heard[AT(i, 1)] = record[1] }
	:: d_step { link[AT(i, 2)] && record[2] && !told[AT(i, 2)] -> told[AT(i, 2)] = true; heard[AT(i, 2)] = record[2] }
	/* Begin to load an image. CAN_LOAD() excludes a donor that is loading itself. */
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
	/* Only node 0 may have a part of a write. One such node is enough, and the search is quicker. */
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
