/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects of the verbs.
 */
#ifndef NTRDMA_VERBS_H
#define NTRDMA_VERBS_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "compat.h"
#include "dev.h"
#include "order.h"
#include "uqueue.h"

struct ntrdma_pd {
	struct ib_pd ib;
};

/**
 * struct ntrdma_ah - address handle
 * @ib: the core's handle
 * @mac: MAC address of the destination
 * @vlan: VLAN tag, or %NTRDMA_NO_VLAN
 * @sgid: source GID
 * @dgid: destination GID
 * @number: number by which a program names the handle; 0: handle of the kernel
 */
struct ntrdma_ah {
	struct ib_ah ib;
	u32 number;
	u8 mac[ETH_ALEN];
	u16 vlan;
	union ib_gid sgid;
	union ib_gid dgid;
};

/**
 * struct ntrdma_cq - completion queue
 * @ib: the core's queue
 * @lock: protects all members; irqsave
 * @user: queue of a program, or NULL. Then @lock, @user, @armed, @full and
 *	@reported are the only members in use
 * @wc: ring of completions
 * @size: number of entries of @wc
 * @head: free-running index of the next completion to add
 * @shown: free-running index of the next completion to show to the consumer; it
 *	is @head, except with late_us=
 * @tail: free-running index of the next completion to poll
 * @armed: events that the consumer waits for: 0, %IB_CQ_SOLICITED or
 *	%IB_CQ_NEXT_COMP
 * @full: a completion found no room
 * @reported: the event CQ_ERR was raised; not under @lock
 * @late: the timer will show completions
 * @late_event: one of them is an event for %IB_CQ_SOLICITED
 * @timer: shows completions
 */
struct ntrdma_cq {
	struct ib_cq ib;
	spinlock_t lock; /* see @lock above */
	struct ntrdma_uqueue *user;
	struct ib_wc *wc;
	u32 size;
	u32 head;
	u32 shown;
	u32 tail;
	enum ib_cq_notify_flags armed;
	bool full;
	bool reported;
	bool late;
	bool late_event;
	struct hrtimer timer;
};

/**
 * struct ntrdma_recv - a posted receive
 * @wr_cqe: see &struct ib_recv_wr; shares its memory with wr_id
 * @wr_id: see @wr_cqe
 * @num_sge: number of entries of @sge
 * @bytes: sum of the lengths of @sge
 * @sge: memory, owned by the queue
 */
struct ntrdma_recv {
	union {
		u64 wr_id;
		struct ib_cqe *wr_cqe;
	};
	u32 num_sge;
	u32 bytes;
	struct ib_sge *sge;
};

/**
 * struct ntrdma_rq - queue of receives, of a QP or an SRQ
 * @lock: protects all members; irqsave
 * @user: queue of a program, or NULL. Then @lock, @user and @max_sge are the only
 *	members in use
 * @recv: ring of receives
 * @sge: memory of all ntrdma_recv.sge
 * @size: number of entries of @recv; a power of 2, or 0
 * @max_sge: SGEs of each
 * @head: free-running index of the next receive to post
 * @tail: free-running index of the oldest posted receive
 */
struct ntrdma_rq {
	spinlock_t lock; /* see @lock above */
	struct ntrdma_uqueue *user;
	struct ntrdma_recv *recv;
	struct ib_sge *sge;
	u32 size;
	u32 max_sge;
	u32 head;
	u32 tail;
};

/**
 * struct ntrdma_srq - shared receive queue
 * @ib: the core's queue
 * @rq: receives
 * @max_wr: receives that the consumer may post
 * @limit: if less than this number of receives is left, raise an event once;
 *	0: never. Protected by ntrdma_rq.lock
 * @starved: QPs that wait for a receive after a NAK with RNR, by
 *	ntrdma_qp.srq_entry; protected by ntrdma_rq.lock
 * @next_feed: queue of a program: time in jiffies before which no further QP is
 *	notified of a receive; protected by ntrdma_rq.lock
 */
struct ntrdma_srq {
	struct ib_srq ib;
	struct ntrdma_rq rq;
	u32 max_wr;
	u32 limit;
	struct list_head starved;
	unsigned long next_feed;
};

