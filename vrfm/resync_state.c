// SPDX-License-Identifier: GPL-2.0
/*
 * Allowed state changes of loading an image, as a table. Pure: no locks, no
 * device.
 *
 *   IDLE > RESERVING > SWEEPING > CHOOSING > PULLING > IDLE
 *
 * Documentation/vrfm.rst has a diagram, and the cause of each change.
 */
#include <linux/bits.h>

#include "resync_state.h"

static const u8 vrfm_resync_next[VRFM_RESYNC_STATES] = {
	[VRFM_RESYNC_IDLE] = BIT(VRFM_RESYNC_RESERVING),
	[VRFM_RESYNC_RESERVING] = BIT(VRFM_RESYNC_IDLE) |
				  BIT(VRFM_RESYNC_SWEEPING),
	[VRFM_RESYNC_SWEEPING] = BIT(VRFM_RESYNC_CHOOSING),
	[VRFM_RESYNC_CHOOSING] = BIT(VRFM_RESYNC_SWEEPING) |
				 BIT(VRFM_RESYNC_DESERTED) |
				 BIT(VRFM_RESYNC_PULLING),
	[VRFM_RESYNC_DESERTED] = BIT(VRFM_RESYNC_IDLE) |
				 BIT(VRFM_RESYNC_CHOOSING) |
				 BIT(VRFM_RESYNC_PULLING),
	[VRFM_RESYNC_PULLING] = BIT(VRFM_RESYNC_IDLE) |
				BIT(VRFM_RESYNC_SWEEPING),
};

static const char * const vrfm_resync_names[VRFM_RESYNC_STATES] = {
	[VRFM_RESYNC_IDLE] = "idle",
	[VRFM_RESYNC_RESERVING] = "reserving",
	[VRFM_RESYNC_SWEEPING] = "sweeping",
	[VRFM_RESYNC_CHOOSING] = "choosing",
	[VRFM_RESYNC_DESERTED] = "deserted",
	[VRFM_RESYNC_PULLING] = "pulling",
};

/**
 * vrfm_resync_may_move - check whether a state change is allowed
 * @from: present state
 * @to: wanted state
 *
 * Return: true if @to may follow @from.
 */
bool vrfm_resync_may_move(enum vrfm_resync_state from,
			  enum vrfm_resync_state to)
{
	if (from >= VRFM_RESYNC_STATES || to >= VRFM_RESYNC_STATES)
		return false;
	return vrfm_resync_next[from] & BIT(to);
}

/**
 * vrfm_resync_state_name - return the name of a state, for statistics
 * @state: state of loading an image
 *
 * Return: name of the state.
 */
const char *vrfm_resync_state_name(enum vrfm_resync_state state)
{
	return vrfm_resync_names[state];
}
