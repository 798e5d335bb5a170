/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of librfm2g that libraries for the cards do not have. Programs that
 * use them need this librfm2g, and can check for it by RFM2G_HAS_EXTRAS.
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
 * Waiting until the peers have the data.
 */

/*
 * Returns when all data stored so far, also through mappings, have arrived at
 * every ready node; other nodes catch up later. TIMED_OUT: a node has not
 * acknowledged them within 10 seconds. SIGNALED: the thread was killed.
 * OS_ERROR: the device is gone.
 */
STDRFM2GCALL RFM2gxFlush(RFM2GHANDLE rh);

/* Timeout in milliseconds: none. */
#define RFM2GX_FOREVER 0xFFFFFFFFU

/* Numbers of peers, by what they have of the stored data. */
typedef struct rfm2gxFlushed {
	RFM2G_UINT32 Reached;	/* have acknowledged all of them */
	RFM2G_UINT32 Behind;	/* have not acknowledged them in time */
	RFM2G_UINT32 Absent;	/* are not ready, and catch up later */
} RFM2GXFLUSHED;

/*
 * RFM2gxFlush() with a timeout of TimeoutMs. Flushed is filled in unless it is
 * NULL. TIMED_OUT: some peers have not acknowledged all data. SIGNALED: the
 * thread was killed. NOT_SUPPORTED, also of the functions below: the driver is
 * not vrfm, or an older one.
 */
STDRFM2GCALL RFM2gxFlushTimeout(RFM2GHANDLE rh, RFM2G_UINT32 TimeoutMs,
				RFM2GXFLUSHED *Flushed);

/*
 * Waiting until data change.
 */

/* Maximum number of bytes of a watch. */
#define RFM2GX_WATCH_MAX 65536

/*
 * Sleeps until one of Length bytes at Offset differs from Old, whichever node
 * or program stores there. If Old is NULL, the bytes are compared with those at
 * the beginning of the call. Changed, unless it is NULL, gets the offset of the
 * first byte that differs. A program that passes the bytes that it saw last as
 * Old misses no change between two calls. Any number of threads may watch.
 * TIMED_OUT: no byte changed for TimeoutMs. SIGNALED: a signal handler ran, or
 * if Old is NULL, the program was stopped or frozen. WAIT_EVENT_CANCELED:
 * RFM2gxUnwatch() or RFM2gClose() was called, or the device is gone.
 * BAD_PARAMETER_3: Length is 0 or more than RFM2GX_WATCH_MAX. OUT_OF_RANGE.
 */
STDRFM2GCALL RFM2gxWatch(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Length, const void *Old,
			 RFM2G_UINT32 TimeoutMs, RFM2G_UINT32 *Changed);

/* Ends all watches of this process through the handle, if there are any. */
STDRFM2GCALL RFM2gxUnwatch(RFM2GHANDLE rh);

/*
 * Claiming ranges for stores that never wait.
 */

/*
 * Announces that this program will store into these bytes through a mapping.
 * When it returns, all peers know that, and no store has to wait for them. It
 * is for loops that must not wait, before they begin. The claimed range is
 * extended to multiples of 64 KiB. A claim does not prevent other stores.
 * RFM2gxUnclaim(), or closing the handle, ends it.
 * TIMED_OUT: a peer has not answered for ten seconds. SIGNALED: the thread was
 * killed. BAD_PARAMETER_3: Length is 0. OUT_OF_RANGE. LOW_MEMORY.
 */
STDRFM2GCALL RFM2gxClaim(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Length);
STDRFM2GCALL RFM2gxUnclaim(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			   RFM2G_UINT32 Length);

/*
 * States of the peers, of the image and of the mapping, and causes of failures.
 */

/* State of a peer, by the data of this node that it has. */
typedef enum rfm2gxLink {
	RFM2GX_DOWN,	/* not linked */
	RFM2GX_SYNCING,	/* lacks data, and catches up */
	RFM2GX_READY	/* has all data, or they are in flight */
} RFM2GXLINK;

/* Reason why a node refuses the connection of another; values may be added. */
typedef enum rfm2gxRefusal {
	RFM2GX_REFUSED_NOT,
	RFM2GX_REFUSED_PROTOCOL,	/* it does not speak vrfm's protocol */
	RFM2GX_REFUSED_VERSION,		/* it speaks another version */
	RFM2GX_REFUSED_NETWORK,		/* it belongs to another network */
	RFM2GX_REFUSED_SIZE,		/* its memory has another size */
	RFM2GX_REFUSED_NODE,		/* it has the same node ID */
	RFM2GX_REFUSED_UNKNOWN,		/* no peer has this ID and address */
	RFM2GX_REFUSED_TWICE,		/* another node has that ID */
	RFM2GX_REFUSED_BUSY		/* the previous link is closing */
} RFM2GXREFUSAL;