/**
 * struct ntrdma_mr - memory region
 * @ib: the core's region
 * @dev: device
 * @rcu: frees the region
 * @lock: read-held while memory of the region is accessed, so a writer that has
 *	invalidated the region knows that nothing accesses it any more; bh
 * @valid: keys give access; under @lock
 * @key: current key: index << 8 | byte of the consumer; under @lock
 * @access: &enum ib_access_flags; under @lock
 * @iova: address of the first byte; under @lock
 * @length: bytes; under @lock
 * @offset: position of the first byte in the first page; under @lock
 * @page_shift: log2 of the page size
 * @pages: page addresses that are in use; under @lock
 * @next: page addresses that map_mr_sg() has written, and that the next
 *	REG_MR makes valid. Only the consumer, which serializes these two, and
 *	the transmitter access it
 * @next_offset: as @offset, for @next
 * @num_next: number of pages in @next, or 0 if REG_MR has made them valid
 * @mapped: REG_MR may make @pages valid again; as @next
 * @max_pages: maximum number of pages
 * @umem: memory of a program, or NULL
 */
struct ntrdma_mr {
	struct ib_mr ib;
	struct ntrdma_dev *dev;
	struct rcu_head rcu;
	rwlock_t lock;
	bool valid;
	u32 key;
	int access;
	u64 iova;
	u64 length;
	u32 offset;
	u8 page_shift;
	u64 *pages;
	u64 *next;
	u32 next_offset;
	u32 num_next;
	bool mapped;
	u32 max_pages;
	struct ib_umem *umem;
};

/**
 * struct ntrdma_wqe - a work request in a send queue
 * @wr_cqe: see &struct ib_send_wr; shares its memory with wr_id
 * @wr_id: see @wr_cqe
 * @opcode: opcode
 * @op: NTRDMA_OP_* of @opcode
 * @send_flags: &enum ib_send_flags; includes %IB_SEND_SIGNALED if the QP
 *	signals all
 * @status: result. A local request that has failed, or a request that must not
 *	be sent, has its error here before it is reached
 * @done: nothing more happens to the request; it completes when it is the oldest
 * @msn: number of the message, if the request is a message
 * @total: bytes
 * @num_sge: number of entries of @sge; 0 if @is_inline
 * @is_inline: @data has the payload
 * @sge: memory, owned by the queue
 * @data: payload of an inline request, in the memory of @sge
 * @remote_addr: remote address
 * @rkey: remote key
 * @imm: immediate data, or key to invalidate
 * @operand: compare or add; swap
 * @mr: REG_MR: region
 * @key: REG_MR: new key
 * @access: REG_MR: access flags
 * @qkey: UD: Q_Key
 * @remote_qpn: UD: number of the destination QP
 * @ah: UD: copy of the address handle
 */
struct ntrdma_wqe {
	union {
		u64 wr_id;
		struct ib_cqe *wr_cqe;
	};
	enum ib_wr_opcode opcode;
	u32 op;
	int send_flags;
	enum ib_wc_status status;
	bool done;
	u32 msn;
	u32 total;
	u32 num_sge;
	bool is_inline;
	struct ib_sge *sge;
	u8 *data;
	union {
		struct {
			u64 remote_addr;
			u32 rkey;
			u64 operand[2];
		};
		struct {
			struct ntrdma_mr *mr;
			u32 key;
			int access;
		};
		struct {
			u32 qkey;
			u32 remote_qpn;
			struct {
				u8 mac[ETH_ALEN];
				u16 vlan;
				union ib_gid sgid;
				union ib_gid dgid;
			} ah;
		};
	};
	u32 imm;
};

/**
 * struct ntrdma_answer - a READ or an atomic operation of the peer, to answer
 * @msn: number of the message
 * @is_atomic: it is an atomic operation that has been executed
 * @total: bytes of the READ
 * @sent: bytes of DATA that are sent
 * @addr: address
 * @rkey: key
 * @result: old value
 */
struct ntrdma_answer {
	u32 msn;
	bool is_atomic;
	u32 total;
	u32 sent;
	u64 addr;
	u32 rkey;
	u64 result;
};

