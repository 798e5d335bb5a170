/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link: what this node and one other have between them.
 *
 * It is there from the moment an admin names the peer, linked or not. What is
 * written on this node goes into the open message of each link that is READY,
 * and into the set of missed words of each that is not.
 */
#ifndef VRFM_LINK_H
#define VRFM_LINK_H

#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <krdma.h>

#include "map.h"
#include "past.h"
#include "proto.h"
#include "queue.h"
#include "rate.h"

struct vrfm_dev;
struct vrfm_diff;

/* Messages that a peer has not acknowledged, at most; and their size. */
#define VRFM_SLOTS 16
#define VRFM_SLOT_SIZE SZ_16K
/* Catching up leaves so many for events. */
#define VRFM_SLOTS_SPARE 2
/* An acknowledgment is sent for so many messages, if nothing else takes it. */
#define VRFM_ACK_EVERY (VRFM_SLOTS / 4)
/*
 * Receives that krdma posts: a window, acknowledgments in between, and what
 * krdma itself says.
 */
#define VRFM_RECVS (VRFM_SLOTS + VRFM_SLOTS / 2)
/* Powers of two of nanoseconds; the last one is 2 s and more. */
#define VRFM_LATENCIES 32

/**
 * enum vrfm_link_state - what the peer has of this node's words
 * @VRFM_DOWN: there is no connection
 * @VRFM_SYNCING: it lacks those that are in the set of missed words
 * @VRFM_READY: everything, or it is on its way, in the order of writing
 */
enum vrfm_link_state {
	VRFM_DOWN,
	VRFM_SYNCING,
	VRFM_READY,
};

/* What a link has to tell the peer, bits of &vrfm_link.todo. */
#define VRFM_TODO_INFO BIT(0)
#define VRFM_TODO_LOAD BIT(1)
#define VRFM_TODO_SWEPT BIT(2)
#define VRFM_TODO_GONE BIT(3)
#define VRFM_TODO_STAGE BIT(4)
#define VRFM_TODO_BEHIND BIT(5)

/**
 * enum vrfm_say - log lines about a link
 * @VRFM_SAY_BEHIND: the peer was left behind
 * @VRFM_SAY_LEFT: the peer left this node behind
 * @VRFM_SAY_BAD: the peer sent a malformed message
 * @VRFM_SAY_UNANSWERED: the peer did not answer a STAGE in time
 * @VRFM_SAY_LOADING: a load of the peer's image begins
 * @VRFM_SAY_LOADED: that load is complete
 * @VRFM_SAY_NO_IMAGE: the peer did not send its image in time
 * @VRFM_SAYS: number of lines
 */
enum vrfm_say {
	VRFM_SAY_BEHIND,
	VRFM_SAY_LEFT,
	VRFM_SAY_BAD,
	VRFM_SAY_UNANSWERED,
	VRFM_SAY_LOADING,
	VRFM_SAY_LOADED,
	VRFM_SAY_NO_IMAGE,
	VRFM_SAYS,
};

/* Blocks that are under way into a peer's memory, at most. */
#define VRFM_BLOCKS 16

/**
 * struct vrfm_pulled - what the peer asks for
 * @first: the first page
 * @count: how many, 0: nothing
 * @digests: of what it has
 */
struct vrfm_pulled {
	u32 first;
	u32 count;
	u64 digests[VRFM_PULL_MAX];
};

/**
 * struct vrfm_slot - a message of the window
 * @req: how it is sent
 * @link: whose
 * @pack: it, while it is filled and until it is acknowledged
 * @event: the event that it is
 * @serial: of this node's last write when it was filled
 * @opened: jiffies when it was opened
 * @opened_ns: the same if times are measured, else 0
 * @type: enum vrfm_wire_type
 * @flags: of its header
 * @closed: nothing is appended any more
 */
struct vrfm_slot {
	struct krdma_req req;
	struct vrfm_link *link;
	struct vrfm_pack pack;
	struct vrfm_wired_event event;
	u64 serial;
	unsigned long opened;
	u64 opened_ns;
	u8 type;
	u8 flags;
	bool closed;
};

/**
 * struct vrfm_block - bytes of a local write, which adapters read
 * @rcu: frees it, if it was placed
 * @refs: of the writer, and of each link that they are under way on
 * @placed: an adapter that may read them once more has them
 * @bytes: they change only while there is one reference
 */
