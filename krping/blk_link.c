// SPDX-License-Identifier: GPL-2.0
/*
 * The connection of a disk to its server. krdma connects again whenever the
 * connection ends.
 *
 * The server has a ring of slots in its memory, and this side has a ring of the
 * same size. A request with data is copied to its slot here, written to the same
 * slot of the server by RDMA WRITE, and then announced by a message. The copy
 * does not change while the adapter reads it, so the checksum is always that of
 * the data that were sent, and no memory has to be mapped for a request.
 *
 * The sequence number of a request, modulo the depth, is the number of its slot.
 * The server acknowledges requests in order. A slot is free when the server has
 * acknowledged its request and the adapter has completed it:
 *
 *	tail <= acked <= head <= tail + depth
 *
 * Requests from tail to acked are acknowledged, and wait for the adapter.
 * Requests from acked to head wait for the acknowledgment. With
 * KRPING_BLK_BLOCK, those that wait when the connection ends keep their slots,
 * and are sent again on the next connection.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/highmem.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "blk.h"
#include "blk_dirty.h"

/* Maximum number of bytes of a chunk, the unit of a resync. */
#define KRPING_BLK_CHUNK_MAX (64 * 1024)
/* Maximum capacity of a disk with a map of chunks, in bytes. */
#define KRPING_BLK_DEGRADE_MAX BIT_ULL(44)

/* Receives of a connection in addition to one for each acknowledgment. */
#define KRPING_BLK_SPARE_RECVS 8

/**
 * enum krping_blk_link_state - state of a link
 * @KRPING_BLK_DOWN: not connected
 * @KRPING_BLK_SETUP: connected, waiting for the grant of the server
 * @KRPING_BLK_READY: requests can be sent
 */
enum krping_blk_link_state {
	KRPING_BLK_DOWN = 0,
	KRPING_BLK_SETUP,
	KRPING_BLK_READY,
};

/**
 * struct krping_blk_slot - slot of the ring
 * @link: link of the slot
 * @io: request that waits for the answer, with a reference; NULL: the request
 *	completes without it
 * @since: time at which the request was sent, in jiffies
 * @op: operation
 * @offset: first byte on the disk
 * @bytes: number of bytes
 * @flush: the request reports the loss of earlier requests
 * @sent: the adapter has completed the request
 * @status: answer of the server
 * @write: RDMA WRITE of the data
 * @send: message that announces the request
 * @msg: bytes of this message
 */
struct krping_blk_slot {
	struct krping_blk_link *link;
	struct krping_blk_io *io;
	unsigned long since;
	enum krping_blk_op op;
	u64 offset;
	u32 bytes;
	bool flush;
	bool sent;
	int status;
	struct krdma_req write;
	struct krdma_req send;
	u8 msg[KRPING_BLK_REQUEST_LEN];
};

/**
 * struct krping_blk_link_stats - counters of a link
 * @requests: requests sent
 * @bytes: bytes of the data of these requests
 * @acked: requests that the server has done
 * @resynced: bytes of chunks that were sent after they had changed without a
 *	connection
 * @resent: requests that were sent again on another connection
 * @refused: requests that the server has not done
 * @failed: requests that failed because the connection was lost or missing
 * @dropped: requests that were not sent because no slot was free or, with
 *	KRPING_BLK_TAP, because there was no connection
 * @violations: connections that ended because the server violated the protocol
 * @timeouts: connections that ended because an acknowledgment or the
 *	grant was late
 */
struct krping_blk_link_stats {
	atomic64_t requests;
	atomic64_t bytes;
	atomic64_t acked;
	atomic64_t resynced;
	atomic64_t resent;
	atomic64_t refused;
	atomic64_t failed;
	atomic64_t dropped;
	atomic64_t violations;
	atomic64_t timeouts;
};

/**
 * struct krping_blk_link - connection of a disk to its server
 * @disk: the disk
 * @opts: command that created the disk
 * @id: number of the disk
 * @reconn: persistent connection, or NULL
 * @work: sets up a connection
 * @resync: sends dirty chunks
 * @chunk: memory for a chunk that @resync sends
 * @tap: KRPING_BLK_TAP: copies of requests that have no slot yet; otherwise NULL
 * @timer: ends the connection if an acknowledgment or the grant is late
 * @wait: woken when @state or @tail changes
 * @ring: slots on this side
 * @slots: slots
 * @post: serializes requests, so that they are sent in the order of their
 *	sequence numbers; protects @cb, @region and @remote if @state is
 *	KRPING_BLK_READY
 * @cb: connection, from connected() to lost()
 * @region: @ring, registered with the connection, or NULL
 * @remote: ring of the server, or NULL
 * @writes: number of writes sent; protected by @post
 * @hello: request that sends the hello
 * @hello_seq: first sequence number in the hello
 * @hello_msg: bytes of the hello
 * @lock: protects the members below
 * @state: see &enum krping_blk_link_state
 * @stopping: the link is being stopped: no request is sent
 * @error: reason for which the last connection or attempt ended, or 0
 * @setup_since: time at which the last connection was established, in jiffies
 * @down_since: time at which the last connection ended, in jiffies
 * @lost: KRPING_BLK_ASYNC: a request has failed after it had completed. The
 *	next flush fails
 * @dirty: KRPING_BLK_DEGRADE: chunks that differ from those of the server
 * @current_chunk: chunk that @resync reads, or KRPING_BLK_NO_CHUNK
 * @in_flight: KRPING_BLK_DEGRADE: requests of the disk that change data
 * @last_number: number of the last request in @in_flight
 * @has_grant: the first message of the server has arrived
 * @grant: answer of the server that @work has not processed, or NULL
 * @head: sequence number of the next request
 * @acked: sequence number of the next acknowledgment
 * @tail: sequence number of the oldest request that occupies its slot
 * @stats: counters
 */
