/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands between librfm2g and the system, and makes happen what the device does
 * not do by itself: errors, a memory that cannot be mapped, events.
 */
#ifndef LIBRFM2G_WRAP_H
#define LIBRFM2G_WRAP_H

#include <stdbool.h>

#include <rfm2g_api.h>

/* fsync(), no number of a command. */
#define WRAP_FSYNC 1

/* This command gives this errno, from now on; 0: none does. */
void wrap_fail(unsigned long cmd, int error);

/* All commands but GET_CONFIG give this errno: a driver that knows none of them; 0: as usual. */
void wrap_ignorant(int error);

/* mmap() fails. */
void wrap_no_mmap(bool fail);

/* membarrier() is refused from now on, as by a filter of system calls. */
void wrap_no_membarrier(void);

/* What a card has that the device has not. */
struct wrap_card {
	RFM2G_UINT32 or_base;
	RFM2G_UINT32 cs_base;
	RFM2G_UINT32 lcsr1;
	RFM2G_UINT32 range;
};

/* Who opens the device finds this in it, a sliding window besides; NULL: what there is. */
void wrap_card(const struct wrap_card *card);

/* Waits do not go to the device, but wait for wrap_event(). */
void wrap_events(bool ours);

/* An event has come. */
void wrap_event(RFM2GEVENTTYPE type, RFM2G_NODE node, RFM2G_UINT32 data);

/* One more comes when the next wait is cancelled, from node 7 with 52: the wait gets that. */
void wrap_event_at_cancel(void);

/* VRFM_UNWAIT of the driver. */
#define WRAP_UNWAIT 0x4008EA08

/* Waits return this time after the device has answered, in ms. */
void wrap_late(unsigned int ms);

/* Is there a wait for an event right now? */
bool wrap_waits(RFM2GEVENTTYPE type);

/* How many of them were taken, how many waits were cancelled. */
int wrap_taken(void);
int wrap_cancelled(void);

/* Results: 0 or 1 and a text. */
void is(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gives(RFM2G_STATUS wanted, RFM2G_STATUS got, const char *what);

#define GIVES(wanted, call) gives(RFM2G_##wanted, call, #wanted ": " #call)

#endif /* LIBRFM2G_WRAP_H */
