// SPDX-License-Identifier: GPL-2.0
/* Print the states of peers and images, as text or as JSON. */
#include <arpa/inet.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"

static const char * const ctl_states[] = {
	[VRFM_PEER_DOWN] = "down",
	[VRFM_PEER_SYNCING] = "syncing",
	[VRFM_PEER_READY] = "ready",
};

/**
 * ctl_state - return the name of a peer's state
 * @peer: peer
 *
 * Return: the name; "?" for a state that only a newer driver has.
 */
const char *ctl_state(const struct vrfm_peer_state *peer)
{
	return peer->state <= VRFM_PEER_READY ? ctl_states[peer->state] : "?";
}

/**
 * ctl_why - return the reason why a peer is down
 * @peer: peer
 *
 * Return: a text, or NULL if the peer is not down or the reason is unknown.
 */
const char *ctl_why(const struct vrfm_peer_state *peer)
{
	static const char * const texts[] = {
		[VRFM_REFUSAL_PROTOCOL] = "refused: it does not speak vrfm's protocol",
		[VRFM_REFUSAL_VERSION] = "refused: it speaks another version",
		[VRFM_REFUSAL_NETWORK] = "refused: it belongs to another network",
		[VRFM_REFUSAL_SIZE] = "refused: its memory has another size",
		[VRFM_REFUSAL_NODE] = "refused: it has the same node id",
		[VRFM_REFUSAL_UNKNOWN] = "refused: no such node at that address is a peer",
		[VRFM_REFUSAL_TWICE] = "refused: another node with that id is linked",
		[VRFM_REFUSAL_BUSY] = "the last link is about to end",
		[VRFM_REFUSAL_KEY] = "it has another key",
		[VRFM_REFUSAL_SECURITY] = "it has another security level",
	};

	if (peer->refusal && peer->refusal < sizeof(texts) / sizeof(*texts))
		return texts[peer->refusal];
	if (peer->error == ESHUTDOWN)
		return "it has left";
	return peer->error ? strerror(peer->error) : NULL;
}

/* Report why a device cannot be opened, and which users may open it. */
static void ctl_explain(const char *path)
{
	struct group *group;
	struct stat st;

	if (errno != EACCES || stat(path, &st)) {
		warn("%s", path);
		return;
	}
	if ((st.st_mode & 0060) != 0060 || !st.st_gid) {
		warnx("only root may open %s", path);
		return;
	}
	group = getgrgid(st.st_gid);
	if (group)
		warnx("only members of group %s may open %s: adduser USER %s, and log in again",
		      group->gr_name, path, group->gr_name);
	else
		warnx("only members of group %u may open %s", st.st_gid, path);
}

/**
 * ctl_open - open a device
 * @unit: N of rfm2gN
 * @flags: flags of open()
 *
 * Return: file descriptor; or -1 after an error message.
 */
int ctl_open(unsigned int unit, int flags)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/rfm2g%u", unit);
	fd = open(path, flags | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		warnx("there is no rfm2g%u", unit);
	else
		ctl_explain(path);
	return -1;
}

/**
 * ctl_command - call an ioctl of vrfm
 * @fd: device
 * @unit: N of rfm2gN
 * @command: number of the command, VRFM_...
 * @arg: argument of the command
 *
 * Return: true; false with errno if the command fails. In this case, an error
 * message has been printed, except if errno is ETIMEDOUT.
 */
bool ctl_command(int fd, unsigned int unit, unsigned long command, void *arg)
{
	int error;

	if (!ioctl(fd, command, arg))
		return true;
	error = errno;
	if (error == ENOTTY)
		warnx("rfm2g%u: its driver is older than this, or not vrfm",
		      unit);
	else if (error != ETIMEDOUT)
		warn("rfm2g%u", unit);
	errno = error;
	return false;
}

/**
 * ctl_look - read the state of a device and its peers
 * @fd: device
 * @unit: N of rfm2gN
 * @view: result
 *
 * Return: true; or false after an error message.
 */
