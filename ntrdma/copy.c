// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of payloads by a DMA engine.
 *
 * A lane has a few buffers. The transmitter writes a payload to one of them, and
 * the engine copies it to the window. Frames behind it may be written by then,
 * but the index prod passes a payload only after it has been copied. So the
 * buffers of a lane are a queue in the order of the frames, whatever the order
 * is in which the engine finishes. If all buffers are in use, or the engine
 * refuses or fails, the processor copies.
 *
 * A copy that has ended schedules its lane, and the next transmitter publishes
 * the frame. A session ends only after the engine has finished all its copies,
 * because the next session uses the same window (ntrdma_copies_end()). An engine
 * that does not finish is stopped, and no longer used.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include <compat.h>

#include "win.h"

/* Buffers of a lane. */
#define NTRDMA_COPIES		8
/* Time after which a copy is late, in ms. */
#define NTRDMA_COPY_MS		1000

enum ntrdma_copy_state {
	NTRDMA_COPY_BUSY,	/* the engine copies */
	NTRDMA_COPY_DONE,
	NTRDMA_COPY_FAILED,
};

static struct ntrdma_copy_buf *ntrdma_copy_first(struct ntrdma_lane *lane)
{
	return &lane->copies[lane->copy_first % NTRDMA_COPIES];
}

/**
 * ntrdma_copies_any - check whether the engine has frames of a lane
 * @lane: lane
 *
 * Context: any. Only the transmitter gets a value that does not change.
 * Return: true if there are frames that must be published later.
 */
bool ntrdma_copies_any(const struct ntrdma_lane *lane)
{
	return READ_ONCE(lane->copy_first) != READ_ONCE(lane->copy_next);
}

/**
 * ntrdma_copy_get - find a buffer for a payload
 * @lane: lane
 * @peer: peer
 * @bytes: bytes of the payload
 *
 * The caller calls ntrdma_copy_start(), or does not use the buffer any more.
 *
 * Context: transmitter of the lane.
 * Return: buffer, or NULL if the processor shall copy.
 */
struct ntrdma_copy_buf *ntrdma_copy_get(struct ntrdma_lane *lane,
					struct ntrdma_peer *peer, u32 bytes)
{
	if (!lane->copies || bytes < READ_ONCE(lane->dev->config.copy_min) ||
	    ntrdma_win_coherent(peer) ||
	    lane->copy_next - lane->copy_first == NTRDMA_COPIES)
		return NULL;
	return &lane->copies[lane->copy_next % NTRDMA_COPIES];
}

/**
 * ntrdma_copy_start - let the engine copy a payload
 * @copy: buffer of ntrdma_copy_get() with the payload
 * @peer: peer
 * @to: place in the window
 * @bytes: bytes of the payload
 * @start: value of prod before the frame
 *
 * The engine copies whole cells, which is faster than an odd number of bytes.
 * The rest of the last cell belongs to the frame, and is ignored.
 *
 * Context: transmitter of the lane.
 * Return: false if the processor must copy instead.
 */
bool ntrdma_copy_start(struct ntrdma_copy_buf *copy, struct ntrdma_peer *peer,
		       void __iomem *to, u32 bytes, u32 start)
{
	struct ntrdma_dev *dev = peer->dev;

	copy->peer = peer;
	copy->to = to;
	copy->offset = to - peer->window.out;
	copy->bytes = ALIGN(bytes, NTRDMA_CELL);
	copy->start = start;
	WRITE_ONCE(copy->begun, jiffies);
	copy->state = NTRDMA_COPY_BUSY;
	if (dev->config.copy_ops->start(dev, copy))
		return false;
	WRITE_ONCE(copy->lane->copy_next, copy->lane->copy_next + 1);
	return true;
}

/**
 * ntrdma_copy_done - note that the engine has ended a copy
 * @copy: copy
 * @ok: the bytes are in the window
 *
 * The read-side section keeps the lane, because the device may be destroyed when
 * it has no copies left.
 *
 * Context: any.
 */
void ntrdma_copy_done(struct ntrdma_copy_buf *copy, bool ok)
{
	int state = ok ? NTRDMA_COPY_DONE : NTRDMA_COPY_FAILED;
	struct ntrdma_lane *lane = copy->lane;

	rcu_read_lock();
	smp_store_release(&copy->state, state); /* ntrdma_copies_due() */
	ntrdma_lane_schedule(lane);
	rcu_read_unlock();
}
EXPORT_SYMBOL_NS_GPL(ntrdma_copy_done, NTRDMA_NS);

/**
 * ntrdma_copies_due - check whether ntrdma_copies_take() has something to do
 * @lane: lane
 *
 * If the device is cut, frames wait until the end of that or of the session.
 *
 * Context: RCU read-side section.
 * Return: true if the oldest copy has ended.
 */
bool ntrdma_copies_due(struct ntrdma_lane *lane)
{
	struct ntrdma_copy_buf *copy;

	if (!ntrdma_copies_any(lane))
		return false;
	copy = ntrdma_copy_first(lane);
	if (smp_load_acquire(&copy->state) == /* ntrdma_copy_done() */
	    NTRDMA_COPY_BUSY)
		return false;
	return !ntrdma_win_is_cut(lane->dev) || !READ_ONCE(copy->peer->open);
}

/* The session may have ended. Then nothing is written any more. */
static void ntrdma_copy_end(struct ntrdma_copy_buf *copy, bool usable)
{
	struct ntrdma_dev *dev = copy->lane->dev;

	if (copy->state == NTRDMA_COPY_DONE) {
		ntrdma_count(dev, NTRDMA_STAT_DMA_COPIES);
		return;
	}
	ntrdma_count(dev, NTRDMA_STAT_DMA_FAILED);
	if (usable)
		ntrdma_win_write(copy->peer, copy->to, copy->from, copy->bytes);
}

