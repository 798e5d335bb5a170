// SPDX-License-Identifier: GPL-2.0
/*
 * Access to the memory of regions.
 *
 * The memory is that of this member's consumers. A key gives access to a
 * region; the local key 0 gives access to any address, and is valid for work
 * requests of the kernel only, not in a protection domain of a program. Each
 * call checks key, range and rights, and holds the read lock of the region until
 * the copy is complete. So a writer that has invalidated the region knows that
 * no copy is running.
 *
 * Addresses, keys and lengths may come from the peer. No check overflows.
 */
#include <linux/atomic.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "emulate.h"
#include "verbs.h"

/**
 * struct ntrdma_access - one access to a region
 * @dev: device
 * @pd: protection domain of the accessor
 * @key: key of the region
 * @rights: necessary &enum ib_access_flags
 * @addr: first address
 * @bytes: length, not 0
 * @buf: copy: buffer
 * @dir: copy: direction
 * @cas: atomic operation: compare and swap, otherwise add
 * @operand: atomic operation: compare or add; swap
 * @result: atomic operation: old value
 */
struct ntrdma_access {
	struct ntrdma_dev *dev;
	struct ib_pd *pd;
	u32 key;
	int rights;
	u64 addr;
	u32 bytes;
	void *buf;
	enum ntrdma_copy dir;
	bool cas;
	const u64 *operand;
	u64 *result;
};

/* Return the size of the last aligned word of the @bytes bytes before @end. */
static u32 ntrdma_last_word(uintptr_t end, u32 bytes)
{
	u32 word = sizeof(u64);

	while (word > bytes || (end & (word - 1)))
		word /= 2;
	return word;
}

/* Copy 1, 2, 4 or 8 bytes to an aligned address, in one store. */
static void ntrdma_store_word(void *to, const void *from, u32 bytes)
{
	union {
		u64 u64;
		u32 u32;
		u16 u16;
		u8 u8;
	} word;

	memcpy(&word, from, bytes);
	switch (bytes) {
	case 8:
		WRITE_ONCE(*(u64 *)to, word.u64);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)to, word.u32);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)to, word.u16);
		break;
	default:
		WRITE_ONCE(*(u8 *)to, word.u8);
	}
}

/*
 * Copy to memory of a consumer. The last aligned word is stored after all
 * others, so a consumer that polls this word then sees the rest.
 */
static void ntrdma_copy_in(void *to, const void *from, u32 bytes)
{
	u32 word = ntrdma_last_word((uintptr_t)to + bytes, bytes);
	u32 rest = bytes - word;

	if (unlikely(ntrdma_copy_order != NTRDMA_FORWARD)) {
		ntrdma_copy_disordered(to, from, bytes);
		return;
	}
	memcpy(to, from, rest);
	/* Pairs with the barrier of a consumer that polls the last word. */
	smp_wmb();
	ntrdma_store_word(to + rest, from + rest, word);
}

/* Copy to or from memory; NULL is an address without memory. */
static int ntrdma_copy(void *mem, void *buf, u32 bytes, enum ntrdma_copy dir)
{
	if (!mem)
		return -EACCES;
	if (dir == NTRDMA_COPY_IN)
		ntrdma_copy_in(mem, buf, bytes);
	else
		memcpy(buf, mem, bytes);
	return 0;
}

/* Check whether a region permits an access. */
static bool ntrdma_mr_grants(const struct ntrdma_mr *mr,
			     const struct ntrdma_access *want)
{
	u64 off = want->addr - mr->iova;

	return mr->valid && mr->key == want->key && mr->ib.pd == want->pd &&
	       (mr->access & want->rights) == want->rights &&
	       off <= mr->length && want->bytes <= mr->length - off;
}

/*
 * Return the pointer to an address of a region, and reduce @bytes to the bytes
 * that are contiguous from there. The region contains the address. If there is
 * no memory, return NULL.
 */
