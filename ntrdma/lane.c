// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: poll, transmitter, and rings.
 *
 * The poll of a lane takes frames from the rings of all peers, then delivers
 * completions, then transmits. A task that posts also transmits if it becomes
 * the owner of the lane (NTRDMA_LANE_OWNED). The bit is not a lock: a task that
 * does not get it returns, and the owner checks ntrdma_lane.ready again after
 * it has cleared the bit. So no QP is left behind, and no task waits.
 *
 * The poll never waits for room in a ring. Everything that it has to answer is
 * recorded in the QP, and the transmitter sends it when there is room.
 *
 * With spin_us, the poll waits some time for further frames before it sleeps.
 *
 * A QP that has something to send is on one list: ntrdma_lane.ready, or
 * ntrdma_link_ring.waiting of the peer whose ring is full. The poll moves it
 * back when the peer has consumed cells. Each side checks again after it has
 * published its own state: the transmitter adds the QP to waiting, then reads
 * cons again; the peer writes cons, then reads room.
 *
 * Access at teardown: a link is closed by clearing ntrdma_peer.open and waiting
 * for a grace period, because polls and transmitters are RCU read-side
 * sections. ntrdma_lanes_stop() sets NTRDMA_LANE_CLOSED and waits in the same
 * way. After that, no doorbell, timer or post starts a poll.
 */
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/sched.h>

#include <compat.h>

#include "eth.h"
#include "trace.h"
#include "verbs.h"
#include "win.h"

/* Frames and bytes of one poll, over all peers. */
#define NTRDMA_POLL_FRAMES	NAPI_POLL_WEIGHT
#define NTRDMA_POLL_BYTES	SZ_256K
/* Frames of one peer before the poll goes on with the next peer. */
#define NTRDMA_PEER_FRAMES	16
/* QPs of which one poll delivers completions. */
#define NTRDMA_POLL_FINISH	64
/* Turns of QPs in one poll, and in a task that posts. */
#define NTRDMA_POLL_TURNS	4
#define NTRDMA_TASK_TURNS	2

/* Time without room after which datagrams to a peer are dropped, in ms. */
#define NTRDMA_BLOCKED_MS	100

/* Time in which the doorbells without a frame are counted, in ms. */
#define NTRDMA_STORM_MS		100

/* Without doorbells: time between polls while there is traffic, in us. */
#define NTRDMA_BUSY_US		20
/* Time without traffic after which the time between polls grows, in us. */
#define NTRDMA_BUSY_END_US	1000

/* Maximum time for which one poll waits for further frames, in us. */
#define NTRDMA_SPIN_POLL_US	200

/**
 * struct ntrdma_quota - frames and bytes that a poll may still take
 * @frames: number of frames
 * @bytes: bytes of payload
 */
struct ntrdma_quota {
	int frames;
	int bytes;
};

static bool ntrdma_quota_is_used(const struct ntrdma_quota *quota)
{
	return quota->frames <= 0 || quota->bytes <= 0;
}

static bool ntrdma_has_lane(const struct ntrdma_dev *dev, u8 number)
{
	return number == NTRDMA_ETH_RING ? dev->config.eth :
					   number < dev->lanes;
}

/*
 * Return the peer if its rings may be used. They stay usable until the end of
 * the caller's RCU read-side section.
 */
static struct ntrdma_peer *ntrdma_lane_peer(struct ntrdma_lane *lane,
					    unsigned int member)
{
	struct ntrdma_peer *peer = rcu_dereference(lane->dev->peers[member]);

	if (!peer || !smp_load_acquire(&peer->open)) /* ntrdma_lane_open() */
		return NULL;
	if (atomic_read(&peer->fault) || ntrdma_win_is_cut(lane->dev))
		return NULL;
	return ntrdma_peer_has_ring(peer, lane->number) ? peer : NULL;
}

/**
 * ntrdma_peer_is_usable - check whether frames may be sent to a peer
 * @peer: peer
 *
 * Context: RCU read-side section.
 * Return: true if the session is UP, and nothing is wrong with it.
 */
bool ntrdma_peer_is_usable(struct ntrdma_peer *peer)
{
	return smp_load_acquire(&peer->open) && /* ntrdma_lane_open() */
	       !atomic_read(&peer->fault) && !ntrdma_win_is_cut(peer->dev);
}

/* The link of the device to itself has doorbells with each back end. */
static bool ntrdma_peer_has_bells(const struct ntrdma_peer *peer)
{
	return ntrdma_win_bells(peer->dev) ||
	       peer->member == peer->dev->config.member;
}

/*
 * Start the poll. A softirq that is raised while interrupts are disabled in a
 * task would wait for the next interrupt, so the timer raises one. If bottom
 * halves are disabled as well, the softirq runs when they are enabled, and the
 * timer would only be slower.
 */
static void ntrdma_lane_start(struct ntrdma_lane *lane)
{
	if (in_hardirq() || (irqs_disabled() && softirq_count())) {
		napi_schedule(&lane->napi);
	} else if (irqs_disabled()) {
		hrtimer_start(&lane->timer, 0, HRTIMER_MODE_REL);
	} else {
		local_bh_disable();
		napi_schedule(&lane->napi);
		local_bh_enable();
	}
}

/**
 * ntrdma_lane_schedule - let the poll of a lane run
 * @lane: lane
 *
 * Context: any.
 */
void ntrdma_lane_schedule(struct ntrdma_lane *lane)
{
	rcu_read_lock();
	if (!test_bit(NTRDMA_LANE_CLOSED, &lane->flags))
		ntrdma_lane_start(lane);
	rcu_read_unlock();
}

static enum hrtimer_restart ntrdma_lane_timer(struct hrtimer *timer)
{
	struct ntrdma_lane *lane = container_of(timer, struct ntrdma_lane,
						timer);

	if (!test_bit(NTRDMA_LANE_CLOSED, &lane->flags))
		napi_schedule(&lane->napi);
	return HRTIMER_NORESTART;
}

/**
 * ntrdma_peer_ring - notify a lane of a peer by its doorbell
 * @peer: peer
 * @lane: number of the lane
 *
 * Context: bottom halves are disabled, or a task that can sleep.
 */
