/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two nodes with different images are linked, and choose the node that loads.
 *
 * An image has an age, which grows. The node with the younger image loads. If the
 * ages are equal, the node with the lower id loads. Both nodes compare the ages
 * that they exchanged when they were linked: node 0 sends its age in the connect
 * request, node 1 in the answer. After the load, the older image takes words of the
 * other node in place of its own zeroes.
 *
 * G8: only one node loads, at the end the images are equal, and they have the word
 * of a departed writer if one of them had it.
 *
 * variant OWN_AGE_NOW G8: a node compares its present age with the age that was sent (an earlier design)
 * variant ZEROES_LOADED G8: the younger image takes zeroes in place of its words (an earlier design)
 * variant ONE_WAY G8: the older image takes no words in place of its zeroes
 */
#include "model.h"

#define NOW 3
#define NOBODY 2

byte now;
byte age[2];			/* ages at the beginning */
byte word[2];			/* word of a departed writer; 0 if the node has not received it */
bool had;
byte loads = NOBODY, second;	/* id of the node that loads, and number of nodes that decided to load */
chan to[2] = [1] of { byte };	/* to[1] carries the age of node 0, to[0] that of node 1 */
byte done;

#define AGE(i) (age[i] + now)

active proctype clock()
{
	do
	:: now < NOW -> now++
	:: break
	od
}

/* Does node I have the younger image? MINE and OTHERS are the ages of both images. */
#define YOUNGER(i, mine, others) ((mine) < (others) || ((mine) == (others) && (i) == 0))

inline decide(i, mine, others)
{
	d_step {
		if
		:: YOUNGER(i, mine, others) -> loads = i; second++
		:: else
		fi;
		done++
	}
}

proctype node(byte i)
{
	byte mine, others;

	/* Node 0 sends its age in the request, node 1 in the answer. */
	if
	:: i == 0 -> d_step { mine = AGE(0); to[1]!mine }; to[0]?others
	:: else -> to[1]?others; d_step { mine = AGE(1); to[0]!mine }
	fi;
#ifdef OWN_AGE_NOW
	decide(i, AGE(i), others)
#else
	decide(i, mine, others)
#endif
}

init
{
	byte older;

	atomic {
		if
		:: age[0] = 0
		:: age[0] = 1
		fi;
		if
		:: age[1] = 0
		:: age[1] = 1
		fi;
		if
		:: word[0] = 0
		:: word[0] = 7; had = true
		fi;
		if
		:: word[1] = 0
		:: word[1] = 8; had = true
		fi;
		run node(0);
		run node(1)
	}
	done == 2;
	G8 = (second == 1);
	assert(G8);
	older = 1 - loads;
	if
#ifndef ZEROES_LOADED
	:: word[older] == 0
#endif
	:: else -> word[loads] = word[older]
	fi;
#ifndef ONE_WAY
	if
	:: word[older] == 0 -> word[older] = word[loads]
	:: else
	fi;
#endif
	G8 = (word[0] == word[1] && (word[0] || !had));
	assert(G8)
}