struct krping_blk_link {
	struct krping_blk_disk *disk;
	const struct krping_blk_opts *opts;
	u8 id[KRPING_BLK_ID_LEN];
	struct krdma_reconnect *reconn;
	struct work_struct work;
	struct work_struct resync;
	void *chunk;
	struct krping_blk_tap *tap;
	struct delayed_work timer;
	wait_queue_head_t wait;
	void *ring;
	struct krping_blk_slot **slots;
	struct mutex post; /* order of requests; cb, region, remote */
	struct krdma_cb *cb;
	struct krdma_region *region;
	struct krdma_remote *remote;
	u64 writes;
	struct krdma_req hello;
	u64 hello_seq;
	u8 hello_msg[KRPING_BLK_HELLO_LEN];
	spinlock_t lock; /* protects the members below */
	enum krping_blk_link_state state;
	bool stopping;
	int error;
	unsigned long setup_since;
	unsigned long down_since;
	bool lost;
	struct krping_blk_dirty dirty;
	u64 current_chunk;
	struct list_head in_flight;
	u64 last_number;
	bool has_grant;
	struct krdma_rx_msg *grant;
	u64 head;
	u64 acked;
	u64 tail;
	struct krping_blk_link_stats stats;
};

static u32 krping_blk_slot_number(const struct krping_blk_link *link, u64 seq)
{
	u32 number;

	div_u64_rem(seq, link->opts->depth, &number);
	return number;
}

static struct krping_blk_slot *krping_blk_slot(struct krping_blk_link *link,
					       u64 seq)
{
	return link->slots[krping_blk_slot_number(link, seq)];
}

static u64 krping_blk_slot_offset(const struct krping_blk_link *link, u64 seq)
{
	return (u64)krping_blk_slot_number(link, seq) * link->opts->slot;
}

static u64 krping_blk_ring_bytes(const struct krping_blk_link *link)
{
	return (u64)link->opts->depth * link->opts->slot;
}

static enum krping_blk_link_state
krping_blk_link_state(struct krping_blk_link *link)
{
	return READ_ONCE(link->state);
}

static void krping_blk_link_set_state(struct krping_blk_link *link,
				      enum krping_blk_link_state state,
				      int error)
{
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	WRITE_ONCE(link->state, state);
	link->error = error;
	spin_unlock_irqrestore(&link->lock, flags);
	wake_up_all(&link->wait);
}

/* ---- completion of requests ---- */

/*
 * Return the result of the oldest request. If a request that has already
 * completed has failed, the next flush fails.
 */
static int krping_blk_link_result_locked(struct krping_blk_link *link,
					 const struct krping_blk_slot *slot)
{
	lockdep_assert_held(&link->lock);
	if (slot->status && !slot->io)
		link->lost = true;
	/* The resync sends the chunk again on the next connection. */
	if (slot->status && !slot->io &&
	    link->opts->policy == KRPING_BLK_DEGRADE)
		krping_blk_dirty_mark(&link->dirty, slot->offset, slot->bytes);
	if (slot->status || !slot->flush || !link->lost)
		return slot->status;
	link->lost = false;
	return -EIO;
}

/* Take the oldest request off its slot. Return false if it has not ended. */
static bool krping_blk_link_take(struct krping_blk_link *link,
				 struct krping_blk_io **io, int *status)
{
	struct krping_blk_slot *slot;
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&link->lock, flags);
	slot = krping_blk_slot(link, link->tail);
	found = link->tail != link->acked && slot->sent;
	if (found) {
		*io = slot->io;
		*status = krping_blk_link_result_locked(link, slot);
		link->tail++;
	}
	spin_unlock_irqrestore(&link->lock, flags);
	return found;
}

/* Complete all requests that have ended. */
static void krping_blk_link_reap(struct krping_blk_link *link)
{
	struct krping_blk_io *io;
	int status;

	while (krping_blk_link_take(link, &io, &status)) {
		atomic64_inc(status ? &link->stats.refused :
				      &link->stats.acked);
		if (io)
			krping_blk_io_put(io, errno_to_blk_status(status));
		wake_up(&link->wait);
	}
}

static void krping_blk_write_done(struct krdma_req *req, int status)
{
	/* krping_blk_send_done() follows, because requests end in order. */
}

static void krping_blk_send_done(struct krdma_req *req, int status)
{
	struct krping_blk_slot *slot =
		container_of(req, struct krping_blk_slot, send);
	struct krping_blk_link *link = slot->link;
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	slot->sent = true;
	spin_unlock_irqrestore(&link->lock, flags);
	krping_blk_link_reap(link);
}

static void krping_blk_link_violated(struct krping_blk_link *link,
				     struct krdma_cb *cb)
{
	atomic64_inc(&link->stats.violations);
	pr_warn_ratelimited("%s: the server violated the protocol\n",
			    link->disk->name);
	krdma_disconnect(cb);
}

static bool krping_blk_link_ack(struct krping_blk_link *link,
				const struct krping_blk_ack *ack)
{
	unsigned long flags;
	bool valid;

	spin_lock_irqsave(&link->lock, flags);
	valid = link->acked != link->head && ack->seq == link->acked;
	if (valid) {
		krping_blk_slot(link, ack->seq)->status = ack->status;
		link->acked++;
	}
	spin_unlock_irqrestore(&link->lock, flags);
	return valid;
}

/* Fail all requests of a connection that has ended. */
static void krping_blk_link_fail(struct krping_blk_link *link)
{
	struct krping_blk_io *io;
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	link->acked = link->head;
	while (link->tail != link->head) {
		io = krping_blk_slot(link, link->tail)->io;
		if (!io)
			link->lost = true;
		link->tail++;
		spin_unlock_irqrestore(&link->lock, flags);
		atomic64_inc(&link->stats.failed);
		if (io)
			krping_blk_io_put(io, BLK_STS_IOERR);
		spin_lock_irqsave(&link->lock, flags);
	}
	spin_unlock_irqrestore(&link->lock, flags);
}

