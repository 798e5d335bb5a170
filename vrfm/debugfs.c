// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: details that help an engineer if something is slow or stuck. Names
 * of files and lines may change at any time.
 *
 * A device has a directory while programs can open the device. Removing the
 * directory waits until readers have finished; later readers get an error. So a
 * reader needs no reference to the device. The caller that removes the
 * directory must not hold a lock that readers take: vrfm_dev.lock, or the lock
 * of a link. Readers take only these spinlocks, and not vrfm_dev.write_lock. So
 * the files can be read even while writers wait for vrfm_dev.write_lock. RCU
 * protects the list of links.
 */
#include <linux/bitmap.h>
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>

#include "device.h"
#include "direct_path.h"
#include "link.h"

static struct dentry *vrfm_debugfs;

/* ---- the device ---- */

/*
 * The donor is the link of the peer that sends its image. RCU protects this
 * link. The values are read without locks, so they may be of different moments.
 */
static void vrfm_seq_image_rcu(struct seq_file *seq,
			       const struct vrfm_dev *vdev)
{
	const struct vrfm_resync *resync = &vdev->resync;
	const struct vrfm_link *donor = READ_ONCE(resync->donor);

	seq_printf(seq, "lineage %016llx\n", resync->lineage);
	seq_printf(seq, "image_age_ms %lld\n",
		   ktime_ms_delta(ktime_get(), resync->began));
	seq_printf(seq, "resync %s\n",
		   vrfm_resync_state_name(READ_ONCE(resync->state)));
	seq_printf(seq, "loads %u\n", resync->number);
	if (!vrfm_is_loading(vdev))
		return;
	if (donor)
		seq_printf(seq, "donor %u\n", donor->peer.node);
	seq_printf(seq, "pages_loaded %u\n", resync->page);
	seq_printf(seq, "pages_asked %u\n", resync->requested);
	seq_printf(seq, "step_ms %u\n",
		   jiffies_to_msecs(jiffies - resync->since));
}

static int vrfm_seq_device_show(struct seq_file *seq, void *unused)
{
	struct vrfm_dev *vdev = seq->private;
	const struct vrfm_scan_counts *counts = &vdev->scan_counts;

	seq_printf(seq, "node %u\nnetwork %u\nsize %llu\nepoch %016llx\n",
		   vdev->params.node, vdev->params.network, vdev->params.size,
		   vdev->epoch);
	seq_printf(seq, "overload_us %u\nkeepalive_ms %u\nflush_us %u\nquiet_us %u\n",
		   READ_ONCE(vdev->params.overload_us), vdev->params.keepalive_ms,
		   READ_ONCE(vdev->params.flush_us),
		   READ_ONCE(vdev->params.quiet_us));
	spin_lock_bh(&vdev->lock);
	seq_printf(seq, "opens %u\npeers %u\nlinked %u\nrefused %llu\n",
		   vdev->opens, vdev->regs.peers, vdev->regs.linked,
		   vdev->refused);
	spin_unlock_bh(&vdev->lock);
	/*
	 * Count the bits without a lock, because this takes long if the memory
	 * is large. The result is not exact, because bits may change during
	 * that time.
	 */
	seq_printf(seq, "own_words %u\n",
		   bitmap_weight(vdev->own, vdev->params.size / VRFM_WORD));
	seq_printf(seq, "watchers %u\n", READ_ONCE(vdev->nwatchers));
	/* The scanner. */
	seq_printf(seq, "twins %d\n", atomic_read(&vdev->ntwins));
	seq_printf(seq, "write_faults %llu\n", READ_ONCE(vdev->faults));
	seq_printf(seq, "scanner_passes %llu\n", READ_ONCE(counts->passes));
	seq_printf(seq, "scanner_compared %llu\n", READ_ONCE(counts->compared));
	seq_printf(seq, "scanner_changed %llu\n", READ_ONCE(counts->changed));
	seq_printf(seq, "scanner_words %llu\n", READ_ONCE(counts->words));
	seq_printf(seq, "scanner_protected %llu\n",
		   READ_ONCE(counts->protected));
	seq_printf(seq, "scanner_held %llu\n", READ_ONCE(counts->held));
	seq_printf(seq, "twins_max %u\n", vdev->twins_max);
	seq_printf(seq, "twin_waits %llu\n", READ_ONCE(vdev->twin_waits));
	seq_printf(seq, "scanner_pid %d\n", vdev->scanner->pid);
	/* The writers. */
	seq_printf(seq, "serial %llu\n", vdev->serial);
	seq_printf(seq, "events_sent %llu\n", vdev->event_number);
	seq_printf(seq, "writers_waiting %d\n", atomic_read(&vdev->waiting));
	seq_printf(seq, "room_changes %u\n",
		   (u32)atomic_read(&vdev->room_changes));
	seq_printf(seq, "transmitter %s\n", vrfm_is_dark(vdev) ? "off" : "on");
	rcu_read_lock();
	vrfm_seq_image_rcu(seq, vdev);
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vrfm_seq_device);