bool ctl_look(int fd, unsigned int unit, struct ctl_view *view)
{
	view->unit = unit;
	view->all = (struct vrfm_peers){
		.peers = (uintptr_t)view->peers,
		.peer_size = sizeof(*view->peers),
		.count = CONF_PEERS,
	};
	return ctl_command(fd, unit, VRFM_PEERS, &view->all);
}

/**
 * ctl_no_device - report that there is no device, and say how to create one
 */
void ctl_no_device(void)
{
	warnx("there is no device: describe one in " CTL_CONF ", then vrfmctl up");
}

/**
 * ctl_devices - find one device, or all devices
 * @only: name of the device; NULL means all devices
 * @units: result: N of each rfm2gN
 *
 * Return: number of devices; 0 after an error message.
 */
int ctl_devices(const char *only, unsigned int *units)
{
	char path[32];
	unsigned int unit;
	int n = 0;

	if (only && !conf_unit(only, &unit)) {
		warnx("%s: devices are rfm2g0 to rfm2g7", only);
		return 0;
	}
	if (only) {
		units[0] = unit;
		return 1;
	}
	for (unit = 0; unit < CONF_DEVICES; unit++) {
		snprintf(path, sizeof(path), "/dev/rfm2g%u", unit);
		if (!access(path, F_OK))
			units[n++] = unit;
	}
	if (!n)
		ctl_no_device();
	return n;
}

/**
 * ctl_which - find the device of a command
 * @only: name of the device; NULL if there is only one device
 * @unit: result: N of rfm2gN
 *
 * Return: true; or false after an error message.
 */
bool ctl_which(const char *only, unsigned int *unit)
{
	unsigned int units[CONF_DEVICES];
	int n = ctl_devices(only, units);

	*unit = units[0];
	if (n > 1)
		warnx("there are %d devices: name one of them", n);
	return n == 1;
}

static const char *ctl_bytes(double bytes, struct ctl_text *text)
{
	static const char units[] = " KMGTPE";
	int unit = 0;

	for (; bytes >= 1000 && units[unit + 1]; unit++)
		bytes /= 1024;
	if (unit)
		snprintf(text->text, sizeof(text->text), "%.*f%c",
			 bytes < 10, bytes, units[unit]);
	else
		snprintf(text->text, sizeof(text->text), "%.0f", bytes);
	return text->text;
}

/**
 * ctl_time - format a time for people
 * @ms: time in ms
 * @text: result, at most 8 characters
 *
 * Return: @text.
 */
const char *ctl_time(uint64_t ms, struct ctl_text *text)
{
	uint64_t s = ms / 1000;

	if (s < 60)
		snprintf(text->text, sizeof(text->text), "%u.%us",
			 (unsigned int)s, (unsigned int)(ms % 1000 / 100));
	else if (s < 3600)
		snprintf(text->text, sizeof(text->text), "%um%us",
			 (unsigned int)(s / 60), (unsigned int)(s % 60));
	else if (s < 86400 * 100)
		snprintf(text->text, sizeof(text->text), "%uh%um",
			 (unsigned int)(s / 3600),
			 (unsigned int)(s % 3600 / 60));
	else
		snprintf(text->text, sizeof(text->text), "%ud",
			 (unsigned int)(s / 86400));
	return text->text;
}

/*
 * Format the age of an unacknowledged message. An age below 10 s is shown in ms,
 * because a few ms are already late.
 */
static const char *ctl_late(uint32_t ms, struct ctl_text *text)
{
	if (ms >= 10000)
		return ctl_time(ms, text);
	snprintf(text->text, sizeof(text->text), "%ums", ms);
	return text->text;
}

/*
 * Check that the name of an interface has no special characters. A name with
 * special characters is not shown.
 */
static bool ctl_is_plain(const char *name)
{
	while (isalnum((unsigned char)*name) || (*name && strchr("._:-", *name)))
		name++;
	return !*name;
}

/*
 * Format the scope of an address, such as "%eth0". If the interface no longer
 * exists, show its number.
 */
