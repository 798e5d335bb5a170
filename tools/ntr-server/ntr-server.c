// SPDX-License-Identifier: GPL-2.0
/*
 * ntr-server: gives virtual machines a shared memory and doorbells. The machines have the device
 * "ivshmem-doorbell" of QEMU. Author: The krdma developers.
 *
 * The protocol is that of docs/specs/ivshmem-spec.rst of QEMU. The server only sends. Each message
 * is a number of 64 bits, in little-endian byte order, some with a file descriptor:
 *
 *	0				version of the protocol
 *	ID				number of the machine
 *	-1, memory			the shared memory
 *	ID of another, eventfd		another machine is there; one message for each vector
 *	own ID, eventfd			own interrupts; one message for each vector
 *	ID of another			another machine has gone
 *
 * A machine that does not read is disconnected, so no machine can hold up the others.
 *
 * A number is not used again before all others were used. QEMU (7.2, hw/misc/ivshmem.c:
 * close_peer_eventfds()) frees the doorbells of a machine that has gone, and writes to the freed
 * memory if its number comes again.
 */
#include <endian.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../../include/version.h"

/* Numbers of members, lanes and sizes that the module ntrdma can use. */
#define MACHINES 16
#define MAX_VECTORS 9
#define MIN_SIZE (256ULL * 1024)
#define MAX_SIZE (1024ULL * 1024 * 1024 * 1024)

static const char help_text[] =
"ntr-server [-m FILE] [-l SIZE] [-n COUNT] [-g GROUP] SOCKET\n"
"\n"
"Give virtual machines a shared memory and doorbells, for the module ntrdma.\n"
"Start each machine with these options of QEMU:\n"
"  -chardev socket,id=ntr,path=SOCKET -device ivshmem-doorbell,chardev=ntr,vectors=COUNT\n"
"\n"
"  -m, --memory=FILE    share this file, in /dev/shm or on hugetlbfs (anonymous\n"
"                       memory)\n"
"  -l, --size=SIZE      size of the memory, a power of 2; K, M or G may follow\n"
"                       (16M, or the size of FILE)\n"
"  -n, --vectors=COUNT  doorbells of each machine, 1 to 9 (5: 4 lanes, Ethernet)\n"
"  -g, --group=GROUP    let members of GROUP start machines, not only the user of\n"
"                       the server\n"
"  -h, --help           print this text\n"
"  -V, --version        print the version\n"
"\n"
"The server runs until SIGTERM or SIGINT. The machines then keep the memory and\n"
"the doorbells that they have.\n";

/* Numbers of machines are less than this. */
#define IDS 65536

/**
 * struct machine - a connected machine
 * @id: number
 * @fd: socket, or -1
 * @bell: eventfds
 */
struct machine {
	int id;
	int fd;
	int bell[MAX_VECTORS];
};

/**
 * struct server - all that the server has
 * @listen: socket that machines connect to
 * @memory: file that they share
 * @vectors: number of doorbells of each machine
 * @next_id: number of the next machine, if it is free
 * @machine: machines
 */
struct server {
	int listen;
	int memory;
	int vectors;
	int next_id;
	struct machine machine[MACHINES];
};

static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/*
 * Send a number, and a file descriptor unless FD is -1. Return false if the machine does not take
 * it.
 */
