/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of librfm2g that libraries for the cards do not have. A program can
 * check by RFM2G_HAS_EXTRAS whether its library has them.
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
 * Waits until all data stored so far have arrived at every ready node. This
 * includes data stored through mappings. Other nodes catch up later. TIMED_OUT:
 * a node has not acknowledged the data within 10 seconds. SIGNALED: the thread
 * was killed. OS_ERROR: the device was removed.
 */
STDRFM2GCALL RFM2gxFlush(RFM2GHANDLE rh);

/* Value of TimeoutMs that means no timeout. */
#define RFM2GX_FOREVER 0xFFFFFFFFU

/* Result of a flush: numbers of peers. */
typedef struct rfm2gxFlushed {
	RFM2G_UINT32 Reached;	/* peers that acknowledged all data */
	RFM2G_UINT32 Behind;	/* ready peers that lack data at the timeout */
	RFM2G_UINT32 Absent;	/* peers that are not ready */
} RFM2GXFLUSHED;

/*
 * Does the same as RFM2gxFlush(), with a timeout of TimeoutMs. Flushed may be
 * NULL. TIMED_OUT: some peers have not acknowledged all data. SIGNALED: the
 * thread was killed. NOT_SUPPORTED: the driver is not vrfm, or is an older
 * version. The functions below that call the driver also return NOT_SUPPORTED.
 */
STDRFM2GCALL RFM2gxFlushTimeout(RFM2GHANDLE rh, RFM2G_UINT32 TimeoutMs,
				RFM2GXFLUSHED *Flushed);

/*
 * Waiting until data change.
 */

/* Maximum number of bytes of a watch. */
#define RFM2GX_WATCH_MAX 65536

/*
 * Sleeps until one of Length bytes at Offset differs from Old. Any node or
 * program may store the new data. If Old is NULL, the bytes are compared with
 * those at the beginning of the call. Changed gets the offset of the first byte
 * that differs; it may be NULL. To miss no change between two calls, a program
 * passes in Old the bytes that it saw last. Any number of threads may watch.
 * TIMED_OUT: no byte changed for TimeoutMs. SIGNALED: a signal handler ran, or
 * if Old is NULL, the program was stopped or frozen. WAIT_EVENT_CANCELED:
 * RFM2gxUnwatch() or RFM2gClose() was called, or the device was removed.
 * BAD_PARAMETER_3: Length is 0 or more than RFM2GX_WATCH_MAX. OUT_OF_RANGE: the
 * bytes are outside of the memory.
 */
STDRFM2GCALL RFM2gxWatch(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Length, const void *Old,
			 RFM2G_UINT32 TimeoutMs, RFM2G_UINT32 *Changed);

/* Ends all watches that threads of this process have through the handle. */
STDRFM2GCALL RFM2gxUnwatch(RFM2GHANDLE rh);

/*
 * Claiming ranges for stores that never wait.
 */

/*
 * Claims Length bytes at Offset, into which this program will store through a
 * mapping. When the call returns, all peers know of the claim, and no store
 * waits for them. Call this before a loop that must not wait. The range is
 * extended to multiples of 64 KiB. A claim does not prevent other stores.
 * The claim ends by RFM2gxUnclaim(), or when the handle is closed.
 * TIMED_OUT: a peer has not answered for ten seconds. SIGNALED: the thread was
 * killed. BAD_PARAMETER_3: Length is 0. OUT_OF_RANGE: the bytes are outside of
 * the memory. LOW_MEMORY: no memory.
 */
STDRFM2GCALL RFM2gxClaim(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Length);
STDRFM2GCALL RFM2gxUnclaim(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			   RFM2G_UINT32 Length);

/*
 * States of the peers, of the image and of the mapping, and causes of failures.
 */

/* State of a peer. It says which data of this node the peer has. */
typedef enum rfm2gxLink {
	RFM2GX_DOWN,	/* the peer is not linked */
	RFM2GX_SYNCING,	/* the peer lacks data, and catches up */
	RFM2GX_READY	/* the peer has all data, or they are in flight */
} RFM2GXLINK;

/*
 * Reason why a node refuses the connection of another node, which is called
 * "it" below. Later versions may add values.
 */
typedef enum rfm2gxRefusal {
	RFM2GX_REFUSED_NOT,
	RFM2GX_REFUSED_PROTOCOL,	/* it lacks vrfm's protocol */
	RFM2GX_REFUSED_VERSION,		/* it speaks another version */
	RFM2GX_REFUSED_NETWORK,		/* it belongs to another network */
	RFM2GX_REFUSED_SIZE,		/* its memory has another size */
	RFM2GX_REFUSED_NODE,		/* it has the same node ID */
	RFM2GX_REFUSED_UNKNOWN,		/* no peer has this ID and address */
	RFM2GX_REFUSED_TWICE,		/* a linked node has the same ID */
	RFM2GX_REFUSED_BUSY		/* the previous link is closing */
} RFM2GXREFUSAL;

