// SPDX-License-Identifier: GPL-2.0
/* Show the peers repeatedly, with the rates of their data. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"

/**
 * struct ctl_seen - last known state of a device
 * @fd: file descriptor of the device
 * @view: state of the device and of its peers
 * @at: time at which @view was read, in seconds; 0 if it was not read yet
 */
struct ctl_seen {
	int fd;
	struct ctl_view view;
	double at;
};

static double ctl_rate(uint64_t now, uint64_t before, double seconds)
{
	return now > before && seconds > 0 ? (now - before) / seconds : 0;
}

static const struct vrfm_peer_state *ctl_find(const struct ctl_view *view,
					      uint32_t node)
{
	uint32_t i;

	for (i = 0; i < view->all.count; i++)
		if (view->peers[i].node == node)
			return &view->peers[i];
	return NULL;
}

/*
 * Calculate the rates since the last state. Match peers by their IDs, because
 * peers may have been added and removed.
 */
static void ctl_rates(const struct ctl_view *now, const struct ctl_seen *seen,
		      double seconds, struct ctl_rate *rates)
{
	const struct vrfm_peer_state *peer, *before;
	uint32_t i;

	for (i = 0; i < now->all.count; i++) {
		peer = &now->peers[i];
		before = seen->at ? ctl_find(&seen->view, peer->node) : NULL;
		rates[i] = (struct ctl_rate){ };
		if (!before)
			continue;
		rates[i].known = true;
		rates[i].sent = ctl_rate(peer->bytes_sent, before->bytes_sent,
					 seconds);
		rates[i].received = ctl_rate(peer->bytes_received,
					     before->bytes_received, seconds);
	}
}

static bool ctl_top_device(struct ctl_seen *seen, unsigned int unit, bool json)
{
	static struct ctl_rate rates[CONF_PEERS];
	static struct ctl_view view;
	double now = ctl_now();

	if (!ctl_look(seen->fd, unit, &view))
		return false;
	ctl_rates(&view, seen, now - seen->at, rates);
	if (json) {
		ctl_json_view(&view, rates);
		printf("\n");
	} else {
		ctl_print_view(&view, rates);
	}
	seen->view = view;
	seen->at = now;
	return true;
}

/*
 * Begin a round. If @redraw is true, clear the screen of the terminal. If it is
 * false, print an empty line between two rounds.
 */
static void ctl_redraw(bool redraw, unsigned int round)
{
	if (redraw)
		printf("\033[H\033[J");
	else if (round)
		printf("\n");
}

static bool ctl_top_round(struct ctl_seen *seen, const unsigned int *units,
			  int n, bool json)
{
	int i;

	for (i = 0; i < n; i++)
		if (!ctl_top_device(&seen[i], units[i], json))
			return false;
	return !fflush(stdout);
}

/**
 * ctl_top - show the peers of one device, or of all devices, repeatedly
 * @options: options of the command line
 * @only: name of the device; NULL means all devices
 *
 * Return: CTL_OK after @options->count rounds; CTL_FAILED after an error
 * message.
 */
enum ctl_result ctl_top(const struct ctl_options *options, const char *only)
{
	static struct ctl_seen seen[CONF_DEVICES];
	unsigned int units[CONF_DEVICES], round;
	bool redraw = !options->json && isatty(STDOUT_FILENO);
	int i, n = ctl_devices(only, units);

	for (i = 0; i < n; i++) {
		seen[i].fd = ctl_open(units[i], O_RDONLY);
		if (seen[i].fd < 0)
			return CTL_FAILED;
	}
	for (round = 0; n; round++) {
		if (round)
			ctl_pause(options->interval);
		if (!options->json)
			ctl_redraw(redraw, round);
		if (!ctl_top_round(seen, units, n, options->json))
			return CTL_FAILED;
		if (round + 1 == options->count)
			return CTL_OK;
	}
	return CTL_FAILED;
}
