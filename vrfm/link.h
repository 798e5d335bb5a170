/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link: the state that this node keeps for one peer.
 *
 * The link exists from the moment an admin configures the peer, connected or
 * not. If the link is READY, a local write is appended to its open message.
 * Otherwise the write is recorded in its set of missed words.
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
#include "history.h"
#include "proto.h"
#include "queue.h"
#include "rate.h"

struct vrfm_dev;
struct vrfm_diff;

/* Messages that a peer has not acknowledged, at most; and their size. */
#define VRFM_SLOTS 16
#define VRFM_SLOT_SIZE SZ_16K
/* Free messages that catching up leaves for events. */
#define VRFM_SLOTS_SPARE 2
/* Messages received until an acknowledgment is sent, if none was before. */
#define VRFM_ACK_EVERY (VRFM_SLOTS / 4)
/*
 * Receives that krdma posts: for a window, for acknowledgments in between, and
 * for messages of krdma itself.
 */
#define VRFM_RECVS (VRFM_SLOTS + VRFM_SLOTS / 2)
/* Entries by power of two of nanoseconds; the last one is for 2 s and more. */
#define VRFM_LATENCIES 32

/**
 * enum vrfm_link_state - state of a link: which writes of this node the peer
 * has
 * @VRFM_DOWN: there is no connection
 * @VRFM_SYNCING: the peer lacks the words in the set of missed words
 * @VRFM_READY: all writes are applied or in flight, in the order of writing
 */
enum vrfm_link_state {
	VRFM_DOWN,
	VRFM_SYNCING,
	VRFM_READY,
};

/* Messages that a link has to send, bits of &vrfm_link.todo. */
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

/* Blocks that are in flight into a peer's memory, at most. */
#define VRFM_BLOCKS 16

/**
 * struct vrfm_pulled - pages that the peer has requested
 * @first: first page
 * @count: number of pages; 0: no request is pending
 * @digests: digests of the peer's pages
 */
struct vrfm_pulled {
	u32 first;
	u32 count;
	u64 digests[VRFM_PULL_MAX];
};

/**
 * struct vrfm_slot - a message of the window
 * @req: send request
 * @link: link of the window
 * @pack: bytes of the message, kept until it is acknowledged
 * @event: the event, if the message is one
 * @serial: number of this node's last write when the message was filled
 * @opened: jiffies when the message was opened
 * @opened_ns: time when it was opened if latencies are measured, in ns; else 0
 * @type: enum vrfm_wire_type
 * @flags: flags of the header
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
 * @rcu: frees the block if it was placed
 * @refs: references of the writer, and of each link where the bytes are in
 *	flight
 * @placed: an adapter has the bytes that may read them after completion
 * @bytes: the bytes; they change only while there is one reference
 */
struct vrfm_block {
	struct rcu_head rcu;
	refcount_t refs;
	bool placed;
	void *bytes;
};

/**
 * struct vrfm_placed - a block that is in flight into the peer's memory
 * @req: write request
 * @link: link that it belongs to
 * @block: a reference; NULL: this entry is free. A block whose write failed
 *	stays until the link is down, and its words are missed then
 * @offset: offset in the memory
 * @len: number of bytes
 */
struct vrfm_placed {
	struct krdma_req req;
	struct vrfm_link *link;
	struct vrfm_block *block;
	u32 offset;
	u32 len;
};

