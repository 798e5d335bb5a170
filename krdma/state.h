/* SPDX-License-Identifier: GPL-2.0 */
/* Allowed changes of the states of a connection. Pure: no locks, no verbs. */
#ifndef KRDMA_STATE_H
#define KRDMA_STATE_H

#include <krdma.h>

/**
 * enum krdma_owner - ownership of a connection: which context takes it down,
 * and which call notifies the owner of its end
 * @KRDMA_OWNER_WAITS: connect or accept has not succeeded yet, and its result
 *	will notify the owner of the end
 * @KRDMA_OWNER_HAS: the owner has the connection, and closing() will notify the
 *	owner of the end
 * @KRDMA_OWNER_NOTIFIED: closing() has been called
 * @KRDMA_OWNER_RELEASES: the owner had the connection and takes it down. No
 *	work item takes it down, and no callback is called
 * @KRDMA_OWNER_DROPS: the owner takes the connection down before connect or
 *	accept has succeeded. No work item takes it down, and no callback is
 *	called. If connect or accept succeeds nevertheless, RELEASES follows
 * @KRDMA_OWNERS: number of values
 */
enum krdma_owner {
	KRDMA_OWNER_WAITS = 0,
	KRDMA_OWNER_HAS,
	KRDMA_OWNER_NOTIFIED,
	KRDMA_OWNER_RELEASES,
	KRDMA_OWNER_DROPS,
	KRDMA_OWNERS,
};

bool krdma_state_may_move(enum krdma_role role, enum krdma_state from,
			  enum krdma_state to);
bool krdma_owner_may_move(enum krdma_owner from, enum krdma_owner to);

#endif /* KRDMA_STATE_H */
