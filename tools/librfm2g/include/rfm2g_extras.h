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
 * Rings: records of events, writes and peers, without a system call for each.
 */

/*
 * A ring. One thread at a time may use it. A child process must not use the
 * rings of its parent. RFM2gClose() does not close the rings of a handle.
 */
typedef struct rfm2gxRing *RFM2GXRING;

/* Types of records. A program skips types that it does not know. */
#define RFM2GX_LOST 1		/* records were dropped here */
#define RFM2GX_EVENT 2		/* a node sent an event, or a fault occurred */
#define RFM2GX_WRITTEN 3	/* a node wrote into a subscribed range */
#define RFM2GX_LINK 4		/* state of a peer */
#define RFM2GX_IMAGE 5		/* the load of an image began or ended */
#define RFM2GX_DONE 6		/* a submitted batch has ended */

/* Bits of RFM2GXRECORD.Flags. */
#define RFM2GX_MERGED 1		/* the record covers several changes */
#define RFM2GX_OWN 4		/* this node wrote the bytes */
#define RFM2GX_CANCELLED 8	/* the ring no longer takes events of this type */

/* Value of RFM2GXRECORD.Node: no node, or several nodes. */
#define RFM2GX_NO_NODE 0xFFFF

/* Bit of RFM2GXRECORD.u.Link.Flags: the node still is a peer. */
#define RFM2GX_PRESENT 0x80000000U

/* A record of a ring, in memory that the program can only read. */
typedef struct rfm2gxRecord {
	RFM2G_UINT16 Type;
	RFM2G_UINT16 Flags;
	RFM2G_UINT16 Slots;		/* slots of 64 bytes that it takes */
	RFM2G_UINT16 Node;		/* sender, writer or peer */
	RFM2G_UINT32 Offset;		/* WRITTEN: first byte written */
	RFM2G_UINT32 Length;		/* WRITTEN: bytes up to the last one */
	RFM2G_UINT64 Serial;		/* WRITTEN: the writer's number */
	RFM2G_UINT64 TimeNs;		/* time on the clock of the ring, in ns */
	RFM2G_UINT64 Cookie;		/* cookie of the subscription */
	union {
		struct {
			RFM2G_UINT64 Count;	/* number of records dropped */
		} Lost;
		struct {
			RFM2G_UINT32 Event;	/* RFM2GEVENTTYPE */
			RFM2G_UINT32 ExtendedInfo;
		} Event;
		struct {
			RFM2G_UINT32 Bytes;	/* bytes, repetitions included */
			RFM2G_UINT32 Messages;	/* writes that it covers */
		} Written;
		struct {
			RFM2G_UINT32 State;	/* RFM2GXLINK */
			RFM2G_UINT32 Flags;	/* as in RFM2GXPEER */
			RFM2G_UINT32 Error;	/* errno, if down */
		} Link;
		struct {
			RFM2G_UINT32 Loading;	/* 1: it began; 0: it ended */
		} Image;
		struct {
			RFM2G_INT32 Result;	/* 0, or a negative errno */
			RFM2G_UINT16 Reached;	/* as in RFM2GXBATCHED */
			RFM2G_UINT16 Behind;
			RFM2G_UINT16 Absent;
			RFM2G_UINT16 First;	/* a node that is behind */
			RFM2G_UINT32 Ops;	/* operations of the batch */
			RFM2G_UINT32 Failed;
		} Done;
		RFM2G_UINT64 Raw[3];
	} u;
} RFM2GXRECORD;

/* Values of RFM2GXSUBSCRIPTION.What. */
#define RFM2GX_SUB_EVENTS 1
#define RFM2GX_SUB_RANGE 2
#define RFM2GX_SUB_LINKS 3

/* Bits of RFM2GXSUBSCRIPTION.Flags. */
#define RFM2GX_SUB_TAKE 2	/* EVENTS: take them from the queue */
#define RFM2GX_SUB_OWN 4	/* RANGE: also report writes of this node */

