// SPDX-License-Identifier: GPL-2.0
/*
 * Test krping's shared receives: the session that gets a message, and the
 * reposting of receives.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static int nsrqs;
static struct ib_device fake_device;

static struct ib_srq *fake_create_srq(struct ib_pd *pd,
				      struct ib_srq_init_attr *init)
{
	struct ib_srq *srq = kzalloc(sizeof(*srq), GFP_KERNEL);

	if (!srq)
		return ERR_PTR(-ENOMEM);
	srq->device = pd->device;
	nsrqs++;
	return srq;
}

static int fake_destroy_srq(struct ib_srq *srq)
{
	kfree(srq);
	nsrqs--;
	return 0;
}

static int fake_process_cq(struct ib_cq *cq, int budget)
{
	return 0;
}

#define ib_create_srq fake_create_srq
#define ib_destroy_srq fake_destroy_srq
#define ib_process_cq_direct fake_process_cq

#include "../../krping/pool.c"

/*
 * State of the fake function krping_recv_take(): taker is the session of its
 * last call, and takes is the result to return.
 */
static struct krping_session *taker;
static bool takes;

bool krping_recv_take(struct krping_session *s, struct krping_msg *msg,
		      const struct ib_wc *wc)
{
	taker = s;
	return takes;
}

int krping_msg_alloc(struct krping_msg *msg, struct ib_device *ibdev, u32 len,
		     enum dma_data_direction dir)
{
	*msg = (struct krping_msg){};
	return 0;
}

void krping_msg_free(struct krping_msg *msg, struct ib_device *ibdev, u32 len,
		     enum dma_data_direction dir)
{
}

static int nposted;
static struct ib_cqe *posted;

static int fake_post(struct ib_srq *srq, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	nposted++;
	posted = wr->wr_cqe;
	return 0;
}

struct fake_session {
	struct krping_session s;
	struct krdma_cb cb;
	struct ib_qp qp;
	struct ib_cq cq;
};

struct pool_fixture {
	struct krping_run run;
	struct ib_pd pd;
	struct fake_session sessions[3];
};

/*
 * Create a run with three connections of four receives each, and a device whose
 * SRQs have at most eight receives.
 */
static int pool_init(struct kunit *test)
{
	struct pool_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct fake_session *fake;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	fake_device.attrs.max_srq_wr = 8;
	fake_device.ops.post_srq_recv = fake_post;
	mutex_init(&f->run.pools_lock);
	INIT_LIST_HEAD(&f->run.pools);
	f->run.opts.role = KRPING_ROLE_CLIENT;
	f->run.opts.qps = ARRAY_SIZE(f->sessions);
	f->pd.device = &fake_device;
	for (i = 0; i < ARRAY_SIZE(f->sessions); i++) {
		fake = &f->sessions[i];
		fake->s.run = &f->run;
		fake->s.opts = &f->run.opts;
		fake->s.recv.n = 4;
		fake->s.recv.len = 16;
		fake->s.conn.cb = &fake->cb;
		fake->cb.context = &fake->s;
		fake->cb.pd = &f->pd;
		fake->cb.qp = &fake->qp;
		fake->qp.recv_cq = &fake->cq;
	}
	nsrqs = 0;
	nposted = 0;
	posted = NULL;
	taker = NULL;
	takes = true;
	test->priv = f;
	return 0;
}

static struct ib_srq *begin(struct kunit *test, unsigned int i)
{
	struct pool_fixture *f = test->priv;
	struct ib_srq *srq = krping_pool_get_srq(&f->sessions[i].cb);

	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	KUNIT_ASSERT_EQ(test, krping_pool_join(&f->sessions[i].s), 0);
	return srq;
}

static void end(struct kunit *test, unsigned int i, struct ib_srq *srq)
{
	struct pool_fixture *f = test->priv;

	krping_pool_leave(&f->sessions[i].s);
	krping_pool_put_srq(&f->sessions[i].cb, srq);
}

/* Complete a receive with the QP of session @qp, in the CQ of session @cq. */
static struct ib_cqe *complete_recv(struct kunit *test, unsigned int qp,
				    unsigned int cq, enum ib_wc_status status)
{
	struct pool_fixture *f = test->priv;
	struct krping_pool *pool =
		list_first_entry(&f->run.pools, struct krping_pool, link);
	struct ib_wc wc = {
		.wr_cqe = &pool->msgs[1].cqe,
		.status = status,
		.qp = &f->sessions[qp].qp,
	};

	nposted = 0;
	wc.wr_cqe->done(&f->sessions[cq].cq, &wc);
	return wc.wr_cqe;
}

