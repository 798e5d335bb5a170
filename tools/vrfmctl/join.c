// SPDX-License-Identifier: GPL-2.0
/* Wait until a device has all data of its peers. */
#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl.h"

/*
 * Time in s after which join no longer waits for peers that are not linked. The
 * node that connects tries again after 10 s or a little more, and an attempt
 * takes up to 5 s.
 */
#define CTL_PATIENCE 20
#define CTL_LOOK 0.1
#define CTL_BAR 30

/**
 * struct ctl_joining - progress of a join
 * @linked: number of linked peers
 * @settled: number of settled peers. A settled peer has the same image as this
 *	node, and each of the two has all data of the other
 * @over: true if join has nothing left to wait for
 * @partly: true if all linked peers are settled, but some peers are not linked
 */
struct ctl_joining {
	uint32_t linked;
	uint32_t settled;
	bool over;
	bool partly;
};

static bool ctl_is_settled(const struct vrfm_peer_state *peer)
{
	const uint32_t wanted = VRFM_PEER_SYNCED | VRFM_PEER_SAME_IMAGE;

	return peer->state == VRFM_PEER_READY &&
	       (peer->flags & wanted) == wanted;
}

static struct ctl_joining ctl_joining(const struct ctl_view *view,
				      double seconds)
{
	struct ctl_joining joining = { };
	uint32_t i;

	for (i = 0; i < view->all.count; i++) {
		joining.linked += view->peers[i].state != VRFM_PEER_DOWN;
		joining.settled += ctl_is_settled(&view->peers[i]);
	}
	joining.over = !(view->all.image & VRFM_IMAGE_LOADING) &&
		       joining.settled == joining.linked;
	joining.partly = joining.over && joining.linked &&
			 joining.linked < view->all.count;
	if (joining.linked < view->all.count)
		joining.over = joining.partly && seconds > CTL_PATIENCE;
	return joining;
}

/* List the peers that are not linked. Dots at the end stand for further ones. */
static const char *ctl_missing(const struct ctl_view *view, char *text,
			       size_t room)
{
	size_t used = 0;
	uint32_t i;

	*text = 0;
	for (i = 0; i < view->all.count; i++) {
		if (view->peers[i].state != VRFM_PEER_DOWN)
			continue;
		if (used + sizeof(" 255 ...") > room)
			return strcat(text, " ...");
		used += sprintf(text + used, " %u", view->peers[i].node);
	}
	return text;
}

/* Describe the progress, in at most 80 characters. */
static void ctl_phase(const struct ctl_view *view,
		      const struct ctl_joining *joining, char *text,
		      size_t room)
{
	char missing[32];

	if (joining->over)
		snprintf(text, room, "has all%s", joining->linked <
			 view->all.count ? " of those that are linked" : "");
	else if (view->all.image & VRFM_IMAGE_LOADING)
		snprintf(text, room, "loads %u%%", ctl_percent(&view->all));
	else if (joining->settled < joining->linked)
		snprintf(text, room, "%u of %u peers catch up",
			 joining->linked - joining->settled, joining->linked);
	else
		snprintf(text, room, "%u of %u peers linked, waits for%s",
			 joining->linked, view->all.count,
			 ctl_missing(view, missing, sizeof(missing)));
}

/*
 * Return the percentage to show. After the image has been loaded, this number
 * stays at 100 while peers catch up.
 */
static unsigned int ctl_join_percent(const struct ctl_view *view,
				     const struct ctl_joining *joining)
{
	static bool loads;

	if (view->all.image & VRFM_IMAGE_LOADING) {
		loads = true;
		return ctl_percent(&view->all);
	}
	return joining->over || loads ? 100 : 0;
}

/*
 * Return the number of characters after the bar that fit into the terminal's
 * line. A longer line would wrap, and scroll with each update.
 */
static int ctl_bar_room(void)
{
	struct winsize size;
	int columns = 80;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		columns = size.ws_col;
	columns -= CTL_BAR + (int)sizeof("rfm2gN [] ");
	return columns > 0 ? columns : 0;
}

