/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device, its peers and its lanes.
 *
 * A device has a link to each peer, and one to itself, whose two windows are
 * the same memory. It has the same number of lanes to all peers. A lane is a
 * NAPI context with one receiving and one sending ring for each peer.
 *
 * Contexts that use a lane:
 *
 * - The poll is the only consumer of its receiving rings.
 * - The transmitter is the only producer of its sending rings. At most one task
 *   at a time is the transmitter of a lane: the poll, or a task that posts.
 *
 * Both run in RCU read-side sections with bottom halves disabled. A link is
 * closed by clearing ntrdma_peer.open, and by waiting for a grace period.
 *
 * Order of locks: ntrdma_qp.modify > ntrdma_dev.mutex > ntrdma_qp.lock >
 * ntrdma_rq.lock > ntrdma_cq.lock; ntrdma_files.mutex is taken before
 * ntrdma_dev.mutex. ntrdma_lane.lock is taken under any of the spinlocks, and
 * the lock of ntrdma_dev.ahs under ntrdma_qp.lock.
 * ntrdma_mr.lock is taken under no spinlock, and none is taken under it.
 * ntrdma_peer.eth_lock is taken under the lock of a transmit queue.
 */
#ifndef NTRDMA_DEV_H
#define NTRDMA_DEV_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "backend.h"
#include "frame.h"
#include "ring.h"
#include "session.h"
#include "wire.h"

#define NTRDMA_MAX_QP		65536
#define NTRDMA_MAX_CQ		65536
#define NTRDMA_MAX_MR		65536
#define NTRDMA_MAX_PD		65536
#define NTRDMA_MAX_AH		65536
#define NTRDMA_MAX_SRQ		1024
#define NTRDMA_MAX_WR		16384
#define NTRDMA_MAX_SGE		32
#define NTRDMA_MAX_INLINE	256
#define NTRDMA_MAX_READS	64
#define NTRDMA_MAX_PAGES	512
#define NTRDMA_MAX_CQE		BIT(20)
#define NTRDMA_GIDS		128

/* Counters, see ntrdma_stat_names in stats.c. */
enum ntrdma_stat {
	NTRDMA_STAT_FRAMES_SENT,
	NTRDMA_STAT_FRAMES_TAKEN,
	NTRDMA_STAT_BYTES_SENT,
	NTRDMA_STAT_BYTES_TAKEN,
	NTRDMA_STAT_BELLS_SENT,
	NTRDMA_STAT_BELLS_TAKEN,
	NTRDMA_STAT_POLLS,
	NTRDMA_STAT_SPINS,
	NTRDMA_STAT_ROOM_WAITS,
	NTRDMA_STAT_ACKS,
	NTRDMA_STAT_RNR_SENT,
	NTRDMA_STAT_RNR_SEEN,
	NTRDMA_STAT_NOT_THERE,
	NTRDMA_STAT_REMOTE_ACCESS,
	NTRDMA_STAT_INVALID_REQUEST,
	NTRDMA_STAT_WRONG_QP,
	NTRDMA_STAT_DROPPED,
	NTRDMA_STAT_UD_DROPPED,
	NTRDMA_STAT_SESSIONS,
	NTRDMA_STAT_SILENT,
	NTRDMA_STAT_RESTARTED,
	NTRDMA_STAT_LEFT,
	NTRDMA_STAT_BAD_SEAL,
	NTRDMA_STAT_BAD_INDEX,
	NTRDMA_STAT_BAD_FRAME,
	NTRDMA_STAT_LATE_WAKEUPS,
	NTRDMA_STAT_BELL_STORMS,
	NTRDMA_STAT_DMA_COPIES,
	NTRDMA_STAT_DMA_FAILED,
	NTRDMA_STATS,
};

struct ntrdma_stats {
	u64 n[NTRDMA_STATS];
};

