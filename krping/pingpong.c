// SPDX-License-Identifier: GPL-2.0
/*
 * The ping test, in the protocol that all versions of krping and rping use:
 *
 *	client					server
 *	fill the start buffer
 *	SEND its address	------------->
 *				<-------------	READ it
 *				<-------------	SEND "go ahead"
 *	SEND the sink's address	------------->
 *				<-------------	WRITE the same data
 *				<-------------	SEND "go ahead"
 *	compare, next ping
 *
 * Only the client knows the number of pings: the server continues until the
 * client disconnects. Each buffer is registered for each use, and its key is
 * invalidated after the use. With mem_mode=mr, a buffer stays registered
 * instead.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "priv.h"

/* Maximum number of bytes of a ping's data that a verbose run logs. */
#define KRPING_LOG_DATA 64
/*
 * Value of each byte of the client's sink before the server's WRITE. This value
 * never occurs in the data.
 */
#define KRPING_POISON 0xa5

/* Names of the waits in the log. krping has always used these names. */
static const char krping_read_adv[] = "wait for RDMA_READ_ADV";
static const char krping_read_complete[] = "wait for RDMA_READ_COMPLETE";
static const char krping_write_adv[] = "wait for RDMA_WRITE_ADV";
static const char krping_write_complete[] = "wait for RDMA_WRITE_COMPLETE";

static int krping_log_data_len(const struct krping_buf *buf, u32 len)
{
	return strnlen(buf->addr, min_t(u32, len, KRPING_LOG_DATA));
}

/*
 * Check for mem_mode=mr: buffers are registered once, and stay mapped in both
 * directions.
 */
static bool krping_keeps(const struct krping_session *s)
{
	return s->opts->mem_mode == KRPING_MEM_ONCE;
}

static int krping_ping_map(struct krping_session *s, struct krping_buf *buf,
			   enum dma_data_direction dir)
{
	if (!krping_keeps(s))
		return krping_buf_map(buf, dir);
	if (!buf->mapped)
		return krping_buf_map(buf, DMA_BIDIRECTIONAL);
	krping_buf_for_device(buf);
	return 0;
}

/*
 * Return a buffer to the CPU. With mem_mode=mr the buffer stays mapped. In all
 * other modes its key is already invalid, and the buffer is unmapped.
 */
static void krping_ping_unmap(struct krping_session *s, struct krping_buf *buf)
{
	if (krping_keeps(s))
		krping_buf_for_cpu(buf);
	else
		krping_buf_unmap(buf);
	buf->dying = false;
}

/* Return the KRPING_EV_* to wait for before krping_ping_unmap(), or 0. */
static u32 krping_ping_end(struct krping_session *s, struct krping_buf *buf)
{
	return krping_keeps(s) ? 0 : krping_dying(buf);
}

/* Return @buf if its key must be invalidated after this use, otherwise NULL. */
static struct krping_buf *krping_ping_old(struct krping_session *s,
					  struct krping_buf *buf)
{
	return krping_keeps(s) || !buf->valid ? NULL : buf;
}

static int krping_show(struct krping_session *s, struct krping_buf *new,
		       enum dma_data_direction dir, int access,
		       struct krping_buf *old)
{
	struct krping_adv adv;
	int ret = krping_ping_map(s, new, dir);

	if (ret)
		return ret;
	adv = (struct krping_adv){
		.addr = new->mr->iova,
		.rkey = new->mr->rkey,
		.size = s->progress.len,
	};
	return krping_say(s, &adv, old, new, access);
}

/*
 * Mark @buf as invalid if the server's message has invalidated its key. With
 * server_inv, fail if the key is still valid.
 */
static int krping_client_invalidated(struct krping_session *s,
				     struct krping_buf *buf)
{
	if (s->peer.has_inv && s->peer.inv_rkey == buf->mr->rkey)
		buf->valid = false;
	if (!s->opts->server_inv || !buf->valid)
		return 0;
	pr_err("%u: the server invalidates no keys: server_inv must be set on both sides\n",
	       s->id);
	s->step = NULL;
	return -EPROTO;
}

