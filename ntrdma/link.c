// SPDX-License-Identifier: GPL-2.0
/*
 * Links: sessions, heartbeat, and their end.
 *
 * session.c decides, and the link work of the device acts: at each tick, and
 * when lane 0 or a back end kicks it. All of this runs under ntrdma_dev.mutex.
 * The work may be late on a busy machine, so a timer writes the beat.
 *
 * A session ends in this order:
 *
 * 1. ntrdma_peer.open is cleared. After a grace period no poll and no
 *    transmitter uses the rings.
 * 2. ntrdma_qps_lost() unbinds and ends the QPs. A QP is bound under
 *    ntrdma_dev.mutex, so no QP is missed. After another grace period no
 *    transmitter adds a QP to ntrdma_link_ring.waiting.
 * 3. The QPs that wait there get a turn, and find that the peer has departed.
 *
 * The next session begins at a tick, so a peer cannot make this side begin
 * sessions faster than it ticks.
 *
 * Access at teardown: polls call ntrdma_link_kick() and ntrdma_link_fault() in
 * RCU read-side sections. ntrdma_links_stop() sets ntrdma_dev.stopping and
 * waits for a grace period, so they do not queue the work again.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <linux/utsname.h>

#include "emulate.h"
#include "eth.h"
#include "trace.h"
#include "verbs.h"
#include "win.h"

/* Maximum time until peers have seen that this side leaves, in ms. */
#define NTRDMA_LEAVE_MS		200
/* Default maximum size of a ring, in KiB. */
#define NTRDMA_RING_KB		4096
/* Minimum time between two beats, in ms. */
#define NTRDMA_BEAT_MIN		10
/* Beats in the time after which a silent side is lost. */
#define NTRDMA_BEATS		5

static struct ntrdma_peer *ntrdma_link_peer(struct ntrdma_dev *dev,
					    unsigned int member)
{
	return rcu_dereference_check(dev->peers[member],
				     lockdep_is_held(&dev->mutex));
}

static u64 ntrdma_now_ms(void)
{
	return ktime_to_ms(ktime_get());
}

static bool ntrdma_link_is_own(const struct ntrdma_peer *peer)
{
	return peer->member == peer->dev->config.member;
}

static unsigned long ntrdma_tick(const struct ntrdma_dev *dev)
{
	return max(msecs_to_jiffies(dev->beat_ms / 2), 1UL);
}

/**
 * ntrdma_ring_limit - return the maximum size of a ring that a device offers
 * @dev: device
 *
 * Return: size in bytes.
 */
u32 ntrdma_ring_limit(const struct ntrdma_dev *dev)
{
	return (dev->config.ring_kb ?: ntrdma_ring_kb ?: NTRDMA_RING_KB) *
	       SZ_1K;
}

/*
 * Our page.
 */

static void ntrdma_link_offer(const struct ntrdma_peer *peer,
			      struct ntrdma_hello *ours)
{
	struct ntrdma_dev *dev = peer->dev;

	*ours = (struct ntrdma_hello){
		.member = dev->config.member,
		.lanes = dev->lanes,
		.bells = dev->config.bells,
		.guid = dev->guid,
		.dead_ms = ntrdma_dead_ms,
	};
	ether_addr_copy(ours->mac, dev->mac);
	strscpy(ours->name, init_utsname()->nodename, sizeof(ours->name));
	/* ntrdma_peer_add() has checked that the window is large enough. */
	ntrdma_sizes_fit(peer->window.size, dev->lanes,
			 ntrdma_peer_has_eth(peer), ntrdma_ring_limit(dev),
			 &ours->ring_bytes, &ours->chunk);
}

static void ntrdma_page_rings(struct ntrdma_peer *peer)
{
	unsigned int i;

	for (i = 0; i < NTRDMA_RINGS; i++) {
		ntrdma_win_set(peer, NTRDMA_RING_WORD(i, prod), 0);
		ntrdma_win_set(peer, NTRDMA_RING_WORD(i, cons), 0);
		ntrdma_win_set(peer, NTRDMA_RING_WORD(i, bell), 0);
		ntrdma_win_set(peer, NTRDMA_RING_WORD(i, room), 0);
	}
}

