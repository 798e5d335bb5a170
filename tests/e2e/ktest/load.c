// SPDX-License-Identifier: GPL-2.0
/*
 * Write to and read from the peer's exported buffer, and compare it with a
 * local copy. Each write has other data and a random offset, and reads check
 * random offsets. This detects a lost write, and a write that arrives late and
 * overwrites newer data. Each request by krdma_post() must complete exactly
 * once.
 */
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "priv.h"

#define KTEST_LOAD_REQS 4
#define KTEST_LOAD_REQ_LEN 512

struct ktest_load_req {
	struct krdma_req req;
	struct ktest_load *load;
	atomic_t times;
	int status;
	u8 data[KTEST_LOAD_REQ_LEN];
};

/**
 * struct ktest_load - the only writer and reader of an exported buffer
 * @cb: connection; held by a reference, so that no other connection gets the
 *	same address
 * @image: expected contents of the peer's buffer
 * @buf: data of one operation
 * @len: size of @buf, in bytes
 * @max: maximum of @size, in bytes
 * @size: size of @image, in bytes
 * @round: number of the last write, which determines its data
 * @reqs: requests for krdma_post(), or NULL
 * @left: number of requests in flight
 * @over: completed when no request is in flight
 * @posted: number of requests that krdma accepted
 * @done: number of calls of ktest_load_done()
 */
struct ktest_load {
	struct krdma_cb *cb;
	u8 *image;
	u8 *buf;
	u32 len;
	u32 max;
	u32 size;
	u32 round;
	struct ktest_load_req *reqs;
	atomic_t left;
	struct completion over;
	u32 posted;
	atomic_t done;
};

static void ktest_load_done(struct krdma_req *req, int status)
{
	struct ktest_load_req *r = container_of(req, struct ktest_load_req, req);
	struct ktest_load *load = r->load;

	r->status = status;
	atomic_inc(&r->times);
	atomic_inc(&load->done);
	if (atomic_dec_and_test(&load->left))
		complete(&load->over);
}

/*
 * Allocate a load with operations of @len bytes. If @requests is true, each
 * round also posts requests by krdma_post(). The caller frees the load by
 * ktest_load_end(). Return NULL if memory is short.
 */
struct ktest_load *ktest_load_begin(u32 len, bool requests)
{
	struct ktest_load *load = kzalloc(sizeof(*load), GFP_KERNEL);

	if (!load)
		return NULL;
	load->len = len;
	load->max = 4 * len;
	init_completion(&load->over);
	load->image = kvmalloc(load->max ?: 1, GFP_KERNEL);
	load->buf = kvmalloc(len ?: 1, GFP_KERNEL);
	if (requests)
		load->reqs = kcalloc(KTEST_LOAD_REQS, sizeof(*load->reqs),
				     GFP_KERNEL);
	if (!load->image || !load->buf || requests != !!load->reqs) {
		ktest_load_end(load, NULL);
		return NULL;
	}
	return load;
}

/*
 * Free a load, and store the number of its posted requests in @requests. Return
 * 0, or -EPROTO if a request did not complete exactly once.
 */
int ktest_load_end(struct ktest_load *load, u32 *requests)
{
	int ret = atomic_read(&load->done) == load->posted ? 0 : -EPROTO;

	if (requests)
		*requests = load->posted;
	if (load->cb)
		krdma_put(load->cb);
	kfree(load->reqs);
	kvfree(load->buf);
	kvfree(load->image);
	kfree(load);
	return ret;
}

static int ktest_load_look(struct ktest_load *load, struct krdma_cb *cb,
			   bool known)
{
	load->size = min_t(u64, krdma_peer_export_size(cb), load->max);
	if (load->size < load->len)
		return krdma_is_established(cb) ? -EMSGSIZE : -ENOTCONN;
	memset(load->image, 0, load->size);
	return known ? krdma_read_at(cb, load->image, load->size, 0,
				     KTEST_WAIT_MS) : 0;
}

/*
 * Use the connection @cb from now on. If @known is false, the peer's buffer is
 * new, so expect zeroes in it. Do not read the buffer in this case: late writes
 * of an older connection would be taken for expected contents, and not be
 * detected. If @known is true, the buffer may have other data, and no other
 * task writes to it. So read the expected contents from the buffer.
 */
