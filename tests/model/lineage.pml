/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two images meet: who loads from whom?
 *
 * An image has an age, which grows. The younger loads, and of two of one age
 * that of the lower id. Both compare what was said when they were linked: the
 * age that node 0 said when it called, and the one that node 1 answered. Then
 * the older takes what it has not got: words that are zero.
 *
 * G8: one loads and not both, at the end the images are equal, and a word that
 * somebody had, of a writer that is gone, is in them.
 *
 * variant OWN_AGE_NOW G8: each compares its own age of now with what the other one said (the design until now)
 * variant ZEROES_LOADED G8: the younger takes zeroes for what it has (the design until now)
 * variant ONE_WAY G8: the older does not take what it has not got
 */
#include "model.h"

#define NOW 3
#define NOBODY 2

byte now;
byte age[2];			/* at the beginning */
byte word[2];			/* of one who is gone; 0: never heard of */
bool had;
byte loads = NOBODY, second;	/* who loads first, and how many thought so */
chan to[2] = [1] of { byte };	/* ages */
byte done;

#define AGE(i) (age[i] + now)

active proctype clock()
{
	do
	:: now < NOW -> now++
	:: break
	od
}

/* Is node I the younger one? */
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

	/* The caller says it in its request, the other one in its answer. */
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