/* Return the time in jiffies until requests without a connection fail. */
static unsigned long krping_blk_link_patience(struct krping_blk_link *link)
{
	unsigned long end = READ_ONCE(link->down_since) +
			    msecs_to_jiffies(link->opts->block_ms);

	if (link->opts->policy != KRPING_BLK_BLOCK || time_after(jiffies, end))
		return 0;
	return end - jiffies;
}

/* Fail requests that have waited too long for a connection. */
static void krping_blk_link_give_up(struct krping_blk_link *link)
{
	mutex_lock(&link->post);
	if (krping_blk_link_state(link) != KRPING_BLK_READY &&
	    !krping_blk_link_patience(link))
		krping_blk_link_fail(link);
	mutex_unlock(&link->post);
}

/* Return the interval of the timer in jiffies. */
static unsigned long krping_blk_link_interval(const struct krping_blk_link *link)
{
	return msecs_to_jiffies(min(link->opts->timeout_ms,
				    link->opts->block_ms)) / 4 + 1;
}

/*
 * Check whether the server has not answered in time: the oldest request, or the
 * hello if the connection is not ready.
 */
static bool krping_blk_link_is_late_locked(struct krping_blk_link *link)
{
	unsigned long since = READ_ONCE(link->setup_since);

	lockdep_assert_held(&link->lock);
	if (link->state == KRPING_BLK_DOWN)
		return false;
	if (link->state == KRPING_BLK_READY) {
		if (link->tail == link->head)
			return false;
		since = krping_blk_slot(link, link->tail)->since;
	}
	return time_after(jiffies,
			  since + msecs_to_jiffies(link->opts->timeout_ms));
}

static void krping_blk_link_queue_timer_locked(struct krping_blk_link *link)
{
	lockdep_assert_held(&link->lock);
	if (!link->stopping)
		queue_delayed_work(krping_blk_wq, &link->timer,
				   krping_blk_link_interval(link));
}

/* End the connection if the server is late. */
static void krping_blk_link_timer(struct work_struct *work)
{
	struct krping_blk_link *link =
		container_of(work, struct krping_blk_link, timer.work);
	struct krdma_cb *cb = NULL;
	bool pending, late;

	spin_lock_irq(&link->lock);
	pending = link->tail != link->head;
	late = krping_blk_link_is_late_locked(link);
	if (late && !link->error)
		link->error = -ETIMEDOUT;
	spin_unlock_irq(&link->lock);
	/* krping_blk_link_connect() may not have stored link->reconn yet. */
	if (late && READ_ONCE(link->reconn))
		cb = krdma_reconnect_get_cb(link->reconn);
	if (cb) {
		atomic64_inc(&link->stats.timeouts);
		pr_warn_ratelimited("%s: the server has not answered for %u ms, connects again\n",
				    link->disk->name, link->opts->timeout_ms);
		krdma_disconnect(cb);
		krdma_put(cb);
	}
	if (pending && link->opts->policy == KRPING_BLK_BLOCK &&
	    krping_blk_link_state(link) != KRPING_BLK_READY)
		krping_blk_link_give_up(link);
	spin_lock_irq(&link->lock);
	/* A new connection queues this work itself. */
	if (pending || link->state == KRPING_BLK_SETUP)
		krping_blk_link_queue_timer_locked(link);
	spin_unlock_irq(&link->lock);
}

/* ---- requests ---- */

/* Check whether a request completes only when the server has answered. */
static bool krping_blk_slot_holds(const struct krping_blk_link *link,
				  const struct krping_blk_slot *slot,
				  const struct bio *bio)
{
	switch (link->opts->mode) {
	case KRPING_BLK_SYNC:
		return true;
	case KRPING_BLK_ASYNC:
		return slot->flush || bio->bi_opf & REQ_FUA;
	default:
		return false;
	}
}

/* Prepare a slot. With KRPING_BLK_WRITE, the data are already in the slot. */
static void krping_blk_slot_set(struct krping_blk_link *link,
				struct krping_blk_slot *slot,
				struct krping_blk_request *req)
{
	u64 at = krping_blk_slot_offset(link, req->seq);

	if (req->op == KRPING_BLK_WRITE) {
		if (link->opts->no_crc)
			req->flags |= KRPING_BLK_NO_CRC;
		else
			req->crc = krping_blk_crc(link->ring + at, req->bytes);
		if (++link->writes == link->opts->bad_crc)
			req->crc ^= 1;
		krdma_region_sync_for_device(link->region, at, req->bytes);
	}
	krping_blk_request_encode(slot->msg, req);
	slot->op = req->op;
	slot->offset = req->offset;
	slot->bytes = req->bytes;
	slot->write.local.len = req->bytes;
	slot->write.local.offset = at;
	slot->write.remote_offset = at;
	slot->flush = req->op == KRPING_BLK_FLUSH ||
		      req->flags & KRPING_BLK_PREFLUSH;
	slot->io = NULL;
	slot->since = jiffies;
	slot->sent = false;
	slot->status = 0;
}

static void krping_blk_slot_set_io(struct krping_blk_link *link,
				   struct krping_blk_slot *slot, u64 seq,
				   struct krping_blk_io *io)
{
	struct krping_blk_request req = krping_blk_io_request(io);

	req.seq = seq;
	/* The block layer has split the request to the size of a slot. */
	if (io->op == KRPING_BLK_WRITE)
		krping_blk_io_copy(io, link->ring +
				       krping_blk_slot_offset(link, seq));
	krping_blk_slot_set(link, slot, &req);
	if (!krping_blk_slot_holds(link, slot, io->bio))
		return;
	slot->io = io;
	refcount_inc(&io->refs);
}

/*
 * Post the request in a slot, with @link->post held. If krdma does not take it,
 * the connection ends, and krping_blk_link_lost() handles the request with all
 * others.
 */
