// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions of a link.
 *
 * Each side gives each of its sessions a new random number, the word "my" of
 * its page. It publishes this number after all other words of the page. To
 * accept the peer's number, a side copies it to the word "yours" of its own
 * page. A side is UP when both sides have accepted each other's number. So no
 * side uses an index or a frame of an earlier session, whichever side
 * restarted, and when.
 *
 *	OFF ----> HELLO ----> UP
 *	 ^          ^          |
 *	 |          |          v
 *	 +--------- + ------ LOSS
 *
 * tests/model/ntlink.pml has the same states and checks these properties.
 */
#include <linux/bug.h>
#include <linux/kernel.h>

#include "session.h"

static const u8 ntrdma_link_next[NTRDMA_LINK_STATES] = {
	[NTRDMA_LINK_OFF]   = BIT(NTRDMA_LINK_HELLO),
	[NTRDMA_LINK_HELLO] = BIT(NTRDMA_LINK_UP) | BIT(NTRDMA_LINK_OFF),
	[NTRDMA_LINK_UP]    = BIT(NTRDMA_LINK_LOSS),
	[NTRDMA_LINK_LOSS]  = BIT(NTRDMA_LINK_HELLO) | BIT(NTRDMA_LINK_OFF),
};

/* The only place that changes the state. */
static bool ntrdma_session_move(struct ntrdma_session *s,
				enum ntrdma_link_state to)
{
	if (!(ntrdma_link_next[s->state] & BIT(to)))
		return false;
	s->state = to;
	return true;
}

/**
 * ntrdma_session_init - initialize a link that is off
 * @s: session
 */
void ntrdma_session_init(struct ntrdma_session *s)
{
	*s = (struct ntrdma_session){ .state = NTRDMA_LINK_OFF };
}

/**
 * ntrdma_session_begin - begin a session
 * @s: session of a link that is off or has ended its last session
 * @my: number of the session: random, not 0, and not that of the previous
 *	session
 *
 * Before this call, the caller writes 0 as its number to its page, and then all
 * other words. After this call, it writes @my as its number.
 */
void ntrdma_session_begin(struct ntrdma_session *s, u32 my)
{
	if (WARN_ON_ONCE(!my || my == s->my) ||
	    WARN_ON_ONCE(!ntrdma_session_move(s, NTRDMA_LINK_HELLO)))
		return;
	s->my = my;
	s->yours = 0;
}

/*
 * Record the time of a sign of life: the beat or an index of a ring has
 * changed.
 */
static void ntrdma_session_hear(struct ntrdma_session *s,
				const struct ntrdma_look *look, u64 now_ms)
{
	if (look->beat == s->beat && look->traffic == s->traffic)
		return;
	s->beat = look->beat;
	s->traffic = look->traffic;
	s->heard_ms = now_ms;
}

/*
 * Refuse a hello. The page may still have the acceptance of an earlier hello,
 * so write it again with 0 as the accepted number.
 */
static enum ntrdma_step ntrdma_session_refuse(struct ntrdma_session *s,
					      enum ntrdma_reason reason)
{
	bool was_accepted = s->yours;

	s->reason = reason;
	s->yours = 0;
	return was_accepted ? NTRDMA_STEP_ACCEPT : NTRDMA_STEP_WAIT;
}

/*
 * Accept the peer's session, unless the peer was writing its page during the
 * look. The other words belong to the session only if its number was the same
 * when it was read before them (look->before), with them, and after them
 * (look->again). The copy of the hello alone does not show this, because it may
 * have read the number last.
 */
static enum ntrdma_step ntrdma_session_greet(struct ntrdma_session *s,
					     const struct ntrdma_hello *ours,
					     u8 member,
					     const struct ntrdma_look *look,
					     u64 now_ms)
{
	u32 number = le32_to_cpu(look->hello.my);
	struct ntrdma_hello theirs;
	enum ntrdma_reason refused;
	bool is_new;

	if (!number || number != look->before || number != look->again)
		return NTRDMA_STEP_WAIT;
	refused = ntrdma_hello_decode(&theirs, &look->hello, member);
	/* The doorbell of a lane depends on the number of doorbells. */
	if (!refused && theirs.bells != ours->bells)
		refused = NTRDMA_REASON_BAD_BELLS;
	if (refused)
		return ntrdma_session_refuse(s, refused);
	is_new = number != s->yours;
	s->yours = number;
	s->theirs = theirs;
	/*
	 * At an earlier look, words of the hello may have been missing, because
	 * writes can be lost. So agree on the terms again at each look.
	 */
	ntrdma_terms_agree(&s->terms, ours, &theirs);
	if (look->yours == s->my && look->state != NTRDMA_WIRE_LEAVING) {
		ntrdma_session_move(s, NTRDMA_LINK_UP);
		s->beat = look->beat;
		s->traffic = look->traffic;
		s->heard_ms = now_ms;
		s->reason = NTRDMA_REASON_NONE;
		return NTRDMA_STEP_UP;
	}
	return is_new ? NTRDMA_STEP_ACCEPT : NTRDMA_STEP_WAIT;
}

