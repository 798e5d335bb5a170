/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of vrfm share.
 *
 * Lock order: vrfm_devices_lock(), vrfm_direct.setup, vrfm_shares.lock, the
 * lock of a struct page, vrfm_dev.waiter_lock, vrfm_dev.write_lock,
 * vrfm_link.lock. Then vrfm_stage.lock, or vrfm_dev.lock, or one of
 * vrfm_dev.page_locks; under each of these vrfm_dev.watch_lock.
 * vrfm_dev.twins_lock is taken under vrfm_dev.write_lock, or alone.
 */
#ifndef VRFM_PRIV_H
#define VRFM_PRIV_H

#include <linux/bits.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/rtmutex.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/rfm2g.h>
#include <uapi/vrfm.h>

#ifdef __BIG_ENDIAN
#error "vrfm stores words in the byte order of the host, and needs little-endian"
#endif

#include "mapper.h"
#include "opts.h"
#include "history.h"
#include "proto.h"
#include "queue.h"
#include "stage.h"

/* Timeout of a barrier for the acknowledgments of all peers, in ms. */
#define VRFM_FLUSH_MS 10000
/* Timeout of the ring check for the same acknowledgments, in ms. */
#define VRFM_RING_MS 500

/* Version that programs read: at most 15 characters. */
#define VRFM_VERSION "krdma 1"

#define VRFM_PAGE_LOCKS 64
/* The hash table of processes that map the memory has 32 lists. */
#define VRFM_MAPPERS_BITS 5
/* Number of refused addresses that are remembered, to log each once. */
#define VRFM_STRANGERS 8

struct dentry;
struct krdma_cb;
struct krdma_domain;
struct vrfm_diff;
struct vrfm_link;
struct vrfm_twin;

/**
 * struct vrfm_params - parameters of a device
 * @node: id of this node, 0 to 255
 * @network: network id; nodes of one network share a memory
 * @size: size of the memory, in bytes
 * @listen: own address; family 0: none configured
 * @port: own port, and default port of peers
 * @overload_us: longest wait of a writer for a slow peer, in us; may change, as
 *	@flush_us, @quiet_us, @stage_ms, @unstage_ms and @direct_min
 * @keepalive_ms: silence after which a peer is probed, in ms
 * @flush_us: interval between two comparisons of a writable page, in us
 * @stage_ms: timeout of a peer's answer to a STAGE, in ms
 * @unstage_ms: time after which a range without stores is no longer staged, in
 *	ms
 * @quiet_us: time without stores after which a page is write-protected, in us
 * @direct: enum vrfm_direct_mode
 * @direct_min: size of the smallest block that is written directly, in bytes
 */
struct vrfm_params {
	u32 node;
	u32 network;
	u64 size;
	struct sockaddr_storage listen;
	u16 port;
	u32 overload_us;
	u32 keepalive_ms;
	u32 flush_us;
	u32 stage_ms;
	u32 unstage_ms;
	u32 quiet_us;
	u32 direct;
	u32 direct_min;
};

/**
 * struct vrfm_mem - a node's copy of the memory
 * @pages: order-0 pages
 * @npages: number of pages
 * @vaddr: mapping of all pages in the kernel's address space
 */
struct vrfm_mem {
	struct page **pages;
	unsigned long npages;
	void *vaddr;
};

/**
 * enum vrfm_resync_kind - reason of a load, which decides what words are merged
 * @VRFM_RESYNC_SAME: same lineage, the peer has seen more of a departed node:
 *	all words
 * @VRFM_RESYNC_OLDER: the peer's image is older: its words that are not zero
 * @VRFM_RESYNC_FILL: the peer gave up a shared image: words that are zero here
 */
enum vrfm_resync_kind {
	VRFM_RESYNC_SAME,
	VRFM_RESYNC_OLDER,
	VRFM_RESYNC_FILL,
};