static void krping_blk_slot_post(struct krping_blk_link *link,
				 struct krping_blk_slot *slot)
{
	slot->write.local.region = link->region;
	slot->write.remote = link->remote;
	if (krdma_post(link->cb, slot->op == KRPING_BLK_WRITE ? &slot->write :
								&slot->send))
		krdma_disconnect(link->cb);
}

/* Send the request in the next slot, with @link->post held. */
static void krping_blk_link_post_slot(struct krping_blk_link *link)
{
	struct krping_blk_slot *slot = krping_blk_slot(link, link->head);

	atomic64_inc(&link->stats.requests);
	if (slot->op == KRPING_BLK_WRITE)
		atomic64_add(slot->bytes, &link->stats.bytes);
	/* An acknowledgment may arrive before krdma_post() returns. */
	spin_lock_irq(&link->lock);
	link->head++;
	krping_blk_link_queue_timer_locked(link);
	spin_unlock_irq(&link->lock);
	krping_blk_slot_post(link, slot);
}

/* Send a request. The caller holds @link->post, and a slot is free. */
static void krping_blk_link_post(struct krping_blk_link *link,
				 struct krping_blk_io *io)
{
	krping_blk_slot_set_io(link, krping_blk_slot(link, link->head),
			       link->head, io);
	krping_blk_link_post_slot(link);
}

/* Send a request with data from @data, like krping_blk_link_post(). */
static void krping_blk_link_post_copy(struct krping_blk_link *link,
				      struct krping_blk_request *req,
				      const void *data)
{
	req->seq = link->head;
	if (req->op == KRPING_BLK_WRITE)
		memcpy(link->ring + krping_blk_slot_offset(link, req->seq),
		       data, req->bytes);
	krping_blk_slot_set(link, krping_blk_slot(link, req->seq), req);
	krping_blk_link_post_slot(link);
}

/*
 * Send the requests of the last connection again, in the same order, with
 * @link->post held.
 */
static void krping_blk_link_resend(struct krping_blk_link *link)
{
	u64 seq;

	/* No other task changes head, and acknowledgments move tail. */
	for (seq = link->hello_seq; seq != link->head; seq++) {
		struct krping_blk_slot *slot = krping_blk_slot(link, seq);

		if (slot->op == KRPING_BLK_WRITE)
			krdma_region_sync_for_device(link->region,
						     slot->write.local.offset,
						     slot->write.local.len);
		slot->since = jiffies;
		atomic64_inc(&link->stats.resent);
		krping_blk_slot_post(link, slot);
	}
}

static bool krping_blk_link_is_usable(struct krping_blk_link *link)
{
	return krping_blk_link_state(link) == KRPING_BLK_READY &&
	       !READ_ONCE(link->stopping);
}

static bool krping_blk_link_has_room(struct krping_blk_link *link)
{
	bool room;

	spin_lock_irq(&link->lock);
	room = link->head - link->tail < link->opts->depth;
	spin_unlock_irq(&link->lock);
	return room;
}

/* Wait for a free slot, with @link->post held. */
static int krping_blk_link_wait(struct krping_blk_link *link)
{
	/*
	 * Slots become free within the time limit, because the timer then ends
	 * the connection. Removing the device of the connection takes longer.
	 */
	if (!wait_event_timeout(link->wait,
				krping_blk_link_has_room(link) ||
				!krping_blk_link_is_usable(link),
				2 * msecs_to_jiffies(link->opts->timeout_ms)))
		return -ETIMEDOUT;
	return krping_blk_link_is_usable(link) ? 0 : -EIO;
}

/*
 * Send a request only if a slot is free. Tasks hold @link->post without
 * waiting, because all of them use this function.
 */
static void krping_blk_link_try(struct krping_blk_link *link,
				struct krping_blk_io *io)
{
	bool sends = false;

	if (krping_blk_link_is_usable(link)) {
		mutex_lock(&link->post);
		sends = krping_blk_link_is_usable(link) &&
			krping_blk_link_has_room(link);
		if (sends)
			krping_blk_link_post(link, io);
		mutex_unlock(&link->post);
	}
	if (!sends)
		atomic64_inc(&link->stats.dropped);
}

/* Wait for a connection. */
static int krping_blk_link_wait_usable(struct krping_blk_link *link)
{
	wait_event_timeout(link->wait,
			   krping_blk_link_is_usable(link) ||
			   READ_ONCE(link->stopping),
			   krping_blk_link_patience(link));
	return krping_blk_link_is_usable(link) ? 0 : -EIO;
}

/*
 * Send a request when a slot is free. A task that waits for a connection does
 * not hold @link->post, because setting up the connection needs it.
 */
static int krping_blk_link_queue(struct krping_blk_link *link,
				 struct krping_blk_io *io)
{
	bool again;
	int ret;

	do {
		again = false;
		ret = krping_blk_link_wait_usable(link);
		if (ret)
			break;
		mutex_lock(&link->post);
		ret = krping_blk_link_wait(link);
		if (!ret)
			krping_blk_link_post(link, io);
		mutex_unlock(&link->post);
		again = ret == -EIO;
	} while (again && krping_blk_link_patience(link));
	if (ret)
		atomic64_inc(&link->stats.failed);
	return ret;
}

/* ---- requests without a connection ---- */

static bool krping_blk_op_changes(enum krping_blk_op op)
{
	return op != KRPING_BLK_READ && op != KRPING_BLK_FLUSH;
}

/*
 * Send a request, or mark its chunks as dirty if there is no connection or if a
 * chunk is already dirty. The resync then sends the chunks, after the request is
 * done locally.
 */
static void krping_blk_link_divert(struct krping_blk_link *link,
				   struct krping_blk_io *io)
{
	bool changes = krping_blk_op_changes(io->op);
	bool sends;