static void ctl_scope(uint32_t scope, char *text, size_t room)
{
	char name[IF_NAMESIZE];

	*text = 0;
	if (scope && if_indextoname(scope, name) && ctl_is_plain(name))
		snprintf(text, room, "%%%s", name);
	else if (scope)
		snprintf(text, room, "%%%u", scope);
}

/*
 * Format the address of a peer: "10.0.0.2:5565", "[fd00::2]:5565",
 * "[fe80::2%eth0]:5565" or "any".
 */
static void ctl_address(const struct vrfm_peer_state *peer, char *text,
			size_t room)
{
	char host[INET6_ADDRSTRLEN], scope[IF_NAMESIZE + 1];

	ctl_scope(peer->scope, scope, sizeof(scope));
	if (!peer->family ||
	    !inet_ntop(peer->family, peer->address, host, sizeof(host)))
		snprintf(text, room, "any");
	else
		snprintf(text, room, strchr(host, ':') ? "[%s%s]:%u" : "%s%s:%u",
			 host, scope, peer->port);
}

/*
 * Format a rate in bytes per second, or a number of bytes if RATE is NULL. Show
 * an unknown rate as "-", not as 0.
 */
static const char *ctl_amount(const struct ctl_rate *rate, double a_second,
			      uint64_t bytes, struct ctl_text *text)
{
	if (rate && !rate->known)
		return "-";
	return ctl_bytes(rate ? a_second : bytes, text);
}

/*
 * Print the MTUs of both interfaces if they differ. A difference is a mistake
 * in the configuration of the network, and only reduces the speed.
 */
static void ctl_print_mtu(const struct vrfm_peer_state *peer)
{
	if (peer->local_mtu && peer->peer_mtu &&
	    peer->local_mtu != peer->peer_mtu)
		printf(", path MTU %u: the MTU allows %u here and %u at the peer",
		       peer->path_mtu, peer->local_mtu, peer->peer_mtu);
}

static void ctl_print_peer(const struct vrfm_peer_state *peer,
			   const struct ctl_rate *rate)
{
	struct ctl_text missed, since, late, sent, received;
	const char *why = ctl_why(peer);
	char address[80];

	ctl_address(peer, address, sizeof(address));
	printf(" %4u %-7s %7s %6s%s %3u %6s %6s %6s %5llu %4llu %s%s%s",
	       peer->node, ctl_state(peer), ctl_time(peer->since_ms, &since),
	       ctl_bytes(peer->missed, &missed),
	       peer->flags & VRFM_PEER_MISSES_ALL ? "+" : " ", peer->lag,
	       ctl_late(peer->late_ms, &late),
	       ctl_amount(rate, rate ? rate->sent : 0, peer->bytes_sent, &sent),
	       ctl_amount(rate, rate ? rate->received : 0,
			  peer->bytes_received, &received),
	       peer->links, peer->overloads, address, why ? ", " : "",
	       why ? why : "");
	if (peer->key_id)
		printf(", key %08x", peer->key_id);
	ctl_print_mtu(peer);
	putchar('\n');
}

/**
 * ctl_print_view - print a device and its peers as text
 * @view: state of the device and of its peers
 * @rates: rates of each peer; if it is NULL, print totals instead
 */
void ctl_print_view(const struct ctl_view *view, const struct ctl_rate *rates)
{
	const struct vrfm_peers *all = &view->all;
	struct ctl_text size;
	uint32_t i;

	printf("rfm2g%u: %s, image %016llx", view->unit,
	       ctl_bytes(all->size, &size), all->lineage);
	if (all->image & VRFM_IMAGE_LOADING)
		printf(", loading: %u%%\n", ctl_percent(all));
	else
		printf(", complete\n");
	if (all->count)
		printf(" node state     since missed  lag   late %6s %6s links slow address\n",
		       rates ? "sent/s" : "sent", rates ? "recv/s" : "recv");
	for (i = 0; i < all->count; i++)
		ctl_print_peer(&view->peers[i], rates ? &rates[i] : NULL);
}

