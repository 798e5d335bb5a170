/* SPDX-License-Identifier: GPL-2.0 */
/* Rings: streams of records for programs, and their subscriptions. */
#ifndef VRFM_RING_H
#define VRFM_RING_H

#include <linux/hrtimer.h>
#include <linux/jump_label_ratelimit.h>

#include "filter.h"
#include "notice.h"
#include "priv.h"
#include "ringbuf.h"

struct vrfm_mark;
struct vrfm_submit;

/**
 * struct vrfm_done - completion of a submitted batch
 * @entry: place in a list of &struct vrfm_dones
 * @marks: messages that must be acknowledged; kept for later batches
 * @nmarks: number of marks that are set
 * @deadline: time when the wait for acknowledgments ends
 * @cookie: value of the last operation of the batch
 * @serial: number of the batch
 * @result: result of the batch: 0 or an error, like the next members as in
 *	&vrfm_record.done
 * @reached: number of peers that have applied the batch
 * @behind: number of peers that are READY, and have not applied it
 * @absent: number of peers that are not READY
 * @first: one of the peers that are behind, or %VRFM_REC_NO_NODE
 * @ops: number of entries of the batch
 * @failed: index of the invalid operation
 */
struct vrfm_done {
	struct list_head entry;
	struct vrfm_mark *marks;
	int nmarks;
	ktime_t deadline;
	u64 cookie;
	u64 serial;
	int result;
	u32 reached;
	u32 behind;
	u32 absent;
	u16 first;
	u32 ops;
	u32 failed;
};

/**
 * struct vrfm_dones - completions of a ring; under vrfm_ring_ctx.lock
 * @idle: completions that are not in use
 * @tracked: those of batches that wait for acknowledgments, the oldest first
 * @ready: those that wait for a free slot, in their order
 */
struct vrfm_dones {
	struct list_head idle;
	struct list_head tracked;
	struct list_head ready;
};

/**
 * struct vrfm_loop - task that executes the batches of a ring
 * @busy: there is such a task
 * @owner: owner of the file in its process, as in flush()
 * @verdict: 0: the task goes on; 1: it ends with success; otherwise it ends with
 *	this errno
 */
struct vrfm_loop {
	bool busy;
	fl_owner_t owner;
	int verdict;
};

/**
 * struct vrfm_ring_ctx - a ring with its descriptor
 * @vdev: device
 * @file: open file of @vdev, which the ring holds
 * @entry: place in vrfm_dev.rings
 * @clock: clock of the records: CLOCK_...
 * @snap: largest number of bytes of a payload
 * @user: area that the program writes, trusted in nothing
 * @kernel: area that the program maps for reading
 * @nuser: number of pages of @user
 * @npages: number of pages of @kernel
 * @submit: submissions; NULL: the ring has no entries for them
 * @submits_wait: wait queue of the task that executes the batches, see loop.c
 * @reading: held while read() copies records
 * @control: held while a subscription is added or removed
 * @wait: wait queue of tasks in read() and %VRFM_RING_ENTER
 * @pollers: wait queue of tasks that poll
 * @timer: wakes both queues when a record has been unread for too long
 * @lock: protects all members below; the innermost lock
 * @buf: the stream of records
 * @since: time since which a record is unread, see &struct vrfm_ring_user
 * @need: smallest number of unread slots that a task in @wait waits for
 * @lost: number of records that were dropped so far
 * @merged: number of changes that have no record of their own
 * @held: a bit for each taken type with an event in the device's queue that is
 *	ready, but does not fit
 * @pending: a subscription has a state or an end that does not fit
 * @gone: the device was removed
 * @subs: list of subscriptions
 * @nsubs: number of subscriptions
 * @ranged: number of bytes in the ranges of all subscriptions
 * @kinds: types of records that a tap of the ring wants: VRFM_TAP_KIND()
 * @dones: completions of submitted batches
 * @loop: task that executes the batches
 */
struct vrfm_ring_ctx {
	struct vrfm_dev *vdev;
	struct file *file;
	struct list_head entry;
	clockid_t clock;
	u32 snap;
	struct vrfm_ring_user *user;
	struct vrfm_ring_kernel *kernel;
	unsigned long nuser;
	unsigned long npages;
	struct vrfm_submit *submit;
	wait_queue_head_t submits_wait;
	struct mutex reading; /* see @reading */
	struct mutex control; /* see @control */
	wait_queue_head_t wait;
	wait_queue_head_t pollers;
	struct hrtimer timer;

	spinlock_t lock; /* see @lock above */
	struct vrfm_ringbuf buf;
	ktime_t since;
	u32 need;
	u64 lost;
	u64 merged;
	u32 held;
	bool pending;
	bool gone;
	struct list_head subs;
	unsigned int nsubs;
	u32 ranged;
	u32 kinds;
	struct vrfm_dones dones;
	struct vrfm_loop loop;
};

