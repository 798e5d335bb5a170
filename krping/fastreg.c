// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration: register a buffer of varying length and invalidate its
 * key, many times. Nothing is sent. The test needs a connection only because
 * only a connected QP processes these work requests.
 *
 * All MRs register the same allocated memory, and no adapter writes to it. The
 * page list of an MR is written only after the last LOCAL_INV of this MR is
 * complete.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "priv.h"

/*
 * The test works for KRPING_FR_WORK_S seconds and then pauses for
 * KRPING_FR_REST_MS, as in all versions of krping.
 */
#define KRPING_FR_WORK_S 9
#define KRPING_FR_REST_MS 1000

static const char krping_fr_done[] = "wait for LOCAL_INV";

/**
 * struct krping_fr - state of the test in addition to the session
 * @buf: mapped memory
 * @sgl: part of @buf that is registered next
 * @mrs: memory regions, used in turn
 * @nmrs: number of @mrs
 * @rest: time of the next pause, in jiffies
 */
struct krping_fr {
	struct krping_buf buf;
	struct scatterlist *sgl;
	struct ib_mr **mrs;
	u32 nmrs;
	unsigned long rest;
};

static void krping_fr_free(struct krping_fr *fr)
{
	while (fr->nmrs)
		ib_dereg_mr(fr->mrs[--fr->nmrs]);
	kvfree(fr->mrs);
	kfree(fr->sgl);
	krping_buf_free(&fr->buf);
}

static int krping_fr_alloc(struct krping_session *s, struct krping_fr *fr)
{
	u32 room, n = max(s->conn.depth / 2, 1U);
	struct ib_pd *pd = s->conn.cb->pd;
	struct ib_mr *mr;
	int ret;

	ret = krping_buf_alloc(&fr->buf, pd, s->opts->size);
	if (ret)
		return ret;
	ret = krping_buf_map(&fr->buf, DMA_BIDIRECTIONAL);
	if (ret)
		goto free;
	ret = -ENOMEM;
	room = krdma_mr_room(pd->device, krping_buf_entries(&fr->buf, pd));
	fr->sgl = kcalloc(fr->buf.npages, sizeof(*fr->sgl), GFP_KERNEL);
	fr->mrs = kvcalloc(n, sizeof(*fr->mrs), GFP_KERNEL);
	if (!fr->sgl || !fr->mrs)
		goto free;
	while (fr->nmrs < n) {
		mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, room);
		if (IS_ERR(mr)) {
			ret = PTR_ERR(mr);
			goto free;
		}
		fr->mrs[fr->nmrs++] = mr;
	}
	return 0;
free:
	krping_fr_free(fr);
	return ret;
}

static int krping_fr_map(struct krping_session *s, struct krping_fr *fr,
			 struct ib_mr *mr)
{
	u32 len = 1 + get_random_u32() % s->opts->size;
	struct scatterlist *from, *to = fr->sgl;
	int i, ret, n = 0;

	/* Set fr->sgl to the first @len bytes of the buffer. */
	sg_init_table(fr->sgl, fr->buf.npages);
	for_each_sg(fr->buf.sgl, from, fr->buf.nents, i) {
		sg_dma_address(to) = sg_dma_address(from);
		sg_dma_len(to) = min(len, sg_dma_len(from));
		len -= sg_dma_len(to);
		n++;
		if (!len)
			break;
		to = sg_next(to);
	}
	ret = ib_map_mr_sg(mr, fr->sgl, n, NULL,
			   krdma_mr_page_size(mr->device));
	if (ret != n)
		return ret < 0 ? ret : -EINVAL;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	return 0;
}

static int krping_fr_post(struct krping_session *s, struct ib_mr *mr)
{
	struct ib_send_wr inv = {
		.wr_cqe = &s->stream.cqe,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = mr->rkey,
	};
	struct ib_reg_wr reg = {
		.wr = {
			.next = &inv,
			.wr_cqe = &s->wr.registered.cqe,
			.opcode = IB_WR_REG_MR,
		},
		.mr = mr,
		.key = mr->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_REMOTE_WRITE,
	};
	int ret = krping_post(s, &reg.wr);

	if (!ret)
		s->stream.posted++;
	return ret;
}

static int krping_fr_one(struct krping_session *s, struct krping_fr *fr)
{
	struct ib_mr *mr;
	u32 next;
	int ret;

	div_u64_rem(s->stream.posted, fr->nmrs, &next);
	mr = fr->mrs[next];
	ret = krping_stream_make_room(s, krping_fr_done) ?:
	      krping_fr_map(s, fr, mr);
	if (!ret)
		ret = krping_fr_post(s, mr);
	if (ret || time_before(jiffies, fr->rest))
		return ret;
	/* Only a signal or the end of the session shortens the pause. */
	ret = krping_pause(s, KRPING_FR_REST_MS);
	fr->rest = jiffies + KRPING_FR_WORK_S * HZ;
	return ret;
}

/* Check whether to register again. A count of 0 has always meant no limit. */
static bool krping_fr_more(const struct krping_session *s)
{
	if (!s->plan.count && !s->plan.duration_s)
		return true;
	return s->plan.duration_s ? krping_more(s) :
				    s->stream.posted < s->plan.count;
}

static int krping_fr_test(struct krping_session *s)
{
	struct krping_fr fr = {};
	int ret;

	ret = krping_fr_alloc(s, &fr);
	if (ret)
		return ret;
	krping_stream_init(s, IB_WR_LOCAL_INV, fr.nmrs, 1);
	fr.rest = jiffies + KRPING_FR_WORK_S * HZ;
	while (!ret && krping_fr_more(s))
		ret = krping_fr_one(s, &fr);
	if (!ret)
		ret = krping_stream_wait(s, s->stream.posted, krping_fr_done);
	s->progress.ops = READ_ONCE(s->stream.done);
	/*
	 * Drain first: posted work requests use the MRs until they are flushed.
	 */
	krping_fail(s, -ESHUTDOWN);
	krdma_drain(s->conn.cb);
	krping_fr_free(&fr);
	return ret;
}

/**
 * krping_fr - test registering and invalidating
 * @s: connected session
 *
 * Return: 0, or -errno if the test was not completed.
 */
int krping_fr(struct krping_session *s)
{
	return krping_each_size(s, krping_fr_test);
}
