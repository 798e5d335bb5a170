// SPDX-License-Identifier: GPL-2.0
/* Test the order of copies, and the checks of keys, ranges and rights. */
#include <kunit/test.h>

#include <linux/prandom.h>

#include "../../ntrdma/emulate.c"
#include "../../ntrdma/mem.c"

#define ROOM 64
#define PAGE_BYTES 4096U
#define KEY 0x1234U
#define IOVA 0x7000000000000f00ULL
/* The region begins at this byte of its first page, and has three pages. */
#define START 0xf00U
#define LENGTH (PAGE_BYTES + 0x200U)
#define RIGHTS (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
		IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)

/* A device with one region. Its pages are not in the order of their memory. */
struct fixture {
	struct ntrdma_dev dev;
	struct ntrdma_mr mr;
	struct ib_pd pd;
	struct ib_pd other;
	u64 list[3];
	u8 *pages;
	u8 buf[2 * PAGE_BYTES];
};

static int make_region(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->pages = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, 2);
	KUNIT_ASSERT_NOT_NULL(test, f->pages);
	f->list[0] = (uintptr_t)f->pages + 2 * PAGE_BYTES;
	f->list[1] = (uintptr_t)f->pages;
	f->list[2] = (uintptr_t)f->pages + PAGE_BYTES;
	rwlock_init(&f->mr.lock);
	f->mr.dev = &f->dev;
	f->mr.ib.pd = &f->pd;
	f->mr.valid = true;
	f->mr.key = KEY;
	f->mr.access = RIGHTS;
	f->mr.iova = IOVA;
	f->mr.length = LENGTH;
	f->mr.offset = START;
	f->mr.page_shift = 12;
	f->mr.pages = f->list;
	xa_init(&f->dev.mrs);
	test->priv = f;
	return xa_err(xa_store(&f->dev.mrs, KEY >> 8, &f->mr, GFP_KERNEL));
}

static void free_region(struct kunit *test)
{
	struct fixture *f = test->priv;

	xa_destroy(&f->dev.mrs);
	free_pages((unsigned long)f->pages, 2);
}

/* Return the memory of byte @at of the region. */
static u8 *byte_at(struct fixture *f, u32 at)
{
	u32 pos = START + at;

	return (u8 *)(uintptr_t)f->list[pos / PAGE_BYTES] + pos % PAGE_BYTES;
}

static int write_remote(struct fixture *f, u64 addr, u32 bytes)
{
	return ntrdma_mem_remote(&f->dev, &f->pd, KEY, addr, f->buf, bytes,
				 IB_ACCESS_REMOTE_WRITE, NTRDMA_COPY_IN);
}

static void last_word_is_the_largest_aligned_one(struct kunit *test)
{
	u32 end, bytes, word;

	for (end = 64; end < 80; end++)
		for (bytes = 1; bytes <= 20; bytes++) {
			word = ntrdma_last_word(end, bytes);
			KUNIT_EXPECT_LE(test, word, min(bytes, 8U));
			KUNIT_EXPECT_EQ(test, end % word, 0);
			if (word < 8 && 2 * word <= bytes)
				KUNIT_EXPECT_NE(test, end % (2 * word), 0);
		}
}

static void copy_in_of_any_length_and_alignment_is_equal(struct kunit *test)
{
	u8 from[ROOM] __aligned(8), to[ROOM] __aligned(8);
	int start, source, len, i, wrong = 0;

	for (i = 0; i < ROOM; i++)
		from[i] = i + 1;
	for (start = 8; start < 16; start++)
		for (source = 8; source < 16; source++)
			for (len = 1; len <= 40; len++) {
				memset(to, 0, sizeof(to));
				ntrdma_copy_in(to + start, from + source, len);
				wrong += !!memcmp(to + start, from + source, len);
				wrong += to[start - 1] || to[start + len];
			}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* The last word of the source is the first one of the destination. */
static void copy_in_stores_the_last_word_after_the_others(struct kunit *test)
{
	u64 words[3] = { 1, 2, 3 };

	ntrdma_copy_in(&words[1], &words[0], 2 * sizeof(u64));
	KUNIT_EXPECT_EQ(test, words[0], 1);
	KUNIT_EXPECT_EQ(test, words[1], 1);
	KUNIT_EXPECT_EQ(test, words[2], 1);
}

static void access_must_lie_in_the_region(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, write_remote(f, IOVA, LENGTH), 0);
	KUNIT_EXPECT_EQ(test, write_remote(f, IOVA + LENGTH - 1, 1), 0);
	KUNIT_EXPECT_EQ(test, write_remote(f, IOVA, LENGTH + 1), -EACCES);
	KUNIT_EXPECT_EQ(test, write_remote(f, IOVA + 1, LENGTH), -EACCES);
	KUNIT_EXPECT_EQ(test, write_remote(f, IOVA + LENGTH, 1), -EACCES);
	KUNIT_EXPECT_EQ(test, write_remote(f, IOVA - 1, 1), -EACCES);
	KUNIT_EXPECT_EQ(test, write_remote(f, IOVA - 1, 2), -EACCES);
	KUNIT_EXPECT_EQ(test, write_remote(f, 0, 1), -EACCES);
	KUNIT_EXPECT_EQ(test, write_remote(f, U64_MAX, U32_MAX), -EACCES);
	KUNIT_EXPECT_EQ(test, write_remote(f, IOVA, U32_MAX), -EACCES);
}

