// SPDX-License-Identifier: GPL-2.0
/* Test the parameters of a connection: defaults and limits. */
#include <kunit/test.h>

/* params.c defines its own pr_fmt. */
#undef pr_fmt
#include "../../krdma/params.c"

static int krdma_params_try(const struct krdma_params *user)
{
	struct krdma_params p;

	return krdma_params_set(&p, user);
}

static void null_params_are_documented_defaults(struct kunit *test)
{
	struct krdma_params p;

	KUNIT_ASSERT_EQ(test, krdma_params_set(&p, NULL), 0);
	KUNIT_EXPECT_EQ(test, p.addr_timeout_ms, 2000U);
	KUNIT_EXPECT_EQ(test, p.route_timeout_ms, 2000U);
	KUNIT_EXPECT_EQ(test, p.connect_timeout_ms, 10000U);
	KUNIT_EXPECT_EQ(test, p.op_timeout_ms, 30000U);
	KUNIT_EXPECT_EQ(test, p.keepalive_ms, 5000U);
	KUNIT_EXPECT_EQ(test, p.backlog, 64U);
	KUNIT_EXPECT_EQ(test, p.send_depth, 64U);
	KUNIT_EXPECT_EQ(test, p.recv_depth, 64U);
	KUNIT_EXPECT_EQ(test, p.responder_resources, 16);
	KUNIT_EXPECT_EQ(test, p.initiator_depth, 16);
	KUNIT_EXPECT_EQ(test, p.min_rnr_timer, 12);
	KUNIT_EXPECT_EQ(test, p.buf_size, 4096U);
	KUNIT_EXPECT_EQ(test, p.max_msg, 4194304U);
	KUNIT_EXPECT_EQ(test, p.mr_pool, 0U);
	KUNIT_EXPECT_EQ(test, p.spin_us, 0U);
}

static void default_retry_count_is_finite(struct kunit *test)
{
	struct krdma_params p;

	KUNIT_ASSERT_EQ(test, krdma_params_set(&p, NULL), 0);
	KUNIT_EXPECT_EQ(test, p.retry_count, 6);
	KUNIT_EXPECT_EQ(test, p.rnr_retry_count, 6);
}

static void zeroed_params_equal_null(struct kunit *test)
{
	struct krdma_params user = { .size = sizeof(user) }, p, none;

	KUNIT_ASSERT_EQ(test, krdma_params_set(&none, NULL), 0);
	KUNIT_ASSERT_EQ(test, krdma_params_set(&p, &user), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&p, &none, sizeof(p)), 0);
}

static struct krdma_keys *no_keys(struct krdma_cb *listen_cb,
				  const struct sockaddr *addr,
				  const void *data, u8 len)
{
	return NULL;
}

/*
 * Check levels and keys. params.c only compares the pointer to the keys with
 * NULL.
 */
static void params_of_security_are_checked(struct kunit *test)
{
	struct krdma_ops ops = { };
	struct krdma_keys *keys = (struct krdma_keys *)test;
	struct krdma_params p = { .size = sizeof(p), .keys = keys };

	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), -EINVAL);
	p.security = KRDMA_SECURITY_AUTH;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), 0);
	p.private_data = test;
	p.private_data_len = KRDMA_SECURE_PRIVATE_DATA_MAX;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), 0);
	p.private_data_len++;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), -EINVAL);
	p.private_data_len = 0;
	p.flags = KRDMA_RAW;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), -EINVAL);
	p.flags = 0;
	p.security = KRDMA_SECURITY_INTEGRITY;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), 0);
	p.security = KRDMA_SECURITY_ENCRYPT;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), 0);
	p.flags = KRDMA_RW;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), -EOPNOTSUPP);
	p.security = KRDMA_SECURITY_AUTH;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), 0);
	p.flags = 0;
	p.security = KRDMA_SECURITY_ENCRYPT + 1;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), -EINVAL);
	p.security = KRDMA_SECURITY_AUTH;
	p.keys = NULL;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), -ENOKEY);
	/* The owner of a listener may choose the keys of each request. */
	p.ops = &ops;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), -ENOKEY);
	ops.keys = no_keys;
	KUNIT_EXPECT_EQ(test, krdma_params_try(&p), 0);
}

