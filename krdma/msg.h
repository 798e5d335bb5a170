/* SPDX-License-Identifier: GPL-2.0 */
/* Message mode: declarations that its files share. */
#ifndef KRDMA_MSG_H
#define KRDMA_MSG_H

#include "sq.h"

/* Internal messages; at most one of each kind is in flight. */
enum krdma_control {
	KRDMA_CONTROL_CREDIT = 0,
	KRDMA_CONTROL_PING,
	KRDMA_CONTROL_PONG,
	KRDMA_CONTROL_BYE,
	KRDMA_CONTROL_PULLED,
	KRDMA_CONTROLS, /* number of kinds */
};

/**
 * struct krdma_recv - a receive buffer
 * @cqe: completion of the receive
 * @conn: connection of the buffer
 * @link: link in krdma_msg.ready while the buffer holds a part of a message, or
 *	in krdma_msg.early
 * @dma: address of @buf for the device
 * @mapped: @dma is valid; krdma_conn.setup
 * @hdr: decoded header, while the buffer is on the ready list
 * @len: number of bytes of the part, without the header. In krdma_msg.early:
 *	number of received bytes
 * @buf: memory of krdma_params.buf_size bytes
 * @rx_msg: the message as the owner sees it, while the owner keeps it
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
	struct krdma_rx_msg rx_msg;
};

/**
 * struct krdma_pull - state of reading the data of one CHUNK, see rendezvous.c
 * @op: the READs, with a reference. NULL: there are no READs
 * @recv: receive buffer that holds the CHUNK; not valid after @ended is set
 * @end: offset in the message at which the CHUNK ends
 * @left: number of READs that have not ended
 * @error: errno of the first READ that failed
 * @ended: all READs have ended
 * @until: time limit of the READs, in jiffies
 */
struct krdma_pull {
	struct krdma_op *op;
	struct krdma_recv *recv;
	u32 end;
	u32 left;
	int error;
	bool ended;
	unsigned long until;
};

/**
 * struct krdma_msg - message mode of one connection
 * @recvs: receive buffers; constant
 * @nrecvs: number of @recvs: sum of krdma_limits.recv_depth and
 *	krdma_mode.extra_recvs; constant
 *
 * krdma_conn.lock protects these members:
 * @got_start: START or AUTH of the peer has arrived
 * @start: KRDMA_RW: receive buffer that holds START of the peer; NULL after
 *	krdma_rw_learn() has taken it. Server with a level: the buffer holds
 *	AUTH
 * @unproved: server with a level: AUTH was not checked yet. Until then the peer
 *	may only send AUTH, and then CREDIT
 * @early: level that seals: messages that arrived while @unproved was set, in
 *	order. krdma_msg_take_early() takes them, and clears @unproved when none
 *	is left. Until then, it is the only context that takes messages.
 *	Afterwards the completion handler is
 * @control: internal messages: operation with a request for each enum
 *	krdma_control, which is never posted as a whole; constant
 * @control_busy: internal messages in flight: bit mask, BIT(enum krdma_control)
 * @bye_reason: reason that this side sends in BYE
 * @peer_said_bye: the peer has sent BYE
 * @peer_reason: reason in the peer's BYE
 * @misses: number of consecutive checks of krdma_alive_work() at which nothing
 *	had arrived from the peer
 * @ready: received parts in order: list of krdma_recv
 * @open: messages may be delivered to the owner
 * @delivering: one context is delivering the messages on @ready, see deliver.c
 * @next_id: id of the message whose part is expected next
 * @next_offset: offset in the message of the part that is expected next
 * @next_len: length of the message whose part is expected next; valid if
 *	@next_offset is not 0
 * @next_type: type of the part that is expected next, DATA or CHUNK; valid if
 *	@next_offset is not 0
 * @pulling: the data of a CHUNK is being read, see rendezvous.c
 * @pull_error: result of reading the most recent CHUNK: 0 or errno
 * @pull: state of reading the CHUNK
 * @pulled_due: another PULLED must be sent when the one in flight has completed
 * @pulled_id: message id to send in PULLED
 * @pulled_end: offset in the message of the end of the CHUNK, to send in PULLED
 *
 * The following members belong to one of these at a time: the holder of
 * KRDMA_BUSY_RECV, the context that delivers, or the context that reads a
 * CHUNK:
 * @sink: region into which the CHUNKs of a message are read; NULL before the
 *	first CHUNK of a message and after the last one
 * @whole: buffer in which the parts of a long message are assembled, or NULL
 * @whole_len: length of the message in @whole
 * @whole_have: number of bytes that are already in @whole
 *
 * Exported buffers: krdma_rw_greet() and krdma_rw_learn() set the following
 * members, and krdma_rw_open() sets @rw_ready after them, see rw.c:
 * @rw_ready: all of the following members are set
 * @exported: local buffer that the peer may read and write
 * @copy_buf: buffer for krdma_read() and krdma_write(); only the holder of
 *	KRDMA_BUSY_RW uses it
 * @remote: the peer's exported buffer
 */
