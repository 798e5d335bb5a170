// SPDX-License-Identifier: GPL-2.0
/*
 * net: use an Ethernet interface as programs do. Author: The krdma developers.
 *
 *   ping HOST COUNT SIZE     send COUNT echo requests of SIZE bytes, one after the other, and compare the answers;
 *                            fails if an answer is missing for 2 s
 *   serve PORT COUNT         accept COUNT TCP connections on all addresses, one after the other; read each to its
 *                            end, and answer with the number of bytes and their sum
 *   send HOST PORT BYTES WAY send BYTES bytes by TCP, and compare the answer of "serve". WAY is write, small (many
 *                            short segments) or file (sendfile)
 *   datagrams PORT           answer each UDP datagram with itself, until killed
 *   echo HOST PORT COUNT SIZE   send COUNT datagrams of SIZE bytes, one after the other, and compare the answers
 *
 * The exit status is 0 if all of it has succeeded.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_DATAGRAM 65507

static struct addrinfo *lookup(const char *host, const char *port, int type, int flags)
{
	struct addrinfo hints = { .ai_socktype = type, .ai_flags = flags }, *found;
	int ret = getaddrinfo(host, port, &hints, &found);

	if (ret)
		errx(1, "%s: %s", host ? host : "any", gai_strerror(ret));
	return found;
}

static void set_timeout(int fd, int seconds)
{
	struct timeval limit = { .tv_sec = seconds };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static void fill(uint8_t *data, size_t bytes, unsigned int seed)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = (i * 7 + seed * 131 + (i >> 8)) & 0xff;
}

static int open_ping(const struct addrinfo *to)
{
	int v6 = to->ai_family == AF_INET6;
	int fd = socket(to->ai_family, SOCK_DGRAM, v6 ? (int)IPPROTO_ICMPV6 : (int)IPPROTO_ICMP);

	if (fd < 0)
		err(1, "socket");
	set_timeout(fd, 2);
	if (connect(fd, to->ai_addr, to->ai_addrlen))
		err(1, "connect");
	return fd;
}

static void ping(const char *host, int count, size_t size)
{
	struct addrinfo *to = lookup(host, NULL, SOCK_DGRAM, 0);
	static uint8_t out[MAX_DATAGRAM], in[MAX_DATAGRAM];
	struct icmphdr *hdr = (struct icmphdr *)out;
	size_t bytes = sizeof(*hdr) + size;
	int fd = open_ping(to);

	for (int i = 1; i <= count; i++) {
		memset(out, 0, sizeof(*hdr));
		hdr->type = to->ai_family == AF_INET6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
		hdr->un.echo.sequence = htons(i);
		fill(out + sizeof(*hdr), size, i);
		if (send(fd, out, bytes, 0) != (ssize_t)bytes)
			err(1, "send %zu bytes", bytes);
		ssize_t got = recv(fd, in, sizeof(in), 0);

		if (got < 0)
			err(1, "no answer to echo request %d", i);
		if (got != (ssize_t)bytes || memcmp(in + sizeof(*hdr), out + sizeof(*hdr), size))
			errx(1, "the answer to echo request %d differs: %zd bytes", i, got);
	}
	freeaddrinfo(to);
	close(fd);
}

struct total {
	uint64_t bytes;
	uint64_t sum;
};

/* The sum depends on the order of the bytes. */
static void add(struct total *total, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		total->sum = (total->sum ^ data[i]) * 0x100000001b3ULL;
	total->bytes += bytes;
}

static int listen_on(const char *port)
{
	struct addrinfo *at = lookup("::", port, SOCK_STREAM, AI_PASSIVE);
	int fd = socket(at->ai_family, SOCK_STREAM, 0);
	int yes = 1, no = 0;

	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, 16))
		err(1, "listen");
	freeaddrinfo(at);
	return fd;
}

static void serve(const char *port, int count)
{
	int listener = listen_on(port);
	static uint8_t data[1 << 16];

	while (count--) {
		int fd = accept(listener, NULL, NULL);
		struct total total = {};
		ssize_t got;

		if (fd < 0)
			err(1, "accept");
		while ((got = read(fd, data, sizeof(data))) > 0)
			add(&total, data, got);
		if (got < 0 || write(fd, &total, sizeof(total)) != sizeof(total))
			err(1, "serve");
		close(fd);
	}
	close(listener);
}