/* Write all words except my, yours, and those about the rings. */
static void ntrdma_page_words(struct ntrdma_peer *peer,
			      enum ntrdma_wire_state state)
{
	struct ntrdma_wire_hello hello;
	struct ntrdma_hello ours;

	ntrdma_link_offer(peer, &ours);
	ntrdma_hello_encode(&hello, &ours);
	ntrdma_win_write(peer, peer->window.out, &hello,
			 offsetof(struct ntrdma_wire_hello, my));
	ntrdma_win_set(peer, NTRDMA_WORD(reason), NTRDMA_REASON_NONE);
	ntrdma_win_set(peer, NTRDMA_WORD(beat), READ_ONCE(peer->beat));
	ntrdma_win_set(peer, NTRDMA_WORD(state), state);
}

/*
 * Write the page again. While the lanes are open, the words about the rings
 * belong to them.
 */
static void ntrdma_page_write(struct ntrdma_peer *peer,
			      enum ntrdma_wire_state state)
{
	if (!peer->open)
		ntrdma_page_rings(peer);
	ntrdma_page_words(peer, state);
	ntrdma_win_publish(peer, NTRDMA_WORD(hello.my), peer->session.my);
	ntrdma_win_publish(peer, NTRDMA_WORD(yours), peer->session.yours);
}

/*
 * Begin a session. The peer must not take words of the last session for those
 * of the new one, so the page has no number while they are written.
 */
static void ntrdma_link_begin(struct ntrdma_peer *peer)
{
	struct ntrdma_dev *dev = peer->dev;
	u32 my;

	do {
		my = get_random_u32();
	} while (!my || my == peer->session.my);
	ntrdma_win_set(peer, NTRDMA_WORD(hello.my), 0);
	ntrdma_win_wmb(peer);
	ntrdma_win_set(peer, NTRDMA_WORD(yours), 0);
	ntrdma_page_rings(peer);
	ntrdma_page_words(peer, NTRDMA_WIRE_HELLO);
	ntrdma_session_begin(&peer->session, my);
	ntrdma_win_publish(peer, NTRDMA_WORD(hello.my), my);
	WRITE_ONCE(peer->beating, true);
	timer_reduce(&dev->beat_timer,
		     jiffies + msecs_to_jiffies(dev->beat_ms));
	ntrdma_peer_ring(peer, 0);
}

static void ntrdma_beat(struct ntrdma_peer *peer)
{
	WRITE_ONCE(peer->beat, peer->beat + 1);
	ntrdma_win_set(peer, NTRDMA_WORD(beat), peer->beat);
}

/* Write the beats. The timer stops when no link needs one. */
static void ntrdma_beat_timer(struct timer_list *timer)
{
	struct ntrdma_dev *dev = container_of(timer, struct ntrdma_dev,
					      beat_timer);
	struct ntrdma_peer *peer;
	bool more = false;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = rcu_dereference(dev->peers[i]);
		if (!peer || !READ_ONCE(peer->beating))
			continue;
		more = true;
		if (!ntrdma_win_is_cut(dev))
			ntrdma_beat(peer);
	}
	rcu_read_unlock();
	if (more)
		mod_timer(timer, jiffies +
			  msecs_to_jiffies(READ_ONCE(dev->beat_ms)));
}

/* Adapt the beat to the peer that waits for the shortest time. */
static void ntrdma_links_set_beat(struct ntrdma_dev *dev)
{
	u32 ms = min(ntrdma_beat_ms, ntrdma_dead_ms / NTRDMA_BEATS);
	struct ntrdma_peer *peer;
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_link_peer(dev, i);
		if (peer && peer->session.yours)
			ms = min(ms,
				 peer->session.terms.dead_ms / NTRDMA_BEATS);
	}
	ms = max_t(u32, ms, NTRDMA_BEAT_MIN);
	if (ms < dev->beat_ms)
		timer_reduce(&dev->beat_timer, jiffies + msecs_to_jiffies(ms));
	WRITE_ONCE(dev->beat_ms, ms);
}

