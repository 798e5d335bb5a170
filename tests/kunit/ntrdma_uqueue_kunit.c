// SPDX-License-Identifier: GPL-2.0
/*
 * Test queues that a program shares. The test is the program, and writes valid
 * and invalid indexes, and random requests.
 */
#include <kunit/test.h>
#include <linux/prandom.h>

#include "../../ntrdma/uqueue.c"

#define MASK	7
#define SHIFT	6
#define SGES	4
#define INLINE	100
#define GUARD	0xa5

static struct ntrdma_uqueue create(struct kunit *test)
{
	struct ntrdma_uqueue queue = {};
	void *buf = kunit_kzalloc(test, ntrdma_uqueue_bytes(MASK, SHIFT),
				  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	ntrdma_uqueue_init(&queue, buf, MASK, SHIFT);
	return queue;
}

static void sizes_have_room_for_header_and_elements(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ntrdma_uqueue_shift(1), 6);
	KUNIT_EXPECT_EQ(test, ntrdma_uqueue_shift(64), 6);
	KUNIT_EXPECT_EQ(test, ntrdma_uqueue_shift(65), 7);
	KUNIT_EXPECT_EQ(test, ntrdma_uqueue_bytes(MASK, SHIFT), 384 + 8 * 64);
	KUNIT_EXPECT_EQ(test, ntrdma_uqueue_bytes(U32_MAX, 63), SIZE_MAX);
	KUNIT_EXPECT_GE(test, ntrdma_uwr_bytes(SGES, INLINE),
			offsetof(struct rxe_send_wqe, dma.inline_data) + INLINE);
	KUNIT_EXPECT_GE(test, ntrdma_uwr_bytes(32, 0),
			offsetof(struct rxe_send_wqe, dma.sge) + 32 * 16);
	KUNIT_EXPECT_EQ(test, ntrdma_urecv_bytes(3),
			offsetof(struct rxe_recv_wqe, dma.sge) + 3 * 16);
}

static void init_tells_the_program_the_size(struct kunit *test)
{
	struct ntrdma_uqueue queue = create(test);

	KUNIT_EXPECT_EQ(test, queue.buf->log2_elem_size, SHIFT);
	KUNIT_EXPECT_EQ(test, queue.buf->index_mask, MASK);
	KUNIT_EXPECT_NULL(test, ntrdma_uqueue_next(&queue));
}

/* Start at each position. The queue has room for one element less than it has. */
static void add_fills_the_queue_and_stops(struct kunit *test)
{
	struct ntrdma_uqueue queue = create(test);
	u32 first, i, at, value;

	for (first = 0; first <= MASK; first++) {
		queue.index = first;
		WRITE_ONCE(queue.buf->consumer_index, first);
		for (i = 0; i < MASK; i++) {
			value = 100 + i;
			KUNIT_ASSERT_TRUE(test, ntrdma_uqueue_add(&queue, &value, sizeof(value)));
			KUNIT_ASSERT_EQ(test, ntrdma_uqueue_added(&queue), i + 1);
			at = ((first + i) & MASK) << SHIFT;
			memcpy(&value, queue.buf->data + at, sizeof(value));
			KUNIT_ASSERT_EQ(test, value, 100 + i);
		}
		KUNIT_EXPECT_FALSE(test, ntrdma_uqueue_add(&queue, &value, sizeof(value)));
		KUNIT_EXPECT_EQ(test, queue.buf->producer_index, (first + MASK) & MASK);
	}
}

static void add_with_invalid_index_of_the_program_is_refused(struct kunit *test)
{
	struct ntrdma_uqueue queue = create(test);
	u32 value = 1;

	WRITE_ONCE(queue.buf->consumer_index, MASK + 1);
	KUNIT_EXPECT_FALSE(test, ntrdma_uqueue_add(&queue, &value, sizeof(value)));
	WRITE_ONCE(queue.buf->consumer_index, U32_MAX);
	KUNIT_EXPECT_FALSE(test, ntrdma_uqueue_add(&queue, &value, sizeof(value)));
	KUNIT_EXPECT_EQ(test, queue.index, 0);
	KUNIT_EXPECT_LE(test, ntrdma_uqueue_added(&queue), MASK);
}

