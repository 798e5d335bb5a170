/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One page of two words on one node: flush.c, mapper.c, order.c, region.c.
 *
 * A program stores into word 0 through a mapping and then makes a call; another
 * one writes word 0 by calls, or, as an adapter does that reads a file into the
 * mapping, without the page tables. It belongs to another family of processes. A peer
 * writes word 1. The flusher compares, and takes the page's twin away.
 *
 * G3: a call is accepted behind the stores that were made before it.
 * G8: at the end the links have what the memory has.
 * G5, which is G6 here: what the peer wrote is never sent, though it is in the same page.
 *
 * variant NO_TWIN_APPLY G5: what a peer writes goes into the page and not into its twin
 * variant NO_TWIN_CALL G8: what a call writes goes into the page and not into its twin
 * variant APPLY_UNLOCKED G5: a peer's value goes into page and twin without the page's lock
 * variant TWIN_UNLOCKED G8: the twin is made without the page's lock
 * variant COMPARE_FIRST G3: compared, then write-protected, then the twin goes
 * variant FAULT_UNLOCKED G3: a page becomes writable while its twin is taken away
 * variant TWO_LOADS G8: the value that is sent is loaded again for the twin
 * variant NO_BARRIER G3: a call does not compare first
 * variant NUMBER_EARLY G3: a comparison that has begun before a call is enough for it
 * variant NO_JOIN G3: a page that a second family makes writable stays the first one's
 * variant SPLIT G8: memory and links are two steps of the order, for calls
 * variant SPLIT_COMPARE G3: what was found by comparing is sent outside of the order
 * variant HELD_LATE G8: whether an adapter has the page is asked after the last comparison
 * variant COUNT_FIRST G8: references are counted, then page tables; another program maps the page in between
 * variant TABLES_FIRST G8: page tables are counted, then references; another program unmaps the page in between
 */
#include "model.h"

#define NONE 255
#define COMMON 2

byte mem[2], twin[2];
bool has_twin;			/* vrfm_dev.twins[] */
bool listed;			/* fresh or active */
bool writable[2];		/* bits of the page tables, by family: the program's, and the other one's */
byte owner;			/* vrfm_twin.family: 0, 1, or COMMON */
bool since;			/* a comparison has ended since the call began: vrfm_twin.compared */
byte refs = 3;			/* page_count(): the device's, one for each page table, those of adapters */
byte tables = 2;		/* page_mapcount(): the program's page table, and another one's */
byte found[2];			/* vrfm_dev.diff */

bool order, page_lock, spin;	/* locks */
byte sent = 0;			/* the last value of word 0 that was accepted for the links */
byte stored;			/* by the program that makes the call */
byte calls;			/* programs that write word 0 other than by mapping it */

inline accept(word, value)
{
	d_step {
		G5 = (word == 0);
		assert(G5);
		sent = value
	}
}

/* vrfm_page_mkwrite() of a process of FAMILY */
inline fault(family)
{
#ifndef FAULT_UNLOCKED
	atomic { !page_lock -> page_lock = true };
#endif
	if
	:: !has_twin ->
#ifdef TWIN_UNLOCKED
		twin[0] = mem[0];
		twin[1] = mem[1];
		d_step { has_twin = true; listed = true; owner = family }
#else
		d_step {
			!spin;
			twin[0] = mem[0];
			twin[1] = mem[1];
			has_twin = true;
			listed = true;
			owner = family
		}
#endif
	:: else ->
#ifndef NO_JOIN
		d_step {
			if
			:: owner != family && owner != COMMON -> owner = COMMON; since = false
			:: else
			fi
		}
#endif
	fi;
	d_step {
		writable[family] = true;
#ifndef FAULT_UNLOCKED
		page_lock = false
#endif
	}
}

/* vrfm_compare_page(): stores go on meanwhile, the peer's values do not come */
inline compare(i, v)
{
	atomic { !spin -> spin = true };
	i = 0;
	do
	:: i < 2 ->
		/* A load; what follows is as if it were at the same time. */
		found[i] = NONE;
		v = mem[i];
#ifdef TWO_LOADS
		if
		:: v != twin[i] -> found[i] = v; v = mem[i]; twin[i] = v
		:: else
		fi;
#else
		d_step {
			if
			:: v != twin[i] -> found[i] = v; twin[i] = v
			:: else
			fi
		}
#endif
		i++
	:: else -> break
	od;
	spin = false;
#ifdef SPLIT_COMPARE
	order = false;
#endif
	i = 0;
	do
	:: i < 2 ->
		if
		:: found[i] != NONE -> accept(i, found[i])
		:: else
		fi;
		i++
	:: else -> break
	od;
#ifdef SPLIT_COMPARE
	atomic { !order -> order = true };
#endif
	since = true;
	i = 0;
	v = 0
}