static void krdma_zero_sets_zero(struct kunit *test)
{
	struct krdma_params user = {
		.size = sizeof(user),
		.rnr_retry_count = KRDMA_ZERO,
		.initiator_depth = KRDMA_ZERO,
	}, p;

	KUNIT_ASSERT_EQ(test, krdma_params_set(&p, &user), 0);
	KUNIT_EXPECT_EQ(test, p.rnr_retry_count, 0);
	KUNIT_EXPECT_EQ(test, p.initiator_depth, 0);
}

static void bulk_limit_depends_on_keepalive(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krdma_params_bulk_max(5000), 20480000U);
	KUNIT_EXPECT_EQ(test, krdma_params_bulk_max(1000), 4096000U);
	KUNIT_EXPECT_EQ(test, krdma_params_bulk_max(257), 257U * 4096);
	KUNIT_EXPECT_EQ(test, krdma_params_bulk_max(255), 1U << 20);
	KUNIT_EXPECT_EQ(test, krdma_params_bulk_max(1), 1U << 20);
	/*
	 * A longer interval does not raise the limit, because the peer may
	 * probe at the default interval.
	 */
	KUNIT_EXPECT_EQ(test, krdma_params_bulk_max(3600 * 1000), 20480000U);
	KUNIT_EXPECT_EQ(test, krdma_params_bulk_max(KRDMA_NEVER), 20480000U);
}

static int ack_timeout(u8 value, bool roce)
{
	struct krdma_params user = {
		.size = sizeof(user),
		.ack_timeout = value,
	}, p;
	u8 timeout;

	if (krdma_params_set(&p, &user) ||
	    !krdma_params_ack_timeout(&p, roce, &timeout))
		return -1;
	return timeout;
}

static void default_ack_timeout_applies_to_roce_only(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ack_timeout(0, true), 17);
	KUNIT_EXPECT_EQ(test, ack_timeout(0, false), -1);
}

static void explicit_ack_timeout_applies_to_all_transports(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ack_timeout(20, true), 20);
	KUNIT_EXPECT_EQ(test, ack_timeout(20, false), 20);
	KUNIT_EXPECT_EQ(test, ack_timeout(KRDMA_ZERO, true), 0);
	KUNIT_EXPECT_EQ(test, ack_timeout(KRDMA_ZERO, false), 0);
}

/*
 * The parameters of a later version of krdma, with a member that this version
 * does not know.
 */
struct newer_params {
	struct krdma_params known;
	u64 unknown;
};

static void larger_struct_with_zero_rest_is_accepted(struct kunit *test)
{
	struct newer_params newer = {
		.known.size = sizeof(newer),
		.known.retry_count = 3,
	};
	struct krdma_params p;

	KUNIT_ASSERT_EQ(test, krdma_params_set(&p, &newer.known), 0);
	KUNIT_EXPECT_EQ(test, p.retry_count, 3);
	KUNIT_EXPECT_EQ(test, p.size, sizeof(p));
}

static void larger_struct_with_unknown_value_is_refused(struct kunit *test)
{
	struct newer_params newer = {
		.known.size = sizeof(newer),
		.unknown = 1,
	};

	KUNIT_EXPECT_EQ(test, krdma_params_try(&newer.known), -E2BIG);
}

/*
 * A struct of which the first version had only the first two members. Two later
 * versions have added one member each.
 */
struct grown {
	size_t size;
	u32 first;
	u32 second;
	u32 third;
};

#define GROWN_MIN offsetofend(struct grown, first)

static void members_missing_in_smaller_struct_are_zero(struct kunit *test)
{
	struct grown from = {
		.size = offsetofend(struct grown, second),
		.first = 1, .second = 2, .third = 3,
	}, to;

	memset(&to, 0xff, sizeof(to));
	KUNIT_ASSERT_EQ(test, krdma_struct_in(&to, sizeof(to), GROWN_MIN, &from),
			0);
	KUNIT_EXPECT_EQ(test, to.size, sizeof(to));
	KUNIT_EXPECT_EQ(test, to.first, 1U);
	KUNIT_EXPECT_EQ(test, to.second, 2U);
	KUNIT_EXPECT_EQ(test, to.third, 0U);
}

static void unknown_struct_size_is_refused(struct kunit *test)
{
	static const size_t sizes[] = {
		0, 1, sizeof(size_t), GROWN_MIN - 1, 4097, SIZE_MAX,
	};
	struct grown from = { .first = 1 }, to;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		from.size = sizes[i];
		KUNIT_EXPECT_EQ_MSG(test, krdma_struct_in(&to, sizeof(to),
							  GROWN_MIN, &from),
				    -EINVAL, "in: %zu", sizes[i]);
		to.size = sizes[i];
		from.size = sizeof(from);
		KUNIT_EXPECT_EQ_MSG(test, krdma_struct_out(&to, GROWN_MIN,
							   &from),
				    -EINVAL, "out: %zu", sizes[i]);
	}
}

