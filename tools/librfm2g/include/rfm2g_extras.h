/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What librfm2g has and libraries for the cards do not. Programs that use it
 * need this librfm2g; RFM2G_HAS_EXTRAS can be asked.
 */
#ifndef RFM2G_EXTRAS_H
#define RFM2G_EXTRAS_H

#include <stddef.h>

#include "rfm2g_api.h"

#define RFM2G_HAS_EXTRAS 1

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns when all that was stored so far, through mappings too, has reached
 * every node that is ready; others catch up later. TIMED_OUT: one has not said
 * so in 10 seconds. SIGNALED: killed. OS_ERROR: the device is gone.
 */
STDRFM2GCALL RFM2gxFlush(RFM2GHANDLE rh);

/* Of a timeout in milliseconds: none. */
#define RFM2GX_FOREVER 0xFFFFFFFFU

/* How many peers have what was stored. */
typedef struct rfm2gxFlushed {
	RFM2G_UINT32 Reached;	/* have all of it */
	RFM2G_UINT32 Behind;	/* have not said so in time */
	RFM2G_UINT32 Absent;	/* are not ready, and catch up later */
} RFM2GXFLUSHED;

/*
 * The same for at most TimeoutMs; Flushed, unless it is NULL, tells who has it.
 * TIMED_OUT: some are behind. SIGNALED: killed. NOT_SUPPORTED: not the driver
 * vrfm, or an older one; so say all that follow.
 */
STDRFM2GCALL RFM2gxFlushTimeout(RFM2GHANDLE rh, RFM2G_UINT32 TimeoutMs,
				RFM2GXFLUSHED *Flushed);

/* Bytes that can be watched at once. */
#define RFM2GX_WATCH_MAX 65536

/*
 * Sleeps until one of Length bytes at Offset is not what it is at Old, or, if
 * that is NULL, what it was when the call began, whoever stores there. Changed,
 * unless it is NULL, gets the offset of the first that differs. With what the
 * program saw last at Old nothing is missed between two calls. Any number of
 * threads may watch.
 * TIMED_OUT: all is as it was for TimeoutMs. SIGNALED: a handler for a signal ran;
 * if Old is NULL also: the program was stopped or frozen. WAIT_EVENT_CANCELED: by
 * RFM2gxUnwatch() or RFM2gClose(), or the device is gone. BAD_PARAMETER_3: no
 * bytes, or more than RFM2GX_WATCH_MAX. OUT_OF_RANGE.
 */
STDRFM2GCALL RFM2gxWatch(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Length, const void *Old,
			 RFM2G_UINT32 TimeoutMs, RFM2G_UINT32 *Changed);

/* Ends all that this process watches through the handle; there may be nothing. */
STDRFM2GCALL RFM2gxUnwatch(RFM2GHANDLE rh);

/*
 * This program will store into these bytes through a mapping: when it returns all
 * peers know of it, and none of its stores has to wait until they do. For loops
 * that must not wait, before they begin. In pieces of 64 KiB; it says nothing of
 * who may store where. RFM2gxUnclaim(), or closing the handle, is the end of it.
 * TIMED_OUT: a peer has not answered for ten seconds. SIGNALED: killed.
 * BAD_PARAMETER_3: no bytes. OUT_OF_RANGE. LOW_MEMORY.
 */
STDRFM2GCALL RFM2gxClaim(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Length);
STDRFM2GCALL RFM2gxUnclaim(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			   RFM2G_UINT32 Length);

/* What a peer has of what this node stored. */
typedef enum rfm2gxLink {
	RFM2GX_DOWN,	/* it is not linked */
	RFM2GX_SYNCING,	/* it lacks some, and catches up */
	RFM2GX_READY	/* everything, or it is on its way */
} RFM2GXLINK;

/* Why one node does not want to be linked with another; others may follow. */
typedef enum rfm2gxRefusal {
	RFM2GX_REFUSED_NOT,
	RFM2GX_REFUSED_PROTOCOL,	/* it does not speak vrfm's protocol */
	RFM2GX_REFUSED_VERSION,		/* it speaks another version */
	RFM2GX_REFUSED_NETWORK,		/* it belongs to another network */
	RFM2GX_REFUSED_SIZE,		/* its memory has another size */
	RFM2GX_REFUSED_NODE,		/* it has the same node id */
	RFM2GX_REFUSED_UNKNOWN,		/* no such node there is a peer */
	RFM2GX_REFUSED_TWICE,		/* another node of that id is linked */
	RFM2GX_REFUSED_BUSY		/* the last link is about to end */
} RFM2GXREFUSAL;