static int call(const char *host, const char *port)
{
	struct addrinfo *to = lookup(host, port, SOCK_STREAM, 0);
	int fd = socket(to->ai_family, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket");
	set_timeout(fd, 30);
	if (connect(fd, to->ai_addr, to->ai_addrlen))
		err(1, "connect");
	freeaddrinfo(to);
	return fd;
}

static void put(int fd, const uint8_t *data, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(fd, data, bytes);

		if (done <= 0)
			err(1, "write");
		data += done;
		bytes -= done;
	}
}

static void put_file(int fd, const uint8_t *data, size_t bytes)
{
	FILE *file = tmpfile();
	off_t at = 0;

	if (!file)
		err(1, "tmpfile");
	put(fileno(file), data, bytes);
	while (at < (off_t)bytes)
		if (sendfile(fd, fileno(file), &at, bytes - at) <= 0)
			err(1, "sendfile");
	fclose(file);
}

static void send_all(const char *host, const char *port, uint64_t bytes, const char *way)
{
	struct total want = {}, got = {};
	static uint8_t data[1 << 18];
	int fd = call(host, port), yes = 1;

	if (!strcmp(way, "small"))
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	for (unsigned int n = 0; want.bytes < bytes; n++) {
		size_t left = bytes - want.bytes;
		size_t some = !strcmp(way, "small") ? 1 + n * 37 % 700 : sizeof(data);

		some = some < left ? some : left;
		fill(data, some, n);
		add(&want, data, some);
		if (!strcmp(way, "file"))
			put_file(fd, data, some);
		else
			put(fd, data, some);
	}
	shutdown(fd, SHUT_WR);
	if (recv(fd, &got, sizeof(got), MSG_WAITALL) != sizeof(got))
		err(1, "no answer");
	if (got.bytes != want.bytes || got.sum != want.sum)
		errx(1, "sent %llu bytes with sum %llx, arrived %llu with sum %llx", (unsigned long long)want.bytes,
		     (unsigned long long)want.sum, (unsigned long long)got.bytes, (unsigned long long)got.sum);
	close(fd);
}

static void datagrams(const char *port)
{
	struct addrinfo *at = lookup("::", port, SOCK_DGRAM, AI_PASSIVE);
	int fd = socket(at->ai_family, SOCK_DGRAM, 0), no = 0;
	static uint8_t data[MAX_DATAGRAM];
	struct sockaddr_storage from;

	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen))
		err(1, "bind");
	for (;;) {
		socklen_t length = sizeof(from);
		ssize_t got = recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&from, &length);

		if (got >= 0)
			sendto(fd, data, got, 0, (struct sockaddr *)&from, length);
	}
}

static void echo(const char *host, const char *port, int count, size_t size)
{
	struct addrinfo *to = lookup(host, port, SOCK_DGRAM, 0);
	static uint8_t out[MAX_DATAGRAM], in[MAX_DATAGRAM];
	int fd = socket(to->ai_family, SOCK_DGRAM, 0);

	set_timeout(fd, 2);
	if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen))
		err(1, "connect");
	for (int i = 0; i < count; i++) {
		fill(out, size, i);
		if (send(fd, out, size, 0) != (ssize_t)size)
			err(1, "send");
		if (recv(fd, in, sizeof(in), 0) != (ssize_t)size || memcmp(in, out, size))
			err(1, "the answer to datagram %d differs", i);
	}
	freeaddrinfo(to);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "ping") && argc == 5)
		ping(argv[2], atoi(argv[3]), atoi(argv[4]));
	else if (!strcmp(what, "serve") && argc == 4)
		serve(argv[2], atoi(argv[3]));
	else if (!strcmp(what, "send") && argc == 6)
		send_all(argv[2], argv[3], strtoull(argv[4], NULL, 0), argv[5]);
	else if (!strcmp(what, "datagrams") && argc == 3)
		datagrams(argv[2]);
	else if (!strcmp(what, "echo") && argc == 6)
		echo(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
	else
		errx(2, "usage: see the head of net.c");
	return 0;
}