void ntrdma_peer_ring(struct ntrdma_peer *peer, u8 lane)
{
	struct ntrdma_dev *dev = peer->dev;

	if (!ntrdma_peer_has_bells(peer))
		return;
	ntrdma_count(dev, NTRDMA_STAT_BELLS_SENT);
	if (peer->member == dev->config.member) {
		ntrdma_lane_schedule(&dev->lane[lane]);
		return;
	}
	local_bh_disable();
	dev->config.ops->ring(dev, peer->member, lane);
	local_bh_enable();
}

/*
 * Sending.
 */

/*
 * Read cons of a sending ring. Cells that the peer has consumed may be written
 * after that, so this is an acquire operation.
 */
static bool ntrdma_tx_update(struct ntrdma_peer *peer, u8 lane)
{
	u32 cons = ntrdma_win_acquire(peer, NTRDMA_RING_WORD(lane, cons));

	if (ntrdma_ring_set_cons(&peer->ring[lane].tx, cons))
		return true;
	ntrdma_link_fault(peer, NTRDMA_REASON_BAD_INDEX);
	return false;
}

/*
 * Check whether the peer has consumed cells since the transmitter read cons. A
 * poll that is not the transmitter may compare with an old value: then it only
 * gives the waiting QPs a turn too early.
 */
static bool ntrdma_tx_moved(struct ntrdma_peer *peer, u8 lane)
{
	return ntrdma_win_get(peer, NTRDMA_RING_WORD(lane, cons)) !=
	       READ_ONCE(peer->ring[lane].tx.cons);
}

static bool ntrdma_tx_place(struct ntrdma_peer *peer, u8 lane, u32 cells,
			    u32 *pad)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane];

	if (ntrdma_ring_place(&ring->tx, cells, pad))
		return true;
	if (!ntrdma_tx_update(peer, lane))
		return false;
	if (ntrdma_ring_place(&ring->tx, cells, pad))
		return true;
	if (ntrdma_win_coherent(peer)) {
		ntrdma_win_set(peer, NTRDMA_RING_WORD(lane, room), 1);
		ring->asked = true;
		ntrdma_win_mb();
		if (!ntrdma_tx_update(peer, lane))
			return false;
		if (ntrdma_ring_place(&ring->tx, cells, pad))
			return true;
	}
	ntrdma_count(peer->dev, NTRDMA_STAT_ROOM_WAITS);
	if (!ring->full_since)
		ring->full_since = jiffies ?: 1;
	return false;
}

/*
 * Return true if the peer has not consumed enough for NTRDMA_BLOCKED_MS. The
 * caller is the transmitter of the lane, or the link work.
 */
static bool ntrdma_ring_is_blocked(struct ntrdma_peer *peer, u8 lane)
{
	unsigned long since = READ_ONCE(peer->ring[lane].full_since);

	return since && time_after(jiffies, since +
				   msecs_to_jiffies(NTRDMA_BLOCKED_MS));
}

/**
 * ntrdma_ring_is_stuck - check whether to give up sending to a peer
 * @peer: peer
 * @lane: number of the lane
 *
 * Context: transmitter of the lane, or link work, in an RCU read-side section.
 * Return: true if the session ends, or if the ring has had no room for long.
 */
bool ntrdma_ring_is_stuck(struct ntrdma_peer *peer, u8 lane)
{
	return !ntrdma_peer_is_usable(peer) ||
	       ntrdma_ring_is_blocked(peer, lane);
}

/**
 * ntrdma_ring_has_moved - check whether a peer has consumed
 * @peer: peer
 * @lane: number of the lane
 *
 * Context: as ntrdma_ring_is_stuck().
 * Return: true if the peer has consumed since ntrdma_slot_reserve() found no
 * room.
 */
bool ntrdma_ring_has_moved(struct ntrdma_peer *peer, u8 lane)
{
	return ntrdma_tx_moved(peer, lane);
}

/*
 * Clear room, unless a QP still waits: the peer must ring the doorbell for this
 * QP, even if a shorter frame of another QP found room.
 */
static void ntrdma_tx_found_room(struct ntrdma_peer *peer, u8 lane)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane];

	ring->full_since = 0;
	if (!ring->asked || !list_empty(&ring->waiting) ||
	    READ_ONCE(ring->num_naks))
		return;
	ring->asked = false;
	ntrdma_win_set(peer, NTRDMA_RING_WORD(lane, room), 0);
}

static void __iomem *ntrdma_tx_cell(const struct ntrdma_link_ring *ring,
				    u32 index)
{
	return ring->out +
	       (size_t)ntrdma_ring_slot(&ring->tx, index) * NTRDMA_CELL;
}

/**
 * ntrdma_slot_reserve - find room for a frame in the ring of a peer
 * @slot: result
 * @peer: peer
 * @lane: number of the lane, of which the caller is the transmitter
 * @bytes: bytes of payload
 *
 * The caller writes a payload of more than %NTRDMA_SHORT bytes to @slot->buf.
 * Then it calls ntrdma_slot_commit(), or does not use @slot any more.
 *
 * Context: the caller is in the RCU read-side section of the transmitter.
 * Return: false if there is no room, or if the session is ending. The caller
 * then ends its turn with %NTRDMA_TURN_NO_ROOM.
 */
bool ntrdma_slot_reserve(struct ntrdma_slot *slot, struct ntrdma_peer *peer,
			 u8 lane, u32 bytes)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane];
	struct ntrdma_lane *own = &peer->dev->lane[lane];

	*slot = (struct ntrdma_slot){
		.peer = peer,
		.lane = lane,
		.bytes = bytes,
		.cells = ntrdma_frame_cells(bytes),
	};
	if (!ntrdma_peer_is_usable(peer) ||
	    !ntrdma_tx_place(peer, lane, slot->cells, &slot->pad))
		return false;
	ntrdma_tx_found_room(peer, lane);
	if (bytes <= NTRDMA_SHORT)
		return true;
	slot->data = ntrdma_tx_cell(ring, ring->tx.prod + slot->pad + 1);
	slot->copy = ntrdma_copy_get(own, peer, bytes);
	if (slot->copy)
		slot->buf = slot->copy->from;
	else if (ntrdma_win_coherent(peer))
		slot->buf = ntrdma_win_buf(slot->data);
	else
		slot->buf = own->bounce;
	return true;
}