/* Which records a ring gets. Unused members are 0. */
typedef struct rfm2gxSubscription {
	RFM2G_UINT32 What;
	RFM2G_UINT32 Flags;
	RFM2G_UINT32 Offset;		/* RANGE */
	RFM2G_UINT32 Length;		/* RANGE */
	RFM2G_UINT32 Events;		/* EVENTS: 1 << RFM2GEVENTTYPE, ored */
	RFM2G_UINT32 Reserved;
	RFM2G_UINT64 Cookie;		/* value for the records */
	RFM2G_UINT64 Nodes[4];		/* bit mask of nodes; all 0: every node */
} RFM2GXSUBSCRIPTION;

/*
 * Creates a ring of Slots slots: a power of two from 64 to 1048576. Clock is the
 * clock of its records, for example CLOCK_MONOTONIC. BAD_PARAMETER_2 or _3:
 * invalid Slots or Clock. BAD_PARAMETER_4: Ring is NULL. LOW_MEMORY: no memory,
 * or too many rings or open files. NOT_SUPPORTED: the driver has no rings.
 */
STDRFM2GCALL RFM2gxRingOpen(RFM2GHANDLE rh, RFM2G_UINT32 Slots, int Clock,
			    RFM2GXRING *Ring);

/*
 * Creates a ring as RFM2gxRingOpen() does, through which RFM2gxSubmit() can
 * submit batches. It has room for Entries operations that are not executed yet:
 * a power of two from 8 to 1024. BAD_PARAMETER_2, _3 or _4: invalid Slots,
 * Entries or Clock. BAD_PARAMETER_5: Ring is NULL. Other statuses are those of
 * RFM2gxRingOpen(). OS_ERROR: the user may not write.
 */
STDRFM2GCALL RFM2gxRingOpenSubmit(RFM2GHANDLE rh, RFM2G_UINT32 Slots,
				  RFM2G_UINT32 Entries, int Clock,
				  RFM2GXRING *Ring);

/* Closes a ring, and sets Ring to NULL. Its records can no longer be read. */
STDRFM2GCALL RFM2gxRingClose(RFM2GXRING *Ring);

/*
 * Sets Fd to the descriptor of a ring, for poll(), select() or epoll. It is
 * readable if a record is unread that RFM2gxRingRelease() or RFM2gxRingWait() has
 * not released. The descriptor belongs to the ring.
 */
STDRFM2GCALL RFM2gxRingFd(RFM2GXRING Ring, int *Fd);

/*
 * Lets a ring get records of events, writes into a range, or states of peers.
 * The first records of RFM2GX_SUB_LINKS are the present states. With
 * RFM2GX_SUB_TAKE the ring is the waiter of the types. EVENT_IN_USE: a thread or
 * a ring already waits for one of the types. BAD_PARAMETER_2: an invalid
 * subscription, a range outside of the memory, or too large ranges. LOW_MEMORY:
 * no memory, or 64 subscriptions. TIMED_OUT: a peer has not answered. SIGNALED:
 * the thread was killed.
 */
STDRFM2GCALL RFM2gxRingSubscribe(RFM2GXRING Ring,
				 const RFM2GXSUBSCRIPTION *Subscription);

/*
 * Removes all subscriptions that have the cookie. NOT_ENABLED: there is none.
 */
STDRFM2GCALL RFM2gxRingUnsubscribe(RFM2GXRING Ring, RFM2G_UINT64 Cookie);

/*
 * Sets Record to the next record, or to NULL if there is none. Makes no system
 * call. The record is valid until RFM2gxRingRelease() or RFM2gxRingWait().
 */
STDRFM2GCALL RFM2gxRingNext(RFM2GXRING Ring, const RFM2GXRECORD **Record);

/*
 * Releases all records that RFM2gxRingNext() has returned. Makes no system call.
 */
