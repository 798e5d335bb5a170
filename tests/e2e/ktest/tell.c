// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of KRDMA_WRITE_IMM and KRDMA_SEND_INV: a server by callbacks that
 * answers questions, and the commands that send questions. A question has one
 * answer, except FLOOD.
 *
 *   MEM		 describe memory that the client may write; check the
 *			 data of a WRITE_IMM when its notification arrives.
 *   KEY		 describe a new region, of which the client may
 *			 invalidate the key; put the region of the previous KEY.
 *   BACK		 (sent so that it invalidates the key of KEY) answer
 *			 whether the key is invalid.
 *   INVITE description	 answer by a message that invalidates the described key.
 *   REPORT		 answer with the counts of notifications.
 *   FLOOD		 wait some time, and send a number of messages.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>

#include "priv.h"

#define KTEST_TELL_SIZE (3 * SZ_1M)
#define KTEST_TELL_KEY_SIZE SZ_64K
#define KTEST_TELL_MS 20000

enum ktest_tell_what {
	KTEST_TELL_MEM = 1,
	KTEST_TELL_KEY,
	KTEST_TELL_BACK,
	KTEST_TELL_INVITE,
	KTEST_TELL_REPORT,
	KTEST_TELL_FLOOD,
};

/*
 * Time from the arrival of a FLOOD to the messages that answer it, in ms. This
 * time is enough for the client to post its writes, and for this side to return
 * the credits for these writes.
 */
#define KTEST_FLOOD_PAUSE_MS 500

/* A question to the server, or its answer. */
struct ktest_tell_msg {
	u32 what;
	s32 error;
	u32 told;
	u32 bad;
	u8 desc[256];
};

/**
 * struct ktest_mail - a pending question
 * @link: link in ktest_told.mails
 * @rx_msg: message with the question
 */
struct ktest_mail {
	struct list_head link;
	struct krdma_rx_msg *rx_msg;
};

/**
 * struct ktest_told - a connection of the server
 * @link: link in ktest_tells
 * @cb: connection
 * @work: work that answers questions
 * @lock: protects @mails
 * @mails: list of pending questions (struct ktest_mail)
 * @mem: region that the client may write; set by @work
 * @key: region whose key the client may invalidate; used by @work only
 * @told: number of notifications
 * @bad: number of notifications with wrong data, or out of order
 */
struct ktest_told {
	struct list_head link;
	struct krdma_cb *cb;
	struct work_struct work;
	spinlock_t lock; /* protects @mails */
	struct list_head mails;
	struct krdma_region *mem;
	struct krdma_region *key;
	u32 told;
	u32 bad;
};

static LIST_HEAD(ktest_tells);
static DEFINE_MUTEX(ktest_tell_mutex);
static atomic_t ktest_ntells;
static DECLARE_WAIT_QUEUE_HEAD(ktest_tell_wait);
static struct krdma_cb *ktest_tell_listener;

/*
 * Return the immediate data of write @i, which are its number and length. Both
 * determine the offset and the data of the write.
 */
static u32 ktest_tell_imm(u32 i, u32 len)
{
	return i << 16 | len;
}

static u32 ktest_tell_offset(u32 i, u32 len)
{
	return len ? (i & 0xffff) % (KTEST_TELL_SIZE / len) * len : 0;
}

static void ktest_told_written(struct ktest_told *told, u32 imm)
{
	struct krdma_region *mem = READ_ONCE(told->mem);
	u32 len = imm & 0xffff, i = imm >> 16, at;

	if (!mem || !len || i != (told->told & 0xffff)) {
		told->bad++;
	} else {
		at = ktest_tell_offset(i, len);
		krdma_region_sync_for_cpu(mem, at, len);
		told->bad += ktest_check(krdma_region_vaddr(mem) + at, len) != 0;
	}
	told->told++;
}

/*
 * Handle a message, mostly in softirq context. Check written data at once. The
 * work answers questions, because this callback must not sleep.
 */
