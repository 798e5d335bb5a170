// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Exchange questions and answers by events, with data that arrive before the
 * event.
 *
 *   handshake DEVICE answer SECONDS        on one node
 *   handshake DEVICE ask NODE COUNT        on another; NODE: id of the first
 *
 * When a node receives an event, it has all data that the sender wrote before
 * it sent the event. So the sender first writes the data and then sends the
 * event. The receiver first waits for the event and then reads the data. The 32
 * bits of data of an event identify the question.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rfm2g_api.h>

/* Offsets: the asking node writes QUESTION, the answering node ANSWER. */
#define QUESTION 0x10000
#define ANSWER 0x20000
#define PATIENCE_MS 1000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void check(RFM2G_STATUS status, const char *what)
{
	if (status != RFM2G_SUCCESS)
		errx(1, "%s: %s", what, RFM2gErrorMsg(status));
}

/* Discard the events of a type that earlier runs left, and enable the type. */
static void prepare(RFM2GHANDLE h, RFM2GEVENTTYPE type)
{
	check(RFM2gClearEvent(h, type), "clear");
	check(RFM2gEnableEvent(h, type), "enable");
}

static int ask(RFM2GHANDLE h, RFM2G_NODE node, RFM2G_UINT32 count)
{
	RFM2GEVENTINFO event = { .Event = RFM2GEVENT_INTR2, .Timeout = PATIENCE_MS };
	RFM2G_UINT32 n, answer;
	double begin;

	prepare(h, RFM2GEVENT_INTR2);
	begin = now();
	for (n = 1; n <= count; n++) {
		check(RFM2gPoke32(h, QUESTION, n), "question");
		check(RFM2gSendEvent(h, node, RFM2GEVENT_INTR1, n), "send");
		check(RFM2gWaitForEvent(h, &event), "no answer");
		check(RFM2gPeek32(h, ANSWER, &answer), "answer");
		if (event.ExtendedInfo != n || answer != 2 * n)
			errx(1, "answer %u to question %u is %u",
			     event.ExtendedInfo, n, answer);
	}
	printf("%u answers, each after %.1f us\n", count,
	       (now() - begin) * 1e6 / count);
	return 0;
}

static int answer(RFM2GHANDLE h, double end)
{
	RFM2GEVENTINFO event = { .Event = RFM2GEVENT_INTR1, .Timeout = 100 };
	RFM2G_UINT32 question;
	RFM2G_STATUS ret;
	long count = 0;

	prepare(h, RFM2GEVENT_INTR1);
	while (now() < end) {
		ret = RFM2gWaitForEvent(h, &event);
		if (ret == RFM2G_TIMED_OUT)
			continue;
		check(ret, "wait");
		check(RFM2gPeek32(h, QUESTION, &question), "question");
		check(RFM2gPoke32(h, ANSWER, 2 * question), "answer");
		check(RFM2gSendEvent(h, event.NodeId, RFM2GEVENT_INTR2,
				     event.ExtendedInfo), "send");
		count++;
	}
	printf("%ld questions answered\n", count);
	return 0;
}

int main(int argc, char **argv)
{
	RFM2GHANDLE h = NULL;
	int status;

	if (argc == 5 && !strcmp(argv[2], "ask")) {
		check(RFM2gOpen(argv[1], &h), argv[1]);
		status = ask(h, atoi(argv[3]), atoi(argv[4]));
	} else if (argc == 4 && !strcmp(argv[2], "answer")) {
		check(RFM2gOpen(argv[1], &h), argv[1]);
		status = answer(h, now() + atof(argv[3]));
	} else {
		errx(2, "usage: handshake DEVICE ask NODE COUNT, or DEVICE answer SECONDS");
	}
	check(RFM2gClose(&h), "close");
	return status;
}
