/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Commands of /dev/rfm2gN that the reflective-memory cards do not have. These
 * commands extend those of <rfm2g.h> and have a magic number of their own.
 *
 * Structures have the same layout for 32 and 64 bits. A command fails with
 * EINVAL if flags or reserved words in its argument are not 0. A driver that
 * lacks a command returns ENOTTY. A device that has been removed returns
 * ENODEV.
 */
#ifndef _UAPI_VRFM_H
#define _UAPI_VRFM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VRFM_MAGIC 0xEA

/* Value of a member timeout_ms that means no time limit. */
#define VRFM_FOREVER 0xFFFFFFFFU

/**
 * struct vrfm_flush - wait until the peers have this node's stores
 * @timeout_ms: time limit in ms; 0: do not wait, %VRFM_FOREVER: no limit
 * @flags: 0
 * @reached: result: number of peers that have all these stores
 * @behind: result: number of peers in VRFM_PEER_READY that have not
 *	acknowledged these stores in time
 * @absent: result: number of peers in another state; they catch up later
 * @reserved: 0
 *
 * The call covers everything that programs of this node stored before it, by
 * calls or through mappings. The results are also valid after ETIMEDOUT.
 */
struct vrfm_flush {
	__u32 timeout_ms;
	__u32 flags;
	__u32 reached;
	__u32 behind;
	__u32 absent;
	__u32 reserved;
};

/* Maximum number of bytes in one watch. */
#define VRFM_WATCH_MAX 65536

/**
 * struct vrfm_watch - wait until a part of the memory changes
 * @offset: offset of the first byte in the memory
 * @length: number of bytes, 1 to %VRFM_WATCH_MAX
 * @old: address of the @length bytes that the program expects at @offset; 0:
 *	expect the contents at the beginning of the call
 * @timeout_ms: time limit in ms; 0: do not wait, %VRFM_FOREVER: no limit
 * @flags: 0
 * @changed: result: offset in the memory of the first byte that differs
 * @reserved: 0
 *
 * Returns as soon as the bytes differ from @old, whichever node stored them. So
 * the call does not miss a change that happens between reading the bytes and
 * this call. A change that is reverted before the driver compares is not
 * reported.
 */
struct vrfm_watch {
	__u32 offset;
	__u32 length;
	__u64 old;
	__u32 timeout_ms;
	__u32 flags;
	__u32 changed;
	__u32 reserved;
};

/**
 * struct vrfm_claim - range of the memory that this program stores into
 * @offset: offset of the first byte
 * @length: number of bytes, not 0
 * @flags: 0
 * @reserved: 0
 *
 * Each block of 64 KiB either gets direct writes of the peers, or is stored
 * into through mappings of this node. After a second without a store through a
 * mapping, the peers write directly again. The next such store into the block
 * waits some hundred microseconds, until all peers have been notified and have
 * stopped.
 *
 * A program whose stores must not wait claims its range before it begins. Until
 * it gives the range back or closes the file, no peer writes directly into the
 * range. Each page of the range stays writable after the first store into it.
 * To avoid page faults later, store once into each page at the beginning, or
 * use MADV_POPULATE_WRITE. The kernel keeps a copy of each of these pages,
 * which is charged to the program. A claim is not exclusive: many programs and
 * nodes may claim the same range.
 */
struct vrfm_claim {
	__u32 offset;
	__u32 length;
	__u32 flags;
	__u32 reserved;
};

/**
 * enum vrfm_peer_link - state of a peer
 * @VRFM_PEER_DOWN: not connected
 * @VRFM_PEER_SYNCING: the peer is catching up: it lacks some words of this node
 * @VRFM_PEER_READY: all words of this node are at the peer or in flight
 */
enum vrfm_peer_link {
	VRFM_PEER_DOWN,
	VRFM_PEER_SYNCING,
	VRFM_PEER_READY,
};

/* Flag: all words of the peer are at this node or in flight to it. */
#define VRFM_PEER_SYNCED 1
/*
 * Flag: the peer may lack all words of this node, not only those that
 * &vrfm_peer_state.missed counts.
 */
#define VRFM_PEER_MISSES_ALL 2
/* Flag: this node and the peer have the same image, so neither loads one. */
#define VRFM_PEER_SAME_IMAGE 4

/**
 * enum vrfm_refusal - reason why a node refuses a connection to a peer
 * @VRFM_REFUSAL_NONE: not refused
 * @VRFM_REFUSAL_PROTOCOL: the peer does not speak vrfm's protocol
 * @VRFM_REFUSAL_VERSION: the peer speaks another version
 * @VRFM_REFUSAL_NETWORK: the peer belongs to another network
 * @VRFM_REFUSAL_SIZE: the peer's memory has another size
 * @VRFM_REFUSAL_NODE: the peer has the same node id as this node
 * @VRFM_REFUSAL_UNKNOWN: the peer's id and address are not those of a
 *	configured peer
 * @VRFM_REFUSAL_TWICE: another node with the peer's id is connected
 * @VRFM_REFUSAL_BUSY: the previous connection has not ended yet
 * @VRFM_REFUSAL_KEY: the peer has another key
 * @VRFM_REFUSAL_SECURITY: the peer has another level of security
 *
 * Later versions may add further reasons.
 */