/**
 * enum vrfm_shown - whether the peer may write directly into this node's memory
 * @VRFM_SHOWN_NOT_YET: not decided yet
 * @VRFM_SHOWN: the peer may
 * @VRFM_SHOWN_OFF: the admin has switched it off
 * @VRFM_SHOWN_IWARP: a WRITE that is complete at the peer may not have arrived
 *	here
 * @VRFM_SHOWN_ORDER: the adapter may place WRITEs in another order
 * @VRFM_SHOWN_COPIED: the CPU must copy what the adapter places
 * @VRFM_SHOWN_LARGE: the description of the memory does not fit into a message
 * @VRFM_SHOWN_NO_MEMORY: the memory could not be registered
 * @VRFM_SHOWNS: number of values
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
 * struct vrfm_direct - direct writes of two nodes into each other's memory
 * @setup: protects @region; taken before vrfm_dev.write_lock, and held while
 *	the memory is registered
 * @region: this node's memory, registered for the peer while there is a
 *	connection; from vrfm_share_get()
 *
 * Under vrfm_dev.write_lock:
 * @shown: whether the description of @region was sent to the peer
 *
 * Under the lock of the link:
 * @told: number of the last STAGE that was sent
 * @answered: number of the last STAGE that the peer has answered
 * @remote: the peer's memory; NULL: not known
 * @desc: description of the peer's memory, until vrfm_direct_setup() imports it
 * @desc_len: length of @desc, in bytes
 * @seen: number of the peer's last STAGE
 * @staged: a bit for each range that the peer has staged: updates there are
 *	messages
 * @update: sequence of the last message that has updates
 * @answers: number of further messages with updates that the peer shall
 *	acknowledge at once, because a large block was written before them
 * @open: messages carry DIRECT: direct writes may follow them
 * @last: jiffies when the last direct write completed
 * @under_way: number of @placed in flight
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
 * struct vrfm_rx - state of receiving; used by the receive callback, and by
 * vrfm_link_up() and vrfm_link_down() while no callback runs
 * @sequence: sequence of the last message that was applied
 * @event: number of the last event of the peer's current life
 * @synced: the peer sends all its writes in order
 * @bad: the peer broke the protocol, or is not linked: its messages are ignored
 * @held: events of a peer that is behind, to be raised when it has caught up
 * @nheld: number of @held
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
 * struct vrfm_link_counts - statistics of a link
 * @ups: connections
 * @messages: messages sent, without acknowledgments
 * @received: messages received, without acknowledgments
 * @bytes_sent: bytes of messages sent, with acknowledgments
 * @bytes_received: bytes of messages received, with acknowledgments
 * @directs: blocks that were written directly into the peer's memory
 * @bytes_direct: bytes of these blocks
 * @overloads: number of times that the peer was left behind
 * @left: number of times that the peer left this node behind
 * @protocol: number of malformed messages of the peer
 * @events_dropped: events that were dropped for lack of room
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
 * struct vrfm_peer - another node, as an admin configured it
 * @node: node id
 * @any: the peer connects, from any address
 * @overload_us: longest wait of a writer for this peer, in us; may change;
 *	%VRFM_OVERLOAD_DEVICE: that of the device
 * @addr: address and port of the peer
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
 * struct vrfm_link - state that this node keeps for one peer
 * @vdev: device of this node
 * @peer: configuration of the peer
 * @reconn: reconnects to the peer; NULL: the peer connects
 * @refs: references: of the device, of its listener, of tasks that wait for
 *	acknowledgments
 * @entry: place in vrfm_dev.links, under vrfm_dev.write_lock; also read under
 *	RCU
 *
 * Under vrfm_dev.write_lock:
 * @missed: own words that the peer may not have
 * @lost: all own words from @lost_at on are missed as well
 * @lost_at: first word that is not merged into @missed yet, if @lost
 * @hold_until: jiffies before which catching up does not begin
 * @penalty_ms: time that the next overload delays catching up, in ms
 * @ready_since: jiffies when the link became READY
 * @backlog: events that wait for room, the oldest first. Events that were not
 *	acknowledged when the last connection ended come before those that were
 *	sent while the peer was behind
 * @nbacklog: number of @backlog
 * @full_since: time when a writer first found no room for @full_len bytes; 0:
 *	there was room when a writer last checked
 * @full_len: size of the largest run without room since then, in bytes
 * @awaited: the first writer in turn waits for room on this link
 * @scratch: a page for copies from the memory
 * @cursor: word where catching up continues
 * @sweeping: number of the peer's LOAD that is answered after a round over all
 *	missed words; 0: none
 * @todo: messages to send, VRFM_TODO_...
 * @gone_due: nodes whose history is to be sent
 * @info_sent: the last INFO that was sent on this connection; kind 0: none
 * @filled_lineage: this node's lineage when it last loaded the words of the
 *	image that this life of the peer had given up; 0: never
 * @changed_lineage: the peer had an image of another lineage since the link
 *	came up
 * @waits_since: jiffies when the peer got time to load what it may lack of
 *	departed nodes, see vrfm_resync_may_fill()
 *
 * @served: number of pages of the PULL that were compared; used by @sync alone
 * @sync: work that catches up, and sends @todo
 * @ack: work that acknowledges received messages after a tick
 * @say: work that prints log lines
 * @says: bits of enum vrfm_say, lines that @say has to print
 *
 * @lock: protects the members below; taken in any context but hard interrupts
 * @state: state; changes under vrfm_dev.write_lock as well, by
 *	vrfm_link_become_locked()
 * @since: time when @state changed
 * @cb: connection, while the link is up
 * @removed: the link is no longer in vrfm_dev.links
 * @incoming: connection that was accepted, until it is released
 * @wait: wait queue for the release of @incoming
 * @peer_epoch: id of the current or last life of the peer's device; 0: none yet
 * @max_msg: longest message, in bytes
 * @reads_on: the device may read a block after completion, see
 *	krdma_may_read_on()
 * @mtu: MTUs of the last connection's path
 * @slots: the window
 * @opened: sequence of the newest message in the window
 * @posted: sequence of the last message that was posted
 * @completed: sequence of the last message whose send has completed
 * @acked: sequence of the last message that the peer has applied
 * @granted: the peer wants this node to be READY
 * @rx_sequence: sequence of the last message of the peer that was applied
 * @rx_told: sequence of the last message of the peer that was acknowledged
 * @rx_serial: number of the peer's last write among the applied messages
 * @rx_direct: the peer may have written directly after @rx_serial
 * @info: the peer's last INFO; kind 0: none
 * @info_at: time when @info arrived
 * @load: number of the peer's LOAD whose answer has not begun; 0: none
 * @swept: number of this node's LOAD that the peer has answered
 * @arrived: number of the peer's last PULLED, plus 1; 0: none
 * @pulling: pages were requested from the peer, and PULLED has not arrived
 *	since
 * @not_serving: the peer did not take or answer a PULL in time: no donor until
 *	PULLED
 * @peer_history: the peer's history of ended lives, by node
 * @history_known: nodes whose history the peer has sent
 * @peer_loads: number of the peer's last load that this node began to answer
 * @filling: type of messages that are sent only when full; 0: none
 * @wants_room: a note waits for a free message
 * @pulled: pages that the peer requested; used by @sync alone while not empty
 * @rx_heard: jiffies when the last message of the peer arrived
 * @asked: jiffies when the peer was probed; 0: not yet
 * @ack_req: send request of an acknowledgment
 * @ack_msg: the acknowledgment
 * @ack_head: bytes of the acknowledgment
 * @ack_busy: the acknowledgment is in flight
 * @ack_again: another acknowledgment shall follow
 * @direct: direct writes into each other's memory
 * @counts: statistics
 * @tx_rate: bytes sent
 * @rx_rate: bytes received
 * @latency: number of updates by the binary logarithm of the nanoseconds until
 *	the peer had applied them
 * @down_error: errno that ended the last connection
 * @down_at: time when the last connection ended; 0: none did
 * @dial_error: errno of the last attempt to connect; 0: it succeeded
 * @rejected: last reason for a rejection, to log it once
 *
 * @rx: state of receiving
 */
