// SPDX-License-Identifier: GPL-2.0
/*
 * Counters ("rdma statistic show link"), and files in debugfs.
 *
 * The text of the file "status" is for people, and may change.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "dev.h"
#include "win.h"

static const struct rdma_stat_desc ntrdma_stat_names[NTRDMA_STATS] = {
	[NTRDMA_STAT_FRAMES_SENT].name	   = "frames_sent",
	[NTRDMA_STAT_FRAMES_TAKEN].name	   = "frames_taken",
	[NTRDMA_STAT_BYTES_SENT].name	   = "bytes_sent",
	[NTRDMA_STAT_BYTES_TAKEN].name	   = "bytes_taken",
	[NTRDMA_STAT_BELLS_SENT].name	   = "doorbells_sent",
	[NTRDMA_STAT_BELLS_TAKEN].name	   = "doorbells_taken",
	[NTRDMA_STAT_POLLS].name	   = "polls",
	[NTRDMA_STAT_SPINS].name	   = "spins",
	[NTRDMA_STAT_ROOM_WAITS].name	   = "room_waits",
	[NTRDMA_STAT_ACKS].name		   = "acks",
	[NTRDMA_STAT_RNR_SENT].name	   = "rnr_sent",
	[NTRDMA_STAT_RNR_SEEN].name	   = "rnr_seen",
	[NTRDMA_STAT_NOT_THERE].name	   = "not_there",
	[NTRDMA_STAT_REMOTE_ACCESS].name   = "remote_access",
	[NTRDMA_STAT_INVALID_REQUEST].name = "invalid_request",
	[NTRDMA_STAT_WRONG_QP].name	   = "wrong_qp",
	[NTRDMA_STAT_DROPPED].name	   = "dropped",
	[NTRDMA_STAT_UD_DROPPED].name	   = "ud_dropped",
	[NTRDMA_STAT_SESSIONS].name	   = "sessions",
	[NTRDMA_STAT_SILENT].name	   = "silent",
	[NTRDMA_STAT_RESTARTED].name	   = "restarted",
	[NTRDMA_STAT_LEFT].name		   = "left",
	[NTRDMA_STAT_BAD_SEAL].name	   = "bad_seal",
	[NTRDMA_STAT_BAD_INDEX].name	   = "bad_index",
	[NTRDMA_STAT_BAD_FRAME].name	   = "bad_frame",
	[NTRDMA_STAT_LATE_WAKEUPS].name	   = "late_wakeups",
	[NTRDMA_STAT_BELL_STORMS].name	   = "doorbell_storms",
	[NTRDMA_STAT_DMA_COPIES].name	   = "dma_copies",
	[NTRDMA_STAT_DMA_FAILED].name	   = "dma_failed",
};

static struct dentry *ntrdma_debugfs;

static u64 ntrdma_stat_sum(const struct ntrdma_dev *dev, unsigned int stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(dev->stats, cpu)->n[stat]);
	return sum;
}

/**
 * ntrdma_alloc_hw_stats - allocate the counters of the port for the core
 * @ib: the core's device
 * @port: number of the port
 *
 * Return: counters, or NULL.
 */
struct rdma_hw_stats *ntrdma_alloc_hw_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(ntrdma_stat_names, NTRDMA_STATS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * ntrdma_get_hw_stats - read the counters of the port
 * @ib: the core's device
 * @stats: result
 * @port: number of the port
 * @index: number of the wanted counter; all are read
 *
 * Return: number of counters that are read, or -EINVAL.
 */
int ntrdma_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
			u32 port, int index)
{
	unsigned int i;

	if (!port || !stats)
		return -EINVAL;
	for (i = 0; i < NTRDMA_STATS; i++)
		stats->value[i] = ntrdma_stat_sum(to_ntrdma_dev(ib), i);
	return NTRDMA_STATS;
}

static void ntrdma_status_peer(struct seq_file *file,
			       const struct ntrdma_peer *peer)
{
	const struct ntrdma_session *s = &peer->session;

	seq_printf(file, "peer %u: %s, session %08x/%08x, %u so far",
		   peer->member, ntrdma_link_state_name(s->state), s->my,
		   s->yours, peer->sessions);
	if (s->yours)
		seq_printf(file,
			   ", %s %pM, lanes %u, ring %u, chunk %u, dead_ms %u",
			   s->theirs.name, s->theirs.mac, s->terms.lanes,
			   s->terms.ring_bytes, s->terms.chunk,
			   s->terms.dead_ms);
	seq_printf(file, ", last reason %s\n", ntrdma_reason_name(s->reason));
}

