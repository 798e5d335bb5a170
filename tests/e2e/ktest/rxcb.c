// SPDX-License-Identifier: GPL-2.0
/*
 * A server and a client for messages by callback. The receive callback of the
 * server checks each message, keeps some messages for a while, and answers each
 * message with its number and length. The client sends messages, and checks the
 * answers.
 */
#include <linux/slab.h>

#include "priv.h"

#define KTEST_LEND_KEEP 512

/* The server's answer to a message. */
struct ktest_answer {
	__le32 number;
	__le32 len;
	__le32 good;
	__le32 kept;
};

/**
 * struct ktest_rx_msg - a message that the server keeps
 * @link: link in ktest_rxcb.kept
 * @rx_msg: the message, which the server has not released
 */
struct ktest_rx_msg {
	struct list_head link;
	struct krdma_rx_msg *rx_msg;
};

/**
 * struct ktest_reply - an answer in flight
 * @req: the request that sends @answer
 * @answer: data of the message
 */
struct ktest_reply {
	struct krdma_req req;
	struct ktest_answer answer;
};

/**
 * struct ktest_rxcb - state of the server whose receive callback gets messages
 * @lock: protects @kept, @nkept, @keep, @number
 * @kept: list of struct ktest_rx_msg, the oldest first
 * @nkept: number of messages in @kept
 * @keep: maximum of @nkept; beyond it the oldest message is released
 * @number: number of the next message
 * @bad: number of messages that had wrong data, or arrived while another
 *	receive callback was running
 * @unanswered: number of answers that were refused or failed
 * @running: number of running receive callbacks, at most one at a time
 */
static struct ktest_rxcb {
	spinlock_t lock; /* see @lock above */
	struct list_head kept;
	u32 nkept;
	u32 keep;
	u32 number;
	atomic_t bad;
	atomic_t unanswered;
	atomic_t running;
} ktest_rxcb = {
	.lock = __SPIN_LOCK_UNLOCKED(ktest_rxcb.lock),
	.kept = LIST_HEAD_INIT(ktest_rxcb.kept),
};

/* Release all kept messages except the last @keep. */
void ktest_rxcb_give_back(u32 keep)
{
	struct ktest_rx_msg *kept;
	unsigned long flags;

	do {
		spin_lock_irqsave(&ktest_rxcb.lock, flags);
		kept = NULL;
		if (ktest_rxcb.nkept > keep) {
			kept = list_first_entry(&ktest_rxcb.kept,
						struct ktest_rx_msg, link);
			list_del(&kept->link);
			ktest_rxcb.nkept--;
			/*
			 * Test that a message may be released under a spinlock.
			 */
			krdma_rx_msg_release(kept->rx_msg);
		}
		spin_unlock_irqrestore(&ktest_rxcb.lock, flags);
		kfree(kept);
	} while (kept);
}

static u32 ktest_rxcb_keep(struct krdma_rx_msg *rx_msg)
{
	struct ktest_rx_msg *kept = kmalloc(sizeof(*kept), GFP_ATOMIC);
	unsigned long flags;
	u32 number, keep;

	if (!kept)
		krdma_rx_msg_release(rx_msg);
	spin_lock_irqsave(&ktest_rxcb.lock, flags);
	number = ktest_rxcb.number++;
	keep = ktest_rxcb.keep;
	if (kept) {
		kept->rx_msg = rx_msg;
		list_add_tail(&kept->link, &ktest_rxcb.kept);
		ktest_rxcb.nkept++;
	}
	spin_unlock_irqrestore(&ktest_rxcb.lock, flags);
	ktest_rxcb_give_back(keep);
	return number;
}

static void ktest_reply_done(struct krdma_req *req, int status)
{
	struct ktest_reply *reply = container_of(req, struct ktest_reply, req);

	if (status)
		atomic_inc(&ktest_rxcb.unanswered);
	kfree(reply);
}