/**
 * struct ntrdma_lane - poll and transmitter of the rings with one number
 * @dev: device
 * @number: number of the lane
 * @napi: poll context
 * @lock: protects @ready, @finish and ntrdma_link_ring.waiting; irqsave
 * @ready: QPs that have something to send, by ntrdma_qp.tx_entry
 * @finish: QPs whose completions the poll must deliver, by ntrdma_qp.fin_entry
 * @flags: NTRDMA_LANE_*
 * @poller: task in which the poll runs, or NULL
 * @naks: there may be NAKs to send, in ntrdma_link_ring.nak; poll
 * @first: number of the peer with which the next poll begins; poll
 * @timer: starts a poll: after a time, if the back end has no doorbells; at
 *	once, if interrupts are disabled
 * @idle_us: time until the next poll by @timer
 * @traffic: time of the last frame, if the back end has no doorbells
 * @last_frame: time of the last frame, if the lane waits for further ones; poll
 * @bells: number of doorbells since the last frame, at most those until
 *	@bells_until
 * @bells_until: time in jiffies when the count begins again
 * @bounce: payload of the frame that is being written, if the windows of the
 *	back end are not coherent; transmitter
 * @copies: buffers from which a DMA engine copies, or NULL
 * @copy_first: number of the oldest buffer in use; transmitter
 * @copy_next: number of the next buffer; transmitter
 */
struct ntrdma_lane {
	struct ntrdma_dev *dev;
	u8 number;
	struct napi_struct napi;
	spinlock_t lock; /* see @lock above */
	struct list_head ready;
	struct list_head finish;
	unsigned long flags;
	struct task_struct *poller;
	bool naks;
	u8 first;
	struct hrtimer timer;
	u32 idle_us;
	ktime_t traffic;
	ktime_t last_frame;
	u32 bells;
	unsigned long bells_until;
	void *bounce;
	struct ntrdma_copy_buf *copies;
	u32 copy_first;
	u32 copy_next;
};

/* A task is the transmitter of the lane. */
#define NTRDMA_LANE_OWNED	0
/* The lane must not be scheduled any more. */
#define NTRDMA_LANE_CLOSED	1

/**
 * struct ntrdma_link_ring - the two rings of a lane to one peer
 * @rx: ring in this member's inbox; used by the poll only
 * @tx: ring in the peer's inbox; used by the transmitter only
 * @in: memory of @rx
 * @out: memory of @tx
 * @waiting: QPs for which @tx had no room, by ntrdma_qp.tx_entry
 * @nak: NAKs for QPs that do not exist; poll
 * @num_naks: number of entries of @nak
 * @full_since: jiffies when @tx had no room, or 0; transmitter
 * @woken: word cons when the poll last made QPs of @waiting ready; poll
 * @bell: last index at which the poll went to sleep; poll
 * @asked: the word room in the window is 1; transmitter
 * @late: sum of the indexes at the last tick, if nobody handled new ones then;
 *	link work
 * @is_late: @late is valid; link work
 */
struct ntrdma_link_ring {
	struct ntrdma_ring rx;
	struct ntrdma_ring tx;
	void *in;
	void __iomem *out;
	struct list_head waiting;
	struct ntrdma_frame nak[64];
	u32 num_naks;
	unsigned long full_since;
	u32 woken;
	u32 bell;
	bool asked;
	u32 late;
	bool is_late;
};

/**
 * struct ntrdma_peer - link to a peer
 * @dev: device
 * @member: number of the peer
 * @window: windows
 * @session: state of the link; ntrdma_dev.mutex
 * @theirs: hello of the peer, valid while the link is UP
 * @open: lanes may use the rings. Set and cleared under ntrdma_dev.mutex, read
 *	under RCU
 * @number: number of this side's session, constant while @open
 * @yours: number of the peer's session, constant while @open
 * @chunk: maximum payload of a frame, constant while @open
 * @fault: &enum ntrdma_reason for which a lane wants the session to end, or 0
 * @seen: words my, yours and state of the peer's page when the link work last
 *	looked; lane 0 compares them
 * @beat: this side's beat; the beat timer, while @beating
 * @beating: the beat timer writes the beat
 * @refused: last reason to refuse a hello that was logged; ntrdma_dev.mutex
 * @sessions: number of sessions that came up; ntrdma_dev.mutex
 * @eth_lock: makes the caller the transmitter of the ring for Ethernet; bh
 * @ring: rings
 */