/* ---- links ---- */

/* Print one line: the node id of the peer, and then the formatted text. */
static __printf(3, 4)
void vrfm_seq_line(struct seq_file *seq, const struct vrfm_link *link,
		   const char *format, ...)
{
	va_list args;

	seq_printf(seq, "%u ", link->peer.node);
	va_start(args, format);
	seq_vprintf(seq, format, args);
	va_end(args);
	seq_putc(seq, '\n');
}

static void vrfm_seq_life_locked(struct seq_file *seq, struct vrfm_link *link)
{
	ktime_t now = ktime_get();

	lockdep_assert_held(&link->lock);
	vrfm_seq_line(seq, link, "state %s",
		      vrfm_link_state_name(link->state));
	vrfm_seq_line(seq, link, "since_ms %lld",
		      ktime_ms_delta(now, link->since));
	vrfm_seq_line(seq, link, "role %s",
		      link->reconn ? "connects" : "listens");
	vrfm_seq_line(seq, link, "epoch %016llx", link->conn.peer_epoch);
	vrfm_seq_line(seq, link, "links %llu", link->counts.ups);
	if (link->failure.down_at) {
		vrfm_seq_line(seq, link, "last_down_error %d",
			      link->failure.down_error);
		vrfm_seq_line(seq, link, "last_down_ms %lld",
			      ktime_ms_delta(now, link->failure.down_at));
	}
	vrfm_seq_line(seq, link, "path_mtu %u", link->conn.mtu.path);
	vrfm_seq_line(seq, link, "local_mtu %u", link->conn.mtu.local);
	vrfm_seq_line(seq, link, "peer_mtu %u", link->conn.mtu.peer);
	vrfm_seq_line(seq, link, "dial_error %d",
		      READ_ONCE(link->failure.dial_error));
	vrfm_seq_line(seq, link, "refused %s",
		      link->failure.rejected ?
			      vrfm_reject_text(link->failure.rejected) :
			      "-");
}

static void vrfm_seq_sent_locked(struct seq_file *seq, struct vrfm_link *link)
{
	u64 sequence = link->window.acked;
	u32 queued = 0;

	lockdep_assert_held(&link->lock);
	while (link->conn.cb && sequence++ < link->window.opened)
		queued += vrfm_slot(link, sequence)->pack.len;
	vrfm_seq_line(seq, link, "opened %llu", link->window.opened);
	vrfm_seq_line(seq, link, "posted %llu", link->window.posted);
	vrfm_seq_line(seq, link, "completed %llu", link->window.completed);
	vrfm_seq_line(seq, link, "acked %llu", link->window.acked);
	vrfm_seq_line(seq, link, "free_messages %u",
		      vrfm_link_free_locked(link));
	vrfm_seq_line(seq, link, "message_bytes %u", link->conn.max_msg);
	vrfm_seq_line(seq, link, "queued_bytes %u", queued);
	vrfm_seq_line(seq, link, "oldest_ms %u",
		      vrfm_link_late_ms_locked(link));
	vrfm_seq_line(seq, link, "bytes_sent %llu", link->counts.bytes_sent);
	vrfm_seq_line(seq, link, "bytes_sent_a_second %llu",
		      vrfm_rate_read(&link->meter.tx, jiffies));
	vrfm_seq_line(seq, link, "granted %d", link->window.granted);
	vrfm_seq_line(seq, link, "wants_room %d", link->window.wants_room);
	vrfm_seq_line(seq, link, "filling %d", link->window.filling);
}

static void vrfm_seq_received_locked(struct seq_file *seq,
				     struct vrfm_link *link)
{
	lockdep_assert_held(&link->lock);
	vrfm_seq_line(seq, link, "applied %llu", link->receipt.sequence);
	vrfm_seq_line(seq, link, "applied_told %llu", link->receipt.acked);
	vrfm_seq_line(seq, link, "applied_serial %llu", link->receipt.serial);
	vrfm_seq_line(seq, link, "peer_synced %d",
		      link->conn.cb && link->rx.synced);
	if (link->conn.cb)
		vrfm_seq_line(seq, link, "heard_ms %u",
			      jiffies_to_msecs(jiffies - link->conn.heard));
	vrfm_seq_line(seq, link, "bytes_received %llu",
		      link->counts.bytes_received);
	vrfm_seq_line(seq, link, "bytes_received_a_second %llu",
		      vrfm_rate_read(&link->meter.rx, jiffies));
	vrfm_seq_line(seq, link, "events_held %u", link->rx.nheld);
	vrfm_seq_line(seq, link, "events_dropped %llu",
		      link->counts.events_dropped);
	vrfm_seq_line(seq, link, "protocol_errors %llu",
		      link->counts.protocol);
	vrfm_seq_line(seq, link, "pages_asked_of_us %u",
		      READ_ONCE(link->request.pulled.count));
}