static void ktest_told_receive(struct krdma_cb *cb, struct krdma_rx_msg *rx_msg)
{
	struct ktest_told *told = cb->context;
	struct ktest_mail *mail;
	unsigned long flags;

	if (rx_msg->written) {
		ktest_told_written(told, rx_msg->imm);
		krdma_rx_msg_release(rx_msg);
		return;
	}
	mail = kmalloc(sizeof(*mail), GFP_ATOMIC);
	if (!mail) {
		krdma_rx_msg_release(rx_msg);
		return;
	}
	mail->rx_msg = rx_msg;
	spin_lock_irqsave(&told->lock, flags);
	list_add_tail(&mail->link, &told->mails);
	spin_unlock_irqrestore(&told->lock, flags);
	queue_work(system_long_wq, &told->work);
}

static struct ktest_mail *ktest_told_next(struct ktest_told *told)
{
	struct ktest_mail *mail;
	unsigned long flags;

	spin_lock_irqsave(&told->lock, flags);
	mail = list_first_entry_or_null(&told->mails, struct ktest_mail, link);
	if (mail)
		list_del(&mail->link);
	spin_unlock_irqrestore(&told->lock, flags);
	return mail;
}

static int ktest_tell_describe(struct krdma_region *region,
			       struct ktest_tell_msg *msg)
{
	ssize_t len;

	if (IS_ERR(region))
		return PTR_ERR(region);
	len = krdma_region_export(region, 0, krdma_region_size(region),
				  msg->desc, sizeof(msg->desc));
	return len < 0 ? len : 0;
}

static int ktest_told_mem(struct ktest_told *told, struct ktest_tell_msg *msg)
{
	struct krdma_region *mem;

	if (!told->mem) {
		mem = krdma_region_alloc(told->cb, KTEST_TELL_SIZE,
					 KRDMA_REMOTE_WRITE);
		if (IS_ERR(mem))
			return PTR_ERR(mem);
		WRITE_ONCE(told->mem, mem);
	}
	/*
	 * A client sends a question only when none of its writes is in flight,
	 * so no notification arrives now.
	 */
	told->told = 0;
	return ktest_tell_describe(told->mem, msg);
}

static int ktest_told_key(struct ktest_told *told, struct ktest_tell_msg *msg)
{
	krdma_region_put(told->key);
	told->key = krdma_region_alloc(told->cb, KTEST_TELL_KEY_SIZE,
				       KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE |
				       KRDMA_REMOTE_INVALIDATE);
	if (IS_ERR(told->key)) {
		int ret = PTR_ERR(told->key);

		told->key = NULL;
		return ret;
	}
	return ktest_tell_describe(told->key, msg);
}

static int ktest_told_back(const struct ktest_told *told,
			   const struct krdma_rx_msg *rx_msg)
{
	if (!told->key || rx_msg->invalidated != told->key)
		return -ENOKEY;
	if (krdma_region_is_live(told->key))
		return -EBUSY;
	return krdma_region_revoke(told->key, 0) == -EALREADY ? 0 : -EBADMSG;
}

struct ktest_tell_req {
	struct krdma_req req;
	struct completion over;
	int status;
};

static void ktest_tell_done(struct krdma_req *req, int status)
{
	struct ktest_tell_req *tell =
		container_of(req, struct ktest_tell_req, req);

	tell->status = status;
	complete(&tell->over);
}

/*
 * Import the description in @msg. The head of the description contains the
 * number of segments, which determines the length.
 */
static struct krdma_remote *ktest_tell_remote(const struct ktest_tell_msg *msg)
{
	u32 nsegs = le32_to_cpup((const __le32 *)(msg->desc + 8));

	return krdma_remote_import(msg->desc, min_t(size_t, sizeof(msg->desc),
						    16 + 16ULL * nsegs));
}

static int ktest_tell_post(struct krdma_cb *cb, struct ktest_tell_msg *msg,
			   enum krdma_opcode opcode,
			   const struct krdma_remote *remote)
{
	struct ktest_tell_req *tell = kzalloc(sizeof(*tell), GFP_KERNEL);
	int ret;

	if (!tell)
		return -ENOMEM;
	init_completion(&tell->over);
	tell->req.opcode = opcode;
	tell->req.local.mem = KRDMA_MEM_VIRT;
	tell->req.local.virt = msg;
	tell->req.local.len = sizeof(*msg);
	tell->req.remote = remote;
	tell->req.done = ktest_tell_done;
	ret = krdma_post(cb, &tell->req);
	if (!ret) {
		wait_for_completion(&tell->over);
		ret = tell->status;
	}
	kfree(tell);
	return ret;
}