/* Bits of RFM2GXPEER.Flags. */
#define RFM2GX_SYNCED 1		/* this node has all that the peer stored */
#define RFM2GX_MISSES_ALL 2	/* it lacks all that this node stored */
#define RFM2GX_SAME_IMAGE 4	/* there is nothing to be loaded from it */

/* A peer; members may follow in later versions. */
typedef struct rfm2gxPeer {
	RFM2G_UINT32 Node;
	RFM2G_UINT32 State;		/* RFM2GXLINK */
	RFM2G_UINT32 Flags;
	RFM2G_UINT32 Lag;		/* messages it has not acknowledged */
	RFM2G_UINT64 Missed;		/* bytes that it lacks */
	RFM2G_UINT64 SinceMs;		/* so long it has been in this state */
	RFM2G_UINT64 Links;		/* connections that there were */
	RFM2G_UINT64 Messages;		/* sent to it */
	RFM2G_UINT64 Received;		/* from it */
	RFM2G_UINT64 BytesSent;		/* in messages */
	RFM2G_UINT64 BytesReceived;
	RFM2G_UINT64 Overloads;		/* how often it was too slow */
	RFM2G_UINT64 ProtocolErrors;	/* messages that made no sense */
	RFM2G_UINT64 EventsDropped;	/* that there was no room for */
	RFM2G_UINT16 Family;		/* AF_INET, AF_INET6, 0: any address */
	RFM2G_UINT16 Port;
	RFM2G_UINT32 Scope;
	RFM2G_UINT8 Address[16];	/* 4 or 16 of them, as in a packet */
	RFM2G_UINT32 LateMs;		/* age of the oldest of Lag messages */
	RFM2G_UINT32 Error;		/* of one that is down: errno, or 0 */
	RFM2G_UINT32 Refusal;		/* the same: RFM2GXREFUSAL */
	RFM2G_UINT32 PathMtu;		/* of the connection, bytes; 0: unknown */
	RFM2G_UINT32 LocalMtu;		/* largest of this host's interface */
	RFM2G_UINT32 PeerMtu;		/* largest of the peer's interface */
} RFM2GXPEER;

/* What this node's memory is a copy of. */
typedef struct rfm2gxImage {
	RFM2G_UINT64 Lineage;	/* the same for nodes that have the same */
	RFM2G_UINT64 Size;	/* bytes of the memory */
	RFM2G_UINT64 Loaded;	/* of which so many have been looked at */
	RFM2G_BOOL Loading;	/* while this is true */
} RFM2GXIMAGE;

/*
 * The peers, up to Room of them at Peers, of Size = sizeof(RFM2GXPEER) bytes
 * each; Count gets how many there are, which may be more. Image may be NULL.
 * BAD_PARAMETER_2: Peers is NULL and Room is not 0. BAD_PARAMETER_3: Size is not
 * that of a peer. BAD_PARAMETER_5: Count is NULL.
 */
STDRFM2GCALL RFM2gxPeers(RFM2GHANDLE rh, RFM2GXPEER *Peers, RFM2G_UINT32 Size,
			 RFM2G_UINT32 Room, RFM2G_UINT32 *Count,
			 RFM2GXIMAGE *Image);

/*
 * Mapped is RFM2G_TRUE if the memory is mapped into the process, so that reading is
 * loading. RFM2G_FALSE: RFM2gOpen() could not map it, mostly because mlockall() of
 * MCL_FUTURE and RLIMIT_MEMLOCK forbid that, and each read is a system call.
 */
STDRFM2GCALL RFM2gxIsMapped(RFM2GHANDLE rh, RFM2G_BOOL *Mapped);

/*
 * Why RFM2gOpen(DevicePath) does not succeed, in a sentence for the user: what
 * is missing, or which group to join. SUCCESS, and an empty text: it would.
 * BAD_PARAMETER_1 or _2: one of them is NULL or has no room.
 */
STDRFM2GCALL RFM2gxExplain(const char *DevicePath, char *Text, size_t Size);

#ifdef __cplusplus
}
#endif

#endif /* RFM2G_EXTRAS_H */