/* Write the header of a frame, and a short payload. */
static void ntrdma_tx_header(struct ntrdma_peer *peer,
			     struct ntrdma_link_ring *ring,
			     const struct ntrdma_frame *frame,
			     const void *data)
{
	struct ntrdma_wire_hdr hdr = {};

	ntrdma_frame_encode(&hdr, frame, ring->tx.prod, peer->yours);
	if (frame->bytes && frame->bytes <= NTRDMA_SHORT)
		memcpy(hdr.data, data, frame->bytes);
	ntrdma_win_write(peer, ntrdma_tx_cell(ring, ring->tx.prod), &hdr,
			 sizeof(hdr));
	ring->tx.prod += frame->cells;
}

/* Publish prod, and ring the doorbell if the peer sleeps. */
static void ntrdma_tx_publish(struct ntrdma_peer *peer, u8 lane, u32 from,
			      u32 to)
{
	u32 bell;

	ntrdma_win_publish(peer, NTRDMA_RING_WORD(lane, prod), to);
	if (!ntrdma_peer_has_bells(peer))
		return;
	if (ntrdma_win_coherent(peer)) {
		ntrdma_win_mb();
		bell = ntrdma_win_get(peer, NTRDMA_RING_WORD(lane, bell));
		if (!ntrdma_ring_must_bell(from, to, bell))
			return;
	}
	ntrdma_peer_ring(peer, lane);
}

/* Copy a payload to a window that is not coherent, unless the caller did so. */
static void ntrdma_slot_copy(struct ntrdma_slot *slot, u32 start)
{
	struct ntrdma_peer *peer = slot->peer;

	if (!slot->buf || ntrdma_win_coherent(peer))
		return;
	if (slot->copy && ntrdma_copy_start(slot->copy, peer, slot->data,
					    slot->bytes, start))
		return;
	ntrdma_win_write(peer, slot->data, slot->buf, slot->bytes);
}

/**
 * ntrdma_slot_commit - send a frame
 * @slot: slot of ntrdma_slot_reserve()
 * @frame: frame; this function sets its members bytes and cells
 * @data: payload of 1 to %NTRDMA_SHORT bytes; otherwise ignored
 *
 * Context: as ntrdma_slot_reserve().
 */
void ntrdma_slot_commit(struct ntrdma_slot *slot, struct ntrdma_frame *frame,
			const void *data)
{
	struct ntrdma_peer *peer = slot->peer;
	struct ntrdma_link_ring *ring = &peer->ring[slot->lane];
	u32 from = ring->tx.prod;

	if (slot->pad) {
		struct ntrdma_frame pad = {
			.kind = NTRDMA_PAD,
			.cells = slot->pad,
		};

		ntrdma_tx_header(peer, ring, &pad, NULL);
	}
	frame->bytes = slot->bytes;
	frame->cells = slot->cells;
	ntrdma_slot_copy(slot, from);
	ntrdma_tx_header(peer, ring, frame, data);
	/* A frame behind one that a DMA engine copies must wait for it. */
	if (ntrdma_win_coherent(peer) ||
	    !ntrdma_copies_any(&peer->dev->lane[slot->lane]))
		ntrdma_tx_publish(peer, slot->lane, from, ring->tx.prod);
	ntrdma_count(peer->dev, NTRDMA_STAT_FRAMES_SENT);
	ntrdma_count_add(peer->dev, NTRDMA_STAT_BYTES_SENT, slot->bytes);
	trace_ntrdma_frame_sent(peer->dev->ib.index, peer->member, slot->lane,
				frame);
}

/*
 * The transmitter.
 */

/* Add a QP to a list, unless another task has already made it ready again. */
static void ntrdma_lane_queue(struct ntrdma_lane *lane, struct ntrdma_qp *qp,
			      struct list_head *list)
{
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	if (list_empty(&qp->tx_entry))
		list_add_tail(&qp->tx_entry, list);
	spin_unlock_irqrestore(&lane->lock, flags);
}

/*
 * Take the first QP of ntrdma_lane.ready. It is held under the lock, because a
 * task that destroys the QP calls ntrdma_lane_forget() before it frees the QP.
 * QPs that cannot be held any more leave the list.
 */
static struct ntrdma_qp *ntrdma_lane_pop(struct ntrdma_lane *lane)
{
	struct ntrdma_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	while ((qp = list_first_entry_or_null(&lane->ready, struct ntrdma_qp,
					      tx_entry))) {
		list_del_init(&qp->tx_entry);
		if (ntrdma_qp_hold(qp))
			break;
	}
	spin_unlock_irqrestore(&lane->lock, flags);
	return qp;
}

static void ntrdma_lane_unwait(struct ntrdma_lane *lane,
			       struct ntrdma_peer *peer)
{
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	list_splice_tail_init(&peer->ring[lane->number].waiting, &lane->ready);
	spin_unlock_irqrestore(&lane->lock, flags);
}

/*
 * Let a QP wait for room. If the peer consumed cells before the QP was on the
 * list, its doorbell has perhaps found the list empty, so read cons again.
 */
static void ntrdma_lane_wait(struct ntrdma_lane *lane, struct ntrdma_qp *qp,
			     struct ntrdma_peer *peer)
{
	ntrdma_lane_queue(lane, qp, &peer->ring[lane->number].waiting);
	ntrdma_win_mb();
	if (ntrdma_peer_is_usable(peer) &&
	    ntrdma_tx_moved(peer, lane->number))
		ntrdma_lane_unwait(lane, peer);
}

static void ntrdma_lane_turn(struct ntrdma_lane *lane, struct ntrdma_qp *qp)
{
	struct ntrdma_peer *peer = NULL;

	switch (ntrdma_qp_turn(qp, &peer)) {
	case NTRDMA_TURN_MORE:
		ntrdma_lane_queue(lane, qp, &lane->ready);
		break;
	case NTRDMA_TURN_NO_ROOM:
		ntrdma_lane_wait(lane, qp, peer);
		break;
	case NTRDMA_TURN_IDLE:
		break;
	}
	ntrdma_qp_put(qp);
}

/* Publish frames whose payload a DMA engine has copied. */
static void ntrdma_lane_publish_copies(struct ntrdma_lane *lane)
{
	struct ntrdma_peer *peer;
	u32 prod;

	peer = ntrdma_copies_take(lane, &prod);
	if (peer)
		ntrdma_tx_publish(peer, lane->number, prod, prod);
}

