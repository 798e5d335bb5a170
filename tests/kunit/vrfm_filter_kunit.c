// SPDX-License-Identifier: GPL-2.0
/* Test the filters of taps: types, nodes and parts of the memory. */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "../../vrfm/filter.c"

#define FROM 1000U
#define TO 1100U

static const struct vrfm_filter every = { .kinds = VRFM_TAP_KINDS, .to = U32_MAX };

static bool is_data(u16 type)
{
	return type >= VRFM_REC_STORED && type <= VRFM_REC_PLACED;
}

static void filter_selects_types(struct kunit *test)
{
	struct vrfm_filter filter = every;
	struct vrfm_record record = { .length = 1 };
	u16 type;

	for (record.type = VRFM_REC_STORED; record.type <= VRFM_REC_HOLE; record.type++)
		for (type = VRFM_REC_STORED; type <= VRFM_REC_HOLE; type++) {
			filter.kinds = VRFM_TAP_KIND(type);
			KUNIT_EXPECT_EQ(test, type == record.type,
					vrfm_filter_wants(&filter, &record));
		}
}

static void filter_of_all_writes_has_no_holes(struct kunit *test)
{
	struct vrfm_filter filter = every;
	struct vrfm_record record = { .length = 1 };

	filter.all = true;
	for (record.type = VRFM_REC_STORED; record.type <= VRFM_REC_HOLE; record.type++)
		KUNIT_EXPECT_EQ(test, record.type != VRFM_REC_HOLE,
				vrfm_filter_wants(&filter, &record));
}

static struct vrfm_record about(u16 type, u16 node, u16 peer)
{
	struct vrfm_record record = { .type = type, .node = node, .length = 1 };

	if (type == VRFM_REC_PLACED)
		record.placed.peer = peer;
	else if (type == VRFM_REC_SENT || type == VRFM_REC_RECEIVED)
		record.message.peer = peer;
	else if (type == VRFM_REC_TOLD)
		record.event.to = peer;
	return record;
}

static void filter_selects_nodes(struct kunit *test)
{
	struct vrfm_filter filter = every;
	struct vrfm_record record;
	u32 node;
	u16 type;
	bool peer;

	for (type = VRFM_REC_STORED; type <= VRFM_REC_HOLE; type++)
		for (node = 0; node < 256; node++) {
			peer = type == VRFM_REC_PLACED || type == VRFM_REC_TOLD ||
			       type == VRFM_REC_SENT || type == VRFM_REC_RECEIVED;
			record = about(type, 3, 200);
			memset(filter.nodes, 0, sizeof(filter.nodes));
			filter.nodes[node / 64] = BIT_ULL(node % 64);
			KUNIT_EXPECT_EQ(test, node == (peer ? 200 : 3),
					vrfm_filter_wants(&filter, &record));
		}
}

static void filter_lets_records_without_node_pass(struct kunit *test)
{
	struct vrfm_record raised = about(VRFM_REC_RAISED, VRFM_REC_NO_NODE, 0);
	struct vrfm_record told = about(VRFM_REC_TOLD, 3, VRFM_REC_NO_NODE);
	struct vrfm_filter filter = every;

	filter.nodes[2] = 1;
	KUNIT_EXPECT_TRUE(test, vrfm_filter_wants(&filter, &raised));
	KUNIT_EXPECT_TRUE(test, vrfm_filter_wants(&filter, &told));
}

static bool touches(u32 offset, u32 length)
{
	u32 i;

	for (i = offset; i < offset + length; i++)
		if (i >= FROM && i < TO)
			return true;
	return false;
}

static void filter_selects_a_part_of_the_memory(struct kunit *test)
{
	struct vrfm_filter filter = every;
	struct vrfm_record record = { };

	filter.from = FROM;
	filter.to = TO;
	for (record.type = VRFM_REC_STORED; record.type <= VRFM_REC_HOLE; record.type++)
		for (record.offset = FROM - 40; record.offset < TO + 10; record.offset++)
			for (record.length = 1; record.length < 60; record.length += 2)
				KUNIT_ASSERT_EQ(test, vrfm_filter_wants(&filter, &record),
						!is_data(record.type) ||
						touches(record.offset, record.length));
}

static struct kunit_case vrfm_filter_cases[] = {
	KUNIT_CASE(filter_selects_types),
	KUNIT_CASE(filter_of_all_writes_has_no_holes),
	KUNIT_CASE(filter_selects_nodes),
	KUNIT_CASE(filter_lets_records_without_node_pass),
	KUNIT_CASE(filter_selects_a_part_of_the_memory),
	{ }
};

static struct kunit_suite vrfm_filter_suite = {
	.name = "vrfm_filter",
	.test_cases = vrfm_filter_cases,
};

kunit_test_suite(vrfm_filter_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/filter.c");
MODULE_LICENSE("GPL");
