// SPDX-License-Identifier: GPL-2.0
/* Commands with messages of any length, in memory of any kind. */
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "priv.h"

#define KTEST_LONG_MAX SZ_1G
#define KTEST_OWN_SIZE (256 * 1024)

/* A module's own data: neither linear nor from vmalloc(). */
static u8 ktest_own[KTEST_OWN_SIZE];

/**
 * struct ktest_memory - where a message is
 * @kind: vmalloc, kmalloc or own
 * @base: the memory
 * @data: where in it
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
 * NAME LEN [TIMEOUT_MS] [mem=vmalloc|kmalloc|own] [at=OFFSET]: the memory is
 * overwritten as soon as the call is over, so whoever still reads it will know.
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

/* NAME SIZE [TIMEOUT_MS] [mem=...] [at=OFFSET] */
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
