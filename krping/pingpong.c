// SPDX-License-Identifier: GPL-2.0
/*
 * The ping test, in the protocol of all krpings and of rping:
 *
 *	client					server
 *	fill the start buffer
 *	SEND where it is	------------->
 *				<-------------	READ it
 *				<-------------	SEND "go ahead"
 *	SEND where the sink is	------------->
 *				<-------------	WRITE what was read
 *				<-------------	SEND "go ahead"
 *	compare, next ping
 *
 * Only the client knows how many there will be: the server goes on until the
 * client disconnects. Each buffer is registered anew for each use, and its key
 * invalidated after it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "priv.h"

/* So much of the data a verbose run shows. */
#define KRPING_LOG_DATA 64
/* What the sink holds before a WRITE: occurs nowhere in the data. */
#define KRPING_POISON 0xa5

/* What is waited for, in words that krping's log has always had. */
static const char krping_read_adv[] = "wait for RDMA_READ_ADV";
static const char krping_read_complete[] = "wait for RDMA_READ_COMPLETE";
static const char krping_write_adv[] = "wait for RDMA_WRITE_ADV";
static const char krping_write_complete[] = "wait for RDMA_WRITE_COMPLETE";

static int krping_log_data_len(const struct krping_buf *buf, u32 len)
{
	return strnlen(buf->addr, min_t(u32, len, KRPING_LOG_DATA));
}

static int krping_show(struct krping_session *s, struct krping_buf *new,
		       enum dma_data_direction dir, int access,
		       struct krping_buf *old)
{
	struct krping_adv adv;
	int ret = krping_buf_map(new, dir);

	if (ret)
		return ret;
	adv = (struct krping_adv){
		.addr = new->mr->iova,
		.rkey = new->mr->rkey,
		.size = new->size,
	};
	return krping_say(s, &adv, old, new, access);
}

/* The peer reads the start buffer. */
static int krping_client_send(struct krping_session *s)
{
	const u32 events = KRPING_EV_SENT | KRPING_EV_RECEIVED;
	int ret = krping_show(s, &s->start, DMA_TO_DEVICE,
			      IB_ACCESS_REMOTE_READ, NULL);

	if (ret)
		return ret;
	return s->rtt.pings ? krping_wait(s, events, krping_write_adv) :
			      krping_wait_first(s, events, krping_write_adv);
}

/* The peer writes to the sink. */
static int krping_client_receive(struct krping_session *s)
{
	int ret;

	ret = krping_show(s, &s->sink, DMA_FROM_DEVICE,
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
			  &s->start);
	if (ret)
		return ret;
	ret = krping_wait(s, KRPING_EV_SENT | KRPING_EV_INVALIDATED |
			     KRPING_EV_RECEIVED, krping_write_complete);
	if (ret)
		return ret;
	krping_buf_unmap(&s->start);
	ret = krping_invalidate(s, &s->sink);
	if (ret)
		return ret;
	ret = krping_wait(s, KRPING_EV_INVALIDATED, krping_write_complete);
	if (ret)
		return ret;
	krping_buf_unmap(&s->sink);
	return 0;
}

static int krping_client_check(struct krping_session *s)
{
	if (s->opts.validate &&
	    memcmp(s->start.addr, s->sink.addr, s->opts.size)) {
		pr_err("%u: data mismatch!\n", s->id);
		return -EBADMSG;
	}
	if (s->opts.verbose)
		pr_info_ratelimited("ping data (64B max): |%*pE|\n",
				    krping_log_data_len(&s->sink, s->opts.size),
				    (char *)s->sink.addr);
	return 0;
}

static void krping_rtt_add(struct krping_rtt *rtt, u64 ns)
{
	rtt->min = rtt->pings ? min(rtt->min, ns) : ns;
	rtt->max = max(rtt->max, ns);
	rtt->sum += ns;
	rtt->pings++;
}