struct ntrdma_peer {
	struct ntrdma_dev *dev;
	u8 member;
	struct ntrdma_window window;
	struct ntrdma_session session;
	struct ntrdma_hello theirs;
	bool open;
	u32 number;
	u32 yours;
	u32 chunk;
	atomic_t fault;
	u32 seen[3];
	u32 beat;
	bool beating;
	enum ntrdma_reason refused;
	u32 sessions;
	spinlock_t eth_lock; /* see @eth_lock above */
	struct ntrdma_link_ring ring[NTRDMA_RINGS];
};

/**
 * struct ntrdma_files - folders in sysfs
 * @mutex: protects the other members; taken before ntrdma_dev.mutex
 * @top: folder ntr of the device, or NULL
 * @peers: folder peers in @top, or NULL
 * @peer: folders in @peers by number of the peer, each may be NULL
 */
struct ntrdma_files {
	struct mutex mutex; /* see @mutex above */
	struct kobject *top;
	struct kobject *peers;
	struct kobject *peer[NTRDMA_MEMBERS];
};

/**
 * struct ntrdma_dev - RDMA device
 * @ib: the core's device
 * @config: properties
 * @lanes: number of lanes
 * @guid: node GUID
 * @mac: MAC address of the interface
 * @entry: entry of the list of devices
 * @dead: the core has unregistered the device; only its memory is left
 * @mutex: protects @peers, sessions, @up, @suspended, @stopping, @cut, and
 *	@port_active
 * @peers: links by number of the member, RCU; that with the own number is the
 *	link to this device itself
 * @own: memory of the window of the link to this device itself
 * @lane: lanes; the last one polls the rings for Ethernet, if there are any
 * @napi_dev: dummy interface of the NAPI contexts
 * @link_work: looks at the pages of all peers
 * @beat_timer: moves the beat; it does not depend on free processors for work
 *	items
 * @next_tick: time in jiffies of the next tick; link work
 * @beat_ms: time between two beats
 * @up: the interface is up
 * @suspended: the machine is suspended, or reboots
 * @cut: the device neither reads nor writes its windows; for tests
 * @stopping: the device is being destroyed
 * @started: the back end has started
 * @port_active: last state of the port that consumers were notified of
 * @qps: QPs by number; its lock keeps a QP from being freed
 * @mrs: regions by index of the key, RCU
 * @ahs: address handles of programs by number; its lock keeps a handle from being
 *	freed
 * @next_qp: where to begin to look for a free number
 * @next_mr: where to begin to look for a free index
 * @num_qps: number of QPs
 * @num_cqs: number of CQs
 * @num_srqs: number of shared receive queues
 * @num_pds: number of protection domains
 * @stats: counters
 * @dir: folder in debugfs
 * @enable_work: follows what was missed while the core had disabled the device
 * @files: folders in sysfs
 */
struct ntrdma_dev {
	struct ib_device ib;
	struct ntrdma_config config;
	u8 lanes;
	u64 guid;
	u8 mac[ETH_ALEN];
	struct list_head entry;
	bool dead;
	struct mutex mutex; /* see @mutex above */
	struct ntrdma_peer __rcu *peers[NTRDMA_MEMBERS];
	void *own;
	struct ntrdma_lane lane[NTRDMA_RINGS];
	struct net_device *napi_dev;
	struct delayed_work link_work;
	struct timer_list beat_timer;
	unsigned long next_tick;
	u32 beat_ms;
	bool up;
	bool suspended;
	bool cut;
	bool stopping;
	bool started;
	bool port_active;
	struct xarray qps;
	struct xarray mrs;
	struct xarray ahs;
	u32 next_qp;
	u32 next_mr;
	atomic_t num_qps;
	atomic_t num_cqs;
	atomic_t num_srqs;
	atomic_t num_pds;
	struct ntrdma_stats __percpu *stats;
	struct dentry *dir;
	struct work_struct enable_work;
	struct ntrdma_files files;
};