/* Send a message that invalidates the key of the peer's region in @msg. */
static int ktest_tell_send_inv(struct krdma_cb *cb, struct ktest_tell_msg *msg)
{
	struct krdma_remote *remote = ktest_tell_remote(msg);
	int ret;

	if (IS_ERR(remote))
		return PTR_ERR(remote);
	ret = ktest_tell_post(cb, msg, KRDMA_SEND_INV, remote);
	krdma_remote_free(remote);
	return ret;
}

static int ktest_told_do(struct ktest_told *told,
			 const struct krdma_rx_msg *rx_msg,
			 struct ktest_tell_msg *answer)
{
	const struct ktest_tell_msg *msg = rx_msg->data;

	switch (msg->what) {
	case KTEST_TELL_MEM:
		return ktest_told_mem(told, answer);
	case KTEST_TELL_KEY:
		return ktest_told_key(told, answer);
	case KTEST_TELL_BACK:
		return ktest_told_back(told, rx_msg);
	case KTEST_TELL_REPORT:
		return 0;
	default:
		return -EINVAL;
	}
}

static void ktest_told_flood(struct ktest_told *told,
			     struct ktest_tell_msg *answer, u32 n)
{
	msleep(KTEST_FLOOD_PAUSE_MS);
	/*
	 * Ignore a failed send: the client waits for the messages, and reports
	 * a timeout.
	 */
	while (n-- && !krdma_send_timeout(told->cb, answer, sizeof(*answer),
					  KTEST_TELL_MS))
		;
}

static void ktest_told_answer(struct ktest_told *told,
			      const struct krdma_rx_msg *rx_msg,
			      struct ktest_tell_msg *answer)
{
	const struct ktest_tell_msg *msg = rx_msg->data;

	memset(answer, 0, sizeof(*answer));
	if (rx_msg->len != sizeof(*msg))
		return;
	answer->what = msg->what;
	answer->told = READ_ONCE(told->told);
	answer->bad = READ_ONCE(told->bad);
	if (msg->what == KTEST_TELL_FLOOD) {
		ktest_told_flood(told, answer, msg->told);
		return;
	}
	if (msg->what == KTEST_TELL_INVITE) {
		memcpy(answer->desc, msg->desc, sizeof(answer->desc));
		answer->error = ktest_tell_send_inv(told->cb, answer);
		if (!answer->error)
			return;
	} else {
		answer->error = ktest_told_do(told, rx_msg, answer);
	}
	/*
	 * Ignore a failed send: it ends the connection, which the client
	 * detects.
	 */
	krdma_send_timeout(told->cb, answer, sizeof(*answer), KTEST_TELL_MS);
}

static void ktest_told_work(struct work_struct *work)
{
	struct ktest_told *told = container_of(work, struct ktest_told, work);
	struct ktest_tell_msg *answer = kmalloc(sizeof(*answer), GFP_KERNEL);
	struct ktest_mail *mail;

	while ((mail = ktest_told_next(told))) {
		if (answer)
			ktest_told_answer(told, mail->rx_msg, answer);
		krdma_rx_msg_release(mail->rx_msg);
		kfree(mail);
	}
	kfree(answer);
}

static void ktest_told_end(struct ktest_told *told)
{
	struct ktest_mail *mail;

	cancel_work_sync(&told->work);
	while ((mail = ktest_told_next(told))) {
		krdma_rx_msg_release(mail->rx_msg);
		kfree(mail);
	}
	krdma_region_put(told->mem);
	krdma_region_put(told->key);
	/*
	 * Remove the connection from the list before its release, because
	 * ktest_tell_end() disconnects all connections in the list.
	 */
	mutex_lock(&ktest_tell_mutex);
	list_del(&told->link);
	mutex_unlock(&ktest_tell_mutex);
	krdma_release_cb(told->cb);
	kfree(told);
	if (atomic_dec_and_test(&ktest_ntells))
		wake_up_all(&ktest_tell_wait);
}

static void ktest_told_request(struct krdma_cb *listen_cb, struct krdma_cb *cb)
{
	struct ktest_told *told = kzalloc(sizeof(*told), GFP_KERNEL);

	if (!told) {
		krdma_release_cb(cb);
		return;
	}
	told->cb = cb;
	cb->context = told;
	INIT_WORK(&told->work, ktest_told_work);
	spin_lock_init(&told->lock);
	INIT_LIST_HEAD(&told->mails);
	mutex_lock(&ktest_tell_mutex);
	list_add(&told->link, &ktest_tells);
	atomic_inc(&ktest_ntells);
	mutex_unlock(&ktest_tell_mutex);
	if (krdma_accept_async(cb, NULL, 0))
		ktest_told_end(told);
}