/*
 * The peer's page.
 */

static void ntrdma_link_read(struct ntrdma_peer *peer, struct ntrdma_look *look)
{
	unsigned int i;
	size_t word;

	look->before = ntrdma_win_acquire(peer, NTRDMA_WORD(hello.my));
	ntrdma_win_copy(&look->hello, peer->window.in, sizeof(look->hello));
	look->yours = ntrdma_win_get(peer, NTRDMA_WORD(yours));
	look->state = ntrdma_win_get(peer, NTRDMA_WORD(state));
	look->beat = ntrdma_win_get(peer, NTRDMA_WORD(beat));
	look->traffic = 0;
	for (i = 0; i < NTRDMA_RINGS; i++) {
		word = NTRDMA_RING_WORD(i, prod);
		look->traffic += ntrdma_win_get(peer, word);
		word = NTRDMA_RING_WORD(i, cons);
		look->traffic += ntrdma_win_get(peer, word);
	}
	ntrdma_win_rmb(peer);
	look->again = ntrdma_win_get(peer, NTRDMA_WORD(hello.my));
	WRITE_ONCE(peer->seen[0], look->again);
	WRITE_ONCE(peer->seen[1], look->yours);
	WRITE_ONCE(peer->seen[2], look->state);
}

/* A device that is cut sees a peer that has stopped. */
static void ntrdma_link_read_cut(struct ntrdma_peer *peer,
				 struct ntrdma_look *look)
{
	*look = (struct ntrdma_look){
		.before = peer->session.yours,
		.again = peer->session.yours,
		.yours = peer->session.my,
		.state = NTRDMA_WIRE_UP,
		.beat = peer->session.beat,
		.traffic = peer->session.traffic,
	};
}

/*
 * Log lines and counters.
 */

static void ntrdma_link_note_up(struct ntrdma_peer *peer)
{
	peer->sessions++;
	peer->refused = NTRDMA_REASON_NONE;
	ntrdma_count(peer->dev, NTRDMA_STAT_SESSIONS);
	trace_ntrdma_link(peer->dev->ib.index, peer->member, &peer->session);
	if (!ntrdma_link_is_own(peer))
		ibdev_info_ratelimited(&peer->dev->ib, "peer %u (%s) is up\n",
				       peer->member, peer->theirs.name);
}

static void ntrdma_link_note_refused(struct ntrdma_peer *peer)
{
	enum ntrdma_reason reason = peer->session.reason;

	if (peer->session.state != NTRDMA_LINK_HELLO || peer->session.yours ||
	    reason < NTRDMA_REASON_BAD_MAGIC || reason == peer->refused)
		return;
	peer->refused = reason;
	trace_ntrdma_link(peer->dev->ib.index, peer->member, &peer->session);
	ibdev_info_ratelimited(&peer->dev->ib,
			       "hello of peer %u is refused: %s\n",
			       peer->member, ntrdma_reason_name(reason));
}

static void ntrdma_link_note_lost(struct ntrdma_peer *peer)
{
	static const u8 stats[NTRDMA_REASONS] = {
		[NTRDMA_REASON_LEFT]	  = NTRDMA_STAT_LEFT,
		[NTRDMA_REASON_SILENT]	  = NTRDMA_STAT_SILENT,
		[NTRDMA_REASON_RESTARTED] = NTRDMA_STAT_RESTARTED,
		[NTRDMA_REASON_BAD_INDEX] = NTRDMA_STAT_BAD_INDEX,
		[NTRDMA_REASON_BAD_SEAL]  = NTRDMA_STAT_BAD_SEAL,
		[NTRDMA_REASON_BAD_FRAME] = NTRDMA_STAT_BAD_FRAME,
	};
	enum ntrdma_reason reason = peer->session.reason;

	if (stats[reason])
		ntrdma_count(peer->dev, stats[reason]);
	trace_ntrdma_link(peer->dev->ib.index, peer->member, &peer->session);
	if (!ntrdma_link_is_own(peer))
		ibdev_info_ratelimited(&peer->dev->ib,
				       "peer %u (%s) is lost: %s\n",
				       peer->member, peer->theirs.name,
				       ntrdma_reason_name(reason));
}

