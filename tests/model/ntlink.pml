/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The session of two members of a fabric: ntrdma/session.c.
 *
 * Each side writes the words of its page one after the other into the inbox of its
 * peer, and reads the words of the peer's page one after the other. A life of a side
 * is the time from one ntrdma_session_begin() to the next. A number, a hello, an
 * index and a frame are modelled by the life that wrote them; only SAME() compares
 * numbers as the sides do.
 *
 * At most TROUBLES times a side crashes at any step, or finds its peer silent because
 * the peer paused for longer than dead_ms, or its words are lost for a while. With a
 * crash of a side, all words in its inbox may be lost.
 *
 * In each session a side sends one frame. The memory of the ring is not reset between
 * sessions, and the seal of a frame has the number of its receiver.
 *
 * N1: a frame is taken only by the life for which it was made. If no word was lost, an
 * index or a frame is only used in the session of the two lives for which it was made.
 * N2: after the last trouble both sides come UP with each other, and no side begins
 * sessions without end.
 * N3: if no word was lost, a side that is UP uses the sizes that the accepted life of
 * its peer offers.
 *
 * variant MY_FIRST N1: the number is published before the other words are reset
 * variant UP_ALONE N1: a side is UP as soon as it has accepted the peer, without the acceptance by the peer
 * variant SAME_MY N1: a side uses the same number again
 * variant NO_SEAL N1: a frame has no seal, so after lost words an old index shows old frames
 * variant NO_SECOND N3: the number is not read again after the other words
 * variant NO_FIRST N3: the number is not read before the other words
 * variant YOURS_AHEAD N2: the word yours is read before the number, and sides end each other's sessions
 * variant YOURS_ONLY N2: a side that accepts its peer writes yours only, not the whole page before it
 * variant HELLO_ONCE N2: a side in HELLO does not write its page again
 * variant UP_ONCE N2: a side that is UP does not write its page again
 */
#include "model.h"

#define TROUBLES 2
#define LIVES 5

#ifdef SAME_MY
#define NUMBER(life) ((life) != 0)
#else
#define NUMBER(life) (life)
#endif
#define SAME(a, b) (NUMBER(a) == NUMBER(b))

mtype = { OFF, HELLO, UP, LOSS };

/* The page of each side, in the inbox of its peer. An index of 0 is a ring without frames. */
byte my[2], hello[2], yours[2], prod_from[2], prod_for[2];
/* The first frame in the ring behind the page. */
byte frame_from[2], frame_for[2];

/* struct ntrdma_session of each side, with the life in which it is */
mtype state[2] = OFF;
byte life[2], accepted[2], terms[2];
bool sent[2], taken[2];

byte troubles;
bool crash[2], cut[2], lost, calm;

/* The peer of side I. */
#define p (1 - i)

/* Write a word of the own page. */
inline put(word, value)
{
	d_step {
		if
		:: cut[i] -> lost = true
		:: else -> word = value
		fi
	}
}

inline put_ring()
{
	d_step {
		if
		:: cut[i] -> lost = true
		:: else -> prod_for[i] = 0; prod_from[i] = 0
		fi
	}
}

/* Has the peer accepted this side? */
#ifdef UP_ALONE
#define ACCEPTS(y) true
#else
#define ACCEPTS(y) SAME(y, life[i])
#endif

/* Would a look at the peer's page change anything? */
#define NEWS_HELLO	(state[i] == HELLO && my[p] && \
			 (!SAME(my[p], accepted[i]) || ACCEPTS(yours[p]) || hello[p] != terms[i]))
#define NEWS_UP		(state[i] == UP && (!SAME(my[p], accepted[i]) || !ACCEPTS(yours[p])))
#define STALE_PAGE	(my[i] != life[i] || hello[i] != life[i] || yours[i] != accepted[i])
#define STALE_RING	(state[i] == HELLO && prod_for[i])

#if defined(HELLO_ONCE)
#define WRITES_AGAIN	(state[i] == UP)
#elif defined(UP_ONCE)
#define WRITES_AGAIN	(state[i] == HELLO)
#else
#define WRITES_AGAIN	(state[i] == HELLO || state[i] == UP)
#endif

#if defined(NO_SECOND)
#define WHOLE		(m)
#elif defined(NO_FIRST)
#define WHOLE		(n)
#else
#define WHOLE		(m && SAME(m, n))
#endif

/* ntrdma_session_look(): M and N are the numbers before and after the other words */
inline decide()
{
	d_step {
		n = my[p];
#ifdef NO_FIRST
		m = n;
#endif
		if
		:: state[i] == HELLO && WHOLE ->
			act = true;
			accepted[i] = m;
			terms[i] = h;
			if
			:: ACCEPTS(y) ->
				state[i] = UP;
				N3 = (lost || terms[i] == accepted[i]);
				assert(N3)
			:: else
			fi
		:: state[i] == UP && (!SAME(n, accepted[i]) || !ACCEPTS(y)) -> state[i] = LOSS
		:: else
		fi;
		m = 0; n = 0; h = 0; y = 0
	}
}