struct vrfm_block {
	struct rcu_head rcu;
	refcount_t refs;
	bool placed;
	void *bytes;
};

/**
 * struct vrfm_placed - a block that is under way into the peer's memory
 * @req: how
 * @link: whose
 * @block: a reference; NULL: none is. If it failed it stays until the link is
 *	down, and is missed then
 * @offset: in the memory
 * @len: bytes
 */
struct vrfm_placed {
	struct krdma_req req;
	struct vrfm_link *link;
	struct vrfm_block *block;
	u32 offset;
	u32 len;
};

/**
 * enum vrfm_shown - may the peer write directly into this node's memory?
 * @VRFM_SHOWN_NOT_YET: it will be decided
 * @VRFM_SHOWN: yes
 * @VRFM_SHOWN_OFF: the admin does not want it
 * @VRFM_SHOWN_IWARP: a WRITE that is done there may not have arrived
 * @VRFM_SHOWN_ORDER: the adapter may place WRITEs in another order
 * @VRFM_SHOWN_COPIED: what it places must be copied by the CPU
 * @VRFM_SHOWN_LARGE: the memory is too large to be described
 * @VRFM_SHOWN_NO_MEMORY: it could not be registered
 * @VRFM_SHOWNS: how many there are
 */
enum vrfm_shown {
	VRFM_SHOWN_NOT_YET,
	VRFM_SHOWN,
	VRFM_SHOWN_OFF,
	VRFM_SHOWN_IWARP,
	VRFM_SHOWN_ORDER,
	VRFM_SHOWN_COPIED,
	VRFM_SHOWN_LARGE,
	VRFM_SHOWN_NO_MEMORY,
	VRFM_SHOWNS,
};

/**
 * struct vrfm_direct - writing into each other's memory
 * @setup: protects @region; taken before the device's order, held while the
 *	connection's memory is registered
 * @region: this node's memory, for the peer; as long as there is a connection. From
 *	vrfm_share_get()
 *
 * Under the lock of the link:
 * @shown: was the peer told of @region? Changes under the order, too
 * @told: number of the last STAGE that was sent
 * @answered: of the last one that the peer has answered
 * @remote: the peer's memory, NULL: not known
 * @desc: how the peer described it, until somebody has looked at that
 * @desc_len: its bytes
 * @seen: number of the peer's last STAGE
 * @staged: a bit for each range: that said that it must be sent
 * @update: sequence of the last message that has updates
 * @answers: number of such messages that the peer shall acknowledge at once: a
 *	block was written before them
 * @open: what is sent says that direct writes may follow
 * @last: jiffies of the last one that was over
 * @under_way: of @placed
 * @placed: direct writes
 */
struct vrfm_direct {
	struct mutex setup; /* region */
	struct krdma_region *region;

	enum vrfm_shown shown;
	u64 told;
	u64 answered;
	struct krdma_remote *remote;
	void *desc;
	u32 desc_len;
	u64 seen;
	unsigned long *staged;
	u64 update;
	u32 answers;
	bool open;
	unsigned long last;
	u32 under_way;
	struct vrfm_placed placed[VRFM_BLOCKS];
};

/**
 * struct vrfm_rx - what came from the peer; the receive callback's own
 * @sequence: of the last message that was applied
 * @event: number of the last event, of @epoch
 * @synced: it said that it is not behind
 * @bad: it broke the rules, or is not known to be the peer: nothing is heard
 * @held: events of one that is behind
 * @nheld: how many
 */
struct vrfm_rx {
	u64 sequence;
	u64 event;
	bool synced;
	bool bad;
	struct vrfm_wired_event held[VRFM_QUEUE_DEPTH];
	u32 nheld;
};

/**
 * struct vrfm_link_counts - for who looks
 * @ups: connections
 * @messages: sent, acknowledgments not counted
 * @received: of the same
 * @bytes_sent: in messages, acknowledgments counted
 * @bytes_received: of the same
 * @directs: blocks that were written directly into the peer's memory
 * @bytes_direct: of them
 * @overloads: how often the peer was too slow
 * @left: number of times that the peer left this node behind
 * @protocol: how often it broke the rules
 * @events_dropped: events that it had no room for
 */
struct vrfm_link_counts {
	u64 ups;
	u64 messages;
	u64 received;
	u64 bytes_sent;
	u64 bytes_received;
	u64 directs;
	u64 bytes_direct;
	u64 overloads;
	u64 left;
	u64 protocol;
	u64 events_dropped;
};

