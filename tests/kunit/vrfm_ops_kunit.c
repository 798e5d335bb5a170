// SPDX-License-Identifier: GPL-2.0
/*
 * Test the checks of the operations of a batch against a slow model, and the
 * number of messages against packing.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../../vrfm/ops.c"
#include "../../vrfm/proto.c"

#define SIZE 1048576U
#define NODE 1
#define MESSAGE 16320U

static const struct vrfm_ops_limits limits = {
	.size = SIZE, .node = NODE, .message = MESSAGE,
};

static const struct vrfm_op write_op = {
	.op = VRFM_OP_WRITE, .offset = 4096, .length = 100,
	.source = 0x7f0000001000, .cookie = 7,
};

static const struct vrfm_op inline_op = {
	.op = VRFM_OP_INLINE, .offset = 8, .length = 5, .data = "12345",
};

static const struct vrfm_op publish_op = {
	.op = VRFM_OP_PUBLISH, .offset = 4096, .length = 100, .cookie = 7,
};

static const struct vrfm_op event_op = {
	.op = VRFM_OP_EVENT, .node = 2, .event = 3, .data = "1234",
};

static int check(const struct vrfm_op *op, u32 count, u32 *failed)
{
	struct vrfm_ops ops = { .op = op, .count = count };

	return vrfm_ops_check(&ops, &limits, failed);
}

static int check_one(struct vrfm_op op)
{
	u32 failed;

	return check(&op, 1, &failed);
}

static struct vrfm_op *ops_of(struct kunit *test, const struct vrfm_op *op,
			      u32 count)
{
	struct vrfm_op *ops = kunit_kcalloc(test, count, sizeof(*ops),
					    GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, ops);
	for (i = 0; i < count; i++) {
		ops[i] = *op;
		ops[i].flags = i + 1 < count ? VRFM_OP_MORE : 0;
	}
	return ops;
}

/* ---- single operations ---- */

/* Count the bytes that are not 0. */
static u32 nonzero(const void *at, u32 from, u32 to)
{
	const u8 *bytes = at;
	u32 n = 0;

	for (; from < to; from++)
		n += bytes[from] != 0;
	return n;
}

static bool model_writes(const struct vrfm_op *op, u64 max)
{
	u64 end = (u64)op->offset + op->length;

	return op->length >= 1 && op->length <= max && end <= SIZE &&
	       op->node == 0 && op->event == 0;
}

static bool model_is_valid(const struct vrfm_op *op)
{
	if (op->flags != 0)
		return false;
	if (op->op == 1)
		return model_writes(op, 65536) && !nonzero(op->data, 0, 32);
	if (op->op == 2)
		return model_writes(op, 32) && op->source == 0 &&
		       !nonzero(op->data, op->length, 32);
	if (op->op == 3)
		return model_writes(op, 65536) && op->source == 0 &&
		       !nonzero(op->data, 0, 32);
	if (op->op == 4)
		return (op->node < 256 || op->node == 65535) &&
		       op->node != NODE && op->event < 5 && op->offset == 0 &&
		       op->length == 0 && op->source == 0 &&
		       !nonzero(op->data, 4, 32);
	return false;
}

static void every_changed_byte_is_judged_as_by_model(struct kunit *test)
{
	const struct vrfm_op *const valid[] = {
		&write_op, &inline_op, &publish_op, &event_op,
	};
	u32 kind, at, value, refused = 0;

	for (kind = 0; kind < ARRAY_SIZE(valid); kind++) {
		KUNIT_ASSERT_EQ(test, check_one(*valid[kind]), 0);
		for (at = 0; at < sizeof(write_op); at++)
			for (value = 0; value < 256; value++) {
				struct vrfm_op op = *valid[kind];
				int wanted;

				((u8 *)&op)[at] = value;
				wanted = model_is_valid(&op) ? 0 : -EINVAL;
				KUNIT_ASSERT_EQ(test, check_one(op), wanted);
				refused += wanted != 0;
			}
	}
	KUNIT_EXPECT_GT(test, refused, 20000U);
}