/**
 * struct vrfm_resync - image of a device and its transfer; under
 * vrfm_dev.write_lock
 * @work: work that loads an image
 * @lineage: random id of the image
 * @began: time when the image began, as far as this node knows
 * @shared: another node has, or had, an image of the same lineage
 * @merged: this node gave up an image that was shared
 * @kind: reason of the load
 * @number: number of the last load, sent in LOAD
 * @from: peer that caused the load; compared only, never dereferenced; NULL
 *	once that peer is removed
 * @wanted: lineage that is loaded
 * @wanted_began: time when the image of that lineage began
 * @since: jiffies of the last progress: pages arrived, or the donor changed
 * @deserted: no peer offers the wanted image, since @since
 * @donor: peer whose pages are requested, a link in the list; NULL: not chosen
 *	yet
 * @page: next page to request
 * @asked: number of pages in the request that is pending; 0: none is
 * @digested: page that the first of @digests belongs to; used by @work alone,
 *	as are the next two
 * @ndigests: number of valid @digests
 * @digests: digests of this node's pages, for the pending or the next request
 * @seen: the donor's history of departed nodes, from before its first page;
 *	NULL: no load
 * @wants: a load waits for memory; used by @work alone, as are the next two
 * @spare_live: memory for the map of live words
 * @spare_seen: memory for @seen
 * @spent_live: map of a load that has ended; @work frees it and @spent_seen
 * @spent_seen: history of that load
 * @history: history of the ended lives of each node, this one included
 * @known: nodes whose @history has, or has had, an entry
 * @alive: epoch of the current life of each node, as far as this node knows, or
 *	0
 * @doubts: counter that makes each &vrfm_life.tie_breaker unique
 * @lost: jiffies when a link last went down
 */
struct vrfm_resync {
	struct delayed_work work;
	u64 lineage;
	ktime_t began;
	bool shared;
	bool merged;
	enum vrfm_resync_kind kind;
	u32 number;
	const struct vrfm_link *from;
	u64 wanted;
	ktime_t wanted_began;
	unsigned long since;
	bool deserted;
	struct vrfm_link *donor;
	u32 page;
	u32 asked;
	u32 digested;
	u32 ndigests;
	u64 digests[VRFM_PULL_MAX];
	struct vrfm_history *seen;
	bool wants;
	unsigned long *spare_live;
	struct vrfm_history *spare_seen;
	unsigned long *spent_live;
	struct vrfm_history *spent_seen;
	struct vrfm_history history[VRFM_NODES];
	DECLARE_BITMAP(known, VRFM_NODES);
	u64 alive[VRFM_NODES];
	u32 doubts;
	unsigned long lost;
};

/**
 * struct vrfm_waiter - a task in vrfm_event_wait(), on its stack
 * @file: file that the task waits through
 * @owner: owner that @file was used with; its close() ends the wait
 * @cancelled: the wait shall end
 */
struct vrfm_waiter {
	struct file *file;
	fl_owner_t owner;
	bool cancelled;
};

/**
 * struct vrfm_event - one type of event of a device
 * @queue: events that happened
 * @wait: wait queue of @waiter, and of tasks in poll()
 * @waiter: the task that waits, at most one
 */
struct vrfm_event {
	struct vrfm_queue queue;
	wait_queue_head_t wait;
	struct vrfm_waiter *waiter;
};

/**
 * struct vrfm_regs - state of the registers
 * @lcsr: bits of LCSR1 that are stored
 * @ntd: data of the next event that is sent by register
 * @ntn: destination of that event
 * @debug: debug flags, only stored
 * @dma_swap: byte swap of DMA, only stored
 * @pio_swap: byte swap of peek and poke, only stored
 * @peers: number of configured peers
 * @linked: number of peers that are connected, removed ones included
 */
struct vrfm_regs {
	u32 lcsr;
	u32 ntd;
	u8 ntn;
	u32 debug;
	bool dma_swap;
	bool pio_swap;
	u32 peers;
	u32 linked;
};

/**
 * struct vrfm_stranger - an address that was refused, to log it once
 * @addr: source address
 * @why: enum vrfm_reject; 0: the entry is free
 */
struct vrfm_stranger {
	struct sockaddr_storage addr;
	u32 why;
};

