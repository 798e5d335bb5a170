// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of the memory that peers can make this host allocate. A budget limits
 * the number of connections of a listener. It also limits the bytes of messages
 * that are incomplete, or that the owner has not received yet.
 *
 * A listener and its connections share one budget, which is freed with the last
 * of these objects. Each client connection has a budget of its own. A
 * connection is counted from the connect request until the connection is freed.
 * The memory for a message is counted from its allocation until the owner
 * receives the message.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>

#include "conn.h"

/**
 * krdma_budget_alloc - allocate a budget
 * @p: parameters with defaults
 *
 * Return: budget with one reference, or NULL.
 */
struct krdma_budget *krdma_budget_alloc(const struct krdma_params *p)
{
	struct krdma_budget *budget = kzalloc(sizeof(*budget), GFP_KERNEL);

	if (!budget)
		return NULL;
	kref_init(&budget->ref);
	budget->max_conns = p->max_conns;
	budget->max_bytes = p->msg_memory;
	budget->max_unproved = p->backlog;
	return budget;
}

static void krdma_budget_free(struct kref *ref)
{
	struct krdma_budget *budget =
		container_of(ref, struct krdma_budget, ref);

	WARN_ON_ONCE(atomic_read(&budget->conns) ||
		     atomic_read(&budget->unproved) ||
		     atomic64_read(&budget->bytes));
	kfree(budget);
}

/**
 * krdma_budget_add_conn - count a connection of a listener
 * @listener: listener
 * @conn: new connection of @listener
 *
 * Context: any.
 * Return: 0: krdma_budget_del_conn() undoes this call; -EUSERS: the listener
 * has its maximum number of connections.
 */
int krdma_budget_add_conn(struct krdma_conn *listener, struct krdma_conn *conn)
{
	struct krdma_budget *budget = listener->budget;

	if (!atomic_add_unless(&budget->conns, 1, budget->max_conns)) {
		krdma_count(listener, KRDMA_COUNT_CONNS_OVER);
		return -EUSERS;
	}
	kref_get(&budget->ref);
	conn->budget = budget;
	conn->is_counted = true;
	return 0;
}

/**
 * krdma_budget_add_unproved - count a connection until its client is proved
 * @listener: listener with a level
 * @conn: connection that krdma_budget_add_conn() has counted
 *
 * A recorded request makes a connection that is never proved. This limits the
 * memory of such connections.
 *
 * Context: any.
 * Return: 0: krdma_budget_proved() undoes this call; -EBUSY: too many clients
 * are not proved.
 */
int krdma_budget_add_unproved(struct krdma_conn *listener,
			      struct krdma_conn *conn)
{
	struct krdma_budget *budget = listener->budget;

	if (!atomic_add_unless(&budget->unproved, 1, budget->max_unproved))
		return -EBUSY;
	conn->is_unproved = true;
	return 0;
}

/**
 * krdma_budget_proved - stop counting a connection whose client is proved
 * @conn: connection; no effect if it is not counted
 *
 * Context: any, one call at a time.
 */
void krdma_budget_proved(struct krdma_conn *conn)
{
	if (conn->is_unproved)
		atomic_dec(&conn->budget->unproved);
	conn->is_unproved = false;
}

/**
 * krdma_budget_del_conn - release the budget of a connection or listener
 * @conn: connection or listener; may have no budget
 *
 * Context: any.
 */
void krdma_budget_del_conn(struct krdma_conn *conn)
{
	if (!conn->budget)
		return;
	krdma_budget_uncharge(conn);
	krdma_budget_proved(conn);
	if (conn->is_counted)
		atomic_dec(&conn->budget->conns);
	kref_put(&conn->budget->ref, krdma_budget_free);
}

/*
 * Add @len to the charged bytes if the sum is within the limit. The sum never
 * exceeds the limit, not even for a moment.
 */
static bool krdma_budget_take(struct krdma_budget *budget, u32 len)
{
	s64 bytes = atomic64_read(&budget->bytes);

	do {
		if (bytes + len > (s64)budget->max_bytes)
			return false;
	} while (!atomic64_try_cmpxchg(&budget->bytes, &bytes, bytes + len));
	return true;
}

/**
 * krdma_budget_charge - count the memory for a message
 * @conn: connection in message mode, with nothing charged
 * @len: bytes
 *
 * Context: any. If the limit would be exceeded, the connection ends.
 * Return: 0: krdma_budget_uncharge() undoes this call; -EDQUOT: the limit would
 * be exceeded.
 */
int krdma_budget_charge(struct krdma_conn *conn, u32 len)
{
	struct krdma_budget *budget = conn->budget;

	if (krdma_budget_take(budget, len)) {
		conn->charged = len;
		return 0;
	}
	krdma_count(conn, KRDMA_COUNT_MEMORY_OVER);
	pr_info_ratelimited("%pISpc: no memory left for a message of %u bytes: msg_memory is %llu, closing\n",
			    &conn->cm.peer, len, budget->max_bytes);
	krdma_conn_abort(conn, -EDQUOT);
	return -EDQUOT;
}

/**
 * krdma_budget_uncharge - stop counting the memory for a message
 * @conn: connection; no effect if it has nothing charged
 *
 * Context: any.
 */
void krdma_budget_uncharge(struct krdma_conn *conn)
{
	if (!conn->charged)
		return;
	atomic64_sub(conn->charged, &conn->budget->bytes);
	conn->charged = 0;
}