static void result_ends_with_callers_struct(struct kunit *test)
{
	struct grown from = {
		.size = sizeof(from), .first = 1, .second = 2, .third = 3,
	}, to = { .size = offsetofend(struct grown, second), .third = 9 };

	KUNIT_ASSERT_EQ(test, krdma_struct_out(&to, GROWN_MIN, &from), 0);
	KUNIT_EXPECT_EQ(test, to.size, offsetofend(struct grown, second));
	KUNIT_EXPECT_EQ(test, to.second, 2U);
	KUNIT_EXPECT_EQ(test, to.third, 9U);
}

static void larger_result_is_zero_behind_known_members(struct kunit *test)
{
	struct grown from = {
		.size = offsetofend(struct grown, second), .first = 1, .second = 2,
	}, to = { .size = sizeof(to), .third = 9 };

	KUNIT_ASSERT_EQ(test, krdma_struct_out(&to, GROWN_MIN, &from), 0);
	KUNIT_EXPECT_EQ(test, to.first, 1U);
	KUNIT_EXPECT_EQ(test, to.third, 0U);
}

static void user_pointers_are_cleared(struct kunit *test)
{
	static const u8 data[4];
	struct krdma_params p = {
		.net = (struct net *)data,
		.domain = (struct krdma_domain *)data,
		.src = (struct sockaddr *)data,
		.private_data = data,
		.private_data_len = sizeof(data),
	};

	krdma_params_forget(&p);
	KUNIT_EXPECT_NULL(test, p.net);
	KUNIT_EXPECT_NULL(test, p.domain);
	KUNIT_EXPECT_NULL(test, p.src);
	KUNIT_EXPECT_NULL(test, p.private_data);
	KUNIT_EXPECT_EQ(test, p.private_data_len, 0);
}

static void user_values_are_kept(struct kunit *test)
{
	struct krdma_params user = {
		.size = sizeof(user),
		.connect_timeout_ms = 1,
		.retry_count = 1,
		.recv_depth = 4096,
		.buf_size = 65536,
		.max_msg = 1U << 30,
		.mr_pool = KRDMA_NEVER,
	}, p;

	KUNIT_ASSERT_EQ(test, krdma_params_set(&p, &user), 0);
	KUNIT_EXPECT_EQ(test, p.connect_timeout_ms, 1U);
	KUNIT_EXPECT_EQ(test, p.retry_count, 1);
	KUNIT_EXPECT_EQ(test, p.recv_depth, 4096U);
	KUNIT_EXPECT_EQ(test, p.buf_size, 65536U);
	KUNIT_EXPECT_EQ(test, p.max_msg, 1U << 30);
	KUNIT_EXPECT_EQ(test, p.mr_pool, KRDMA_NEVER);
}

static void raw_mode_default_retries_are_unlimited(struct kunit *test)
{
	struct krdma_params user = { .size = sizeof(user), .flags = KRDMA_RAW }, p;

	KUNIT_ASSERT_EQ(test, krdma_params_set(&p, &user), 0);
	KUNIT_EXPECT_EQ(test, p.rnr_retry_count, 7);
}

static const u8 some_bytes[64];
static int some_qp_ready(struct krdma_cb *cb)
{
	return 0;
}

static void some_receive(struct krdma_cb *cb, struct krdma_rx_msg *rx_msg)
{
}

static const struct krdma_ops some_ops = { .qp_ready = some_qp_ready };
static const struct krdma_ops receive_ops = { .receive = some_receive };
static const struct krdma_ops no_ops;

static struct ib_srq *some_get_srq(struct krdma_cb *cb)
{
	return NULL;
}

static void some_put_srq(struct krdma_cb *cb, struct ib_srq *srq)
{
}

static const struct krdma_ops get_srq_only = { .get_srq = some_get_srq };
static const struct krdma_ops put_srq_only = { .put_srq = some_put_srq };
static const struct krdma_ops srq_ops = {
	.get_srq = some_get_srq,
	.put_srq = some_put_srq,
};

#define GOOD .size = sizeof(struct krdma_params)

struct krdma_params_case {
	const char *name;
	struct krdma_params p;
};