static void *ntrdma_mr_ptr(const struct ntrdma_mr *mr, u64 addr, u32 *bytes)
{
	u64 page_bytes = BIT_ULL(mr->page_shift);
	u64 pos = addr - mr->iova + mr->offset;
	u64 in_page = pos & (page_bytes - 1);
	struct device *dma_device = mr->dev->config.dma_device;
	u64 page;

	if (!mr->pages)
		return ntrdma_dma_ptr(dma_device, addr, *bytes);

	page = mr->pages[pos >> mr->page_shift];
	*bytes = min_t(u64, *bytes, page_bytes - in_page);
	return ntrdma_dma_ptr(dma_device, page + in_page, *bytes);
}

static int ntrdma_mr_copy(const struct ntrdma_mr *mr,
			  const struct ntrdma_access *want)
{
	u32 done = 0;

	while (done < want->bytes) {
		u32 bytes = want->bytes - done;
		void *mem = ntrdma_mr_ptr(mr, want->addr + done, &bytes);
		int ret = ntrdma_copy(mem, want->buf + done, bytes, want->dir);

		if (ret)
			return ret;
		done += bytes;
	}
	return 0;
}

static int ntrdma_mr_atomic(const struct ntrdma_mr *mr,
			    const struct ntrdma_access *want)
{
	u32 bytes = sizeof(u64);
	void *mem = ntrdma_mr_ptr(mr, want->addr, &bytes);

	if (!mem)
		return -EACCES;
	/* The address may be aligned while the memory is not. */
	if ((uintptr_t)mem & (sizeof(u64) - 1))
		return -EINVAL;

	if (want->cas)
		*want->result = cmpxchg64((u64 *)mem, want->operand[0],
					  want->operand[1]);
	else
		*want->result = atomic64_fetch_add(want->operand[0],
						   (atomic64_t *)mem);
	return 0;
}

static int ntrdma_mr_nothing(const struct ntrdma_mr *mr,
			     const struct ntrdma_access *want)
{
	return 0;
}

/* Find the region of a key, and call @use if the region permits the access. */
static int ntrdma_mr_access(const struct ntrdma_access *want,
			    int (*use)(const struct ntrdma_mr *mr,
				       const struct ntrdma_access *want))
{
	struct ntrdma_mr *mr;
	int ret = -EACCES;

	rcu_read_lock();
	mr = xa_load(&want->dev->mrs, want->key >> 8);
	if (mr) {
		read_lock_bh(&mr->lock);
		if (ntrdma_mr_grants(mr, want))
			ret = use(mr, want);
		read_unlock_bh(&mr->lock);
	}
	rcu_read_unlock();
	return ret;
}

/**
 * ntrdma_mem_remote - copy to or from memory that the peer names
 * @dev: device
 * @pd: protection domain of the QP
 * @key: remote key
 * @addr: first address
 * @buf: buffer
 * @bytes: length; 0: the key is not checked
 * @access: necessary rights, IB_ACCESS_REMOTE_*
 * @dir: direction
 *
 * Context: does not sleep. Interrupts are enabled, and no lock of a region is
 * held.
 * Return: 0, or -EACCES if key, range or rights are invalid. Nothing is copied
 * then. With dma=1, -EACCES also means that a part of the region is outside of
 * all memory; the bytes before may be copied.
 */
int ntrdma_mem_remote(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
		      u64 addr, void *buf, u32 bytes, int access,
		      enum ntrdma_copy dir)
{
	const struct ntrdma_access want = {
		.dev = dev,
		.pd = pd,
		.key = key,
		.rights = access,
		.addr = addr,
		.bytes = bytes,
		.buf = buf,
		.dir = dir,
	};

	if (!bytes)
		return 0;
	return ntrdma_mr_access(&want, ntrdma_mr_copy);
}

