/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Decisions about the sessions of a link. All functions are pure: they use only
 * their arguments.
 */
#ifndef NTRDMA_SESSION_H
#define NTRDMA_SESSION_H

#include "page.h"

/* States of a link. */
enum ntrdma_link_state {
	NTRDMA_LINK_OFF,	/* not started */
	NTRDMA_LINK_HELLO,	/* our hello is published, no agreement yet */
	NTRDMA_LINK_UP,		/* both sides have accepted each other */
	NTRDMA_LINK_LOSS,	/* the session has ended; its users are being ended */
	NTRDMA_LINK_STATES,
};

/**
 * struct ntrdma_session - one side's knowledge of a session
 * @state: state of the link
 * @my: number of this side's session
 * @yours: number of the peer's session that this side has accepted, or 0
 * @theirs: hello of the peer's session; valid if @yours is not 0
 * @terms: agreement; valid if @yours is not 0
 * @beat: last beat of the peer that differed from the one before
 * @traffic: last sum of the peer's indexes that differed from the one before
 * @heard_ms: time of the last sign of life of the peer, in ms
 * @reason: reason for which the last session ended or the last hello was
 *	refused
 */
struct ntrdma_session {
	enum ntrdma_link_state state;
	u32 my;
	u32 yours;
	struct ntrdma_hello theirs;
	struct ntrdma_terms terms;
	u32 beat;
	u32 traffic;
	u64 heard_ms;
	enum ntrdma_reason reason;
};

/**
 * struct ntrdma_look - the peer's page as it was read once
 * @before: session number of the peer, read before all other words
 * @hello: copy of the constant part
 * @again: session number of the peer, read again after all other words
 * @yours: our session number that the peer has accepted, or 0
 * @state: &enum ntrdma_wire_state of the peer
 * @beat: beat of the peer
 * @traffic: sum of the peer's indexes
 */
struct ntrdma_look {
	u32 before;
	struct ntrdma_wire_hello hello;
	u32 again;
	u32 yours;
	u32 state;
	u32 beat;
	u32 traffic;
};

/* Steps of the caller after a look at the peer's page. */
enum ntrdma_step {
	NTRDMA_STEP_WAIT,	/* nothing new */
	NTRDMA_STEP_ACCEPT,	/* write the page, ntrdma_session.yours last */
	NTRDMA_STEP_UP,		/* as NTRDMA_STEP_ACCEPT, then open the lanes */
	NTRDMA_STEP_LOSS,	/* end the session */
};

void ntrdma_session_init(struct ntrdma_session *s);
void ntrdma_session_begin(struct ntrdma_session *s, u32 my);
enum ntrdma_step ntrdma_session_look(struct ntrdma_session *s,
				     const struct ntrdma_hello *ours,
				     u8 member, const struct ntrdma_look *look,
				     u64 now_ms);
bool ntrdma_session_fail(struct ntrdma_session *s, enum ntrdma_reason reason);
void ntrdma_session_stop(struct ntrdma_session *s);
const char *ntrdma_reason_name(enum ntrdma_reason reason);
const char *ntrdma_link_state_name(enum ntrdma_link_state state);

#endif /* NTRDMA_SESSION_H */