#define VRFM_OVERLOAD_DEVICE U32_MAX

/**
 * struct vrfm_peer - another node, as an admin names it
 * @node: its id
 * @any: its address does not matter; it connects
 * @overload_us: longest wait of a writer for this peer, in us; may change;
 *	%VRFM_OVERLOAD_DEVICE: that of the device
 * @addr: its address and port
 */
struct vrfm_peer {
	u32 node;
	bool any;
	u32 overload_us;
	struct sockaddr_storage addr;
};

/**
 * struct vrfm_mtu - MTUs of a link's path, in bytes of RDMA payload
 * @path: of the connection, 0: not known
 * @local: largest of the local interface, 0: not known
 * @peer: largest of the peer's interface, 0: not known
 */
struct vrfm_mtu {
	u32 path;
	u32 local;
	u32 peer;
};

/**
 * struct vrfm_link - see above
 * @vdev: this node's device
 * @peer: the other one
 * @again: keeps the connection, if this side connects
 * @refs: the device's, and of who waits for acknowledgments
 * @entry: in the device's list, under its order; read under RCU, too
 *
 * Under the device's order:
 * @missed: words of this node's that the peer may not have
 * @lost: and all others of this node's, too,
 * @lost_at: from this one on: those before are in @missed
 * @hold_until: jiffies; not before that it catches up
 * @penalty_ms: how long the next overload makes it wait
 * @ready_since: jiffies
 * @later: events that wait for room, the oldest first: those that were not
 *	acknowledged when the last connection ended, and those that came while
 *	the peer was behind
 * @nlater: how many
 * @full_since: when a writer first found no room for @full_len bytes on this link;
 *	0: it had room when a writer last checked
 * @full_len: size of the largest run without room since then, in bytes
 * @awaited: the first writer in turn waits for room on this link
 * @scratch: a page for what is taken from the memory
 * @cursor: where catching up goes on
 * @sweeping: number of the LOAD that it will answer when it has gone round, 0
 * @todo: what to tell
 * @tell_gone: of which nodes
 * @told: what the peer was told of this node's image
 * @filled: lineage in which the peer's other image has been looked at, 0: none;
 *	of this life of the peer's
 * @was_other: since the link is up the peer's image was another one
 * @waits_since: jiffies; a peer that may have less of those that are gone is
 *	waited for from then on, see vrfm_load_may_fill()
 *
 * @served: pages of the PULL that were looked at; @sync's own
 * @sync: work that catches up
 * @ack: work that acknowledges what nobody else did
 * @say: work that prints log lines
 * @says: bits of enum vrfm_say, lines that @say has to print
 *
 * @lock: protects what follows; taken in any context but hard interrupts
 * @state: changes under the order, too, by vrfm_link_become_locked()
 * @since: when it did
 * @cb: connection, while it is up
 * @removed: it is not in the list any more
 * @incoming: connection that was accepted, until it is released
 * @wait: for the end of @incoming
 * @peer_epoch: which life of the peer's device, 0: none yet
 * @room: bytes of a message
 * @reads_on: the device may read a block after it is over, see
 *	krdma_may_read_on()
 * @mtu: MTUs of the last connection's path
 * @slots: the window
 * @opened: sequence of the newest message in it
 * @posted: of the last one that was posted
 * @completed: of the last one that the adapter has done with
 * @acked: of the last one that the peer has applied
 * @granted: the peer wants this node to be READY
 * @rx_sequence: messages of the peer's that are applied
 * @rx_told: those of them that it knows of
 * @rx_serial: of its last write among them
 * @rx_direct: it may have written directly since
 * @info: what it said of its image, its kind 0: nothing
 * @info_at: when @info came
 * @load: number of its LOAD that was not begun to be answered, 0
 * @swept: number of this node's LOAD that it has answered
 * @arrived: number of the PULLED that it said last, plus 1; 0: none
 * @pulling: it was asked for pages, and has not said PULLED since
 * @mute: and not in time: until it does it is no holder
 * @said: what it has of lives that are over, by node
 * @heard: of which nodes it has said that
 * @peer_loads: number of the peer's last load that this node has answered
 * @filling: an open message of that type is filled, and not sent meanwhile; 0: none is
 * @wants_room: somebody waits for a free message
 * @pulled: what it asks for; @sync's once it is not empty
 * @rx_heard: jiffies when it was heard
 * @asked: jiffies when it was asked whether it lives, 0: not yet
 * @ack_req: sends an acknowledgment
 * @ack_msg: the acknowledgment
 * @ack_head: its bytes
 * @ack_busy: it is on its way
 * @ack_again: another one shall follow
 * @direct: writing into each other's memory
 * @counts: statistics
 * @tx_rate: bytes that are sent
 * @rx_rate: bytes that come
 * @latency: updates by the binary logarithm of the nanoseconds until the peer
 *	said that it had applied them
 * @down_error: why the last connection ended
 * @down_at: when, 0: none did
 * @dial_error: why the last attempt to connect failed, 0: it did not
 * @rejected: why it was refused last, to say so once
 *
 * @rx: what came
 */