/**
 * struct vrfm_scan_counts - statistics of comparing pages with their twins
 * @passes: passes of the scanner over all pages that have twins
 * @compared: pages that were compared
 * @changed: pages that programs had stored into
 * @words: words that programs had stored
 * @protected: pages that were write-protected
 * @held: pages that were write-protected while another user could still store
 */
struct vrfm_scan_counts {
	u64 passes;
	u64 compared;
	u64 changed;
	u64 words;
	u64 protected;
	u64 held;
};

/**
 * struct vrfm_page_lock - a lock of pages
 * @lock: the lock; alone in its cache line because receive paths of several
 *	peers take page locks at the same time
 */
struct vrfm_page_lock {
	spinlock_t lock; /* pages with this index modulo VRFM_PAGE_LOCKS */
} ____cacheline_aligned_in_smp;

/**
 * struct vrfm_shares - the memory as RDMA devices have it, see registration.c
 * @lock: protects @list and the users of its entries; held while the memory is
 *	registered
 * @domain: of all connections of the device; reference, constant
 * @list: vrfm_shared.entry, one for each RDMA device whose links are shown the
 *	memory
 */
struct vrfm_shares {
	struct mutex lock; /* list */
	struct krdma_domain *domain;
	struct list_head list;
};

/**
 * struct vrfm_dev - /dev/rfm2gN: this host's membership in a network
 * @dev: entry in sysfs; holds the memory until the last file is closed
 * @cdev: character device
 * @published: programs can open the device
 * @debugfs: directory in debugfs, while the device is published
 * @params: parameters
 * @unit: number N of the device
 * @mem: the memory
 * @bar_files: open files that have mapped registers
 * @status: status page that programs map
 * @gone: the device was destroyed; open files get -ENODEV
 * @epoch: id of this life of the device, see vrfm_dev_epoch()
 * @own: a bit for each word: this node wrote it last, as far as it knows; under
 *	the lock of the word's page
 * @page_locks: locks of pages, each for several; taken in any context but hard
 *	interrupts
 * @inode: inode whose address space contains all mappings
 * @twins: twins of writable pages, by index; under the page's lock; removed
 *	under the lock of the struct page as well
 * @twins_lock: protects @pages, @families, @common, @mappers, @compared,
 *	@faults and @twin_waits
 * @pages: all twins, in the order in which the scanner visits them
 * @families: families of processes that map the memory
 * @common: twins of pages that several families can store into
 * @mappers: processes that map the memory, by their mm
 * @compared: number of the last comparison; changes under @write_lock as well
 * @ntwins: number of twins
 * @ncounted: number of twins outside of claimed ranges
 * @twins_max: limit of @ncounted
 * @twin_wait: wait queue of faults, until @ncounted falls
 * @twin_waits: number of such waits
 * @diff: result of the last comparison; under @write_lock
 * @scan_counts: statistics; @passes, @protected and @held are the scanner's,
 *	the others are under @write_lock
 * @faults: number of twins that were created
 * @scanner: task that compares
 * @faults_seen: @faults at the begin of the scanner's pass; used by the scanner
 *	alone, as are the next three
 * @due: time when the first resting page must be compared, in ns
 * @resting: the scanner sleeps until @due
 * @progress: a twin was removed or sent in the last pass
 * @stage: ranges where programs may store into mappings
 * @listener: accepts connections of peers; under the lock of the admin's
 *	directory
 * @shares: the memory, registered on RDMA devices
 * @refused: number of refused connect requests, of peers and of others
 * @strangers: the last refused addresses, a ring
 * @nstrangers: number of addresses that were entered
 * @write_lock: lock of local writes, which gives them one order for all peers;
 *	protects @links, @event_number, @dark, and the members from @refusing to
 *	@refused_len
 * @links: links, one for each peer
 * @serial: number of the last local write
 * @resync: the image, and its transfer from a peer
 * @live: while an image is loaded: a bit for each word that arrived from its
 *	writer since the load began; under the lock of the word's page; else
 *	NULL
 * @event_number: number of the last event that was sent, to any node
 * @dark: the transmitter was off when @write_lock was taken for a store or an
 *	event
 * @refusing: a non-blocking write was refused, and no write of @refused_len
 *	bytes has found room since
 * @refused_at: time of the first refusal
 * @refused_last: time of the last refusal; see vrfm_refusing_locked()
 * @refused_len: size of the largest write that was refused, in bytes
 * @waiter_lock: lock of the writer that is next to get room; others queue for
 *	it
 * @waiting: number of writers that hold or await @waiter_lock
 * @room: wait queue of the writer that holds @waiter_lock, and of tasks that
 *	wait for acknowledgments
 * @room_changes: counter of what may have made room
 * @watch_lock: protects @watchers and @nwatchers
 * @watchers: tasks that wait for a part of the memory to change
 * @nwatchers: number of @watchers; read under the lock of a page
 * @lock: protects @events, @regs, @opens, @bar_files, @refused, @strangers
 * @events: events, indexed by enum rfm2g_event
 * @regs: registers
 * @opens: number of open files
 */