proctype side(byte i)
{
	byte m, n, h, y;
	bool act;

again:	{
		/* ntrdma_session_begin() */
		d_step {
#ifdef UP_ALONE
			life[i] < LIVES;
#else
			N2 = (life[i] < LIVES);
			assert(N2);
#endif
			life[i]++;
			accepted[i] = 0;
			terms[i] = 0;
			sent[i] = false;
			taken[i] = false;
			act = false;
			m = 0; h = 0; y = 0;
			if
			:: cut[i] -> lost = true
			:: else -> my[i] = 0
			fi
		};
#ifdef MY_FIRST
		put(hello[i], life[i]);
		put(my[i], life[i]);
#endif
		put(yours[i], 0);
		put_ring();
#ifndef MY_FIRST
		put(hello[i], life[i]);
		put(my[i], life[i]);
#endif
		state[i] = HELLO;

end:		do
		/* ntrdma_session_look() */
		:: NEWS_HELLO || NEWS_UP ->
#ifdef YOURS_AHEAD
			y = yours[p];
#endif
			m = my[p];
			h = hello[p];
#ifndef YOURS_AHEAD
			y = yours[p];
#endif
			decide();
			if
			:: state[i] == LOSS -> goto again
			:: act ->
#ifndef YOURS_ONLY
				put_ring();
				put(hello[i], life[i]);
				put(my[i], life[i]);
#endif
				put(yours[i], accepted[i]);
				act = false
			:: else
			fi
		/* the page is written again at each tick */
		:: WRITES_AGAIN && (STALE_PAGE || STALE_RING) && !cut[i] ->
			if
			:: state[i] == HELLO -> put_ring()
			:: else
			fi;
			put(hello[i], life[i]);
			put(my[i], life[i]);
			put(yours[i], accepted[i])
		/* a frame is sent */
		:: state[i] == UP && !sent[i] ->
			d_step {
				sent[i] = true;
				if
				:: cut[i] -> lost = true
				:: else -> frame_for[i] = accepted[i]; frame_from[i] = life[i]
				fi
			};
			d_step {
				if
				:: cut[i] -> lost = true
				:: else -> prod_for[i] = accepted[i]; prod_from[i] = life[i]
				fi
			}
		/* a frame is taken */
		:: d_step {
				state[i] == UP && !taken[i] && prod_for[p] ->
				N1 = (lost || prod_for[p] == life[i] && prod_from[p] == accepted[i]);
				assert(N1);
				act = SAME(frame_for[p], life[i]);
#ifdef NO_SEAL
				act = true;
#endif
				/*
				 * If the sides use different sizes, the frame
				 * is not found, or is not well-formed.
				 */
				act = act && terms[i] == accepted[i] && terms[p] == accepted[p];
				if
				:: act ->
					N1 = (frame_for[p] == life[i] && (lost || frame_from[p] == accepted[i]));
					assert(N1);
					taken[i] = true
				:: else -> state[i] = LOSS
				fi;
				act = false
			};
			if
			:: state[i] == LOSS -> goto again
			:: else
			fi
		/* the peer was silent */
		:: d_step { state[i] == UP && !calm && troubles < TROUBLES -> troubles++; state[i] = LOSS };
			goto again
		od
	} unless {
		d_step { crash[i] -> crash[i] = false; state[i] = OFF };
		goto again
	}
}

inline crashes(i)
{
	troubles < TROUBLES && state[i] != OFF ->
		troubles++;
		crash[i] = true
}

inline cuts(i)
{
	troubles < TROUBLES && !cut[i] ->
		troubles++;
		cut[i] = true
}

inline forget(i)
{
	my[i] = 0;
	hello[i] = 0;
	yours[i] = 0;
	prod_for[i] = 0;
	prod_from[i] = 0;
	frame_for[i] = 0;
	frame_from[i] = 0;
	lost = true
}

init
{
	atomic { run side(0); run side(1) };
	do
	:: d_step { crashes(0) }
	:: d_step { crashes(1) }
	:: d_step { crashes(0); forget(1) }
	:: d_step { crashes(1); forget(0) }
	:: d_step { cuts(0) }
	:: d_step { cuts(1) }
	:: d_step { cut[0] -> cut[0] = false }
	:: d_step { cut[1] -> cut[1] = false }
	:: d_step { calm = true; cut[0] = false; cut[1] = false } -> break
	od;
	timeout;
#ifndef UP_ALONE	/* Do not check N2 in UP_ALONE, which breaks N2 as well. */
	N2 = (state[0] == UP && state[1] == UP && accepted[0] == life[1] && accepted[1] == life[0] &&
	      terms[0] == life[1] && terms[1] == life[0]);
	assert(N2)
#endif
}