static void krping_pool_is_freed_by_last_session(struct kunit *test)
{
	struct ib_srq *srq = begin(test, 0);

	KUNIT_EXPECT_PTR_EQ(test, begin(test, 1), srq);
	KUNIT_EXPECT_EQ(test, nsrqs, 1);
	end(test, 0, srq);
	KUNIT_EXPECT_EQ(test, nsrqs, 1);
	end(test, 1, srq);
	KUNIT_EXPECT_EQ(test, nsrqs, 0);
}

static void krping_pool_grows_per_session_up_to_limit(struct kunit *test)
{
	struct ib_srq *srq = begin(test, 0);

	KUNIT_EXPECT_EQ(test, nposted, 4);
	begin(test, 1);
	KUNIT_EXPECT_EQ(test, nposted, 8);
	begin(test, 2);
	KUNIT_EXPECT_EQ(test, nposted, 8);
	end(test, 0, srq);
	begin(test, 0);
	KUNIT_EXPECT_EQ(test, nposted, 8);
	end(test, 0, srq);
	end(test, 1, srq);
	end(test, 2, srq);
}

static void krping_pool_message_goes_to_session_of_qp(struct kunit *test)
{
	struct pool_fixture *f = test->priv;
	struct ib_srq *srq = begin(test, 0);

	begin(test, 1);
	complete_recv(test, 1, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, taker, &f->sessions[1].s);
	KUNIT_EXPECT_EQ(test, nposted, 0);
	complete_recv(test, 0, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_PTR_EQ(test, taker, &f->sessions[0].s);
	end(test, 0, srq);
	end(test, 1, srq);
}

/* The receive of a failing session is posted again for the other sessions. */
static void krping_pool_unused_receive_is_reposted(struct kunit *test)
{
	struct ib_srq *srq = begin(test, 0);
	struct ib_cqe *cqe;

	takes = false;
	cqe = complete_recv(test, 0, 0, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_NOT_NULL(test, taker);
	KUNIT_EXPECT_EQ(test, nposted, 1);
	KUNIT_EXPECT_PTR_EQ(test, posted, cqe);
	end(test, 0, srq);
}

/*
 * A completion arrives late, during krdma_release_cb(), when the session has no
 * connection any more.
 */
static void krping_pool_late_completion_has_no_session(struct kunit *test)
{
	struct pool_fixture *f = test->priv;
	struct ib_srq *srq = begin(test, 0);
	struct ib_cqe *cqe;

	begin(test, 1);
	krping_pool_leave(&f->sessions[0].s);
	f->sessions[0].s.conn.cb = NULL;
	cqe = complete_recv(test, 0, 0, IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_NULL(test, taker);
	KUNIT_EXPECT_EQ(test, nposted, 1);
	KUNIT_EXPECT_PTR_EQ(test, posted, cqe);
	krping_pool_put_srq(&f->sessions[0].cb, srq);
	end(test, 1, srq);
}

/*
 * A new QP may have the same address as a destroyed QP of which the CQ still
 * exists. So a session must match by its QP and its CQ.
 */
static void krping_pool_session_needs_matching_qp_and_cq(struct kunit *test)
{
	struct ib_srq *srq = begin(test, 0);

	complete_recv(test, 0, 1, IB_WC_SUCCESS);
	KUNIT_EXPECT_NULL(test, taker);
	KUNIT_EXPECT_EQ(test, nposted, 1);
	end(test, 0, srq);
}

static struct kunit_case krping_pool_cases[] = {
	KUNIT_CASE(krping_pool_is_freed_by_last_session),
	KUNIT_CASE(krping_pool_grows_per_session_up_to_limit),
	KUNIT_CASE(krping_pool_message_goes_to_session_of_qp),
	KUNIT_CASE(krping_pool_unused_receive_is_reposted),
	KUNIT_CASE(krping_pool_late_completion_has_no_session),
	KUNIT_CASE(krping_pool_session_needs_matching_qp_and_cq),
	{}
};

static struct kunit_suite krping_pool_suite = {
	.name = "krping_pool",
	.init = pool_init,
	.test_cases = krping_pool_cases,
};

kunit_test_suite(krping_pool_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krping's shared receives");
MODULE_LICENSE("GPL");