static inline struct ntrdma_dev *to_ntrdma_dev(struct ib_device *ib)
{
	return container_of(ib, struct ntrdma_dev, ib);
}

/* The link of a device to itself has no ring for Ethernet. */
static inline bool ntrdma_peer_has_eth(const struct ntrdma_peer *peer)
{
	return peer->dev->config.eth &&
	       peer->member != peer->dev->config.member;
}

static inline bool ntrdma_peer_has_ring(const struct ntrdma_peer *peer, u8 ring)
{
	if (ring == NTRDMA_ETH_RING)
		return ntrdma_peer_has_eth(peer);
	return ring < peer->session.terms.lanes;
}

static inline void ntrdma_count(struct ntrdma_dev *dev, enum ntrdma_stat stat)
{
	this_cpu_inc(dev->stats->n[stat]);
}

static inline void ntrdma_count_add(struct ntrdma_dev *dev,
				    enum ntrdma_stat stat, u64 n)
{
	this_cpu_add(dev->stats->n[stat], n);
}

/* main.c: parameters, and the queue of all work items. */
extern unsigned int ntrdma_beat_ms;
extern unsigned int ntrdma_dead_ms;
extern unsigned int ntrdma_ring_kb;
extern unsigned int ntrdma_lanes;
extern unsigned int ntrdma_idle_us;
extern unsigned int ntrdma_storm_bells;
extern unsigned int ntrdma_spin_us;
extern unsigned int ntrdma_dma_min;
extern struct workqueue_struct *ntrdma_wq;

/* link.c: life of the links. */
int ntrdma_links_init(struct ntrdma_dev *dev);
void ntrdma_links_up(struct ntrdma_dev *dev, bool up);
void ntrdma_links_suspend(struct ntrdma_dev *dev, bool suspended);
void ntrdma_links_stop(struct ntrdma_dev *dev);
void ntrdma_cut(struct ntrdma_dev *dev, bool cut);
void ntrdma_link_start(struct ntrdma_peer *peer);
void ntrdma_link_end(struct ntrdma_peer *peer, enum ntrdma_reason reason);
u32 ntrdma_ring_limit(const struct ntrdma_dev *dev);
void ntrdma_link_kick(struct ntrdma_dev *dev);
void ntrdma_link_fault(struct ntrdma_peer *peer, enum ntrdma_reason reason);
struct ntrdma_peer *ntrdma_peer_by_mac(struct ntrdma_dev *dev, const u8 *mac);

/* lane.c: rings. */
struct ntrdma_qp;

/**
 * struct ntrdma_slot - a frame that is being written to a ring
 * @peer: peer
 * @lane: lane
 * @bytes: bytes of payload
 * @cells: cells of the frame
 * @pad: cells of the PAD frame before it
 * @data: place of a payload of more than %NTRDMA_SHORT bytes in the window
 * @buf: where the caller writes such a payload: @data if the window is
 *	coherent, and memory that ntrdma_slot_commit() copies to @data if not.
 *	NULL in the ring for Ethernet of a window that is not coherent, where the
 *	caller itself writes to @data
 * @copy: @buf is that of a DMA engine; otherwise NULL
 */
struct ntrdma_slot {
	struct ntrdma_peer *peer;
	u8 lane;
	u32 bytes;
	u32 cells;
	u32 pad;
	void __iomem *data;
	void *buf;
	struct ntrdma_copy_buf *copy;
};

bool ntrdma_peer_is_usable(struct ntrdma_peer *peer);
int ntrdma_lanes_init(struct ntrdma_dev *dev);
void ntrdma_lanes_stop(struct ntrdma_dev *dev);
void ntrdma_lanes_free(struct ntrdma_dev *dev);
void ntrdma_lane_open(struct ntrdma_peer *peer,
		      const struct ntrdma_terms *terms);