static bool tell(const struct machine *machine, int64_t number, int fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {};
	uint64_t wire = htole64(number);
	struct iovec data = { .iov_base = &wire, .iov_len = sizeof(wire) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	return sendmsg(machine->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(wire);
}

/* Send all doorbells of OTHER to MACHINE. */
static bool tell_bells(const struct server *server, const struct machine *machine,
		       const struct machine *other)
{
	int i;

	for (i = 0; i < server->vectors; i++)
		if (!tell(machine, other->id, other->bell[i]))
			return false;
	return true;
}

static void forget(const struct server *server, struct machine *machine, const char *why)
{
	int i;

	close(machine->fd);
	machine->fd = -1;
	for (i = 0; i < server->vectors; i++)
		close(machine->bell[i]);
	say("machine %d has gone: %s", machine->id, why);
}

static void leave(struct server *server, struct machine *machine, const char *why)
{
	int id = machine->id, i;

	forget(server, machine, why);
	for (i = 0; i < MACHINES; i++)
		if (server->machine[i].fd >= 0 && !tell(&server->machine[i], id, -1))
			leave(server, &server->machine[i], "it does not read");
}

static bool make_bells(const struct server *server, struct machine *machine)
{
	int i;

	for (i = 0; i < server->vectors; i++) {
		machine->bell[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (machine->bell[i] >= 0)
			continue;
		warn("eventfd");
		while (i-- > 0)
			close(machine->bell[i]);
		return false;
	}
	return true;
}

/* Tell a new machine all that it needs. */
static bool welcome(const struct server *server, const struct machine *machine)
{
	const struct machine *other;

	if (!tell(machine, 0, -1) || !tell(machine, machine->id, -1) ||
	    !tell(machine, -1, server->memory))
		return false;
	for (other = server->machine; other < server->machine + MACHINES; other++)
		if (other != machine && other->fd >= 0 && !tell_bells(server, machine, other))
			return false;
	return tell_bells(server, machine, machine);
}

static bool is_used(const struct server *server, int id)
{
	int i;

	for (i = 0; i < MACHINES; i++)
		if (server->machine[i].fd >= 0 && server->machine[i].id == id)
			return true;
	return false;
}

static struct machine *new_machine(struct server *server)
{
	struct machine *machine = server->machine;

	while (machine->fd >= 0)
		if (++machine == server->machine + MACHINES)
			return NULL;
	while (is_used(server, server->next_id))
		server->next_id = (server->next_id + 1) % IDS;
	machine->id = server->next_id;
	server->next_id = (server->next_id + 1) % IDS;
	return machine;
}

static void join(struct server *server, int fd)
{
	struct machine *machine = new_machine(server);
	struct machine *other;

	if (!machine || !make_bells(server, machine)) {
		say("a machine is refused: %s",
		    machine ? "no memory for its doorbells" : "16 are there");
		close(fd);
		return;
	}
	machine->fd = fd;
	if (!welcome(server, machine)) {
		forget(server, machine, "it does not read");
		return;
	}
	say("machine %d is there", machine->id);
	/* When a machine leaves, the new one is notified, and may turn out to have gone. */
	for (other = server->machine;
	     other < server->machine + MACHINES && machine->fd >= 0; other++)
		if (other != machine && other->fd >= 0 && !tell_bells(server, other, machine))
			leave(server, other, "it does not read");
}

/* Machines send nothing, so whatever arrives means that the machine has gone. */
static void serve(struct server *server, int stop)
{
	struct pollfd polled[MACHINES + 2];
	int i, fd;

	for (;;) {
		for (i = 0; i < MACHINES; i++)
			polled[i] = (struct pollfd){
				.fd = server->machine[i].fd,
				.events = POLLIN,
			};
		polled[MACHINES] = (struct pollfd){ .fd = server->listen, .events = POLLIN };
		polled[MACHINES + 1] = (struct pollfd){ .fd = stop, .events = POLLIN };
		if (poll(polled, MACHINES + 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			err(1, "poll");
		}
		if (polled[MACHINES + 1].revents)
			return;
		for (i = 0; i < MACHINES; i++)
			if (polled[i].revents && server->machine[i].fd == polled[i].fd)
				leave(server, &server->machine[i], "it has disconnected");
		if (!polled[MACHINES].revents)
			continue;
		fd = accept4(server->listen, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			join(server, fd);
	}
}

/*
 * Open the memory. SIZE 0: the size of the file, or 16 MiB. A file that has contents keeps them.
 */
static int open_memory(const char *path, unsigned long long size)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) :
			memfd_create("ntr", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		err(1, "%s", path ? path : "memory");
	if (size && status.st_size && size != (unsigned long long)status.st_size)
		errx(2, "%s has %lld bytes, not %llu", path, (long long)status.st_size, size);
	if (!size)
		size = status.st_size ? (unsigned long long)status.st_size : 16ULL << 20;
	if (size & (size - 1) || size < MIN_SIZE || size > MAX_SIZE)
		errx(2, "the size must be a power of 2, 256K to 1T: %llu", size);
	if (!status.st_size && ftruncate(fd, size))
		err(1, "%s: cannot set the size to %llu", path ? path : "memory", size);
	/* A machine that shrinks the memory would end all others by SIGBUS. */
	if (!path && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		err(1, "cannot seal the memory");
	return fd;
}

/* Remove a socket that no server uses any more. */
static void remove_stale(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat status;

	if (fd < 0)
		err(1, "socket");
	if (connect(fd, (const void *)address, sizeof(*address)) && errno == ECONNREFUSED &&
	    !stat(address->sun_path, &status) && S_ISSOCK(status.st_mode))
		unlink(address->sun_path);
	close(fd);
}

/*
 * The user of the server and a group may connect, and nobody else, because a machine can write to
 * the memory of all.
 */
static int listen_at(const char *path, const char *group)
{
	const struct group *found = group ? getgrnam(group) : NULL;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	if (strlen(path) >= sizeof(address.sun_path))
		errx(2, "the path of the socket is too long: %s", path);
	if (group && !found)
		errx(2, "no group %s", group);
	strcpy(address.sun_path, path);
	remove_stale(&address);
	umask(0177);
	if (bind(fd, (const void *)&address, sizeof(address)))
		err(1, "%s", path);
	if (found && (chown(path, -1, found->gr_gid) || chmod(path, 0660)))
		err(1, "%s: group %s", path, group);
	if (listen(fd, MACHINES))
		err(1, "%s", path);
	return fd;
}

/* Read a number, which K, M or G may follow. */
static unsigned long long number(const char *text, unsigned long long max, const char *what)
{
	static const char units[] = "KMG";
	unsigned long long value;
	const char *unit;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit && value < 1ULL << 32) {
		value <<= 10 * (unit - units + 1);
		end++;
	}
	if (errno || end == text || *end || *text == '-' || !value || value > max)
		errx(2, "invalid %s: %s", what, text);
	return value;
}

/*
 * Notify a service manager that started the server that machines can connect. See sd_notify(3): the
 * message is a datagram, and a path that begins with "@" is abstract.
 */
static void notify_ready(void)
{
	static const char message[] = "READY=1";
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (!length || length >= sizeof(address.sun_path))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	length += offsetof(struct sockaddr_un, sun_path);
	if (fd < 0 || sendto(fd, message, strlen(message), MSG_NOSIGNAL, (const void *)&address,
			     length) < 0)
		warn("%s", path);
	if (fd >= 0)
		close(fd);
}

static int stop_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		err(1, "signalfd");
	return fd;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "memory", required_argument, NULL, 'm' },
		{ "size", required_argument, NULL, 'l' },
		{ "vectors", required_argument, NULL, 'n' },
		{ "group", required_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{}
	};
	struct server server = { .vectors = 5 };
	const char *memory = NULL, *group = NULL;
	unsigned long long size = 0;
	int option, i;

	while ((option = getopt_long(argc, argv, "m:l:n:g:hV", options, NULL)) != -1) {
		switch (option) {
		case 'm':
			memory = optarg;
			break;
		case 'l':
			size = number(optarg, MAX_SIZE, "size");
			break;
		case 'n':
			server.vectors = number(optarg, MAX_VECTORS, "number of vectors");
			break;
		case 'g':
			group = optarg;
			break;
		case 'h':
			fputs(help_text, stdout);
			return 0;
		case 'V':
			puts("ntr-server " KRDMA_VERSION);
			return 0;
		default:
			return 2;
		}
	}
	if (optind != argc - 1)
		errx(2, "usage: ntr-server [-m FILE] [-l SIZE] [-n COUNT] [-g GROUP] SOCKET");
	for (i = 0; i < MACHINES; i++)
		server.machine[i].fd = -1;
	server.memory = open_memory(memory, size);
	server.listen = listen_at(argv[optind], group);
	i = stop_signals();
	say("listening at %s", argv[optind]);
	notify_ready();
	serve(&server, i);
	unlink(argv[optind]);
	return 0;
}
