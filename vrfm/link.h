/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A link: the state that this node keeps for one peer.
 *
 * The link exists while the peer is configured, even if the peer is not
 * connected. While the link is READY, a local write is appended to the open
 * message. Otherwise the words of the write are added to the set of missed
 * words.
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
#include "ops.h"
#include "priv.h"
#include "rate.h"

/*
 * VRFM_SLOTS: size of the window, which is the maximum number of unacknowledged
 * messages to a peer. VRFM_SLOT_SIZE: size of the buffer of a message, in
 * bytes.
 */
#define VRFM_SLOTS 16
#define VRFM_SLOT_SIZE SZ_16K
/*
 * Smallest length of the longest message to a peer, in bytes. krdma takes some
 * bytes of a buffer. A batch of the largest size fits into VRFM_SLOTS messages
 * of this length.
 */
#define VRFM_MESSAGE_MIN (VRFM_SLOT_SIZE - 64)
/*
 * Number of free messages that sending missed words or an image leaves for
 * events.
 */
#define VRFM_SLOTS_SPARE 2
/*
 * Number of unacknowledged received messages after which an acknowledgment is
 * sent at once.
 */
#define VRFM_ACK_EVERY (VRFM_SLOTS / 4)
/*
 * Number of receives that krdma posts: a window of messages, the
 * acknowledgments between them, and messages of krdma itself.
 */
#define VRFM_RECVS (VRFM_SLOTS + VRFM_SLOTS / 2)
/*
 * Number of latency counters. Counter n counts latencies from 2^n ns to 2^(n+1)
 * ns; the last one also counts all longer ones.
 */
#define VRFM_LATENCIES 32

/* Messages that a link has to send: bits of &vrfm_catchup.todo. */
#define VRFM_TODO_INFO BIT(0)
#define VRFM_TODO_LOAD BIT(1)
#define VRFM_TODO_SWEPT BIT(2)
#define VRFM_TODO_GONE BIT(3)
#define VRFM_TODO_STAGE BIT(4)
#define VRFM_TODO_BEHIND BIT(5)

/**
 * enum vrfm_say - log lines about a link
 * @VRFM_SAY_BEHIND: the peer was too slow, so this node left it behind
 * @VRFM_SAY_LEFT: this node was too slow, so the peer left it behind
 * @VRFM_SAY_BAD: the peer sent a malformed message
 * @VRFM_SAY_UNANSWERED: the peer did not answer a STAGE in time
 * @VRFM_SAY_LOADING: a load of the peer's image begins
 * @VRFM_SAY_LOADED: the load of the peer's image is complete
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

/* Maximum number of blocks in flight into the memory of a peer. */
#define VRFM_BLOCKS 16

/**
 * struct vrfm_pulled - request of the peer for pages (PULL)
 * @first: first page of the request
 * @count: number of requested pages; 0: no request is pending
 * @digests: digests of the peer's copies of these pages
 */
struct vrfm_pulled {
	u32 first;
	u32 count;
	u64 digests[VRFM_PULL_MAX];
};

/**
 * struct vrfm_slot - slot of the window, which holds one message
 * @req: send request for the message
 * @link: link that the window belongs to
 * @pack: content of the message, kept until the peer acknowledges it
 * @event: the event at the end of the message, if it is an EVENT
 * @serial: number of this node's last write that ends in this message or before
 *	it
 * @opened: jiffies when the message was opened
 * @opened_ns: time when the message was opened, in ns; 0: latencies are not
 *	measured
 * @type: enum vrfm_wire_type
 * @flags: flags for the header of the message
 * @closed: nothing can be appended to the message any more
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
 * struct vrfm_block - copy of the bytes of a local write; adapters read this
 * copy for direct writes
 * @rcu: RCU head that frees the block if @placed is set
 * @refs: number of references: one of the writer, and one of each link where a
 *	direct write of the block is in flight
 * @placed: the block was posted to an RDMA device that may read its bytes even
 *	after the request has completed
 * @bytes: the bytes; the writer may change them only while it holds the only
 *	reference
 */
struct vrfm_block {
	struct rcu_head rcu;
	refcount_t refs;
	bool placed;
	void *bytes;
};