	mutex_lock(&link->post);
	sends = krping_blk_link_is_usable(link) && !krping_blk_link_wait(link);
	if (changes) {
		spin_lock_irq(&link->lock);
		sends = sends && !krping_blk_dirty_touches(&link->dirty,
							   link->current_chunk,
							   io->offset,
							   io->bytes);
		io->number = ++link->last_number;
		list_add_tail(&io->in_flight, &link->in_flight);
		if (!sends)
			krping_blk_dirty_mark(&link->dirty, io->offset,
					      io->bytes);
		spin_unlock_irq(&link->lock);
	}
	if (sends)
		krping_blk_link_post(link, io);
	mutex_unlock(&link->post);
}

/**
 * krping_blk_link_end_io - end a request that has a number
 * @link: link
 * @io: request
 *
 * Context: any.
 */
void krping_blk_link_end_io(struct krping_blk_link *link,
			    struct krping_blk_io *io)
{
	unsigned long flags;

	spin_lock_irqsave(&link->lock, flags);
	list_del(&io->in_flight);
	spin_unlock_irqrestore(&link->lock, flags);
	wake_up(&link->wait);
}

/**
 * krping_blk_link_io_ended - continue when a request of the disk has ended
 * @link: link
 *
 * Context: any.
 */
void krping_blk_link_io_ended(struct krping_blk_link *link)
{
	if (link->tap)
		krping_blk_tap_kick(link->tap);
}

/* Complete the requests of a connection that has ended. */
static void krping_blk_link_degrade(struct krping_blk_link *link)
{
	struct krping_blk_slot *slot;
	struct krping_blk_io *io;

	spin_lock_irq(&link->lock);
	link->acked = link->head;
	while (link->tail != link->head) {
		slot = krping_blk_slot(link, link->tail++);
		io = slot->io;
		if (krping_blk_op_changes(slot->op))
			krping_blk_dirty_mark(&link->dirty, slot->offset,
					      slot->bytes);
		spin_unlock_irq(&link->lock);
		if (io)
			krping_blk_io_put(io, BLK_STS_OK);
		spin_lock_irq(&link->lock);
	}
	spin_unlock_irq(&link->lock);
}

/*
 * Check whether no request before @number changes the chunk. Later requests mark
 * the chunk as dirty again.
 */
static bool krping_blk_chunk_is_quiet(struct krping_blk_link *link, u64 chunk,
				      u64 number)
{
	u64 begin = chunk * link->dirty.chunk, end = begin + link->dirty.chunk;
	struct krping_blk_io *io;
	bool quiet = true;

	spin_lock_irq(&link->lock);
	list_for_each_entry(io, &link->in_flight, in_flight) {
		if (io->number > number)
			break;
		if (io->offset < end && io->offset + io->bytes > begin) {
			quiet = false;
			break;
		}
	}
	spin_unlock_irq(&link->lock);
	return quiet;
}

/*
 * Read a chunk when the requests that have changed it are done. There is no time
 * limit: the lower device ends them, and krping_blk_link_stop() ends the wait.
 */
static int krping_blk_chunk_read(struct krping_blk_link *link, u64 chunk,
				 u64 number)
{
	wait_event(link->wait,
		   krping_blk_chunk_is_quiet(link, chunk, number) ||
		   !krping_blk_link_is_usable(link));
	if (!krping_blk_link_is_usable(link))
		return -EIO;
	return krping_blk_disk_read(link->disk, chunk * link->dirty.chunk,
				    link->chunk,
				    krping_blk_dirty_len(&link->dirty, chunk));
}

/* Send the chunk in @link->chunk. */
static int krping_blk_chunk_send(struct krping_blk_link *link, u64 chunk)
{
	struct krping_blk_request req = {
		.op = KRPING_BLK_WRITE,
		.offset = chunk * link->dirty.chunk,
		.bytes = krping_blk_dirty_len(&link->dirty, chunk),
	};
	int ret = krping_blk_link_wait(link);

	if (ret)
		return ret;
	krping_blk_link_post_copy(link, &req, link->chunk);
	atomic64_add(req.bytes, &link->stats.resynced);
	return 0;
}

/* Send a dirty chunk. Return false if there is none, or if that fails. */
static bool krping_blk_resync_one(struct krping_blk_link *link)
{
	u64 chunk, number;
	int ret;

	spin_lock_irq(&link->lock);
	chunk = krping_blk_dirty_next(&link->dirty);
	link->current_chunk = chunk;
	number = link->last_number;
	spin_unlock_irq(&link->lock);
	if (chunk == KRPING_BLK_NO_CHUNK)
		return false;
	ret = krping_blk_chunk_read(link, chunk, number);
	mutex_lock(&link->post);
	ret = ret ?: krping_blk_chunk_send(link, chunk);
	/* From here on, requests for the chunk are sent after the chunk. */
	spin_lock_irq(&link->lock);
	link->current_chunk = KRPING_BLK_NO_CHUNK;
	if (ret)
		krping_blk_dirty_mark(&link->dirty, chunk * link->dirty.chunk,
				      1);
	spin_unlock_irq(&link->lock);
	mutex_unlock(&link->post);
	return !ret;
}

static void krping_blk_link_resync(struct work_struct *work)
{
	struct krping_blk_link *link =
		container_of(work, struct krping_blk_link, resync);
	unsigned int noio = memalloc_noio_save();

	while (krping_blk_link_is_usable(link) && krping_blk_resync_one(link))
		cond_resched();
	memalloc_noio_restore(noio);
}

/**
 * krping_blk_link_send - send a request to the server
 * @link: link of the disk
 * @io: request; the link takes a reference if the request waits for the answer
 *
 * Context: process; waits for a free slot, up to twice bio_timeout, and with
 * KRPING_BLK_BLOCK for a connection, up to bio_block. Does not wait with
 * KRPING_BLK_TAP or if @drop is set in the options.
 * Return: 0; -EIO if there is no connection; -ETIMEDOUT.
 */