struct vrfm_link {
	struct vrfm_dev *vdev;
	struct vrfm_peer peer;
	struct krdma_again *again;
	refcount_t refs;
	struct list_head entry;

	struct vrfm_map missed;
	bool lost;
	u32 lost_at;
	unsigned long hold_until;
	u32 penalty_ms;
	unsigned long ready_since;
	struct vrfm_wired_event later[VRFM_SLOTS + VRFM_QUEUE_DEPTH];
	u32 nlater;
	ktime_t full_since;
	u32 full_len;
	bool awaited;
	u32 *scratch;
	u32 cursor;
	u32 sweeping;
	u32 todo;
	DECLARE_BITMAP(tell_gone, VRFM_NODES);
	struct vrfm_note told;
	u64 filled;
	bool was_other;
	unsigned long waits_since;

	u32 served;
	struct delayed_work sync;
	struct delayed_work ack;
	struct work_struct say;
	unsigned long says;

	spinlock_t lock; /* see @lock above */
	enum vrfm_link_state state;
	ktime_t since;
	struct krdma_cb *cb;
	bool removed;
	struct krdma_cb *incoming;
	wait_queue_head_t wait;
	u64 peer_epoch;
	u32 room;
	bool reads_on;
	struct vrfm_mtu mtu;
	struct vrfm_slot slots[VRFM_SLOTS];
	u64 opened;
	u64 posted;
	u64 completed;
	u64 acked;
	bool granted;
	u64 rx_sequence;
	u64 rx_told;
	u64 rx_serial;
	bool rx_direct;
	struct vrfm_note info;
	ktime_t info_at;
	u32 load;
	u32 swept;
	u32 arrived;
	bool pulling;
	bool mute;
	struct vrfm_past *said;
	DECLARE_BITMAP(heard, VRFM_NODES);
	u32 peer_loads;
	u8 filling;
	bool wants_room;
	struct vrfm_pulled pulled;
	unsigned long rx_heard;
	unsigned long asked;
	struct krdma_req ack_req;
	struct vrfm_pack ack_msg;
	struct vrfm_wire_head ack_head;
	bool ack_busy;
	bool ack_again;
	struct vrfm_direct direct;
	struct vrfm_link_counts counts;
	struct vrfm_rate tx_rate;
	struct vrfm_rate rx_rate;
	u64 latency[VRFM_LATENCIES];
	int down_error;
	ktime_t down_at;
	int dial_error;
	enum vrfm_reject rejected;

	struct vrfm_rx rx;
};

/* link.c */
int vrfm_link_init(void);
void vrfm_link_exit(void);
extern struct workqueue_struct *vrfm_wq;

struct vrfm_link *vrfm_link_alloc(struct vrfm_dev *vdev,
				  const struct vrfm_peer *peer);
void vrfm_link_put(struct vrfm_link *link);
void vrfm_link_up(struct vrfm_link *link, struct krdma_cb *cb, u64 epoch);
void vrfm_link_down(struct vrfm_link *link, int reason);
void vrfm_link_bad(struct vrfm_link *link);
void vrfm_link_receive(struct vrfm_link *link, struct krdma_loan *loan);
u32 vrfm_link_free_locked(const struct vrfm_link *link);
u32 vrfm_link_late_ms_locked(struct vrfm_link *link);
u32 vrfm_link_need(const struct vrfm_link *link, u32 len);
bool vrfm_link_has_room(struct vrfm_link *link, u32 len);
void vrfm_link_miss_own(struct vrfm_link *link);
void vrfm_link_update(struct vrfm_link *link, u32 offset, const void *bytes,
		      u32 len, struct vrfm_block *block);