struct vrfm_link {
	struct vrfm_dev *vdev;
	struct vrfm_peer peer;
	struct krdma_reconnect *reconn;
	refcount_t refs;
	struct list_head entry;

	struct vrfm_map missed;
	bool lost;
	u32 lost_at;
	unsigned long hold_until;
	u32 penalty_ms;
	unsigned long ready_since;
	struct vrfm_wired_event backlog[VRFM_SLOTS + VRFM_QUEUE_DEPTH];
	u32 nbacklog;
	ktime_t full_since;
	u32 full_len;
	bool awaited;
	u32 *scratch;
	u32 cursor;
	u32 sweeping;
	u32 todo;
	DECLARE_BITMAP(gone_due, VRFM_NODES);
	struct vrfm_note info_sent;
	u64 filled_lineage;
	bool changed_lineage;
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
	u32 max_msg;
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
	bool not_serving;
	struct vrfm_history *peer_history;
	DECLARE_BITMAP(history_known, VRFM_NODES);
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
void vrfm_link_protocol_error(struct vrfm_link *link);
void vrfm_link_receive(struct vrfm_link *link, struct krdma_rx_msg *rx_msg);
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
void vrfm_link_overloaded(struct vrfm_link *link);
void vrfm_link_ready(struct vrfm_link *link);
void vrfm_link_append_locked(struct vrfm_link *link, u8 type, u32 offset,
			     const void *bytes, u32 len);
bool vrfm_link_note(struct vrfm_link *link, const struct vrfm_note *note);
bool vrfm_link_ask(struct vrfm_link *link, u32 first, const u64 *digests,
		   u32 count);
void vrfm_link_fall_back(struct vrfm_link *link);
void vrfm_link_push_locked(struct vrfm_link *link);
void vrfm_link_wake_writers(struct vrfm_link *link);
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
bool vrfm_direct_notify(struct vrfm_link *link);
void vrfm_direct_rx_stage(struct vrfm_link *link, const void *msg);
const char *vrfm_shown_name(enum vrfm_shown shown);

/* registration.c */
struct krdma_region *vrfm_share_get(struct vrfm_dev *vdev, struct krdma_cb *cb);
void vrfm_share_put(struct vrfm_dev *vdev, struct krdma_region *region);
int vrfm_share_init(struct vrfm_dev *vdev);
void vrfm_share_free(struct vrfm_dev *vdev);

/* peer.c */
struct vrfm_link *vrfm_peer_add(struct vrfm_dev *vdev,
				const struct vrfm_peer *peer);
void vrfm_peer_remove(struct vrfm_link *link);
void vrfm_peers_remove(struct vrfm_dev *vdev);

/* resync.c */
void vrfm_resync_init(struct vrfm_dev *vdev);
void vrfm_resync_exit(struct vrfm_dev *vdev);
void vrfm_resync_kick(struct vrfm_dev *vdev);
void vrfm_resync_link_up(struct vrfm_link *link);
void vrfm_resync_drop_donor(struct vrfm_link *link);
void vrfm_resync_link_down(struct vrfm_link *link);
bool vrfm_resync_notify(struct vrfm_link *link);
void vrfm_resync_merge(struct vrfm_link *link, const struct vrfm_run *run);

/* status.c */
void vrfm_status_update_locked(struct vrfm_link *link);
void vrfm_status_lost(struct vrfm_link *link);
void vrfm_status_lag_locked(struct vrfm_link *link);
void vrfm_status_heard_locked(struct vrfm_link *link);
void vrfm_status_add(struct vrfm_link *link);
void vrfm_status_remove(struct vrfm_link *link);

/* link_log.c */
void vrfm_say_init(struct vrfm_link *link);
void vrfm_link_say(struct vrfm_link *link, enum vrfm_say what);

/* donor.c */
void vrfm_serve(struct vrfm_link *link);

/* catchup.c */
void vrfm_catchup_work(struct work_struct *work);
void vrfm_catchup_kick(struct vrfm_link *link);
void vrfm_catchup_fill(struct vrfm_link *link, u8 type);

#endif /* VRFM_LINK_H */