int krping_blk_link_send(struct krping_blk_link *link,
			 struct krping_blk_io *io)
{
	if (link->tap) {
		if (!krping_blk_link_is_usable(link) ||
		    !krping_blk_tap_send(link->tap, io))
			atomic64_inc(&link->stats.dropped);
		return 0;
	}
	if (link->opts->policy == KRPING_BLK_DEGRADE) {
		krping_blk_link_divert(link, io);
		return 0;
	}
	if (!link->opts->drop)
		return krping_blk_link_queue(link, io);
	if (!krping_blk_link_is_usable(link)) {
		atomic64_inc(&link->stats.failed);
		return -EIO;
	}
	krping_blk_link_try(link, io);
	return 0;
}

/**
 * krping_blk_link_send_copy - send a request whose data were copied
 * @link: link with a tap
 * @req: request; the function sets its sequence number and checksum
 * @data: data of a write
 *
 * If there is no connection, the request is dropped.
 *
 * Context: process; waits for a free slot, up to twice bio_timeout.
 */
void krping_blk_link_send_copy(struct krping_blk_link *link,
			       struct krping_blk_request *req, const void *data)
{
	bool sends;

	mutex_lock(&link->post);
	sends = krping_blk_link_is_usable(link) && !krping_blk_link_wait(link);
	if (sends)
		krping_blk_link_post_copy(link, req, data);
	mutex_unlock(&link->post);
	if (!sends)
		atomic64_inc(&link->stats.dropped);
}

/* ---- connection ---- */

static void krping_blk_hello_done(struct krdma_req *req, int status)
{
	/* If the hello is lost, the connection has ended. */
}

static int krping_blk_link_hello(struct krping_blk_link *link)
{
	struct krping_blk_hello hello = {
		.depth = link->opts->depth,
		.slot = link->opts->slot,
		.capacity = link->disk->capacity,
		.seq = link->tail,
	};
	struct krdma_region *region;

	link->hello_seq = hello.seq;
	region = krdma_region_from_vmalloc(link->cb, link->ring,
					   krping_blk_ring_bytes(link), 0);
	if (IS_ERR(region))
		return PTR_ERR(region);
	link->region = region;
	memcpy(hello.id, link->id, sizeof(hello.id));
	krping_blk_hello_encode(link->hello_msg, &hello);
	link->hello = (struct krdma_req) {
		.opcode = KRDMA_SEND,
		.local.mem = KRDMA_MEM_VIRT,
		.local.virt = link->hello_msg,
		.local.len = sizeof(link->hello_msg),
		.done = krping_blk_hello_done,
	};
	return krdma_post(link->cb, &link->hello);
}

static int krping_blk_link_granted(struct krping_blk_link *link,
				   const struct krdma_rx_msg *grant)
{
	struct krdma_remote *remote;
	int status, ret;

	ret = krping_blk_grant_decode(&status, grant->data, grant->len) ?:
	      status;
	if (ret)
		return ret;
	remote = krdma_remote_import(grant->data + KRPING_BLK_GRANT_LEN,
				     grant->len - KRPING_BLK_GRANT_LEN);
	if (IS_ERR(remote))
		return PTR_ERR(remote);
	if (krdma_remote_size(remote) < krping_blk_ring_bytes(link)) {
		krdma_remote_free(remote);
		return -EPROTO;
	}
	link->remote = remote;
	mutex_lock(&link->post);
	/* The requests may have failed since the hello. */
	ret = link->tail == link->hello_seq ? 0 : -EAGAIN;
	if (!ret) {
		krping_blk_link_resend(link);
		krping_blk_link_set_state(link, KRPING_BLK_READY, 0);
	}
	mutex_unlock(&link->post);
	if (!ret && link->opts->policy == KRPING_BLK_DEGRADE)
		queue_work(krping_blk_wq, &link->resync);
	return ret;
}

/*
 * Set up a new connection: send the hello, then process the grant. The members
 * cb, region and remote belong to this function until the state is
 * KRPING_BLK_READY. krping_blk_link_lost() waits for this work.
 */
static void krping_blk_link_work(struct work_struct *work)
{
	struct krping_blk_link *link =
		container_of(work, struct krping_blk_link, work);
	unsigned int noio = memalloc_noio_save();
	struct krdma_rx_msg *grant;
	int ret = 0;

	if (!link->region)
		ret = krping_blk_link_hello(link);
	spin_lock_irq(&link->lock);
	grant = link->grant;
	link->grant = NULL;
	spin_unlock_irq(&link->lock);
	if (grant) {
		ret = ret ?: krping_blk_link_granted(link, grant);
		krdma_rx_msg_release(grant);
	}
	if (ret) {
		pr_warn_ratelimited("%s: cannot use the connection: error %d\n",
				    link->disk->name, ret);
		krping_blk_link_set_state(link, KRPING_BLK_SETUP, ret);
		krdma_disconnect(link->cb);
	}
	memalloc_noio_restore(noio);
}

static void krping_blk_link_connected(struct krdma_reconnect *reconn,
				      struct krdma_cb *cb, u64 epoch)
{
	struct krping_blk_link *link = krdma_reconnect_context(reconn);

	link->cb = cb;
	link->has_grant = false;
	WRITE_ONCE(link->setup_since, jiffies);
	krping_blk_link_set_state(link, KRPING_BLK_SETUP, 0);
	spin_lock_irq(&link->lock);
	krping_blk_link_queue_timer_locked(link);
	spin_unlock_irq(&link->lock);
	queue_work(krping_blk_wq, &link->work);
}

/* Prepare the requests of a connection that has ended for the next one. */
static void krping_blk_link_keep(struct krping_blk_link *link)
{
	u64 seq;

	spin_lock_irq(&link->lock);
	for (seq = link->tail; seq != link->head; seq++)
		krping_blk_slot(link, seq)->sent = false;
	/* A server may have acknowledged a request that was never sent. */
	link->acked = link->tail;
	spin_unlock_irq(&link->lock);
}