static void vrfm_seq_direct_locked(struct seq_file *seq, struct vrfm_link *link)
{
	const struct vrfm_direct *direct = &link->direct;
	u32 ranges = vrfm_ranges(link->vdev->params.size);

	lockdep_assert_held(&link->lock);
	vrfm_seq_line(seq, link, "direct %d", !!direct->remote);
	vrfm_seq_line(seq, link, "directs %llu", link->counts.directs);
	vrfm_seq_line(seq, link, "directs_under_way %u", direct->under_way);
	vrfm_seq_line(seq, link, "bytes_direct %llu",
		      link->counts.bytes_direct);
	vrfm_seq_line(seq, link, "fence %llu", direct->update);
	vrfm_seq_line(seq, link, "staged_by_peer %u",
		      bitmap_weight(direct->staged, ranges));
	vrfm_seq_line(seq, link, "shown %s", vrfm_shown_name(direct->shown));
	vrfm_seq_line(seq, link, "stage_told %llu", direct->told);
	vrfm_seq_line(seq, link, "stage_answered %llu", direct->answered);
}

/*
 * Show the members of a link that vrfm_dev.write_lock protects. They are read
 * without that lock, so they may be of different moments.
 */
static void vrfm_seq_behind(struct seq_file *seq, struct vrfm_link *link)
{
	unsigned long now = jiffies, hold = link->overload.hold_until;
	bool held = link->state == VRFM_SYNCING && time_before(now, hold);

	vrfm_seq_line(seq, link, "missed_words %u", link->missed.map.set);
	vrfm_seq_line(seq, link, "missed_all %d", link->missed.lost);
	vrfm_seq_line(seq, link, "sweep_at_word %u", link->catchup.cursor);
	vrfm_seq_line(seq, link, "sweeping_for_load %u",
		      link->catchup.sweeping);
	vrfm_seq_line(seq, link, "notes_to_tell %#x", link->catchup.todo);
	vrfm_seq_line(seq, link, "events_waiting %u", link->backlog.n);
	vrfm_seq_line(seq, link, "overloads %llu", link->counts.overloads);
	vrfm_seq_line(seq, link, "back_off_ms %u",
		      held ? jiffies_to_msecs(hold - now) : 0);
	vrfm_seq_line(seq, link, "next_back_off_ms %u",
		      link->overload.penalty_ms);
}

static int vrfm_links_show(struct seq_file *seq, void *unused)
{
	struct vrfm_dev *vdev = seq->private;
	struct vrfm_link *link;

	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry) {
		spin_lock_bh(&link->lock);
		vrfm_seq_life_locked(seq, link);
		vrfm_seq_sent_locked(seq, link);
		vrfm_seq_received_locked(seq, link);
		vrfm_seq_direct_locked(seq, link);
		spin_unlock_bh(&link->lock);
		vrfm_seq_behind(seq, link);
	}
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vrfm_links);

static int vrfm_latency_show(struct seq_file *seq, void *unused)
{
	struct vrfm_dev *vdev = seq->private;
	struct vrfm_link *link;
	unsigned int i;

	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry) {
		seq_printf(seq, "%u", link->peer.node);
		spin_lock_bh(&link->lock);
		for (i = 0; i < VRFM_LATENCIES; i++)
			if (link->meter.latency[i])
				seq_printf(seq, " %llu:%llu", 1ULL << i,
					   link->meter.latency[i]);
		spin_unlock_bh(&link->lock);
		seq_putc(seq, '\n');
	}
	rcu_read_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vrfm_latency);

/* ---- creation and removal ---- */

/**
 * vrfm_debugfs_add - create the directory of a device
 * @vdev: device, with a name
 *
 * Errors are ignored, because the device works without the directory.
 *
 * Context: may sleep.
 */
void vrfm_debugfs_add(struct vrfm_dev *vdev)
{
	struct dentry *dir = debugfs_create_dir(dev_name(&vdev->dev),
						vrfm_debugfs);

	debugfs_create_file("device", 0400, dir, vdev, &vrfm_seq_device_fops);
	debugfs_create_file("links", 0400, dir, vdev, &vrfm_links_fops);
	debugfs_create_file("latency", 0400, dir, vdev, &vrfm_latency_fops);
	vdev->debugfs = dir;
}

/**
 * vrfm_debugfs_remove - remove the directory of a device
 * @vdev: device, with or without a directory
 *
 * Context: may sleep. Waits for readers, so the caller holds neither
 * vrfm_dev.write_lock nor a lock that readers take.
 */
void vrfm_debugfs_remove(struct vrfm_dev *vdev)
{
	debugfs_remove(vdev->debugfs);
	vdev->debugfs = NULL;
}

/**
 * vrfm_debugfs_init - create the directory of all devices
 */
void vrfm_debugfs_init(void)
{
	vrfm_debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
}

/**
 * vrfm_debugfs_exit - remove the directory of all devices
 */
void vrfm_debugfs_exit(void)
{
	debugfs_remove(vrfm_debugfs);
}
