// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the peer as the peer has described it: segments, each with an
 * address and an rkey. The user transfers the description, for example in a
 * message or in private data. The START of KRDMA_RW connections contains a
 * description of the exported buffer.
 */
#include <linux/err.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <krdma.h>

#include "region.h"
#include "wire.h"

/**
 * struct krdma_remote - memory of the peer
 * @size: size of all segments in bytes
 * @nsegs: number of segments
 * @segs: segments in the order of addresses
 */
struct krdma_remote {
	u64 size;
	u32 nsegs;
	struct krdma_seg segs[];
};

/**
 * krdma_remote_import - decode the peer's description of its memory
 * @desc: description that krdma_region_export() has written
 * @len: length of @desc in bytes
 *
 * The description is checked. It does not contain the access that the peer
 * allows. So a request that the peer does not allow fails only when the peer's
 * adapter checks it.
 *
 * Return: memory for krdma_remote_free(), ERR_PTR(-EPROTO): invalid
 * description, ERR_PTR(-ENOMEM).
 */
struct krdma_remote *krdma_remote_import(const void *desc, size_t len)
{
	int nsegs = krdma_export_count(desc, len), ret;
	struct krdma_remote *remote;
	u32 i;

	if (nsegs < 0)
		return ERR_PTR(nsegs);
	remote = kvzalloc(struct_size(remote, segs, nsegs), GFP_KERNEL);
	if (!remote)
		return ERR_PTR(-ENOMEM);
	ret = krdma_export_decode(remote->segs, nsegs, desc, len);
	if (ret) {
		kvfree(remote);
		return ERR_PTR(ret);
	}
	remote->nsegs = nsegs;
	for (i = 0; i < remote->nsegs; i++)
		remote->size += remote->segs[i].len;
	return remote;
}
EXPORT_SYMBOL_NS_GPL(krdma_remote_import, KRDMA_NS);

/**
 * krdma_remote_free - free the description of the peer's memory
 * @remote: memory from krdma_remote_import() that no request uses, or NULL
 */
void krdma_remote_free(struct krdma_remote *remote)
{
	kvfree(remote);
}
EXPORT_SYMBOL_NS_GPL(krdma_remote_free, KRDMA_NS);

/**
 * krdma_remote_size - return the size of the peer's memory
 * @remote: the peer's memory
 *
 * Context: any.
 * Return: size in bytes.
 */
u64 krdma_remote_size(const struct krdma_remote *remote)
{
	return remote->size;
}
EXPORT_SYMBOL_NS_GPL(krdma_remote_size, KRDMA_NS);

/**
 * krdma_remote_segs - return the segments of the peer's memory
 * @remote: the peer's memory
 *
 * Return: segments in the order of addresses, krdma_remote_size() bytes in all.
 */
const struct krdma_seg *krdma_remote_segs(const struct krdma_remote *remote)
{
	return remote->segs;
}

/**
 * krdma_remote_nsegs - return the number of segments of the peer's memory
 * @remote: the peer's memory
 *
 * Return: number of segments, at least 1.
 */
u32 krdma_remote_nsegs(const struct krdma_remote *remote)
{
	return remote->nsegs;
}

/**
 * krdma_remote_is_aligned - check whether atomic operations can use an offset
 * @remote: the peer's memory
 * @offset: offset of 8 bytes in @remote
 *
 * Return: true if the address at the peer is a multiple of 8.
 */
bool krdma_remote_is_aligned(const struct krdma_remote *remote, u64 offset)
{
	const struct krdma_seg *seg = remote->segs;

	while (offset >= seg->len)
		offset -= seg++->len;
	return IS_ALIGNED(seg->addr + offset, sizeof(u64));
}