struct krdma_msg {
	struct krdma_recv *recvs;
	unsigned int nrecvs;

	bool got_start;
	struct krdma_recv *start;
	bool unproved;
	struct list_head early;
	struct krdma_op *control;
	unsigned int control_busy;
	u32 bye_reason;
	bool peer_said_bye;
	u32 peer_reason;
	unsigned int misses;
	struct list_head ready;
	bool open;
	bool delivering;
	u32 next_id;
	u32 next_offset;
	u32 next_len;
	u8 next_type;
	bool pulling;
	int pull_error;
	struct krdma_pull pull;
	bool pulled_due;
	u32 pulled_id;
	u32 pulled_end;

	struct krdma_region *sink;

	void *whole;
	u32 whole_len;
	u32 whole_have;

	bool rw_ready;
	struct krdma_region *exported;
	struct krdma_region *copy_buf;
	struct krdma_remote *remote;
};

static inline bool krdma_recv_is_written(const struct krdma_recv *recv)
{
	return recv->hdr.type == KRDMA_WIRE_WRITTEN;
}

/*
 * Check whether a received part is a whole message. An empty message has one
 * part.
 */
static inline bool krdma_recv_is_whole(const struct krdma_recv *recv)
{
	return krdma_recv_is_written(recv) ||
	       (recv->hdr.type == KRDMA_WIRE_DATA &&
		recv->len == recv->hdr.msg_len);
}

/*
 * Interval in ms at which a client sends an empty message while it waits for
 * the server's START, see krdma_msg_nudge().
 */
#define KRDMA_MSG_NUDGE_MS 100

/* msg.c */
extern const struct krdma_mode krdma_msg_mode;
void krdma_msg_stop(struct krdma_conn *conn);
void krdma_msg_free(struct krdma_conn *conn);
int krdma_msg_post_all(struct krdma_conn *conn);
void krdma_msg_peer_hello(struct krdma_conn *conn);
int krdma_msg_enter(struct krdma_conn *conn, unsigned int what,
		    unsigned long until);
void krdma_msg_leave(struct krdma_conn *conn, unsigned int what);
int krdma_msg_send_start(struct krdma_conn *conn, const void *exported, u32 len,
			 unsigned long until);
int krdma_msg_repost_locked(struct krdma_conn *conn, struct krdma_recv *recv);
void krdma_msg_repost(struct krdma_conn *conn, struct krdma_recv *recv,
		      bool held);

int krdma_msg_take_early(struct krdma_conn *conn);
int krdma_msg_breach_locked(struct krdma_conn *conn, enum krdma_breach breach);
int krdma_msg_take_part(struct krdma_conn *conn, struct krdma_recv *recv);

/* rw.c */
int krdma_rw_greet(struct krdma_conn *conn, unsigned long until);
int krdma_rw_learn(struct krdma_conn *conn);
void krdma_rw_open(struct krdma_conn *conn);

/* rendezvous.c */
void krdma_pull_work(struct work_struct *work);
void krdma_pull_limit_work(struct work_struct *work);
bool krdma_pull_can(const struct krdma_conn *conn);
u32 krdma_push_max(struct krdma_conn *conn, const void *buffer, u32 length);
bool krdma_push_pulled_locked(struct krdma_conn *conn,
			      const struct krdma_hdr *hdr);
int krdma_push(struct krdma_conn *conn, const void *buffer, u32 length, u32 max,
	       unsigned long until);
int krdma_pull_deliver_locked(struct krdma_conn *conn);
void krdma_pull_start_locked(struct krdma_conn *conn);

/* close.c */
void krdma_close_told_locked(struct krdma_conn *conn, u32 reason);

/* deliver.c */
bool krdma_deliver_is_busy_locked(const struct krdma_conn *conn);
void krdma_deliver_open_locked(struct krdma_conn *conn);
void krdma_deliver_work(struct work_struct *work);
void krdma_deliver_stop(struct krdma_conn *conn);
bool krdma_deliver_is_wanted(const struct krdma_conn *conn);
bool krdma_deliver_begin_locked(struct krdma_conn *conn);
void krdma_deliver_go_on_locked(struct krdma_conn *conn, int error);
void krdma_deliver_all(struct krdma_conn *conn);

/* control.c */
void krdma_alive_work(struct work_struct *work);
void krdma_alive_stop(struct krdma_conn *conn);
int krdma_control_send_locked(struct krdma_conn *conn,
			      enum krdma_control kind);
int krdma_control_alloc(struct krdma_conn *conn);
void krdma_control_free(struct krdma_conn *conn);
void krdma_control_credits_locked(struct krdma_conn *conn);
bool krdma_alive_is_wanted(const struct krdma_conn *conn);
void krdma_alive_start(struct krdma_conn *conn);

#endif /* KRDMA_MSG_H */
