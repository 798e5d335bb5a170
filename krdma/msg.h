/* SPDX-License-Identifier: GPL-2.0 */
/* Message mode: what msg.c and rw.c share. */
#ifndef KRDMA_MSG_H
#define KRDMA_MSG_H

#include "credit.h"
#include "priv.h"

/* Requests that may wait for room: a queue that is not emptied is a bug. */
#define KRDMA_PENDING_MAX 4096

/* What one task at a time may do; bits of krdma_msg.busy. */
enum krdma_msg_busy {
	KRDMA_BUSY_SEND = BIT(0), /* cut a message into parts and post them */
	KRDMA_BUSY_RECV = BIT(1), /* take parts off the ready list */
	KRDMA_BUSY_RW   = BIT(2), /* use the staging region */
	KRDMA_BUSY_PUSH = BIT(3), /* who has SEND does not touch the device */
};

/* What krdma sends for itself: one of a kind at a time. */
enum krdma_control {
	KRDMA_CONTROL_CREDIT = 0,
	KRDMA_CONTROL_PING,
	KRDMA_CONTROL_PONG,
	KRDMA_CONTROL_BYE,
	KRDMA_CONTROL_PULLED,
	KRDMA_CONTROLS, /* how many there are */
};

/**
 * struct krdma_recv - a receive buffer
 * @cqe: its completion
 * @conn: whose it is
 * @link: in krdma_msg.ready while it holds a part of a message
 * @dma: address of @buf for the device
 * @mapped: @dma is valid; krdma_conn.setup
 * @hdr: decoded, while on the ready list
 * @len: bytes of the part behind the header
 * @buf: krdma_params.buf_size bytes
 * @loan: while it is lent
 */
struct krdma_recv {
	struct ib_cqe cqe;
	struct krdma_conn *conn;
	struct list_head link;
	u64 dma;
	bool mapped;
	struct krdma_hdr hdr;
	u32 len;
	void *buf;
	struct krdma_loan loan;
};

/**
 * struct krdma_send - a message, or a part of one, on its way out
 * @wr: its completion
 * @rcu: frees it, see krdma_reads_on()
 * @dma: address of @hdr for the device
 * @len: bytes from @hdr on
 * @hdr: header
 * @data: @len less the header
 */
struct krdma_send {
	struct krdma_wr wr;
	struct rcu_head rcu;
	u64 dma;
	u32 len;
	struct krdma_wire_hdr hdr;
	u8 data[];
};

/**
 * struct krdma_source - the bytes of a message that is sent
 * @buffer: all of them, or NULL
 * @iter: where they come from if @buffer is NULL; advances as they are copied
 */
struct krdma_source {
	const void *buffer;
	struct iov_iter *iter;
};

/**
 * struct krdma_need - what a chain of requests takes
 * @nowait: KRDMA_NOWAIT: a place on the send queue; else one in the queue before
 * @bulk: its first request moves bytes without the peer's processor
 * @slots: send queue slots
 * @sends: credits
 * @requests: requests
 */
struct krdma_need {
	bool nowait;
	bool bulk;
	unsigned int slots;
	unsigned int sends;
	unsigned int requests;
};

/**
 * struct krdma_space - refused posts, see space.c
 * @wanted: krdma_post() has refused something since the last callback
 * @need: the least that would have been enough
 * @telling: the callback runs
 * @missed: room may have appeared since it began
 */
struct krdma_space {
	bool wanted;
	struct krdma_need need;
	bool telling;
	bool missed;
};

/**
 * struct krdma_pull - the CHUNK that is pulled, see pull.c
 * @op: work requests of its READs; a reference. NULL: there are no READs
 * @recv: the CHUNK, until @ended
 * @wire: its next segment
 * @seg: rest of the segment before @wire
 * @at: where in the message the next READ begins
 * @end: where in the message the CHUNK ends
 * @posted: number of READs that were posted
 * @over: number of these that have completed
 * @error: of the first READ that failed
 * @ended: no READ is in flight, and none will be posted
 * @until: time limit of the READs, in jiffies
 */