/*
 * Steps.
 */

/*
 * Close the rings of links that are in LOSS, and end their users. The state in
 * the page is no longer up, so a peer that leaves does not wait any more.
 */
static void ntrdma_links_close(struct ntrdma_dev *dev, unsigned long lost)
{
	struct ntrdma_peer *peer;
	unsigned int i;

	if (!lost)
		return;
	for_each_set_bit(i, &lost, NTRDMA_MEMBERS)
		WRITE_ONCE(ntrdma_link_peer(dev, i)->open, false);
	synchronize_rcu();
	for_each_set_bit(i, &lost, NTRDMA_MEMBERS) {
		ntrdma_copies_end(ntrdma_link_peer(dev, i));
		ntrdma_qps_lost(ntrdma_link_peer(dev, i));
	}
	synchronize_rcu();
	for_each_set_bit(i, &lost, NTRDMA_MEMBERS) {
		peer = ntrdma_link_peer(dev, i);
		ntrdma_lane_wake(peer);
		ntrdma_link_note_lost(peer);
		if (peer->session.state != NTRDMA_LINK_LOSS ||
		    ntrdma_win_is_cut(dev))
			continue;
		ntrdma_win_set(peer, NTRDMA_WORD(state), NTRDMA_WIRE_HELLO);
		ntrdma_peer_ring(peer, 0);
	}
	ntrdma_eth_changed(dev, false);
}

static void ntrdma_link_open(struct ntrdma_peer *peer)
{
	ntrdma_page_write(peer, NTRDMA_WIRE_UP);
	peer->theirs = peer->session.theirs;
	ntrdma_lane_open(peer, &peer->session.terms);
	ntrdma_peer_ring(peer, 0);
	ntrdma_link_note_up(peer);
	ntrdma_eth_changed(peer->dev, true);
}

static void ntrdma_link_repeat(struct ntrdma_peer *peer)
{
	if (ntrdma_win_is_cut(peer->dev))
		return;
	if (peer->session.state == NTRDMA_LINK_HELLO)
		ntrdma_page_write(peer, NTRDMA_WIRE_HELLO);
	else if (peer->session.state == NTRDMA_LINK_UP)
		ntrdma_page_write(peer, NTRDMA_WIRE_UP);
}

/* Return true if the session has ended, and must be closed. */
static bool ntrdma_link_look(struct ntrdma_peer *peer)
{
	struct ntrdma_hello ours;
	struct ntrdma_look look;
	enum ntrdma_step step;

	if (!ntrdma_win_is_cut(peer->dev))
		ntrdma_link_read(peer, &look);
	else if (peer->session.state == NTRDMA_LINK_UP)
		ntrdma_link_read_cut(peer, &look);
	else
		return false;
	ntrdma_link_offer(peer, &ours);
	step = ntrdma_session_look(&peer->session, &ours, peer->member, &look,
				   ntrdma_now_ms());
	ntrdma_link_note_refused(peer);
	if (step == NTRDMA_STEP_UP)
		ntrdma_link_open(peer);
	if (step == NTRDMA_STEP_ACCEPT) {
		ntrdma_page_write(peer, NTRDMA_WIRE_HELLO);
		ntrdma_peer_ring(peer, 0);
	}
	return step == NTRDMA_STEP_LOSS;
}

/*
 * Return true if the session has ended, and must be closed. A lane that ran
 * late may have taken indexes or frames of the peer's next session for invalid
 * ones. A look after that sees the next session. A frame with the seal of this
 * session that cannot be parsed is a fault of the peer.
 */
