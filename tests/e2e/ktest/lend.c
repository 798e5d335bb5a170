// SPDX-License-Identifier: GPL-2.0
/*
 * Messages by callback: a server that checks messages, keeps some of them for a
 * while, and answers each with its number and length; and a client that sends
 * and compares.
 */
#include <linux/slab.h>

#include "priv.h"

#define KTEST_LEND_KEEP 512

/* Answer of the server to a message. */
struct ktest_answer {
	__le32 number;
	__le32 len;
	__le32 good;
	__le32 kept;
};

/**
 * struct ktest_lent - a message that the server keeps
 * @link: in ktest_lender.kept
 * @loan: the message
 */
struct ktest_lent {
	struct list_head link;
	struct krdma_loan *loan;
};

/**
 * struct ktest_reply - an answer in flight
 * @req: the request
 * @answer: its data
 */
struct ktest_reply {
	struct krdma_req req;
	struct ktest_answer answer;
};

/**
 * struct ktest_lender - the one connection with messages by callback
 * @lock: protects @kept, @nkept, @keep, @number
 * @kept: struct ktest_lent
 * @nkept: number of kept messages
 * @keep: number of messages to keep; the oldest is returned first
 * @number: number of the next message
 * @bad: number of messages with wrong data
 * @unanswered: number of answers that were refused or failed
 * @running: number of running callbacks; more than one is a failure
 */
static struct ktest_lender {
	spinlock_t lock; /* see above */
	struct list_head kept;
	u32 nkept;
	u32 keep;
	u32 number;
	atomic_t bad;
	atomic_t unanswered;
	atomic_t running;
} ktest_lender = {
	.lock = __SPIN_LOCK_UNLOCKED(ktest_lender.lock),
	.kept = LIST_HEAD_INIT(ktest_lender.kept),
};

/* Return all messages except the last @keep. */
void ktest_lend_give_back(u32 keep)
{
	struct ktest_lent *lent;
	unsigned long flags;

	do {
		spin_lock_irqsave(&ktest_lender.lock, flags);
		lent = NULL;
		if (ktest_lender.nkept > keep) {
			lent = list_first_entry(&ktest_lender.kept,
						struct ktest_lent, link);
			list_del(&lent->link);
			ktest_lender.nkept--;
			/* Test that this is allowed under a spinlock. */
			krdma_loan_return(lent->loan);
		}
		spin_unlock_irqrestore(&ktest_lender.lock, flags);
		kfree(lent);
	} while (lent);
}

static u32 ktest_lend_keep(struct krdma_loan *loan)
{
	struct ktest_lent *lent = kmalloc(sizeof(*lent), GFP_ATOMIC);
	unsigned long flags;
	u32 number, keep;

	if (!lent)
		krdma_loan_return(loan);
	spin_lock_irqsave(&ktest_lender.lock, flags);
	number = ktest_lender.number++;
	keep = ktest_lender.keep;
	if (lent) {
		lent->loan = loan;
		list_add_tail(&lent->link, &ktest_lender.kept);
		ktest_lender.nkept++;
	}
	spin_unlock_irqrestore(&ktest_lender.lock, flags);
	ktest_lend_give_back(keep);
	return number;
}

static void ktest_reply_done(struct krdma_req *req, int status)
{
	struct ktest_reply *reply = container_of(req, struct ktest_reply, req);

	if (status)
		atomic_inc(&ktest_lender.unanswered);
	kfree(reply);
}

static int ktest_lend_answer(struct krdma_cb *cb, u32 number, u32 len,
			     bool good)
{
	struct ktest_reply *reply = kzalloc(sizeof(*reply), GFP_ATOMIC);
	int ret;

	if (!reply)
		return -ENOMEM;
	reply->answer.number = cpu_to_le32(number);
	reply->answer.len = cpu_to_le32(len);
	reply->answer.good = cpu_to_le32(good);
	reply->answer.kept = cpu_to_le32(READ_ONCE(ktest_lender.nkept));
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

void ktest_lend_receive(struct krdma_cb *cb, struct krdma_loan *loan)
{
	bool good = !ktest_check(loan->data, loan->len);
	u32 number, len = loan->len;

	if (atomic_inc_return(&ktest_lender.running) > 1)
		good = false;
	number = ktest_lend_keep(loan);
	if (!good)
		atomic_inc(&ktest_lender.bad);
	atomic_dec(&ktest_lender.running);
	if (ktest_lend_answer(cb, number, len, good))
		atomic_inc(&ktest_lender.unanswered);
}

/*
 * lend [KEEP]: print the counts of messages of "server HOST PORT lend=1"; with
 * KEEP, reset them, and keep that many messages before the oldest is returned
 */
int ktest_cmd_lend(struct ktest_ctx *ctx, struct ktest_args *args)
{
	unsigned long flags;

	spin_lock_irqsave(&ktest_lender.lock, flags);
	snprintf(ctx->text, sizeof(ctx->text),
		 "messages=%u bad=%d unanswered=%d kept=%u",
		 ktest_lender.number, atomic_read(&ktest_lender.bad),
		 atomic_read(&ktest_lender.unanswered), ktest_lender.nkept);
	if (args->n > 1) {
		ktest_lender.keep = min_t(u32, ktest_number(args, 1, 0),
					  KTEST_LEND_KEEP);
		ktest_lender.number = 0;
		atomic_set(&ktest_lender.bad, 0);
		atomic_set(&ktest_lender.unanswered, 0);
	}
	spin_unlock_irqrestore(&ktest_lender.lock, flags);
	if (args->n > 1)
		ktest_lend_give_back(0);
	return 0;
}

static int ktest_talk_answer(struct krdma_cb *cb, u32 number, u32 len)
{
	struct ktest_answer answer;
	int ret = krdma_receive_len(cb, &answer, sizeof(answer), 20000);

	if (ret < 0)
		return ret;
	if (ret != sizeof(answer) || le32_to_cpu(answer.number) != number ||
	    le32_to_cpu(answer.len) != len || !answer.good)
		return -EBADMSG;
	return 0;
}

/* Lengths that both sides compute: short ones, long ones, and all between. */
static u32 ktest_talk_len(u32 i, u32 max)
{
	return max ? (i * 2654435761U >> 7) % ((i % 3 ? max : 300) + 1) : 0;
}

/*
 * talk NAME N MAX WINDOW: send N messages of up to MAX bytes to a server with
 * lend=1, WINDOW of them before the first answer is received
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
			ret = krdma_send_timeout(cb, buf, len, 20000);
		}
		if (!ret && i >= window)
			ret = ktest_talk_answer(cb, i - window,
						ktest_talk_len(i - window, max));
	}
	snprintf(ctx->text, sizeof(ctx->text), "at=%u", i);
	return ret;
}