static void bytes_end_with_memory(struct kunit *test)
{
	struct vrfm_op op = write_op;

	op.offset = SIZE - op.length;
	KUNIT_EXPECT_EQ(test, check_one(op), 0);
	op.offset++;
	KUNIT_EXPECT_EQ(test, check_one(op), -EINVAL);
	op.offset = U32_MAX;
	KUNIT_EXPECT_EQ(test, check_one(op), -EINVAL);
}

/* ---- batches ---- */

static void last_operation_alone_has_no_more(struct kunit *test)
{
	struct vrfm_op *ops = ops_of(test, &inline_op, 3);
	u32 failed;

	KUNIT_EXPECT_EQ(test, check(ops, 3, &failed), 0);
	KUNIT_EXPECT_EQ(test, failed, 0U);
	KUNIT_EXPECT_EQ(test, check(ops, 2, &failed), -EINVAL);
	KUNIT_EXPECT_EQ(test, failed, 1U);
	ops[1].flags = 0;
	KUNIT_EXPECT_EQ(test, check(ops, 3, &failed), -EINVAL);
	KUNIT_EXPECT_EQ(test, failed, 1U);
}

static void invalid_operation_is_found_anywhere(struct kunit *test)
{
	u32 i, failed;

	for (i = 0; i < VRFM_BATCH_OPS; i++) {
		struct vrfm_op *ops = ops_of(test, &inline_op, VRFM_BATCH_OPS);

		ops[i].length = 0;
		KUNIT_EXPECT_EQ(test, check(ops, VRFM_BATCH_OPS, &failed),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, failed, i);
		kunit_kfree(test, ops);
	}
}

static void bytes_of_all_writes_are_limited(struct kunit *test)
{
	struct vrfm_op *ops = ops_of(test, &write_op, 2);
	u32 failed;

	ops[0].length = 65000;
	ops[1].length = 536;
	KUNIT_EXPECT_EQ(test, check(ops, 2, &failed), 0);
	ops[1].length = 537;
	KUNIT_EXPECT_EQ(test, check(ops, 2, &failed), -E2BIG);
	KUNIT_EXPECT_EQ(test, failed, 1U);
}

static void events_are_limited(struct kunit *test)
{
	struct vrfm_op *ops = ops_of(test, &event_op, 9);
	u32 failed;

	KUNIT_EXPECT_EQ(test, check(ops, 9, &failed), -E2BIG);
	ops[7].flags = 0;
	KUNIT_EXPECT_EQ(test, check(ops, 8, &failed), 0);
}

/* Eight events between nine writes need 17 messages. */
static void largest_batch_needs_all_messages(struct kunit *test)
{
	struct vrfm_op *op = ops_of(test, &write_op, VRFM_BATCH_OPS);
	struct vrfm_ops ops = { .op = op, .count = VRFM_BATCH_OPS };
	u32 i;

	/* Eight events among short writes, and then one large write. */
	for (i = 0; i < VRFM_BATCH_OPS; i++)
		op[i].length = 1;
	for (i = 1; i < 16; i += 2)
		op[i] = event_op;
	op[VRFM_BATCH_OPS - 1].length = VRFM_BATCH_BYTES - VRFM_BATCH_OPS;
	KUNIT_EXPECT_EQ(test, vrfm_ops_messages(&ops, MESSAGE),
			(u32)VRFM_OPS_MESSAGES(MESSAGE));
}

static void largest_batch_fits(struct kunit *test)
{
	struct vrfm_op *ops = ops_of(test, &write_op, VRFM_BATCH_OPS);
	u32 i, failed;

	for (i = 0; i < VRFM_BATCH_OPS - 8; i++)
		ops[i].length = 65536 / (VRFM_BATCH_OPS - 8) - 1;
	for (; i < VRFM_BATCH_OPS; i++) {
		ops[i] = event_op;
		ops[i].flags = i + 1 < VRFM_BATCH_OPS ? VRFM_OP_MORE : 0;
	}
	KUNIT_EXPECT_EQ(test, check(ops, VRFM_BATCH_OPS, &failed), 0);
}

/* ---- messages ---- */

static void block_counter_and_event_need_one_message(struct kunit *test)
{
	struct vrfm_op *op = ops_of(test, &write_op, 3);
	struct vrfm_ops ops = { .op = op, .count = 3 };

	op[1] = inline_op;
	op[2] = event_op;
	KUNIT_EXPECT_EQ(test, vrfm_ops_messages(&ops, MESSAGE), 1U);
	op[0] = event_op;
	KUNIT_EXPECT_EQ(test, vrfm_ops_messages(&ops, MESSAGE), 2U);
}