/*
 * Transmit, unless another task is the transmitter. A task that makes a QP
 * ready first adds the QP to the list, then tries to set the bit. The owner
 * first clears the bit, then checks the list. Both are ordered by full barriers,
 * so at least one of them sees the other. The same is true of copies that a DMA
 * engine has finished.
 *
 * Return true if QPs are left, and the caller must let the poll run.
 */
static bool ntrdma_lane_transmit(struct ntrdma_lane *lane, unsigned int turns)
{
	struct ntrdma_qp *qp;

	do {
		if (test_and_set_bit(NTRDMA_LANE_OWNED, &lane->flags))
			return false;
		ntrdma_lane_publish_copies(lane);
		while (turns) {
			qp = ntrdma_lane_pop(lane);
			if (!qp)
				break;
			ntrdma_lane_turn(lane, qp);
			turns--;
		}
		clear_bit_unlock(NTRDMA_LANE_OWNED, &lane->flags);
		smp_mb__after_atomic(); /* Pairs with test_and_set_bit(). */
		if (list_empty(&lane->ready) && !ntrdma_copies_due(lane))
			return false;
	} while (turns);
	return true;
}

static ktime_t ntrdma_us(u32 us)
{
	return ns_to_ktime((u64)us * NSEC_PER_USEC);
}

/* Without doorbells: an answer is likely, so poll soon. */
static void ntrdma_lane_busy(struct ntrdma_lane *lane)
{
	if (ntrdma_win_bells(lane->dev))
		return;
	WRITE_ONCE(lane->traffic, ktime_get());
	if (READ_ONCE(lane->idle_us) == NTRDMA_BUSY_US)
		return;
	WRITE_ONCE(lane->idle_us, NTRDMA_BUSY_US);
	hrtimer_start(&lane->timer, ntrdma_us(NTRDMA_BUSY_US),
		      HRTIMER_MODE_REL);
}

/**
 * ntrdma_lane_expect - poll a lane soon, because an answer is likely
 * @lane: lane
 *
 * Context: any, except hard interrupts; RCU read-side section.
 */
void ntrdma_lane_expect(struct ntrdma_lane *lane)
{
	if (!test_bit(NTRDMA_LANE_CLOSED, &lane->flags))
		ntrdma_lane_busy(lane);
}

static void ntrdma_lane_try_transmit(struct ntrdma_lane *lane)
{
	local_bh_disable();
	rcu_read_lock();
	if (!test_bit(NTRDMA_LANE_CLOSED, &lane->flags)) {
		if (ntrdma_lane_transmit(lane, NTRDMA_TASK_TURNS))
			ntrdma_lane_start(lane);
		ntrdma_lane_busy(lane);
	}
	rcu_read_unlock();
	local_bh_enable();
}

/* The poll transmits at its end, so a task inside the poll need not do so. */
static bool ntrdma_lane_in_poll(struct ntrdma_lane *lane)
{
	return READ_ONCE(lane->poller) == current;
}

/**
 * ntrdma_lane_kick - send what a QP has to send
 * @qp: QP
 *
 * A QP that waits for room stays where it is.
 *
 * Context: any. The caller holds no lock that ntrdma_qp_turn() takes.
 */
void ntrdma_lane_kick(struct ntrdma_qp *qp)
{
	struct ntrdma_lane *lane = READ_ONCE(qp->lane);

	ntrdma_lane_queue(lane, qp, &lane->ready);
	if (!in_hardirq() && ntrdma_lane_in_poll(lane))
		return;
	if (in_hardirq() || irqs_disabled())
		ntrdma_lane_schedule(lane);
	else
		ntrdma_lane_try_transmit(lane);
}

/**
 * ntrdma_lane_finish - let the poll call ntrdma_qp_finish()
 * @qp: QP
 *
 * Context: any.
 */
void ntrdma_lane_finish(struct ntrdma_qp *qp)
{
	struct ntrdma_lane *lane = READ_ONCE(qp->lane);
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	if (list_empty(&qp->fin_entry))
		list_add_tail(&qp->fin_entry, &lane->finish);
	spin_unlock_irqrestore(&lane->lock, flags);
	if (in_hardirq() || !ntrdma_lane_in_poll(lane))
		ntrdma_lane_schedule(lane);
}

/**
 * ntrdma_lane_forget - take a QP off all lists of its lane
 * @qp: QP without users, so no transmitter adds it to a list again
 */
void ntrdma_lane_forget(struct ntrdma_qp *qp)
{
	struct ntrdma_lane *lane = qp->lane;
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	list_del_init(&qp->tx_entry);
	list_del_init(&qp->fin_entry);
	spin_unlock_irqrestore(&lane->lock, flags);
}

/*
 * The poll.
 */

/* Tell the peer which cells are consumed. */
static void ntrdma_rx_tell(struct ntrdma_peer *peer, u8 lane)
{
	struct ntrdma_ring *rx = &peer->ring[lane].rx;

	rx->told = rx->cons;
	ntrdma_win_publish(peer, NTRDMA_RING_WORD(lane, cons), rx->cons);
	if (!ntrdma_peer_has_bells(peer))
		return;
	if (ntrdma_win_coherent(peer)) {
		ntrdma_win_mb();
		if (!ntrdma_win_get(peer, NTRDMA_RING_WORD(lane, room)))
			return;
	} else if (!ntrdma_ring_must_wake(rx)) {
		return;
	}
	rx->rung = rx->cons;
	ntrdma_peer_ring(peer, lane);
}

static bool ntrdma_rx_bad(struct ntrdma_peer *peer,
			  enum ntrdma_frame_fault fault)
{
	if (fault == NTRDMA_FRAME_GOOD)
		return false;
	ntrdma_link_fault(peer, fault == NTRDMA_FRAME_BAD_SEAL ?
				NTRDMA_REASON_BAD_SEAL :
				NTRDMA_REASON_BAD_FRAME);
	return true;
}

/*
 * Take the first frame. Its header is copied once. The payload is in the copy
 * of the header, or in the next cells, which the peer can change at any time.
 */