static const struct krdma_params_case refused[] = {
	{ "size of a pointer", { .size = sizeof(void *) } },
	{ "struct without a size", {} },
	{ "unknown flag", { GOOD, .flags = BIT(15) } },
	{ "top flag", { GOOD, .flags = BIT(31) } },
	{ "messages in raw mode",
	  { GOOD, .flags = KRDMA_RAW, .ops = &receive_ops } },
	{ "raw and exported buffer", { GOOD, .flags = KRDMA_RAW | KRDMA_RW } },
	{ "private data without bytes", { GOOD, .private_data_len = 1 } },
	{ "too much private data",
	  { GOOD, .private_data = some_bytes, .private_data_len = 33 } },
	{ "too much raw private data",
	  { GOOD, .flags = KRDMA_RAW, .private_data = some_bytes,
	    .private_data_len = 57 } },
	{ "address timeout", { GOOD, .addr_timeout_ms = 3600001 } },
	{ "route timeout", { GOOD, .route_timeout_ms = U32_MAX } },
	{ "connect timeout", { GOOD, .connect_timeout_ms = U32_MAX } },
	{ "operation timeout", { GOOD, .op_timeout_ms = U32_MAX } },
	{ "keep-alive interval", { GOOD, .keepalive_ms = U32_MAX - 1 } },
	{ "ack timeout", { GOOD, .ack_timeout = 32 } },
	{ "retry count", { GOOD, .retry_count = 8 } },
	{ "rnr retry count", { GOOD, .rnr_retry_count = 8 } },
	{ "rnr timer", { GOOD, .min_rnr_timer = 32 } },
	{ "backlog", { GOOD, .backlog = 65537 } },
	{ "send depth", { GOOD, .send_depth = 65537 } },
	{ "receive depth", { GOOD, .recv_depth = 4097 } },
	{ "receive depth without room for credits", { GOOD, .recv_depth = 3 } },
	{ "raw receive depth",
	  { GOOD, .flags = KRDMA_RAW, .recv_depth = 65537 } },
	{ "send entries", { GOOD, .max_send_sge = 257 } },
	{ "receive entries", { GOOD, .max_recv_sge = 257 } },
	{ "no entry but the header's", { GOOD, .max_send_sge = 1 } },
	{ "inline in message mode", { GOOD, .max_inline = 1 } },
	{ "raw inline", { GOOD, .flags = KRDMA_RAW, .max_inline = 4097 } },
	{ "poll context", { GOOD, .poll = KRDMA_POLL_DIRECT + 1 } },
	{ "direct polling of messages", { GOOD, .poll = KRDMA_POLL_DIRECT } },
	{ "direct polling of a shared queue",
	  { GOOD, .flags = KRDMA_RAW | KRDMA_SHARED_CQ,
	    .poll = KRDMA_POLL_DIRECT } },
	{ "shared receives on a shared queue",
	  { GOOD, .flags = KRDMA_RAW | KRDMA_SHARED_CQ, .srq_depth = 1 } },
	{ "own receives in message mode", { GOOD, .ops = &some_ops } },
	{ "shared receives in message mode", { GOOD, .srq_depth = 1 } },
	{ "an SRQ that is never put",
	  { GOOD, .flags = KRDMA_RAW, .ops = &get_srq_only } },
	{ "an SRQ that is never got",
	  { GOOD, .flags = KRDMA_RAW, .ops = &put_srq_only } },
	{ "an owner's SRQ in message mode", { GOOD, .ops = &srq_ops } },
	{ "shared receives", { GOOD, .flags = KRDMA_RAW, .srq_depth = 65537 } },
	{ "spinning for long", { GOOD, .spin_us = 1001 } },
	{ "NUMA node", { GOOD, .numa_node = MAX_NUMNODES + 1 } },
	{ "path MTU that is no power of two", { GOOD, .path_mtu = 1500 } },
	{ "path MTU too small", { GOOD, .path_mtu = 128 } },
	{ "path MTU too large", { GOOD, .path_mtu = 8192 } },
	{ "buffers too small", { GOOD, .buf_size = 255 } },
	{ "buffers too large", { GOOD, .buf_size = 65537 } },
	{ "messages too long", { GOOD, .max_msg = (1U << 30) + 1 } },
	{ "too many MRs kept", { GOOD, .mr_pool = 1025 } },
	{ "pool of KRDMA_NEVER - 1", { GOOD, .mr_pool = KRDMA_NEVER - 1 } },
};

static void krdma_params_case_desc(const struct krdma_params_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(refused, refused, krdma_params_case_desc);

static void value_out_of_range_is_refused(struct kunit *test)
{
	const struct krdma_params_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krdma_params_try(&c->p), -EINVAL);
}