/**
 * struct vrfm_placed - direct write of a block into the peer's memory
 * @req: request for the RDMA WRITE
 * @link: link of the peer
 * @block: reference to the block; NULL: this entry is free. After a failed
 *	write the entry keeps its block until the link is DOWN, when the words
 *	of the block are recorded as missed
 * @offset: offset of the block in the memory
 * @len: number of bytes of the block
 */
struct vrfm_placed {
	struct krdma_req req;
	struct vrfm_link *link;
	struct vrfm_block *block;
	u32 offset;
	u32 len;
};

/**
 * enum vrfm_shown - whether the peer may write directly into this node's
 * memory, and the reason if it must not
 * @VRFM_SHOWN_NOT_YET: the peer must not write yet: this node has not decided
 * @VRFM_SHOWN: the peer may write directly
 * @VRFM_SHOWN_OFF: the admin has switched direct writes off
 * @VRFM_SHOWN_IWARP: the transport is iWARP: when a WRITE completes at the
 *	peer, its data may not have arrived here yet
 * @VRFM_SHOWN_ORDER: the adapter may place WRITEs into the memory in another
 *	order than that of posting
 * @VRFM_SHOWN_COPIED: the CPU must copy or sync what the adapter places into
 *	the memory
 * @VRFM_SHOWN_LARGE: the description of the memory does not fit into a message
 * @VRFM_SHOWN_NO_MEMORY: registering the memory failed
 * @VRFM_SHOWN_SEALED: the level of security forbids direct writes
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
	VRFM_SHOWN_SEALED,
	VRFM_SHOWNS,
};

/**
 * struct vrfm_direct - direct writes of this node and the peer into each
 * other's memory
 * @setup: protects @region; taken before vrfm_dev.write_lock, and held while
 *	the memory is being registered
 * @region: this node's memory, registered for the peer while the link is up;
 *	from vrfm_share_get()
 *
 * Under vrfm_dev.write_lock:
 * @shown: whether the peer may write directly, see &enum vrfm_shown
 *
 * Under the lock of the link:
 * @told: number of the last STAGE that this node sent to the peer
 * @answered: number of the last STAGE of this node that the peer has answered
 * @remote: the peer's memory; NULL: the peer has not described it yet
 * @desc: description of the peer's memory that vrfm_direct_setup() has not
 *	imported yet; NULL: none
 * @desc_len: length of @desc, in bytes
 * @seen: number of the peer's last STAGE that this node received
 * @staged: a bit for each range of the memory: the peer has staged the range,
 *	so this node sends updates to it as messages
 * @update: sequence of the last message to the peer that contains updates
 * @answers: number of following UPDATEs that get the flag ANSWER, because a
 *	large block was written: the next block can be written directly only
 *	after they are acknowledged
 * @open: messages to the peer carry DIRECT, which announces that direct writes
 *	may follow
 * @last: jiffies when a direct write last completed
 * @under_way: number of entries of @placed that are in flight
 * @placed: direct writes into the peer's memory
 */