STDRFM2GCALL RFM2gxRingRelease(RFM2GXRING Ring);

/*
 * Releases all records that RFM2gxRingNext() has returned, and waits until Slots
 * slots are unread. If LimitUs is not 0, it also returns when a record has been
 * unread for LimitUs microseconds, at most 1000000. If Slots is 0, it does not
 * wait, and only lets the driver fill free slots. TIMED_OUT: TimeoutMs has
 * passed. SIGNALED: a signal handler ran, or the program was stopped or frozen.
 * WAIT_EVENT_CANCELED: the device was removed, and all records are read.
 * BAD_PARAMETER_2: more slots than the ring has.
 *
 * If batches were submitted, the call executes them first. LOW_MEMORY: some of
 * them stay, because too many earlier ones wait for acknowledgments or for
 * slots: read records, and call again.
 */
STDRFM2GCALL RFM2gxRingWait(RFM2GXRING Ring, RFM2G_UINT32 Slots,
			    RFM2G_UINT32 LimitUs, RFM2G_UINT32 TimeoutMs);

/*
 * Batches: several blocks and events in one step.
 */

/* Values of RFM2GXOP.Op. */
#define RFM2GX_OP_WRITE 1
#define RFM2GX_OP_PUBLISH 3
#define RFM2GX_OP_EVENT 4

/* Maximum number of operations, bytes and events of a batch. */
#define RFM2GX_BATCH_OPS 64
#define RFM2GX_BATCH_BYTES 65536
#define RFM2GX_BATCH_EVENTS 8

/* Bits of Flags of RFM2gxBatch() and RFM2gxSubmit(). */
#define RFM2GX_BATCH_DONE 2	/* RFM2gxSubmit(): add a record at the end */
#define RFM2GX_BATCH_ACKED 4	/* wait until all ready peers have it */
#define RFM2GX_BATCH_NOFLUSH 8	/* do not send stores into mappings first */

/* Operation of a batch. Members that an operation does not use are ignored. */
typedef struct rfm2gxOp {
	RFM2G_UINT32 Op;
	RFM2G_UINT32 Offset;		/* WRITE, PUBLISH */
	RFM2G_UINT32 Length;		/* WRITE, PUBLISH */
	RFM2GEVENTTYPE Event;		/* EVENT: RESET or INTR1 to INTR4 */
	RFM2G_NODE ToNode;		/* EVENT: RFM2G_NODE_ALL, or a node */
	RFM2G_UINT32 ExtendedInfo;	/* EVENT */
	const void *Source;		/* WRITE: the bytes */
} RFM2GXOP;

/* Result of a batch. */
typedef struct rfm2gxBatched {
	RFM2G_UINT64 Serial;	/* number among the writes of this node */
	RFM2G_UINT32 Failed;	/* index of the invalid operation */
	RFM2G_UINT32 Reached;	/* ACKED: peers that have applied the batch */
	RFM2G_UINT32 Behind;	/* ACKED: ready peers that have not */
	RFM2G_UINT32 Absent;	/* ACKED: peers that are not ready */
} RFM2GXBATCHED;

/*
 * Executes Count operations in their order as one write: no other write of this
 * node comes in between. All of them are checked first. TimeoutMs counts only
 * with RFM2GX_BATCH_ACKED. Batched may be NULL. BAD_PARAMETER_2: an operation is
 * invalid; its index is Batched->Failed. BAD_PARAMETER_3: Count is 0, or the
 * batch is too large. BAD_PARAMETER_4: unknown flags. OUT_OF_RANGE: bytes are
 * outside of the memory. OS_ERROR: the bytes cannot be read. After these
 * statuses nothing was done. TIMED_OUT: done, and a ready peer has not applied
 * it. SIGNALED: the thread was killed.
 */