static const struct krdma_params_case taken[] = {
	{ "the maximum of private data",
	  { GOOD, .private_data = some_bytes, .private_data_len = 32 } },
	{ "the maximum of raw private data",
	  { GOOD, .flags = KRDMA_RAW, .private_data = some_bytes,
	    .private_data_len = 56 } },
	{ "an hour", { GOOD, .connect_timeout_ms = 3600000 } },
	{ "callbacks in message mode", { GOOD, .ops = &no_ops } },
	{ "raw with callbacks",
	  { GOOD, .flags = KRDMA_RAW, .ops = &some_ops } },
	{ "raw with direct polling",
	  { GOOD, .flags = KRDMA_RAW, .poll = KRDMA_POLL_DIRECT } },
	{ "raw with one receive",
	  { GOOD, .flags = KRDMA_RAW, .recv_depth = 1 } },
	{ "smallest message mode", { GOOD, .recv_depth = 4, .buf_size = 256 } },
	{ "exported buffer", { GOOD, .flags = KRDMA_RW } },
	{ "any signal ends a wait", { GOOD, .flags = KRDMA_INTERRUPTIBLE } },
	{ "no device yet", { GOOD, .flags = KRDMA_LISTEN_WAIT } },
	{ "the maximum of MRs kept", { GOOD, .mr_pool = 1024 } },
	{ "no MRs kept", { GOOD, .mr_pool = KRDMA_NEVER } },
	{ "shared queue", { GOOD, .flags = KRDMA_SHARED_CQ } },
	{ "raw with a shared queue",
	  { GOOD, .flags = KRDMA_RAW | KRDMA_SHARED_CQ,
	    .poll = KRDMA_POLL_WORKQUEUE } },
	{ "any completion vector", { GOOD, .comp_vector = U32_MAX } },
	{ "raw with shared receives",
	  { GOOD, .flags = KRDMA_RAW, .srq_depth = 65536 } },
	{ "last NUMA node", { GOOD, .numa_node = MAX_NUMNODES } },
	{ "memory of any node", { GOOD, .numa_node = KRDMA_NEVER } },
	{ "smallest path MTU", { GOOD, .path_mtu = 256 } },
	{ "largest path MTU", { GOOD, .path_mtu = 4096 } },
	{ "raw with an owner's SRQ",
	  { GOOD, .flags = KRDMA_RAW, .srq_depth = 1, .ops = &srq_ops } },
	{ "a millisecond of spinning", { GOOD, .spin_us = 1000 } },
};

KUNIT_ARRAY_PARAM(taken, taken, krdma_params_case_desc);

static void value_at_limit_is_accepted(struct kunit *test)
{
	const struct krdma_params_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, krdma_params_try(&c->p), 0);
}

static struct kunit_case krdma_params_cases[] = {
	KUNIT_CASE(null_params_are_documented_defaults),
	KUNIT_CASE(default_retry_count_is_finite),
	KUNIT_CASE(zeroed_params_equal_null),
	KUNIT_CASE(params_of_security_are_checked),
	KUNIT_CASE(krdma_zero_sets_zero),
	KUNIT_CASE(bulk_limit_depends_on_keepalive),
	KUNIT_CASE(default_ack_timeout_applies_to_roce_only),
	KUNIT_CASE(explicit_ack_timeout_applies_to_all_transports),
	KUNIT_CASE(larger_struct_with_zero_rest_is_accepted),
	KUNIT_CASE(larger_struct_with_unknown_value_is_refused),
	KUNIT_CASE(members_missing_in_smaller_struct_are_zero),
	KUNIT_CASE(unknown_struct_size_is_refused),
	KUNIT_CASE(result_ends_with_callers_struct),
	KUNIT_CASE(larger_result_is_zero_behind_known_members),
	KUNIT_CASE(user_pointers_are_cleared),
	KUNIT_CASE(user_values_are_kept),
	KUNIT_CASE(raw_mode_default_retries_are_unlimited),
	KUNIT_CASE_PARAM(value_out_of_range_is_refused, refused_gen_params),
	KUNIT_CASE_PARAM(value_at_limit_is_accepted, taken_gen_params),
	{}
};

static struct kunit_suite krdma_params_suite = {
	.name = "krdma_params",
	.test_cases = krdma_params_cases,
};

kunit_test_suite(krdma_params_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's parameters");
MODULE_LICENSE("GPL");
