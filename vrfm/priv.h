/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of vrfm share.
 *
 * Lock order: vrfm_devices_lock(), vrfm_direct.setup, vrfm_shares.lock, the
 * lock of a struct page, vrfm_dev.waiter_lock, vrfm_dev.write_lock,
 * vrfm_link.lock. One of vrfm_stage.lock, vrfm_dev.lock, and
 * vrfm_dev.page_locks comes next. vrfm_dev.watch_lock and vrfm_ring_ctx.lock
 * are the last. vrfm_ring_ctx.control, vrfm_ring_ctx.reading, and vrfm_submit.lock
 * followed by vrfm_submit.checking come before all of them.
 * vrfm_dev.twins_lock may be taken under vrfm_dev.write_lock and under the lock
 * of a struct page. No lock is taken under vrfm_dev.twins_lock.
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
#ifndef CONFIG_64BIT
#error "vrfm copies 8 aligned bytes in one access, and needs a 64-bit kernel"
#endif

#include "mapper.h"
#include "opts.h"
#include "history.h"
#include "proto.h"
#include "queue.h"
#include "resync_state.h"
#include "stage.h"

/* Version of the driver that programs read: at most 15 characters. */
#define VRFM_VERSION "krdma 1"

#define VRFM_PAGE_LOCKS 64
/*
 * vrfm_dev.mappers, the hash table of processes that map the memory, has 2^5
 * lists.
 */
#define VRFM_MAPPERS_BITS 5
/* Number of refused addresses that a device remembers, to log each once. */
#define VRFM_STRANGERS 8

struct dentry;
struct krdma_cb;
struct krdma_domain;
struct krdma_keys;
struct krdma_region;
struct vrfm_diff;
struct vrfm_link;
struct vrfm_sub;
struct vrfm_twin;

/**
 * struct vrfm_params - parameters of a device
 * @node: id of this node, 0 to 255
 * @network: network id; nodes of one network share a memory
 * @size: size of the memory, in bytes
 * @listen: address of this node where peers connect; family 0: none is
 *	configured
 * @port: port of this node, and the default port of peers
 * @overload_us: longest wait of a writer for a slow peer, in us. May change
 *	while the device exists, like @flush_us, @quiet_us, @stage_ms,
 *	@unstage_ms and @direct_min
 * @keepalive_ms: time without a message from a peer after which the peer is
 *	probed, in ms
 * @flush_us: interval between two comparisons of a writable page with its twin,
 *	in us
 * @stage_ms: time limit for a peer to answer a STAGE, the message that notifies
 *	the peer of ranges where it must not write directly, in ms
 * @unstage_ms: time without a user after which a range is no longer staged, so
 *	that peers may write directly into it, in ms
 * @quiet_us: time without stores after which a writable page is
 *	write-protected, in us
 * @direct: policy for direct writes: enum vrfm_direct_mode
 * @direct_min: size of the smallest block that is written directly, in bytes
 * @security: level of security: enum krdma_security
 * @keys: keys for peers without keys of their own, with a reference; NULL:
 *	none. Those of a device change under vrfm_dev.lock
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
	u32 security;
	struct krdma_keys *keys;
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
 * enum vrfm_link_state - state of a link, which shows whether the peer has this
 * node's writes
 * @VRFM_DOWN: the peer is not connected
 * @VRFM_SYNCING: the peer lacks the words in the set of missed words
 * @VRFM_READY: the peer has applied all writes, or they are in flight in the
 *	order of writing
 */
enum vrfm_link_state {
	VRFM_DOWN,
	VRFM_SYNCING,
	VRFM_READY,
};

/**
 * enum vrfm_resync_kind - reason why an image is loaded, which decides what
 * words are merged; own and live words never are
 * @VRFM_RESYNC_SAME: the peer's image has the same lineage, and has more writes
 *	of a departed node: merge all words
 * @VRFM_RESYNC_OLDER: the peer's image is older: merge the peer's words that
 *	are not zero
 * @VRFM_RESYNC_FILL: the peer gave up an image that it had shared with other
 *	nodes: merge words that are zero here
 */
enum vrfm_resync_kind {
	VRFM_RESYNC_SAME,
	VRFM_RESYNC_OLDER,
	VRFM_RESYNC_FILL,
};