/* The kernel has its own index, and its own size. */
static void words_of_the_kernel_in_the_queue_do_not_matter(struct kunit *test)
{
	struct ntrdma_uqueue queue = create(test);
	u32 value = 1;

	memset(queue.buf, 0xff, offsetof(struct rxe_queue_buf, consumer_index));
	KUNIT_EXPECT_TRUE(test, ntrdma_uqueue_add(&queue, &value, sizeof(value)));
	KUNIT_EXPECT_EQ(test, queue.buf->producer_index, 1);
	memset(queue.buf, 0xff, sizeof(*queue.buf));
	WRITE_ONCE(queue.buf->producer_index, 3);
	KUNIT_EXPECT_EQ(test, ntrdma_uqueue_count(&queue), 2);
	KUNIT_EXPECT_PTR_EQ(test, ntrdma_uqueue_next(&queue),
			    (const void *)(queue.buf->data + 64));
}

static void count_follows_the_program(struct kunit *test)
{
	struct ntrdma_uqueue queue = create(test);
	u32 index, prod;

	for (index = 0; index <= MASK; index++)
		for (prod = 0; prod < 4 * (MASK + 1); prod++) {
			queue.index = index;
			WRITE_ONCE(queue.buf->producer_index, prod);
			KUNIT_ASSERT_EQ(test, ntrdma_uqueue_count(&queue),
					prod > MASK ? 0 : (prod - index) & MASK);
			KUNIT_ASSERT_EQ(test, !ntrdma_uqueue_next(&queue),
					prod > MASK || prod == index);
		}
}

static void release_keeps_elements_in_use(struct kunit *test)
{
	struct ntrdma_uqueue queue = create(test);
	u32 i;

	WRITE_ONCE(queue.buf->producer_index, 5);
	for (i = 0; i < 5; i++)
		ntrdma_uqueue_take(&queue);
	ntrdma_uqueue_release(&queue, 3);
	KUNIT_EXPECT_EQ(test, queue.buf->consumer_index, 2);
	ntrdma_uqueue_release(&queue, 0);
	KUNIT_EXPECT_EQ(test, queue.buf->consumer_index, 5);
	queue.index = 1;
	ntrdma_uqueue_release(&queue, 3);
	KUNIT_EXPECT_EQ(test, queue.buf->consumer_index, 6);
}

static void drop_takes_all(struct kunit *test)
{
	struct ntrdma_uqueue queue = create(test);

	queue.index = 6;
	WRITE_ONCE(queue.buf->producer_index, 3);
	ntrdma_uqueue_drop(&queue);
	KUNIT_EXPECT_EQ(test, queue.index, 3);
	KUNIT_EXPECT_EQ(test, queue.buf->consumer_index, 3);
	WRITE_ONCE(queue.buf->producer_index, 100);
	ntrdma_uqueue_drop(&queue);
	KUNIT_EXPECT_EQ(test, queue.index, 3);
}

/* A copy of a request between two guards. */
struct guarded {
	u8 before[64];
	struct ntrdma_uwr uwr;
	u8 after[64];
};

static void expect_guards(struct kunit *test, const struct guarded *copy)
{
	KUNIT_ASSERT_NULL(test, memchr_inv(copy->before, GUARD, sizeof(copy->before)));
	KUNIT_ASSERT_NULL(test, memchr_inv(copy->after, GUARD, sizeof(copy->after)));
}

static struct guarded *create_copy(struct kunit *test)
{
	struct guarded *copy = kunit_kmalloc(test, sizeof(*copy), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memset(copy, GUARD, sizeof(*copy));
	return copy;
}

static struct rxe_send_wqe *create_request(struct kunit *test)
{
	struct rxe_send_wqe *wqe = kunit_kzalloc(test, ntrdma_uwr_bytes(SGES, INLINE), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, wqe);
	wqe->wr.wr_id = 0x1234567890;
	wqe->wr.opcode = IB_WR_SEND;
	return wqe;
}

static void request_has_at_most_the_number_of_sges(struct kunit *test)
{
	struct rxe_send_wqe *wqe = create_request(test);
	struct guarded *copy = create_copy(test);
	u32 n;

	wqe->dma.sge[3].addr = 77;
	for (n = 0; n <= SGES; n++) {
		wqe->dma.num_sge = n;
		KUNIT_ASSERT_EQ(test, ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE), 0);
		KUNIT_EXPECT_EQ(test, copy->uwr.num_sge, n);
	}
	KUNIT_EXPECT_EQ(test, copy->uwr.sge[3].addr, 77);
	wqe->dma.num_sge = SGES + 1;
	KUNIT_EXPECT_EQ(test, ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE), -EINVAL);
	KUNIT_EXPECT_EQ(test, copy->uwr.wr.wr_id, 0x1234567890);
	wqe->dma.num_sge = U32_MAX;
	KUNIT_EXPECT_EQ(test, ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE), -EINVAL);
	expect_guards(test, copy);
}