/* Advertise the start buffer, which the server READs. */
static int krping_client_send(struct krping_session *s)
{
	const u32 events = KRPING_EV_SENT | KRPING_EV_RECEIVED;
	int ret = krping_show(s, &s->start, DMA_TO_DEVICE,
			      IB_ACCESS_REMOTE_READ, NULL);

	if (ret)
		return ret;
	ret = s->progress.ops ? krping_wait(s, events, krping_write_adv) :
				krping_wait_first(s, events, krping_write_adv);
	return ret ?: krping_client_invalidated(s, &s->start);
}

/* Advertise the sink, to which the server WRITEs. */
static int krping_client_receive(struct krping_session *s)
{
	int ret;

	ret = krping_show(s, &s->sink, DMA_FROM_DEVICE,
			  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
			  krping_ping_old(s, &s->start));
	if (ret)
		return ret;
	ret = krping_wait(s, KRPING_EV_SENT | KRPING_EV_RECEIVED |
			     krping_ping_end(s, &s->start),
			  krping_write_complete);
	if (ret)
		return ret;
	krping_ping_unmap(s, &s->start);
	ret = krping_client_invalidated(s, &s->sink);
	if (ret)
		return ret;
	/* Invalidate the sink. The start buffer was already invalidated. */
	if (krping_ping_old(s, &s->sink)) {
		ret = krping_invalidate(s, &s->sink) ?:
		      krping_wait(s, KRPING_EV_INVALIDATED,
				  krping_write_complete);
		if (ret)
			return ret;
	}
	krping_ping_unmap(s, &s->sink);
	return 0;
}

static int krping_client_mismatch(struct krping_session *s)
{
	pr_err("%u: data mismatch!\n", s->id);
	s->step = NULL;
	return -EBADMSG;
}

static int krping_client_ping(struct krping_session *s)
{
	u32 len = s->progress.len;
	struct krping_ctl ctl;
	u64 begin;
	int ret = krping_fault(s);

	if (ret)
		return ret;
	krping_payload_fill(s->start.addr, len, s->progress.ops);
	if (s->opts->verify)
		memset(s->sink.addr, KRPING_POISON, len);
	begin = ktime_get_ns();
	ret = krping_client_send(s);
	if (ret)
		return ret;
	if (s->conn.crc) {
		/* Compare the checksum of the data that the server has READ. */
		krping_ctl_decode(&ctl, &s->peer.adv);
		if (ctl.type != KRPING_CTL_GO ||
		    ctl.value != krping_crc(&s->start, len))
			return krping_client_mismatch(s);
	}
	ret = krping_client_receive(s);
	if (ret)
		return ret;
	krping_measured(s, ktime_get_ns() - begin);
	s->progress.ops++;
	if (s->opts->verify && memcmp(s->start.addr, s->sink.addr, len))
		return krping_client_mismatch(s);
	if (s->opts->verbose)
		pr_info_ratelimited("ping data (64B max): |%*pE|\n",
				    krping_log_data_len(&s->sink, len),
				    (char *)s->sink.addr);
	return 0;
}

static int krping_client_pings(struct krping_session *s)
{
	int ret = 0;

	while (!ret && krping_more(s))
		ret = krping_client_ping(s);
	return ret;
}

/**
 * krping_pingpong_client - run the ping test
 * @s: connected session
 *
 * Return: 0 if every ping was answered with the same data, otherwise -errno.
 */
int krping_pingpong_client(struct krping_session *s)
{
	int ret = krping_each_size(s, krping_client_pings);
	u32 crc;

	/* The end message also tells the server if the data were corrupted. */
	if (s->conn.ext && (!ret || ret == -EBADMSG))
		ret = krping_end_client(s, ret, 0, &crc) ?: ret;
	return ret;
}

/*
 * Send "go ahead" to the client, because the READ or WRITE is complete. @len is
 * the number of bytes of the sink that the checksum covers.
 */
static int krping_server_go_ahead(struct krping_session *s, u32 len)
{
	static const struct krping_adv nothing;
	struct krping_ctl ctl = { .type = KRPING_CTL_GO };
	struct krping_buf *old = krping_ping_old(s, &s->sink);

	if (!s->conn.crc)
		return krping_say(s, &nothing, old, NULL, 0);
	if (s->sink.nents)
		krping_buf_for_cpu(&s->sink);
	ctl.value = krping_crc(&s->sink, len);
	return krping_say_ctl(s, &ctl, old);
}

