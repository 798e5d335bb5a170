// SPDX-License-Identifier: GPL-2.0
/*
 * READs, WRITEs, messages or atomics of one kind, posted one after the other or
 * with many in flight.
 *
 * The task posts, and the completion handler counts. The handler wakes the task
 * only when the awaited number is reached, not for each completion: when the
 * stream is full, half of it must complete before the task posts again.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "priv.h"

static void krping_stream_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krping_stream *stream =
		container_of(wc->wr_cqe, struct krping_stream, cqe);
	struct krping_session *s = stream->session;
	unsigned long flags;
	u64 n = stream->mod;

	if (wc->status != IB_WC_SUCCESS) {
		krping_failed(s, wc, "stream");
		return;
	}
	spin_lock_irqsave(&s->lock, flags);
	/* A completion reports fewer work requests at the end of the stream. */
	if (stream->total)
		n = min(n, stream->total - stream->done);
	if (stream->counter < KRPING_COUNTERS)
		krping_count_locked(s, stream->counter, n, stream->len);
	stream->done += n;
	if (stream->done >= stream->wanted)
		wake_up(&s->wait);
	spin_unlock_irqrestore(&s->lock, flags);
}

static enum krping_counter krping_stream_counter(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_READ:
		return KRPING_READ;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return KRPING_WRITE;
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return KRPING_SEND;
	default:
		return KRPING_COUNTERS;
	}
}

/**
 * krping_stream_init - start a stream
 * @s: session with a registered sink, and with the peer's buffer in @s->remote
 * @opcode: operation; if it is not a READ, WRITE, SEND or atomic, the caller
 *	posts the work requests, and the stream only counts their completions
 * @depth: maximum number of work requests in flight
 * @mod: one of every @mod work requests is signaled; limited to half of @depth
 */
void krping_stream_init(struct krping_session *s, enum ib_wr_opcode opcode,
			u32 depth, u32 mod)
{
	s->stream = (struct krping_stream){
		.cqe.done = krping_stream_done,
		.session = s,
		.opcode = opcode,
		.counter = krping_stream_counter(opcode),
		.len = s->progress.len,
		.depth = depth,
		.mod = clamp(mod, 1U, max(depth / 2, 1U)),
	};
}

static int krping_stream_post_atomic(struct krping_session *s,
				     struct ib_send_wr *wr)
{
	struct ib_atomic_wr atomic = {
		.wr = *wr,
		.remote_addr = s->remote.addr,
		.rkey = s->remote.rkey,
		.compare_add = 1,
	};

	/* The expected old value is the number of atomics before this one. */
	if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		atomic.compare_add = s->progress.ops;
		atomic.swap = s->progress.ops + 1;
	}
	return krping_post(s, &atomic.wr);
}

/**
 * krping_stream_post - post one operation
 * @s: session whose stream is not full
 *
 * Return: 0 or -errno.
 */
int krping_stream_post(struct krping_session *s)
{
	struct krping_stream *stream = &s->stream;
	u64 n = stream->posted + 1;
	struct ib_sge sge = {
		.addr = s->sink.dma,
		.length = stream->len,
		.lkey = s->sink.mr->lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &stream->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = stream->opcode,
		.ex.imm_data = cpu_to_be32(stream->posted),
	};
	struct ib_rdma_wr rdma;
	u32 phase;
	int ret;

	/* Signal the last one of each group, and the last one of the stream. */
	div_u64_rem(n, stream->mod, &phase);
	if (!phase || n == stream->total)
		wr.send_flags |= IB_SEND_SIGNALED;
	/*
	 * The CPU copies inline data into the work request, so the address must
	 * be the one for the CPU.
	 */
	if (stream->len <= s->opts->inline_len &&
	    (stream->counter == KRPING_WRITE ||
	     stream->counter == KRPING_SEND)) {
		wr.send_flags |= IB_SEND_INLINE;
		sge.addr = (uintptr_t)s->sink.addr;
	}
	switch (wr.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		ret = krping_post(s, &wr);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		ret = krping_stream_post_atomic(s, &wr);
		break;
	default:
		rdma = (struct ib_rdma_wr){
			.wr = wr,
			.remote_addr = s->remote.addr,
			.rkey = s->remote.rkey,
		};
		ret = krping_post(s, &rdma.wr);
	}
	if (!ret)
		stream->posted = n;
	return ret;
}