static bool ntrdma_link_step(struct ntrdma_peer *peer, bool tick)
{
	enum ntrdma_reason fault = NTRDMA_REASON_NONE;

	if (peer->open)
		fault = atomic_read_acquire(&peer->fault);
	if (peer->session.state == NTRDMA_LINK_LOSS && tick &&
	    !ntrdma_win_is_cut(peer->dev))
		ntrdma_link_begin(peer);
	if (fault != NTRDMA_REASON_BAD_FRAME && ntrdma_link_look(peer))
		return true;
	if (fault) {
		ntrdma_session_fail(&peer->session, fault);
		return true;
	}
	if (!tick)
		return false;
	ntrdma_link_repeat(peer);
	if (peer->open && !ntrdma_win_is_cut(peer->dev))
		ntrdma_lane_check(peer);
	return false;
}

static bool ntrdma_links_wanted(const struct ntrdma_dev *dev)
{
	return dev->up && !dev->suspended && !dev->stopping;
}

static void ntrdma_links_step(struct ntrdma_dev *dev, bool tick)
{
	struct ntrdma_peer *peer;
	unsigned long lost = 0;
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_link_peer(dev, i);
		if (peer && ntrdma_link_step(peer, tick))
			lost |= BIT(i);
	}
	ntrdma_links_close(dev, lost);
	ntrdma_links_set_beat(dev);
}

/* Let the session with one of the peers fail, for fault_ms=. */
static void ntrdma_links_fail_one(struct ntrdma_dev *dev)
{
	u32 first = get_random_u32();
	struct ntrdma_peer *peer;
	bool done = false;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < NTRDMA_MEMBERS && !done; i++) {
		peer = rcu_dereference(dev->peers[(first + i) %
						  NTRDMA_MEMBERS]);
		done = peer && READ_ONCE(peer->open);
		if (done)
			ntrdma_link_fault(peer, NTRDMA_REASON_SILENT);
	}
	rcu_read_unlock();
}

/* One fault in four is that of a link. */
static void ntrdma_fault(struct ntrdma_dev *dev)
{
	if (get_random_u32() % 4)
		ntrdma_qps_fail_one(dev);
	else
		ntrdma_links_fail_one(dev);
}

static void ntrdma_link_work(struct work_struct *work)
{
	struct ntrdma_dev *dev = container_of(to_delayed_work(work),
					      struct ntrdma_dev, link_work);
	bool tick = time_after_eq(jiffies, dev->next_tick);

	mutex_lock(&dev->mutex);
	if (!ntrdma_links_wanted(dev)) {
		mutex_unlock(&dev->mutex);
		return;
	}
	ntrdma_links_step(dev, tick);
	if (tick)
		dev->next_tick = jiffies + ntrdma_tick(dev);
	queue_delayed_work(ntrdma_wq, &dev->link_work,
			   time_after(dev->next_tick, jiffies) ?
			   dev->next_tick - jiffies : 0);
	mutex_unlock(&dev->mutex);
	if (!tick)
		return;
	ntrdma_qps_tick(dev, ntrdma_dead_ms);
	if (ntrdma_emulate_fault(jiffies_to_msecs(ntrdma_tick(dev))))
		ntrdma_fault(dev);
}

/*
 * Leaving.
 */

static bool ntrdma_link_is_left(struct ntrdma_peer *peer)
{
	return ntrdma_win_get(peer, NTRDMA_WORD(state)) != NTRDMA_WIRE_UP ||
	       ntrdma_win_get(peer, NTRDMA_WORD(yours)) != peer->session.my;
}

/* Wait until the peers have seen that this side leaves. */
static void ntrdma_links_wait_left(struct ntrdma_dev *dev, unsigned long lost)
{
	u64 end = ntrdma_now_ms() + NTRDMA_LEAVE_MS;
	unsigned int i;

	for_each_set_bit(i, &lost, NTRDMA_MEMBERS) {
		if (i == dev->config.member)
			continue;
		while (!ntrdma_link_is_left(ntrdma_link_peer(dev, i)) &&
		       ntrdma_now_ms() < end)
			usleep_range(500, 1000);
	}
}