/**
 * struct vrfm_peer_shown - state of a peer in a record
 * @state: enum vrfm_peer_link
 * @error: errno of the end of the last connection, or 0
 * @flags: VRFM_PEER_..., %VRFM_STATUS_PRESENT
 */
struct vrfm_peer_shown {
	u16 state;
	u16 error;
	u32 flags;
};

/**
 * struct vrfm_sub_links - states of peers for a subscription
 * @now: newest state of each peer
 * @known: a bit for each peer with a valid entry in @now
 * @pending: a bit for each peer with an entry in @now that has no record yet
 * @merged: a bit for each pending peer with an earlier state that got no record
 */
struct vrfm_sub_links {
	struct vrfm_peer_shown now[VRFM_NODES];
	DECLARE_BITMAP(known, VRFM_NODES);
	DECLARE_BITMAP(pending, VRFM_NODES);
	DECLARE_BITMAP(merged, VRFM_NODES);
};

/**
 * struct vrfm_sub - a subscription of a ring; under vrfm_ring_ctx.lock
 * @entry: place in vrfm_ring_ctx.subs
 * @ring: the ring; constant, as are @cookie, @copies, @nodes, @links, @own, and
 *	the part of @range
 * @cookie: value that the records have
 * @copies: mask of types of events that the ring gets copies of
 * @cancelled: mask of types that are not taken any more, without a record yet
 * @nodes: mask of nodes; all 0: every node
 * @links: states of peers; NULL: the subscription is not about peers
 * @range: part of the memory where writes are reported, and the writes that have
 *	no record yet; &vrfm_notice.to is 0 if the subscription is not about a
 *	range
 * @tap: records that a tap wants; &vrfm_filter.kinds is 0 if the subscription is
 *	no tap; constant
 * @own: writes of this node are reported as well
 * @image: an image is being loaded, as far as the subscription was notified
 * @image_pending: @image has no record yet
 * @image_merged: an earlier value of @image got no record
 */
struct vrfm_sub {
	struct list_head entry;
	struct vrfm_ring_ctx *ring;
	u64 cookie;
	u32 copies;
	u32 cancelled;
	u64 nodes[VRFM_NODES / 64];
	struct vrfm_sub_links *links;
	struct vrfm_notice range;
	struct vrfm_filter tap;
	bool own;
	bool image;
	bool image_pending;
	bool image_merged;
};

/**
 * struct vrfm_written - bytes that a node has written by one message or call, or
 * into one page
 * @node: the node
 * @serial: number of the write; of the last one, if there are several
 * @each: adds all runs to a notice
 * @source: the runs, if there are several
 * @offset: offset of the run or page
 * @n: number of bytes of the run, or number of runs
 */
struct vrfm_written {
	u16 node;
	u64 serial;
	void (*each)(const struct vrfm_written *written,
		     struct vrfm_notice *notice);
	const void *source;
	u32 offset;
	u32 n;
};

/* range.c */
extern struct static_key_false_deferred vrfm_ranges_key;

/**
 * vrfm_ranges_are_wanted - check whether a ring of any device wants notices of
 * writes
 *
 * Return: true if one may want them.
 */
static inline bool vrfm_ranges_are_wanted(void)
{
	return static_branch_unlikely(&vrfm_ranges_key.key);
}

bool vrfm_sub_flush_range_locked(struct vrfm_sub *sub);
void vrfm_rings_written(struct vrfm_dev *vdev,
			const struct vrfm_written *written);
void vrfm_rings_stored(struct vrfm_dev *vdev, u32 offset, u32 len);
void vrfm_sub_image(struct vrfm_sub *sub, bool loading);
void vrfm_rings_image(struct vrfm_dev *vdev, bool loading);
void vrfm_ranges_begin(void);
void vrfm_ranges_end(void);
void vrfm_ranges_exit(void);

/* tap.c */
extern struct static_key_false_deferred vrfm_taps_key;

/**
 * vrfm_is_tapped - check whether a tap of a device wants records of some types
 * @vdev: device
 * @kinds: types of records: bit mask of VRFM_TAP_KIND()
 *
 * Return: true if one may want them.
 */
static inline bool vrfm_is_tapped(const struct vrfm_dev *vdev, u32 kinds)
{
	return static_branch_unlikely(&vrfm_taps_key.key) &&
	       READ_ONCE(vdev->tap_kinds) & kinds;
}

bool vrfm_may_tap(void);
void vrfm_sub_tap(struct vrfm_sub *sub, const struct vrfm_record *record);
void vrfm_tap(struct vrfm_dev *vdev, const struct vrfm_record *record,
	      const void *bytes, u32 len);
void vrfm_tap_run(struct vrfm_dev *vdev, struct vrfm_record *record, u32 offset,
		  const void *bytes, u32 len);
void vrfm_tap_own(struct vrfm_dev *vdev, u16 type, u32 offset, const void *bytes,
		  u32 len);