/* The indexes are those of one moment only if the lane is idle. */
static void ntrdma_status_ring(struct seq_file *file,
			       const struct ntrdma_peer *peer, u8 lane)
{
	const struct ntrdma_link_ring *ring = &peer->ring[lane];

	seq_printf(file,
		   "  to %u: prod %u cons %u%s; from %u: prod %u cons %u\n",
		   peer->member, READ_ONCE(ring->tx.prod),
		   READ_ONCE(ring->tx.cons),
		   list_empty(&ring->waiting) ? "" : " waiting",
		   peer->member, READ_ONCE(ring->rx.prod),
		   READ_ONCE(ring->rx.cons));
}

static void ntrdma_status_lane(struct seq_file *file, struct ntrdma_dev *dev,
			       u8 number)
{
	struct ntrdma_lane *lane = &dev->lane[number];
	struct ntrdma_peer *peer;
	unsigned int i;

	seq_printf(file, "lane %u:%s%s%s%s\n", number,
		   list_empty(&lane->ready) ? "" : " ready",
		   list_empty(&lane->finish) ? "" : " finish",
		   test_bit(NTRDMA_LANE_OWNED, &lane->flags) ? " owned" : "",
		   test_bit(NAPI_STATE_SCHED, &lane->napi.state) ?
			" scheduled" : "");
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = rcu_dereference_protected(dev->peers[i],
						 lockdep_is_held(&dev->mutex));
		if (peer && peer->open && ntrdma_peer_has_ring(peer, number))
			ntrdma_status_ring(file, peer, number);
	}
}

static int ntrdma_status_show(struct seq_file *file, void *unused)
{
	struct ntrdma_dev *dev = file->private;
	struct ntrdma_peer *peer;
	unsigned int i;

	mutex_lock(&dev->mutex);
	seq_printf(file, "back end %s, member %u, lanes %u, %s%s%s\n",
		   dev->config.ops->name, dev->config.member, dev->lanes,
		   dev->up ? "up" : "down", dev->suspended ? ", suspended" : "",
		   dev->cut ? ", cut" : "");
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = rcu_dereference_protected(dev->peers[i],
						 lockdep_is_held(&dev->mutex));
		if (peer)
			ntrdma_status_peer(file, peer);
	}
	for (i = 0; i < dev->lanes; i++)
		ntrdma_status_lane(file, dev, i);
	if (dev->config.eth)
		ntrdma_status_lane(file, dev, NTRDMA_ETH_RING);
	mutex_unlock(&dev->mutex);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(ntrdma_status);

static int ntrdma_cut_get(void *data, u64 *value)
{
	struct ntrdma_dev *dev = data;

	*value = ntrdma_win_is_cut(dev);
	return 0;
}

static int ntrdma_cut_set(void *data, u64 value)
{
	if (value > 1)
		return -EINVAL;
	ntrdma_cut(data, value);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(ntrdma_cut_fops, ntrdma_cut_get, ntrdma_cut_set,
			 "%llu\n");

/**
 * ntrdma_debugfs_add - create the files of a device
 * @dev: device that has its name
 *
 * The folder keeps its name when the device gets another one. If a new device
 * has the first name of an older one, the folder also has the new one's index.
 *
 * Context: may sleep.
 */
void ntrdma_debugfs_add(struct ntrdma_dev *dev)
{
	struct dentry *other = debugfs_lookup(dev_name(&dev->ib.dev),
					      ntrdma_debugfs);
	char name[IB_DEVICE_NAME_MAX + 12];

	if (!IS_ERR_OR_NULL(other))
		snprintf(name, sizeof(name), "%s.%u", dev_name(&dev->ib.dev),
			 dev->ib.index);
	else
		strscpy(name, dev_name(&dev->ib.dev), sizeof(name));
	if (!IS_ERR(other))
		dput(other);
	dev->dir = debugfs_create_dir(name, ntrdma_debugfs);
	debugfs_create_file("status", 0400, dev->dir, dev, &ntrdma_status_fops);
	debugfs_create_file_unsafe("cut", 0600, dev->dir, dev,
				   &ntrdma_cut_fops);
}

/**
 * ntrdma_debugfs_remove - remove the files of a device
 * @dev: device, with or without files
 *
 * Context: may sleep, until nobody reads or writes the files.
 */
void ntrdma_debugfs_remove(struct ntrdma_dev *dev)
{
	debugfs_remove(dev->dir);
	dev->dir = NULL;
}

/**
 * ntrdma_debugfs_init - create the folder of all devices
 */
void ntrdma_debugfs_init(void)
{
	ntrdma_debugfs = debugfs_create_dir("ntrdma", NULL);
}

/**
 * ntrdma_debugfs_exit - remove the folder of all devices
 */
void ntrdma_debugfs_exit(void)
{
	debugfs_remove(ntrdma_debugfs);
}