struct vrfm_dev {
	struct device dev;
	struct cdev cdev;
	bool published;
	struct dentry *debugfs;
	struct vrfm_params params;
	unsigned int unit;
	struct vrfm_mem mem;
	struct list_head bar_files;
	struct vrfm_status *status;
	bool gone;

	u64 epoch;
	unsigned long *own;
	struct vrfm_page_lock page_locks[VRFM_PAGE_LOCKS]; /* mem, own */
	struct inode *inode;
	struct vrfm_twin **twins;
	spinlock_t twins_lock; /* see @twins_lock above */
	struct list_head pages;
	struct list_head families;
	struct vrfm_family common;
	DECLARE_HASHTABLE(mappers, VRFM_MAPPERS_BITS);
	u64 compared;
	atomic_t ntwins;
	atomic_t ncounted;
	u32 twins_max;
	wait_queue_head_t twin_wait;
	u64 twin_waits;
	struct vrfm_diff *diff;
	struct vrfm_scan_counts scan_counts;
	u64 faults;
	struct task_struct *scanner;
	u64 faults_seen;
	u64 due;
	bool resting;
	bool progress;
	struct vrfm_stage stage;
	struct krdma_cb *listener;
	struct vrfm_shares shares;

	struct rt_mutex write_lock;
	struct list_head links;
	u64 serial;
	struct vrfm_resync resync;
	unsigned long *live;
	u64 event_number;
	bool dark;
	bool refusing;
	ktime_t refused_at;
	ktime_t refused_last;
	u32 refused_len;
	struct rt_mutex waiter_lock; /* see @waiter_lock above */
	atomic_t waiting;
	wait_queue_head_t room;
	atomic_t room_changes;

	spinlock_t watch_lock; /* watchers, nwatchers */
	struct list_head watchers;
	unsigned int nwatchers;

	spinlock_t lock; /* see @lock above */
	struct vrfm_event events[RFM2G_EVENTS];
	struct vrfm_regs regs;
	unsigned int opens;
	u64 refused;
	struct vrfm_stranger strangers[VRFM_STRANGERS];
	unsigned int nstrangers;
};

/**
 * enum vrfm_special - target of the next mmap() of a file
 * @VRFM_SPECIAL_NONE: the memory
 * @VRFM_SPECIAL_BAR0: registers
 * @VRFM_SPECIAL_BAR2: registers
 * @VRFM_SPECIAL_DMA: a new buffer
 * @VRFM_SPECIAL_DMA_NULL: a buffer at address 0, which the cards refuse
 */
enum vrfm_special {
	VRFM_SPECIAL_NONE,
	VRFM_SPECIAL_BAR0,
	VRFM_SPECIAL_BAR2,
	VRFM_SPECIAL_DMA,
	VRFM_SPECIAL_DMA_NULL,
};

