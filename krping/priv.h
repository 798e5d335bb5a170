/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of krping share.
 *
 * Lock order: krping_sessions_lock > krping_session.lock.
 */
#ifndef KRPING_PRIV_H
#define KRPING_PRIV_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include <krdma.h>

#include "opts.h"
#include "wire.h"

/*
 * Receives that are always posted. The protocol has one message in flight for
 * each direction; but an old peer makes us answer "not ready" not even once,
 * so there must be one before the last is taken care of.
 */
#define KRPING_RECVS 4

/**
 * enum krping_counter - columns of the statistics, two each, in their order
 * @KRPING_SEND: messages sent
 * @KRPING_RECV: messages received
 * @KRPING_WRITE: RDMA WRITEs done
 * @KRPING_READ: RDMA READs done
 * @KRPING_COUNTERS: how many there are
 */
enum krping_counter {
	KRPING_SEND,
	KRPING_RECV,
	KRPING_WRITE,
	KRPING_READ,
	KRPING_COUNTERS,
};

struct krping_count {
	u64 bytes;
	u64 msgs;
};

/* What a session waits for: each bit is one completion. */
#define KRPING_EV_SENT		BIT(0) /* the message is with the peer */
#define KRPING_EV_RECEIVED	BIT(1) /* a message is in the inbox */
#define KRPING_EV_MOVED		BIT(2) /* the READ or WRITE is done */
#define KRPING_EV_INVALIDATED	BIT(3) /* the peer's key is dead */

/**
 * struct krping_op - a work request in flight; one of its kind at a time
 * @cqe: its completion
 * @session: whose it is
 * @name: for the log
 * @event: what its completion means, 0: nothing, it only can fail
 * @counter: statistics to add to, KRPING_COUNTERS: none
 * @bytes: to add
 */
struct krping_op {
	struct ib_cqe cqe;
	struct krping_session *session;
	const char *name;
	u32 event;
	enum krping_counter counter;
	u32 bytes;
};

/**
 * struct krping_msg - memory for one message
 * @cqe: receives only
 * @session: whose it is
 * @wire: the message, in memory of its own: the adapter writes there
 * @dma: its address, mapped as long as @wire exists
 */
struct krping_msg {
	struct ib_cqe cqe;
	struct krping_session *session;
	struct krping_wire *wire;
	u64 dma;
};

/**
 * struct krping_buf - memory for the data of a ping
 * @addr: whole pages; for the CPU only while it is not mapped
 * @size: bytes in use
 * @sgl: the pages
 * @npages: how many
 * @mr: its registration, with a new key for each time that it is mapped
 * @dir: as it is mapped
 * @mapped: for the adapter, between krping_buf_map() and krping_buf_unmap()
 */
struct krping_buf {
	void *addr;
	u32 size;
	struct scatterlist *sgl;
	unsigned int npages;
	struct ib_mr *mr;
	enum dma_data_direction dir;
	bool mapped;
};

/**
 * struct krping_rtt - how long pings took, in ns
 * @pings: those that came back
 * @sum: of all of them
 * @min: the fastest
 * @max: the slowest
 */
struct krping_rtt {
	u64 pings;
	u64 sum;
	u64 min;
	u64 max;
};

/**
 * struct krping_session - one run of one command
 * @link: in the list of main.c
 * @id: number of the run in statistics and log
 * @opts: the command
 * @net: network namespace of the task that runs it
 * @cb: connection
 * @ibdev: its device, valid while @live
 * @live: the members below @rtt exist
 * @step: what it is about, for the log; NULL: nothing yet
 *
 * @lock: protects from here to @counts. Taken in any context
 * @wait: woken when @events or @error change
 * @devname: name of the device, "" while there is none. A copy, which the
 *	statistics may read when the device is gone
 * @error: why the run ends, set once. No work request is posted from a
 *	completion afterwards
 * @events: what has completed and was not waited for yet
 * @inbox: the message, if KRPING_EV_RECEIVED
 * @counts: statistics
 *
 * @peer: the message that was last waited for
 * @rtt: client: round trips; registering and invalidating included
 * @recvs: memory for receives
 * @send: memory for the one message on its way to the peer
 * @sent: the SEND
 * @moved: the READ or WRITE
 * @invalidated: the LOCAL_INV
 * @registered: the REG_MR
 * @nudged: see krping_wait_first()
 * @start: client: what is sent
 * @sink: client: where it comes back; server: where it is in between
 *
 * It belongs to the task that runs the command, which frees it after the
 * connection is drained and released: then neither completions nor the closing
 * callback can run any more. Readers of the statistics find it under the lock
 * of main.c's list.
 */
struct krping_session {
	struct list_head link;
	unsigned int id;
	struct krping_opts opts;
	struct net *net;
	struct krdma_cb *cb;
	struct ib_device *ibdev;
	bool live;
	const char *step;

	spinlock_t lock; /* what follows, up to counts */
	wait_queue_head_t wait;
	char devname[IB_DEVICE_NAME_MAX];
	int error;
	u32 events;
	struct krping_adv inbox;
	struct krping_count counts[KRPING_COUNTERS];

	struct krping_adv peer;
	struct krping_rtt rtt;
	struct krping_msg recvs[KRPING_RECVS];
	struct krping_msg send;
	struct krping_op sent;
	struct krping_op moved;
	struct krping_op invalidated;
	struct krping_op registered;
	struct krping_op nudged;
	struct krping_buf start;
	struct krping_buf sink;
};

/* session.c */
struct krping_session *krping_session_alloc(void);
void krping_session_free(struct krping_session *s);
int krping_session_run(struct krping_session *s);
void krping_session_result(const struct krping_session *s, int error,
			   char *buf, size_t size);

/* io.c */
int krping_io_init(struct krping_session *s);
void krping_io_exit(struct krping_session *s);
void krping_fail(struct krping_session *s, int error);
int krping_wait(struct krping_session *s, u32 events, const char *step);
int krping_wait_first(struct krping_session *s, u32 events, const char *step);
int krping_say(struct krping_session *s, const struct krping_adv *adv,
	       struct krping_buf *old, struct krping_buf *new, int access);
int krping_move(struct krping_session *s, enum ib_wr_opcode opcode,
		struct krping_buf *buf, int access, u32 len);
int krping_invalidate(struct krping_session *s, struct krping_buf *buf);

/* buf.c */
int krping_buf_alloc(struct krping_buf *buf, struct ib_pd *pd, u32 size);
void krping_buf_free(struct krping_buf *buf);
int krping_buf_map(struct krping_buf *buf, enum dma_data_direction dir);
void krping_buf_unmap(struct krping_buf *buf);

/* pingpong.c */
int krping_pingpong_client(struct krping_session *s);
int krping_pingpong_server(struct krping_session *s);

#endif /* KRPING_PRIV_H */