STDRFM2GCALL RFM2gxBatch(RFM2GHANDLE rh, const RFM2GXOP *Ops,
			 RFM2G_UINT32 Count, RFM2G_UINT32 Flags,
			 RFM2G_UINT32 TimeoutMs, RFM2GXBATCHED *Batched);

/*
 * Submits Count operations as a batch to a ring of RFM2gxRingOpenSubmit(). The
 * next RFM2gxRingWait() executes it. The bytes of its writes must not change
 * before. A record RFM2GX_DONE with the cookie follows if the batch fails, with
 * RFM2GX_BATCH_DONE when it is done, or with RFM2GX_BATCH_ACKED when the ready
 * nodes have applied it, after 10 s at the latest. BAD_PARAMETER_2: Ops is NULL.
 * BAD_PARAMETER_3: Count is 0, or too large for a batch or for the ring.
 * BAD_PARAMETER_4: unknown flags. NOT_SUPPORTED: the ring has no entries.
 * LOW_MEMORY: not enough entries are free: call RFM2gxRingWait().
 */
STDRFM2GCALL RFM2gxSubmit(RFM2GXRING Ring, const RFM2GXOP *Ops,
			  RFM2G_UINT32 Count, RFM2G_UINT32 Flags,
			  RFM2G_UINT64 Cookie);

/*
 * Executes the batches that other threads submit with RFM2gxSubmit(), until
 * RFM2gxRingStop(). RFM2gxSubmit() then makes no system call, unless this thread
 * sleeps. It sleeps when there was no batch for SpinUs, and occupies a processor
 * before. RFM2gxRingWait() only waits. Call RFM2gxRingStop() before
 * RFM2gxRingClose(). ALREADY_ENABLED: another thread does this. BAD_PARAMETER_2:
 * SpinUs is more than a second. NOT_SUPPORTED: the ring has no entries. SIGNALED:
 * a signal. WAIT_EVENT_CANCELED: the device was removed.
 */
STDRFM2GCALL RFM2gxRingLoop(RFM2GXRING Ring, RFM2G_UINT32 SpinUs);

/*
 * Ends the call of RFM2gxRingLoop(), if there is one. NOT_SUPPORTED: the ring has
 * no entries.
 */
STDRFM2GCALL RFM2gxRingStop(RFM2GXRING Ring);

/*
 * Maps a number of pages of the memory from Offset on, a multiple of the page
 * size, so that no store faults or waits. The driver does not search for these
 * stores: they leave this node only by RFM2gxPublish(), or by RFM2GX_OP_PUBLISH
 * in a batch. Until then, writes of other nodes may overwrite them.
 * RFM2gUnMapUserMemory() unmaps the memory. OUT_OF_RANGE: not inside the memory.
 * BAD_PARAMETER_3: Offset is no multiple of the page size. MEM_NOT_MAPPED: the
 * user may not write, or the driver is too old.
 */
STDRFM2GCALL RFM2gxManualMemory(RFM2GHANDLE rh, volatile void **Memory,
				RFM2G_UINT64 Offset, RFM2G_UINT32 Pages);

/*
 * Sends Length bytes of the memory of this node from Offset on to all other
 * nodes, whether or not they have changed: the stores into a mapping of
 * RFM2gxManualMemory(). More than RFM2GX_BATCH_BYTES are several writes.
 * BAD_PARAMETER_3: Length is 0. OUT_OF_RANGE: not inside the memory.
 */
STDRFM2GCALL RFM2gxPublish(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			   RFM2G_UINT32 Length);

/*
 * Queues of messages: one program sends, and programs on any nodes receive.
 *
 * A queue lies in the memory. It takes 64 bytes, 64 bytes for each reader, and
 * the bytes of the log. No other data may be there. The queue works between the
 * programs of one node as well. Only one thread at a time may use an open queue.
 */

/* Limits of the log, of the number of readers, and of a message, in bytes. */
#define RFM2GX_QUEUE_SIZE_MIN 1024
#define RFM2GX_QUEUE_SIZE_MAX 0x40000000
#define RFM2GX_QUEUE_READERS_MAX 64
#define RFM2GX_QUEUE_MESSAGE_MAX 65000