static void krping_blk_link_lost(struct krdma_reconnect *reconn,
				 struct krdma_cb *cb, int reason)
{
	struct krping_blk_link *link = krdma_reconnect_context(reconn);

	/* A connection that was never ready does not extend bio_block. */
	if (krping_blk_link_state(link) == KRPING_BLK_READY)
		WRITE_ONCE(link->down_since, jiffies);
	/* End the waits of tasks that hold link->post. */
	krping_blk_link_set_state(link, KRPING_BLK_DOWN, link->error ?: reason);
	cancel_work_sync(&link->work);
	mutex_lock(&link->post);
	/* The work may have set another state after the first call above. */
	krping_blk_link_set_state(link, KRPING_BLK_DOWN, link->error ?: reason);
	mutex_unlock(&link->post);
	/* No task sends requests until the next connection is ready. */
	if (link->grant)
		krdma_rx_msg_release(link->grant);
	link->grant = NULL;
	krdma_region_put(link->region);
	link->region = NULL;
	krdma_remote_free(link->remote);
	link->remote = NULL;
	link->cb = NULL;
	if (link->opts->policy == KRPING_BLK_BLOCK)
		krping_blk_link_keep(link);
	else if (link->opts->policy == KRPING_BLK_DEGRADE)
		krping_blk_link_degrade(link);
	else
		krping_blk_link_fail(link);
}

static void krping_blk_link_receive(struct krdma_reconnect *reconn,
				    struct krdma_cb *cb,
				    struct krdma_rx_msg *rx_msg)
{
	struct krping_blk_link *link = krdma_reconnect_context(reconn);
	struct krping_blk_ack ack;
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&link->lock, flags);
	first = !link->has_grant;
	if (first)
		link->grant = rx_msg;
	link->has_grant = true;
	spin_unlock_irqrestore(&link->lock, flags);
	if (first) {
		queue_work(krping_blk_wq, &link->work);
		return;
	}
	if (!krping_blk_ack_decode(&ack, rx_msg->data, rx_msg->len) &&
	    krping_blk_link_ack(link, &ack))
		krping_blk_link_reap(link);
	else
		krping_blk_link_violated(link, cb);
	krdma_rx_msg_release(rx_msg);
}

static void krping_blk_link_failed(struct krdma_reconnect *reconn,
				   struct krdma_cb *cb, int error)
{
	krping_blk_link_set_state(krdma_reconnect_context(reconn),
				  KRPING_BLK_DOWN, error);
}

static const struct krdma_reconnect_ops krping_blk_link_ops = {
	.owner = THIS_MODULE,
	.connected = krping_blk_link_connected,
	.lost = krping_blk_link_lost,
	.receive = krping_blk_link_receive,
	.failed = krping_blk_link_failed,
};

/* ---- creation and removal ---- */

static struct krping_blk_slot *krping_blk_slot_alloc(struct krping_blk_link *link)
{
	struct krping_blk_slot *slot = kzalloc(sizeof(*slot), GFP_KERNEL);

	if (!slot)
		return NULL;
	slot->link = link;
	slot->write.opcode = KRDMA_WRITE;
	slot->write.local.mem = KRDMA_MEM_REGION;
	slot->write.done = krping_blk_write_done;
	slot->write.next = &slot->send;
	slot->send.opcode = KRDMA_SEND;
	slot->send.local.mem = KRDMA_MEM_VIRT;
	slot->send.local.virt = slot->msg;
	slot->send.local.len = sizeof(slot->msg);
	slot->send.done = krping_blk_send_done;
	return slot;
}

/*
 * Free a link that has no connection. rxe before Linux 6.10 may still read
 * requests and data that have completed, so they are freed after a grace
 * period.
 */
static void krping_blk_link_free(struct krping_blk_link *link)
{
	u32 i;

	if (krdma_may_read_on())
		synchronize_rcu();
	for (i = 0; link->slots && i < link->opts->depth; i++)
		kfree(link->slots[i]);
	krping_blk_tap_destroy(link->tap);
	kvfree(link->slots);
	vfree(link->chunk);
	vfree(link->dirty.map);
	vfree(link->ring);
	mutex_destroy(&link->post);
	kfree(link);
}

static int krping_blk_link_alloc_map(struct krping_blk_link *link)
{
	struct krping_blk_dirty *dirty = &link->dirty;

	if (link->opts->policy != KRPING_BLK_DEGRADE)
		return 0;
	dirty->chunk = min_t(u32, link->opts->slot, KRPING_BLK_CHUNK_MAX);
	dirty->capacity = link->disk->capacity;
	dirty->nchunks = div_u64(dirty->capacity + dirty->chunk - 1,
				 dirty->chunk);
	dirty->map = vzalloc(array_size(BITS_TO_LONGS(dirty->nchunks),
					sizeof(long)));
	link->chunk = vmalloc(dirty->chunk);
	return dirty->map && link->chunk ? 0 : -ENOMEM;
}

/**
 * krping_blk_link_create - allocate a link
 * @disk: disk with its capacity
 *
 * Return: link for krping_blk_link_destroy(), or an ERR_PTR: -ENOMEM; -EFBIG:
 * the disk is too large for KRPING_BLK_DEGRADE.
 */
struct krping_blk_link *krping_blk_link_create(struct krping_blk_disk *disk)
{
	struct krping_blk_link *link;
	u32 i;