/**
 * struct ntrdma_sq - send queue and requester; ntrdma_qp.lock protects all
 *	members
 * @wqe: ring of work requests
 * @sge: memory of all ntrdma_wqe.sge
 * @size: number of entries of @wqe, a power of 2
 * @max_wr: requests that the consumer may post
 * @max_sge: SGEs of each
 * @max_inline: maximum bytes of an inline request
 * @sig_all: all requests are signalled
 * @stuck: a request has failed before it was sent, and nothing behind it is sent
 * @failed: a request was completed with an error, so all others are flushed
 * @sending: the transmitter may be using requests that are not completed
 * @by_msn: index of the request of each message, by the low bits of its number
 * @head: free-running index of the next request to post
 * @next: free-running index of the next request to send
 * @tail: free-running index of the oldest request that is not completed
 * @kept: free-running index behind the last request that had a completion
 * @read: free-running index at or before the oldest READ in flight
 * @sent: bytes of the message of @next that are sent
 * @turn_bytes: bytes of payload that are sent in this turn; transmitter
 * @rewinds: number of times that @next was set back
 * @post_msn: number of the next message to post
 * @send_msn: number of the next message to send
 * @acked: number of the oldest message that is not acknowledged
 * @reads: READs and atomics in flight
 * @data_offset: bytes of DATA that have arrived for the oldest READ
 * @rnr_left: repetitions that are left after NAKs with RNR
 * @retry_left: repetitions that are left after NAKs with NO_QP
 * @waiting: the requester waits for the end of ntrdma_qp.timer
 * @rnr_wait: it waits because of an RNR NAK
 * @heard: jiffies of the last sign of life of the peer's QP
 * @user: queue of a program, or NULL
 * @copy: copy of a request of @user
 */
struct ntrdma_sq {
	struct ntrdma_wqe *wqe;
	struct ib_sge *sge;
	u32 size;
	u32 max_wr;
	u32 max_sge;
	u32 max_inline;
	bool sig_all;
	bool stuck;
	bool failed;
	bool sending;
	u32 *by_msn;
	u32 head;
	u32 next;
	u32 tail;
	u32 kept;
	u32 read;
	u32 sent;
	u32 turn_bytes;
	u32 rewinds;
	u32 post_msn;
	u32 send_msn;
	u32 acked;
	u32 reads;
	u32 data_offset;
	u8 rnr_left;
	u8 retry_left;
	bool waiting;
	bool rnr_wait;
	unsigned long heard;
	struct ntrdma_uqueue *user;
	struct ntrdma_uwr *copy;
};

/**
 * struct ntrdma_resp - responder
 * @msn: number of the message that is expected; poll
 * @offset: position that is expected in it; poll
 * @dropping: drop all frames until FIRST of @msn; poll
 * @kind: kind of the current message, if @offset is not 0; poll
 * @total: bytes of the current message, if @offset is not 0; poll
 * @recv: receive of the current message, if @has_recv; poll
 * @sge: memory of ntrdma_recv.sge of @recv
 * @has_recv: @recv is taken from the queue; poll
 * @answer: ring of %NTRDMA_MAX_READS answers; ntrdma_qp.lock, as all below
 * @max_answers: maximum number of answers that are not sent
 * @answer_head: free-running index of the next answer to add
 * @answer_tail: free-running index of the oldest answer that is not sent
 * @done: number of the last message that is executed
 * @ack: an ACK must be sent
 * @ready: the ACK must have READY
 * @starved: a NAK with RNR was sent, and no receive was posted since
 * @nak: code and timer of a NAK to send, or 0
 * @nak_msn: message of @nak
 * @fatal: a NAK that ends the QP is sent or to be sent
 * @comm_est: the event was raised
 * @turn: the last frame of the QP was an answer; transmitter
 */
struct ntrdma_resp {
	u32 msn;
	u32 offset;
	bool dropping;
	u8 kind;
	u32 total;
	struct ntrdma_recv recv;
	struct ib_sge *sge;
	bool has_recv;
	struct ntrdma_answer *answer;
	u32 max_answers;
	u32 answer_head;
	u32 answer_tail;
	u32 done;
	bool ack;
	bool ready;
	bool starved;
	u32 nak;
	u32 nak_msn;
	bool fatal;
	bool comm_est;
	bool turn;
};

