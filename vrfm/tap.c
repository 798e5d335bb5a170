// SPDX-License-Identifier: GPL-2.0
/*
 * Taps: let rings record writes with their bytes, messages, and events, for
 * tools that show, record and analyse them.
 *
 * A hook calls vrfm_tap() where a write is accepted, found, applied or placed,
 * where a message is posted or received, and where an event is raised or sent. It
 * runs under the locks that order these steps. So the records of each writer and
 * of each link are in order, and bytes are in the memory before their record is in
 * the ring. A hook neither waits nor allocates. If a ring is full, the newest
 * records are dropped and counted: a tap that is not read slows down no writer.
 *
 * A filter decides before any byte is copied. Without taps, a hook is one static
 * branch. If no tap of the device wants the type of a record, a hook only
 * checks vrfm_dev.tap_kinds: no record is made, and no lock is taken.
 */
#include <linux/build_bug.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "ring.h"

DEFINE_STATIC_KEY_DEFERRED_FALSE(vrfm_taps_key, HZ);

static int vrfm_param_tap_gid = -1;
module_param_named(tap_gid, vrfm_param_tap_gid, int, 0644);
MODULE_PARM_DESC(tap_gid, "Group whose members may tap devices, by number; -1: only CAP_SYS_ADMIN (-1)");

/**
 * vrfm_may_tap - check whether the caller may tap a device
 *
 * A tap shows all messages of a device and who sent them, also those that a
 * program with access to the memory cannot see. So access to the device is not
 * enough.
 *
 * Context: process context.
 * Return: true if so.
 */
bool vrfm_may_tap(void)
{
	kgid_t gid = make_kgid(&init_user_ns, READ_ONCE(vrfm_param_tap_gid));

	return (gid_valid(gid) && in_egroup_p(gid)) || capable(CAP_SYS_ADMIN);
}

/* ---- records ---- */

/* Add a record, or count it as dropped. */
static void vrfm_sub_tap_locked(struct vrfm_sub *sub,
				const struct vrfm_record *record,
				const void *bytes, u32 len)
{
	struct vrfm_ring_ctx *ring = sub->ring;
	u32 snap = min(len, ring->snap);
	struct vrfm_record *to = NULL;

	lockdep_assert_held(&ring->lock);
	if (vrfm_ring_settle_locked(ring))
		to = vrfm_ring_add_bytes_locked(sub, record->type, snap);
	if (!to) {
		vrfm_ring_drop_locked(ring);
		return;
	}
	to->flags = record->flags | (snap < len ? VRFM_REC_CUT : 0);
	to->node = record->node;
	to->offset = record->offset;
	to->length = record->length;
	to->serial = record->serial;
	memcpy(to->raw, record->raw, sizeof(to->raw));
	/* The rest of the last slot may have bytes of an earlier record. */
	if (snap)
		memcpy(to + 1, bytes, snap);
	memset((void *)(to + 1) + snap, 0, -snap % VRFM_SLOT);
}

static void vrfm_ring_tap(struct vrfm_ring_ctx *ring,
			  const struct vrfm_record *record, const void *bytes,
			  u32 len)
{
	struct vrfm_sub *sub;
	bool wanted = false;

	spin_lock_bh(&ring->lock);
	list_for_each_entry(sub, &ring->subs, entry) {
		if (!vrfm_filter_wants(&sub->tap, record))
			continue;
		vrfm_sub_tap_locked(sub, record, bytes, len);
		wanted = true;
	}
	if (wanted)
		vrfm_ring_publish_locked(ring);
	spin_unlock_bh(&ring->lock);
}

/**
 * vrfm_sub_tap - put a record about the present state into the ring of a new tap
 * @sub: tap, in the list of its ring
 * @record: record without payload
 *
 * Context: any but hard interrupts.
 */
void vrfm_sub_tap(struct vrfm_sub *sub, const struct vrfm_record *record)
{
	struct vrfm_ring_ctx *ring = sub->ring;

	spin_lock_bh(&ring->lock);
	if (vrfm_filter_wants(&sub->tap, record)) {
		vrfm_sub_tap_locked(sub, record, NULL, 0);
		vrfm_ring_publish_locked(ring);
	}
	spin_unlock_bh(&ring->lock);
}

/**
 * vrfm_tap - put a record into the rings whose taps want it
 * @vdev: device
 * @record: record of a type from %VRFM_REC_STORED to %VRFM_REC_HOLE
 * @bytes: payload
 * @len: number of bytes of the payload
 *
 * The caller has checked vrfm_is_tapped() for the type.
 *
 * Context: any but hard interrupts. No lock of a ring is held.
 */