static bool ntrdma_rx_take(struct ntrdma_lane *lane, struct ntrdma_peer *peer,
			   struct ntrdma_quota *quota)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane->number];
	struct ntrdma_frame_place at = {
		.index = ring->rx.cons,
		.session = peer->number,
		.filled = ntrdma_ring_filled(&ring->rx),
		.to_end = ntrdma_ring_to_end(&ring->rx, ring->rx.cons),
		.chunk = peer->chunk,
		.is_eth = lane->number == NTRDMA_ETH_RING,
	};
	const void *cell = ring->in + (size_t)NTRDMA_CELL *
			   ntrdma_ring_slot(&ring->rx, ring->rx.cons);
	struct ntrdma_frame frame;
	struct ntrdma_wire_hdr hdr;

	ntrdma_win_copy(&hdr, cell, sizeof(hdr));
	if (ntrdma_rx_bad(peer, ntrdma_frame_decode(&frame, &hdr, &at)))
		return false;
	trace_ntrdma_frame_taken(lane->dev->ib.index, peer->member,
				 lane->number, &frame);
	if (frame.kind == NTRDMA_ETH)
		ntrdma_eth_take(lane, &frame, cell + NTRDMA_CELL);
	else if (frame.kind != NTRDMA_PAD)
		ntrdma_take(lane, peer, &frame, frame.bytes <= NTRDMA_SHORT ?
			    hdr.data : cell + NTRDMA_CELL);
	ring->rx.cons += frame.cells;
	quota->frames--;
	quota->bytes -= frame.bytes;
	ntrdma_count(lane->dev, NTRDMA_STAT_FRAMES_TAKEN);
	ntrdma_count_add(lane->dev, NTRDMA_STAT_BYTES_TAKEN, frame.bytes);
	return true;
}

static void ntrdma_rx_take_some(struct ntrdma_lane *lane,
				struct ntrdma_peer *peer,
				struct ntrdma_quota *quota)
{
	struct ntrdma_ring *rx = &peer->ring[lane->number].rx;
	u32 prod = ntrdma_win_acquire(peer,
				      NTRDMA_RING_WORD(lane->number, prod));
	int end = quota->frames - NTRDMA_PEER_FRAMES;

	if (!ntrdma_ring_set_prod(rx, prod)) {
		ntrdma_link_fault(peer, NTRDMA_REASON_BAD_INDEX);
		return;
	}
	while (ntrdma_ring_filled(rx) && quota->frames > end &&
	       !ntrdma_quota_is_used(quota)) {
		if (!ntrdma_rx_take(lane, peer, quota))
			return;
		if (ntrdma_ring_must_tell(rx, false))
			ntrdma_rx_tell(peer, lane->number);
	}
}

/* Take frames of all peers in turn until all are taken or the quota ends. */
static void ntrdma_lane_take(struct ntrdma_lane *lane,
			     struct ntrdma_quota *quota)
{
	struct ntrdma_peer *peer;
	unsigned int i;
	int before;

	do {
		before = quota->frames;
		for (i = 0; i < NTRDMA_MEMBERS; i++) {
			peer = ntrdma_lane_peer(lane, (lane->first + i) %
						      NTRDMA_MEMBERS);
			if (peer && !ntrdma_quota_is_used(quota))
				ntrdma_rx_take_some(lane, peer, quota);
		}
	} while (quota->frames != before && !ntrdma_quota_is_used(quota));
	lane->first = (lane->first + 1) % NTRDMA_MEMBERS;
}

static struct ntrdma_qp *ntrdma_lane_pop_finish(struct ntrdma_lane *lane)
{
	struct ntrdma_qp *qp;
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	while ((qp = list_first_entry_or_null(&lane->finish, struct ntrdma_qp,
					      fin_entry))) {
		list_del_init(&qp->fin_entry);
		if (ntrdma_qp_hold(qp))
			break;
	}
	spin_unlock_irqrestore(&lane->lock, flags);
	return qp;
}

static void ntrdma_lane_finish_all(struct ntrdma_lane *lane)
{
	struct ntrdma_qp *qp;
	unsigned int i;

	for (i = 0; i < NTRDMA_POLL_FINISH; i++) {
		qp = ntrdma_lane_pop_finish(lane);
		if (!qp)
			return;
		ntrdma_qp_finish(qp);
		ntrdma_qp_put(qp);
	}
}

/*
 * Make QPs ready whose peer has consumed cells since the last time. The value
 * of the last time belongs to the poll, because the transmitter may read cons
 * for another QP, and then not use the room. The lock orders this check after
 * the doorbell, and against ntrdma_lane_wait(). QPs that waited come first, so
 * that short frames of others cannot take all room.
 */
static void ntrdma_lane_room(struct ntrdma_lane *lane)
{
	struct ntrdma_link_ring *ring;
	struct ntrdma_peer *peer;
	unsigned int i;
	u32 cons;

	spin_lock(&lane->lock);
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_lane_peer(lane, i);
		if (!peer)
			continue;
		ring = &peer->ring[lane->number];
		cons = ntrdma_win_get(peer, NTRDMA_RING_WORD(lane->number, cons));
		if (cons == ring->woken)
			continue;
		WRITE_ONCE(ring->woken, cons);
		list_splice_init(&ring->waiting, &lane->ready);
		if (lane->number == NTRDMA_ETH_RING)
			ntrdma_eth_wake(peer);
	}
	spin_unlock(&lane->lock);
}

static bool ntrdma_peer_has_news(struct ntrdma_peer *peer)
{
	return ntrdma_win_get(peer, NTRDMA_WORD(hello.my)) !=
		       READ_ONCE(peer->seen[0]) ||
	       ntrdma_win_get(peer, NTRDMA_WORD(yours)) !=
		       READ_ONCE(peer->seen[1]) ||
	       ntrdma_win_get(peer, NTRDMA_WORD(state)) !=
		       READ_ONCE(peer->seen[2]);
}

/* Lane 0: wake the link work if a peer has changed its session or its state. */
static void ntrdma_lane_news(struct ntrdma_lane *lane)
{
	struct ntrdma_peer *peer;
	unsigned int i;

	if (lane->number || ntrdma_win_is_cut(lane->dev))
		return;
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = rcu_dereference(lane->dev->peers[i]);
		if (peer && ntrdma_peer_has_news(peer)) {
			ntrdma_link_kick(lane->dev);
			return;
		}
	}
}