/**
 * struct ntrdma_qp - queue pair
 * @ib: the core's QP
 * @dev: device
 * @number: number of the QP
 * @modify: makes one change of the QP at a time; programs may request several
 * @attr: attributes as ib_modify_qp() has set them; ntrdma_qp.lock
 * @lock: protects what says so; irqsave
 * @state: state; changed under @lock
 * @users: polls and transmitters that use the QP
 * @unused: completed when @users is 0 and the QP is @closed
 * @closed: no new user may come; under @lock
 * @peer: peer of an RC QP while its session lives; set under @lock, read under
 *	RCU
 * @lane: lane of the QP
 * @tx_entry: entry of ntrdma_lane.ready or ntrdma_link_ring.waiting
 * @fin_entry: entry of ntrdma_lane.finish
 * @sq: requester
 * @rq: receives, if the QP has no SRQ
 * @srq: shared receive queue, or NULL
 * @resp: responder
 * @timer: ends ntrdma_sq.waiting; soft
 * @first_error: status of the oldest request when the QP fails; later ones are
 *	flushed
 * @flushing: the poll must flush both queues; under @lock
 * @flushed: receives of a program that were flushed since @flushing was set;
 *	under @lock
 * @last_wqe: the event LAST_WQE_REACHED was raised
 * @has_event: @event is to be raised by the poll
 * @event: event
 * @srq_entry: entry of ntrdma_srq.starved; ntrdma_rq.lock of the SRQ
 */
struct ntrdma_qp {
	struct ib_qp ib;
	struct ntrdma_dev *dev;
	u32 number;
	struct mutex modify; /* see @modify above */
	struct ib_qp_attr attr;
	spinlock_t lock; /* see @lock above */
	enum ib_qp_state state;
	refcount_t users;
	struct completion unused;
	bool closed;
	struct ntrdma_peer __rcu *peer;
	struct ntrdma_lane *lane;
	struct list_head tx_entry;
	struct list_head fin_entry;
	struct ntrdma_sq sq;
	struct ntrdma_rq rq;
	struct ntrdma_srq *srq;
	struct ntrdma_resp resp;
	struct hrtimer timer;
	enum ib_wc_status first_error;
	bool flushing;
	u32 flushed;
	bool last_wqe;
	bool has_event;
	enum ib_event_type event;
	struct list_head srq_entry;
};

static inline struct ntrdma_pd *to_ntrdma_pd(struct ib_pd *ib)
{
	return container_of(ib, struct ntrdma_pd, ib);
}

static inline struct ntrdma_ah *to_ntrdma_ah(struct ib_ah *ib)
{
	return container_of(ib, struct ntrdma_ah, ib);
}

static inline struct ntrdma_cq *to_ntrdma_cq(struct ib_cq *ib)
{
	return container_of(ib, struct ntrdma_cq, ib);
}

static inline struct ntrdma_srq *to_ntrdma_srq(struct ib_srq *ib)
{
	return container_of(ib, struct ntrdma_srq, ib);
}

static inline struct ntrdma_mr *to_ntrdma_mr(struct ib_mr *ib)
{
	return container_of(ib, struct ntrdma_mr, ib);
}

static inline struct ntrdma_qp *to_ntrdma_qp(struct ib_qp *ib)
{
	return container_of(ib, struct ntrdma_qp, ib);
}

/* Return the protection domain of the receives of a QP. */
static inline struct ib_pd *ntrdma_recv_pd(const struct ntrdma_qp *qp)
{
	return qp->srq ? qp->srq->ib.pd : qp->ib.pd;
}

/* pd.c: protection domains and address handles. */
int ntrdma_alloc_pd(struct ib_pd *ib, struct ib_udata *udata);
int ntrdma_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata);
int ntrdma_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
		     struct ib_udata *udata);
int ntrdma_create_user_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init,
			  struct ib_udata *udata);
bool ntrdma_ah_get(struct ib_pd *pd, u32 number, struct ntrdma_ah *copy);
int ntrdma_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
int ntrdma_destroy_ah(struct ib_ah *ib, u32 flags);

/* cq.c */
int ntrdma_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *init,
		     KRDMA_CREATE_CQ_ATTRS attrs);
int ntrdma_destroy_cq(struct ib_cq *ib, struct ib_udata *udata);
int ntrdma_poll_cq(struct ib_cq *ib, int num, struct ib_wc *wc);
int ntrdma_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags);
bool ntrdma_cq_add(struct ntrdma_cq *cq, const struct ib_wc *wc, bool solicited,
		   bool *notify);