/**
 * struct vrfm_resync - image of a device, and the load of another image; under
 * vrfm_dev.write_lock
 * @work: work that decides whether to load an image, and does all steps of a
 *	load
 * @state: state of the load; only vrfm_resync_become_locked() changes it
 * @incomplete: a load has begun or is due, also if it must wait for a peer that
 *	loads an image itself
 * @lineage: lineage of the image: a random number that all copies of the image
 *	have
 * @began: time when the image began, as far as this node knows
 * @shared: at some time another node had an image of this lineage as well
 * @merged: this node gave up an image that other nodes had as well
 * @kind: reason of the last load, or of the one for which memory is reserved
 * @number: number of the last load of this device, which LOAD carries
 * @from: link of the peer that caused the load; only compared, never
 *	dereferenced; NULL: that peer was removed
 * @wanted: lineage of the image that is being loaded
 * @wanted_began: time when that image began
 * @since: jiffies when the load last made progress: it began, pages arrived, the
 *	donor changed, or @state became %VRFM_RESYNC_DESERTED
 * @donor: link of the peer that sends its pages; NULL unless @state is
 *	%VRFM_RESYNC_PULLING; changes together with @state
 * @page: next page to request
 * @requested: number of pages in the pending request; 0: no request is pending
 * @digested: page of the first entry in @digests; used only by @work, like the
 *	next two members
 * @ndigests: number of valid entries in @digests
 * @digests: digests of this node's pages, for the pending request or the next
 *	one
 * @seen: copy of the donor's history, from before the first page is requested;
 *	NULL: no image is being loaded
 * @spare_live: memory for vrfm_dev.live of the next load; used only by @work,
 *	like the next member
 * @spare_seen: memory for @seen of the next load
 * @spent_live: map of live words of a load that has ended, which @work frees
 * @spent_seen: history @seen of a load that has ended, which @work frees
 * @history: ended lives of each node, this node included
 * @known: a bit for each node that has, or had, an entry in @history
 * @alive: epoch of the present life of each node; 0: this node knows of none
 * @tie_breakers: counter that makes each &vrfm_life.tie_breaker unique
 * @link_lost: jiffies when a link last went down
 */
struct vrfm_resync {
	struct delayed_work work;
	enum vrfm_resync_state state;
	bool incomplete;
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
	struct vrfm_link *donor;
	u32 page;
	u32 requested;
	u32 digested;
	u32 ndigests;
	u64 digests[VRFM_PULL_MAX];
	struct vrfm_history *seen;
	unsigned long *spare_live;
	struct vrfm_history *spare_seen;
	unsigned long *spent_live;
	struct vrfm_history *spent_seen;
	struct vrfm_history history[VRFM_NODES];
	DECLARE_BITMAP(known, VRFM_NODES);
	u64 alive[VRFM_NODES];
	u32 tie_breakers;
	unsigned long link_lost;
};

/**
 * struct vrfm_waiter - a task that waits in vrfm_event_wait(); on its stack
 * @file: file that the task waits through
 * @owner: owner of @file in the task: a close() by this owner ends the wait
 * @cancelled: the wait was cancelled
 */
struct vrfm_waiter {
	struct file *file;
	fl_owner_t owner;
	bool cancelled;
};

/**
 * struct vrfm_event - state of one type of event of a device
 * @queue: queue of events that have arrived
 * @wait: wait queue of the task in @waiter, and of tasks that poll
 * @waiter: the task that waits for this type; NULL: none
 * @taker: subscription of the ring that takes this type; NULL: none. At most
 *	one of @waiter and @taker is set
 */
struct vrfm_event {
	struct vrfm_queue queue;
	wait_queue_head_t wait;
	struct vrfm_waiter *waiter;
	struct vrfm_sub *taker;
};

/**
 * struct vrfm_regs - state behind the registers of the card
 * @lcsr: LCSR1: only the bits that are stored
 * @ntd: register NTD: data of the next event that a program sends by registers
 * @ntn: register NTN: destination of that event
 * @debug: debug flags, which have no effect
 * @dma_swap: byte swap of DMA: programs can read it back, it does not swap
 * @pio_swap: byte swap of peek and poke: requires aligned offsets, does not
 *	swap
 * @peers: number of configured peers
 * @linked: number of connected peers, which may include a peer that is being
 *	removed
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
 * struct vrfm_stranger - an address that was refused, and the reason, to log
 * both only once
 * @addr: source address of the connect request
 * @why: reason: enum vrfm_reject; 0: the entry is free
 */