/**
 * ntrdma_mem_check - check an access to memory that the peer names
 * @dev: device
 * @pd: protection domain of the QP
 * @key: remote key
 * @addr: first address
 * @bytes: length; 0: the key is not checked
 * @access: necessary rights, IB_ACCESS_REMOTE_*
 *
 * The region may become invalid as soon as this function returns, so the result
 * does not replace the check of ntrdma_mem_remote().
 *
 * Context: as ntrdma_mem_remote().
 * Return: 0, or -EACCES if key, range or rights are invalid.
 */
int ntrdma_mem_check(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
		     u64 addr, u32 bytes, int access)
{
	const struct ntrdma_access want = {
		.dev = dev,
		.pd = pd,
		.key = key,
		.rights = access,
		.addr = addr,
		.bytes = bytes,
	};

	if (!bytes)
		return 0;
	return ntrdma_mr_access(&want, ntrdma_mr_nothing);
}

/* Copy to or from memory that a work request of this member names. */
static int ntrdma_mem_local(const struct ntrdma_access *want)
{
	if (want->key)
		return ntrdma_mr_access(want, ntrdma_mr_copy);

	if (want->pd->uobject || want->bytes - 1 > U64_MAX - want->addr)
		return -EACCES;
	return ntrdma_copy(ntrdma_dma_ptr(want->dev->config.dma_device,
					  want->addr, want->bytes),
			   want->buf, want->bytes, want->dir);
}

/**
 * ntrdma_mem_sges - copy to or from a list of SGEs
 * @dev: device
 * @pd: protection domain of the QP
 * @sge: list
 * @num_sge: number of entries of @sge
 * @offset: position in the memory of the list, in bytes
 * @buf: buffer
 * @bytes: length
 * @dir: direction
 *
 * Context: as ntrdma_mem_remote().
 * Return: 0; -EACCES if the key, range or rights of an SGE are invalid; -EINVAL
 * if the list is shorter than @offset + @bytes. Memory of the SGEs before may
 * have been written.
 */
int ntrdma_mem_sges(struct ntrdma_dev *dev, struct ib_pd *pd,
		    const struct ib_sge *sge, u32 num_sge, u32 offset,
		    void *buf, u32 bytes, enum ntrdma_copy dir)
{
	struct ntrdma_access want = {
		.dev = dev,
		.pd = pd,
		.rights = dir == NTRDMA_COPY_IN ? IB_ACCESS_LOCAL_WRITE : 0,
		.buf = buf,
		.dir = dir,
	};
	int ret;

	for (; num_sge && bytes; sge++, num_sge--) {
		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		want.key = sge->lkey;
		want.addr = sge->addr + offset;
		want.bytes = min(sge->length - offset, bytes);
		ret = ntrdma_mem_local(&want);
		if (ret)
			return ret;
		want.buf += want.bytes;
		bytes -= want.bytes;
		offset = 0;
	}
	return bytes ? -EINVAL : 0;
}

/**
 * ntrdma_mem_atomic - execute an atomic operation of the peer
 * @dev: device
 * @pd: protection domain of the QP
 * @key: remote key
 * @addr: address
 * @cas: compare and swap, otherwise add
 * @operand: value to compare or to add; value to swap in
 * @result: where to store the old value
 *
 * Context: as ntrdma_mem_remote().
 * Return: 0; -EACCES if key, range or rights are invalid; -EINVAL if the address
 * or the memory is not aligned on 8 bytes.
 */
int ntrdma_mem_atomic(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
		      u64 addr, bool cas, const u64 operand[2], u64 *result)
{
	const struct ntrdma_access want = {
		.dev = dev,
		.pd = pd,
		.key = key,
		.rights = IB_ACCESS_REMOTE_ATOMIC,
		.addr = addr,
		.bytes = sizeof(u64),
		.cas = cas,
		.operand = operand,
		.result = result,
	};

	if (addr & (sizeof(u64) - 1))
		return -EINVAL;
	return ntrdma_mr_access(&want, ntrdma_mr_atomic);
}