struct vrfm_direct {
	struct mutex setup; /* protects region */
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
 * struct vrfm_rx - state of receiving from the peer
 * @sequence: sequence of the last message that was applied
 * @event: number of the last event from the present life of the peer's device
 * @synced: the peer sends all its writes, in order
 * @bad: ignore all messages, because the peer broke the protocol or is not
 *	connected
 * @held: events that arrived while @synced was not set. They are raised when it
 *	is set, because until then earlier writes of the peer may be missing
 * @nheld: number of events in @held
 *
 * The receive callback uses this state. vrfm_link_up() and vrfm_link_down()
 * also use it, but only while no callback runs.
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
 * @ups: number of connections to the peer so far
 * @messages: number of messages sent, acknowledgments not included
 * @received: number of messages received, acknowledgments not included
 * @bytes_sent: number of bytes in messages sent, acknowledgments included
 * @bytes_received: number of bytes in messages received, acknowledgments
 *	included
 * @directs: number of blocks written directly into the peer's memory
 * @bytes_direct: number of bytes in these blocks
 * @overloads: number of times that this node left the peer behind
 * @left: number of times that the peer left this node behind
 * @protocol: number of times that the peer broke the protocol
 * @events_dropped: number of events to and from the peer that were dropped
 *	because a queue was full
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
 * struct vrfm_peer - configuration of a peer, as an admin wrote it
 * @node: node id of the peer
 * @any: the address of the peer is not configured: the peer connects, from any
 *	address
 * @overload_us: longest wait of a writer for this peer, in us; may change at
 *	any time; %VRFM_OVERLOAD_DEVICE: use the device's
 *	&vrfm_params.overload_us
 * @addr: address and port of the peer, unless @any is set
 * @keys: keys that only this peer and this node share, with a reference; NULL:
 *	use those of the device. Those of a link change under vrfm_dev.lock
 */
struct vrfm_peer {
	u32 node;
	bool any;
	u32 overload_us;
	struct sockaddr_storage addr;
	struct krdma_keys *keys;
};

/**
 * struct vrfm_mtu - path MTU of a link, and the largest MTUs of both ends, in
 * bytes of RDMA payload
 * @path: path MTU of the connection; 0: not known
 * @local: largest path MTU that the local interface allows; 0: not known
 * @peer: largest path MTU that the peer's interface allows; 0: not known
 */
struct vrfm_mtu {
	u32 path;
	u32 local;
	u32 peer;
};

/**
 * struct vrfm_missed - own words that the peer may lack
 * @map: set of own words (words that this node wrote last) that the peer may
 *	lack
 * @lost: the peer may lack all own words from word @lost_at on, in addition to
 *	@map
 * @lost_at: if @lost is set: first word of the map of own words that is not
 *	merged into @map yet
 *
 * Lock: vrfm_dev.write_lock.
 */
struct vrfm_missed {
	struct vrfm_map map;
	bool lost;
	u32 lost_at;
};

/**
 * struct vrfm_overload - waits of writers for a slow peer, and the delay after
 * an overload
 * @hold_until: jiffies until which catching up is delayed, because the peer was
 *	too slow
 * @penalty_ms: delay of catching up after the next overload, in ms
 * @ready_since: jiffies when the link became READY
 * @full_since: time when a writer first found no room for @full_len bytes; 0:
 *	no writer lacks room
 * @full_len: size of the largest run that found no room since @full_since, in
 *	bytes
 * @awaited: the writer that holds vrfm_dev.waiter_lock waits for room on this
 *	link
 *
 * Lock: vrfm_dev.write_lock.
 */
struct vrfm_overload {
	unsigned long hold_until;
	u32 penalty_ms;
	unsigned long ready_since;
	ktime_t full_since;
	u32 full_len;
	bool awaited;
};

/**
 * struct vrfm_backlog - events to the peer that wait for free messages
 * @events: events that wait for free messages, the oldest first. Events that
 *	the last connection did not deliver come first, and then events that
 *	were sent while the peer was behind
 * @n: number of events in @events
 *
 * Lock: vrfm_dev.write_lock.
 */
struct vrfm_backlog {
	struct vrfm_wired_event events[VRFM_SLOTS + VRFM_QUEUE_DEPTH];
	u32 n;
};

/**
 * struct vrfm_catchup - work that sends missed words and notes to the peer
 * @scratch: buffer of one page for copies of words from the memory
 * @cursor: word where the next step of catching up begins
 * @sweeping: number of the peer's LOAD that this node answers with SWEPT when
 *	it has sent all missed words; 0: none
 * @todo: messages that are due: VRFM_TODO_...
 * @gone_due: a bit for each node: the history of the node must be sent to the
 *	peer
 * @work: work that catches up, answers a PULL, and sends what @todo contains
 *
 * Lock: vrfm_dev.write_lock, except for @work.
 */
struct vrfm_catchup {
	u32 *scratch;
	u32 cursor;
	u32 sweeping;
	u32 todo;
	DECLARE_BITMAP(gone_due, VRFM_NODES);
	struct delayed_work work;
};

/**
 * struct vrfm_lineage - lineages of the images of this node and the peer
 * @sent: the last INFO that this node sent on the present connection; kind 0:
 *	none
 * @sent_at: time when @sent was sent
 * @filled: this node's lineage when it last loaded words of the image that the
 *	peer had given up; 0: these words are not loaded yet
 * @changed: the peer had an image of another lineage at some time since the
 *	link came up
 * @waits_since: jiffies when this node began to wait until the peer has loaded
 *	writes of departed nodes, see vrfm_resync_may_fill()
 *
 * Lock: vrfm_dev.write_lock.
 */
struct vrfm_lineage {
	struct vrfm_note sent;
	ktime_t sent_at;
	u64 filled;
	bool changed;
	unsigned long waits_since;
};

/**
 * struct vrfm_log - log lines about a link that are due
 * @work: work that prints log lines
 * @lines: a bit for each &enum vrfm_say: @work has to print that line
 *
 * No lock: the bits of @lines are set and cleared atomically.
 */
struct vrfm_log {
	struct work_struct work;
	unsigned long lines;
};

/**
 * struct vrfm_conn - connection of a link to its peer
 * @cb: connection; NULL: the link is DOWN
 * @incoming: connection that this node accepted from the peer; NULL: none, or
 *	it is released
 * @wait: wait queue of tasks that wait until @incoming is released
 * @peer_epoch: id of the last life of the peer's device that was linked; 0:
 *	none yet
 * @max_msg: size of the longest message that the connection carries, in bytes
 * @reads_on: the RDMA device may read a block after its request has completed,
 *	see krdma_may_read_on()
 * @mtu: MTUs of the present or last connection
 * @key_id: id of the key of the present or last connection, see
 *	krdma_keys_ids(); 0 without a level
 * @heard: jiffies when the peer's last message arrived
 * @probed: jiffies when another connect request made this node probe the peer;
 *	0: not on this connection
 *
 * Lock: vrfm_link.lock.
 */
struct vrfm_conn {
	struct krdma_cb *cb;
	struct krdma_cb *incoming;
	wait_queue_head_t wait;
	u64 peer_epoch;
	u32 max_msg;
	bool reads_on;
	struct vrfm_mtu mtu;
	u32 key_id;
	unsigned long heard;
	unsigned long probed;
};

/**
 * struct vrfm_window - messages to the peer, until it has acknowledged them
 * @slots: the window: message n is in slot n modulo %VRFM_SLOTS
 * @opened: sequence of the newest message in the window
 * @posted: sequence of the last message that was posted
 * @completed: sequence of the last message whose send has completed
 * @acked: sequence of the last message that the peer has applied
 * @granted: the peer's last message had the flag GRANT, so this link may become
 *	READY
 * @filling: type of messages that are posted only when they are full; 0: none
 * @wants_room: vrfm_catchup.work waits for a free message
 *
 * Lock: vrfm_link.lock.
 */
struct vrfm_window {
	struct vrfm_slot slots[VRFM_SLOTS];
	u64 opened;
	u64 posted;
	u64 completed;
	u64 acked;
	bool granted;
	u8 filling;
	bool wants_room;
};

/**
 * struct vrfm_receipt - messages and writes that arrived from the peer
 * @sequence: sequence of the peer's last message that this node applied
 * @acked: sequence of the peer's last message that this node acknowledged
 * @serial: number of the peer's last write that this node applied
 * @direct: the peer may have written directly since the write @serial
 *
 * Lock: vrfm_link.lock.
 */
struct vrfm_receipt {
	u64 sequence;
	u64 acked;
	u64 serial;
	bool direct;
};

/**
 * struct vrfm_report - image and history as the peer reported them
 * @info: the last INFO of the peer; kind 0: none
 * @info_at: time when @info arrived
 * @history: the ended lives of each node as the peer reported them
 * @known: a bit for each node about which the peer has reported
 *
 * Lock: vrfm_link.lock.
 */
struct vrfm_report {
	struct vrfm_note info;
	ktime_t info_at;
	struct vrfm_history *history;
	DECLARE_BITMAP(known, VRFM_NODES);
};

/**
 * struct vrfm_pull - load of the peer's image by this node
 * @swept: number of the last LOAD of this node that the peer has answered
 * @arrived: first page of the peer's last PULLED, plus 1; 0: none since this
 *	node's last PULL
 * @pending: this node sent a PULL, and the peer has not answered with PULLED
 *	yet
 * @not_serving: the link had no room for a PULL (request for pages), or the
 *	peer did not answer it in time. The peer is no donor until it sends
 *	PULLED
 *
 * Lock: vrfm_link.lock.
 */
struct vrfm_pull {
	u32 swept;
	u32 arrived;
	bool pending;
	bool not_serving;
};

/**
 * struct vrfm_request - load of this node's image by the peer
 * @load: number of a LOAD of the peer that this node has not begun to answer;
 *	0: none
 * @begun: number of the peer's last load that this node has begun to answer
 * @pulled: pages that the peer requested; used only by vrfm_catchup.work while
 *	a request is pending
 * @served: number of pages of the peer's PULL that were compared; used only by
 *	vrfm_catchup.work
 *
 * Lock: vrfm_link.lock, except for @pulled and @served.
 */
struct vrfm_request {
	u32 load;
	u32 begun;
	struct vrfm_pulled pulled;
	u32 served;
};

/**
 * struct vrfm_ack - acknowledgment of received messages
 * @work: work that acknowledges received messages one tick after they arrived
 * @req: send request for an acknowledgment
 * @msg: the acknowledgment, which is a message without a body
 * @head: buffer for the acknowledgment
 * @busy: @req is in flight
 * @again: send another acknowledgment when @req completes
 *
 * Lock: vrfm_link.lock, except for @work.
 */
struct vrfm_ack {
	struct delayed_work work;
	struct krdma_req req;
	struct vrfm_pack msg;
	struct vrfm_wire_head head;
	bool busy;
	bool again;
};

/**
 * struct vrfm_meter - rates and latencies of a link
 * @tx: rate of bytes sent
 * @rx: rate of bytes received
 * @latency: latency counters, see %VRFM_LATENCIES: number of UPDATEs by the
 *	time from opening the message to its acknowledgment
 *
 * Lock: vrfm_link.lock.
 */
struct vrfm_meter {
	struct vrfm_rate tx;
	struct vrfm_rate rx;
	u64 latency[VRFM_LATENCIES];
};

/**
 * struct vrfm_failure - errors of connections to the peer
 * @down_error: errno that ended the last connection
 * @down_at: time when the last connection ended; 0: no connection has ended
 * @dial_error: errno of the last attempt to connect; 0: the attempt succeeded
 * @rejected: reason why the peer was last rejected, to log each reason once
 *
 * Lock: vrfm_link.lock.
 */
struct vrfm_failure {
	int down_error;
	ktime_t down_at;
	int dial_error;
	enum vrfm_reject rejected;
};

/**
 * struct vrfm_link - state that this node keeps for one peer
 * @vdev: device of this node
 * @peer: configuration of the peer
 * @reconn: connects to the peer whenever there is no connection; NULL: the peer
 *	connects
 * @refs: number of references: of the device, of the device's listener, and of
 *	tasks that wait for acknowledgments
 * @entry: place in vrfm_dev.links: changed under vrfm_dev.write_lock, read
 *	under that lock or RCU
 * @removal: place in the list of links that vrfm_peers_remove() removes
 *
 * @missed: own words that the peer may lack
 * @overload: waits of writers for room on this link, and the delay after an
 *	overload
 * @backlog: events that wait for free messages
 * @catchup: work that sends missed words and notes
 * @lineage: lineages of the images of this node and the peer
 *
 * @log: log lines that are due
 *
 * @lock: protects @state, @since, @removed, and the members of the structs
 *	below that name it; taken in any context except hard interrupts
 * @state: enum vrfm_link_state; changed by vrfm_link_become_locked() alone,
 *	with vrfm_dev.write_lock held as well
 * @since: time when @state last changed
 * @removed: the link has been removed from vrfm_dev.links
 * @conn: connection to the peer
 * @window: messages to the peer
 * @receipt: messages and writes that arrived from the peer
 * @report: image and history as the peer reported them
 * @pull: load of the peer's image by this node
 * @request: load of this node's image by the peer
 * @ack: acknowledgment of received messages
 * @direct: direct writes of the two nodes into each other's memory
 * @counts: statistics
 * @meter: rates and latencies
 * @failure: errors of connections to the peer
 *
 * @rx: state of receiving from the peer, see &struct vrfm_rx
 */
struct vrfm_link {
	struct vrfm_dev *vdev;
	struct vrfm_peer peer;
	struct krdma_reconnect *reconn;
	refcount_t refs;
	struct list_head entry;
	struct list_head removal;