/**
 * struct vrfm_file - an open device
 * @vdev: the device
 * @dma_threshold: DMA threshold, only stored
 * @special: enum vrfm_special, consumed by the next mmap()
 * @poll_in: a bit for each event that poll() reports as POLLIN
 * @poll_pri: a bit for each event that poll() reports as POLLPRI
 * @claims: protects @claimed
 * @claimed: a bit for each range that the file has claimed; NULL: none
 * @bars: pages that show BAR0 and BAR2, or NULL; under vrfm_dev.lock, as is the
 *	next
 * @bar_entry: place in vrfm_dev.bar_files, if the file has one of @bars
 */
struct vrfm_file {
	struct vrfm_dev *vdev;
	u32 dma_threshold;
	int special;
	u32 poll_in;
	u32 poll_pri;
	struct mutex claims; /* claimed */
	unsigned long *claimed;
	struct page *bars[2];
	struct list_head bar_entry;
};

/**
 * struct vrfm_wait - wait of a call for slow peers, in all its steps together;
 * vrfm_write() begins a new one after each MiB
 * @waited_ns: time that the steps have waited for room or for their turn, in
 *	ns; copying and comparing do not count
 * @nowait: fail instead of waiting
 */
struct vrfm_wait {
	u64 waited_ns;
	bool nowait;
};

/**
 * vrfm_wait_begin - begin the wait of a call
 * @nowait: see &struct vrfm_wait
 *
 * Return: the wait, to be passed to all functions that the call uses.
 */
static inline struct vrfm_wait vrfm_wait_begin(bool nowait)
{
	return (struct vrfm_wait){ .nowait = nowait };
}

/**
 * vrfm_params_init - set the defaults of a device's parameters
 * @params: parameters to fill
 */
static inline void vrfm_params_init(struct vrfm_params *params)
{
	*params = (struct vrfm_params){
		.network = VRFM_NETWORK_DEFAULT,
		.size = VRFM_SIZE_DEFAULT,
		.port = VRFM_PORT_DEFAULT,
		.overload_us = VRFM_OVERLOAD_US_DEFAULT,
		.direct_min = VRFM_DIRECT_MIN_DEFAULT,
		.keepalive_ms = VRFM_KEEPALIVE_MS_DEFAULT,
		.flush_us = VRFM_FLUSH_US_DEFAULT,
		.stage_ms = VRFM_STAGE_MS_DEFAULT,
		.unstage_ms = VRFM_STAGE_MS_DEFAULT,
		.quiet_us = VRFM_QUIET_US_DEFAULT,
	};
}

/* chardev.c */
extern const struct file_operations vrfm_fops;

/* configfs.c */
int vrfm_configfs_init(void);
void vrfm_configfs_allow(void);
void vrfm_configfs_exit(void);

/* debugfs.c */
void vrfm_debugfs_init(void);
void vrfm_debugfs_exit(void);
void vrfm_debugfs_add(struct vrfm_dev *vdev);
void vrfm_debugfs_remove(struct vrfm_dev *vdev);

/* device.c */
int vrfm_device_init(umode_t mode);
void vrfm_device_exit(void);
struct vrfm_dev *vrfm_dev_create(unsigned int unit,
				 const struct vrfm_params *params);
int vrfm_dev_publish(struct vrfm_dev *vdev);
int vrfm_dev_destroy(struct vrfm_dev *vdev, bool even_if_open);
void vrfm_devices_lock(void);
void vrfm_devices_unlock(void);
struct vrfm_dev *vrfm_device(unsigned int unit);

/* event.c */
void vrfm_events_init(struct vrfm_dev *vdev);
int vrfm_event_enable(struct vrfm_dev *vdev, u32 type);
int vrfm_event_disable(struct vrfm_dev *vdev, u32 type);
void vrfm_event_enable_locked(struct vrfm_dev *vdev, u32 type, bool enable);
int vrfm_event_send(struct vrfm_dev *vdev, u32 node, u32 type, u32 data);
void vrfm_event_raise(struct vrfm_dev *vdev, u32 type, u16 node, u32 data);
int vrfm_event_wait(struct vrfm_dev *vdev, struct file *file, u32 type,
		    u32 timeout_ms, struct vrfm_entry *entry);