static void ntrdma_link_say_leaving(struct ntrdma_peer *peer,
				    enum ntrdma_reason reason)
{
	WRITE_ONCE(peer->beating, false);
	if (ntrdma_win_is_cut(peer->dev))
		return;
	ntrdma_win_set(peer, NTRDMA_WORD(reason), reason);
	ntrdma_win_publish(peer, NTRDMA_WORD(state), NTRDMA_WIRE_LEAVING);
	ntrdma_peer_ring(peer, 0);
}

/* Turn the links of a set of members off. */
static void ntrdma_links_leave(struct ntrdma_dev *dev, unsigned long members,
			       enum ntrdma_reason reason)
{
	struct ntrdma_peer *peer;
	unsigned long lost = 0;
	unsigned int i;

	for_each_set_bit(i, &members, NTRDMA_MEMBERS) {
		peer = ntrdma_link_peer(dev, i);
		if (!peer || peer->session.state == NTRDMA_LINK_OFF)
			continue;
		ntrdma_link_say_leaving(peer, reason);
		if (ntrdma_session_fail(&peer->session, reason))
			lost |= BIT(i);
		ntrdma_session_stop(&peer->session);
	}
	ntrdma_links_close(dev, lost);
	if (!ntrdma_win_is_cut(dev))
		ntrdma_links_wait_left(dev, lost);
}

static enum ntrdma_reason ntrdma_links_reason(const struct ntrdma_dev *dev)
{
	if (dev->stopping)
		return NTRDMA_REASON_REMOVED;
	return dev->suspended ? NTRDMA_REASON_SUSPENDED : NTRDMA_REASON_DOWN;
}

/* Begin sessions with all peers, or leave them. */
static void ntrdma_links_apply(struct ntrdma_dev *dev)
{
	struct ntrdma_peer *peer;
	unsigned int i;

	if (!ntrdma_links_wanted(dev)) {
		ntrdma_links_leave(dev, GENMASK(NTRDMA_MEMBERS - 1, 0),
				   ntrdma_links_reason(dev));
		return;
	}
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_link_peer(dev, i);
		if (peer)
			ntrdma_link_start(peer);
	}
}

/**
 * ntrdma_link_start - begin sessions with a peer, if the device has sessions
 * @peer: peer, with or without a session
 *
 * Context: ntrdma_dev.mutex is held.
 */
void ntrdma_link_start(struct ntrdma_peer *peer)
{
	struct ntrdma_dev *dev = peer->dev;

	lockdep_assert_held(&dev->mutex);
	if (!ntrdma_links_wanted(dev) || ntrdma_win_is_cut(dev) ||
	    peer->session.state != NTRDMA_LINK_OFF)
		return;
	ntrdma_link_begin(peer);
	ntrdma_link_kick(dev);
}

/**
 * ntrdma_link_end - turn the link to a peer off
 * @peer: peer
 * @reason: reason, for the peer's log
 *
 * Context: ntrdma_dev.mutex is held; may sleep.
 */
void ntrdma_link_end(struct ntrdma_peer *peer, enum ntrdma_reason reason)
{
	lockdep_assert_held(&peer->dev->mutex);
	ntrdma_links_leave(peer->dev, BIT(peer->member), reason);
}

/**
 * ntrdma_links_up - begin or end all sessions when the interface changes
 * @dev: device
 * @up: the interface is up
 *
 * Context: may sleep; rtnl is not held.
 */
void ntrdma_links_up(struct ntrdma_dev *dev, bool up)
{
	mutex_lock(&dev->mutex);
	WRITE_ONCE(dev->up, up);
	ntrdma_links_apply(dev);
	mutex_unlock(&dev->mutex);
}

/**
 * ntrdma_links_suspend - end all sessions before the machine sleeps or reboots,
 *	or begin them afterwards
 * @dev: device
 * @suspended: true: end the sessions
 *
 * Context: may sleep.
 */
