/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that run on two nodes at the same time, and wait for each other by a
 * word of the shared memory.
 */
#ifndef LIBRFM2G_MEET_H
#define LIBRFM2G_MEET_H

#include <err.h>

#include <rfm2g_extras.h>

#define PATIENCE_MS 60000

/* Ids of both nodes, and number of the last meeting. */
static RFM2G_UINT32 node, other, step;
static RFM2GHANDLE h;

/*
 * Wait until the other node calls meet(). All writes and events that it
 * sent before have arrived when this function returns.
 */
static void meet(void)
{
	RFM2G_UINT32 seen;

	if (RFM2gPoke32(h, 4 * node, ++step) || RFM2gPeek32(h, 4 * other, &seen))
		errx(2, "the nodes cannot meet");
	while ((int)(seen - step) < 0) {
		if (RFM2gxWatch(h, 4 * other, sizeof(seen), &seen, PATIENCE_MS, NULL))
			errx(2, "node %u does not arrive", other);
		RFM2gPeek32(h, 4 * other, &seen);
	}
}

#endif /* LIBRFM2G_MEET_H */
