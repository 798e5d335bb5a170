// SPDX-License-Identifier: GPL-2.0
/*
 * Author: The krdma developers
 *
 * switch [-c FILE] [-m RULE]... [-w FILE] FD...: an Ethernet switch between virtual machines
 *
 * Each FD is a datagram socket with one frame in each message, as QEMU's "dgram" and the "fd"
 * transport of User-mode Linux use it. The switch learns addresses. Frames for a port that does not
 * read are queued, and dropped if the queue is full, so that a dead node never stops the others.
 * The switch runs until it is killed.
 *
 * With -c, the switch writes all frames to a capture file, as the nodes send them. With -m, it changes packets of RoCE,
 * see meddle.c. With -w, it takes further rules from a file, see meddle_watch().
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meddle.h"

#define MAX_PORTS	64
#define MAX_FRAME	(65536 + 64)
#define QUEUE_LEN	2048
#define TABLE_SIZE	256
#define BATCH		64
#define ETH_ALEN	6

struct frame {
	size_t len;
	unsigned char data[];
};

struct port {
	struct frame *queue[QUEUE_LEN];
	unsigned int head, count;
};

struct entry {
	unsigned char addr[ETH_ALEN];
	/* Number of the port behind which the address is; -1: free entry. */
	int port;
};

static struct port ports[MAX_PORTS];
static struct pollfd fds[MAX_PORTS];
static struct entry table[TABLE_SIZE];
static int nports;

/*
 * Find the entry of an address. Return a free entry if the address has none,
 * or NULL if the table is full.
 */
static struct entry *lookup(const unsigned char *addr)
{
	unsigned int slot = (addr[3] * 31 + addr[4] * 7 + addr[5]) % TABLE_SIZE;
	int i;

	for (i = 0; i < TABLE_SIZE; i++, slot = (slot + 1) % TABLE_SIZE) {
		struct entry *entry = &table[slot];

		if (entry->port < 0 || !memcmp(entry->addr, addr, ETH_ALEN))
			return entry;
	}
	return NULL;
}

static void learn(const unsigned char *addr, int port)
{
	struct entry *entry = lookup(addr);

	if (!entry || addr[0] & 1)
		return;
	memcpy(entry->addr, addr, ETH_ALEN);
	entry->port = port;
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == ENOBUFS;
}

static void enqueue(int to, const unsigned char *data, size_t len)
{
	struct port *port = &ports[to];
	struct frame *frame;

	if (port->count == QUEUE_LEN)
		return;
	frame = malloc(sizeof(*frame) + len);
	if (!frame)
		return;
	frame->len = len;
	memcpy(frame->data, data, len);
	port->queue[(port->head + port->count++) % QUEUE_LEN] = frame;
	fds[to].events |= POLLOUT;
}

/*
 * Send a frame to a port. If earlier frames are queued for this port, queue the
 * frame behind them, so that frames stay in order.
 */
static void deliver(int to, const unsigned char *data, size_t len)
{
	if (!ports[to].count && (send(fds[to].fd, data, len, 0) >= 0 || !would_block()))
		return;
	enqueue(to, data, len);
}

static void drain(int to)
{
	struct port *port = &ports[to];

	while (port->count) {
		struct frame *frame = port->queue[port->head];

		if (send(fds[to].fd, frame->data, frame->len, 0) < 0 && would_block())
			return;
		free(frame);
		port->head = (port->head + 1) % QUEUE_LEN;
		port->count--;
	}
	fds[to].events &= ~POLLOUT;
}

static void forward(int from, const unsigned char *data, size_t len)
{
	const struct entry *entry = data[0] & 1 ? NULL : lookup(data);
	int i;

	learn(data + ETH_ALEN, from);
	if (entry && entry->port >= 0) {
		if (entry->port != from)
			deliver(entry->port, data, len);
		return;
	}
	for (i = 0; i < nports; i++)
		if (i != from && fds[i].fd >= 0)
			deliver(i, data, len);
}

static void receive(int from)
{
	static unsigned char data[MAX_FRAME];
	int i;

	for (i = 0; i < BATCH; i++) {
		ssize_t len = recv(fds[from].fd, data, sizeof(data), 0);

		if (len < 0 && !would_block() && errno != EINTR)
			fds[from].fd = -1;	/* the node has ended */
		if (len < 0)
			return;
		if (len < 2 * ETH_ALEN)
			continue;
		capture(data, len);
		meddle(from, data, len, forward);
	}
}

static void serve(int i)
{
	if (fds[i].revents & POLLOUT)
		drain(i);
	if (fds[i].revents & POLLIN)
		receive(i);
	else if (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
		fds[i].fd = -1;
}

static void options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "c:m:w:")) != -1) {
		if (option == 'c')
			capture_open(optarg);
		else if (option == 'w')
			meddle_watch(optarg);
		else if (option != 'm' || !meddle_add(optarg))
			errx(2, "usage: switch [-c FILE] [-m RULE]... [-w FILE] FD...");
	}
}

int main(int argc, char **argv)
{
	int i;

	options(argc, argv);
	nports = argc - optind;
	if (nports < 1 || nports > MAX_PORTS)
		errx(2, "at least 1 and at most %d file descriptors", MAX_PORTS);
	for (i = 0; i < TABLE_SIZE; i++)
		table[i].port = -1;
	for (i = 0; i < nports; i++) {
		fds[i].fd = atoi(argv[optind + i]);
		fds[i].events = POLLIN;
		if (fcntl(fds[i].fd, F_SETFL, O_NONBLOCK) < 0)
			err(1, "fd %d", fds[i].fd);
	}
	for (;;) {
		if (poll(fds, nports, -1) < 0 && errno != EINTR)
			err(1, "poll");
		for (i = 0; i < nports; i++)
			if (fds[i].fd >= 0 && fds[i].revents)
				serve(i);
	}
}