static void access_to_a_region_that_wraps_is_checked(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->mr.iova = U64_MAX - 0xff;
	KUNIT_EXPECT_EQ(test, write_remote(f, U64_MAX, 2), 0);
	KUNIT_EXPECT_EQ(test, write_remote(f, 0, LENGTH - 0x100), 0);
	KUNIT_EXPECT_EQ(test, write_remote(f, 0, LENGTH - 0xff), -EACCES);
	KUNIT_EXPECT_EQ(test, write_remote(f, U64_MAX - 0x100, 1), -EACCES);
}

static void access_needs_key_domain_and_rights(struct kunit *test)
{
	struct fixture *f = test->priv;
	int write = IB_ACCESS_REMOTE_WRITE;

	KUNIT_EXPECT_EQ(test, ntrdma_mem_check(&f->dev, &f->pd, KEY, IOVA, 1, write), 0);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_check(&f->dev, &f->pd, KEY + 1, IOVA, 1, write),
			-EACCES);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_check(&f->dev, &f->pd, KEY + 256, IOVA, 1, write),
			-EACCES);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_check(&f->dev, &f->pd, 0, IOVA, 1, write), -EACCES);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_check(&f->dev, &f->other, KEY, IOVA, 1, write),
			-EACCES);
	f->mr.access = IB_ACCESS_REMOTE_READ;
	KUNIT_EXPECT_EQ(test, ntrdma_mem_check(&f->dev, &f->pd, KEY, IOVA, 1, write), -EACCES);
	f->mr.access = RIGHTS;
	f->mr.valid = false;
	KUNIT_EXPECT_EQ(test, ntrdma_mem_check(&f->dev, &f->pd, KEY, IOVA, 1, write), -EACCES);
}

static void access_of_no_bytes_needs_no_key(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, ntrdma_mem_check(&f->dev, &f->pd, 99, 0, 0, RIGHTS), 0);
	KUNIT_EXPECT_EQ(test, write_remote(f, 0, 0), 0);
}

static void copy_crosses_pages_and_leaves_the_rest(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 i, wrong = 0, changed = 0;

	for (i = 0; i < LENGTH; i++)
		f->buf[i] = i % 251 + 1;
	KUNIT_ASSERT_EQ(test, write_remote(f, IOVA, LENGTH), 0);
	for (i = 0; i < LENGTH; i++)
		wrong += *byte_at(f, i) != f->buf[i];
	for (i = 0; i < 4 * PAGE_BYTES; i++)
		changed += !!f->pages[i];
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, changed, LENGTH);
}

/* The access begins near the region, or anywhere. */
static u64 random_addr(struct rnd_state *rnd)
{
	u32 kind = prandom_u32_state(rnd);
	u64 near = IOVA - LENGTH + prandom_u32_state(rnd) % (3 * LENGTH);
	u64 far = (u64)prandom_u32_state(rnd) << 32 | prandom_u32_state(rnd);

	return kind % 4 ? near : far;
}

static void random_accesses_stay_in_the_region(struct kunit *test)
{
	struct fixture *f = test->priv;
	u32 i, bytes, taken = 0, wrong = 0, changed = 0;
	struct rnd_state rnd;
	bool good;
	u64 addr;

	prandom_seed_state(&rnd, 1);
	memset(f->buf, 0xff, sizeof(f->buf));
	for (i = 0; i < 100000; i++) {
		addr = random_addr(&rnd);
		bytes = 1 + prandom_u32_state(&rnd) % (i % 8 ? 64 : U32_MAX);
		good = addr >= IOVA && addr < IOVA + LENGTH &&
		       bytes <= IOVA + LENGTH - addr;
		wrong += write_remote(f, addr, bytes) != (good ? 0 : -EACCES);
		taken += good;
	}
	for (i = 0; i < LENGTH; i++)
		*byte_at(f, i) = 0;
	for (i = 0; i < 4 * PAGE_BYTES; i++)
		changed += !!f->pages[i];
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_EQ(test, changed, 0);
	KUNIT_EXPECT_GT(test, taken, 1000);
}

static void list_is_copied_from_an_offset(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ib_sge sge[] = {
		{ .addr = (uintptr_t)f->pages + 3 * PAGE_BYTES, .length = 4 },
		{ .lkey = KEY },
		{ .addr = IOVA + LENGTH - 4, .length = 4, .lkey = KEY },
	};

	memcpy(f->buf, "abcdef", 6);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, sge, 3, 1, f->buf, 6,
					      NTRDMA_COPY_IN), 0);
	KUNIT_EXPECT_EQ(test, memcmp(f->pages + 3 * PAGE_BYTES, "\0abc\0", 5), 0);
	KUNIT_EXPECT_EQ(test, memcmp(byte_at(f, LENGTH - 4), "def\0", 4), 0);
	memset(f->buf, 0, 4);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, sge, 3, 3, f->buf, 3,
					      NTRDMA_COPY_OUT), 0);
	KUNIT_EXPECT_EQ(test, memcmp(f->buf, "cde\0", 4), 0);
}