int vrfm_event_cancel(struct vrfm_dev *vdev, u32 type);
void vrfm_events_cancel(struct vrfm_dev *vdev, struct file *file,
			fl_owner_t owner, u32 types);
int vrfm_event_clear(struct vrfm_dev *vdev, u32 type);
int vrfm_event_clear_count(struct vrfm_dev *vdev, u32 type);
int vrfm_event_info(struct vrfm_dev *vdev, struct rfm2g_queue_info *info);
u32 vrfm_events_ready(struct vrfm_dev *vdev);
void vrfm_events_wake(struct vrfm_dev *vdev);

/* Events that peers send, and events that the device raises by itself. */
#define VRFM_NETWORK_EVENTS GENMASK(RFM2G_EVENT_INTR4, RFM2G_EVENT_RESET)
#define VRFM_FAULT_EVENTS GENMASK(RFM2G_EVENTS - 1, RFM2G_EVENT_BAD_DATA)
#define VRFM_ALL_EVENTS (VRFM_NETWORK_EVENTS | VRFM_FAULT_EVENTS)

/* scan.c */
int vrfm_scan_init(struct vrfm_dev *vdev);
void vrfm_scan_free(struct vrfm_dev *vdev);
int vrfm_scan_own(struct vrfm_dev *vdev, struct vrfm_wait *wait);
int vrfm_scan_all(struct vrfm_dev *vdev, struct vrfm_wait *wait);
int vrfm_twins_init(void);
void vrfm_twins_exit(void);
bool vrfm_twin_wait(struct vrfm_dev *vdev, unsigned long index);
int vrfm_twin_make(struct vrfm_dev *vdev, struct vrfm_family *family,
		   struct page *page, unsigned long index);

/* inode.c */
struct inode *vrfm_inode_new(void);
void vrfm_inode_free(struct inode *inode);

/* ioctl.c */
long vrfm_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
#ifdef CONFIG_COMPAT
long vrfm_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
#else
#define vrfm_compat_ioctl NULL
#endif

/* mmap.c */
void vrfm_wrprotect(struct vrfm_dev *vdev, unsigned long index);
int vrfm_mmap(struct file *file, struct vm_area_struct *vma);

/* proc.c */
int vrfm_proc_init(void);
void vrfm_proc_exit(void);

/* write.c */
int vrfm_write_lock(struct vrfm_dev *vdev, u32 len, struct vrfm_wait *wait);
bool vrfm_is_dark(const struct vrfm_dev *vdev);
int vrfm_switching(struct vrfm_dev *vdev);
int vrfm_store(struct vrfm_dev *vdev, u32 offset, const void *buf, u32 width,
	       bool nowait);
int vrfm_store_bits(struct vrfm_dev *vdev, u32 offset, u32 width, u32 clear,
		    u32 set);
int vrfm_write(struct vrfm_dev *vdev, u32 offset, const void __user *buf,
	       size_t len, bool nowait, size_t *done);
int vrfm_event_send_all(struct vrfm_dev *vdev, u32 node, u32 type, u32 data);
int vrfm_await_peers(struct vrfm_dev *vdev, struct vrfm_flush *flush);

/* mem.c */

/**
 * enum vrfm_own - effect of a store on the map of own words
 * @VRFM_OWN_KEEP: none
 * @VRFM_OWN_SET: this node wrote the words
 * @VRFM_OWN_CLEAR: another node wrote the words
 */
enum vrfm_own {
	VRFM_OWN_KEEP,
	VRFM_OWN_SET,
	VRFM_OWN_CLEAR,
};

static inline spinlock_t *vrfm_page_lock(struct vrfm_dev *vdev, u32 offset)
{
	return &vdev->page_locks[(offset >> PAGE_SHIFT) % VRFM_PAGE_LOCKS].lock;
}

