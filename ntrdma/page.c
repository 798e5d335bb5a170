// SPDX-License-Identifier: GPL-2.0
/*
 * The first page of an inbox. An inbox is the memory that one member reads and
 * its peer writes.
 *
 * Each side offers sizes that fit both its own inbox and that of its peer. For
 * each size, the smaller offer counts, so both sides come to the same result
 * without another message.
 */
#include <linux/etherdevice.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "page.h"

/**
 * ntrdma_sizes_ok - check sizes of rings
 * @lanes: number of lanes
 * @ring_bytes: bytes of a ring
 * @chunk: maximum bytes of payload in a frame
 *
 * A chunk is at most an eighth of a ring, so that sender and receiver can work
 * at the same time. In a ring of 16 KiB it is a quarter, because a chunk has at
 * least 4 KiB.
 *
 * Return: true if the sizes are valid.
 */
bool ntrdma_sizes_ok(u8 lanes, u32 ring_bytes, u32 chunk)
{
	if (!lanes || lanes > NTRDMA_LANES)
		return false;
	if (ring_bytes < NTRDMA_RING_MIN || ring_bytes > NTRDMA_RING_MAX ||
	    !is_power_of_2(ring_bytes))
		return false;
	if (chunk < NTRDMA_CHUNK_MIN || chunk > NTRDMA_CHUNK_MAX ||
	    !IS_ALIGNED(chunk, NTRDMA_CHUNK_MIN))
		return false;
	return chunk <= max_t(u32, ring_bytes / 8, NTRDMA_CHUNK_MIN);
}

/**
 * ntrdma_ring_offset - return the place of a ring in an inbox
 * @ring: number of the ring
 * @ring_bytes: bytes of each ring
 *
 * Return: offset in bytes.
 */
size_t ntrdma_ring_offset(u8 ring, u32 ring_bytes)
{
	return NTRDMA_PAGE_BYTES + (size_t)ring * ring_bytes;
}

/**
 * ntrdma_inbox_bytes - return the size of an inbox
 * @lanes: number of lanes
 * @eth: there is a ring for Ethernet
 * @ring_bytes: bytes of each ring
 *
 * Return: bytes.
 */
size_t ntrdma_inbox_bytes(u8 lanes, bool eth, u32 ring_bytes)
{
	return ntrdma_ring_offset(lanes + eth, ring_bytes);
}

/**
 * ntrdma_sizes_fit - choose the sizes to offer for an inbox
 * @inbox: bytes of the inbox
 * @lanes: number of lanes
 * @eth: there is a ring for Ethernet
 * @limit: maximum bytes of a ring
 * @ring_bytes: result: bytes of each ring, as large as possible
 * @chunk: result: maximum bytes of payload in a frame
 *
 * Return: false if the inbox is too small.
 */
bool ntrdma_sizes_fit(size_t inbox, u8 lanes, bool eth, u32 limit,
		      u32 *ring_bytes, u32 *chunk)
{
	u32 bytes = rounddown_pow_of_two(clamp_t(u32, limit, NTRDMA_RING_MIN,
						 NTRDMA_RING_MAX));

	while (bytes > NTRDMA_RING_MIN &&
	       ntrdma_inbox_bytes(lanes, eth, bytes) > inbox)
		bytes /= 2;
	*ring_bytes = bytes;
	*chunk = clamp_t(u32, bytes / 8, NTRDMA_CHUNK_MIN, NTRDMA_CHUNK_MAX);
	return ntrdma_inbox_bytes(lanes, eth, bytes) <= inbox;
}

/**
 * ntrdma_hello_encode - write the constant part of a page
 * @wire: result, without the session number, which the caller publishes last
 * @hello: offer of this member
 */