/*
 * Show the progress. If stderr is a terminal, draw a bar. If not, print a line
 * after each change.
 */
static void ctl_bar(const struct ctl_view *view,
		    const struct ctl_joining *joining)
{
	unsigned int percent = ctl_join_percent(view, joining);
	static char before[96];
	char phase[96];

	ctl_phase(view, joining, phase, sizeof(phase));
	if (isatty(STDERR_FILENO)) {
		fprintf(stderr, "\rrfm2g%u [%-*.*s] %.*s\033[K%s", view->unit,
			CTL_BAR, (int)(percent * CTL_BAR / 100),
			"##############################",
			ctl_bar_room(), phase, joining->over ? "\n" : "");
	} else if (strcmp(before, phase)) {
		fprintf(stderr, "rfm2g%u: %s\n", view->unit, phase);
		snprintf(before, sizeof(before), "%s", phase);
	}
}

/* Print the result as JSON, with a list of the peers that are not settled. */
static void ctl_join_json(const struct ctl_view *view, bool joined,
			  double seconds)
{
	const struct vrfm_peer_state *peer;
	const char *comma = "";
	uint32_t i;

	printf("{\"device\":\"rfm2g%u\",\"joined\":%s,\"seconds\":%.1f,\"without\":[",
	       view->unit, ctl_bool(joined), seconds);
	for (i = 0; i < view->all.count; i++) {
		peer = &view->peers[i];
		if (ctl_is_settled(peer))
			continue;
		printf("%s{\"node\":%u,\"state\":\"%s\",\"since_ms\":%llu",
		       comma, peer->node, ctl_state(peer),
		       peer->since_ms);
		if (ctl_why(peer))
			printf(",\"why\":\"%s\"", ctl_why(peer));
		printf("}");
		comma = ",";
	}
	printf("]}\n");
}

static void ctl_join_tell(const struct ctl_view *view)
{
	const struct vrfm_peer_state *peer;
	struct ctl_text since;
	const char *why;
	uint32_t i;

	for (i = 0; i < view->all.count; i++) {
		peer = &view->peers[i];
		why = ctl_why(peer);
		if (!ctl_is_settled(peer))
			warnx("rfm2g%u: node %u is %s since %s%s%s", view->unit,
			      peer->node, ctl_state(peer),
			      ctl_time(peer->since_ms, &since),
			      why ? ", " : "", why ? why : "");
	}
}

/**
 * ctl_join - wait until a device has all data of its peers
 * @options: options of the command line
 * @only: name of the device; NULL if there is only one device
 *
 * Return: CTL_OK if the device has all data of all peers; CTL_WITHOUT if it has
 * all data of the linked peers, and other peers are not linked; CTL_FAILED
 * after an error message.
 */
enum ctl_result ctl_join(const struct ctl_options *options, const char *only)
{
	double begin = ctl_now(), seconds;
	struct ctl_joining joining;
	static struct ctl_view view;
	unsigned int unit;
	int fd;

	if (!ctl_which(only, &unit))
		return CTL_FAILED;
	fd = ctl_open(unit, O_RDONLY);
	if (fd < 0)
		return CTL_FAILED;
	for (;;) {
		if (!ctl_look(fd, unit, &view))
			return CTL_FAILED;
		seconds = ctl_now() - begin;
		joining = ctl_joining(&view, seconds);
		if (!options->json)
			ctl_bar(&view, &joining);
		if (joining.over || (options->timeout &&
				     seconds > options->timeout))
			break;
		ctl_pause(CTL_LOOK);
	}
	close(fd);
	/* End the line of the bar if the time limit has expired. */
	if (!options->json && !joining.over && isatty(STDERR_FILENO))
		fputc('\n', stderr);
	if (options->json)
		ctl_join_json(&view, joining.over || joining.partly, seconds);
	else
		ctl_join_tell(&view);
	if (joining.partly)
		return CTL_WITHOUT;
	return joining.over ? CTL_OK : CTL_FAILED;
}