void ntrdma_lane_wake(struct ntrdma_peer *peer);
void ntrdma_lane_check(struct ntrdma_peer *peer);
void ntrdma_lane_schedule(struct ntrdma_lane *lane);
void ntrdma_peer_ring(struct ntrdma_peer *peer, u8 lane);
void ntrdma_lane_kick(struct ntrdma_qp *qp);
void ntrdma_lane_finish(struct ntrdma_qp *qp);
void ntrdma_lane_forget(struct ntrdma_qp *qp);
void ntrdma_lane_expect(struct ntrdma_lane *lane);
bool ntrdma_ring_is_stuck(struct ntrdma_peer *peer, u8 lane);
bool ntrdma_ring_has_moved(struct ntrdma_peer *peer, u8 lane);
bool ntrdma_slot_reserve(struct ntrdma_slot *slot, struct ntrdma_peer *peer,
			 u8 lane, u32 bytes);
void ntrdma_slot_commit(struct ntrdma_slot *slot, struct ntrdma_frame *frame,
			const void *data);

/* copy.c: copies by a DMA engine. */
int ntrdma_copies_init(struct ntrdma_dev *dev);
void ntrdma_copies_free(struct ntrdma_dev *dev);
void ntrdma_copies_end(struct ntrdma_peer *peer);
bool ntrdma_copies_any(const struct ntrdma_lane *lane);
bool ntrdma_copies_are_late(const struct ntrdma_lane *lane);
bool ntrdma_copies_due(struct ntrdma_lane *lane);
struct ntrdma_peer *ntrdma_copies_take(struct ntrdma_lane *lane, u32 *prod);
struct ntrdma_copy_buf *ntrdma_copy_get(struct ntrdma_lane *lane,
					struct ntrdma_peer *peer, u32 bytes);
bool ntrdma_copy_start(struct ntrdma_copy_buf *copy, struct ntrdma_peer *peer,
		       void __iomem *to, u32 bytes, u32 start);

/* device.c */
void ntrdma_devs_suspend(void);
void ntrdma_devs_resume(void);
void ntrdma_devs_exit(void);
void ntrdma_peer_drop(struct ntrdma_dev *dev, u8 member,
		      enum ntrdma_reason reason);
void ntrdma_netdev_update(struct ntrdma_dev *dev);
int ntrdma_enable_driver(struct ib_device *ib);
void ntrdma_port_update(struct ntrdma_dev *dev);
void ntrdma_dealloc_driver(struct ib_device *ib);

/* local.c */
int ntrdma_local_init(void);
void ntrdma_local_close(void);
void ntrdma_local_exit(void);

/* ivshmem.c */
const char *ntrdma_shm_bad_param(void);
int ntrdma_shm_init(void);
void ntrdma_shm_exit(void);

/* ntb.c, of which kernels without CONFIG_NTB have no part. */
#ifdef NTRDMA_NTB
const char *ntrdma_ntb_bad_param(void);
int ntrdma_ntb_init(void);
void ntrdma_ntb_exit(void);
#else
static inline const char *ntrdma_ntb_bad_param(void)
{
	return NULL;
}

static inline int ntrdma_ntb_init(void)
{
	return 0;
}

static inline void ntrdma_ntb_exit(void)
{
}
#endif

/* ib.c */
int ntrdma_ib_register(struct ntrdma_dev *dev);

/* files.c */
void ntrdma_files_update(struct ntrdma_dev *dev);
void ntrdma_files_remove(struct ntrdma_dev *dev);

/* stats.c */
void ntrdma_debugfs_init(void);
void ntrdma_debugfs_exit(void);
struct rdma_hw_stats *ntrdma_alloc_hw_stats(struct ib_device *ib, u32 port);
int ntrdma_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats,
			u32 port, int index);
void ntrdma_debugfs_add(struct ntrdma_dev *dev);
void ntrdma_debugfs_remove(struct ntrdma_dev *dev);

#endif /* NTRDMA_DEV_H */