void vrfm_link_diff(struct vrfm_link *link, u32 offset,
		    const struct vrfm_diff *diff);
void vrfm_link_event(struct vrfm_link *link, u32 event, u32 data);
void vrfm_link_events(struct vrfm_link *link);
u64 vrfm_link_probe(struct vrfm_link *link);
void vrfm_link_behind(struct vrfm_link *link);
void vrfm_link_ready(struct vrfm_link *link);
void vrfm_link_append_locked(struct vrfm_link *link, u8 type, u32 offset,
			     const void *bytes, u32 len);
bool vrfm_link_note(struct vrfm_link *link, const struct vrfm_note *note);
bool vrfm_link_ask(struct vrfm_link *link, u32 first, const u64 *digests,
		   u32 count);
void vrfm_link_fall_back(struct vrfm_link *link);
void vrfm_link_push_locked(struct vrfm_link *link);
void vrfm_link_woken(struct vrfm_link *link);
struct vrfm_slot *vrfm_link_open_locked(struct vrfm_link *link, u8 type);
void vrfm_link_miss(struct vrfm_link *link, u32 offset, u32 len);
const char *vrfm_link_state_name(enum vrfm_link_state state);

/* debugfs.c */
u64 vrfm_latency_begin(void);
void vrfm_latency_end_locked(struct vrfm_link *link, u64 applied);

/* direct.c */
struct vrfm_block *vrfm_block_alloc(u32 len);
void vrfm_block_put(struct vrfm_block *block);
int vrfm_direct_init(struct vrfm_link *link);
void vrfm_direct_free(struct vrfm_link *link);
void vrfm_direct_reset_locked(struct vrfm_link *link);
struct krdma_region *vrfm_direct_down(struct vrfm_link *link);
bool vrfm_direct_has_room(struct vrfm_link *link, u32 len);
bool vrfm_direct_takes_all(struct vrfm_link *link);
bool vrfm_direct_update_locked(struct vrfm_link *link, u32 offset, u32 len,
			       struct vrfm_block *block);
void vrfm_direct_setup(struct vrfm_link *link);
void vrfm_direct_settle(struct vrfm_link *link);
bool vrfm_direct_tell(struct vrfm_link *link);
void vrfm_direct_rx_stage(struct vrfm_link *link, const void *msg);
const char *vrfm_shown_name(enum vrfm_shown shown);

/* share.c */
struct krdma_region *vrfm_share_get(struct vrfm_dev *vdev, struct krdma_cb *cb);
void vrfm_share_put(struct vrfm_dev *vdev, struct krdma_region *region);
int vrfm_share_init(struct vrfm_dev *vdev);
void vrfm_share_free(struct vrfm_dev *vdev);

/* peer.c */
struct vrfm_link *vrfm_peer_add(struct vrfm_dev *vdev,
				const struct vrfm_peer *peer);
void vrfm_peer_remove(struct vrfm_link *link);
void vrfm_peers_remove(struct vrfm_dev *vdev);

/* load.c */
void vrfm_load_init(struct vrfm_dev *vdev);
void vrfm_load_exit(struct vrfm_dev *vdev);
void vrfm_load_kick(struct vrfm_dev *vdev);
void vrfm_load_link_up(struct vrfm_link *link);
void vrfm_load_lose(struct vrfm_link *link);
void vrfm_load_link_down(struct vrfm_link *link);
bool vrfm_load_tell(struct vrfm_link *link);
void vrfm_load_merge(struct vrfm_link *link, const struct vrfm_run *run);

/* status.c */
void vrfm_status_update_locked(struct vrfm_link *link);
void vrfm_status_lost(struct vrfm_link *link);
void vrfm_status_lag_locked(struct vrfm_link *link);
void vrfm_status_heard_locked(struct vrfm_link *link);
void vrfm_status_add(struct vrfm_link *link);
void vrfm_status_remove(struct vrfm_link *link);

/* say.c */
void vrfm_say_init(struct vrfm_link *link);
void vrfm_link_say(struct vrfm_link *link, enum vrfm_say what);

/* serve.c */
void vrfm_serve(struct vrfm_link *link);

/* sync.c */
void vrfm_sync_work(struct work_struct *work);
void vrfm_sync_kick(struct vrfm_link *link);
void vrfm_sync_fill(struct vrfm_link *link, u8 type);

#endif /* VRFM_LINK_H */