static bool krping_stream_ready(struct krping_session *s, const void *arg,
				int *ret)
{
	const u64 *wanted = arg;
	unsigned long flags;
	bool ready;

	spin_lock_irqsave(&s->lock, flags);
	s->stream.wanted = *wanted;
	ready = s->stream.done >= *wanted;
	*ret = ready ? 0 : s->error;
	spin_unlock_irqrestore(&s->lock, flags);
	return ready || *ret;
}

/**
 * krping_stream_wait - wait for completions
 * @s: session
 * @done: number of completions to wait for, counted from krping_stream_init()
 * @step: name of the wait, for the log
 *
 * Return: 0, or as krping_wait().
 */
int krping_stream_wait(struct krping_session *s, u64 done, const char *step)
{
	s->step = step;
	return krping_wait_ready(s, krping_stream_ready, &done);
}

static bool krping_stream_may_send(struct krping_session *s, const void *arg,
				   int *ret)
{
	unsigned long flags;
	bool may;

	spin_lock_irqsave(&s->lock, flags);
	may = s->progress.posted + s->stream.posted < s->flow.credit;
	*ret = may ? 0 : s->error;
	spin_unlock_irqrestore(&s->lock, flags);
	return may || *ret;
}

/**
 * krping_stream_make_room - wait until one more operation can be posted
 * @s: session
 * @step: name of the wait, for the log
 *
 * Return: 0, or as krping_wait().
 */
int krping_stream_make_room(struct krping_session *s, const char *step)
{
	struct krping_stream *stream = &s->stream;
	u32 phase;
	int ret = 0;

	/*
	 * Pass the turn (see thread.c) once per stream->depth work requests.
	 * With fast completions the stream is never full, so the session never
	 * waits and would keep the turn.
	 */
	div_u64_rem(stream->posted, stream->depth, &phase);
	if (!phase)
		ret = krping_turn_pass(s);
	/*
	 * Read stream->done without the lock: the number only grows, and
	 * krping_stream_wait() checks the number again.
	 */
	if (!ret && stream->posted - READ_ONCE(stream->done) >= stream->depth)
		ret = krping_stream_wait(s, stream->posted - stream->depth / 2,
					 step);
	/* Each message or WRITE with immediate data needs a grant. */
	if (ret || !s->plan.window ||
	    (stream->counter != KRPING_SEND &&
	     stream->opcode != IB_WR_RDMA_WRITE_WITH_IMM))
		return ret;
	s->step = "wait for receives of the peer";
	return krping_wait_ready(s, krping_stream_may_send, NULL);
}

/*
 * Check whether another work request must be posted. Once a group of stream.mod
 * work requests has begun, it must be filled, because only its last work
 * request is signaled.
 */
static bool krping_stream_more(const struct krping_session *s)
{
	u32 phase;

	if (s->stream.total)
		return s->stream.posted < s->stream.total;
	div_u64_rem(s->stream.posted, s->stream.mod, &phase);
	return phase || krping_more(s);
}

/**
 * krping_stream_run - post all operations of the current size
 * @s: session with a new stream
 * @step: name of the wait, for the log
 *
 * Return: 0, or as krping_wait().
 */
int krping_stream_run(struct krping_session *s, const char *step)
{
	u64 before = s->progress.ops;
	int ret = 0;

	if (!krping_is_timed(s))
		s->stream.total = s->progress.goal - s->progress.ops;
	if (!krping_is_timed(s) && !s->stream.total)
		return 0;
	while (!ret && krping_stream_more(s)) {
		ret = krping_stream_make_room(s, step) ?: krping_fault(s);
		if (!ret)
			ret = krping_stream_post(s);
	}
	if (!ret)
		ret = krping_stream_wait(s, s->stream.posted, step);
	s->progress.ops = before + READ_ONCE(s->stream.done);
	s->progress.posted += s->stream.posted;
	return ret;
}

/**
 * krping_stream_one - post one operation, wait for it, and record its time
 * @s: session with a stream
 * @step: name of the wait, for the log
 *
 * Return: 0, or as krping_wait().
 */
int krping_stream_one(struct krping_session *s, const char *step)
{
	u64 begin = ktime_get_ns();
	int ret;

	ret = krping_stream_post(s) ?:
	      krping_stream_wait(s, s->stream.posted, step);
	if (ret)
		return ret;
	krping_measured(s, ktime_get_ns() - begin);
	s->progress.ops++;
	if (signal_pending(current))
		return -EINTR;
	return krping_fault(s);
}