void vrfm_tap_told(struct vrfm_dev *vdev, u32 node, u32 event, u32 data,
		   u64 number);
void vrfm_taps_update(struct vrfm_dev *vdev);
void vrfm_taps_begin(struct vrfm_dev *vdev);
void vrfm_taps_end(struct vrfm_dev *vdev);
void vrfm_taps_exit(void);

/* done.c */
struct vrfm_done *vrfm_done_get(struct vrfm_ring_ctx *ring);
void vrfm_done_put(struct vrfm_ring_ctx *ring, struct vrfm_done *done);
void vrfm_done_complete_locked(struct vrfm_ring_ctx *ring,
			       struct vrfm_done *done);
bool vrfm_dones_fill_locked(struct vrfm_ring_ctx *ring);

/**
 * vrfm_ring_is_over_locked - check whether a ring gets no more records
 * @ring: ring, with its lock held
 *
 * Return: true if the device was removed, and no batch waits for
 * acknowledgments.
 */
static inline bool vrfm_ring_is_over_locked(const struct vrfm_ring_ctx *ring)
{
	lockdep_assert_held(&ring->lock);
	return ring->gone && list_empty(&ring->dones.tracked);
}

/* sub.c */
bool vrfm_sub_wants(const struct vrfm_sub *sub, u32 node);
struct vrfm_record *vrfm_ring_record_locked(struct vrfm_ring_ctx *ring,
					    u16 type, u32 len, u64 cookie);
struct vrfm_record *vrfm_ring_add_locked(struct vrfm_sub *sub, u16 type);
struct vrfm_record *vrfm_ring_add_bytes_locked(struct vrfm_sub *sub, u16 type,
					       u32 len);
void vrfm_ring_drop_locked(struct vrfm_ring_ctx *ring);
void vrfm_ring_publish_locked(struct vrfm_ring_ctx *ring);
bool vrfm_ring_settle_locked(struct vrfm_ring_ctx *ring);
void vrfm_ring_flush_locked(struct vrfm_ring_ctx *ring);
void vrfm_sub_take_locked(struct vrfm_sub *sub, u32 type,
			  struct vrfm_queue *queue);
void vrfm_sub_cancel_locked(struct vrfm_sub *sub, u32 type);
void vrfm_sub_link(struct vrfm_sub *sub, u32 node,
		   const struct vrfm_peer_shown *now);
void vrfm_rings_event_locked(struct vrfm_dev *vdev, u32 type, u16 node,
			     u32 data);
void vrfm_rings_link(struct vrfm_dev *vdev, u32 node,
		     const struct vrfm_peer_shown *now);
void vrfm_rings_gone(struct vrfm_dev *vdev);
u64 vrfm_ring_time(const struct vrfm_ring_ctx *ring);
bool vrfm_ring_sync(struct vrfm_ring_ctx *ring);
void vrfm_ring_flush(struct vrfm_ring_ctx *ring);
bool vrfm_ring_ready(struct vrfm_ring_ctx *ring, u32 need);
__poll_t vrfm_ring_polled(struct vrfm_ring_ctx *ring);
enum hrtimer_restart vrfm_ring_timer(struct hrtimer *timer);

/* event.c */
int vrfm_events_take(struct vrfm_sub *sub, u32 types);
void vrfm_events_untake(struct vrfm_sub *sub);
void vrfm_events_feed(struct vrfm_ring_ctx *ring);

/* ring.c */
struct file *vrfm_ring_create(struct file *file, struct vrfm_ring *args);

/* loop.c */
int vrfm_loop(struct vrfm_ring_ctx *ring, fl_owner_t owner, u32 spin_us,
	      bool nowait);
void vrfm_loop_kick(struct vrfm_ring_ctx *ring);
void vrfm_loop_stop(struct vrfm_ring_ctx *ring);
void vrfm_loop_close(struct vrfm_ring_ctx *ring, fl_owner_t owner);

/* submit.c */
int vrfm_submit_alloc(struct vrfm_ring_ctx *ring, u32 slots,
		      const struct vrfm_op *entries);
void vrfm_submit_free(struct vrfm_ring_ctx *ring);
int vrfm_submit_batches(struct vrfm_ring_ctx *ring, u32 max, bool nowait,
			u32 *taken);
int vrfm_submit_execute_ready(struct vrfm_ring_ctx *ring, bool nowait,
			      u32 *taken);
bool vrfm_submit_has_ready(const struct vrfm_ring_ctx *ring);
__poll_t vrfm_submit_polled(const struct vrfm_ring_ctx *ring);

/* subscribe.c */
int vrfm_ring_subscribe(struct vrfm_ring_ctx *ring,
			const struct vrfm_subscribe *args);
void vrfm_subs_free(struct vrfm_ring_ctx *ring);

#endif /* VRFM_RING_H */
