/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Handles of RFM2g on Linux.
 */
#ifndef RFM2G_OSSPEC_H
#define RFM2G_OSSPEC_H

#include <pthread.h>
#include <semaphore.h>

#include "rfm2g_defs_linux.h"

#include "rfm2g_struct.h"

/*
 * An open device. Programs may read both members. The library ignores values
 * that programs write to them, and keeps more data behind them.
 */
struct rfm2ghandle_s {
	RFM2G_INT32 fd;
	RFM2GCONFIG Config;	/* configuration when the device was opened */
};

typedef struct rfm2ghandle_s *RFM2GHANDLE;

/* Callback of an event. A thread of the library calls it for each event. */
typedef void (*RFM2G_EVENT_FUNCPTR)(RFM2GHANDLE, RFM2GEVENTINFO *);

#endif /* RFM2G_OSSPEC_H */