static void ktest_told_connected(struct krdma_cb *cb, int error)
{
	if (error)
		ktest_told_end(cb->context);
}

static void ktest_told_closing(struct krdma_cb *cb, int reason)
{
	ktest_told_end(cb->context);
}

static const struct krdma_ops ktest_told_ops = {
	.owner = THIS_MODULE,
	.request = ktest_told_request,
	.connected = ktest_told_connected,
	.receive = ktest_told_receive,
	.closing = ktest_told_closing,
};

/*
 * End the server: disconnect all connections, and wait until their closing
 * callbacks have released them.
 */
void ktest_tell_end(void)
{
	struct ktest_told *told;

	krdma_release_cb(xchg(&ktest_tell_listener, NULL));
	mutex_lock(&ktest_tell_mutex);
	list_for_each_entry(told, &ktest_tells, link)
		krdma_disconnect(told->cb);
	mutex_unlock(&ktest_tell_mutex);
	wait_event(ktest_tell_wait, !atomic_read(&ktest_ntells));
}

/* tell HOST PORT [option=value]...: start the server; tell end: end it */
int ktest_cmd_tell(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_slot dummy = {};
	struct sockaddr_storage addr, src;
	struct krdma_params p;
	struct krdma_cb *cb;
	int ret;

	if (args->n == 2) {
		ktest_tell_end();
		return 0;
	}
	ret = krdma_parse_addr(ctx->net, ktest_arg(args, 1), ktest_arg(args, 2),
			       &addr);
	ret = ret ?: ktest_fill_params(ctx, args, &dummy, &p, &src);
	p.context = NULL;
	p.ops = &ktest_told_ops;
	ret = ret ?: krdma_listen_params((struct sockaddr *)&addr, &p, &cb);
	if (!ret && cmpxchg(&ktest_tell_listener, NULL, cb)) {
		krdma_release_cb(cb);
		ret = -EBUSY;
	}
	return ret;
}

/* ---- asking ---- */

static int ktest_tell_hear(struct krdma_cb *cb, struct ktest_tell_msg *msg)
{
	u32 what = msg->what;
	int ret = krdma_receive_len(cb, msg, sizeof(*msg), KTEST_TELL_MS);

	if (ret < 0)
		return ret;
	return ret != sizeof(*msg) || msg->what != what ? -EBADMSG : msg->error;
}

static int ktest_tell_ask(struct krdma_cb *cb, struct ktest_tell_msg *msg,
			  enum ktest_tell_what what)
{
	msg->what = what;
	return krdma_send_timeout(cb, msg, sizeof(*msg), KTEST_TELL_MS) ?:
	       ktest_tell_hear(cb, msg);
}

/*
 * Ask the server for the description of its memory, and import the description.
 * The caller frees the result by krdma_remote_free().
 */
struct krdma_remote *ktest_tell_import(struct krdma_cb *cb)
{
	struct ktest_tell_msg *msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	struct krdma_remote *remote;
	int ret = msg ? ktest_tell_ask(cb, msg, KTEST_TELL_MEM) : -ENOMEM;

	remote = ret ? ERR_PTR(ret) : ktest_tell_remote(msg);
	kfree(msg);
	return remote;
}

/*
 * Set immediate data and remote offset of request @i in a sequence of
 * WRITE_IMMs.
 */
void ktest_tell_fill(struct krdma_req *req, u32 i, u32 len)
{
	req->imm = ktest_tell_imm(i, len);
	req->remote_offset = ktest_tell_offset(i, len);
}

static int ktest_tell_invite_once(struct krdma_cb *cb,
				  struct krdma_region *region,
				  struct ktest_tell_msg *msg)
{
	int ret = ktest_tell_describe(region, msg) ?:
		  ktest_tell_ask(cb, msg, KTEST_TELL_INVITE);

	if (ret)
		return ret;
	if (krdma_region_is_live(region))
		return -EBUSY;
	return krdma_region_revoke(region, 0) == -EALREADY ? 0 : -EBADMSG;
}