void vrfm_tap(struct vrfm_dev *vdev, const struct vrfm_record *record,
	      const void *bytes, u32 len)
{
	struct vrfm_ring_ctx *ring;

	rcu_read_lock();
	list_for_each_entry_rcu(ring, &vdev->rings, entry)
		if (READ_ONCE(ring->kinds) & VRFM_TAP_KIND(record->type))
			vrfm_ring_tap(ring, record, bytes, len);
	rcu_read_unlock();
}

/**
 * vrfm_tap_run - put records about written bytes into rings
 * @vdev: device
 * @record: record without offset and length, which the function sets
 * @offset: offset of the first byte
 * @bytes: the bytes
 * @len: number of bytes. Each %VRFM_RING_SNAP_MAX bytes have a record
 *
 * Context: any but hard interrupts. No lock of a ring is held.
 */
void vrfm_tap_run(struct vrfm_dev *vdev, struct vrfm_record *record, u32 offset,
		  const void *bytes, u32 len)
{
	u32 step;

	for (; len; offset += step, bytes += step, len -= step) {
		step = min_t(u32, len, VRFM_RING_SNAP_MAX);
		record->offset = offset;
		record->length = step;
		vrfm_tap(vdev, record, bytes, step);
	}
}

/**
 * vrfm_tap_own - put records about bytes that this node wrote into rings
 * @vdev: device; vrfm_dev.write_lock is held
 * @type: %VRFM_REC_STORED or %VRFM_REC_FOUND
 * @offset: offset of the first byte
 * @bytes: the bytes
 * @len: number of bytes
 *
 * Context: process context.
 */
void vrfm_tap_own(struct vrfm_dev *vdev, u16 type, u32 offset,
		  const void *bytes, u32 len)
{
	struct vrfm_record record = {
		.type = type,
		.flags = VRFM_REC_OWN,
		.node = vdev->params.node,
		.serial = vdev->serial,
	};

	lockdep_assert_held(&vdev->write_lock);
	vrfm_tap_run(vdev, &record, offset, bytes, len);
}

/**
 * vrfm_tap_told - put a record about an event that this node sends into rings
 * @vdev: device; vrfm_dev.write_lock is held
 * @node: id of the receiver, or %RFM2G_NODE_ALL
 * @event: type of the event
 * @data: data of the event
 * @number: number of the event
 *
 * Context: process context.
 */
void vrfm_tap_told(struct vrfm_dev *vdev, u32 node, u32 event, u32 data,
		   u64 number)
{
	const struct vrfm_record record = {
		.type = VRFM_REC_TOLD,
		.node = vdev->params.node,
		.serial = number,
		.event = { .event = event, .data = data, .to = node },
	};

	BUILD_BUG_ON(RFM2G_NODE_ALL != VRFM_REC_NO_NODE);
	lockdep_assert_held(&vdev->write_lock);
	vrfm_tap(vdev, &record, NULL, 0);
}

/* ---- life ---- */

/**
 * vrfm_taps_update - notify hooks of the types that the taps of a device want
 * @vdev: device; &vrfm_ring_ctx.kinds of one of its rings has changed
 *
 * Context: process context.
 */
void vrfm_taps_update(struct vrfm_dev *vdev)
{
	struct vrfm_ring_ctx *ring;
	u32 kinds = 0;

	spin_lock_bh(&vdev->lock);
	list_for_each_entry(ring, &vdev->rings, entry)
		kinds |= READ_ONCE(ring->kinds);
	WRITE_ONCE(vdev->tap_kinds, kinds);
	spin_unlock_bh(&vdev->lock);
}

/**
 * vrfm_taps_begin - let hooks put records into the ring of a new tap
 * @vdev: device; the tap is in the list of its ring
 *
 * A hook takes no lock before it checks whether a record is wanted. So wait
 * until each processor has executed a full barrier: after that, a write without
 * a record is in the memory for all readers, and each other write gets its
 * record. A program that then reads the memory misses no write.
 *
 * Context: may sleep.
 */
void vrfm_taps_begin(struct vrfm_dev *vdev)
{
	vrfm_taps_update(vdev);
	static_branch_deferred_inc(&vrfm_taps_key);
	synchronize_rcu();
}

/**
 * vrfm_taps_end - undo vrfm_taps_begin()
 * @vdev: device
 *
 * The static branch changes a second later.
 *
 * Context: may sleep.
 */
void vrfm_taps_end(struct vrfm_dev *vdev)
{
	vrfm_taps_update(vdev);
	static_branch_slow_dec_deferred(&vrfm_taps_key);
}

/**
 * vrfm_taps_exit - wait for the end of delayed changes
 *
 * Context: may sleep; no ring is left.
 */
void vrfm_taps_exit(void)
{
	static_key_deferred_flush(&vrfm_taps_key);
}