	if (disk->opts->policy == KRPING_BLK_DEGRADE &&
	    disk->capacity > KRPING_BLK_DEGRADE_MAX)
		return ERR_PTR(-EFBIG);
	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return ERR_PTR(-ENOMEM);
	link->disk = disk;
	link->opts = disk->opts;
	get_random_bytes(link->id, sizeof(link->id));
	INIT_WORK(&link->work, krping_blk_link_work);
	INIT_WORK(&link->resync, krping_blk_link_resync);
	INIT_LIST_HEAD(&link->in_flight);
	link->current_chunk = KRPING_BLK_NO_CHUNK;
	INIT_DELAYED_WORK(&link->timer, krping_blk_link_timer);
	init_waitqueue_head(&link->wait);
	mutex_init(&link->post);
	spin_lock_init(&link->lock);
	link->ring = vzalloc(krping_blk_ring_bytes(link));
	link->slots = kvcalloc(link->opts->depth, sizeof(*link->slots),
			       GFP_KERNEL);
	if (!link->ring || !link->slots || krping_blk_link_alloc_map(link))
		goto err_free;
	if (link->opts->mode == KRPING_BLK_TAP) {
		link->tap = krping_blk_tap_create(link, link->opts);
		if (!link->tap)
			goto err_free;
	}
	for (i = 0; i < link->opts->depth; i++) {
		link->slots[i] = krping_blk_slot_alloc(link);
		if (!link->slots[i])
			goto err_free;
	}
	return link;

err_free:
	krping_blk_link_free(link);
	return ERR_PTR(-ENOMEM);
}

static int krping_blk_link_connect(struct krping_blk_link *link)
{
	const struct krping_blk_opts *opts = link->opts;
	struct sockaddr_storage addr, src;
	struct krdma_params params = {
		.size = sizeof(params),
		.flags = KRDMA_NOIO,
		.recv_depth = opts->depth + KRPING_BLK_SPARE_RECVS,
		.mr_pool = KRDMA_NEVER,
		.max_msg = 4096,
		.pull_min = KRDMA_NEVER,
	};
	const struct krdma_reconnect_params owner = {
		.size = sizeof(owner),
		.ops = &krping_blk_link_ops,
		.context = link,
	};
	struct krdma_reconnect *reconn;
	int ret;

	ret = krdma_parse_addr(NULL, opts->addr, opts->port, &addr);
	if (!ret && *opts->src) {
		ret = krdma_parse_addr(NULL, opts->src, NULL, &src);
		params.src = (const struct sockaddr *)&src;
	}
	if (ret)
		return ret;
	reconn = krdma_reconnect_start((const struct sockaddr *)&addr, &params,
				       &owner);
	if (IS_ERR(reconn))
		return PTR_ERR(reconn);
	WRITE_ONCE(link->reconn, reconn);
	return 0;
}

/**
 * krping_blk_link_start - connect, and wait for the grant of the server
 * @link: link
 *
 * Context: process; waits up to bio_timeout; killable.
 * Return: 0 or a negative errno: the reason for which the first attempt
 * failed, or that the server sent; -ETIMEDOUT; -EINTR.
 */
int krping_blk_link_start(struct krping_blk_link *link)
{
	long left;
	int ret;

	ret = krping_blk_link_connect(link);
	if (ret)
		return ret;
	left = wait_event_killable_timeout(link->wait,
					   krping_blk_link_state(link) == KRPING_BLK_READY ||
					   READ_ONCE(link->error),
					   msecs_to_jiffies(link->opts->timeout_ms));
	if (krping_blk_link_state(link) == KRPING_BLK_READY)
		return 0;
	if (left < 0)
		return -EINTR;
	return READ_ONCE(link->error) ?: -ETIMEDOUT;
}

/**
 * krping_blk_link_stop - end the connection, and fail all requests
 * @link: link; may already be stopped
 *
 * Context: process; waits for krdma.
 */
void krping_blk_link_stop(struct krping_blk_link *link)
{
	spin_lock_irq(&link->lock);
	link->stopping = true;
	spin_unlock_irq(&link->lock);
	wake_up_all(&link->wait);
	/* The timer uses link->reconn. */
	cancel_delayed_work_sync(&link->timer);
	krdma_reconnect_stop(link->reconn);
	link->reconn = NULL;
	cancel_work_sync(&link->resync);
	krping_blk_tap_stop(link->tap);
	krping_blk_link_fail(link);
}

/**
 * krping_blk_link_destroy - end the connection, and free the link
 * @link: link that no task uses
 *
 * Context: process; waits for krdma.
 */
void krping_blk_link_destroy(struct krping_blk_link *link)
{
	krping_blk_link_stop(link);
	krping_blk_link_free(link);
}

static const char *const krping_blk_link_states[] = {
	[KRPING_BLK_DOWN] = "down",
	[KRPING_BLK_SETUP] = "setup",
	[KRPING_BLK_READY] = "ready",
};

/**
 * krping_blk_link_show - print the state and the counters of a link
 * @m: output
 * @link: link
 */
void krping_blk_link_show(struct seq_file *m, struct krping_blk_link *link)
{
	const struct krping_blk_link_stats *stats = &link->stats;
	enum krping_blk_link_state state;
	u64 pending, dirty;
	int error;

	spin_lock_irq(&link->lock);
	state = link->state;
	pending = link->head - link->tail;
	dirty = link->dirty.ndirty * link->dirty.chunk;
	error = link->error;
	spin_unlock_irq(&link->lock);
	seq_printf(m, " state=%s error=%d pending=%llu dirty=%llu requests=%lld bytes=%lld acked=%lld resynced=%lld resent=%lld refused=%lld failed=%lld dropped=%lld violations=%lld timeouts=%lld\n",
		   krping_blk_link_states[state], error, pending, dirty,
		   atomic64_read(&stats->requests), atomic64_read(&stats->bytes),
		   atomic64_read(&stats->acked),
		   atomic64_read(&stats->resynced), atomic64_read(&stats->resent),
		   atomic64_read(&stats->refused),
		   atomic64_read(&stats->failed),
		   atomic64_read(&stats->dropped),
		   atomic64_read(&stats->violations),
		   atomic64_read(&stats->timeouts));
}