static void list_that_is_too_short_is_invalid(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ib_sge sge = { .addr = IOVA, .length = 8, .lkey = KEY };

	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, &sge, 1, 4, f->buf, 5,
					      NTRDMA_COPY_OUT), -EINVAL);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, &sge, 1, U32_MAX, f->buf, 1,
					      NTRDMA_COPY_OUT), -EINVAL);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, NULL, 0, 0, f->buf, 1,
					      NTRDMA_COPY_OUT), -EINVAL);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, NULL, 0, 0, f->buf, 0,
					      NTRDMA_COPY_OUT), 0);
}

static void list_without_local_write_is_only_read(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ib_sge sge = { .addr = IOVA, .length = 8, .lkey = KEY };

	f->mr.access = IB_ACCESS_REMOTE_WRITE;
	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, &sge, 1, 0, f->buf, 8,
					      NTRDMA_COPY_OUT), 0);
	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, &sge, 1, 0, f->buf, 8,
					      NTRDMA_COPY_IN), -EACCES);
}

static void local_key_0_does_not_wrap(struct kunit *test)
{
	struct fixture *f = test->priv;
	const struct ib_sge sge = { .addr = U64_MAX - 3, .length = 8 };

	KUNIT_EXPECT_EQ(test, ntrdma_mem_sges(&f->dev, &f->pd, &sge, 1, 0, f->buf, 8,
					      NTRDMA_COPY_OUT), -EACCES);
}

static int run_atomic(struct fixture *f, u64 addr, bool cas, u64 first, u64 second,
		      u64 *old)
{
	const u64 operand[2] = { first, second };

	return ntrdma_mem_atomic(&f->dev, &f->pd, KEY, addr, cas, operand, old);
}

static void atomics_return_the_old_value(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 *word = (u64 *)byte_at(f, 8);
	u64 old = 0;

	*word = 40;
	KUNIT_EXPECT_EQ(test, run_atomic(f, IOVA + 8, false, 2, 0, &old), 0);
	KUNIT_EXPECT_EQ(test, old, 40);
	KUNIT_EXPECT_EQ(test, run_atomic(f, IOVA + 8, true, 42, 7, &old), 0);
	KUNIT_EXPECT_EQ(test, old, 42);
	KUNIT_EXPECT_EQ(test, *word, 7);
	KUNIT_EXPECT_EQ(test, run_atomic(f, IOVA + 8, true, 42, 8, &old), 0);
	KUNIT_EXPECT_EQ(test, old, 7);
	KUNIT_EXPECT_EQ(test, *word, 7);
}

static void atomics_need_alignment_range_and_rights(struct kunit *test)
{
	struct fixture *f = test->priv;
	u64 old;

	KUNIT_EXPECT_EQ(test, run_atomic(f, IOVA + 4, false, 1, 0, &old), -EINVAL);
	KUNIT_EXPECT_EQ(test, run_atomic(f, IOVA + LENGTH - 8, false, 1, 0, &old), 0);
	KUNIT_EXPECT_EQ(test, run_atomic(f, IOVA + LENGTH, false, 1, 0, &old), -EACCES);
	f->mr.offset = START + 4;
	KUNIT_EXPECT_EQ(test, run_atomic(f, IOVA, false, 1, 0, &old), -EINVAL);
	f->mr.offset = START;
	f->mr.access = IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
	KUNIT_EXPECT_EQ(test, run_atomic(f, IOVA, false, 1, 0, &old), -EACCES);
}

static struct kunit_case ntrdma_mem_cases[] = {
	KUNIT_CASE(last_word_is_the_largest_aligned_one),
	KUNIT_CASE(copy_in_of_any_length_and_alignment_is_equal),
	KUNIT_CASE(copy_in_stores_the_last_word_after_the_others),
	KUNIT_CASE(access_must_lie_in_the_region),
	KUNIT_CASE(access_to_a_region_that_wraps_is_checked),
	KUNIT_CASE(access_needs_key_domain_and_rights),
	KUNIT_CASE(access_of_no_bytes_needs_no_key),
	KUNIT_CASE(copy_crosses_pages_and_leaves_the_rest),
	KUNIT_CASE(random_accesses_stay_in_the_region),
	KUNIT_CASE(list_is_copied_from_an_offset),
	KUNIT_CASE(list_that_is_too_short_is_invalid),
	KUNIT_CASE(list_without_local_write_is_only_read),
	KUNIT_CASE(local_key_0_does_not_wrap),
	KUNIT_CASE(atomics_return_the_old_value),
	KUNIT_CASE(atomics_need_alignment_range_and_rights),
	{}
};

static struct kunit_suite ntrdma_mem_suite = {
	.name = "ntrdma_mem",
	.init = make_region,
	.exit = free_region,
	.test_cases = ntrdma_mem_cases,
};

kunit_test_suite(ntrdma_mem_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of ntrdma's access to memory");
MODULE_LICENSE("GPL");
