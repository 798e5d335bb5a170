/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_RESYNC_STATE_H
#define VRFM_RESYNC_STATE_H

#include <linux/types.h>

/**
 * enum vrfm_resync_state - state of loading an image. The states from
 * %VRFM_RESYNC_SWEEPING on belong to a load that has begun
 * @VRFM_RESYNC_IDLE: no image is being loaded
 * @VRFM_RESYNC_RESERVING: a load is due, and its memory is not allocated yet
 * @VRFM_RESYNC_SWEEPING: peers that are connected send their own words
 * @VRFM_RESYNC_CHOOSING: a donor is being chosen. The only possible donor may
 *	have to answer an earlier request first
 * @VRFM_RESYNC_DESERTED: no connected peer offers the wanted image
 * @VRFM_RESYNC_PULLING: a donor sends its pages
 * @VRFM_RESYNC_STATES: number of states
 */
enum vrfm_resync_state {
	VRFM_RESYNC_IDLE,
	VRFM_RESYNC_RESERVING,
	VRFM_RESYNC_SWEEPING,
	VRFM_RESYNC_CHOOSING,
	VRFM_RESYNC_DESERTED,
	VRFM_RESYNC_PULLING,
	VRFM_RESYNC_STATES,
};

bool vrfm_resync_may_move(enum vrfm_resync_state from,
			  enum vrfm_resync_state to);
const char *vrfm_resync_state_name(enum vrfm_resync_state state);

#endif /* VRFM_RESYNC_STATE_H */
