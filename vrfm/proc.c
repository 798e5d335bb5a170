// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/rfm2g: how many devices there are, which programs for the cards look
 * for, and what they do.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "link.h"
#include "priv.h"

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

static unsigned int vrfm_proc_count(void)
{
	unsigned int unit, n = 0;

	for (unit = 0; unit < VRFM_DEVICES; unit++)
		n += !!vrfm_device(unit);
	return n;
}

static void vrfm_proc_event(struct seq_file *m, const struct vrfm_queue *q,
			    const char *name)
{
	seq_printf(m, "  event %s %s queued %u waiting %u count %u lost %u\n",
		   name, q->enabled ? "enabled" : "disabled", q->ready,
		   q->fill - q->ready, q->count, q->dropped);
}

static void vrfm_proc_link(struct seq_file *m, struct vrfm_link *link)
{
	spin_lock_bh(&link->lock);
	seq_printf(m, "  peer %u %s missed %u%s lag %llu peer_synced %d links %llu messages %llu received %llu overloads %llu protocol_errors %llu events_dropped %llu direct %d directs %llu shown %s path_mtu %u local_mtu %u peer_mtu %u\n",
		   link->peer.node, vrfm_link_state_name(link->state),
		   link->missed.set, link->lost ? "+" : "",
		   link->opened - link->acked, link->cb && link->rx.synced,
		   link->counts.ups, link->counts.messages,
		   link->counts.received, link->counts.overloads,
		   link->counts.protocol, link->counts.events_dropped,
		   !!link->direct.remote, link->counts.directs,
		   vrfm_shown_name(link->direct.shown), link->mtu.path,
		   link->mtu.local, link->mtu.peer);
	spin_unlock_bh(&link->lock);
}

static void vrfm_proc_links(struct seq_file *m, struct vrfm_dev *vdev)
{
	struct vrfm_link *link;

	rt_mutex_lock(&vdev->order);
	seq_printf(m, "  image %016llx %s\n", vdev->load.lineage,
		   vdev->live ? "loading" : "complete");
	list_for_each_entry(link, &vdev->links, entry)
		vrfm_proc_link(m, link);
	rt_mutex_unlock(&vdev->order);
}

static void vrfm_proc_dev(struct seq_file *m, struct vrfm_dev *vdev)
{
	u32 type;

	spin_lock_bh(&vdev->lock);
	seq_printf(m, "%s node %u network %u size %llu opens %u refused %llu\n",
		   dev_name(&vdev->dev), vdev->params.node,
		   vdev->params.network, vdev->params.size, vdev->opens,
		   vdev->refused);
	for (type = 0; type < RFM2G_EVENTS; type++)
		vrfm_proc_event(m, &vdev->events[type].queue,
				vrfm_event_name[type]);
	spin_unlock_bh(&vdev->lock);
	vrfm_proc_links(m, vdev);
}

/* The first line as the tools for the cards read it. */
static int vrfm_proc_show(struct seq_file *m, void *v)
{
	struct vrfm_dev *vdev;
	unsigned int unit;

	vrfm_devices_lock();
	seq_printf(m, "RFM2G_DEVICE_COUNT %u\n", vrfm_proc_count());
	for (unit = 0; unit < VRFM_DEVICES; unit++) {
		vdev = vrfm_device(unit);
		if (vdev)
			vrfm_proc_dev(m, vdev);
	}
	vrfm_devices_unlock();
	return 0;
}

/**
 * vrfm_proc_init - make /proc/rfm2g
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