enum vrfm_refusal {
	VRFM_REFUSAL_NONE,
	VRFM_REFUSAL_PROTOCOL,
	VRFM_REFUSAL_VERSION,
	VRFM_REFUSAL_NETWORK,
	VRFM_REFUSAL_SIZE,
	VRFM_REFUSAL_NODE,
	VRFM_REFUSAL_UNKNOWN,
	VRFM_REFUSAL_TWICE,
	VRFM_REFUSAL_BUSY,
	VRFM_REFUSAL_KEY,
	VRFM_REFUSAL_SECURITY,
};

/**
 * enum vrfm_security - level of security of a device, and of all its peers
 * @VRFM_SECURITY_NONE: a peer is what it says itself
 * @VRFM_SECURITY_AUTH: peers prove that they have the key
 * @VRFM_SECURITY_INTEGRITY: messages are protected against changes as well
 * @VRFM_SECURITY_ENCRYPT: messages are encrypted as well
 */
enum vrfm_security {
	VRFM_SECURITY_NONE,
	VRFM_SECURITY_AUTH,
	VRFM_SECURITY_INTEGRITY,
	VRFM_SECURITY_ENCRYPT,
};

/**
 * struct vrfm_peer_state - state and statistics of a peer
 * @node: node id of the peer
 * @state: enum vrfm_peer_link
 * @flags: VRFM_PEER_...
 * @lag: number of messages that the peer has not acknowledged
 * @missed: number of bytes that the peer lacks
 * @since_ms: time since the last change of @state, in ms
 * @links: number of connections so far
 * @messages: number of messages sent to the peer
 * @received: number of messages received from the peer
 * @bytes_sent: bytes sent in messages, and written directly into its memory
 * @bytes_received: bytes received in messages; direct writes are not counted
 * @overloads: number of times that this node left the peer behind (stopped
 *	waiting for it), because the peer was too slow
 * @protocol_errors: number of invalid messages from the peer
 * @events_dropped: number of events to and from the peer that found no room
 * @family: address family of @address: AF_INET, AF_INET6, or 0: any
 * @port: port of @address, in host byte order
 * @scope: scope of an IPv6 address, or 0
 * @address: configured address, 4 or 16 bytes in network byte order
 * @late_ms: age of the oldest unacknowledged message, in ms
 * @error: if DOWN: errno of the last failed attempt to connect to the peer, or
 *	of the end of the last connection; 0: neither happened
 * @refusal: if DOWN: reason for which the peer refused this node, or this node
 *	refused the peer: enum vrfm_refusal
 * @path_mtu: path MTU of the last connection, in bytes of RDMA payload; 0: not
 *	known
 * @local_mtu: largest path MTU of this host's interface in bytes; 0: not known
 * @peer_mtu: largest path MTU of the peer's interface in bytes; 0: not known.
 *	If it differs from @local_mtu, the two interfaces have different MTUs
 * @security: level of security of the device: enum vrfm_security
 * @key_id: id of the key of the present connection; 0: not connected, or no
 *	level
 *
 * Later versions may append members, see &vrfm_peers.peer_size.
 */
struct vrfm_peer_state {
	__u32 node;
	__u32 state;
	__u32 flags;
	__u32 lag;
	__u64 missed;
	__u64 since_ms;
	__u64 links;
	__u64 messages;
	__u64 received;
	__u64 bytes_sent;
	__u64 bytes_received;
	__u64 overloads;
	__u64 protocol_errors;
	__u64 events_dropped;
	__u16 family;
	__u16 port;
	__u32 scope;
	__u8 address[16];
	__u32 late_ms;
	__u32 error;
	__u32 refusal;
	__u32 path_mtu;
	__u32 local_mtu;
	__u32 peer_mtu;
	__u32 security;
	__u32 key_id;
};

/* Minimum of &vrfm_peers.peer_size: the size in the first version. */
#define VRFM_PEER_SIZE 120

/*
 * Value of &vrfm_peers.image: the device is loading the image, or must load
 * words of it later from a peer that loads an image itself.
 */
#define VRFM_IMAGE_LOADING 1

/**
 * struct vrfm_peers - list of all peers
 * @peers: address of a buffer of @count times @peer_size bytes
 * @peer_size: bytes of &struct vrfm_peer_state in the program's version.
 *	Members that the driver lacks are zeroed, members that the program lacks
 *	are omitted
 * @count: number of elements in the buffer; result: number of peers, which may
 *	be larger
 * @flags: 0
 * @image: result: 0 or %VRFM_IMAGE_LOADING
 * @loaded: result: number of bytes of the image that the device has loaded, or
 *	found equal, so far; 0 unless a peer sends an image
 * @size: result: bytes of the memory
 * @lineage: result: number of the image; nodes with the same image have the
 *	same number
 */
struct vrfm_peers {
	__u64 peers;
	__u32 peer_size;
	__u32 count;
	__u32 flags;
	__u32 image;
	__u64 loaded;
	__u64 size;
	__u64 lineage;
};

/**
 * struct vrfm_poll_events - event types that poll() reports for this file
 * @in: types that poll() reports as POLLIN while an event of the type is
 *	queued: bit mask, 1 << enum rfm2g_event
 * @pri: types that poll() reports as POLLPRI while an event of the type is
 *	queued: bit mask
 * @flags: 0
 * @reserved: 0
 *
 * Without this command, POLLIN reports the network events (RESET to INTR4), and
 * POLLPRI reports faults.
 */