struct krdma_pull {
	struct krdma_op *op;
	struct krdma_recv *recv;
	const struct krdma_wire_seg *wire;
	struct krdma_seg seg;
	u32 at;
	u32 end;
	u32 posted;
	u32 over;
	int error;
	bool ended;
	unsigned long until;
};

/**
 * struct krdma_msg - message mode of one connection
 * @recvs: receive buffers; constant
 * @nrecvs: how many: p.recv_depth and krdma_msg_extra_recvs(); constant
 * @part_max: bytes of payload in one part; set by krdma_msg_peer_hello()
 *
 * All of these under krdma_conn.lock:
 * @credit: both directions
 * @busy: enum krdma_msg_busy
 * @greeted: START has been posted: other messages may follow
 * @got_start: the peer's START has arrived
 * @start: START with a shown buffer, until krdma_rw_start() has read it
 * @control: messages of krdma's own, by enum krdma_control
 * @control_busy: those in flight, BIT(enum krdma_control)
 * @bye_reason: what BYE says
 * @peer_said_bye: the peer has closed and said why
 * @peer_reason: what it said
 * @heard: something has arrived since the last look
 * @misses: looks in a row for which that was not so
 * @ready: krdma_recv, received parts in order
 * @open: the owner may be lent messages
 * @lending: somebody lends what is on @ready, see loan.c
 * @space: posts that were refused
 * @next_id: id of the message whose part comes next
 * @next_offset: offset of that part
 * @next_len: length of that message, valid if @next_offset is not 0
 *
 * Owned by who holds KRDMA_BUSY_SEND; if nobody does, under krdma_conn.lock:
 * @send_id: id of the next message
 *
 * @next_type: DATA or CHUNK, likewise
 * @push_end: end of the CHUNK that the peer shall pull, 0: none
 * @pulling: a CHUNK is being pulled, see pull.c
 * @pull_error: what that ended with
 * @pull: its state
 * @pulled_due: PULLED is to be sent when the last one has completed
 * @pulled_id: what PULLED says
 * @pulled_end: likewise
 *
 * Owned by who holds KRDMA_BUSY_RECV, or lends, and by who pulls:
 * @sink: where CHUNKs go, until the last one is there
 * @whole: where the parts of a long message are put together, or NULL
 * @whole_len: its length
 * @whole_have: how much of it is there
 * @charged: bytes of @sink or @whole that krdma_conn.budget counts
 *
 * Shown buffers; set in krdma_rw_start() before the first use, see rw.c:
 * @rw_ready: all of the following is set
 * @shown: what the peer may read and write
 * @stage: source and sink of our reads and writes, by KRDMA_BUSY_RW
 * @remote: the peer's shown buffer
 */
struct krdma_msg {
	struct krdma_recv *recvs;
	unsigned int nrecvs;
	u32 part_max;

	struct krdma_credit credit;
	unsigned int busy;
	bool greeted;
	bool got_start;
	struct krdma_recv *start;
	struct krdma_send *control[KRDMA_CONTROLS];
	unsigned int control_busy;
	u32 bye_reason;
	bool peer_said_bye;
	u32 peer_reason;
	bool heard;
	unsigned int misses;
	struct list_head ready;
	bool open;
	bool lending;
	struct krdma_space space;
	u32 next_id;
	u32 next_offset;
	u32 next_len;
	u8 next_type;
	u32 push_end;
	bool pulling;
	int pull_error;
	struct krdma_pull pull;
	bool pulled_due;
	u32 pulled_id;
	u32 pulled_end;

	u32 send_id;

	struct krdma_region *sink;

	void *whole;
	u32 whole_len;
	u32 whole_have;
	u32 charged;

	bool rw_ready;
	struct krdma_region *shown;
	struct krdma_region *stage;
	struct krdma_remote *remote;
};

static inline bool krdma_recv_is_written(const struct krdma_recv *recv)
{
	return recv->hdr.type == KRDMA_WIRE_WRITTEN;
}

/* Can it be received as it is? An empty message is one part, too. */
static inline bool krdma_recv_is_whole(const struct krdma_recv *recv)
{
	return krdma_recv_is_written(recv) ||
	       (recv->hdr.type == KRDMA_WIRE_DATA &&
		recv->len == recv->hdr.msg_len);
}

