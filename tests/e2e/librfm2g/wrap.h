/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replace system calls of librfm2g, to simulate errors, memory that cannot be
 * mapped, and events. A device without peers causes none of these.
 */
#ifndef LIBRFM2G_WRAP_H
#define LIBRFM2G_WRAP_H

#include <stdbool.h>

#include <rfm2g_api.h>

/* Argument of wrap_fail() for fsync(); no command has this number. */
#define WRAP_FSYNC 1

/*
 * Let command CMD fail with errno ERROR from now on. If ERROR is 0, let no
 * command fail.
 */
void wrap_fail(unsigned long cmd, int error);

/*
 * Let all commands except GET_CONFIG fail with errno ERROR, as if the driver
 * did not know them. If ERROR is 0, let no command fail.
 */
void wrap_ignorant(int error);

/*
 * If FAIL is true, let mmap() of files fail from now on. If FAIL is false, let
 * it work again.
 */
void wrap_no_mmap(bool fail);

/* Let membarrier() fail from now on, as a filter of system calls does. */
void wrap_no_membarrier(void);

/* Properties of a simulated card, which differ from those of the device. */
struct wrap_card {
	RFM2G_UINT32 or_base;
	RFM2G_UINT32 cs_base;
	RFM2G_UINT32 lcsr1;
	RFM2G_UINT32 range;
};

/*
 * Simulate a card that has these properties and a sliding window. If CARD is
 * NULL, end the simulation.
 */
void wrap_card(const struct wrap_card *card);

/*
 * If OURS is true, simulate events: waits end when wrap_event() raises an
 * event. If OURS is false, waits use the device.
 */
void wrap_events(bool ours);

/* Raise a simulated event of TYPE from NODE, with DATA. */
void wrap_event(RFM2GEVENTTYPE type, RFM2G_NODE node, RFM2G_UINT32 data);

/*
 * Raise an event from node 7 with data 52 when the next wait is cancelled. The
 * wait then returns this event.
 */
void wrap_event_at_cancel(void);

/* Number of the command VRFM_UNWAIT, as the driver defines it. */
#define WRAP_UNWAIT 0x4008EA08

/*
 * Delay the return from each wait for an event of the device by MS
 * milliseconds.
 */
void wrap_late(unsigned int ms);

/* Return whether a thread waits for an event of TYPE. */
bool wrap_waits(RFM2GEVENTTYPE type);

/*
 * wrap_taken() returns the number of events that waits have taken.
 * wrap_cancelled() returns the number of waits that were cancelled.
 */
int wrap_taken(void);
int wrap_cancelled(void);

/*
 * is() prints the result of a case: 0 if GOOD is true, else 1, and a text.
 * gives() prints the result of a case that succeeds if GOT is WANTED.
 */
void is(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gives(RFM2G_STATUS wanted, RFM2G_STATUS got, const char *what);

#define GIVES(wanted, call) gives(RFM2G_##wanted, call, #wanted ": " #call)

#endif /* LIBRFM2G_WRAP_H */