static int ktest_rxcb_answer(struct krdma_cb *cb, u32 number, u32 len,
			     bool good)
{
	struct ktest_reply *reply = kzalloc(sizeof(*reply), GFP_ATOMIC);
	int ret;

	if (!reply)
		return -ENOMEM;
	reply->answer.number = cpu_to_le32(number);
	reply->answer.len = cpu_to_le32(len);
	reply->answer.good = cpu_to_le32(good);
	reply->answer.kept = cpu_to_le32(READ_ONCE(ktest_rxcb.nkept));
	reply->req.opcode = KRDMA_SEND;
	reply->req.local.mem = KRDMA_MEM_VIRT;
	reply->req.local.virt = &reply->answer;
	reply->req.local.len = sizeof(reply->answer);
	reply->req.done = ktest_reply_done;
	ret = krdma_post(cb, &reply->req);
	if (ret)
		kfree(reply);
	return ret;
}

void ktest_rxcb_receive(struct krdma_cb *cb, struct krdma_rx_msg *rx_msg)
{
	bool good = !ktest_check(rx_msg->data, rx_msg->len);
	u32 number, len = rx_msg->len;

	if (atomic_inc_return(&ktest_rxcb.running) > 1)
		good = false;
	number = ktest_rxcb_keep(rx_msg);
	if (!good)
		atomic_inc(&ktest_rxcb.bad);
	atomic_dec(&ktest_rxcb.running);
	if (ktest_rxcb_answer(cb, number, len, good))
		atomic_inc(&ktest_rxcb.unanswered);
}

/*
 * rxcb [KEEP]: print the counts of messages of "server HOST PORT rxcb=1". With
 * KEEP, reset the counts, release all kept messages, and keep at most KEEP
 * messages from now on.
 */
int ktest_cmd_rxcb(struct ktest_ctx *ctx, struct ktest_args *args)
{
	unsigned long flags;

	spin_lock_irqsave(&ktest_rxcb.lock, flags);
	snprintf(ctx->text, sizeof(ctx->text),
		 "messages=%u bad=%d unanswered=%d kept=%u", ktest_rxcb.number,
		 atomic_read(&ktest_rxcb.bad),
		 atomic_read(&ktest_rxcb.unanswered), ktest_rxcb.nkept);
	if (args->n > 1) {
		ktest_rxcb.keep =
			min_t(u32, ktest_number(args, 1, 0), KTEST_LEND_KEEP);
		ktest_rxcb.number = 0;
		atomic_set(&ktest_rxcb.bad, 0);
		atomic_set(&ktest_rxcb.unanswered, 0);
	}
	spin_unlock_irqrestore(&ktest_rxcb.lock, flags);
	if (args->n > 1)
		ktest_rxcb_give_back(0);
	return 0;
}

static int ktest_talk_answer(struct krdma_cb *cb, u32 number, u32 len)
{
	struct ktest_answer answer;
	int ret = krdma_receive_len(cb, &answer, sizeof(answer), KTEST_WAIT_MS);

	if (ret < 0)
		return ret;
	if (ret != sizeof(answer) || le32_to_cpu(answer.number) != number ||
	    le32_to_cpu(answer.len) != len || !answer.good)
		return -EBADMSG;
	return 0;
}

/*
 * Return the length of message @i, at most @max. Lengths are pseudo-random, and
 * every third length is at most 300.
 */
static u32 ktest_talk_len(u32 i, u32 max)
{
	return max ? (i * 2654435761U >> 7) % ((i % 3 ? max : 300) + 1) : 0;
}

/*
 * talk NAME N MAX WINDOW: send N messages of up to MAX bytes to a server with
 * rxcb=1, and check the answers. Receive each answer after WINDOW further
 * messages were sent.
 */
int ktest_do_talk(struct ktest_ctx *ctx, const struct ktest_args *args,
		  struct krdma_cb *cb, u8 *buf)
{
	u32 n = ktest_number(args, 2, 1), max = ktest_number(args, 3, 0);
	u32 window = ktest_number(args, 4, 1), i, len;
	int ret = 0;

	for (i = 0; i < n + window && !ret; i++) {
		if (i < n) {
			len = ktest_talk_len(i, max);
			ktest_fill(buf, len);
			ret = krdma_send_timeout(cb, buf, len, KTEST_WAIT_MS);
		}
		if (!ret && i >= window)
			ret = ktest_talk_answer(cb, i - window,
						ktest_talk_len(i - window, max));
	}
	snprintf(ctx->text, sizeof(ctx->text), "at=%u", i);
	return ret;
}