/*
 * Go to sleep on the ring of a peer, and look again. A coherent peer rings the
 * doorbell when its prod passes the word bell. A bell that already has this
 * value need not be written again, but it was also ordered before this read.
 *
 * Return true if the ring has frames.
 */
static bool ntrdma_rx_sleep(struct ntrdma_peer *peer, u8 lane)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane];

	if (ntrdma_ring_must_tell(&ring->rx, true))
		ntrdma_rx_tell(peer, lane);
	if (ntrdma_win_coherent(peer) && ntrdma_peer_has_bells(peer) &&
	    ring->bell != ring->rx.cons) {
		ring->bell = ring->rx.cons;
		ntrdma_win_set(peer, NTRDMA_RING_WORD(lane, bell), ring->bell);
		ntrdma_win_mb();
	}
	return ntrdma_win_get(peer, NTRDMA_RING_WORD(lane, prod)) !=
	       ring->rx.cons;
}

/*
 * Take doorbells again before the lane looks at indexes and pages for the last
 * time. A change after that rings.
 */
static void ntrdma_lane_unmask(struct ntrdma_lane *lane)
{
	struct ntrdma_dev *dev = lane->dev;

	if (dev->config.ops->unmask)
		dev->config.ops->unmask(dev, lane->number);
}

static bool ntrdma_lane_sleep(struct ntrdma_lane *lane)
{
	struct ntrdma_peer *peer;
	bool more = false;
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_lane_peer(lane, i);
		if (peer && ntrdma_rx_sleep(peer, lane->number))
			more = true;
	}
	return more;
}

/*
 * Send NAKs for QPs that do not exist. NAKs without room wait for the doorbell
 * of the peer.
 *
 * Return true if another task is the transmitter, so the poll must try again.
 */
static bool ntrdma_lane_naks(struct ntrdma_lane *lane)
{
	struct ntrdma_peer *peer;
	bool left = false;
	unsigned int i;

	if (!lane->naks)
		return false;
	if (test_and_set_bit(NTRDMA_LANE_OWNED, &lane->flags))
		return true;
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_lane_peer(lane, i);
		if (peer && !ntrdma_send_naks(lane, peer))
			left = true;
	}
	lane->naks = left;
	clear_bit_unlock(NTRDMA_LANE_OWNED, &lane->flags);
	return false;
}

/* Return true if the poll must run again. */
static bool ntrdma_lane_work(struct ntrdma_lane *lane,
			     struct ntrdma_quota *quota)
{
	bool more;

	ntrdma_lane_take(lane, quota);
	ntrdma_lane_finish_all(lane);
	more = ntrdma_quota_is_used(quota);
	if (!more)
		ntrdma_lane_unmask(lane);
	ntrdma_lane_news(lane);
	ntrdma_lane_room(lane);
	if (ntrdma_lane_naks(lane))
		more = true;
	if (ntrdma_lane_transmit(lane, NTRDMA_POLL_TURNS))
		more = true;
	return more || !list_empty(&lane->finish);
}

/*
 * Waiting for further frames (spin_us). While a lane waits, peers ring no
 * doorbell for a frame, because the word bell is that of the last sleep.
 */

/*
 * A lane waits only if another processor can run what it waits for. Packets do
 * not wait, because the poll hands some of them over at its end only.
 */
static bool ntrdma_lane_may_spin(const struct ntrdma_lane *lane)
{
	return READ_ONCE(ntrdma_spin_us) && num_online_cpus() > 1 &&
	       lane->number != NTRDMA_ETH_RING;
}

/*
 * Check whether anything but a frame needs the poll or its processor: a task, or
 * another poll, which may be that of the peer in the same kernel.
 * The end of the device, a doorbell, or a QP that is ready also needs the poll.
 */
static bool ntrdma_lane_is_wanted(const struct ntrdma_lane *lane)
{
	return need_resched() ||
	       !list_empty(&this_cpu_ptr(&softnet_data)->poll_list) ||
	       test_bit(NTRDMA_LANE_CLOSED, &lane->flags) ||
	       test_bit(NAPI_STATE_MISSED, &lane->napi.state);
}

static bool ntrdma_lane_has_frames(struct ntrdma_lane *lane)
{
	struct ntrdma_peer *peer;
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_lane_peer(lane, i);
		if (peer && ntrdma_win_get(peer, NTRDMA_RING_WORD(lane->number,
								  prod)) !=
			    peer->ring[lane->number].rx.cons)
			return true;
	}
	return false;
}

/* Tell all peers which cells are consumed. */
static void ntrdma_lane_tell(struct ntrdma_lane *lane)
{
	struct ntrdma_peer *peer;
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_lane_peer(lane, i);
		if (peer && ntrdma_ring_must_tell(&peer->ring[lane->number].rx,
						  true))
			ntrdma_rx_tell(peer, lane->number);
	}
}

/*
 * Wait until spin_us after the last frame, at most until END. Return true if
 * the ring has frames.
 */
static bool ntrdma_lane_spin(struct ntrdma_lane *lane, ktime_t end)
{
	ktime_t until = ktime_add_us(lane->last_frame,
				     READ_ONCE(ntrdma_spin_us));

	if (ktime_before(end, until))
		until = end;
	if (!ktime_before(ktime_get(), until))
		return false;
	ntrdma_count(lane->dev, NTRDMA_STAT_SPINS);
	ntrdma_lane_tell(lane);
	do {
		if (ntrdma_lane_has_frames(lane))
			return true;
		cpu_relax();
	} while (!ntrdma_lane_is_wanted(lane) &&
		 ktime_before(ktime_get(), until));
	return false;
}

/* Work, and wait for further frames and take them as long as that is allowed. */
static bool ntrdma_lane_work_on(struct ntrdma_lane *lane,
				struct ntrdma_quota *quota)
{
	bool may_spin = ntrdma_lane_may_spin(lane);
	ktime_t end = may_spin ? ktime_add_us(ktime_get(), NTRDMA_SPIN_POLL_US) :
				 0;
	bool more;
	int before;

	do {
		before = quota->frames;
		more = ntrdma_lane_work(lane, quota);
		if (may_spin && quota->frames != before)
			lane->last_frame = ktime_get();
	} while (may_spin && !more && !ntrdma_quota_is_used(quota) &&
		 ntrdma_lane_spin(lane, end));
	return ntrdma_lane_sleep(lane) || more;
}