/* Bits of RFM2GXPEER.Flags. */
#define RFM2GX_SYNCED 1		/* this node has all data of the peer */
#define RFM2GX_MISSES_ALL 2	/* the peer lacks all data of this node */
#define RFM2GX_SAME_IMAGE 4	/* the peer and this node have the same image */

/* State of a peer. Later versions may append members. */
typedef struct rfm2gxPeer {
	RFM2G_UINT32 Node;
	RFM2G_UINT32 State;		/* RFM2GXLINK */
	RFM2G_UINT32 Flags;
	RFM2G_UINT32 Lag;		/* messages not acknowledged yet */
	RFM2G_UINT64 Missed;		/* bytes that the peer lacks */
	RFM2G_UINT64 SinceMs;		/* time in this state, in ms */
	RFM2G_UINT64 Links;		/* number of connections so far */
	RFM2G_UINT64 Messages;		/* messages sent to the peer */
	RFM2G_UINT64 Received;		/* messages received from the peer */
	RFM2G_UINT64 BytesSent;		/* bytes sent, also by direct writes */
	RFM2G_UINT64 BytesReceived;	/* bytes received in messages */
	RFM2G_UINT64 Overloads;		/* times that the peer was too slow */
	RFM2G_UINT64 ProtocolErrors;	/* invalid messages from the peer */
	RFM2G_UINT64 EventsDropped;	/* events lost because of full queues */
	RFM2G_UINT16 Family;		/* AF_INET, AF_INET6; 0: any address */
	RFM2G_UINT16 Port;
	RFM2G_UINT32 Scope;
	RFM2G_UINT8 Address[16];	/* 4 or 16 bytes in network order */
	/* age of the oldest message that is not acknowledged yet, in ms */
	RFM2G_UINT32 LateMs;
	/* if the peer is down: errno of the last connection or attempt, or 0 */
	RFM2G_UINT32 Error;
	RFM2G_UINT32 Refusal;		/* if the peer is down: RFM2GXREFUSAL */
	RFM2G_UINT32 PathMtu;		/* MTU of the connection; 0: unknown */
	RFM2G_UINT32 LocalMtu;		/* MTU limit of this host's interface */
	RFM2G_UINT32 PeerMtu;		/* MTU limit of the peer's interface */
} RFM2GXPEER;

/* Image of the memory, which nodes copy from each other. */
typedef struct rfm2gxImage {
	RFM2G_UINT64 Lineage;	/* equal on nodes with the same image */
	RFM2G_UINT64 Size;	/* size of the memory in bytes */
	RFM2G_UINT64 Loaded;	/* number of bytes loaded so far */
	RFM2G_BOOL Loading;	/* the image is being loaded */
} RFM2GXIMAGE;

/*
 * Returns the states of up to Room peers in Peers. Size is sizeof(RFM2GXPEER).
 * Count gets the number of peers, which may exceed Room. Image may be NULL.
 * BAD_PARAMETER_2: Peers is NULL and Room is not 0. BAD_PARAMETER_3: Size is
 * too small for an RFM2GXPEER, or exceeds 4096. BAD_PARAMETER_5: Count is NULL.
 */
STDRFM2GCALL RFM2gxPeers(RFM2GHANDLE rh, RFM2GXPEER *Peers, RFM2G_UINT32 Size,
			 RFM2G_UINT32 Room, RFM2G_UINT32 *Count,
			 RFM2GXIMAGE *Image);

/*
 * Sets Mapped to RFM2G_TRUE if the memory is mapped into the process, so that
 * reads are loads. RFM2G_FALSE: RFM2gOpen() could not map the memory, and each
 * read is a system call. The usual cause is mlockall(MCL_FUTURE) with a low
 * RLIMIT_MEMLOCK.
 */
STDRFM2GCALL RFM2gxIsMapped(RFM2GHANDLE rh, RFM2G_BOOL *Mapped);

/*
 * Explains to the user in a sentence why RFM2gOpen(DevicePath) fails. Examples
 * are a missing driver, or a group to join. If the device opens, Text is empty.
 * BAD_PARAMETER_1 or _2: a pointer is NULL, or Size is 0.
 */
STDRFM2GCALL RFM2gxExplain(const char *DevicePath, char *Text, size_t Size);

#ifdef __cplusplus
}
#endif

#endif /* RFM2G_EXTRAS_H */