struct vrfm_stranger {
	struct sockaddr_storage addr;
	u32 why;
};

/**
 * struct vrfm_scan_counts - statistics of the comparison of pages with their
 * twins
 * @passes: number of passes of the scanner over all pages that have twins
 * @compared: number of comparisons for calls, which send earlier stores into
 *	mappings, and of second comparisons by the scanner, after the first one
 *	found a difference
 * @changed: number of these comparisons that found a difference
 * @words: number of words that differed in these comparisons
 * @protected: number of times that a page was write-protected
 * @held: number of these times where another user, such as O_DIRECT, could
 *	still store into the page
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
 * struct vrfm_page_lock - lock of the contents of some pages
 * @lock: the lock; has a cache line of its own, because the receive paths of
 *	several peers take page locks at the same time
 */
struct vrfm_page_lock {
	spinlock_t lock; /* page n has lock n % VRFM_PAGE_LOCKS */
} ____cacheline_aligned_in_smp;

/**
 * struct vrfm_shares - registrations of the memory, one for each RDMA device;
 * see registration.c
 * @lock: protects @list and the user counts of its entries; held while the
 *	memory is being registered
 * @domain: reference to the domain that all connections of the device belong
 *	to; constant
 * @list: list of struct vrfm_shared, one for each RDMA device with a link that
 *	advertises the memory to its peer
 */
struct vrfm_shares {
	struct mutex lock; /* protects list */
	struct krdma_domain *domain;
	struct list_head list;
};

/**
 * struct vrfm_dev - /dev/rfm2gN: this host's membership in a network
 * @dev: device in sysfs; its last reference frees the memory, after the last
 *	file is closed
 * @cdev: character device /dev/rfm2gN
 * @published: programs can open the device
 * @debugfs: directory in debugfs; exists while the device is published
 * @params: parameters
 * @unit: number N of the device
 * @mem: the memory
 * @bar_files: list of open files that have mapped registers
 * @status: status page, which programs can map
 * @gone: the device was destroyed: calls through open files return -ENODEV
 * @tap_kinds: types of records that a tap of any ring wants: VRFM_TAP_KIND();
 *	changes under @lock, and is read without it, see vrfm_taps_begin()
 * @epoch: id of this life of the device, see vrfm_dev_epoch()
 * @own: a bit for each own word: as far as this node knows, it wrote the word
 *	last; changes under the lock of the word's page
 * @page_locks: locks of pages, each for several pages: protect @mem and @own;
 *	taken in any context except hard interrupts
 * @inode: inode whose address space contains all mappings
 * @twins: twin of each page, by page index; NULL: none. Changes under the
 *	page's lock. A twin is removed under the lock of the struct page as well
 * @twins_lock: protects @pages, @families, @common, @mappers, @compared,
 *	@faults and @twin_waits
 * @pages: all twins, in the order in which the scanner visits them
 * @families: list of families of processes that map the memory
 * @common: family of twins of pages that processes of several families can
 *	store into
 * @mappers: hash table of processes that map the memory, by their mm
 * @compared: number of the last comparison of a page; changes under @write_lock
 *	as well
 * @ntwins: number of twins
 * @ncounted: number of twins that @twins_max limits: claimed and held pages are
 *	exempt
 * @twins_max: limit of @ncounted
 * @twin_wait: wait queue of faults that wait until @ncounted falls
 * @twin_waits: number of faults that have waited
 * @diff: differences that the last comparison found; under @write_lock
 * @scan_counts: statistics. Only the scanner changes @passes, @protected and
 *	@held; the others change under @write_lock
 * @faults: number of twins that faults have created
 * @scanner: task that compares pages with their twins
 * @faults_seen: value of @faults when the scanner's pass began; only the
 *	scanner changes this and the next three members
 * @due: time when the first page must be compared if all pages rest, in ns; 0:
 *	some page does not rest
 * @resting: all pages rest, and the scanner sleeps until @due
 * @progress: the last pass removed a twin or sent differences
 * @stage: staged ranges, where programs may store into mappings
 * @listener: listens for connections of peers; protected by the lock of the
 *	device's directory in configfs
 * @shares: registrations of the memory on RDMA devices
 * @refused: number of connect requests that were refused
 * @strangers: ring of the last refused addresses
 * @nstrangers: number of addresses that were stored into @strangers so far
 * @write_lock: lock of local writes, which gives these writes the same order
 *	for all peers. Protects @links, @event_number, @dark, and the members
 *	from @refusing to @refused_len
 * @links: list of links, one for each configured peer
 * @serial: number of the last local write
 * @resync: the image, and the load of another one from a peer
 * @live: a bit for each live word: its writer sent it after the load of an
 *	image began; changes under the lock of the word's page. NULL: no image
 *	is being loaded
 * @event_number: number of the last event that this node sent, to any node
 * @dark: the transmitter was off when the holder of @write_lock took it for a
 *	store or an event
 * @refusing: a non-blocking write was refused, and no write of @refused_len or
 *	more bytes has found room since then
 * @refused_at: time of the first of these refusals
 * @refused_last: time of the last of these refusals; see vrfm_refusing_locked()
 * @refused_len: size of the largest write that was refused, in bytes
 * @waiter_lock: lock of the writer that is the next to get room; other writers
 *	wait for this lock
 * @waiting: number of writers that hold @waiter_lock or wait for it
 * @room: wait queue of the writer that holds @waiter_lock, and of tasks that
 *	wait for acknowledgments
 * @room_changes: counter of changes that may have made room
 * @watch_lock: protects @watchers and @nwatchers
 * @watchers: list of tasks that wait until a part of the memory changes
 * @nwatchers: number of entries in @watchers; read under the lock of a page
 * @lock: protects @events, @regs, @opens, @bar_files, @refused, @strangers,
 *	@nrings, changes of @rings, &vrfm_params.keys and &vrfm_peer.keys
 * @events: state of each type of event, indexed by enum rfm2g_event
 * @regs: state behind the registers
 * @opens: number of open files
 * @rings: list of rings, see sub.c; read under RCU
 * @nrings: number of rings
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
	u32 tap_kinds;

	u64 epoch;
	unsigned long *own;
	struct vrfm_page_lock page_locks[VRFM_PAGE_LOCKS]; /* see @page_locks */
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

	spinlock_t watch_lock; /* protects watchers, nwatchers */
	struct list_head watchers;
	unsigned int nwatchers;

	spinlock_t lock; /* see @lock above */
	struct vrfm_event events[RFM2G_EVENTS];
	struct vrfm_regs regs;
	unsigned int opens;
	u64 refused;
	struct vrfm_stranger strangers[VRFM_STRANGERS];
	unsigned int nstrangers;
	struct list_head rings;
	unsigned int nrings;
};