void ntrdma_links_suspend(struct ntrdma_dev *dev, bool suspended)
{
	mutex_lock(&dev->mutex);
	dev->suspended = suspended;
	ntrdma_links_apply(dev);
	mutex_unlock(&dev->mutex);
}

/**
 * ntrdma_cut - simulate a pulled cable
 * @dev: device
 * @cut: true: neither read nor write the windows; false: end that
 *
 * QPs that found no room while the device was cut get a turn at the end,
 * because the peer may not change cons any more.
 *
 * Context: may sleep.
 */
void ntrdma_cut(struct ntrdma_dev *dev, bool cut)
{
	struct ntrdma_peer *peer;
	unsigned int i;

	mutex_lock(&dev->mutex);
	WRITE_ONCE(dev->cut, cut);
	if (!cut && ntrdma_links_wanted(dev))
		ntrdma_links_apply(dev);
	for (i = 0; !cut && i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_link_peer(dev, i);
		if (peer)
			ntrdma_lane_wake(peer);
	}
	mutex_unlock(&dev->mutex);
}

/**
 * ntrdma_links_stop - end all sessions, the link work and the beat for good
 * @dev: device
 *
 * Context: may sleep.
 */
void ntrdma_links_stop(struct ntrdma_dev *dev)
{
	mutex_lock(&dev->mutex);
	WRITE_ONCE(dev->stopping, true);
	ntrdma_links_apply(dev);
	mutex_unlock(&dev->mutex);
	synchronize_rcu();
	cancel_delayed_work_sync(&dev->link_work);
	timer_delete_sync(&dev->beat_timer);
}

/**
 * ntrdma_links_init - prepare the links of a device
 * @dev: device
 *
 * Return: 0.
 */
int ntrdma_links_init(struct ntrdma_dev *dev)
{
	mutex_init(&dev->mutex);
	INIT_DELAYED_WORK(&dev->link_work, ntrdma_link_work);
	timer_setup(&dev->beat_timer, ntrdma_beat_timer, 0);
	dev->next_tick = jiffies;
	dev->beat_ms = min(ntrdma_beat_ms, ntrdma_dead_ms / NTRDMA_BEATS);
	return 0;
}

/**
 * ntrdma_link_kick - let the link work look at the pages now
 * @dev: device
 *
 * Context: any, except hard interrupts; the caller holds ntrdma_dev.mutex or is
 * in an RCU read-side section.
 */
void ntrdma_link_kick(struct ntrdma_dev *dev)
{
	if (!READ_ONCE(dev->stopping))
		mod_delayed_work(ntrdma_wq, &dev->link_work, 0);
}

/**
 * ntrdma_link_fault - end a session because of what the peer has written
 * @peer: peer
 * @reason: reason
 *
 * The lanes use the rings no more from now on. The link work ends the session.
 *
 * Context: RCU read-side section.
 */
void ntrdma_link_fault(struct ntrdma_peer *peer, enum ntrdma_reason reason)
{
	if (!atomic_cmpxchg(&peer->fault, NTRDMA_REASON_NONE, reason))
		ntrdma_link_kick(peer->dev);
}

/**
 * ntrdma_peer_by_mac - find the peer that has a MAC address
 * @dev: device
 * @mac: MAC address
 *
 * The own address is that of the device itself, whatever the peers claim.
 *
 * Context: RCU read-side section, or ntrdma_dev.mutex is held.
 * Return: peer whose session is UP, or NULL.
 */
struct ntrdma_peer *ntrdma_peer_by_mac(struct ntrdma_dev *dev, const u8 *mac)
{
	bool own = ether_addr_equal_unaligned(mac, dev->mac);
	struct ntrdma_peer *peer;
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = ntrdma_link_peer(dev, i);
		if (!peer || ntrdma_link_is_own(peer) != own ||
		    !smp_load_acquire(&peer->open)) /* ntrdma_lane_open() */
			continue;
		if (own || ether_addr_equal_unaligned(mac, peer->theirs.mac))
			return peer;
	}
	return NULL;
}
