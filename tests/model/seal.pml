/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of the sealed messages of one direction: krdma/seal.c.
 *
 * Tasks seal messages with data under a lock of their own (seal_lock), because
 * sealing takes long, and post them under the lock of the connection. A control
 * message is sealed and posted in one step, under the lock of the connection. So
 * it may be posted while another message is being sealed. The key is replaced
 * after PERIOD messages with data. The network delivers messages in order, or is
 * an attacker. An attacker delivers messages that were posted, in any order,
 * some of them several times and some of them never.
 *
 * S4: the peer accepts the messages with data that were posted, in order and
 *     without a gap. It accepts a control message only after all messages with
 *     data, and all control messages, that were posted before it.
 * NONCES: no nonce is used twice with the same key.
 * OPENS: without an attacker each message opens.
 *
 * variant SEAL_UNLOCKED NONCES: two tasks seal a message with data at the same time
 * variant NUMBER_ON_COMPLETION NONCES: the number moves when a message is completed, not when it is posted
 * variant ONE_COUNTER NONCES: control messages have numbers of messages with data
 * variant NUMBER_WHEN_SEALED OPENS: the number moves before the message is posted
 * variant CONTROL_UNBOUND S4: the tag of a control message does not cover the number of messages with data before it
 */
#include "model.h"

#define TASKS 2
#define EACH 2			/* messages with data of each task */
#define CONTROLS 2		/* control messages */
#define PERIOD 2
#define ALL (TASKS * EACH + CONTROLS)
#define NUMBERS 16		/* more than there are of each kind */

/* Sender: the next number of a message with data, that of a control message, and the key. */
byte messages, control, key;
bool seal_lock;
/* Nonces that were used: with each key, for both kinds. */
bool used[ALL * 2 * NUMBERS];

/* Messages in the order in which they were posted. */
typedef message {
	bool data;
	byte number;
	byte key;
	byte before;		/* number of messages with data before it, in the tag */
	byte after_data;	/* numbers of messages of both kinds before it */
	byte after_control;
};
message wire[ALL];
byte posted, posted_data;

/* Receiver. */
byte rx_messages, rx_control, rx_key;
byte accepted, accepted_data;
bool over;

inline count_data(number, k)
{
	number++;
	if
	:: number % PERIOD == 0 -> k++
	:: else
	fi
}

inline use(is_data, number, k)
{
	NONCES = !used[(k * 2 + is_data) * NUMBERS + number];
	assert(NONCES);
	used[(k * 2 + is_data) * NUMBERS + number] = true
}

inline post(is_data, n, k, n_before)
{
	wire[posted].data = is_data;
	wire[posted].number = n;
	wire[posted].key = k;
	wire[posted].before = n_before;
	wire[posted].after_data = posted_data;
	wire[posted].after_control = posted - posted_data;
	posted++;
	posted_data = posted_data + is_data
}

active [TASKS] proctype task()
{
	byte left = EACH, number, with;

	do
	:: left ->
#ifndef SEAL_UNLOCKED
		d_step { !seal_lock -> seal_lock = true }
#endif
		/* krdma_seal_message() */
		d_step {
			number = messages;
			with = key;
			use(true, number, with);
#ifdef NUMBER_WHEN_SEALED
			count_data(messages, key)
#endif
		}
		/* ib_post_send() and krdma_seal_posted(), under krdma_conn.lock */
		d_step {
			post(true, number, with, 0);
#if !defined(NUMBER_WHEN_SEALED) && !defined(NUMBER_ON_COMPLETION)
			count_data(messages, key);
#endif
			seal_lock = false;
			left--
		}
#ifdef NUMBER_ON_COMPLETION
		d_step { count_data(messages, key) }
#endif
	:: else -> break
	od
}

active proctype controller()
{
	byte left = CONTROLS;

	do
	:: left ->
		d_step {
#ifdef ONE_COUNTER
			use(true, messages, key);
			post(true, messages, key, 0);
			count_data(messages, key);
#else
			use(false, control, key);
			post(false, control, key, messages);
			control++;
#endif
			left--
		}
	:: else -> break
	od
}

#ifdef CONTROL_UNBOUND
#define BOUND(m) true
#else
#define BOUND(m) (m.before == rx_messages)
#endif
#define FITS(m) (m.key == rx_key && \
		 (m.data -> m.number == rx_messages : \
			    m.number == rx_control && BOUND(m)))

/* krdma_seal_open() */
inline open(i)
{
	if
	:: FITS(wire[i]) ->
		S4 = wire[i].after_data == accepted_data &&
		     (wire[i].data || wire[i].after_control == accepted - accepted_data);
		assert(S4);
		accepted++;
		accepted_data = accepted_data + wire[i].data;
		if
		:: wire[i].data -> count_data(rx_messages, rx_key)
		:: else -> rx_control++
		fi
	:: else -> over = true
	fi
}

active proctype network()
{
	byte i;

	if
	:: do		/* in order */
	   :: d_step { accepted < posted ->
		i = accepted;
		open(i);
#ifndef NUMBER_ON_COMPLETION
		OPENS = !over;
		assert(OPENS)
#endif
	      }
	   :: over || accepted == ALL -> break
	   od
#ifndef NUMBER_WHEN_SEALED
	:: do		/* the attacker */
	   :: !over && posted ->
		i = 0;
		do
		:: i + 1 < posted -> i++
		:: break
		od;
		skip;
		d_step { open(i) }
	   :: over || accepted == ALL -> break
	   od
#endif
	fi
}