/* How long START may take before siw is suspected to have missed it. */
#define KRDMA_MSG_NUDGE_MS 100

/* msg.c */
int krdma_msg_send(struct krdma_conn *conn, struct krdma_op *op,
		   const struct krdma_source *src, u32 length,
		   unsigned long until);
int krdma_msg_greet(struct krdma_conn *conn, unsigned long until);
bool krdma_msg_is_greeted(struct krdma_conn *conn);
int krdma_msg_exchange_rest(struct krdma_conn *conn, unsigned long until);
int krdma_msg_nudge(struct krdma_conn *conn, unsigned long until);
struct krdma_send *krdma_send_alloc(struct krdma_conn *conn,
				    struct krdma_op *op, u32 len);
void krdma_send_free(struct krdma_conn *conn, struct krdma_send *send);
int krdma_send_post(struct krdma_conn *conn, struct krdma_send *send,
		    struct krdma_hdr *hdr, unsigned long until);
int krdma_send_post_wr_locked(struct krdma_conn *conn, struct krdma_send *send);
int krdma_send_post_locked(struct krdma_conn *conn, struct krdma_send *send,
			   struct krdma_hdr *hdr, bool reserved);
int krdma_msg_enter(struct krdma_conn *conn, unsigned int what,
		    unsigned long until);
void krdma_msg_leave(struct krdma_conn *conn, unsigned int what);
int krdma_msg_send_start(struct krdma_conn *conn, const void *shown, u32 len,
			 unsigned long until);
int krdma_msg_wait_start(struct krdma_conn *conn, unsigned long until);
struct krdma_recv *krdma_msg_take_start(struct krdma_conn *conn);
int krdma_msg_repost_locked(struct krdma_conn *conn, struct krdma_recv *recv);
void krdma_msg_repost(struct krdma_conn *conn, struct krdma_recv *recv,
		      bool lent);

int krdma_msg_take_part(struct krdma_conn *conn, struct krdma_recv *recv);

struct krdma_recv *krdma_msg_first(struct krdma_conn *conn);

/* pull.c */
bool krdma_pull_can(const struct krdma_conn *conn);
bool krdma_push_is_wanted(const struct krdma_conn *conn, const void *buffer,
			  u32 length);
bool krdma_push_pulled_locked(struct krdma_conn *conn,
			      const struct krdma_hdr *hdr);
int krdma_push(struct krdma_conn *conn, const void *buffer, u32 length,
	       unsigned long until);
int krdma_pull_lent_locked(struct krdma_conn *conn);
void krdma_pull_start_locked(struct krdma_conn *conn);

/* req.c */
bool krdma_req_have_need_locked(struct krdma_conn *conn,
				const struct krdma_need *need);

/* space.c */
void krdma_space_refused_locked(struct krdma_conn *conn,
				const struct krdma_need *need);
bool krdma_space_begin_locked(struct krdma_conn *conn);
void krdma_space_tell(struct krdma_conn *conn);

/* close.c */
void krdma_close_told_locked(struct krdma_conn *conn, u32 reason);

/* loan.c */
bool krdma_loan_is_wanted(const struct krdma_conn *conn);
bool krdma_loan_begin_locked(struct krdma_conn *conn);
void krdma_loan_go_on_locked(struct krdma_conn *conn, int error);
void krdma_loan_lend_all(struct krdma_conn *conn);

/* control.c */
int krdma_control_send_locked(struct krdma_conn *conn,
			      enum krdma_control kind);
int krdma_control_alloc(struct krdma_conn *conn);
void krdma_control_free(struct krdma_conn *conn);
void krdma_control_credits_locked(struct krdma_conn *conn);
void krdma_control_answer_locked(struct krdma_conn *conn,
				 const struct krdma_hdr *hdr);
bool krdma_alive_is_wanted(const struct krdma_conn *conn);
void krdma_alive_start(struct krdma_conn *conn);

#endif /* KRDMA_MSG_H */
