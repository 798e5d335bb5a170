/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access to the memory of windows. No other file reads or writes it, except
 * that mem.c and eth.c copy payload from the inbox, and to ntrdma_slot.buf. The
 * directory of a memory belongs to its back end.
 *
 * Both sides of a coherent window cache the same memory. The barriers are those
 * for virtual machines, because the peer can run on another processor even if
 * this kernel has only one. The other windows are on a bus: writes arrive in
 * order, and only the inbox can be read.
 *
 * The peer can change the inbox at any time, so each word is read once, into a
 * local variable of the caller.
 */
#ifndef NTRDMA_WIN_H
#define NTRDMA_WIN_H

#include <linux/atomic.h>
#include <linux/io.h>
#include <linux/string.h>

#include "dev.h"

/* The word of a page with this name. */
#define NTRDMA_WORD(field) offsetof(struct ntrdma_wire_page, field)
/* The word of ring @ring with this name. */
#define NTRDMA_RING_WORD(ring, field)				\
	(offsetof(struct ntrdma_wire_page, rings) +		\
	 (ring) * sizeof(struct ntrdma_wire_words) +		\
	 offsetof(struct ntrdma_wire_words, field))

/* The link of a device to itself is memory, whatever the back end is. */
static inline bool ntrdma_win_coherent(const struct ntrdma_peer *peer)
{
	return peer->dev->config.ops->flags & NTRDMA_COHERENT ||
	       peer->member == peer->dev->config.member;
}

static inline bool ntrdma_win_bells(const struct ntrdma_dev *dev)
{
	return dev->config.ops->flags & NTRDMA_BELLS;
}

/*
 * A device that is cut, or whose number belongs to another member now, must not
 * use its windows.
 */
static inline bool ntrdma_win_is_cut(const struct ntrdma_dev *dev)
{
	const struct ntrdma_config *config = &dev->config;

	return unlikely(READ_ONCE(dev->cut)) ||
	       (config->lease &&
		unlikely(READ_ONCE(*config->lease) != config->lease_value));
}

/**
 * ntrdma_win_buf - return memory of a coherent window as an ordinary buffer
 * @to: part of the window that this member writes
 *
 * Return: buffer.
 */
static inline void *ntrdma_win_buf(void __iomem *to)
{
	return (__force void *)to;
}

/**
 * ntrdma_win_out - return coherent memory as a window to write
 * @mem: inbox of the peer
 *
 * Return: window.
 */
static inline void __iomem *ntrdma_win_out(void *mem)
{
	return (__force void __iomem *)mem;
}

/**
 * ntrdma_win_write - copy to the window of a peer
 * @peer: peer
 * @to: destination
 * @from: source
 * @bytes: bytes
 */
static inline void ntrdma_win_write(const struct ntrdma_peer *peer,
				    void __iomem *to, const void *from,
				    size_t bytes)
{
	if (ntrdma_win_coherent(peer))
		memcpy(ntrdma_win_buf(to), from, bytes);
	else
		memcpy_toio(to, from, bytes);
}

/* Write a word of the page. */
static inline void ntrdma_win_set(const struct ntrdma_peer *peer, size_t word,
				  u32 value)
{
	void __iomem *to = peer->window.out + word;

	if (ntrdma_win_coherent(peer))
		WRITE_ONCE(*(__le32 *)ntrdma_win_buf(to), cpu_to_le32(value));
	else
		iowrite32(value, to);
}

/* Write a word of the page after all earlier writes to the window. */
static inline void ntrdma_win_publish(const struct ntrdma_peer *peer,
				      size_t word, u32 value)
{
	void __iomem *to = peer->window.out + word;

	if (ntrdma_win_coherent(peer)) {
		/* Pairs with ntrdma_win_acquire() of the peer. */
		virt_store_release((__le32 *)ntrdma_win_buf(to),
				   cpu_to_le32(value));
		return;
	}
	wmb(); /* The window may be write-combining. */
	iowrite32(value, to);
}

/* Order later writes to the window after earlier ones. */
static inline void ntrdma_win_wmb(const struct ntrdma_peer *peer)
{
	if (ntrdma_win_coherent(peer))
		virt_wmb(); /* Pairs with ntrdma_win_rmb() of the peer. */
	else
		wmb(); /* The window may be write-combining. */
}

/*
 * Order a later read of the inbox after earlier writes to the window. Only
 * coherent windows can do this.
 */
static inline void ntrdma_win_mb(void)
{
	virt_mb(); /* Pairs with that of the peer. */
}

/* Read a word of the inbox's page. */
static inline u32 ntrdma_win_get(const struct ntrdma_peer *peer, size_t word)
{
	const __le32 *from = peer->window.in + word;

	return le32_to_cpu(READ_ONCE(*from));
}

/* Read a word of the inbox's page before all later reads of the inbox. */
static inline u32 ntrdma_win_acquire(const struct ntrdma_peer *peer,
				     size_t word)
{
	const __le32 *from = peer->window.in + word;
	__le32 value;

	if (ntrdma_win_coherent(peer))
		/* Pairs with ntrdma_win_publish() of the peer. */
		return le32_to_cpu(virt_load_acquire(from));
	value = READ_ONCE(*from);
	dma_rmb(); /* A device writes the inbox. */
	return le32_to_cpu(value);
}

/* Order later reads of the inbox after earlier ones. */
static inline void ntrdma_win_rmb(const struct ntrdma_peer *peer)
{
	if (ntrdma_win_coherent(peer))
		virt_rmb(); /* Pairs with ntrdma_win_wmb() of the peer. */
	else
		dma_rmb(); /* A device writes the inbox. */
}

/**
 * ntrdma_win_copy - copy words from the inbox, and read each of them only once
 * @to: destination
 * @from: source, aligned to 8 bytes
 * @bytes: multiple of 8
 *
 * The compiler may read the source of a memcpy() again later. A decision that
 * was made on the copy would then not hold.
 */
static inline void ntrdma_win_copy(void *to, const void *from, size_t bytes)
{
	const u64 *word = from;
	u64 copy;
	size_t i;

	for (i = 0; i < bytes / sizeof(copy); i++) {
		copy = READ_ONCE(word[i]);
		memcpy(to + i * sizeof(copy), &copy, sizeof(copy));
	}
}

/*
 * Compare and exchange a word that other machines also change. A kernel that
 * runs on one processor leaves out the bus lock of cmpxchg().
 */
static inline bool ntrdma_win_exchange(__le64 *word, u64 old, u64 new)
{
	u64 *to = (__force u64 *)word;
	u64 from = (__force u64)cpu_to_le64(old);
	u64 into = (__force u64)cpu_to_le64(new);

#ifdef arch_sync_cmpxchg
	return sync_cmpxchg(to, from, into) == from;
#else
	return cmpxchg(to, from, into) == from;
#endif
}

#endif /* NTRDMA_WIN_H */