static int krping_client_ping(struct krping_session *s, u64 ping)
{
	u64 begin;
	int ret;

	krping_payload_fill(s->start.addr, s->opts.size, ping);
	if (s->opts.validate)
		memset(s->sink.addr, KRPING_POISON, s->opts.size);
	begin = ktime_get_ns();
	ret = krping_client_send(s) ?: krping_client_receive(s);
	if (ret)
		return ret;
	krping_rtt_add(&s->rtt, ktime_get_ns() - begin);
	return krping_client_check(s);
}

/**
 * krping_pingpong_client - ping
 * @s: connected session
 *
 * Return: 0 if every ping came back, else an errno.
 */
int krping_pingpong_client(struct krping_session *s)
{
	u64 ping;
	int ret = 0;

	for (ping = 0; !ret && (!s->opts.count || ping < s->opts.count); ping++)
		ret = krping_client_ping(s, ping);
	return ret;
}

/* Move @len bytes and tell the client. */
static int krping_server_move(struct krping_session *s,
			      enum ib_wr_opcode opcode,
			      enum dma_data_direction dir, int access, u32 len,
			      const char *step)
{
	static const struct krping_adv go_ahead;
	int ret;

	ret = krping_buf_map(&s->sink, dir);
	if (ret)
		return ret;
	ret = krping_move(s, opcode, &s->sink, access, len);
	if (ret)
		return ret;
	ret = krping_wait(s, KRPING_EV_MOVED, step);
	if (ret)
		return ret;
	return krping_say(s, &go_ahead, &s->sink, NULL, 0);
}

/* The client's next message; by then the adapter is done with the buffer. */
static int krping_server_next(struct krping_session *s, const char *step)
{
	int ret = krping_wait(s, KRPING_EV_SENT | KRPING_EV_INVALIDATED |
				 KRPING_EV_RECEIVED, step);

	if (!ret)
		krping_buf_unmap(&s->sink);
	return ret;
}

static int krping_server_read(struct krping_session *s)
{
	u32 len = s->peer.size;

	if (!len || len > s->sink.size) {
		pr_err("%u: the client's size %u is not in 1 to %u\n", s->id,
		       len, s->sink.size);
		return len ? -EMSGSIZE : -EPROTO;
	}
	/* On iWARP a READ is a remote WRITE to its sink. */
	return krping_server_move(s, IB_WR_RDMA_READ, DMA_FROM_DEVICE,
				  IB_ACCESS_LOCAL_WRITE |
				  IB_ACCESS_REMOTE_WRITE, len,
				  krping_read_complete);
}

/* @len: bytes that were read */
static int krping_server_write(struct krping_session *s, u32 len)
{
	if (!s->peer.size) {
		pr_err("%u: the client's sink has no size\n", s->id);
		return -EPROTO;
	}
	return krping_server_move(s, IB_WR_RDMA_WRITE, DMA_TO_DEVICE,
				  IB_ACCESS_LOCAL_WRITE,
				  min(len, s->peer.size),
				  krping_write_complete);
}

/* From one message about a start buffer to the next. */
static int krping_server_ping(struct krping_session *s)
{
	u32 len = s->peer.size;
	int ret;

	ret = krping_server_read(s) ?: krping_server_next(s, krping_write_adv);
	if (ret)
		return ret;
	if (s->opts.verbose)
		pr_info_ratelimited("server ping data (64B max): |%*pE|\n",
				    krping_log_data_len(&s->sink, len),
				    (char *)s->sink.addr);
	return krping_server_write(s, len);
}

/**
 * krping_pingpong_server - answer pings until the client has had enough
 * @s: connected session
 *
 * Return: 0 if the client disconnected between two pings, else an errno.
 */
int krping_pingpong_server(struct krping_session *s)
{
	int ret;

	/* Not before the client speaks is it really connected. */
	ret = krping_wait_first(s, KRPING_EV_RECEIVED, krping_read_adv);
	while (!ret) {
		ret = krping_server_ping(s);
		if (ret)
			return ret;
		ret = krping_server_next(s, krping_read_adv);
	}
	if (ret != -ECONNRESET)
		return ret;
	pr_debug("%u: DISCONNECT EVENT...\n", s->id);
	return 0;
}
