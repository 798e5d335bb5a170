// SPDX-License-Identifier: GPL-2.0
/* Test numbers of messages, times of repetition, and opcodes. */
#include <kunit/test.h>

#include "../../ntrdma/order.c"

static void msn_wraps_at_24_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ntrdma_msn_add(0xffffff, 1), 0);
	KUNIT_EXPECT_EQ(test, ntrdma_msn_add(0xfffffe, 4), 2);
	KUNIT_EXPECT_EQ(test, ntrdma_msn_diff(0, 0xffffff), 1);
	KUNIT_EXPECT_EQ(test, ntrdma_msn_diff(0xffffff, 0), -1);
	KUNIT_EXPECT_EQ(test, ntrdma_msn_diff(5, 5), 0);
	KUNIT_EXPECT_EQ(test, ntrdma_msn_diff(0x7fffff, 0), 0x7fffff);
	KUNIT_EXPECT_EQ(test, ntrdma_msn_diff(0x800001, 0), -0x7fffff);
}

/* The names of these enumerators are times in ms: 655_36 means 655.36 ms. */
static void rnr_times_match_their_enumerators(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ntrdma_rnr_us(IB_RNR_TIMER_655_36), 655360);
	KUNIT_EXPECT_EQ(test, ntrdma_rnr_us(IB_RNR_TIMER_000_01), 10);
	KUNIT_EXPECT_EQ(test, ntrdma_rnr_us(IB_RNR_TIMER_000_12), 120);
	KUNIT_EXPECT_EQ(test, ntrdma_rnr_us(IB_RNR_TIMER_000_96), 960);
	KUNIT_EXPECT_EQ(test, ntrdma_rnr_us(IB_RNR_TIMER_010_24), 10240);
	KUNIT_EXPECT_EQ(test, ntrdma_rnr_us(IB_RNR_TIMER_081_92), 81920);
	KUNIT_EXPECT_EQ(test, ntrdma_rnr_us(IB_RNR_TIMER_491_52), 491520);
	KUNIT_EXPECT_EQ(test, ntrdma_rnr_us(0xe1), 10);
}

static void rnr_times_increase_from_code_1(struct kunit *test)
{
	u8 code;

	for (code = 2; code < 32; code++)
		KUNIT_EXPECT_GT(test, ntrdma_rnr_us(code), ntrdma_rnr_us(code - 1));
}

static void timeout_is_4096_ns_times_power_at_least_1_ms(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ntrdma_timeout_ns(0), 0);
	KUNIT_EXPECT_EQ(test, ntrdma_timeout_ns(1), NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, ntrdma_timeout_ns(8), 1048576);
	KUNIT_EXPECT_EQ(test, ntrdma_timeout_ns(14), 67108864);
	KUNIT_EXPECT_EQ(test, ntrdma_timeout_ns(31), 8796093022208);
}

static void ud_and_gsi_only_send(struct kunit *test)
{
	static const enum ib_qp_type types[] = { IB_QPT_UD, IB_QPT_GSI };
	u32 i, op;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (op = 0; op < 256; op++)
			KUNIT_EXPECT_EQ(test, !!ntrdma_op_flags(types[i], op),
					op == IB_WR_SEND || op == IB_WR_SEND_WITH_IMM);
}

static void rc_takes_the_documented_opcodes(struct kunit *test)
{
	static const enum ib_wr_opcode known[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_SEND,
		IB_WR_SEND_WITH_IMM, IB_WR_SEND_WITH_INV, IB_WR_RDMA_READ,
		IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
		IB_WR_LOCAL_INV, IB_WR_REG_MR,
	};
	u32 op, i, found = 0;

	for (op = 0; op < 256; op++)
		found += !!ntrdma_op_flags(IB_QPT_RC, op);
	KUNIT_EXPECT_EQ(test, found, ARRAY_SIZE(known));
	for (i = 0; i < ARRAY_SIZE(known); i++)
		KUNIT_EXPECT_NE(test, ntrdma_op_flags(IB_QPT_RC, known[i]), 0);
	KUNIT_EXPECT_EQ(test, ntrdma_op_flags(IB_QPT_RC, IB_WR_RDMA_READ_WITH_INV), 0);
	KUNIT_EXPECT_EQ(test, ntrdma_op_flags(IB_QPT_RC, -1), 0);
	KUNIT_EXPECT_EQ(test, ntrdma_op_flags(IB_QPT_UC, IB_WR_SEND), 0);
}

static void local_opcodes_are_not_for_programs(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, ntrdma_op_flags(IB_QPT_RC, IB_WR_REG_MR) &
				NTRDMA_OP_KERNEL);
	KUNIT_EXPECT_TRUE(test, ntrdma_op_flags(IB_QPT_RC, IB_WR_LOCAL_INV) &
				NTRDMA_OP_KERNEL);
	KUNIT_EXPECT_FALSE(test, ntrdma_op_flags(IB_QPT_RC, IB_WR_SEND_WITH_INV) &
				 NTRDMA_OP_KERNEL);
}

static void completion_has_the_opcode_of_its_request(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ntrdma_op_wc(IB_WR_SEND_WITH_INV), IB_WC_SEND);
	KUNIT_EXPECT_EQ(test, ntrdma_op_wc(IB_WR_RDMA_WRITE_WITH_IMM),
			IB_WC_RDMA_WRITE);
	KUNIT_EXPECT_EQ(test, ntrdma_op_wc(IB_WR_RDMA_READ), IB_WC_RDMA_READ);
	KUNIT_EXPECT_EQ(test, ntrdma_op_wc(IB_WR_ATOMIC_CMP_AND_SWP),
			IB_WC_COMP_SWAP);
	KUNIT_EXPECT_EQ(test, ntrdma_op_wc(IB_WR_ATOMIC_FETCH_AND_ADD),
			IB_WC_FETCH_ADD);
	KUNIT_EXPECT_EQ(test, ntrdma_op_wc(IB_WR_REG_MR), IB_WC_REG_MR);
	KUNIT_EXPECT_EQ(test, ntrdma_op_wc(IB_WR_LOCAL_INV), IB_WC_LOCAL_INV);
}

static struct kunit_case ntrdma_order_cases[] = {
	KUNIT_CASE(msn_wraps_at_24_bits),
	KUNIT_CASE(rnr_times_match_their_enumerators),
	KUNIT_CASE(rnr_times_increase_from_code_1),
	KUNIT_CASE(timeout_is_4096_ns_times_power_at_least_1_ms),
	KUNIT_CASE(ud_and_gsi_only_send),
	KUNIT_CASE(rc_takes_the_documented_opcodes),
	KUNIT_CASE(local_opcodes_are_not_for_programs),
	KUNIT_CASE(completion_has_the_opcode_of_its_request),
	{}
};

static struct kunit_suite ntrdma_order_suite = {
	.name = "ntrdma_order",
	.test_cases = ntrdma_order_cases,
};

kunit_test_suite(ntrdma_order_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of ntrdma's message numbers, times and opcodes");
MODULE_LICENSE("GPL");