	struct vrfm_missed missed;
	struct vrfm_overload overload;
	struct vrfm_backlog backlog;
	struct vrfm_catchup catchup;
	struct vrfm_lineage lineage;

	struct vrfm_log log;

	spinlock_t lock; /* see @lock above */
	enum vrfm_link_state state;
	ktime_t since;
	bool removed;
	struct vrfm_conn conn;
	struct vrfm_window window;
	struct vrfm_receipt receipt;
	struct vrfm_report report;
	struct vrfm_pull pull;
	struct vrfm_request request;
	struct vrfm_ack ack;
	struct vrfm_direct direct;
	struct vrfm_link_counts counts;
	struct vrfm_meter meter;
	struct vrfm_failure failure;

	struct vrfm_rx rx;
};

/**
 * vrfm_slot - return the slot of a message
 * @link: link
 * @sequence: sequence of the message
 *
 * Return: the slot, which holds the message while it is in the window.
 */
static inline struct vrfm_slot *vrfm_slot(struct vrfm_link *link, u64 sequence)
{
	return &link->window.slots[sequence % VRFM_SLOTS];
}

/**
 * vrfm_slot_has_updates - check whether a message has bytes that this node wrote
 * @slot: slot of the message
 *
 * Return: true if its type is UPDATE, or EVENT with runs.
 */
static inline bool vrfm_slot_has_updates(const struct vrfm_slot *slot)
{
	return slot->type == VRFM_WIRE_UPDATE ||
	       (slot->type == VRFM_WIRE_EVENT && slot->pack.count);
}

/* link.c */
int vrfm_link_init(void);
void vrfm_link_exit(void);
extern struct workqueue_struct *vrfm_wq;

struct vrfm_link *vrfm_link_alloc(struct vrfm_dev *vdev,
				  const struct vrfm_peer *peer);
void vrfm_link_put(struct vrfm_link *link);
void vrfm_fault(struct vrfm_dev *vdev, u32 bit, u32 type, u32 node);
void vrfm_link_break_locked(struct vrfm_link *link);
void vrfm_link_up(struct vrfm_link *link, struct krdma_cb *cb, u64 epoch);
void vrfm_link_down(struct vrfm_link *link, int reason);
void vrfm_link_overloaded(struct vrfm_link *link);
void vrfm_link_ready(struct vrfm_link *link);
void vrfm_link_fall_back(struct vrfm_link *link);
const char *vrfm_link_state_name(enum vrfm_link_state state);

/* window.c */
void vrfm_link_tap(struct vrfm_link *link, u16 type, const struct vrfm_head *head,
		   const void *body);
void vrfm_link_push_locked(struct vrfm_link *link);
void vrfm_wake_writers(struct vrfm_dev *vdev);
void vrfm_link_wake_writers(struct vrfm_link *link);
void vrfm_link_ack_locked(struct vrfm_link *link);
int vrfm_window_init(struct vrfm_link *link);
void vrfm_window_free(struct vrfm_link *link);
u32 vrfm_link_free_locked(const struct vrfm_link *link);
u32 vrfm_link_late_ms_locked(struct vrfm_link *link);
bool vrfm_link_has_free(struct vrfm_link *link, u32 n);
struct vrfm_slot *vrfm_link_open_locked(struct vrfm_link *link, u8 type);
u32 vrfm_link_need(const struct vrfm_link *link, u32 len);
bool vrfm_link_has_room(struct vrfm_link *link, u32 len);
void vrfm_link_append_locked(struct vrfm_link *link, u8 type, u32 offset,
			     const void *bytes, u32 len);
void vrfm_link_probe_locked(struct vrfm_link *link);
u64 vrfm_link_probe(struct vrfm_link *link);
bool vrfm_link_note(struct vrfm_link *link, const struct vrfm_note *note);
bool vrfm_link_pull(struct vrfm_link *link, u32 first, const u64 *digests,
		    u32 count);

/* backlog.c */
void vrfm_link_events_locked(struct vrfm_link *link);
void vrfm_link_events(struct vrfm_link *link);
void vrfm_link_event_locked(struct vrfm_link *link,
			    const struct vrfm_wired_event *event);
void vrfm_link_event(struct vrfm_link *link, u32 event, u32 data);
void vrfm_link_events_again(struct vrfm_link *link);

/* link_ops.c */
void vrfm_link_ops(struct vrfm_link *link, const struct vrfm_ops *ops,
		   bool answer);

/* missed.c */
void vrfm_link_missed(struct vrfm_link *link);
void vrfm_link_miss_own(struct vrfm_link *link);
void vrfm_link_miss(struct vrfm_link *link, u32 offset, u32 len);
void vrfm_link_update(struct vrfm_link *link, u32 offset, const void *bytes,
		      u32 len, struct vrfm_block *block);
void vrfm_link_diff(struct vrfm_link *link, u32 offset,
		    const struct vrfm_diff *diff);
void vrfm_link_miss_slots(struct vrfm_link *link);

/* rx.c */
void vrfm_link_protocol_error(struct vrfm_link *link);
void vrfm_link_receive(struct vrfm_link *link, struct krdma_rx_msg *rx_msg);

/* latency.c */
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
void vrfm_direct_report(struct vrfm_link *link, struct vrfm_sub *sub);
bool vrfm_direct_notify(struct vrfm_link *link);
void vrfm_direct_rx_stage(struct vrfm_link *link, const void *msg);
const char *vrfm_shown_name(enum vrfm_shown shown);

/* peer.c */
struct vrfm_link *vrfm_peer_add(struct vrfm_dev *vdev,
				const struct vrfm_peer *peer);
void vrfm_peer_remove(struct vrfm_link *link);
void vrfm_peers_remove(struct vrfm_dev *vdev);

/* resync.c */

/**
 * vrfm_is_loading - check whether this node is loading an image
 * @vdev: device
 *
 * Return: true if it is.
 */
static inline bool vrfm_is_loading(const struct vrfm_dev *vdev)
{
	return READ_ONCE(vdev->resync.state) >= VRFM_RESYNC_SWEEPING;
}

/**
 * vrfm_is_incomplete - check whether words of this node's image are missing, as
 * far as this node knows
 * @vdev: device
 *
 * Return: true if a load has begun or is due.
 */
static inline bool vrfm_is_incomplete(const struct vrfm_dev *vdev)
{
	return READ_ONCE(vdev->resync.incomplete);
}

void vrfm_resync_init(struct vrfm_dev *vdev);
void vrfm_resync_exit(struct vrfm_dev *vdev);
void vrfm_resync_kick(struct vrfm_dev *vdev);
void vrfm_resync_link_up(struct vrfm_link *link);
void vrfm_resync_drop_donor(struct vrfm_link *link);
void vrfm_resync_link_down(struct vrfm_link *link);
bool vrfm_resync_notify(struct vrfm_link *link);
void vrfm_resync_merge(struct vrfm_link *link, const struct vrfm_run *run);

/* security.c */
int vrfm_security_judge(unsigned int unit, const struct vrfm_params *params);
struct krdma_keys *vrfm_keys_get(struct vrfm_dev *vdev,
				 const struct vrfm_peer *peer);
struct krdma_keys *vrfm_keys_choose(struct vrfm_dev *vdev, const void *data,
				    size_t len);
void vrfm_keys_check(struct vrfm_link *link);
int vrfm_dev_set_keys(struct vrfm_dev *vdev, struct krdma_keys *keys);
int vrfm_peer_set_keys(struct vrfm_link *link, struct krdma_keys *keys);

/* status.c */
int vrfm_status_alloc(struct vrfm_dev *vdev);
void vrfm_status_free(struct vrfm_dev *vdev);
int vrfm_status_mmap(struct vrfm_dev *vdev, struct vm_area_struct *vma);
void vrfm_status_update_locked(struct vrfm_link *link);
void vrfm_status_lost(struct vrfm_link *link);
void vrfm_status_lag_locked(struct vrfm_link *link);
void vrfm_status_heard_locked(struct vrfm_link *link);
void vrfm_status_add(struct vrfm_link *link);
void vrfm_status_remove(struct vrfm_link *link);
void vrfm_status_report(struct vrfm_link *link, struct vrfm_sub *sub);

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
