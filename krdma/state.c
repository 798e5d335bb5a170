// SPDX-License-Identifier: GPL-2.0
/*
 * Allowed state changes of a connection and of a listener, as tables.
 *
 *   client:  NEW > RESOLVING_ADDR > RESOLVING_ROUTE > ROUTED > READY
 *                > CONNECTING > ESTABLISHED > CLOSING > CLOSED
 *   server:  REQUESTED > READY > CONNECTING > ESTABLISHED > CLOSING > CLOSED
 *   listener: NEW > LISTENING > CLOSING > CLOSED
 *
 * Any state except CLOSED may move to CLOSING, because errors can occur
 * anywhere. The reason is not part of the state, see krdma_last_error().
 *
 * Beside that state, enum krdma_owner describes which context takes the
 * connection down:
 *
 *   WAITS > HAS > NOTIFIED > RELEASES
 *           HAS > RELEASES
 *   WAITS > DROPS > RELEASES
 */
#include <linux/export.h>
#include <linux/kernel.h>

#include <compat.h>

#include "state.h"

static const u16 krdma_conn_next[KRDMA_STATES] = {
	[KRDMA_NEW]		= BIT(KRDMA_RESOLVING_ADDR) | BIT(KRDMA_CLOSING),
	[KRDMA_RESOLVING_ADDR]	= BIT(KRDMA_RESOLVING_ROUTE) | BIT(KRDMA_CLOSING),
	[KRDMA_RESOLVING_ROUTE]	= BIT(KRDMA_ROUTED) | BIT(KRDMA_CLOSING),
	[KRDMA_ROUTED]		= BIT(KRDMA_READY) | BIT(KRDMA_CLOSING),
	[KRDMA_REQUESTED]	= BIT(KRDMA_READY) | BIT(KRDMA_CLOSING),
	[KRDMA_READY]		= BIT(KRDMA_CONNECTING) | BIT(KRDMA_CLOSING),
	[KRDMA_CONNECTING]	= BIT(KRDMA_ESTABLISHED) | BIT(KRDMA_CLOSING),
	[KRDMA_ESTABLISHED]	= BIT(KRDMA_CLOSING),
	[KRDMA_CLOSING]		= BIT(KRDMA_CLOSED),
};

static const u16 krdma_listener_next[KRDMA_STATES] = {
	[KRDMA_NEW]		= BIT(KRDMA_LISTENING) | BIT(KRDMA_CLOSING),
	[KRDMA_LISTENING]	= BIT(KRDMA_CLOSING),
	[KRDMA_CLOSING]		= BIT(KRDMA_CLOSED),
};

static const char * const krdma_state_names[KRDMA_STATES] = {
	[KRDMA_NEW]		= "NEW",
	[KRDMA_RESOLVING_ADDR]	= "RESOLVING_ADDR",
	[KRDMA_RESOLVING_ROUTE]	= "RESOLVING_ROUTE",
	[KRDMA_ROUTED]		= "ROUTED",
	[KRDMA_REQUESTED]	= "REQUESTED",
	[KRDMA_READY]		= "READY",
	[KRDMA_CONNECTING]	= "CONNECTING",
	[KRDMA_ESTABLISHED]	= "ESTABLISHED",
	[KRDMA_LISTENING]	= "LISTENING",
	[KRDMA_CLOSING]		= "CLOSING",
	[KRDMA_CLOSED]		= "CLOSED",
};

/**
 * krdma_state_may_move - check whether a state change is allowed
 * @role: connection or listener
 * @from: present state
 * @to: wanted state
 *
 * Context: any.
 * Return: true if @to may follow @from.
 */
bool krdma_state_may_move(enum krdma_role role, enum krdma_state from,
			  enum krdma_state to)
{
	const u16 *next = role == KRDMA_LISTEN_CONN ? krdma_listener_next :
						      krdma_conn_next;

	if (from >= KRDMA_STATES || to >= KRDMA_STATES)
		return false;
	return next[from] & BIT(to);
}

static const u8 krdma_owner_next[KRDMA_OWNERS] = {
	[KRDMA_OWNER_WAITS] = BIT(KRDMA_OWNER_HAS) | BIT(KRDMA_OWNER_DROPS),
	[KRDMA_OWNER_HAS] = BIT(KRDMA_OWNER_NOTIFIED) |
			    BIT(KRDMA_OWNER_RELEASES),
	[KRDMA_OWNER_NOTIFIED] = BIT(KRDMA_OWNER_RELEASES),
	[KRDMA_OWNER_DROPS] = BIT(KRDMA_OWNER_RELEASES),
};

/**
 * krdma_owner_may_move - check whether a change of &enum krdma_owner is allowed
 * @from: present value
 * @to: wanted value
 *
 * Context: any.
 * Return: true if @to may follow @from.
 */
bool krdma_owner_may_move(enum krdma_owner from, enum krdma_owner to)
{
	if (from >= KRDMA_OWNERS || to >= KRDMA_OWNERS)
		return false;
	return krdma_owner_next[from] & BIT(to);
}

/**
 * krdma_state_name - return the name of a state
 * @state: a state of a connection or a listener
 *
 * Context: any.
 * Return: the name, "?" for an invalid number. Never NULL.
 */
const char *krdma_state_name(enum krdma_state state)
{
	if (state >= KRDMA_STATES)
		return "?";
	return krdma_state_names[state];
}
EXPORT_SYMBOL_NS_GPL(krdma_state_name, KRDMA_NS);