void ntrdma_hello_encode(struct ntrdma_wire_hello *wire,
			 const struct ntrdma_hello *hello)
{
	*wire = (struct ntrdma_wire_hello){
		.magic = cpu_to_le32(NTRDMA_WIRE_MAGIC),
		.version = cpu_to_le16(NTRDMA_WIRE_VERSION),
		.member = hello->member,
		.lanes = hello->lanes,
		.ring_bytes = cpu_to_le32(hello->ring_bytes),
		.chunk = cpu_to_le32(hello->chunk),
		.bells = cpu_to_le16(hello->bells),
		.guid = cpu_to_le64(hello->guid),
		.dead_ms = cpu_to_le32(hello->dead_ms),
	};
	memcpy(wire->mac, hello->mac, sizeof(wire->mac));
	memcpy(wire->name, hello->name,
	       strnlen(hello->name, sizeof(wire->name)));
}

static enum ntrdma_reason ntrdma_hello_check(const struct ntrdma_hello *hello,
					     u8 member)
{
	if (hello->member != member || hello->member >= NTRDMA_MEMBERS)
		return NTRDMA_REASON_BAD_MEMBER;
	if (!ntrdma_sizes_ok(hello->lanes, hello->ring_bytes, hello->chunk))
		return NTRDMA_REASON_BAD_SIZES;
	if (hello->dead_ms < NTRDMA_DEAD_MS_MIN ||
	    hello->dead_ms > NTRDMA_DEAD_MS_MAX)
		return NTRDMA_REASON_BAD_HELLO;
	if (!is_valid_ether_addr(hello->mac) || !hello->session)
		return NTRDMA_REASON_BAD_HELLO;
	return NTRDMA_REASON_NONE;
}

/*
 * The name appears in logs and files, so replace bytes that are not printable.
 */
static void ntrdma_hello_name(char *to, const u8 *from, size_t len)
{
	size_t i;

	for (i = 0; i < len && from[i]; i++)
		to[i] = from[i] > ' ' && from[i] < 0x7f ? from[i] : '?';
	to[i] = '\0';
}

/**
 * ntrdma_hello_decode - decode and check the constant part of a page
 * @hello: result; valid only if this function returns %NTRDMA_REASON_NONE
 * @wire: copy of the first words of the peer's page
 * @member: number of the member that writes to this inbox
 *
 * Return: %NTRDMA_REASON_NONE, or the reason to refuse the hello.
 */
enum ntrdma_reason ntrdma_hello_decode(struct ntrdma_hello *hello,
				       const struct ntrdma_wire_hello *wire,
				       u8 member)
{
	if (le32_to_cpu(wire->magic) != NTRDMA_WIRE_MAGIC)
		return NTRDMA_REASON_BAD_MAGIC;
	if (le16_to_cpu(wire->version) != NTRDMA_WIRE_VERSION)
		return NTRDMA_REASON_BAD_VERSION;
	if (wire->reserved[0] || wire->reserved[1])
		return NTRDMA_REASON_BAD_HELLO;
	*hello = (struct ntrdma_hello){
		.member = wire->member,
		.lanes = wire->lanes,
		.ring_bytes = le32_to_cpu(wire->ring_bytes),
		.chunk = le32_to_cpu(wire->chunk),
		.bells = le16_to_cpu(wire->bells),
		.guid = le64_to_cpu(wire->guid),
		.dead_ms = le32_to_cpu(wire->dead_ms),
		.session = le32_to_cpu(wire->my),
	};
	memcpy(hello->mac, wire->mac, sizeof(hello->mac));
	ntrdma_hello_name(hello->name, wire->name, sizeof(wire->name));
	return ntrdma_hello_check(hello, member);
}

/**
 * ntrdma_terms_agree - choose the sizes of a session
 * @terms: result, the same on both sides
 * @ours: offer of this side
 * @theirs: offer of the peer, from ntrdma_hello_decode()
 */
void ntrdma_terms_agree(struct ntrdma_terms *terms,
			const struct ntrdma_hello *ours,
			const struct ntrdma_hello *theirs)
{
	*terms = (struct ntrdma_terms){
		.lanes = min(ours->lanes, theirs->lanes),
		.ring_bytes = min(ours->ring_bytes, theirs->ring_bytes),
		.chunk = min(ours->chunk, theirs->chunk),
		.dead_ms = min(ours->dead_ms, theirs->dead_ms),
	};
}