/* vrfm_flush_stores() of the program: pages of its own family, and common ones */
inline barrier(i, v)
{
	if
	:: !listed || owner == 1 -> skip
	:: else ->
		/* vrfm_barrier_begin() */
#ifdef NUMBER_EARLY
		since = false;
#else
		atomic { !order -> since = false };
#endif
		atomic { !order -> order = true };
		if
		:: listed && owner != 1 && !since -> compare(i, v)
		:: else
		fi;
		order = false
	fi
}

/* It stores through the mapping, 2, 1 and 1 again, and each time it calls. */
active proctype program()
{
	byte i, v, n;

	do
	:: n < 3 ->
		n++;
		do
		:: atomic { writable[0] -> stored = (n == 1 -> 2 : 1); mem[0] = stored; break }
		:: atomic { !writable[0] -> skip }; fault(0)
		od;
#ifndef NO_BARRIER
		barrier(i, v);
#endif
		/* The event, or the write of another page. */
		atomic {
			!order;
			G3 = (sent == stored || calls);
			assert(G3)
		}
	:: else -> break
	od
}

/* It stores what is there, or writes the same word by calls, or without the page tables. */
active proctype other()
{
	byte i, v, value;

	if
	:: skip
	:: fault(1)
	:: calls = 1;
		value = 11;
		do
		:: value < 13 ->
			atomic { !order -> order = true };
			/* vrfm_region_put() */
			d_step {
				!spin;
				mem[0] = value;
#ifndef NO_TWIN_CALL
				if
				:: has_twin -> twin[0] = value
				:: else
				fi
#endif
			};
#ifdef SPLIT
			order = false;
			atomic { !order -> order = true };
#endif
			accept(0, value);
			order = false;
			value++
		:: else -> break
		od
	:: calls = 1;
		/* get_user_pages() faults as the program does, and holds the page. */
		do
		:: atomic { writable[1] -> refs++; break }
		:: atomic { !writable[1] -> skip }; fault(1)
		od;
		mem[0] = 21;
		refs--
	fi
}

/* vrfm_link_receive() */
active proctype peer()
{
	byte value = 1;

	do
	:: value < 3 ->
#ifdef APPLY_UNLOCKED
		mem[1] = value;
		if
		:: has_twin -> twin[1] = value
		:: else
		fi;
#else
		d_step {
			!spin;
			mem[1] = value;
#ifndef NO_TWIN_APPLY
			if
			:: has_twin -> twin[1] = value
			:: else
			fi
#endif
		};
#endif
		value++
	:: else -> break
	od
}

/* Another program maps the page, or unmaps it: the reference is taken first, and dropped last. */
active proctype mapper()
{
	if
	:: refs++; tables++
	:: tables--; refs--
	:: skip
	fi
}

/* vrfm_page_is_held(): each number is read for itself. */
inline look_held(over, n, t)
{
#ifdef COUNT_FIRST
	n = refs;
	over = (n <= 1 + tables);
#else
	t = tables;
	n = refs;
#ifdef TABLES_FIRST
	over = (n <= 1 + t);
#else
	over = (n <= 1 + t && t == tables);
#endif
	t = 0;
#endif
	n = 0
}

/* vrfm_twin_differs(), under the order */
inline look(over, i)
{
	atomic { !order -> order = true };
	atomic { !spin -> spin = true };
	i = 0;
	do
	:: i < 2 -> over = (over && mem[i] == twin[i]); i++
	:: else -> break
	od;
	i = 0;
	spin = false
}

/* vrfm_flusher_step(), vrfm_twin_end() */
active proctype flusher()
{
	byte i, v;
	bool over;

end:	do
	:: listed ->
		if
		:: atomic { !order -> order = true };
			compare(i, v);
			order = false
		:: atomic { !page_lock -> page_lock = true };
#ifdef COMPARE_FIRST
			over = true;
			look(over, i);
			d_step { writable[0] = false; writable[1] = false };
			if
			:: over -> look_held(over, i, v)
			:: else
			fi;
#else
			d_step { writable[0] = false; writable[1] = false };
#ifdef HELD_LATE
			over = true;
			look(over, i);
			if
			:: over -> look_held(over, i, v)
			:: else
			fi;
#else
			look_held(over, i, v);
			look(over, i);
#endif
#endif
			d_step {
				if
				:: over -> has_twin = false; listed = false
				:: else
				fi;
				over = false;
				v = 0;
				order = false
			};
			page_lock = false
		fi
	od
}

/* All is done, and the twin is gone. */
active proctype judge()
{
	timeout;
	G8 = (sent == mem[0]);
	assert(G8)
}