static int ktest_tell_invite(struct krdma_cb *cb, struct ktest_tell_msg *msg,
			     u32 access, u32 times)
{
	struct krdma_region *region;
	int ret;

	region = krdma_region_alloc(cb, PAGE_SIZE, KRDMA_REMOTE_READ | access);
	if (IS_ERR(region))
		return PTR_ERR(region);
	ret = ktest_tell_invite_once(cb, region, msg);
	/*
	 * Let the server try to invalidate the same key again, although the key
	 * is invalid now. msg still has the description of the region, because
	 * the server copies it into the answer.
	 */
	while (!ret && --times)
		ret = ktest_tell_ask(cb, msg, KTEST_TELL_INVITE);
	krdma_region_put(region);
	return ret;
}

/*
 * Create two regions, one after the other. Both use the same MR. The server
 * tries to invalidate the key of each region. Only the first region permits
 * this.
 */
static int ktest_tell_heir(struct krdma_cb *cb, struct ktest_tell_msg *msg)
{
	return ktest_tell_invite(cb, msg, KRDMA_REMOTE_INVALIDATE, 1) ?:
	       ktest_tell_invite(cb, msg, 0, 1);
}

/*
 * Let the server create and describe a region, and send a message that
 * invalidates the key of this region.
 */
static int ktest_tell_back(struct krdma_cb *cb, struct ktest_tell_msg *msg)
{
	int ret = ktest_tell_ask(cb, msg, KTEST_TELL_KEY);

	if (ret)
		return ret;
	msg->what = KTEST_TELL_BACK;
	return ktest_tell_send_inv(cb, msg) ?: ktest_tell_hear(cb, msg);
}

/*
 * Invalidate a key of the server, and then write with this key, which must
 * fail.
 */
static int ktest_tell_stale(struct krdma_cb *cb, struct ktest_tell_msg *msg)
{
	struct krdma_remote *remote;
	int ret = ktest_tell_ask(cb, msg, KTEST_TELL_KEY);

	if (ret)
		return ret;
	remote = ktest_tell_remote(msg);
	if (IS_ERR(remote))
		return PTR_ERR(remote);
	msg->what = KTEST_TELL_BACK;
	ret = ktest_tell_post(cb, msg, KRDMA_WRITE, remote) ?:
	      ktest_tell_post(cb, msg, KRDMA_SEND_INV, remote) ?:
	      ktest_tell_hear(cb, msg) ?:
	      ktest_tell_post(cb, msg, KRDMA_WRITE, remote) ?:
	      /*
	       * On iWARP the write with the invalid key may complete before the
	       * peer refuses it. So ask another question, which fails.
	       */
	      ktest_tell_ask(cb, msg, KTEST_TELL_REPORT);
	krdma_remote_free(remote);
	return ret;
}

/*
 * ask NAME invite|foreign|twice|heir|back|stale|report [N]: ask the server N
 * times. invite: let the server invalidate a key. foreign: let the server
 * invalidate a key, although it may not. twice: let the server invalidate the
 * same key twice. heir: do invite, and then foreign with a key of the same MR.
 * back: invalidate a key of the server. stale: invalidate a key of the
 * server, and write with this key. report: print the counts of notifications.
 */
int ktest_do_ask(struct ktest_ctx *ctx, const struct ktest_args *args,
		 struct krdma_cb *cb)
{
	struct ktest_tell_msg *msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	const char *what = ktest_arg(args, 2);
	u32 n = ktest_number(args, 3, 1), i;
	int ret = msg ? 0 : -ENOMEM;

	for (i = 0; i < n && !ret; i++) {
		if (!strcmp(what, "invite"))
			ret = ktest_tell_invite(cb, msg,
						KRDMA_REMOTE_INVALIDATE, 1);
		else if (!strcmp(what, "foreign"))
			ret = ktest_tell_invite(cb, msg, 0, 1);
		else if (!strcmp(what, "twice"))
			ret = ktest_tell_invite(cb, msg,
						KRDMA_REMOTE_INVALIDATE, 2);
		else if (!strcmp(what, "heir"))
			ret = ktest_tell_heir(cb, msg);
		else if (!strcmp(what, "back"))
			ret = ktest_tell_back(cb, msg);
		else if (!strcmp(what, "stale"))
			ret = ktest_tell_stale(cb, msg);
		else
			ret = ktest_tell_ask(cb, msg, KTEST_TELL_REPORT);
	}
	if (!ret)
		snprintf(ctx->text, sizeof(ctx->text), "told=%u bad=%u",
			 msg->told, msg->bad);
	kfree(msg);
	return ret;
}

