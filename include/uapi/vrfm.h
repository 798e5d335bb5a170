/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What /dev/rfm2gN of vrfm can do that the reflective-memory cards cannot:
 * commands beside those of <rfm2g.h>, under a magic number of their own.
 *
 * Structures are laid out the same for 32 and 64 bits. Flags and reserved words
 * that a program hands in are 0, or the command fails with EINVAL. A driver that
 * does not have a command says ENOTTY; a device that has been taken away,
 * ENODEV.
 */
#ifndef _UAPI_VRFM_H
#define _UAPI_VRFM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VRFM_MAGIC 0xEA

/* Of a timeout in milliseconds: none. */
#define VRFM_FOREVER 0xFFFFFFFFU

/**
 * struct vrfm_flush - wait until the peers have what was stored
 * @timeout_ms: how long at most; 0: do not wait, %VRFM_FOREVER: no limit
 * @flags: 0
 * @reached: gets how many peers have all of it
 * @behind: gets how many are READY, but have not said so in time
 * @absent: gets how many are not READY; they catch up later, by themselves
 * @reserved: 0
 *
 * All that this node's programs stored before, by calls or through mappings.
 * The results are filled in after ETIMEDOUT, too.
 */
struct vrfm_flush {
	__u32 timeout_ms;
	__u32 flags;
	__u32 reached;
	__u32 behind;
	__u32 absent;
	__u32 reserved;
};

/* Bytes that can be watched at once. */
#define VRFM_WATCH_MAX 65536

/**
 * struct vrfm_watch - wait until a part of the memory changes
 * @offset: of its first byte
 * @length: how many, 1 to %VRFM_WATCH_MAX
 * @old: address of @length bytes that the program saw there; 0: what is there
 *	when the call begins
 * @timeout_ms: how long at most; 0: only look, %VRFM_FOREVER: no limit
 * @flags: 0
 * @changed: gets the offset in the memory of the first byte that differs
 * @reserved: 0
 *
 * Returns as soon as the bytes are not @old, whoever stored into them, so a
 * change between looking and watching is not missed. What has become what it
 * was before anybody looked is no change.
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
 * struct vrfm_claim - a part of the memory that this program stores into
 * @offset: of its first byte
 * @length: how many, not 0
 * @flags: 0
 * @reserved: 0
 *
 * The first store through a mapping into 64 KiB that nobody has stored into for
 * a second waits until all peers know of it, for they may write there directly:
 * some hundred microseconds. A loop that cannot wait claims before it begins
 * what it will store into; what is claimed is known to them, until the program
 * gives it back or closes the file. Pages of a claimed range stay writable after
 * the first store into each: store once into each page before the loop begins,
 * or use MADV_POPULATE_WRITE, and it has no faults. Each such page has a copy in
 * the kernel, which is charged to the program. A claim is no ownership: many
 * programs and nodes may claim the same range.
 */
struct vrfm_claim {
	__u32 offset;
	__u32 length;
	__u32 flags;
	__u32 reserved;
};

/**
 * enum vrfm_peer_link - what a peer has of this node's words
 * @VRFM_PEER_DOWN: it is not linked
 * @VRFM_PEER_SYNCING: it lacks some, and catches up
 * @VRFM_PEER_READY: all of them, or they are on their way
 */
enum vrfm_peer_link {
	VRFM_PEER_DOWN,
	VRFM_PEER_SYNCING,
	VRFM_PEER_READY,
};

/* The peer is READY towards this node: all it wrote is here, or on its way. */
#define VRFM_PEER_SYNCED 1
/* It lacks all that this node wrote, besides what is counted as missed. */
#define VRFM_PEER_MISSES_ALL 2
/* Both have the same image, so there is nothing to load. */
#define VRFM_PEER_SAME_IMAGE 4

/**
 * enum vrfm_refusal - why one node does not want to be linked with another
 * @VRFM_REFUSAL_NONE: it does
 * @VRFM_REFUSAL_PROTOCOL: it does not speak vrfm's protocol
 * @VRFM_REFUSAL_VERSION: it speaks another version
 * @VRFM_REFUSAL_NETWORK: it belongs to another network
 * @VRFM_REFUSAL_SIZE: its memory has another size
 * @VRFM_REFUSAL_NODE: it has the same node id
 * @VRFM_REFUSAL_UNKNOWN: no such node at that address is a peer
 * @VRFM_REFUSAL_TWICE: another node with that id is linked
 * @VRFM_REFUSAL_BUSY: the last link is about to end
 *
 * Others may follow in later versions.
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
};

/**
 * struct vrfm_peer_state - a peer
 * @node: its id
 * @state: enum vrfm_peer_link
 * @flags: VRFM_PEER_...
 * @lag: messages that it has not acknowledged
 * @missed: bytes that it lacks
 * @since_ms: so long it has been in this state
 * @links: connections that there were
 * @messages: sent to it
 * @received: that came from it
 * @bytes_sent: in messages, and written directly into its memory
 * @bytes_received: in messages; nobody counts what it writes directly
 * @overloads: how often it was too slow, and left behind
 * @protocol_errors: messages from it that made no sense
 * @events_dropped: events to and from it for which there was no room
 * @family: of @address: AF_INET, AF_INET6, or 0: any
 * @port: of it, in the order of the host
 * @scope: of an IPv6 address, or 0
 * @address: as it was configured, 4 or 16 bytes in the order of the network
 * @late_ms: so long the oldest of @lag messages has not been acknowledged
 * @error: of one that is DOWN: errno of the last attempt to connect to it, or of
 *	the end of its connection; 0: there was neither
 * @refusal: of one that is DOWN: enum vrfm_refusal, why it has refused this node,
 *	or this node it
 * @path_mtu: path MTU of the last connection, in bytes of RDMA payload; 0: not
 *	known
 * @local_mtu: largest path MTU of this host's interface, likewise
 * @peer_mtu: largest path MTU of the peer's interface, likewise; if it is not
 *	@local_mtu, the two interfaces have different MTUs
 *
 * Members may follow in later versions, see &vrfm_peers.peer_size.
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
};

/* Of the first version: what a program that asks has room for, at least. */
#define VRFM_PEER_SIZE 120