/* Pack a batch as vrfm_link_append_locked() does. Return the messages opened. */
static u32 pack(struct vrfm_pack *pack, const struct vrfm_ops *ops,
		const void *bytes, bool open)
{
	const struct vrfm_op *op = ops->op;
	u32 i, at, n, messages = 0;

	for (i = 0; i < ops->count; i++, op++) {
		if (op->op == VRFM_OP_EVENT) {
			if (!open || !vrfm_pack_has_room_for_event(pack))
				messages++;
			open = false;
		}
		for (at = 0; at < op->length; at += n) {
			if (!open || !vrfm_pack_room(pack)) {
				vrfm_pack_begin(pack, pack->msg, pack->room);
				open = true;
				messages++;
			}
			n = vrfm_pack_run(pack, op->offset + at, bytes,
					  op->length - at);
		}
	}
	return messages;
}

static void number_of_messages_suffices(struct kunit *test)
{
	static const u32 sizes[] = { 4096, 8192, MESSAGE };
	struct vrfm_op *op = ops_of(test, &write_op, VRFM_BATCH_OPS);
	void *msg = kunit_kzalloc(test, MESSAGE, GFP_KERNEL);
	void *bytes = kunit_kzalloc(test, VRFM_BATCH_BYTES, GFP_KERNEL);
	u32 round, i, left, equal = 0;
	struct rnd_state state;

	KUNIT_ASSERT_NOT_NULL(test, msg);
	KUNIT_ASSERT_NOT_NULL(test, bytes);
	prandom_seed_state(&state, 34);
	for (round = 0; round < 3000; round++) {
		u32 size = sizes[round % ARRAY_SIZE(sizes)], used, bound;
		struct vrfm_pack packed;
		struct vrfm_ops ops = {
			.op = op,
			.count = 1 + prandom_u32_state(&state) % VRFM_BATCH_OPS,
		};

		left = VRFM_BATCH_BYTES;
		for (i = 0; i < ops.count; i++) {
			op[i] = prandom_u32_state(&state) % 8 ? write_op :
				event_op;
			ops.events += op[i].op == VRFM_OP_EVENT;
			if (op[i].op == VRFM_OP_EVENT)
				continue;
			op[i].offset = prandom_u32_state(&state) % 1000;
			op[i].length = 1 + prandom_u32_state(&state) %
				       (left - ops.count + i);
			left -= op[i].length;
		}
		vrfm_pack_begin(&packed, msg, size);
		/* The open message has some bytes. */
		vrfm_pack_run(&packed, 0, bytes,
			      1 + prandom_u32_state(&state) % size);
		bound = vrfm_ops_messages(&ops, size);
		used = pack(&packed, &ops, bytes, round % 2);
		KUNIT_ASSERT_LE(test, used, bound);
		if (ops.events <= VRFM_BATCH_EVENTS)
			KUNIT_ASSERT_LE(test, bound,
					(u32)VRFM_OPS_MESSAGES(size));
		equal += used == bound;
	}
	/* The bound is not much too large. */
	KUNIT_EXPECT_GT(test, equal, 500U);
}

static struct kunit_case vrfm_ops_cases[] = {
	KUNIT_CASE(every_changed_byte_is_judged_as_by_model),
	KUNIT_CASE(bytes_end_with_memory),
	KUNIT_CASE(last_operation_alone_has_no_more),
	KUNIT_CASE(invalid_operation_is_found_anywhere),
	KUNIT_CASE(bytes_of_all_writes_are_limited),
	KUNIT_CASE(events_are_limited),
	KUNIT_CASE(largest_batch_needs_all_messages),
	KUNIT_CASE(largest_batch_fits),
	KUNIT_CASE(block_counter_and_event_need_one_message),
	KUNIT_CASE(number_of_messages_suffices),
	{ }
};

static struct kunit_suite vrfm_ops_suite = {
	.name = "vrfm_ops",
	.test_cases = vrfm_ops_cases,
};

kunit_test_suite(vrfm_ops_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/ops.c");
MODULE_LICENSE("GPL");