/* Without doorbells, lane 0 also looks for peers that have begun a session. */
static bool ntrdma_lane_is_used(struct ntrdma_lane *lane)
{
	unsigned int i;

	if (!lane->number && READ_ONCE(lane->dev->up))
		return true;
	for (i = 0; i < NTRDMA_MEMBERS; i++)
		if (ntrdma_lane_peer(lane, i))
			return true;
	return false;
}

/* Without doorbells: start the timer of the next poll. */
static void ntrdma_lane_doze(struct ntrdma_lane *lane, bool busy)
{
	u32 us = READ_ONCE(lane->idle_us);

	if (ntrdma_win_bells(lane->dev) || !ntrdma_lane_is_used(lane))
		return;
	if (busy) {
		us = NTRDMA_BUSY_US;
		WRITE_ONCE(lane->traffic, ktime_get());
	} else if (ktime_us_delta(ktime_get(), READ_ONCE(lane->traffic)) >
		   NTRDMA_BUSY_END_US) {
		us = clamp_t(u32, 2 * us, NTRDMA_BUSY_US, ntrdma_idle_us);
	}
	WRITE_ONCE(lane->idle_us, us);
	hrtimer_start(&lane->timer, ntrdma_us(us), HRTIMER_MODE_REL);
}

static int ntrdma_lane_poll(struct napi_struct *napi, int budget)
{
	struct ntrdma_lane *lane = container_of(napi, struct ntrdma_lane, napi);
	struct ntrdma_quota quota = {
		.frames = min_t(int, budget, NTRDMA_POLL_FRAMES),
		.bytes = NTRDMA_POLL_BYTES,
	};
	int begin = quota.frames;
	bool more = false;

	if (!budget)
		return 0;
	rcu_read_lock();
	if (!test_bit(NTRDMA_LANE_CLOSED, &lane->flags)) {
		ntrdma_count(lane->dev, NTRDMA_STAT_POLLS);
		WRITE_ONCE(lane->poller, current);
		more = ntrdma_lane_work_on(lane, &quota);
		WRITE_ONCE(lane->poller, NULL);
		if (quota.frames != begin)
			WRITE_ONCE(lane->bells, 0);
		if (!more)
			ntrdma_lane_doze(lane, quota.frames != begin);
	}
	rcu_read_unlock();
	if (more)
		return budget;
	napi_complete_done(napi, min(begin - quota.frames, budget - 1));
	return min(begin - quota.frames, budget - 1);
}

/*
 * Life of the lanes.
 */

static void ntrdma_lane_init(struct ntrdma_dev *dev, u8 number)
{
	struct ntrdma_lane *lane = &dev->lane[number];

	lane->dev = dev;
	lane->number = number;
	lane->idle_us = NTRDMA_BUSY_US;
	spin_lock_init(&lane->lock);
	INIT_LIST_HEAD(&lane->ready);
	INIT_LIST_HEAD(&lane->finish);
	hrtimer_setup(&lane->timer, ntrdma_lane_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	netif_napi_add(dev->napi_dev, &lane->napi, ntrdma_lane_poll);
	napi_enable(&lane->napi);
}

/* The ring for Ethernet needs no memory between the packet and the window. */
static int ntrdma_lanes_add_bounce(struct ntrdma_dev *dev)
{
	u8 i;

	if (dev->config.ops->flags & NTRDMA_COHERENT)
		return 0;
	for (i = 0; i < dev->lanes; i++) {
		dev->lane[i].bounce = kvmalloc(NTRDMA_CHUNK_MAX, GFP_KERNEL);
		if (!dev->lane[i].bounce)
			return -ENOMEM;
	}
	return 0;
}

/**
 * ntrdma_lanes_init - create the lanes of a device
 * @dev: device; ntrdma_dev.lanes is set
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ntrdma_lanes_init(struct ntrdma_dev *dev)
{
	u8 i;

	dev->napi_dev = krdma_alloc_dummy();
	if (!dev->napi_dev)
		return -ENOMEM;
	for (i = 0; i < NTRDMA_RINGS; i++)
		if (ntrdma_has_lane(dev, i))
			ntrdma_lane_init(dev, i);
	return ntrdma_lanes_add_bounce(dev) ?: ntrdma_copies_init(dev);
}

/**
 * ntrdma_lanes_stop - end all polls and transmitters
 * @dev: device; all links are closed, and there are no QPs
 *
 * Doorbells, the timer, and tasks that post start a poll in an RCU read-side
 * section in which they check NTRDMA_LANE_CLOSED. So after the grace period
 * only polls that were started before are left.
 *
 * Context: may sleep.
 */
void ntrdma_lanes_stop(struct ntrdma_dev *dev)
{
	u8 i;

	if (!dev->napi_dev)
		return;
	for (i = 0; i < NTRDMA_RINGS; i++)
		set_bit(NTRDMA_LANE_CLOSED, &dev->lane[i].flags);
	synchronize_rcu();
	for (i = 0; i < NTRDMA_RINGS; i++) {
		if (!ntrdma_has_lane(dev, i))
			continue;
		hrtimer_cancel(&dev->lane[i].timer);
		napi_disable(&dev->lane[i].napi);
	}
}

/**
 * ntrdma_lanes_free - free what ntrdma_lanes_init() has created
 * @dev: device whose lanes are stopped
 *
 * Context: may sleep.
 */
void ntrdma_lanes_free(struct ntrdma_dev *dev)
{
	u8 i;

	if (!dev->napi_dev)
		return;
	ntrdma_copies_free(dev);
	for (i = 0; i < NTRDMA_RINGS; i++) {
		if (ntrdma_has_lane(dev, i))
			netif_napi_del(&dev->lane[i].napi);
		kvfree(dev->lane[i].bounce);
	}
	krdma_free_dummy(dev->napi_dev);
	dev->napi_dev = NULL;
}

/* The memory of the ring for Ethernet follows that of the last lane. */
static void ntrdma_link_ring_init(struct ntrdma_peer *peer, u8 lane,
				  const struct ntrdma_terms *terms)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane];
	u8 place = lane == NTRDMA_ETH_RING ? terms->lanes : lane;
	size_t offset = ntrdma_ring_offset(place, terms->ring_bytes);

	ntrdma_ring_init(&ring->rx, terms->ring_bytes);
	ntrdma_ring_init(&ring->tx, terms->ring_bytes);
	ring->in = peer->window.in + offset;
	ring->out = peer->window.out + offset;
	ring->bell = 0;
	ring->asked = false;
	ring->is_late = false;
	ring->num_naks = 0;
	ring->full_since = 0;
	ring->woken = 0;
}