/* The device is loading what nodes that are gone have written. */
#define VRFM_IMAGE_LOADING 1

/**
 * struct vrfm_peers - all peers
 * @peers: address of room for @count times @peer_size bytes
 * @peer_size: bytes of a &struct vrfm_peer_state as the program knows it; what
 *	the driver does not know is zeroed, what the program does not know left out
 * @count: for how many there is room; gets how many peers there are, which may
 *	be more
 * @flags: 0
 * @image: gets 0 or %VRFM_IMAGE_LOADING
 * @loaded: gets how many bytes of the image have been looked at while it loads
 * @size: gets the bytes of the memory
 * @lineage: gets the number of the image, the same for nodes that have the same
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
 * struct vrfm_poll_events - events that poll() reports for this file
 * @in: a bit for each type of event, 1 << enum rfm2g_event, that is reported as
 *	POLLIN while it can be taken
 * @pri: the same for POLLPRI
 * @flags: 0
 * @reserved: 0
 *
 * Without this command POLLIN reports the network events, RESET to INTR4, and
 * POLLPRI reports faults.
 */
struct vrfm_poll_events {
	__u32 in;
	__u32 pri;
	__u32 flags;
	__u32 reserved;
};

/**
 * struct vrfm_unwait - waits for events to end
 * @events: a bit for each type of event, 1 << enum rfm2g_event
 * @flags: 0
 *
 * Ends the waits of this process through this file. Waits of other processes and
 * through other files go on, unlike with the cards' CANCEL_EVENT.
 */
struct vrfm_unwait {
	__u32 events;
	__u32 flags;
};

/* Offset in the file at which the status page is mapped, by PROT_READ only. */
#define VRFM_STATUS_OFFSET 0x100000000ULL
#define VRFM_STATUS_VERSION 1
#define VRFM_STATUS_NODES 256

/* Of a node in the status page: it is a peer. */
#define VRFM_STATUS_PRESENT 0x80000000U

/**
 * struct vrfm_status_peer - a node in the status page
 * @seq: odd while members below change that belong together
 * @state: enum vrfm_peer_link
 * @flags: %VRFM_STATUS_PRESENT, %VRFM_PEER_SYNCED, %VRFM_PEER_MISSES_ALL
 * @lag: number of messages that it has not acknowledged
 * @heard_ns: time of the last message from it, CLOCK_MONOTONIC, in ns; 0: none
 *	came. Blocks that it writes directly are no messages
 * @since_ns: time of the last change of @state, CLOCK_MONOTONIC, in ns
 * @overloads: number of times that this node left it behind
 * @left: number of times that it left this node behind
 * @reserved: 0
 *
 * @lag and @heard_ns can be read alone at any time. A program that needs @state,
 * @flags, @since_ns, @overloads and @left of one moment reads @seq, then these,
 * then @seq again, in this order, and begins again if @seq was odd or is another
 * one.
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
 * @version: %VRFM_STATUS_VERSION; members are added without another one
 * @size: bytes of all
 * @first: offset of @peers
 * @peer_size: bytes of each of @peers, at least 64
 * @nodes: number of @peers
 * @node: id of this node
 * @reserved: 0
 * @peers: all nodes that there may be, by their ids
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

/*
 * struct vrfm_flush; ETIMEDOUT: not all of them have it; EINTR: killed. Besides
 * the timeout it may wait for a slow peer as a write does.
 */
#define VRFM_FLUSH _IOWR(VRFM_MAGIC, 1, struct vrfm_flush)
/*
 * struct vrfm_watch; ETIMEDOUT; EINTR: a handler for a signal ran, or, without
 * old, the task was frozen, stopped or traced; EIDRM: ended by VRFM_UNWATCH, a
 * close(), or with the device.
 */
#define VRFM_WATCH _IOWR(VRFM_MAGIC, 2, struct vrfm_watch)
/* Nothing; ends what this process waits for by VRFM_WATCH through this file. */
#define VRFM_UNWATCH _IO(VRFM_MAGIC, 3)
/* struct vrfm_peers; E2BIG: peer_size is more than a page */
#define VRFM_PEERS _IOWR(VRFM_MAGIC, 4, struct vrfm_peers)
/*
 * struct vrfm_claim; EINTR: killed; ETIMEDOUT: a peer did not answer for ten
 * seconds, or for twice stage_ms if that is longer; ENOMEM. What it claimed
 * before stays claimed after an error.
 */
#define VRFM_CLAIM _IOW(VRFM_MAGIC, 5, struct vrfm_claim)
/* struct vrfm_claim; EINTR: killed; what was not claimed does not matter */
#define VRFM_UNCLAIM _IOW(VRFM_MAGIC, 6, struct vrfm_claim)
/* struct vrfm_poll_events; EINVAL: there is no such event */
#define VRFM_POLL_EVENTS _IOW(VRFM_MAGIC, 7, struct vrfm_poll_events)
/*
 * struct vrfm_unwait; EINVAL: there is no such event. The calls that it ends
 * return EIDRM. It succeeds also if there is no such wait.
 */
#define VRFM_UNWAIT _IOW(VRFM_MAGIC, 8, struct vrfm_unwait)

#endif /* _UAPI_VRFM_H */