/*
 * Wait for the client's next message and until the sink can be unmapped. Then
 * unmap the sink.
 */
static int krping_server_next(struct krping_session *s, const char *step)
{
	int ret = krping_wait(s, KRPING_EV_SENT | KRPING_EV_RECEIVED |
				 krping_ping_end(s, &s->sink), step);

	if (!ret)
		krping_ping_unmap(s, &s->sink);
	return ret;
}

static int krping_server_read(struct krping_session *s)
{
	u32 len = s->peer.adv.size;
	int ret;

	if (!len || len > s->sink.size) {
		pr_err("%u: the client's size %u is outside 1 to %u\n", s->id,
		       len, s->sink.size);
		return len ? -EMSGSIZE : -EPROTO;
	}
	ret = krping_ping_map(s, &s->sink, DMA_FROM_DEVICE);
	if (ret)
		return ret;
	/* iWARP requires remote write access to the sink of a READ. */
	ret = krping_move(s, s->opts->read_inv ? IB_WR_RDMA_READ_WITH_INV :
						IB_WR_RDMA_READ,
			  &s->sink, IB_ACCESS_LOCAL_WRITE |
				    IB_ACCESS_REMOTE_WRITE, len);
	if (!ret)
		ret = krping_wait(s, KRPING_EV_MOVED, krping_read_complete);
	return ret ?: krping_server_go_ahead(s, len);
}

/* WRITE data back to the client. @len is the number of bytes that were READ. */
static int krping_server_write(struct krping_session *s, u32 len)
{
	int ret;

	if (!s->peer.adv.size) {
		pr_err("%u: the client's sink has size 0\n", s->id);
		return -EPROTO;
	}
	ret = s->opts->local_dma_lkey && !krping_keeps(s) ?
		      krping_buf_map_local(&s->sink, DMA_TO_DEVICE) :
		      krping_ping_map(s, &s->sink, DMA_TO_DEVICE);
	if (ret)
		return ret;
	ret = krping_move(s, IB_WR_RDMA_WRITE, &s->sink, IB_ACCESS_LOCAL_WRITE,
			  min(len, s->peer.adv.size));
	if (!ret)
		ret = krping_wait(s, KRPING_EV_MOVED, krping_write_complete);
	return ret ?: krping_server_go_ahead(s, len);
}

/* Serve one ping, from its first message to the answer after the WRITE. */
static int krping_server_ping(struct krping_session *s)
{
	u32 len = s->peer.adv.size;
	int ret;

	ret = krping_fault(s) ?: krping_server_read(s);
	if (!ret)
		ret = krping_server_next(s, krping_write_adv);
	if (ret)
		return ret;
	if (s->opts->verbose)
		pr_info_ratelimited("server ping data (64B max): |%*pE|\n",
				    krping_log_data_len(&s->sink, len),
				    (char *)s->sink.addr);
	ret = krping_server_write(s, len);
	s->progress.ops++;
	return ret;
}

/**
 * krping_pingpong_server - answer pings until the client ends the test
 * @s: connected session
 *
 * Return: 0 if the client has sent its end message, or if an old client has
 * disconnected between two pings; otherwise -errno.
 */
int krping_pingpong_server(struct krping_session *s)
{
	struct krping_ctl ctl;
	u32 crc;
	int ret;

	/*
	 * The client runs the fr test: it registers memory on its own side, and
	 * sends no message. This server has nothing to do but wait for the
	 * client's disconnect.
	 */
	if (s->conn.idle_client)
		return krping_wait_over(s, "wait for DISCONNECTED");
	ret = krping_wait_first(s, KRPING_EV_RECEIVED, krping_read_adv);
	while (!ret) {
		krping_ctl_decode(&ctl, &s->peer.adv);
		if (s->conn.ext && ctl.type == KRPING_CTL_END)
			break;
		ret = krping_server_ping(s);
		if (ret)
			return ret;
		ret = krping_server_next(s, krping_read_adv);
	}
	/* An old client can end the test only by disconnecting. */
	if (ret == -ECONNRESET && !s->conn.ext)
		return 0;
	if (ret)
		return ret;
	ret = krping_take_end(s, &crc);
	return krping_end_server(s, 0, 0) ?: ret;
}