void ntrdma_cq_show_late(struct ntrdma_cq *cq);
void ntrdma_cq_settle(struct ntrdma_cq *cq);
void ntrdma_cq_notify(struct ntrdma_cq *cq);

/* rq.c: receive queues of QPs, and SRQs. */
int ntrdma_rq_init(struct ntrdma_rq *rq, u32 max_wr, u32 max_sge, int node);
int ntrdma_rq_init_user(struct ntrdma_rq *rq, struct ib_udata *udata,
			u32 *max_wr, u32 max_sge, struct mminfo *info);
void ntrdma_rq_free(struct ntrdma_rq *rq);
bool ntrdma_rq_is_empty(const struct ntrdma_rq *rq);
void ntrdma_rq_drop(struct ntrdma_rq *rq);
int ntrdma_rq_post(struct ntrdma_rq *rq, const struct ib_recv_wr *wr);
bool ntrdma_rq_take(struct ntrdma_rq *rq, struct ntrdma_recv *recv,
		    struct ib_sge *sge);
int ntrdma_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		      struct ib_udata *udata);
int ntrdma_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		      enum ib_srq_attr_mask mask, struct ib_udata *udata);
int ntrdma_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr);
int ntrdma_destroy_srq(struct ib_srq *ib, struct ib_udata *udata);
int ntrdma_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad);
void ntrdma_srq_tick(struct ntrdma_srq *srq);
void ntrdma_srq_forget(struct ntrdma_qp *qp);
bool ntrdma_srq_take(struct ntrdma_srq *srq, struct ntrdma_recv *recv,
		     struct ib_sge *sge);

/* mr.c */
struct ib_mr *ntrdma_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *ntrdma_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			      u32 max_pages);
int ntrdma_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int nents,
		     unsigned int *offset);
struct ib_mr *ntrdma_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				 u64 iova, int access,
				 KRDMA_REG_USER_MR_DMAH
				 struct ib_udata *udata);
int ntrdma_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);
enum ib_wc_status ntrdma_mr_register(struct ntrdma_mr *mr, struct ib_pd *pd,
				     u32 key, int access);
bool ntrdma_mr_invalidate(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
			  bool remote);

/* mem.c: access to the memory of regions. */

/**
 * enum ntrdma_copy - direction of a copy
 * @NTRDMA_COPY_OUT: from memory of the consumer to a window or a buffer
 * @NTRDMA_COPY_IN: from a window or a buffer to memory of the consumer
 */
enum ntrdma_copy {
	NTRDMA_COPY_OUT,
	NTRDMA_COPY_IN,
};

int ntrdma_mem_remote(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
		      u64 addr, void *buf, u32 bytes, int access,
		      enum ntrdma_copy dir);
int ntrdma_mem_check(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
		     u64 addr, u32 bytes, int access);
int ntrdma_mem_sges(struct ntrdma_dev *dev, struct ib_pd *pd,
		    const struct ib_sge *sge, u32 num_sge, u32 offset,
		    void *buf, u32 bytes, enum ntrdma_copy dir);
int ntrdma_mem_atomic(struct ntrdma_dev *dev, struct ib_pd *pd, u32 key,
		      u64 addr, bool cas, const u64 operand[2], u64 *result);

/* qp.c */
int ntrdma_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init,
		     struct ib_udata *udata);
int ntrdma_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		     struct ib_udata *udata);
int ntrdma_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		    struct ib_qp_init_attr *init);
int ntrdma_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);
struct ntrdma_qp *ntrdma_qp_get(struct ntrdma_dev *dev, u32 number);
void ntrdma_qps_fail_one(struct ntrdma_dev *dev);
bool ntrdma_qp_hold(struct ntrdma_qp *qp);
bool ntrdma_qp_set_error(struct ntrdma_qp *qp, enum ib_wc_status status);
void ntrdma_qp_put(struct ntrdma_qp *qp);
void ntrdma_qp_fail(struct ntrdma_qp *qp, enum ib_wc_status status,
		    enum ib_event_type event);