/**
 * enum vrfm_special - object that the next mmap() of a file maps
 * @VRFM_SPECIAL_NONE: the memory
 * @VRFM_SPECIAL_BAR0: registers of BAR0
 * @VRFM_SPECIAL_BAR2: registers of BAR2
 * @VRFM_SPECIAL_DMA: a new buffer for DMA
 * @VRFM_SPECIAL_DMA_NULL: a DMA buffer at address 0, which is refused, as with
 *	the cards
 */
enum vrfm_special {
	VRFM_SPECIAL_NONE,
	VRFM_SPECIAL_BAR0,
	VRFM_SPECIAL_BAR2,
	VRFM_SPECIAL_DMA,
	VRFM_SPECIAL_DMA_NULL,
};

/**
 * struct vrfm_file - an open file of a device
 * @vdev: the device
 * @dma_threshold: DMA threshold, which has no effect
 * @special: object for the next mmap(), which resets it: enum vrfm_special
 * @poll_in: a bit for each event that poll() reports as POLLIN
 * @poll_pri: a bit for each event that poll() reports as POLLPRI
 * @claims: protects @claimed
 * @claimed: a bit for each range that was claimed through this file; NULL: none
 * @bars: pages that show BAR0 and BAR2; NULL: not mapped. Under vrfm_dev.lock,
 *	like the next member
 * @bar_entry: place in vrfm_dev.bar_files, if @bars has a page
 * @nrings: number of rings that hold this file; under vrfm_dev.lock
 */
struct vrfm_file {
	struct vrfm_dev *vdev;
	u32 dma_threshold;
	int special;
	u32 poll_in;
	u32 poll_pri;
	struct mutex claims; /* protects claimed */
	unsigned long *claimed;
	struct page *bars[2];
	struct list_head bar_entry;
	unsigned int nrings;
};

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

