/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Wraps the system calls of librfm2g, to simulate what a device without peers does
 * not do: errors, memory that cannot be mapped, events.
 */
#ifndef LIBRFM2G_WRAP_H
#define LIBRFM2G_WRAP_H

#include <stdbool.h>

#include <rfm2g_api.h>

/* Number for fsync() in wrap_fail(), not that of a command. */
#define WRAP_FSYNC 1

/* Let this command fail with this errno from now on; 0: none fails. */
void wrap_fail(unsigned long cmd, int error);

/* Let all commands except GET_CONFIG fail with this errno, as by a driver that knows none of them; 0: none fails. */
void wrap_ignorant(int error);

/* Let mmap() fail. */
void wrap_no_mmap(bool fail);

/* Let membarrier() fail from now on, as by a filter of system calls. */
void wrap_no_membarrier(void);

/* Properties of a card that the device does not have. */
struct wrap_card {
	RFM2G_UINT32 or_base;
	RFM2G_UINT32 cs_base;
	RFM2G_UINT32 lcsr1;
	RFM2G_UINT32 range;
};

/* Let the device have these properties, and a sliding window; NULL: its own. */
void wrap_card(const struct wrap_card *card);

/* Let waits wait for wrap_event() instead of the device. */
void wrap_events(bool ours);

/* Raise an event. */
void wrap_event(RFM2GEVENTTYPE type, RFM2G_NODE node, RFM2G_UINT32 data);

/* Raise an event from node 7 with data 52 when the next wait is cancelled: the wait gets the event. */
void wrap_event_at_cancel(void);

/* VRFM_UNWAIT of the driver. */
#define WRAP_UNWAIT 0x4008EA08

/* Delay the return of waits by this time, in ms. */
void wrap_late(unsigned int ms);

/* Does a thread wait for an event of this type? */
bool wrap_waits(RFM2GEVENTTYPE type);

/* Numbers of events that were taken, and of waits that were cancelled. */
int wrap_taken(void);
int wrap_cancelled(void);

/* Results: 0 or 1 and a text. */
void is(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gives(RFM2G_STATUS wanted, RFM2G_STATUS got, const char *what);

#define GIVES(wanted, call) gives(RFM2G_##wanted, call, #wanted ": " #call)

#endif /* LIBRFM2G_WRAP_H */