int ktest_load_on(struct ktest_load *load, struct krdma_cb *cb, bool known)
{
	int ret;

	if (load->cb == cb)
		return 0;
	ret = ktest_load_look(load, cb, known);
	if (ret)
		return ret;
	krdma_get(cb);
	if (load->cb)
		krdma_put(load->cb);
	load->cb = cb;
	return 0;
}

/*
 * Fill @data with new data, and copy it to a random offset of the image. Return
 * the offset.
 */
static u32 ktest_load_place(struct ktest_load *load, u8 *data, u32 len)
{
	u32 offset = get_random_u32() % (load->size - len + 1);

	ktest_fill_seed(data, len, ++load->round);
	memcpy(load->image + offset, data, len);
	return offset;
}

static void ktest_load_fill(struct ktest_load *load, u32 i)
{
	struct ktest_load_req *r = &load->reqs[i];
	u32 len = 1 + get_random_u32() % KTEST_LOAD_REQ_LEN;

	r->load = load;
	atomic_set(&r->times, 0);
	r->req = (struct krdma_req){
		.opcode = KRDMA_WRITE,
		.local = {
			.mem = KRDMA_MEM_VIRT,
			.len = len,
			.virt = r->data,
		},
		.remote = krdma_peer_export(load->cb),
		.remote_offset = ktest_load_place(load, r->data, len),
		.done = ktest_load_done,
		.next = i + 1 < KTEST_LOAD_REQS ? &load->reqs[i + 1].req : NULL,
	};
}

/*
 * Wait for all requests. Sleep for one second at a time, because the hung task
 * detector warns about long sleeps.
 */
static int ktest_load_wait(struct ktest_load *load)
{
	u32 seconds;

	for (seconds = 0; seconds < 60; seconds++)
		if (wait_for_completion_timeout(&load->over, HZ))
			return 0;
	krdma_disconnect(load->cb);
	wait_for_completion(&load->over);
	return -ETIMEDOUT;
}

static int ktest_load_judge(const struct ktest_load *load)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < KTEST_LOAD_REQS; i++) {
		if (atomic_read(&load->reqs[i].times) != 1)
			return -EPROTO;
		ret = ret ?: load->reqs[i].status;
	}
	return ret;
}

/*
 * Post several requests by one call of krdma_post(), and wait for them. The
 * requests are filled in the order of posting. If two of them overlap, the
 * image has the data of the later one.
 */
static int ktest_load_post(struct ktest_load *load)
{
	int ret;
	u32 i;

	/* A request of the previous round may have completed twice. */
	if (atomic_read(&load->done) != load->posted)
		return -EPROTO;
	for (i = 0; i < KTEST_LOAD_REQS; i++)
		ktest_load_fill(load, i);
	reinit_completion(&load->over);
	atomic_set(&load->left, KTEST_LOAD_REQS);
	ret = krdma_post(load->cb, &load->reqs[0].req);
	if (ret)
		return ret;
	load->posted += KTEST_LOAD_REQS;
	ret = ktest_load_wait(load);
	return ktest_load_judge(load) ?: ret;
}

/*
 * Write to a random offset, post requests if the load has any, and read from
 * another offset. Return 0 if the read data equal the image, -EBADMSG if they
 * differ, -EPROTO if a request did not complete exactly once, or the errno of a
 * call that failed.
 */
int ktest_load_round(struct ktest_load *load, u32 timeout_ms)
{
	u32 offset = ktest_load_place(load, load->buf, load->len);
	int ret;

	ret = krdma_write_at(load->cb, load->buf, load->len, offset, timeout_ms);
	if (!ret && load->reqs)
		ret = ktest_load_post(load);
	if (ret)
		return ret;
	memset(load->buf, 0, load->len);
	offset = get_random_u32() % (load->size - load->len + 1);
	ret = krdma_read_at(load->cb, load->buf, load->len, offset, timeout_ms);
	if (ret)
		return ret;
	return memcmp(load->buf, load->image + offset, load->len) ? -EBADMSG : 0;
}