static void inline_data_has_at_most_the_limit(struct kunit *test)
{
	struct rxe_send_wqe *wqe = create_request(test);
	struct guarded *copy = create_copy(test);

	wqe->wr.send_flags = IB_SEND_INLINE;
	wqe->dma.length = INLINE;
	wqe->dma.num_sge = U32_MAX;
	wqe->dma.inline_data[INLINE - 1] = 0x5a;
	KUNIT_ASSERT_EQ(test, ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE), 0);
	KUNIT_EXPECT_EQ(test, copy->uwr.bytes, INLINE);
	KUNIT_EXPECT_EQ(test, copy->uwr.num_sge, 0);
	KUNIT_EXPECT_EQ(test, copy->uwr.data[INLINE - 1], 0x5a);
	wqe->dma.length = INLINE + 1;
	KUNIT_EXPECT_EQ(test, ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE), -EINVAL);
	expect_guards(test, copy);
}

/* The library does not mark inline data of its extended calls. */
static void length_without_sge_is_inline_data(struct kunit *test)
{
	struct rxe_send_wqe *wqe = create_request(test);
	struct guarded *copy = create_copy(test);

	wqe->dma.length = 10;
	wqe->dma.inline_data[9] = 0x5a;
	KUNIT_ASSERT_EQ(test, ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE), 0);
	KUNIT_EXPECT_EQ(test, copy->uwr.wr.send_flags, IB_SEND_INLINE);
	KUNIT_EXPECT_EQ(test, copy->uwr.bytes, 10);
	KUNIT_EXPECT_EQ(test, copy->uwr.data[9], 0x5a);
	wqe->dma.length = INLINE + 1;
	KUNIT_EXPECT_EQ(test, ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE), -EINVAL);
}

static void unknown_flags_are_removed(struct kunit *test)
{
	struct rxe_send_wqe *wqe = create_request(test);
	struct guarded *copy = create_copy(test);

	wqe->wr.send_flags = U32_MAX & ~IB_SEND_INLINE;
	KUNIT_ASSERT_EQ(test, ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE), 0);
	KUNIT_EXPECT_EQ(test, copy->uwr.wr.send_flags,
			IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED);
}

static void receive_that_is_too_large_has_no_memory(struct kunit *test)
{
	struct rxe_recv_wqe *wqe = kunit_kzalloc(test, ntrdma_urecv_bytes(2), GFP_KERNEL);
	struct ib_sge sge[3] = { [2] = { .addr = GUARD } };
	u32 bytes;
	u64 wr_id;

	KUNIT_ASSERT_NOT_NULL(test, wqe);
	wqe->wr_id = 99;
	wqe->dma.num_sge = 2;
	wqe->dma.sge[0].length = 10;
	wqe->dma.sge[1].length = 20;
	KUNIT_EXPECT_EQ(test, ntrdma_urecv_read(wqe, 2, &wr_id, sge, &bytes), 2);
	KUNIT_EXPECT_EQ(test, bytes, 30);
	KUNIT_EXPECT_EQ(test, wr_id, 99);
	wqe->dma.sge[1].length = U32_MAX;
	KUNIT_EXPECT_EQ(test, ntrdma_urecv_read(wqe, 2, &wr_id, sge, &bytes), 0);
	KUNIT_EXPECT_EQ(test, bytes, 0);
	wqe->dma.num_sge = 3;
	KUNIT_EXPECT_EQ(test, ntrdma_urecv_read(wqe, 2, &wr_id, sge, &bytes), 0);
	KUNIT_EXPECT_EQ(test, bytes, 0);
	KUNIT_EXPECT_EQ(test, sge[2].addr, GUARD);
}

