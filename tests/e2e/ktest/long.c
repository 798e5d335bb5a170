// SPDX-License-Identifier: GPL-2.0
/* Commands that transfer messages of any length, in memory of any kind. */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include "priv.h"

#define KTEST_LONG_MAX SZ_1G
#define KTEST_OWN_SIZE (256 * 1024)

/* Static data of the module, which are vmalloc() memory only on UML. */
static u8 ktest_own[KTEST_OWN_SIZE];

/**
 * struct ktest_memory - memory of a message
 * @kind: vmalloc, kmalloc or own (static data of the module)
 * @base: start of the memory
 * @data: start of the message in the memory
 */
struct ktest_memory {
	const char *kind;
	u8 *base;
	u8 *data;
};

static int ktest_memory_get(struct ktest_memory *memory,
			    const struct ktest_args *args, u32 len)
{
	u32 at = ktest_option(args, "at", 0);

	memory->kind = ktest_text_option(args, "mem") ?: "vmalloc";
	if (len > KTEST_LONG_MAX || at > PAGE_SIZE)
		return -EINVAL;
	if (!strcmp(memory->kind, "own"))
		memory->base = len + at <= KTEST_OWN_SIZE ? ktest_own : NULL;
	else if (!strcmp(memory->kind, "kmalloc"))
		memory->base = kmalloc(len + at, GFP_KERNEL);
	else
		memory->base = vmalloc(len + at + 1);
	memory->data = memory->base + at;
	return memory->base ? 0 : -ENOMEM;
}

static void ktest_memory_put(const struct ktest_memory *memory)
{
	if (!strcmp(memory->kind, "kmalloc"))
		kfree(memory->base);
	else if (strcmp(memory->kind, "own"))
		vfree(memory->base);
}

/*
 * longsend NAME LEN [TIMEOUT_MS] [mem=vmalloc|kmalloc|own] [at=OFFSET]: send a
 * message of LEN bytes. When the call returns, overwrite the memory, so that
 * the peer gets wrong data if the memory is read later.
 */
int ktest_long_send(const struct ktest_args *args, struct krdma_cb *cb)
{
	u32 len = ktest_number(args, 2, 64);
	struct ktest_memory memory;
	int ret;

	ret = ktest_memory_get(&memory, args, len);
	if (ret)
		return ret;
	ktest_fill(memory.data, len);
	ret = krdma_send_timeout(cb, memory.data, len,
				 ktest_number(args, 3, 60000));
	if (!ret)
		ret = ktest_check(memory.data, len);
	memset(memory.data, 0xff, len);
	ktest_memory_put(&memory);
	return ret;
}

#define KTEST_PIECES 16384

/*
 * Return the length of piece @i of a message. Lengths are at most @max, mostly
 * odd, and sometimes 0. A message of at most @max bytes is one piece.
 */
static u32 ktest_piece(u32 i, u32 max, u32 left)
{
	if (left <= max && !i)
		return left;
	return min(left, i % 5 ? i * 7919 % max + 1 : i % 2);
}

static u32 ktest_pieces_kvec(struct kvec *kvec, u8 *at, u32 len, u32 max)
{
	u32 n;

	for (n = 0; len && n < KTEST_PIECES; n++) {
		kvec[n].iov_base = at;
		kvec[n].iov_len = ktest_piece(n, max, len);
		at += kvec[n].iov_len;
		len -= kvec[n].iov_len;
	}
	return n;
}

static u32 ktest_pieces_bvec(struct bio_vec *bvec, u8 *at, u32 len, u32 max)
{
	u32 n;

	for (n = 0; len && n < KTEST_PIECES; n++) {
		bvec[n].bv_page = vmalloc_to_page(at);
		bvec[n].bv_offset = offset_in_page(at);
		bvec[n].bv_len = min_t(u32, ktest_piece(n, max, len) ?: 1,
				       PAGE_SIZE - offset_in_page(at));
		at += bvec[n].bv_len;
		len -= bvec[n].bv_len;
	}
	return n;
}

static int ktest_send_pieces(const struct ktest_args *args, struct krdma_cb *cb,
			     u8 *data, u32 len, void *pieces)
{
	u32 max = ktest_option(args, "piece", 1000), skip, n;
	struct iov_iter iter;

	/*
	 * The iterator begins with skip bytes that are not sent; advance beyond
	 * them.
	 */
	skip = min(len, ktest_option(args, "skip", 0));
	if (ktest_option(args, "bvec", 0)) {
		n = ktest_pieces_bvec(pieces, data - skip, len + skip, max);
		iov_iter_bvec(&iter, WRITE, pieces, n, len + skip);
	} else {
		n = ktest_pieces_kvec(pieces, data - skip, len + skip, max);
		iov_iter_kvec(&iter, WRITE, pieces, n, len + skip);
	}
	iov_iter_advance(&iter, skip);
	if (ktest_option(args, "fill", 0))
		iov_iter_kvec(&iter, READ, pieces, n, len);
	return krdma_send_iter(cb, &iter, ktest_number(args, 3, 60000));
}

/*
 * longsendv NAME LEN [TIMEOUT_MS] [piece=MAX] [bvec=1] [skip=N] [fill=1]: send
 * a message from pieces of up to MAX bytes, by an iterator that has advanced by
 * N bytes. With fill=1, pass an iterator for reading, which krdma must refuse.
 * When the call returns, overwrite the memory as longsend does.
 */
int ktest_long_sendv(const struct ktest_args *args, struct krdma_cb *cb)
{
	u32 len = ktest_number(args, 2, 64);
	void *pieces = vmalloc(KTEST_PIECES * sizeof(struct bio_vec));
	u8 *memory = vmalloc(2 * (size_t)len + 1);
	int ret = -ENOMEM;

	if (pieces && memory) {
		memset(memory, 0xaa, len);
		ktest_fill(memory + len, len);
		ret = ktest_send_pieces(args, cb, memory + len, len, pieces);
		memset(memory, 0xff, 2 * (size_t)len);
	}
	vfree(memory);
	vfree(pieces);
	return ret;
}

/*
 * longreceive NAME SIZE [TIMEOUT_MS] [mem=...] [at=OFFSET]: receive a message
 * into SIZE bytes
 */
int ktest_long_receive(const struct ktest_args *args, struct krdma_cb *cb)
{
	u32 len = ktest_number(args, 2, 64);
	struct ktest_memory memory;
	int ret;

	ret = ktest_memory_get(&memory, args, len);
	if (ret)
		return ret;
	ret = krdma_receive_len(cb, memory.data, len,
				ktest_number(args, 3, 60000));
	if (ret > 0)
		ret = ktest_check(memory.data, ret) ?: ret;
	ktest_memory_put(&memory);
	return ret;
}