/* Bits of RFM2GXPEER.Flags. */
#define RFM2GX_SYNCED 1		/* this node has all that the peer stored */
#define RFM2GX_MISSES_ALL 2	/* it lacks all that this node stored */
#define RFM2GX_SAME_IMAGE 4	/* this node need not load from it */

/* State of a peer. Later versions may append members. */
typedef struct rfm2gxPeer {
	RFM2G_UINT32 Node;
	RFM2G_UINT32 State;		/* RFM2GXLINK */
	RFM2G_UINT32 Flags;
	RFM2G_UINT32 Lag;		/* messages it has not acknowledged */
	RFM2G_UINT64 Missed;		/* bytes that it lacks */
	RFM2G_UINT64 SinceMs;		/* time in this state */
	RFM2G_UINT64 Links;		/* number of connections so far */
	RFM2G_UINT64 Messages;		/* sent to it */
	RFM2G_UINT64 Received;		/* received from it */
	RFM2G_UINT64 BytesSent;		/* in messages */
	RFM2G_UINT64 BytesReceived;
	RFM2G_UINT64 Overloads;		/* number of times it was too slow */
	RFM2G_UINT64 ProtocolErrors;	/* number of invalid messages */
	RFM2G_UINT64 EventsDropped;	/* events without room in a queue */
	RFM2G_UINT16 Family;		/* AF_INET, AF_INET6, 0: any address */
	RFM2G_UINT16 Port;
	RFM2G_UINT32 Scope;
	RFM2G_UINT8 Address[16];	/* 4 or 16 bytes in network order */
	RFM2G_UINT32 LateMs;		/* age of the oldest of Lag messages */
	RFM2G_UINT32 Error;		/* if it is down: errno, or 0 */
	RFM2G_UINT32 Refusal;		/* if it is down: RFM2GXREFUSAL */
	RFM2G_UINT32 PathMtu;		/* of the connection, bytes; 0: unknown */
	RFM2G_UINT32 LocalMtu;		/* largest of this host's interface */
	RFM2G_UINT32 PeerMtu;		/* largest of the peer's interface */
} RFM2GXPEER;

/* Image of the memory, which nodes copy from each other. */
typedef struct rfm2gxImage {
	RFM2G_UINT64 Lineage;	/* equal on nodes with the same image */
	RFM2G_UINT64 Size;	/* size of the memory in bytes */
	RFM2G_UINT64 Loaded;	/* number of bytes loaded so far */
	RFM2G_BOOL Loading;	/* the image is being loaded */
} RFM2GXIMAGE;

/*
 * Writes the states of up to Room peers to Peers. Size is sizeof(RFM2GXPEER).
 * Count gets the number of peers, which may exceed Room. Image may be NULL.
 * BAD_PARAMETER_2: Peers is NULL and Room is not 0. BAD_PARAMETER_3: Size is
 * not that of a peer. BAD_PARAMETER_5: Count is NULL.
 */
STDRFM2GCALL RFM2gxPeers(RFM2GHANDLE rh, RFM2GXPEER *Peers, RFM2G_UINT32 Size,
			 RFM2G_UINT32 Room, RFM2G_UINT32 *Count,
			 RFM2GXIMAGE *Image);

/*
 * Mapped is RFM2G_TRUE if the memory is mapped into the process, so that
 * reading is loading. RFM2G_FALSE: RFM2gOpen() could not map it, and each read
 * is a system call. The usual cause is mlockall(MCL_FUTURE) with a low
 * RLIMIT_MEMLOCK.
 */
STDRFM2GCALL RFM2gxIsMapped(RFM2GHANDLE rh, RFM2G_BOOL *Mapped);

/*
 * Explains to the user in a sentence why RFM2gOpen(DevicePath) fails, such as a
 * missing driver, or a group to join. SUCCESS with an empty text: it does not
 * fail. BAD_PARAMETER_1 or _2: a pointer is NULL, or Size is 0.
 */
STDRFM2GCALL RFM2gxExplain(const char *DevicePath, char *Text, size_t Size);

#ifdef __cplusplus
}
#endif

#endif /* RFM2G_EXTRAS_H */