int vrfm_mem_alloc(struct vrfm_mem *mem, u64 size);
void vrfm_mem_name(struct vrfm_mem *mem, struct address_space *mapping);
void vrfm_mem_free(struct vrfm_mem *mem);
int vrfm_read(struct vrfm_dev *vdev, u32 offset, void __user *buf, size_t len);
void vrfm_mem_load(struct vrfm_dev *vdev, u32 offset, void *buf, u32 width);
void vrfm_mem_store(struct vrfm_dev *vdev, u32 offset, const void *buf, u32 len,
		    enum vrfm_own own);

/**
 * vrfm_inside - check whether bytes are inside the memory
 * @vdev: device
 * @offset: offset of the first byte
 * @len: number of bytes
 *
 * Return: true if all of them are.
 */
static inline bool vrfm_inside(const struct vrfm_dev *vdev, u64 offset, u64 len)
{
	u64 size = vdev->params.size;

	return offset <= size && len <= size - offset;
}

/* regs.c */
#define VRFM_LCSR_LED BIT(31)
#define VRFM_LCSR_TX_OFF BIT(30)
#define VRFM_LCSR_DARK_ON_DARK BIT(29)
#define VRFM_LCSR_LOOPBACK BIT(28)
#define VRFM_LCSR_PARITY BIT(27)
#define VRFM_LCSR_TX_EMPTY BIT(7)
#define VRFM_LCSR_RX_FULL BIT(5)
#define VRFM_LCSR_RX_AFULL BIT(4)
#define VRFM_LCSR_SYNC_LOSS BIT(3)
#define VRFM_LCSR_SIGNAL BIT(2)
#define VRFM_LCSR_BAD_DATA BIT(1)
#define VRFM_LCSR_OWN_DATA BIT(0)

void vrfm_regs_init(struct vrfm_dev *vdev);
void vrfm_regs_publish_locked(struct vrfm_dev *vdev);
void vrfm_regs_publish_bus_locked(struct vrfm_dev *vdev);
struct page *vrfm_regs_map(struct vrfm_file *vf, unsigned int bar);
void vrfm_regs_unmap(struct vrfm_file *vf);
u32 vrfm_lcsr(struct vrfm_dev *vdev);
bool vrfm_lcsr_update(struct vrfm_dev *vdev, u32 bit, bool on);
void vrfm_regs_peers(struct vrfm_dev *vdev, int peers, int linked);
u8 vrfm_board_revision(const struct vrfm_dev *vdev);
int vrfm_probe(struct vrfm_dev *vdev);
int vrfm_reg_read(struct vrfm_dev *vdev, struct rfm2g_reg_info *reg);
int vrfm_reg_write(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);
int vrfm_reg_set(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);
int vrfm_reg_clear(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);

#define VRFM_PLX_REVISION 0xAD
#define VRFM_BOARD_ID 0x65

/* sysfs.c */
extern const struct attribute_group *vrfm_dev_groups[];

/* status.c */
int vrfm_status_alloc(struct vrfm_dev *vdev);
void vrfm_status_free(struct vrfm_dev *vdev);
int vrfm_status_mmap(struct vrfm_dev *vdev, struct vm_area_struct *vma);

/* peers_ioctl.c */
int vrfm_states(struct vrfm_dev *vdev, struct vrfm_peers *peers);

/* watch.c */
void vrfm_watch_init(struct vrfm_dev *vdev);
void vrfm_watchers_touch(struct vrfm_dev *vdev, u32 offset, u32 len);
void vrfm_watchers_staged(struct vrfm_dev *vdev);
int vrfm_watch(struct vrfm_dev *vdev, struct file *file,
	       struct vrfm_watch *watch);
void vrfm_watches_cancel(struct vrfm_dev *vdev, const struct file *file,
			 fl_owner_t owner);

/**
 * vrfm_touched - wake watchers of bytes that may have changed
 * @vdev: device
 * @offset: offset of the bytes, inside a page whose lock is held
 * @len: number of bytes
 *
 * Context: any but hard interrupts.
 */
static inline void vrfm_touched(struct vrfm_dev *vdev, u32 offset, u32 len)
{
	if (unlikely(READ_ONCE(vdev->nwatchers)))
		vrfm_watchers_touch(vdev, offset, len);
}

#endif /* VRFM_PRIV_H */