/* Timeout of RFM2gxQueueOpen(), in ms. */
#define RFM2GX_QUEUE_OPEN_MS 10000

typedef struct rfm2gxQueue *RFM2GXQUEUE;

/*
 * Creates a queue at Offset, a multiple of 64, with a log of Size bytes, a power
 * of two, and lines for a number of Readers. This program sends. If a queue is
 * there already, it begins again, and its readers get NOT_OPEN. The queue stays
 * in the memory when the program ends. UNALIGNED_OFFSET: Offset is no multiple
 * of 64. BAD_PARAMETER_3: invalid Size or Readers. BAD_PARAMETER_5: Queue is NULL.
 * OUT_OF_RANGE: not inside the memory. LOW_MEMORY: no memory.
 */
STDRFM2GCALL RFM2gxQueueCreate(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			       RFM2G_UINT32 Size, RFM2G_UINT32 Readers,
			       RFM2GXQUEUE *Queue);

/*
 * Opens the queue at Offset as its reader number Reader, from 0 on. Each reader
 * needs a number of its own, and gets all messages that are sent from now on.
 * If another program has this number, that program ends to be a reader.
 * NOT_OPEN: there is no queue. BAD_PARAMETER_3: there is no such line.
 * BAD_PARAMETER_4: Queue is NULL. TIMED_OUT: a ready node has not answered.
 */
STDRFM2GCALL RFM2gxQueueOpen(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			     RFM2G_UINT32 Reader, RFM2GXQUEUE *Queue);

/*
 * Closes a queue before its handle is closed, and sets Queue to NULL. The sender
 * no longer waits for this reader.
 */
STDRFM2GCALL RFM2gxQueueClose(RFM2GXQUEUE *Queue);

/*
 * Sends a message of Length bytes, at most a quarter of the log, and at most
 * RFM2GX_QUEUE_MESSAGE_MAX. TIMED_OUT: a reader leaves no room in the log for
 * TimeoutMs, and nothing was sent. A reader that has ended without
 * RFM2gxQueueClose() never makes room: open the queue with its number, or create
 * it again. BAD_PARAMETER_2: Buffer is NULL. BAD_PARAMETER_3: invalid
 * Length. MEM_READ_ONLY: this program is a reader. Other statuses are those of
 * RFM2gxBatch() and RFM2gxWatch().
 */
STDRFM2GCALL RFM2gxQueueSend(RFM2GXQUEUE Queue, const void *Buffer,
			     RFM2G_UINT32 Length, RFM2G_UINT32 TimeoutMs);

/*
 * Receives the next message into Buffer, and sets Length to the number of its
 * bytes. TIMED_OUT: there is none for TimeoutMs. BAD_PARAMETER_3: the message is
 * longer than Size; its length is in Length, and the message stays. READ_ERROR:
 * messages are lost, because a program has changed the memory of the queue; the
 * next call gets a later message. NOT_OPEN: the queue was created again.
 * NOT_ENABLED: this program sends. BAD_PARAMETER_2, BAD_PARAMETER_4: Buffer or
 * Length is NULL. Other statuses are those of RFM2gxWatch().
 */
STDRFM2GCALL RFM2gxQueueReceive(RFM2GXQUEUE Queue, void *Buffer,
				RFM2G_UINT32 Size, RFM2G_UINT32 *Length,
				RFM2G_UINT32 TimeoutMs);

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
	RFM2GX_REFUSED_BUSY,		/* the previous link is closing */
	RFM2GX_REFUSED_KEY,		/* it has another key */
	RFM2GX_REFUSED_SECURITY		/* it has another security level */
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
	RFM2G_UINT32 Security;		/* level of security, 0: none */
	RFM2G_UINT32 KeyId;		/* id of the link's key; 0: none */
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
