/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One page of two words on one node: vrfm/scan.c, mapper.c, write.c, mem.c.
 *
 * A program stores into word 0 through a mapping, and then makes a call.
 * Another program, which belongs to another family of processes, writes word 0
 * by calls, or publishes it (VRFM_OP_PUBLISH). Or this other program writes word
 * 0 without page tables, like an adapter that reads a file into the mapping. A peer writes word 1. The scanner
 * compares the page with its twin (a copy made before the stores), and frees
 * the twin.
 *
 * G3: a call is accepted after the stores that were made before it.
 * G8: at the end the node has sent the last value of word 0.
 * G5, here equal to G6: the node never sends the word of the peer, which is in the same page.
 *
 * variant NO_TWIN_APPLY G5: data of a peer is stored into the page, but not into its twin
 * variant NO_TWIN_CALL G8: data of a call is stored into the page, but not into its twin
 * variant APPLY_UNLOCKED G5: data of a peer is stored into page and twin without the spinlock of the page
 * variant TWIN_UNLOCKED G8: the twin is created without the spinlock of the page
 * variant COMPARE_FIRST G3: a page is compared before it is write-protected, and then its twin is freed
 * variant FAULT_UNLOCKED G3: a page becomes writable while its twin is freed
 * variant TWO_LOADS G8: the value for the twin is loaded again after the value to send
 * variant PUBLISH_TWO_LOADS G3: the value for the twin is loaded again after the value to publish
 * variant NO_BARRIER G3: a call does not compare before it
 * variant NUMBER_EARLY G3: a comparison that began before a call counts for that call
 * variant NO_JOIN G3: a page that a second family makes writable still belongs to the first family only
 * variant SPLIT G8: the order is released between memory and links by a call
 * variant SPLIT_COMPARE G3: differences are sent without the order
 * variant HELD_LATE G8: references of adapters are checked after the last comparison
 * variant COUNT_FIRST G8: references are counted before page tables, and another program maps the page in between
 * variant TABLES_FIRST G8: page tables are counted before references, and another program unmaps the page in between
 */
#include "model.h"

#define NONE 255
#define COMMON 2

byte mem[2], twin[2];
bool has_twin;			/* vrfm_dev.twins[] */
bool listed;			/* the page is in the list of fresh or active pages */
bool writable[2];		/* write bit of the page tables, by family of the two programs */
byte owner;			/* vrfm_twin.family: family that has made the page writable, 0 or 1; COMMON: both */
bool since;			/* a comparison has ended since the call began: vrfm_twin.compared */
byte refs = 3;			/* page_count(): references of the device, of each page table, and of adapters */
byte tables = 2;		/* page_mapcount(): page tables of the program and of another program */
byte found[2];			/* vrfm_dev.diff: differences from the twin */

bool order, page_lock, spin;	/* locks */
byte sent = 0;			/* last value of word 0 that was accepted for the links */
byte stored;			/* last value that the program stored before its call */
byte calls;			/* the other program writes word 0 by calls, or without page tables */

inline accept(word, value)
{
	d_step {
		G5 = (word == 0);
		assert(G5);
		sent = value
	}
}

/* Model of vrfm_page_mkwrite() in a process of FAMILY: create the twin, and make the page writable. */
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

/* Model of vrfm_compare_locked(). Programs may store while it runs. The lock (spin) excludes words of the peer. */
inline compare(i, v)
{
	atomic { !spin -> spin = true };
	i = 0;
	do
	:: i < 2 ->
		/* Load the word once. A store after this step does not change the value that the next steps use. */
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

/* Model of vrfm_scan_own(): before a call, the program compares pages of its family, and common pages. */
inline barrier(i, v)
{
	if
	:: !listed || owner == 1 -> skip
	:: else ->
		/* Model of vrfm_barrier(): only a comparison that begins after this step counts. */
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

/* The program stores 2, 1 and 1 through the mapping, and makes a call after each store. */
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
		/* The call sends an event, or writes another page. */
		atomic {
			!order;
			G3 = (sent == stored || calls);
			assert(G3)
		}
	:: else -> break
	od
}

/* Model of vrfm_mem_publish(): send the value in the memory, and store it into the twin. */
inline publish(v)
{
	atomic { !order -> order = true };
#ifdef PUBLISH_TWO_LOADS
	v = mem[0];
	d_step {
		!spin;
		if
		:: has_twin -> twin[0] = mem[0]
		:: else
		fi
	};
#else
	d_step {
		!spin;
		v = mem[0];
		if
		:: has_twin -> twin[0] = v
		:: else
		fi
	};
#endif
	accept(0, v);
	v = 0;
	order = false
}

/*
 * The other program does nothing, makes the page writable, publishes word 0, writes it by calls, or writes it without page
 * tables.
 */
active proctype other()
{
	byte i, v, value;

	if
	:: skip
	:: fault(1)
	:: publish(v)
	:: calls = 1;
		value = 11;
		do
		:: value < 13 ->
			atomic { !order -> order = true };
			/* Model of vrfm_mem_store(): store into the page, and into the twin. */
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
		/* get_user_pages() makes the page writable, and takes a reference. */
		do
		:: atomic { writable[1] -> refs++; break }
		:: atomic { !writable[1] -> skip }; fault(1)
		od;
		mem[0] = 21;
		refs--
	fi
}

/* Model of vrfm_link_receive(): apply words of the peer to page and twin. */
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

/* A third program maps or unmaps the page. It takes its reference first, and drops the reference last. */
active proctype mapper()
{
	if
	:: refs++; tables++
	:: tables--; refs--
	:: skip
	fi
}

/*
 * Model of vrfm_page_protect(), which reads refs and tables one after the
 * other: set OVER if only the device and page tables hold references. T is the
 * number of page tables before the page was write-protected.
 */
inline look_held(over, n, t)
{
#ifdef COUNT_FIRST
	n = refs;
	over = (n <= 1 + tables);
#else
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

/* Model of vrfm_twin_differs(), under the write lock (order): clear OVER if the page differs from its twin. */
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

/* Model of vrfm_scanner_step() and vrfm_twin_end(): compare the page, or free the twin of an unused page. */
active proctype scanner()
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
			v = tables;
			d_step { writable[0] = false; writable[1] = false };
			if
			:: over -> look_held(over, i, v)
			:: else
			fi;
#else
			v = tables;
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

/* Check G8 at the end, when all processes wait. */
active proctype judge()
{
	timeout;
	G8 = (sent == mem[0]);
	assert(G8)
}