static enum ntrdma_reason ntrdma_session_ends(const struct ntrdma_session *s,
					      const struct ntrdma_look *look,
					      u64 now_ms)
{
	if (look->state == NTRDMA_WIRE_LEAVING)
		return NTRDMA_REASON_LEFT;
	if (look->again != s->yours || look->yours != s->my)
		return NTRDMA_REASON_RESTARTED;
	if (now_ms - s->heard_ms > s->terms.dead_ms)
		return NTRDMA_REASON_SILENT;
	return NTRDMA_REASON_NONE;
}

/**
 * ntrdma_session_look - decide on the next step after a look at the peer's page
 * @s: session
 * @ours: offer of this side
 * @member: number of the peer
 * @look: the peer's page as it was read
 * @now_ms: time in ms, from any origin; must not move backwards
 *
 * Words may be lost on their way to the peer. So at each look in HELLO or UP,
 * the caller writes its page again: in HELLO all words, in UP all except those
 * of the rings. It writes its number after the other words, and yours last.
 * Here it does not write 0 to its number or to yours first, because the peer
 * would take a 0 for the end of the session.
 *
 * Return: the next step of the caller.
 */
enum ntrdma_step ntrdma_session_look(struct ntrdma_session *s,
				     const struct ntrdma_hello *ours,
				     u8 member, const struct ntrdma_look *look,
				     u64 now_ms)
{
	enum ntrdma_reason reason;

	if (s->state == NTRDMA_LINK_HELLO)
		return ntrdma_session_greet(s, ours, member, look, now_ms);
	if (s->state != NTRDMA_LINK_UP)
		return NTRDMA_STEP_WAIT;
	ntrdma_session_hear(s, look, now_ms);
	reason = ntrdma_session_ends(s, look, now_ms);
	if (!reason)
		return NTRDMA_STEP_WAIT;
	ntrdma_session_fail(s, reason);
	return NTRDMA_STEP_LOSS;
}

/**
 * ntrdma_session_fail - end a session
 * @s: session
 * @reason: reason for the end
 *
 * Return: true if the session was UP. The caller then ends everything that uses
 * the session.
 */
bool ntrdma_session_fail(struct ntrdma_session *s, enum ntrdma_reason reason)
{
	if (!ntrdma_session_move(s, NTRDMA_LINK_LOSS))
		return false;
	s->reason = reason;
	return true;
}

/**
 * ntrdma_session_stop - turn a link off
 * @s: session; if it was UP, ntrdma_session_fail() has ended it
 */
void ntrdma_session_stop(struct ntrdma_session *s)
{
	if (s->state == NTRDMA_LINK_OFF)
		return;
	WARN_ON_ONCE(!ntrdma_session_move(s, NTRDMA_LINK_OFF));
	s->yours = 0;
}

static const char *const ntrdma_reason_names[NTRDMA_REASONS] = {
	[NTRDMA_REASON_NONE]	    = "none",
	[NTRDMA_REASON_DOWN]	    = "down",
	[NTRDMA_REASON_REMOVED]	    = "removed",
	[NTRDMA_REASON_SUSPENDED]   = "suspended",
	[NTRDMA_REASON_LEFT]	    = "left",
	[NTRDMA_REASON_SILENT]	    = "silent",
	[NTRDMA_REASON_RESTARTED]   = "restarted",
	[NTRDMA_REASON_BAD_INDEX]   = "bad_index",
	[NTRDMA_REASON_BAD_SEAL]    = "bad_seal",
	[NTRDMA_REASON_BAD_FRAME]   = "bad_frame",
	[NTRDMA_REASON_BAD_MAGIC]   = "bad_magic",
	[NTRDMA_REASON_BAD_VERSION] = "bad_version",
	[NTRDMA_REASON_BAD_MEMBER]  = "bad_member",
	[NTRDMA_REASON_BAD_SIZES]   = "bad_sizes",
	[NTRDMA_REASON_BAD_HELLO]   = "bad_hello",
	[NTRDMA_REASON_BAD_BELLS]   = "bad_bells",
	[NTRDMA_REASON_ENGINE]	    = "engine",
};

/**
 * ntrdma_reason_name - return the name of a reason
 * @reason: any number; the peer may have sent it
 *
 * Return: name for logs, sysfs and counters.
 */
const char *ntrdma_reason_name(enum ntrdma_reason reason)
{
	return reason < NTRDMA_REASONS ? ntrdma_reason_names[reason] : "unknown";
}

/**
 * ntrdma_link_state_name - return the name of a state
 * @state: state of a link
 *
 * Return: name for logs and sysfs.
 */
const char *ntrdma_link_state_name(enum ntrdma_link_state state)
{
	static const char *const names[NTRDMA_LINK_STATES] = {
		[NTRDMA_LINK_OFF]   = "off",
		[NTRDMA_LINK_HELLO] = "hello",
		[NTRDMA_LINK_UP]    = "up",
		[NTRDMA_LINK_LOSS]  = "loss",
	};

	return names[state];
}
