/* SPDX-License-Identifier: GPL-2.0 */
/* Allowed state changes of a krdma_cb. Pure: no locks, no verbs. */
#ifndef KRDMA_STATE_H
#define KRDMA_STATE_H

#include <krdma.h>

bool krdma_state_may_move(enum krdma_role role, enum krdma_state from,
			  enum krdma_state to);

#endif /* KRDMA_STATE_H */