/* event.c */
void vrfm_events_init(struct vrfm_dev *vdev);
int vrfm_event_enable(struct vrfm_dev *vdev, u32 type);
int vrfm_event_disable(struct vrfm_dev *vdev, u32 type);
void vrfm_event_enable_locked(struct vrfm_dev *vdev, u32 type, bool enable);
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

/*
 * Network events come from peers. Fault events are raised by this device
 * itself.
 */
#define VRFM_NETWORK_EVENTS GENMASK(RFM2G_EVENT_INTR4, RFM2G_EVENT_RESET)
#define VRFM_FAULT_EVENTS GENMASK(RFM2G_EVENTS - 1, RFM2G_EVENT_BAD_DATA)
#define VRFM_ALL_EVENTS (VRFM_NETWORK_EVENTS | VRFM_FAULT_EVENTS)

/* inode.c */
struct inode *vrfm_inode_new(void);
void vrfm_inode_free(struct inode *inode);

/* mem.c */

/**
 * enum vrfm_own - effect of a store on the map of own words
 * @VRFM_OWN_KEEP: leave the map unchanged
 * @VRFM_OWN_SET: mark the words as own words: this node wrote them
 * @VRFM_OWN_CLEAR: mark the words as not own: another node wrote them
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
void vrfm_mem_publish(struct vrfm_dev *vdev, u32 offset, void *buf, u32 len,
		      enum vrfm_own own);

/**
 * vrfm_inside - check whether bytes are inside the memory
 * @vdev: device
 * @offset: offset of the first byte
 * @len: number of bytes
 *
 * Return: true if all bytes are inside the memory.
 */
static inline bool vrfm_inside(const struct vrfm_dev *vdev, u64 offset, u64 len)
{
	u64 size = vdev->params.size;

	return offset <= size && len <= size - offset;
}

/* registration.c */
struct krdma_region *vrfm_share_get(struct vrfm_dev *vdev, struct krdma_cb *cb);
void vrfm_share_put(struct vrfm_dev *vdev, struct krdma_region *region);
int vrfm_share_init(struct vrfm_dev *vdev);
void vrfm_share_free(struct vrfm_dev *vdev);

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

/**
 * vrfm_is_dark - check whether the transmitter is off
 * @vdev: device
 *
 * Return: true if it is.
 */
static inline bool vrfm_is_dark(const struct vrfm_dev *vdev)
{
	return READ_ONCE(vdev->regs.lcsr) & VRFM_LCSR_TX_OFF;
}

void vrfm_regs_init(struct vrfm_dev *vdev);
void vrfm_regs_publish_locked(struct vrfm_dev *vdev);
void vrfm_regs_publish_bus_locked(struct vrfm_dev *vdev);
struct page *vrfm_regs_map(struct vrfm_file *vf, unsigned int bar);
void vrfm_regs_unmap(struct vrfm_file *vf);
u32 vrfm_lcsr(struct vrfm_dev *vdev);
bool vrfm_lcsr_update(struct vrfm_dev *vdev, u32 bit, bool on);
void vrfm_regs_peers(struct vrfm_dev *vdev, int peers, int linked);
u8 vrfm_board_revision(const struct vrfm_dev *vdev);

#define VRFM_PLX_REVISION 0xAD
#define VRFM_BOARD_ID 0x65

/* watchers.c */
void vrfm_watch_init(struct vrfm_dev *vdev);
void vrfm_watchers_touch(struct vrfm_dev *vdev, u32 offset, u32 len);
void vrfm_watchers_staged(struct vrfm_dev *vdev);

/**
 * vrfm_touched - wake the tasks that watch some bytes, after a store into them
 * @vdev: device
 * @offset: offset of the first byte; all bytes are inside a page whose lock is
 *	held
 * @len: number of bytes
 *
 * Context: any but hard interrupts.
 */
static inline void vrfm_touched(struct vrfm_dev *vdev, u32 offset, u32 len)
{
	if (unlikely(READ_ONCE(vdev->nwatchers)))
		vrfm_watchers_touch(vdev, offset, len);
}

/* wrprotect.c */
bool vrfm_wrprotect(struct vrfm_dev *vdev, unsigned long index);

#endif /* VRFM_PRIV_H */
