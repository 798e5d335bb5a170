// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Follow the fifty variables of "publish", and print the ones that have changed
 * ten times a second. The ring says which bytes were written, so the program
 * reads only these. It sleeps until 200 notices are unread, or 100 ms have
 * passed.
 *
 *   display DEVICE SECONDS
 */
#define _GNU_SOURCE
#include <err.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rfm2g_extras.h>

/* Layout of the area, which publish.c also has. */
#define AREA 0x2000
#define VARIABLES 50
struct area {
	RFM2G_UINT64 cycle;
	double values[VARIABLES];
};

struct display {
	double values[VARIABLES];
	bool changed[VARIABLES];
	unsigned long changes;
	unsigned long notices;
};

static void check(RFM2G_STATUS status, const char *what)
{
	if (status != RFM2G_SUCCESS)
		errx(1, "%s: %s", what, RFM2gErrorMsg(status));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Note the variables that lie in the range of a notice. */
static void note(struct display *display, const RFM2GXRECORD *record)
{
	size_t at, end = record->Offset + record->Length;
	unsigned int i;

	for (i = 0; i < VARIABLES; i++) {
		at = AREA + offsetof(struct area, values[i]);
		if (at < end && at + sizeof(double) > record->Offset)
			display->changed[i] = true;
	}
	display->notices++;
}

static void show(RFM2GHANDLE card, struct display *display)
{
	unsigned int i;
	double value;

	for (i = 0; i < VARIABLES; i++) {
		if (!display->changed[i])
			continue;
		display->changed[i] = false;
		check(RFM2gRead(card, AREA + offsetof(struct area, values[i]),
				&value, sizeof(value)), "read");
		if (value == display->values[i])
			continue;
		display->values[i] = value;
		display->changes++;
		printf("%2u: %g\n", i, value);
	}
}

static void follow(RFM2GHANDLE card, RFM2GXRING ring, struct display *display)
{
	const RFM2GXRECORD *record;
	RFM2G_STATUS ret;

	ret = RFM2gxRingWait(ring, 200, 100000, 200);
	if (ret != RFM2G_TIMED_OUT)
		check(ret, "wait");
	while (!RFM2gxRingNext(ring, &record) && record)
		if (record->Type == RFM2GX_WRITTEN)
			note(display, record);
	show(card, display);
}

int main(int argc, char **argv)
{
	RFM2GXSUBSCRIPTION values = {
		.What = RFM2GX_SUB_RANGE,
		.Flags = RFM2GX_SUB_OWN,
		.Offset = AREA,
		.Length = sizeof(struct area),
	};
	struct display display = { 0 };
	RFM2GHANDLE h = NULL;
	RFM2GXRING ring;
	double end;

	if (argc != 3)
		errx(2, "usage: display DEVICE SECONDS");
	check(RFM2gOpen(argv[1], &h), argv[1]);
	check(RFM2gxRingOpen(h, 1024, CLOCK_MONOTONIC, &ring), "ring");
	check(RFM2gxRingSubscribe(ring, &values), "subscribe");
	for (end = now() + atof(argv[2]); now() < end;)
		follow(h, ring, &display);
	check(RFM2gxRingClose(&ring), "close");
	check(RFM2gClose(&h), "close");
	printf("%lu changes shown, %lu notices\n", display.changes,
	       display.notices);
	return 0;
}