struct vrfm_poll_events {
	__u32 in;
	__u32 pri;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct vrfm_unwait - end waits for events
 * @events: bit mask of event types, 1 << enum rfm2g_event
 * @flags: 0
 *
 * Ends the waits of this process through this file. Waits of other processes
 * and through other files continue, unlike with the cards' CANCEL_EVENT.
 */
struct vrfm_unwait {
	__u32 events;
	__u32 flags;
};

/*
 * Offset in the device file at which mmap() maps the status page. PROT_READ is
 * the only protection that is allowed.
 */
#define VRFM_STATUS_OFFSET 0x100000000ULL
/*
 * Offset in the device file at which mmap() maps the memory manually: its pages
 * are writable at once, no store faults, and the driver does not search for
 * stores. They leave this node only by VRFM_OP_PUBLISH. Until then, writes of
 * other nodes and the load of an image may overwrite them.
 */
#define VRFM_MMAP_MANUAL 0x10000000000ULL
#define VRFM_STATUS_VERSION 1
#define VRFM_STATUS_NODES 256

/* Flag in the status page: the node of this entry is a peer. */
#define VRFM_STATUS_PRESENT 0x80000000U

/**
 * struct vrfm_status_peer - a node in the status page
 * @seq: sequence count, odd while the driver changes the members below
 * @state: enum vrfm_peer_link
 * @flags: %VRFM_STATUS_PRESENT, %VRFM_PEER_SYNCED, %VRFM_PEER_MISSES_ALL
 * @lag: number of messages that the peer has not acknowledged
 * @heard_ns: time of the last message from the peer, CLOCK_MONOTONIC, in ns; 0:
 *	none yet. Direct writes of the peer do not count
 * @since_ns: time of the last change of @state, CLOCK_MONOTONIC, in ns
 * @overloads: number of times that this node left the peer behind
 * @left: number of times that the peer left this node behind
 * @reserved: 0
 *
 * @lag and @heard_ns can be read alone at any time. To get a consistent set of
 * @state, @flags, @since_ns, @overloads and @left, a program reads @seq, then
 * these members, then @seq again, in this order. It repeats these steps if @seq
 * was odd or has changed.
 */
struct vrfm_status_peer {
	__u32 seq;
	__u32 state;
	__u32 flags;
	__u32 lag;
	__u64 heard_ns;
	__u64 since_ns;
	__u64 overloads;
	__u64 left;
	__u64 reserved[2];
};

/**
 * struct vrfm_status - the status page of a device
 * @version: %VRFM_STATUS_VERSION; does not change if members are added
 * @size: bytes of the whole structure
 * @first: offset of @peers in bytes
 * @peer_size: bytes of each element of @peers, at least 64
 * @nodes: number of elements of @peers
 * @node: id of this node
 * @reserved: 0
 * @peers: all possible nodes, indexed by id
 */
struct vrfm_status {
	__u32 version;
	__u32 size;
	__u32 first;
	__u32 peer_size;
	__u32 nodes;
	__u32 node;
	__u64 reserved[5];
	struct vrfm_status_peer peers[VRFM_STATUS_NODES];
};

/* Type of a record that fills the rest of the area: skip it. */
#define VRFM_REC_PAD 0
/* Type of a record that reports dropped records, see &vrfm_record.lost. */
#define VRFM_REC_LOST 1
/* Type of a record about an event, see &vrfm_record.event. */
#define VRFM_REC_EVENT 2
/* Type of a record about written bytes, see &vrfm_record.written. */
#define VRFM_REC_WRITTEN 3
/* Type of a record about the state of a peer, see &vrfm_record.link. */
#define VRFM_REC_LINK 4
/* Type of a record about the load of an image, see &vrfm_record.image. */
#define VRFM_REC_IMAGE 5
/* Type of a record about a submitted batch, see &vrfm_record.done. */
#define VRFM_REC_DONE 6
/*
 * Types of records of %VRFM_SUB_TAP, which may have a payload. STORED: a call of
 * this node stored bytes. FOUND: programs of this node stored bytes through
 * mappings. APPLIED: a message of a peer stored bytes here. PLACED: this node
 * writes bytes directly into the memory of a peer.
 */
#define VRFM_REC_STORED 16
#define VRFM_REC_FOUND 17
#define VRFM_REC_APPLIED 18
#define VRFM_REC_PLACED 19
/* Messages to a peer, and from a peer, see &vrfm_record.message. */
#define VRFM_REC_SENT 20
#define VRFM_REC_RECEIVED 21
/* Events that this device raised, and that this node sent. */
#define VRFM_REC_RAISED 22
#define VRFM_REC_TOLD 23
/*
 * A peer may write directly into the memory of this node from now on; with a
 * length of 0: not any more. This node does not notice such writes.
 */
#define VRFM_REC_HOLE 24
/* In files of recorders only: content of the memory when the file begins. */
#define VRFM_REC_IMAGE_AT 25

/*
 * Flag of a record: it covers several changes. A WRITTEN has the hull of all
 * bytes; other records show the last change.
 */
#define VRFM_REC_MERGED 1
/* Flag: the payload lacks bytes, because it is limited or may not be shown. */
#define VRFM_REC_CUT 2
/* Flag of WRITTEN, STORED, FOUND and PLACED: this node wrote the bytes. */
#define VRFM_REC_OWN 4
/* Flag of %VRFM_REC_EVENT: no event, but the end of a %VRFM_SUB_TAKE. */
#define VRFM_REC_CANCELLED 8
/* Flag of %VRFM_REC_APPLIED: the bytes are from an image that is being loaded. */
#define VRFM_REC_FROM_IMAGE 16

/* Value of &vrfm_record.node: no node. */
#define VRFM_REC_NO_NODE 0xFFFF

/**
 * struct vrfm_record - a record of a ring
 * @type: VRFM_REC_...; programs must skip types that they do not know
 * @flags: %VRFM_REC_MERGED, %VRFM_REC_CUT, %VRFM_REC_OWN, %VRFM_REC_CANCELLED,
 *	%VRFM_REC_FROM_IMAGE
 * @slots: number of slots of 64 bytes that the record takes, with this one. The
 *	payload begins in the second slot
 * @node: event: id of the sender; fault: id of the peer that the fault
 *	concerns; link: id of the peer; written: id of the writer; records of a
 *	tap: id of the writer or sender; HOLE: id of the peer;
 *	%VRFM_REC_NO_NODE: none, as for RESET, or several writers
 * @offset: WRITTEN, STORED, FOUND, APPLIED, PLACED: offset of the first byte that
 *	was written; 0 in other records
 * @length: number of bytes from the first to the last that was written; SENT,
 *	RECEIVED: number of bytes after the header of the message; HOLE: number
 *	of bytes of the memory, or 0; otherwise 0. The payload has as many bytes,
 *	or as many as &vrfm_ring.snap if the record has the flag %VRFM_REC_CUT.
 *	HOLE has no payload
 * @serial: number of the last write, as its writer counts them; 0 if several
 *	nodes wrote, or in an acknowledgment. TOLD: number of the event
 * @time_ns: time when the record was put into the ring, on the clock of the
 *	ring, in ns
 * @cookie: cookie of the subscription; 0 in %VRFM_REC_PAD and %VRFM_REC_LOST
 * @lost: content of %VRFM_REC_LOST
 * @lost.count: number of records that were dropped at this point of the stream
 * @event: content of %VRFM_REC_EVENT, %VRFM_REC_RAISED and %VRFM_REC_TOLD
 * @event.event: type of the event: enum rfm2g_event
 * @event.data: data of the sender
 * @event.to: TOLD: id of the receiver, or %VRFM_REC_NO_NODE for all other nodes;
 *	otherwise 0
 * @link: content of %VRFM_REC_LINK
 * @link.state: state of the peer: enum vrfm_peer_link
 * @link.flags: %VRFM_STATUS_PRESENT, %VRFM_PEER_SYNCED, %VRFM_PEER_MISSES_ALL;
 *	without %VRFM_STATUS_PRESENT: the node is no peer any more
 * @link.error: if DOWN: errno of the end of the last connection; 0: none
 * @written: content of %VRFM_REC_WRITTEN
 * @written.bytes: number of bytes that were written, at most 2^32 - 1. A byte
 *	that was written twice counts twice
 * @written.messages: number of messages, calls and pages that wrote the bytes;
 *	more than 1 only with %VRFM_REC_MERGED
 * @image: content of %VRFM_REC_IMAGE
 * @image.state: 1: a load has begun, and words may change without a WRITTEN; 0:
 *	the load has ended
 * @done: content of %VRFM_REC_DONE
 * @done.result: 0, or the errno of the batch as a negative number. ETIMEDOUT:
 *	done, and not all peers have applied it. After other errors it has no
 *	effect
 * @done.reached: with %VRFM_OP_ACKED: number of peers that have applied it
 * @done.behind: number of peers that are READY, and have not
 * @done.absent: number of peers that are not READY
 * @done.first: id of one peer that is behind; otherwise %VRFM_REC_NO_NODE
 * @done.ops: number of operations of the batch
 * @done.failed: index of the invalid operation after EINVAL, E2BIG and EFAULT
 * @placed: content of %VRFM_REC_PLACED
 * @placed.peer: id of the peer
 * @message: content of %VRFM_REC_SENT and %VRFM_REC_RECEIVED: words of the header
 *	of the message, see Documentation/protocol.rst
 * @message.type: type of the message
 * @message.flags: flags of the message
 * @message.count: number of runs
 * @message.peer: id of the peer at the other end of the link
 * @message.sequence: number of the message
 * @message.applied: acknowledgment in the message
 * @raw: the content as three words
 */
struct vrfm_record {
	__u16 type;
	__u16 flags;
	__u16 slots;
	__u16 node;
	__u32 offset;
	__u32 length;
	__u64 serial;
	__u64 time_ns;
	__u64 cookie;
	union {
		struct {
			__u64 count;
		} lost;
		struct {
			__u32 event;
			__u32 data;
			__u32 to;
		} event;
		struct {
			__u32 state;
			__u32 flags;
			__u32 error;
		} link;
		struct {
			__u32 bytes;
			__u32 messages;
		} written;
		struct {
			__u32 state;
		} image;
		struct {
			__s32 result;
			__u16 reached;
			__u16 behind;
			__u16 absent;
			__u16 first;
			__u32 ops;
			__u32 failed;
		} done;
		struct {
			__u32 peer;
		} placed;
		struct {
			__u8 type;
			__u8 flags;
			__u16 count;
			__u32 peer;
			__u64 sequence;
			__u64 applied;
		} message;
		__u64 raw[3];
	};
};

/* Limits of a ring. */
#define VRFM_RING_SLOTS_MIN 64
#define VRFM_RING_SLOTS_MAX 1048576
#define VRFM_RING_SUBS_MAX 64
#define VRFM_RING_WAKE_US_MAX 1000000
#define VRFM_RING_SUBMITS_MIN 8
#define VRFM_RING_SUBMITS_MAX 1024
/* Largest number of bytes of a payload. Longer writes have several records. */
#define VRFM_RING_SNAP_MAX 65536
/* Largest number of bytes in all ranges of a ring. */
#define VRFM_RING_RANGE_MAX 4194304
/* Largest number of rings of an open file, and of a device. */
#define VRFM_RINGS_PER_FILE 16
#define VRFM_RINGS_PER_DEVICE 64

/* Flag of a ring: its descriptor has O_NONBLOCK set. */
#define VRFM_RING_NONBLOCK 1

/**
 * struct vrfm_ring - create a ring
 * @size: bytes of this structure in the program's version, at least 64
 * @flags: %VRFM_RING_NONBLOCK
 * @slots: number of slots of 64 bytes: a power of two from
 *	%VRFM_RING_SLOTS_MIN to %VRFM_RING_SLOTS_MAX
 * @submits: number of submission entries: 0, or a power of two from
 *	%VRFM_RING_SUBMITS_MIN to %VRFM_RING_SUBMITS_MAX
 * @snap: largest number of bytes of a payload, at most %VRFM_RING_SNAP_MAX and 16
 *	times @slots
 * @clock: clock of &vrfm_record.time_ns: CLOCK_MONOTONIC, CLOCK_REALTIME,
 *	CLOCK_TAI or CLOCK_BOOTTIME
 * @user_len: result: bytes of the area of &struct vrfm_ring_user
 * @kernel_len: result: bytes of the area of &struct vrfm_ring_kernel
 * @kernel_at: result: offset for mmap() of the latter area; the former is at 0
 * @reserved1: 0
 *
 * The ring has a descriptor of its own, which is closed by execve(). It holds
 * the open file of the device. Each of the two areas is mapped by mmap() with
 * MAP_SHARED, the second one for reading only. A child does not inherit the
 * mappings, only the descriptor.
 *
 * Records have indices that count from 0 and wrap at 2^32. The record of index
 * i is in slot i % @slots. The records from &vrfm_ring_user.head up to, and
 * without, &vrfm_ring_kernel.tail are unread. A program loads tail with acquire
 * semantics, handles the records, and then stores head with release semantics.
 * A ring has one reader at a time.
 */
struct vrfm_ring {
	__u32 size;
	__u32 flags;
	__u32 slots;
	__u32 submits;
	__u32 snap;
	__s32 clock;
	__u32 user_len;
	__u32 kernel_len;
	__u64 kernel_at;
	__u64 reserved1[3];
};

/**
 * struct vrfm_ring_user - area of a ring that the program writes
 * @head: index of the first record that is not released. The kernel ignores a
 *	value that is not between the last valid one and tail
 * @wake: poll() reports the ring as readable when tail has passed this index
 * @wake_us: poll() and %VRFM_RING_ENTER also end when a record has been unread
 *	for this time, in us, at most %VRFM_RING_WAKE_US_MAX; 0: never
 * @reserved0: 0
 * @submit_tail: index behind the last submission entry that is ready
 * @reserved1: 0
 *
 * Submission entries are &struct vrfm_op, and follow at %VRFM_RING_ENTRIES_AT.
 * Their indices wrap like those of records. A program writes entries, and then
 * stores @submit_tail with release semantics. It may write an entry again when
 * &vrfm_ring_kernel.submit_head, which it loads with acquire semantics, has
 * passed it.
 *
 * To be woken after k slots, or after t us, set @wake to @head + k - 1, and
 * @wake_us to t. With a @wake behind @head, each record makes the ring
 * readable. An index is behind for 2^31 slots only, so move @wake along with
 * @head. The time of @wake_us begins when a record is put into an empty ring, or
 * when the kernel notices that the program released only a part of the records.
 */
struct vrfm_ring_user {
	__u32 head;
	__u32 wake;
	__u32 wake_us;
	__u32 reserved0[13];
	__u32 submit_tail;
	__u32 reserved1[15];
};

/* Offset of the first submission entry in the area of the program. */
#define VRFM_RING_ENTRIES_AT 4096

/*
 * Flag of a ring: events, states of peers, or notices of writes wait for free
 * slots. Release records, and call VRFM_RING_ENTER, poll() or read().
 */
#define VRFM_RING_MORE 1
/* Flag: records were dropped, and no VRFM_REC_LOST reports them yet. */
#define VRFM_RING_LOST 2
/* Flag: the device was removed. The unread records can still be read. */
#define VRFM_RING_GONE 4

/* Flag of submissions: the thread with %VRFM_ENTER_LOOP must be woken. */
#define VRFM_SUBMIT_SLEEPS 1
/* Flag: a thread executes the batches, see %VRFM_ENTER_LOOP. */
#define VRFM_SUBMIT_LOOP 2

#define VRFM_RING_VERSION 1

/**
 * struct vrfm_ring_kernel - area of a ring that the kernel writes
 * @tail: index behind the last record
 * @flags: %VRFM_RING_MORE, %VRFM_RING_LOST, %VRFM_RING_GONE
 * @lost: number of records that were dropped since the ring was created
 * @merged: number of changes that have no record of their own, because a later
 *	change replaced them or merged with them
 * @reserved0: 0
 * @submit_head: index of the first submission entry that is not taken
 * @submit_flags: %VRFM_SUBMIT_LOOP, %VRFM_SUBMIT_SLEEPS
 * @reserved1: 0
 * @slots: number of slots
 * @submits: number of submission entries
 * @records_at: offset of the first slot in this area, in bytes
 * @version: %VRFM_RING_VERSION; does not change if members are added
 * @size: bytes of the memory
 * @real_ns: CLOCK_REALTIME minus the clock of the ring, at its creation, in ns
 * @node: id of this node
 * @snap: largest number of bytes of a payload
 * @reserved2: 0
 */
struct vrfm_ring_kernel {
	__u32 tail;
	__u32 flags;
	__u64 lost;
	__u64 merged;
	__u32 reserved0[10];
	__u32 submit_head;
	__u32 submit_flags;
	__u32 reserved1[14];
	__u32 slots;
	__u32 submits;
	__u32 records_at;
	__u32 version;
	__u64 size;
	__s64 real_ns;
	__u32 node;
	__u32 snap;
	__u32 reserved2[6];
};

/* Kinds of subscriptions. */
#define VRFM_SUB_EVENTS 1
#define VRFM_SUB_RANGE 2
#define VRFM_SUB_LINKS 3
#define VRFM_SUB_TAP 4

/* Flag: remove all subscriptions of the ring that have this cookie. */
#define VRFM_SUB_REMOVE 1
/* Flag of %VRFM_SUB_EVENTS: take the events instead of copying them. */
#define VRFM_SUB_TAKE 2
/* Flag of %VRFM_SUB_RANGE: report the writes of this node as well. */
#define VRFM_SUB_OWN 4
/* Flag of %VRFM_SUB_TAP: let no peer write directly into the tapped part. */
#define VRFM_SUB_ALL 8

/* Bit of a type of record in &vrfm_subscribe.kinds, and all bits. */
#define VRFM_TAP_KIND(type) (1 << ((type) - VRFM_REC_STORED))
#define VRFM_TAP_KINDS 0x1FF

/**
 * struct vrfm_subscribe - let a ring get records, or no more
 * @what: %VRFM_SUB_EVENTS, %VRFM_SUB_RANGE, %VRFM_SUB_LINKS or %VRFM_SUB_TAP; with
 *	%VRFM_SUB_REMOVE: 0
 * @flags: %VRFM_SUB_REMOVE, %VRFM_SUB_TAKE, %VRFM_SUB_OWN or %VRFM_SUB_ALL
 * @offset: RANGE, TAP: offset of the first byte; otherwise 0
 * @length: RANGE: number of bytes, not 0; TAP: number of bytes, or 0 for the whole
 *	memory; otherwise 0
 * @cookie: value that the records of this subscription have
 * @events: EVENTS: types of events: bit mask, 1 << enum rfm2g_event
 * @kinds: TAP: types of records: bit mask of VRFM_TAP_KIND(); otherwise 0
 * @nodes: bit mask of the nodes: senders of events, peers that faults concern,
 *	peers of LINKS, or writers; all 0: every node. The mask does not matter
 *	for the writes of this node, see %VRFM_SUB_OWN. A RESET has no sender, and matches
 *	any mask. With %VRFM_SUB_TAKE: 0. TAP: for PLACED, SENT, RECEIVED and
 *	HOLE the peer, for TOLD the receiver, for other records the writer or
 *	sender
 *
 * EVENTS: without %VRFM_SUB_TAKE, the ring gets a copy of each event, also while
 * its type is disabled. The copies do not change the queues of the device. With
 * %VRFM_SUB_TAKE, the ring is the waiter of these types, as a task in
 * RFM2G_WAIT_FOR_EVENT is. It gets the events that are ready, in order, and they
 * leave the queue. The type must be enabled as for a wait. If the ring is full,
 * events stay in the queue. RFM2G_CANCEL_EVENT ends it for a type with a record
 * that has the flag %VRFM_REC_CANCELLED.
 *
 * RANGE: the ring gets a record for each message, call, and page with stores
 * through mappings that writes into the range, whether or not it changes a value.
 * If the ring is full, these records merge. The command returns when no peer
 * writes directly into the range any more. While an image is loaded, words may
 * change without such a record: read the range when %VRFM_REC_IMAGE has reported
 * the end of the load.
 *
 * LINKS: the ring gets a record for each peer with its present state, and one
 * for each change. If the ring is full, the newest state of each peer follows
 * later.
 *
 * TAP: the ring gets a record for each write, message and event of the given types.
 * STORED, FOUND, APPLIED and PLACED match if they touch the part. The payload of
 * SENT and RECEIVED is the message without its header; that of a STAGE is not
 * shown, because it has keys. If the ring is full, records are dropped and counted.
 * The caller needs CAP_SYS_ADMIN, or must be in the group of the parameter tap_gid.
 */
struct vrfm_subscribe {
	__u32 what;
	__u32 flags;
	__u32 offset;
	__u32 length;
	__u64 cookie;
	__u32 events;
	__u32 kinds;
	__u64 nodes[4];
};

/*
 * Flag of VRFM_RING_ENTER: execute the batches of the ring until a signal (EINTR),
 * %VRFM_ENTER_STOP (success), a close() of the ring in this process (EIDRM), the
 * removal of the device (ENODEV), or an invalid submit_tail (EBADR).
 */
#define VRFM_ENTER_LOOP 1
/* Flag: wake the thread with %VRFM_ENTER_LOOP. */
#define VRFM_ENTER_KICK 2
/* Flag: let the call with %VRFM_ENTER_LOOP return. */
#define VRFM_ENTER_STOP 4
/* Largest value of &vrfm_enter.spin_us. */
#define VRFM_ENTER_SPIN_US_MAX 1000000

/* Value of &vrfm_enter.timeout_ns that means no time limit. */
#define VRFM_ENTER_FOREVER 0xFFFFFFFFFFFFFFFFULL

/**
 * struct vrfm_enter - submit batches through a ring, and wait for records
 * @submit: maximum number of submission entries to take; result: number of
 *	entries that were taken, also after an error
 * @records: number of unread slots to wait for, at most the slots of the ring;
 *	0: do not wait
 * @flags: %VRFM_ENTER_LOOP, with all other members 0 except @spin_us; or
 *	%VRFM_ENTER_KICK, %VRFM_ENTER_STOP, or both
 * @spin_us: LOOP: time without entries after which the thread sleeps, in us, at
 *	most %VRFM_ENTER_SPIN_US_MAX. Before that, it occupies a processor
 * @timeout_ns: time limit in ns; 0: do not wait, %VRFM_ENTER_FOREVER: no limit
 * @reserved: 0
 *
 * First, the call takes the submission entries that are ready. Entries up to the
 * first one without %VRFM_OP_MORE are a batch. Batches are taken as a whole: one
 * that has more entries than are left of @submit stays. A batch that is invalid
 * is taken, too, and its record has the error.
 *
 * Then the call waits, unless taking entries has failed.
 *
 * With %VRFM_ENTER_LOOP, a thread executes the batches that other threads of the
 * program submit without a call. After it has stored submit_tail, a submitter
 * executes a full barrier, and loads &vrfm_ring_kernel.submit_flags. If
 * %VRFM_SUBMIT_SLEEPS is set, it calls %VRFM_ENTER_KICK. Only one thread at a
 * time executes batches: other calls with LOOP, or with @submit, fail with EBUSY.
 * The thread has its own priority and affinity, and its time is that of the
 * program.
 *
 * The call reads &vrfm_ring_user.head, and fills the free slots with what waits
 * for them. The wait also ends if records are unread and &vrfm_ring_user.wake_us
 * has passed, the ring has no room for the next record, or the device was
 * removed.
 */
struct vrfm_enter {
	__u32 submit;
	__u32 records;
	__u32 flags;
	__u32 spin_us;
	__u64 timeout_ns;
	__u64 reserved;
};

/* Operations of a batch. */
#define VRFM_OP_WRITE 1
#define VRFM_OP_INLINE 2
#define VRFM_OP_PUBLISH 3
#define VRFM_OP_EVENT 4

/* Flag of an operation: the batch continues with the next operation. */
#define VRFM_OP_MORE 1
/* Flag of a submitted batch: add a record when it is done. */
#define VRFM_OP_DONE 2
/*
 * Flag of a batch: wait until all peers that are READY have applied it. A
 * submitted batch has its record then, or after 10 s.
 */
#define VRFM_OP_ACKED 4
/* Flag of a batch: do not send earlier stores into mappings first. */
#define VRFM_OP_NOFLUSH 8

/* Value of &vrfm_op.node: all other nodes. */
#define VRFM_OP_ALL_NODES 0xFFFF

/* Limits of a batch: operations, bytes of all writes, and events. */
#define VRFM_BATCH_OPS 64
#define VRFM_BATCH_BYTES 65536
#define VRFM_BATCH_EVENTS 8
/* Largest number of bytes of %VRFM_OP_INLINE. */
#define VRFM_OP_BYTES 32

/**
 * struct vrfm_op - an operation of a batch
 * @op: %VRFM_OP_WRITE, %VRFM_OP_INLINE, %VRFM_OP_PUBLISH or %VRFM_OP_EVENT
 * @flags: %VRFM_OP_MORE in all operations of a batch except the last. The last
 *	one: 0, or if it is submitted, flags of the batch: %VRFM_OP_DONE,
 *	%VRFM_OP_ACKED, %VRFM_OP_NOFLUSH
 * @node: EVENT: id of the receiver, or %VRFM_OP_ALL_NODES; otherwise 0
 * @offset: offset of the first byte in the memory; EVENT: 0
 * @length: number of bytes: WRITE, PUBLISH: 1 to %VRFM_BATCH_BYTES; INLINE: 1
 *	to %VRFM_OP_BYTES; EVENT: 0
 * @event: EVENT: type of the event, up to INTR4: enum rfm2g_event; otherwise 0
 * @source: WRITE: address of the bytes; otherwise 0
 * @cookie: value of the program. The record of a submitted batch has that of its
 *	last operation
 * @data: INLINE: the bytes; EVENT: the data of the event in the first 4 bytes,
 *	in the byte order of the host. All other bytes are 0
 *
 * PUBLISH writes the bytes that the memory of this node has in the range: the
 * stores of the program, whether or not they change a value. The bytes are read
 * once, when the batch takes effect, and no aligned word of up to 8 bytes is
 * torn. A store that is concurrent with the batch may be included or not.
 */
struct vrfm_op {
	__u8 op;
	__u8 flags;
	__u16 node;
	__u32 offset;
	__u32 length;
	__u32 event;
	__u64 source;
	__u64 cookie;
	__u8 data[VRFM_OP_BYTES];
};

/**
 * struct vrfm_batch - write several blocks and send events in one step
 * @ops: address of the operations, an array of &struct vrfm_op
 * @count: number of operations, 1 to %VRFM_BATCH_OPS
 * @flags: %VRFM_OP_ACKED, %VRFM_OP_NOFLUSH
 * @timeout_ms: with %VRFM_OP_ACKED: limit of the wait for acknowledgments;
 *	%VRFM_FOREVER: no limit. Otherwise 0
 * @failed: result: after EINVAL, E2BIG and EFAULT the index of the invalid
 *	operation; otherwise 0
 * @serial: result: number of the batch among the writes of this node; without
 *	writes, and while the transmitter is off: of the last write before it
 * @reached: result: number of peers that have applied the batch, like the next
 *	two with %VRFM_OP_ACKED only
 * @behind: result: number of peers that are READY, and have not applied it yet
 * @absent: result: number of peers that are not READY
 * @reserved: 0
 *
 * The whole batch is checked before it has an effect. Then it is one write with
 * one number: no other write of this node comes between its operations, and each
 * peer gets them in their order. Peers and readers may see a part of a batch.
 */
struct vrfm_batch {
	__u64 ops;
	__u32 count;
	__u32 flags;
	__u32 timeout_ms;
	__u32 failed;
	__u64 serial;
	__u32 reached;
	__u32 behind;
	__u32 absent;
	__u32 reserved;
};

/*
 * Argument: struct vrfm_flush. ETIMEDOUT: not all peers have the stores. EINTR:
 * the task was killed. While the call sends stores, it may wait for a slow peer
 * as a write does. This wait may end later than the timeout.
 */
#define VRFM_FLUSH _IOWR(VRFM_MAGIC, 1, struct vrfm_flush)
/*
 * Argument: struct vrfm_watch. ETIMEDOUT: no change. EINTR: a signal handler
 * ran or, if old is 0, the task was frozen, stopped or traced. EIDRM:
 * VRFM_UNWATCH, a close(), or the removal of the device ended the call.
 */
#define VRFM_WATCH _IOWR(VRFM_MAGIC, 2, struct vrfm_watch)
/* No argument. Ends the VRFM_WATCH calls of this process through this file. */
#define VRFM_UNWATCH _IO(VRFM_MAGIC, 3)
/* Argument: struct vrfm_peers. E2BIG: peer_size is more than a page. */
#define VRFM_PEERS _IOWR(VRFM_MAGIC, 4, struct vrfm_peers)
/*
 * Argument: struct vrfm_claim. EINTR: the task was killed. ETIMEDOUT: a peer
 * did not answer for ten seconds, or for twice the device's parameter stage_ms
 * if that is longer. ENOMEM: out of memory. After an error, the part that was
 * claimed so far stays claimed.
 */
#define VRFM_CLAIM _IOW(VRFM_MAGIC, 5, struct vrfm_claim)
/*
 * Argument: struct vrfm_claim. EINTR: the task was killed. The command ignores
 * parts of the range that are not claimed.
 */
#define VRFM_UNCLAIM _IOW(VRFM_MAGIC, 6, struct vrfm_claim)
/* Argument: struct vrfm_poll_events. EINVAL: a bit is no event type. */
#define VRFM_POLL_EVENTS _IOW(VRFM_MAGIC, 7, struct vrfm_poll_events)
/*
 * Argument: struct vrfm_unwait. EINVAL: a bit is no event type. The calls that
 * this command ends return EIDRM. The command also succeeds if no call waits.
 */
#define VRFM_UNWAIT _IOW(VRFM_MAGIC, 8, struct vrfm_unwait)
/*
 * Argument: struct vrfm_ring. Returns the descriptor of the ring. EBADF: the
 * file is not open for reading. E2BIG: the structure is longer than the
 * driver's, and the rest is not 0. ENOSPC: too many rings. EMFILE, ENOMEM.
 */
#define VRFM_RING _IOWR(VRFM_MAGIC, 9, struct vrfm_ring)
/*
 * On a ring. Argument: struct vrfm_subscribe. EALREADY: a task or a ring already
 * waits for one of the types. ENOENT: no subscription has the cookie. ENOSPC:
 * VRFM_RING_SUBS_MAX subscriptions. E2BIG: more than VRFM_RING_RANGE_MAX bytes
 * in ranges. ETIMEDOUT: a peer did not answer, as for VRFM_CLAIM. EINTR: the
 * task was killed. EPERM: the caller must not use VRFM_SUB_TAP. ENOMEM.
 */
#define VRFM_RING_SUBSCRIBE _IOW(VRFM_MAGIC, 10, struct vrfm_subscribe)
/*
 * On a ring. Argument: struct vrfm_enter. ETIMEDOUT. EINTR: a signal, or the
 * task was frozen, stopped or traced. EAGAIN: O_NONBLOCK is set, and the call
 * would wait; or as many batches as the ring has submission entries wait for
 * acknowledgments, or for free slots for their records. EBADR: submit_tail is
 * invalid. ENODEV: the device was removed, and all records are released. EBUSY: a
 * thread executes the batches. EIDRM: see VRFM_ENTER_LOOP.
 */
#define VRFM_RING_ENTER _IOWR(VRFM_MAGIC, 11, struct vrfm_enter)
/*
 * Argument: struct vrfm_batch. EINVAL: an invalid member or operation. E2BIG:
 * too many operations, bytes or events. EFAULT: the bytes cannot be read.
 * EAGAIN: O_NONBLOCK is set, and the call would wait for a peer. ENOMEM. After
 * these errors the batch has no effect. ETIMEDOUT: done, and not all peers have
 * applied it. EINTR: the task was killed.
 */
#define VRFM_BATCH _IOWR(VRFM_MAGIC, 12, struct vrfm_batch)

#endif /* _UAPI_VRFM_H */