/**
 * ntrdma_copies_take - finish the frames whose payload has been copied
 * @lane: lane
 * @prod: result: index up to which frames are complete
 *
 * Context: transmitter of the lane.
 * Return: peer for which to publish @prod, or NULL if there is nothing to
 * publish.
 */
struct ntrdma_peer *ntrdma_copies_take(struct ntrdma_lane *lane, u32 *prod)
{
	struct ntrdma_peer *peer = NULL;
	bool usable = false;

	while (ntrdma_copies_due(lane)) {
		peer = ntrdma_copy_first(lane)->peer;
		usable = ntrdma_peer_is_usable(peer);
		ntrdma_copy_end(ntrdma_copy_first(lane), usable);
		WRITE_ONCE(lane->copy_first, lane->copy_first + 1);
	}
	if (!usable)
		return NULL;
	*prod = ntrdma_copies_any(lane) ? ntrdma_copy_first(lane)->start :
					  peer->ring[lane->number].tx.prod;
	return peer;
}

/**
 * ntrdma_copies_are_late - check whether the engine of a lane does not finish
 * @lane: lane
 *
 * Context: any.
 * Return: true if the oldest copy began long ago.
 */
bool ntrdma_copies_are_late(const struct ntrdma_lane *lane)
{
	const struct ntrdma_copy_buf *copy;

	if (!ntrdma_copies_any(lane))
		return false;
	copy = &lane->copies[READ_ONCE(lane->copy_first) % NTRDMA_COPIES];
	return READ_ONCE(copy->state) == NTRDMA_COPY_BUSY &&
	       time_after(jiffies, READ_ONCE(copy->begun) +
				   msecs_to_jiffies(NTRDMA_COPY_MS));
}

/*
 * Let the lanes take what has ended. Return true if copies are left, and in
 * @late whether the engine does not finish one of them.
 */
static bool ntrdma_copies_left(struct ntrdma_dev *dev, bool *late)
{
	bool left = false;
	u8 i;

	*late = false;
	for (i = 0; i < dev->lanes; i++) {
		if (!ntrdma_copies_any(&dev->lane[i]))
			continue;
		ntrdma_lane_schedule(&dev->lane[i]);
		*late |= ntrdma_copies_are_late(&dev->lane[i]);
		left = true;
	}
	return left;
}

/* Stop the engine. After that, nobody else changes the states. */
static void ntrdma_copies_stop(struct ntrdma_dev *dev)
{
	struct ntrdma_copy_buf *copy;
	u8 i, n;

	ibdev_warn(&dev->ib,
		   "the DMA engine does not finish, so it is stopped, and processors copy from now on\n");
	WRITE_ONCE(dev->config.copy_min, U32_MAX);
	dev->config.copy_ops->stop(dev);
	for (i = 0; i < dev->lanes; i++) {
		for (n = 0; n < NTRDMA_COPIES; n++) {
			copy = &dev->lane[i].copies[n];
			if (copy->state == NTRDMA_COPY_BUSY)
				ntrdma_copy_done(copy, false);
		}
	}
}

/**
 * ntrdma_copies_end - wait until the engine writes nothing more for a session
 * @peer: peer whose rings are closed for longer than a grace period
 *
 * Context: may sleep; ntrdma_dev.mutex is held.
 */
void ntrdma_copies_end(struct ntrdma_peer *peer)
{
	struct ntrdma_dev *dev = peer->dev;
	bool late;

	lockdep_assert_held(&dev->mutex);
	if (!dev->config.copy_ops || ntrdma_win_coherent(peer))
		return;
	while (ntrdma_copies_left(dev, &late)) {
		if (late)
			ntrdma_copies_stop(dev);
		usleep_range(50, 500);
	}
}

static int ntrdma_lane_add_copies(struct ntrdma_lane *lane)
{
	struct ntrdma_dev *dev = lane->dev;
	struct ntrdma_copy_buf *copy;
	unsigned int i;
	int ret;

	lane->copies = kcalloc(NTRDMA_COPIES, sizeof(*lane->copies),
			       GFP_KERNEL);
	if (!lane->copies)
		return -ENOMEM;
	for (i = 0; i < NTRDMA_COPIES; i++) {
		copy = &lane->copies[i];
		copy->lane = lane;
		copy->state = NTRDMA_COPY_DONE;
		ret = dev->config.copy_ops->alloc(dev, copy);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ntrdma_copies_init - allocate the buffers of a device
 * @dev: device with lanes
 *
 * If it fails, the caller calls ntrdma_copies_free().
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ntrdma_copies_init(struct ntrdma_dev *dev)
{
	int ret = 0;
	u8 i;

	for (i = 0; dev->config.copy_ops && i < dev->lanes && !ret; i++)
		ret = ntrdma_lane_add_copies(&dev->lane[i]);
	return ret;
}

/**
 * ntrdma_copies_free - free the buffers of a device
 * @dev: device whose lanes are stopped
 *
 * Context: may sleep.
 */
void ntrdma_copies_free(struct ntrdma_dev *dev)
{
	unsigned int n;
	u8 i;

	for (i = 0; i < dev->lanes; i++) {
		for (n = 0; dev->lane[i].copies && n < NTRDMA_COPIES; n++)
			if (dev->lane[i].copies[n].from)
				dev->config.copy_ops->free(dev,
						&dev->lane[i].copies[n]);
		kfree(dev->lane[i].copies);
		dev->lane[i].copies = NULL;
	}
}