/* Random elements: each copy is within the limits, and nothing else is written. */
static void random_elements_stay_within_limits(struct kunit *test)
{
	size_t size = ntrdma_uwr_bytes(SGES, INLINE);
	struct guarded *copy = create_copy(test);
	struct rxe_send_wqe *wqe = create_request(test);
	struct ib_sge sge[SGES + 1] = { [SGES] = { .addr = GUARD } };
	struct rnd_state rnd;
	u32 i, bytes, good = 0;
	u64 wr_id;

	prandom_seed_state(&rnd, 4711);
	for (i = 0; i < 1000000; i++) {
		prandom_bytes_state(&rnd, wqe, min_t(size_t, size, 256));
		/* Half of the counts are small, otherwise none would be valid. */
		if (i & 1) {
			wqe->dma.num_sge &= 7;
			wqe->dma.length &= 127;
		}
		if (!ntrdma_uwr_read(&copy->uwr, wqe, SGES, INLINE)) {
			good++;
			KUNIT_ASSERT_LE(test, copy->uwr.num_sge, SGES);
			KUNIT_ASSERT_LE(test, copy->uwr.bytes, INLINE);
		}
		KUNIT_ASSERT_LE(test, ntrdma_urecv_read(wqe, SGES, &wr_id, sge, &bytes), SGES);
		KUNIT_ASSERT_EQ(test, sge[SGES].addr, GUARD);
		expect_guards(test, copy);
	}
	KUNIT_EXPECT_GT(test, good, 100000);
	KUNIT_EXPECT_LT(test, good, 900000);
}

static void completion_has_no_pointer(struct kunit *test)
{
	struct ib_qp qp = { .qp_num = 0x123456 };
	struct ib_wc wc = {
		.wr_id = 5,
		.status = IB_WC_LOC_LEN_ERR,
		.opcode = IB_WC_RECV,
		.byte_len = 100,
		.qp = &qp,
		.src_qp = 0x99,
		.wc_flags = IB_WC_GRH | IB_WC_WITH_IMM | IB_WC_WITH_VLAN |
			    IB_WC_WITH_NETWORK_HDR_TYPE,
		.port_num = 1,
	};
	struct ib_uverbs_wc want = {
		.wr_id = 5,
		.status = 1,
		/* The number of RECV in a program. */
		.opcode = 128,
		.byte_len = 100,
		.qp_num = 0x123456,
		.src_qp = 0x99,
		.wc_flags = 3,
		.port_num = 1,
	};
	struct ib_uverbs_wc uwc = ntrdma_uwc(&wc);

	KUNIT_EXPECT_EQ(test, memcmp(&uwc, &want, sizeof(uwc)), 0);
}

static struct kunit_case ntrdma_uqueue_cases[] = {
	KUNIT_CASE(sizes_have_room_for_header_and_elements),
	KUNIT_CASE(init_tells_the_program_the_size),
	KUNIT_CASE(add_fills_the_queue_and_stops),
	KUNIT_CASE(add_with_invalid_index_of_the_program_is_refused),
	KUNIT_CASE(words_of_the_kernel_in_the_queue_do_not_matter),
	KUNIT_CASE(count_follows_the_program),
	KUNIT_CASE(release_keeps_elements_in_use),
	KUNIT_CASE(drop_takes_all),
	KUNIT_CASE(request_has_at_most_the_number_of_sges),
	KUNIT_CASE(inline_data_has_at_most_the_limit),
	KUNIT_CASE(length_without_sge_is_inline_data),
	KUNIT_CASE(unknown_flags_are_removed),
	KUNIT_CASE(receive_that_is_too_large_has_no_memory),
	KUNIT_CASE(random_elements_stay_within_limits),
	KUNIT_CASE(completion_has_no_pointer),
	{}
};

static struct kunit_suite ntrdma_uqueue_suite = {
	.name = "ntrdma_uqueue",
	.test_cases = ntrdma_uqueue_cases,
};

kunit_test_suite(ntrdma_uqueue_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of the queues that programs share");
MODULE_LICENSE("GPL");