/* ---- keeping messages ---- */

#define KTEST_STUCK_MAX 32

/**
 * struct ktest_stuck - an owner that keeps messages until it has all of them
 * @lock: protects @rx_msgs and @n
 * @rx_msgs: kept messages
 * @n: number of messages in @rx_msgs
 * @wanted: number of messages that the peer will send
 * @all: completed when all messages have arrived
 */
struct ktest_stuck {
	spinlock_t lock; /* see @lock above */
	struct krdma_rx_msg *rx_msgs[KTEST_STUCK_MAX];
	u32 n;
	u32 wanted;
	struct completion all;
};

static void ktest_stuck_receive(struct krdma_cb *cb,
				struct krdma_rx_msg *rx_msg)
{
	struct ktest_stuck *stuck = cb->context;
	unsigned long flags;

	spin_lock_irqsave(&stuck->lock, flags);
	stuck->rx_msgs[stuck->n++] = rx_msg;
	if (stuck->n == stuck->wanted)
		complete(&stuck->all);
	spin_unlock_irqrestore(&stuck->lock, flags);
}

static const struct krdma_ops ktest_stuck_ops = {
	.receive = ktest_stuck_receive,
};

/*
 * Request a FLOOD, post @writes writes with notification, and wait for the
 * messages that answer the FLOOD. Each notification takes a credit. The peer
 * returns these credits by CREDIT messages. Each CREDIT takes a receive buffer
 * of this side for a short time.
 */
static int ktest_stuck_run(struct krdma_cb *cb, struct ktest_stuck *stuck,
			   struct ktest_tell_msg *msg, u32 writes)
{
	int ret;

	msg->what = KTEST_TELL_FLOOD;
	msg->told = stuck->wanted;
	ret = krdma_send_timeout(cb, msg, sizeof(*msg), KTEST_TELL_MS);
	while (!ret && writes--)
		ret = ktest_tell_post(cb, msg, KRDMA_WRITE_IMM,
				      krdma_peer_export(cb));
	if (ret)
		return ret;
	return wait_for_completion_timeout(&stuck->all,
					   msecs_to_jiffies(KTEST_TELL_MS / 2)) ?
		       0 : -ETIMEDOUT;
}

static int ktest_stuck_connect(struct ktest_ctx *ctx,
			       const struct ktest_args *args,
			       struct ktest_stuck *stuck, struct krdma_cb **cb)
{
	struct sockaddr_storage dst, src;
	struct ktest_slot dummy = {};
	struct krdma_params p;
	int ret;

	ret = krdma_parse_addr(ctx->net, ktest_arg(args, 1), ktest_arg(args, 2),
			       &dst) ?:
	      ktest_fill_params(ctx, args, &dummy, &p, &src);
	if (ret)
		return ret;
	p.flags |= KRDMA_RW;
	p.ops = &ktest_stuck_ops;
	p.context = stuck;
	return krdma_connect_params((struct sockaddr *)&dst, &p, cb);
}

int ktest_cmd_stuck(struct ktest_ctx *ctx, struct ktest_args *args)
{
	struct ktest_stuck *stuck = kzalloc(sizeof(*stuck), GFP_KERNEL);
	struct ktest_tell_msg *msg = kzalloc(sizeof(*msg), GFP_KERNEL);
	struct krdma_cb *cb = NULL;
	int ret = -ENOMEM;
	u32 i;

	if (!stuck || !msg)
		goto out;
	spin_lock_init(&stuck->lock);
	init_completion(&stuck->all);
	stuck->wanted = min_t(u32, ktest_number(args, 3, 1), KTEST_STUCK_MAX);
	ret = ktest_stuck_connect(ctx, args, stuck, &cb) ?:
	      ktest_stuck_run(cb, stuck, msg, ktest_number(args, 4, 0));
	krdma_release_cb(cb);
	for (i = 0; i < stuck->n; i++)
		krdma_rx_msg_release(stuck->rx_msgs[i]);
	snprintf(ctx->text, sizeof(ctx->text), "kept=%u", stuck->n);
out:
	kfree(msg);
	kfree(stuck);
	return ret;
}