/**
 * ntrdma_lane_open - let the lanes use the rings of a peer
 * @peer: peer whose session is UP
 * @terms: terms of the session
 *
 * The peer may already have sent frames, and rung the doorbell, so all lanes
 * poll once.
 *
 * Context: ntrdma_dev.mutex is held; no lane uses the rings.
 */
void ntrdma_lane_open(struct ntrdma_peer *peer,
		      const struct ntrdma_terms *terms)
{
	u8 i;

	lockdep_assert_held(&peer->dev->mutex);
	for (i = 0; i < NTRDMA_RINGS; i++)
		if (ntrdma_peer_has_ring(peer, i))
			ntrdma_link_ring_init(peer, i, terms);
	peer->number = peer->session.my;
	peer->yours = peer->session.yours;
	peer->chunk = terms->chunk;
	atomic_set(&peer->fault, NTRDMA_REASON_NONE);
	smp_store_release(&peer->open, true); /* ntrdma_lane_peer() */
	for (i = 0; i < NTRDMA_RINGS; i++)
		if (ntrdma_has_lane(peer->dev, i))
			ntrdma_lane_schedule(&peer->dev->lane[i]);
}

/**
 * ntrdma_lane_wake - give all QPs a turn that wait for room of a peer
 * @peer: peer
 *
 * Context: any.
 */
void ntrdma_lane_wake(struct ntrdma_peer *peer)
{
	struct ntrdma_dev *dev = peer->dev;
	u8 i;

	for (i = 0; i < NTRDMA_RINGS; i++) {
		if (!ntrdma_has_lane(dev, i))
			continue;
		ntrdma_lane_unwait(&dev->lane[i], peer);
		ntrdma_lane_schedule(&dev->lane[i]);
	}
}

/* Return true if the rings need a poll, and none is scheduled. */
static bool ntrdma_lane_is_late(struct ntrdma_lane *lane,
				struct ntrdma_peer *peer, u32 *indexes)
{
	struct ntrdma_link_ring *ring = &peer->ring[lane->number];
	u32 prod = ntrdma_win_get(peer, NTRDMA_RING_WORD(lane->number, prod));
	u32 cons = READ_ONCE(ring->rx.cons);

	*indexes = prod + cons +
		   ntrdma_win_get(peer, NTRDMA_RING_WORD(lane->number, cons));
	if (test_bit(NAPI_STATE_SCHED, &lane->napi.state))
		return false;
	return prod != cons ||
	       (!list_empty(&ring->waiting) &&
		ntrdma_win_get(peer, NTRDMA_RING_WORD(lane->number, cons)) !=
		READ_ONCE(ring->woken));
}

/**
 * ntrdma_lane_check - look for lost wakeups
 * @peer: peer
 *
 * At each tick, a lane that has something to do and is not scheduled is
 * scheduled. It is counted only if no index has changed since the last tick,
 * because the doorbell may be on its way.
 *
 * Context: ntrdma_dev.mutex is held.
 */
void ntrdma_lane_check(struct ntrdma_peer *peer)
{
	struct ntrdma_dev *dev = peer->dev;
	struct ntrdma_link_ring *ring;
	bool is_late;
	u32 indexes;
	u8 i;

	for (i = 0; i < NTRDMA_RINGS; i++) {
		if (!ntrdma_has_lane(dev, i) || !ntrdma_peer_has_ring(peer, i))
			continue;
		/* The link of the device to itself does not use the engine. */
		if (!ntrdma_win_coherent(peer) &&
		    ntrdma_copies_are_late(&dev->lane[i]))
			ntrdma_link_fault(peer, NTRDMA_REASON_ENGINE);
		ring = &peer->ring[i];
		is_late = ntrdma_lane_is_late(&dev->lane[i], peer, &indexes);
		if (is_late && ring->is_late && ring->late == indexes) {
			ntrdma_count(dev, NTRDMA_STAT_LATE_WAKEUPS);
			ntrdma_lane_schedule(&dev->lane[i]);
		}
		ring->is_late = is_late;
		ring->late = indexes;
		/* Datagrams and packets that wait for this ring are dropped. */
		if (ntrdma_ring_is_blocked(peer, i)) {
			ntrdma_lane_unwait(&dev->lane[i], peer);
			ntrdma_lane_schedule(&dev->lane[i]);
			if (i == NTRDMA_ETH_RING)
				ntrdma_eth_wake(peer);
		}
	}
}

/*
 * Count a doorbell. The count begins again when the lane finds a frame, and
 * after some time. Doorbells on several processors may be counted once: that
 * only makes the limit larger.
 */
static bool ntrdma_lane_is_calm(struct ntrdma_lane *lane)
{
	u32 bells = READ_ONCE(lane->bells);

	if (time_after(jiffies, READ_ONCE(lane->bells_until))) {
		WRITE_ONCE(lane->bells_until, jiffies +
			   msecs_to_jiffies(NTRDMA_STORM_MS));
		bells = 0;
	}
	WRITE_ONCE(lane->bells, bells + 1);
	if (bells != ntrdma_storm_bells)
		return bells < ntrdma_storm_bells;
	ntrdma_count(lane->dev, NTRDMA_STAT_BELL_STORMS);
	return false;
}

/**
 * ntrdma_bell - take a doorbell
 * @dev: device
 * @lane: number of the lane, from the back end
 *
 * Context: any.
 * Return: false if there is no such lane, or if there were more doorbells
 * without a frame than storm_bells allows. The back end should then ignore
 * doorbells for a while.
 */
bool ntrdma_bell(struct ntrdma_dev *dev, u8 lane)
{
	if (lane >= NTRDMA_RINGS || !ntrdma_has_lane(dev, lane))
		return false;
	ntrdma_count(dev, NTRDMA_STAT_BELLS_TAKEN);
	ntrdma_lane_schedule(&dev->lane[lane]);
	return ntrdma_lane_is_calm(&dev->lane[lane]);
}
EXPORT_SYMBOL_NS_GPL(ntrdma_bell, NTRDMA_NS);