void ntrdma_qp_event(struct ntrdma_qp *qp, enum ib_event_type event);
void ntrdma_qp_end_rnr(struct ntrdma_qp *qp);
void ntrdma_qps_lost(struct ntrdma_peer *peer);
void ntrdma_qps_tick(struct ntrdma_dev *dev, u32 dead_ms);

/* uverbs.c: programs in user space. */
void ntrdma_uverbs_init(struct ntrdma_dev *dev);
struct ntrdma_uqueue *ntrdma_uqueue_create(struct ib_udata *udata, u32 elems,
					   size_t bytes, struct mminfo *info);
void ntrdma_uqueue_free(struct ntrdma_uqueue *queue);
int ntrdma_respond(struct ib_udata *udata, const void *answer, size_t bytes);

/* upost.c: work requests of programs. */
int ntrdma_upost(struct ntrdma_qp *qp);
void ntrdma_sq_release(struct ntrdma_sq *sq);
void ntrdma_upost_tick(struct ntrdma_qp *qp);

/* post.c */
u32 ntrdma_sq_used(const struct ntrdma_sq *sq);
bool ntrdma_sq_is_full(const struct ntrdma_sq *sq);
int ntrdma_wqe_add(struct ntrdma_qp *qp, const struct ib_send_wr *wr);
int ntrdma_wqe_refused(struct ntrdma_qp *qp, u64 wr_id);
int ntrdma_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad);
int ntrdma_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad);

/* req.c: frames that a QP sends. */

/**
 * enum ntrdma_turn - result of a QP's turn
 * @NTRDMA_TURN_IDLE: the QP has nothing to send
 * @NTRDMA_TURN_MORE: the QP has more to send
 * @NTRDMA_TURN_NO_ROOM: the ring of @peer has no room
 */
enum ntrdma_turn {
	NTRDMA_TURN_IDLE,
	NTRDMA_TURN_MORE,
	NTRDMA_TURN_NO_ROOM,
};

enum ntrdma_turn ntrdma_qp_turn(struct ntrdma_qp *qp,
				struct ntrdma_peer **peer);
void ntrdma_turn_end(struct ntrdma_qp *qp);

/* comp.c: completions, and flush. */

/**
 * struct ntrdma_note - consumers to notify when ntrdma_qp.lock is released
 * @send_cq: call the handler of the CQ of sends
 * @recv_cq: call the handler of the CQ of receives
 * @full: CQ that had no room, or NULL
 */
struct ntrdma_note {
	bool send_cq;
	bool recv_cq;
	struct ntrdma_cq *full;
};

void ntrdma_wc_send(struct ntrdma_qp *qp, const struct ntrdma_wqe *wqe,
		    enum ib_wc_status status, struct ntrdma_note *note);
void ntrdma_wc_recv(struct ntrdma_qp *qp, struct ib_wc *wc, bool solicited,
		    struct ntrdma_note *note);
void ntrdma_complete(struct ntrdma_qp *qp, struct ntrdma_note *note);
void ntrdma_notify(struct ntrdma_qp *qp, const struct ntrdma_note *note);
void ntrdma_qp_finish(struct ntrdma_qp *qp);

/* res.c: details for "rdma resource show". */
int ntrdma_fill_res_qp(struct sk_buff *msg, struct ib_qp *ib);
int ntrdma_fill_res_cq(struct sk_buff *msg, struct ib_cq *ib);
int ntrdma_fill_res_mr(struct sk_buff *msg, struct ib_mr *ib);

/* take.c: frames that have arrived. */
bool ntrdma_send_naks(struct ntrdma_lane *lane, struct ntrdma_peer *peer);
void ntrdma_take(struct ntrdma_lane *lane, struct ntrdma_peer *peer,
		 const struct ntrdma_frame *frame, const void *data);
bool ntrdma_get_recv(struct ntrdma_qp *qp);
void ntrdma_resp_take(struct ntrdma_qp *qp, const struct ntrdma_frame *frame,
		      const void *data);
void ntrdma_comp_take(struct ntrdma_qp *qp, const struct ntrdma_frame *frame,
		      const void *data);
void ntrdma_ud_take(struct ntrdma_qp *qp, const struct ntrdma_frame *frame,
		    const void *data);
enum ntrdma_turn ntrdma_ud_turn(struct ntrdma_qp *qp,
				struct ntrdma_peer **peer);

#endif /* NTRDMA_VERBS_H */
