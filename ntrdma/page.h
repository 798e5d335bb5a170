/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The first page of an inbox: hello and agreement of two peers. All functions
 * are pure: they use only their arguments.
 */
#ifndef NTRDMA_PAGE_H
#define NTRDMA_PAGE_H

#include "wire.h"

/* Reasons for the end of a session, and for a hello that is refused. */
enum ntrdma_reason {
	NTRDMA_REASON_NONE = 0,
	NTRDMA_REASON_DOWN,		/* the interface is down */
	NTRDMA_REASON_REMOVED,		/* the device is removed */
	NTRDMA_REASON_SUSPENDED,	/* the machine is suspended */
	NTRDMA_REASON_LEFT,		/* the peer leaves */
	NTRDMA_REASON_SILENT,		/* the peer gave no sign of life */
	NTRDMA_REASON_RESTARTED,	/* the peer has begun another session */
	NTRDMA_REASON_BAD_INDEX,	/* an index of the peer is invalid */
	NTRDMA_REASON_BAD_SEAL,		/* a frame is of another session */
	NTRDMA_REASON_BAD_FRAME,	/* a frame cannot be parsed */
	NTRDMA_REASON_BAD_MAGIC,	/* the page is not one of ntrdma */
	NTRDMA_REASON_BAD_VERSION,	/* the peer has another version */
	NTRDMA_REASON_BAD_MEMBER,	/* the page has the number of another member */
	NTRDMA_REASON_BAD_SIZES,	/* lanes, rings or frames are too small or large */
	NTRDMA_REASON_BAD_HELLO,	/* another field of the hello is invalid */
	NTRDMA_REASON_BAD_BELLS,	/* the peer has another number of doorbells */
	NTRDMA_REASON_ENGINE,		/* a DMA engine does not finish */
	NTRDMA_REASONS,
};

/**
 * struct ntrdma_hello - offer of a member for a session
 * @member: its number
 * @lanes: number of lanes
 * @ring_bytes: bytes of a ring
 * @chunk: maximum bytes of payload in a frame
 * @mac: its MAC address
 * @bells: number of doorbells that it takes; 0: it polls
 * @guid: its node GUID
 * @name: its host name
 * @dead_ms: time without a sign of life after which the member ends a session,
 *	in ms
 * @session: number of the member's session, not 0
 */
struct ntrdma_hello {
	u8 member;
	u8 lanes;
	u32 ring_bytes;
	u32 chunk;
	u8 mac[ETH_ALEN];
	u16 bells;
	u64 guid;
	char name[17];
	u32 dead_ms;
	u32 session;
};

/**
 * struct ntrdma_terms - agreement of two members
 * @lanes: number of lanes
 * @ring_bytes: bytes of a ring
 * @chunk: maximum bytes of payload in a frame
 * @dead_ms: time without a sign of life after which the session ends, in ms
 */
struct ntrdma_terms {
	u8 lanes;
	u32 ring_bytes;
	u32 chunk;
	u32 dead_ms;
};

#define NTRDMA_DEAD_MS_MIN	100
#define NTRDMA_DEAD_MS_MAX	600000

bool ntrdma_sizes_ok(u8 lanes, u32 ring_bytes, u32 chunk);
size_t ntrdma_inbox_bytes(u8 lanes, bool eth, u32 ring_bytes);
size_t ntrdma_ring_offset(u8 ring, u32 ring_bytes);
bool ntrdma_sizes_fit(size_t inbox, u8 lanes, bool eth, u32 limit,
		      u32 *ring_bytes, u32 *chunk);
void ntrdma_hello_encode(struct ntrdma_wire_hello *wire,
			 const struct ntrdma_hello *hello);
enum ntrdma_reason ntrdma_hello_decode(struct ntrdma_hello *hello,
				       const struct ntrdma_wire_hello *wire,
				       u8 member);
void ntrdma_terms_agree(struct ntrdma_terms *terms,
			const struct ntrdma_hello *ours,
			const struct ntrdma_hello *theirs);

#endif /* NTRDMA_PAGE_H */
