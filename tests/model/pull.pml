/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Node L pulls pages from its donor H, one at a time. This is a simple model of
 * vrfm/resync.c and vrfm/donor.c. H itself loads an image once. During this load H
 * is not the donor, and L ignores pages from H. Afterwards H is the donor again.
 *
 * H handles one PULL at a time, and ignores other PULLs until it has answered. Pages
 * of the image leave room for notes in the window. Therefore H may send LOAD and
 * INFO, which announce the begin and the end of its own load, before the answer.
 *
 * The states of the load are those of enum vrfm_resync_state. SWEEPING is omitted,
 * because L has no peer that must send its own words.
 *
 * G8: at the end L has the pages of H.
 *
 * variant PULLED_FIRST G8: H answers before it accepts the next PULL (an earlier design)
 * variant BUSY_IGNORED G8: L sends a PULL to a donor that has not answered the last one (an earlier design)
 */
#include "model.h"

#define PAGES 2
#define ROOM 2
#define GONE 7

mtype = { IMAGE, PULLED, LOAD, INFO };
mtype = { CHOOSING, PULLING };	/* states of enum vrfm_resync_state */

/* State of node L */
byte l_mem[PAGES], page, arrived;
mtype resync = CHOOSING;
bool complete = true, pending, asked;

/* State of node H */
byte first;
bool busy, sent;

chan l_h = [2] of { byte };
chan h_l = [ROOM] of { mtype, byte };

/* Model of vrfm_rx_pull(): H accepts a PULL unless it is busy with another one. */
active proctype asked_h()
{
	byte x;

end:	do
	:: atomic {
		l_h?x ->
		if
		:: !busy -> first = x; busy = true
		:: else
		fi;
		x = 0
	   }
	od
}

/* Model of vrfm_serve(): H sends the page that L requested, and then PULLED. */
active proctype server()
{
end:	do
	:: atomic { busy && !sent && len(h_l) < ROOM - 1 -> h_l!IMAGE, first; sent = true }
#ifdef PULLED_FIRST
	:: atomic { busy && sent && nfull(h_l) -> h_l!PULLED, first };
	   atomic { sent = false; busy = false }
#else
	:: atomic { busy && sent && nfull(h_l) -> sent = false; busy = false; h_l!PULLED, first }
#endif
	od
}

/* Model of vrfm_resync_notify(): H announces the begin and the end of its own load, or never loads. */
active proctype loads_h()
{
	if
	:: h_l!LOAD, 0; h_l!INFO, 0
	:: skip
	fi
}

active proctype receiver()
{
	mtype type;
	byte x;

end:	do
	:: atomic {
		h_l?type, x ->
		if
		:: type == IMAGE && resync == PULLING -> l_mem[x] = GONE
		:: type == PULLED -> arrived = x + 1; pending = false
		:: type == LOAD -> complete = false
		:: type == INFO -> complete = true
		:: else
		fi;
		type = 0;
		x = 0
	   }
	od
}

/* Model of vrfm_resync_work(): L chooses H as its donor, and requests one page after the other. */
active proctype loader()
{
end:	do
	:: atomic { resync == PULLING && !complete -> resync = CHOOSING }
#ifdef BUSY_IGNORED
	:: atomic { resync == CHOOSING && complete && page < PAGES -> resync = PULLING; page = 0; asked = false }
#else
	:: atomic { resync == CHOOSING && complete && page < PAGES && !pending -> resync = PULLING; page = 0; asked = false }
#endif
	:: atomic { resync == PULLING && complete && asked && arrived == page + 1 -> page++; asked = false }
	:: atomic { resync == PULLING && complete && !asked && page < PAGES -> asked = true; arrived = 0; pending = true; l_h!page }
	:: page == PAGES -> break
	od
}

active proctype judge()
{
	timeout;
	G8 = (page == PAGES && l_mem[0] == GONE && l_mem[1] == GONE);
	assert(G8)
}
