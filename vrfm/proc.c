// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/rfm2g: the number of devices, and the state of each device. Programs
 * that were written for the cards read the number.
 */
#include <linux/proc_fs.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>

#include "device.h"
#include "link.h"

static const char * const vrfm_event_name[RFM2G_EVENTS] = {
	[RFM2G_EVENT_RESET] = "reset",
	[RFM2G_EVENT_INTR1] = "intr1",
	[RFM2G_EVENT_INTR2] = "intr2",
	[RFM2G_EVENT_INTR3] = "intr3",
	[RFM2G_EVENT_INTR4] = "intr4",
	[RFM2G_EVENT_BAD_DATA] = "bad_data",
	[RFM2G_EVENT_RXFIFO_FULL] = "rxfifo_full",
	[RFM2G_EVENT_ROGUE_PKT] = "rogue_pkt",
	[RFM2G_EVENT_RXFIFO_AFULL] = "rxfifo_afull",
	[RFM2G_EVENT_SYNC_LOSS] = "sync_loss",
	[RFM2G_EVENT_MEM_WRITE_INHIBITED] = "mem_write_inhibited",
	[RFM2G_EVENT_LOCAL_MEM_PARITY_ERR] = "local_mem_parity_err",
};

/**
 * struct vrfm_proc_link - state of a link at one moment
 * @state: state of the link
 * @missed: number of words that the peer lacks
 * @lost: the peer may lack all own words of this node
 * @lag: number of unacknowledged messages
 * @synced: the peer sends all its writes in order
 * @direct: this node may write directly into the peer's memory
 * @shown: whether the peer may write directly into this node's memory
 * @mtu: path MTUs
 * @key_id: id of the key of the connection; 0: not connected, or no level
 * @counts: statistics
 */
struct vrfm_proc_link {
	enum vrfm_link_state state;
	u32 missed;
	bool lost;
	u64 lag;
	bool synced;
	bool direct;
	enum vrfm_shown shown;
	struct vrfm_mtu mtu;
	u32 key_id;
	struct vrfm_link_counts counts;
};

static void vrfm_proc_link(struct seq_file *m, struct vrfm_link *link)
{
	struct vrfm_proc_link is;

	/*
	 * Copy the state, to print it without a lock. Any user may read this
	 * file, and must not delay the tasks that wait for the lock.
	 */
	spin_lock_bh(&link->lock);
	is = (struct vrfm_proc_link){
		.state = link->state,
		.missed = READ_ONCE(link->missed.map.set),
		.lost = READ_ONCE(link->missed.lost),
		.lag = link->window.opened - link->window.acked,
		.synced = link->conn.cb && link->rx.synced,
		.direct = link->direct.remote,
		.shown = link->direct.shown,
		.mtu = link->conn.mtu,
		.key_id = link->conn.cb ? link->conn.key_id : 0,
		.counts = link->counts,
	};
	spin_unlock_bh(&link->lock);
	seq_printf(m, "  peer %u %s missed %u%s lag %llu peer_synced %d links %llu messages %llu received %llu overloads %llu protocol_errors %llu events_dropped %llu direct %d directs %llu shown %s path_mtu %u local_mtu %u peer_mtu %u key %08x\n",
		   link->peer.node, vrfm_link_state_name(is.state),
		   is.missed, is.lost ? "+" : "", is.lag, is.synced,
		   is.counts.ups, is.counts.messages, is.counts.received,
		   is.counts.overloads, is.counts.protocol,
		   is.counts.events_dropped, is.direct, is.counts.directs,
		   vrfm_shown_name(is.shown), is.mtu.path, is.mtu.local,
		   is.mtu.peer, is.key_id);
}

static void vrfm_proc_event(struct seq_file *m, struct vrfm_dev *vdev,
			    u32 type)
{
	const struct vrfm_queue *q = &vdev->events[type].queue;
	u32 ready, fill, count, dropped;
	bool enabled;

	spin_lock_bh(&vdev->lock);
	enabled = q->enabled;
	ready = q->ready;
	fill = q->fill;
	count = q->count;
	dropped = q->dropped;
	spin_unlock_bh(&vdev->lock);
	seq_printf(m, "  event %s %s queued %u waiting %u count %u lost %u\n",
		   vrfm_event_name[type], enabled ? "enabled" : "disabled",
		   ready, fill - ready, count, dropped);
}

static void vrfm_proc_dev(struct seq_file *m, struct vrfm_dev *vdev)
{
	struct vrfm_link *link;
	unsigned int opens;
	u64 refused;
	u32 type;

	spin_lock_bh(&vdev->lock);
	opens = vdev->opens;
	refused = vdev->refused;
	spin_unlock_bh(&vdev->lock);
	seq_printf(m, "%s node %u network %u size %llu opens %u refused %llu security %s\n",
		   dev_name(&vdev->dev), vdev->params.node,
		   vdev->params.network, vdev->params.size, opens, refused,
		   vrfm_security_name(vdev->params.security));
	for (type = 0; type < RFM2G_EVENTS; type++)
		vrfm_proc_event(m, vdev, type);
	/*
	 * RCU protects the list of links. vrfm_dev.write_lock is not taken,
	 * because writers wait for it.
	 */
	seq_printf(m, "  image %016llx %s\n", READ_ONCE(vdev->resync.lineage),
		   vrfm_is_incomplete(vdev) ? "loading" : "complete");
	rcu_read_lock();
	list_for_each_entry_rcu(link, &vdev->links, entry)
		vrfm_proc_link(m, link);
	rcu_read_unlock();
}

/* Print the state of all devices. The cards' tools read the first line. */
static int vrfm_proc_show(struct seq_file *m, void *v)
{
	struct vrfm_dev *vdev;
	unsigned int unit, n = 0;

	vrfm_devices_lock();
	for (unit = 0; unit < VRFM_DEVICES; unit++)
		n += !!vrfm_device(unit);
	seq_printf(m, "RFM2G_DEVICE_COUNT %u\n", n);
	for (unit = 0; unit < VRFM_DEVICES; unit++) {
		vdev = vrfm_device(unit);
		if (vdev)
			vrfm_proc_dev(m, vdev);
	}
	vrfm_devices_unlock();
	return 0;
}

/**
 * vrfm_proc_init - create /proc/rfm2g
 *
 * Return: 0 or -ENOMEM.
 */
int vrfm_proc_init(void)
{
	return proc_create_single(VRFM_NAME, 0444, NULL, vrfm_proc_show) ?
		0 : -ENOMEM;
}

/**
 * vrfm_proc_exit - remove /proc/rfm2g
 */
void vrfm_proc_exit(void)
{
	remove_proc_entry(VRFM_NAME, NULL);
}