static void ctl_json_number(const char *name, unsigned long long value)
{
	printf(",\"%s\":%llu", name, value);
}

static void ctl_json_flag(const char *name, bool value)
{
	printf(",\"%s\":%s", name, ctl_bool(value));
}

static void ctl_json_peer(const struct vrfm_peer_state *peer,
			  const struct ctl_rate *rate)
{
	char address[80];

	ctl_address(peer, address, sizeof(address));
	printf("{\"node\":%u,\"state\":\"%s\",\"address\":\"%s\"",
	       peer->node, ctl_state(peer), address);
	ctl_json_flag("peer_synced", peer->flags & VRFM_PEER_SYNCED);
	ctl_json_flag("same_image", peer->flags & VRFM_PEER_SAME_IMAGE);
	ctl_json_flag("misses_all", peer->flags & VRFM_PEER_MISSES_ALL);
	ctl_json_number("lag", peer->lag);
	ctl_json_number("missed_bytes", peer->missed);
	ctl_json_number("since_ms", peer->since_ms);
	ctl_json_number("links", peer->links);
	ctl_json_number("messages", peer->messages);
	ctl_json_number("received", peer->received);
	ctl_json_number("bytes_sent", peer->bytes_sent);
	ctl_json_number("bytes_received", peer->bytes_received);
	ctl_json_number("overloads", peer->overloads);
	ctl_json_number("protocol_errors", peer->protocol_errors);
	ctl_json_number("events_dropped", peer->events_dropped);
	ctl_json_number("late_ms", peer->late_ms);
	ctl_json_number("path_mtu", peer->path_mtu);
	ctl_json_number("local_mtu", peer->local_mtu);
	ctl_json_number("peer_mtu", peer->peer_mtu);
	ctl_json_number("security", peer->security);
	printf(",\"key\":\"%08x\"", peer->key_id);
	if (ctl_why(peer))
		printf(",\"why\":\"%s\"", ctl_why(peer));
	if (rate && rate->known) {
		ctl_json_number("sent_per_s", rate->sent);
		ctl_json_number("received_per_s", rate->received);
	}
	printf("}");
}

/**
 * ctl_json_view - print a device and its peers as JSON
 * @view: state of the device and of its peers
 * @rates: rates of each peer; if it is NULL, print none
 */
void ctl_json_view(const struct ctl_view *view, const struct ctl_rate *rates)
{
	const struct vrfm_peers *all = &view->all;
	uint32_t i;

	printf("{\"device\":\"rfm2g%u\",\"image\":\"%016llx\"", view->unit,
	       all->lineage);
	ctl_json_flag("loading", all->image & VRFM_IMAGE_LOADING);
	ctl_json_number("loaded", all->loaded);
	ctl_json_number("size", all->size);
	printf(",\"peers\":[");
	for (i = 0; i < all->count; i++) {
		printf("%s", i ? "," : "");
		ctl_json_peer(&view->peers[i], rates ? &rates[i] : NULL);
	}
	printf("]}");
}

/**
 * ctl_show_peers - print the peers of one device, or of all devices
 * @options: options of the command line
 * @only: name of the device; NULL means all devices
 *
 * Return: CTL_OK; or CTL_FAILED after an error message.
 */
enum ctl_result ctl_show_peers(const struct ctl_options *options, const char *only)
{
	unsigned int units[CONF_DEVICES];
	static struct ctl_view view;
	int i, fd, n = ctl_devices(only, units), shown = 0;

	if (options->json)
		printf("[");
	for (i = 0; i < n; i++) {
		fd = ctl_open(units[i], O_RDONLY);
		if (fd < 0 || !ctl_look(fd, units[i], &view)) {
			/* An error message has been printed. */
		} else if (options->json) {
			printf("%s", shown++ ? ",\n" : "");
			ctl_json_view(&view, NULL);
		} else {
			shown++;
			ctl_print_view(&view, NULL);
		}
		if (fd >= 0)
			close(fd);
	}
	if (options->json)
		printf("]\n");
	return n && shown == n ? CTL_OK : CTL_FAILED;
}
