// SPDX-License-Identifier: GPL-2.0
/*
 * own DEVICE COMMAND ARGUMENT...: vrfm's own commands, for scenarios. Author: The krdma developers.
 *
 *   bad PEERS                       pass invalid and valid arguments; print a line for each case
 *   alone                           watch on a device without other writers; print a line for each case
 *   waits                           wait for an event by several files and processes; print a line for each case
 *   busy                            watch while a process repeats the same write; print a line for each case
 *   silent OFFSET                   watch while a peer that may write directly is silent; print a line for each case
 *   flush MS                        print errno, and the numbers of peers that are reached, behind, and absent
 *   watch OFFSET LENGTH MS [VALUE]  wait at most MS until a byte differs from the present data, or from VALUE; print
 *                                   errno, and the offset of the byte
 *   claim OFFSET LENGTH [FILE]      print errno; with FILE, keep the claim until FILE exists, then release it
 *   peers                           print the state of the image, and of each peer
 *   gone FILE                       create FILE, wait until the device is removed, and try all commands; print a line
 *                                   for each case
 *
 * This file defines the interface itself, and does not include include/uapi/vrfm.h, to detect a mistake in that header.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FLUSH 0xC018EA01
#define WATCH 0xC020EA02
#define UNWATCH 0x0000EA03
#define PEERS 0xC030EA04
#define CLAIM 0x4010EA05
#define UNCLAIM 0x4010EA06
#define POLL_EVENTS 0x4010EA07
#define UNWAIT 0x4008EA08
#define WAIT_FOR_EVENT 0xC018EB17
#define STATUS_OFFSET 0x100000000
#define STATUS_SIZE (64 + 256 * 64)
#define FOREVER 0xFFFFFFFF
#define MOST 65536
#define PEER_SIZE 120
#define BAD_ADDRESS ((void *)8)

struct flush { uint32_t timeout, flags, reached, behind, absent, reserved; };
struct watch { uint32_t offset, length; uint64_t old; uint32_t timeout, flags, changed, reserved; };
struct claim { uint32_t offset, length, flags, reserved; };
struct poll_events { uint32_t in, pri, flags, reserved; };
struct event { uint32_t data, type, timeout; uint16_t node, pad; uint64_t driver; };
struct unwait { uint32_t events, flags; };
struct peers { uint64_t peers; uint32_t peer_size, count, flags, image; uint64_t loaded, size, lineage; };
struct peer {
	uint32_t node, state, flags, lag;
	uint64_t missed, since_ms, links, messages, received, bytes_sent, bytes_received, overloads, protocol_errors,
		 events_dropped;
	uint16_t family, port;
	uint32_t scope;
	uint8_t address[16];
	uint32_t late_ms, error, refusal, path_mtu, local_mtu, peer_mtu;
};

static char *path;
static int fd;
static uint64_t size;
static volatile uint8_t *memory;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static void pause_ms(unsigned int ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void is(int good, const char *text)
{
	printf("%d %s\n", !good, text);
	fflush(stdout);
}

/* Call a command. Return its errno, or 0. */
static int call(unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static void gives(int wanted, int got, const char *text)
{
	if (got == wanted)
		printf("0 %s: %s\n", text, got ? strerrorname_np(got) : "0");
	else
		printf("1 %s: %s instead of %s\n", text, strerrorname_np(got), strerrorname_np(wanted));
	fflush(stdout);
}

static int watch_at(uint32_t offset, uint32_t length, uint32_t timeout, const void *old, uint32_t *changed)
{
	struct watch watch = { .offset = offset, .length = length, .timeout = timeout, .old = (uintptr_t)old };
	int ret = call(WATCH, &watch);

	if (changed)
		*changed = watch.changed;
	return ret;
}

static void bad_numbers(void)
{
	static char bytes[512];

	gives(ENOTTY, call(0x0000EA00, bytes), "a command 0");
	gives(ENOTTY, call(0x0000EA05, bytes), "a command 5");
	gives(ENOTTY, call(0xC018EAFF, bytes), "unknown command 255");
	gives(ENOTTY, call(0xC014EA01, bytes), "flush of another size");
	gives(ENOTTY, call(0x4020EA02, bytes), "watch in one direction");
	gives(ENOTTY, call(0xC030EA03, bytes), "unwatch with a size");
	gives(ENOTTY, call(0xC018EE01, bytes), "flush of another magic number");
}

static void bad_flush(void)
{
	gives(EFAULT, call(FLUSH, BAD_ADDRESS), "flush: a wrong address");
	gives(EINVAL, call(FLUSH, &(struct flush){ .flags = 1 }), "flush: a flag");
	gives(EINVAL, call(FLUSH, &(struct flush){ .reserved = 1 << 31 }), "flush: a reserved word");
	gives(0, call(FLUSH, &(struct flush){ .timeout = 20000, .reached = 9, .behind = 9, .absent = 9 }),
	      "flush: results that are not zero");
	gives(0, call(FLUSH, &(struct flush){ .timeout = FOREVER }), "flush: without a timeout");
}

static void bad_watch(void)
{
	struct watch *readonly = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t no = ~*(volatile uint32_t *)memory, wrong_size = size;

	gives(EFAULT, call(WATCH, BAD_ADDRESS), "watch: a wrong address");
	gives(EINVAL, call(WATCH, readonly), "watch: zeroes");
	gives(EINVAL, call(WATCH, &(struct watch){ .length = 4, .flags = 2 }), "watch: a flag");
	gives(EINVAL, call(WATCH, &(struct watch){ .length = 4, .reserved = 1 }), "watch: a reserved word");
	gives(EINVAL, watch_at(0, 0, 0, NULL, NULL), "watch: no bytes");
	gives(EINVAL, watch_at(0, MOST + 1, 0, NULL, NULL), "watch: too many bytes");
	gives(EINVAL, watch_at(0, FOREVER, 0, NULL, NULL), "watch: 4294967295 bytes");
	gives(EINVAL, watch_at(wrong_size, 1, 0, NULL, NULL), "watch: behind the end");
	gives(EINVAL, watch_at(wrong_size - 3, 4, 0, NULL, NULL), "watch: across the end");
	gives(EINVAL, watch_at(0xFFFFFFFF, 2, 0, NULL, NULL), "watch: around 32 bits");
	gives(EFAULT, watch_at(0, 4, 0, BAD_ADDRESS, NULL), "watch: old bytes at a wrong address");
	gives(0, watch_at(0, 4, 0, &no, NULL), "watch: old bytes that differ");
	gives(ETIMEDOUT, watch_at(wrong_size - 4, 4, 0, NULL, NULL), "watch: the last word");
	gives(0, call(UNWATCH, BAD_ADDRESS), "unwatch: without a watcher, and with an argument");
}

static void bad_claim(unsigned long cmd, const char *what)
{
	uint32_t wrong_size = size;
	char text[80];

	snprintf(text, sizeof(text), "%s: a wrong address, zeroes, a flag, a reserved word", what);
	is(call(cmd, BAD_ADDRESS) == EFAULT && call(cmd, &(struct claim){ }) == EINVAL &&
	   call(cmd, &(struct claim){ .length = 4, .flags = 1 }) == EINVAL &&
	   call(cmd, &(struct claim){ .length = 4, .reserved = 1 }) == EINVAL, text);
	snprintf(text, sizeof(text), "%s: behind the end, across it, around 32 bits", what);
	is(call(cmd, &(struct claim){ .offset = wrong_size, .length = 1 }) == EINVAL &&
	   call(cmd, &(struct claim){ .offset = wrong_size - 3, .length = 4 }) == EINVAL &&
	   call(cmd, &(struct claim){ .offset = 0xFFFFFFFF, .length = 2 }) == EINVAL, text);
	snprintf(text, sizeof(text), "%s: all of the memory, twice", what);
	is(!call(cmd, &(struct claim){ .length = wrong_size }) && !call(cmd, &(struct claim){ .length = wrong_size }),
	   text);
}

static int peers_at(void *to, uint32_t peer_size, uint32_t count, uint32_t flags, uint32_t *n)
{
	struct peers peers = { .peers = (uintptr_t)to, .peer_size = peer_size, .count = count, .flags = flags };
	int ret = call(PEERS, &peers);

	*n = peers.count;
	return ret;
}

static int all_are(const uint8_t *bytes, int n, uint8_t value)
{
	while (n > 0 && *bytes == value)
		bytes++, n--;
	return !n;
}

static void bad_peers(uint32_t wanted)
{
	static uint8_t room[300 * 256];
	uint32_t n;

	gives(EFAULT, call(PEERS, BAD_ADDRESS), "peers: a wrong address");
	gives(EINVAL, peers_at(room, PEER_SIZE, 255, 1, &n), "peers: a flag");
	gives(EINVAL, peers_at(room, 0, 255, 0, &n), "peers: a size of 0");
	gives(EINVAL, peers_at(room, PEER_SIZE - 1, 255, 0, &n), "peers: a size below that of the first version");
	gives(E2BIG, peers_at(room, 4097, 1, 0, &n), "peers: a size above a page");
	gives(wanted ? EFAULT : 0, peers_at(BAD_ADDRESS, PEER_SIZE, 255, 0, &n), "peers: room at a wrong address");
	gives(0, peers_at(NULL, PEER_SIZE, 0, 0, &n), "peers: no room");
	is(n == wanted, "peers: without room, the number of peers is returned");
	memset(room, 0xAA, sizeof(room));
	gives(0, peers_at(room, PEER_SIZE, FOREVER, 0, &n), "peers: more room than peers");
	is(all_are(room + n * PEER_SIZE, 1000, 0xAA), "peers: the room behind the last peer is unchanged");
	memset(room, 0xAA, sizeof(room));
	gives(0, peers_at(room, PEER_SIZE, 1, 0, &n), "peers: room for one");
	is(n == wanted && all_are(room + PEER_SIZE, 1000, 0xAA), "peers: the room behind one peer is unchanged");
	memset(room, 0xAA, sizeof(room));
	gives(0, peers_at(room, 200, 255, 0, &n), "peers: a size of a later version");
	is(all_are(room + sizeof(struct peer), n ? 200 - sizeof(struct peer) : 0, 0),
	   "peers: unknown members of a later version are zero");
	is(all_are(room + n * 200, 1000, 0xAA), "peers: the room behind the last peer of a later version is unchanged");
}

static void bad_poll_events(void)
{
	gives(EFAULT, call(POLL_EVENTS, BAD_ADDRESS), "poll events: a wrong address");
	gives(EINVAL, call(POLL_EVENTS, &(struct poll_events){ .in = 1 << 12 }), "poll events: event 12");
	gives(EINVAL, call(POLL_EVENTS, &(struct poll_events){ .pri = 1U << 31 }), "poll events: event 31");
	gives(EINVAL, call(POLL_EVENTS, &(struct poll_events){ .flags = 1 }), "poll events: a flag");
	gives(EINVAL, call(POLL_EVENTS, &(struct poll_events){ .reserved = 1 }), "poll events: a reserved word");
	gives(0, call(POLL_EVENTS, &(struct poll_events){ .in = 0xfff, .pri = 0xfff }),
	      "poll events: all events twice");
	gives(0, call(POLL_EVENTS, &(struct poll_events){ .in = 0x1f, .pri = 0xfe0 }), "poll events: the defaults");
}

static void bad_unwait(void)
{
	gives(EFAULT, call(UNWAIT, BAD_ADDRESS), "unwait: a wrong address");
	gives(EINVAL, call(UNWAIT, &(struct unwait){ .events = 1 << 12 }), "unwait: event 12");
	gives(EINVAL, call(UNWAIT, &(struct unwait){ .events = 1, .flags = 1 }), "unwait: a flag");
	gives(0, call(UNWAIT, &(struct unwait){ .events = 0xfff }), "unwait: without a wait for any event");
	gives(0, call(UNWAIT, &(struct unwait){ }), "unwait: no event");
}

static int map_errno(size_t length, int prot, int flags, off_t offset)
{
	void *map = mmap(NULL, length, prot, flags, fd, offset);

	if (map == MAP_FAILED)
		return errno;
	munmap(map, length);
	return 0;
}

static void bad_status(void)
{
	const size_t page = sysconf(_SC_PAGESIZE), length = (STATUS_SIZE + page - 1) / page * page;
	void *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, STATUS_OFFSET);
	uint32_t *head = map;

	gives(0, map == MAP_FAILED ? errno : 0, "status page: mapped");
	if (map == MAP_FAILED)
		return;
	gives(0, head[0] == 1 && head[1] == STATUS_SIZE && head[2] == 64 && head[3] == 64 && head[4] == 256 ?
	      0 : EINVAL, "status page: version and sizes in its head");
	gives(EACCES, mprotect(map, page, PROT_READ | PROT_WRITE) ? errno : 0, "status page: mprotect() to writable");
	munmap(map, length);
	gives(EACCES, map_errno(page, PROT_READ | PROT_WRITE, MAP_SHARED, STATUS_OFFSET),
	      "status page: mapped to be written");
	gives(EINVAL, map_errno(page, PROT_READ | PROT_WRITE, MAP_PRIVATE, STATUS_OFFSET),
	      "status page: mapped as a writable copy");
	gives(EINVAL, map_errno(length + page, PROT_READ, MAP_SHARED, STATUS_OFFSET),
	      "status page: mapped beyond its end");
	gives(EAGAIN, map_errno(page, PROT_READ, MAP_SHARED, STATUS_OFFSET + page),
	      "status page: mapped from its second page on");
}

static int do_bad(char **arg)
{
	int rw = fd;

	bad_numbers();
	bad_flush();
	bad_watch();
	bad_claim(CLAIM, "claim");
	bad_claim(UNCLAIM, "unclaim");
	bad_peers(atoi(arg[0]));
	bad_poll_events();
	bad_unwait();
	bad_status();
	fd = open(path, O_RDONLY);
	gives(0, call(FLUSH, &(struct flush){ .timeout = 20000 }), "flush: through a read-only file");
	gives(ETIMEDOUT, watch_at(0, 4, 0, NULL, NULL), "watch: through a read-only file");
	gives(0, call(PEERS, &(struct peers){ .peer_size = PEER_SIZE }), "peers: through a read-only file");
	close(fd);
	fd = rw;
	return 0;
}

/* ---- a thread that acts while another one watches ---- */

enum deed { NOTHING, CALL, STORE, SAME, BESIDE, UNWATCHED, SIGNAL, CLOSE };

struct other {
	pthread_t thread, watcher;
	enum deed deed;
	uint32_t offset;
};

static void handler(int number)
{
	(void)number;
}

static void *other_run(void *arg)
{
	struct other *other = arg;
	uint8_t value = memory[other->offset] + 1;

	pause_ms(150);
	if (other->deed == CALL)
		pwrite(fd, &value, 1, other->offset);
	else if (other->deed == STORE)
		memory[other->offset] = value;
	else if (other->deed == SAME)
		pwrite(fd, (const void *)&memory[other->offset], 1, other->offset);
	else if (other->deed == BESIDE)
		pwrite(fd, "beside", 6, other->offset + 8);
	else if (other->deed == UNWATCHED)
		ioctl(fd, UNWATCH);
	else if (other->deed == SIGNAL)
		pthread_kill(other->watcher, SIGUSR1);
	else if (other->deed == CLOSE)
		close(fd);
	return NULL;
}

/*
 * Watch LENGTH bytes from FIRST on. At the same time another thread does DEED with the
 * byte at OFFSET. Check that the watch returns errno WANTED, in time.
 */
static void during(enum deed deed, uint32_t first, uint32_t length, uint32_t offset, int wanted, const char *text)
{
	struct other other = { .deed = deed, .offset = offset, .watcher = pthread_self() };
	uint64_t begin = now_ms(), took;
	uint32_t changed;
	int ret;

	pthread_create(&other.thread, NULL, other_run, &other);
	ret = watch_at(first, length, wanted == ETIMEDOUT ? 500 : 20000, NULL, &changed);
	took = now_ms() - begin;
	pthread_join(other.thread, NULL);
	gives(wanted, ret, text);
	if (!ret)
		is(changed == offset, "watch: offset of the change");
	is(took >= (wanted == ETIMEDOUT ? 375 : 100) && took < 15000, "watch: in time");
}

static int killed(uint32_t length)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		watch_at(0, length, FOREVER, NULL, NULL);
		_exit(3);
	}
	pause_ms(200);
	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

/* Start a process that repeats the same write, for at most ten seconds. */
static pid_t busy_writer(void)
{
	uint64_t end = now_ms() + 10000;
	static uint8_t same[MOST];
	pid_t pid = fork();

	if (pid)
		return pid;
	memcpy(same, (const void *)memory, MOST);
	while (now_ms() < end)
		pwrite(fd, same, MOST, 0);
	_exit(0);
}

static int do_busy(char **arg)
{
	uint64_t begin = now_ms();
	pid_t pid = busy_writer();
	uint64_t took;
	char text[80];

	(void)arg;
	pause_ms(100);
	gives(ETIMEDOUT, watch_at(0, MOST, 500, NULL, NULL), "watch: a process repeats the same write");
	took = now_ms() - begin;
	snprintf(text, sizeof(text), "watch: in time during repeated writes: %u ms", (unsigned int)took);
	is(took < 3000, text);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	begin = now_ms();
	pid = busy_writer();
	is(killed(MOST) && now_ms() - begin < 3000, "watch: killed during repeated writes");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

/*
 * Change a word a thousand times. The watcher passes the last value that it has
 * seen, so that it misses no change between two watches.
 */
static void *turns_run(void *arg)
{
	uint32_t n;

	(void)arg;
	for (n = 1; n <= 1000; n++) {
		pwrite(fd, &n, sizeof(n), 8192);
		if (n % 100 == 0)
			pause_ms(5);
	}
	return NULL;
}

static void turns(void)
{
	uint32_t seen = 0, looks = 0;
	pthread_t thread;

	pwrite(fd, &seen, sizeof(seen), 8192);
	pthread_create(&thread, NULL, turns_run, NULL);
	while (seen != 1000 && !watch_at(8192, 4, 20000, &seen, NULL)) {
		seen = *(volatile uint32_t *)(memory + 8192);
		looks++;
	}
	pthread_join(thread, NULL);
	is(seen == 1000 && looks, "watch: no change between reading and watching is missed");
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
}

static int do_alone(char **arg)
{
	(void)arg;
	catch_signals();
	during(NOTHING, 0, 4, 0, ETIMEDOUT, "watch: no change");
	during(CALL, 100, 4, 102, 0, "watch: a call changes a byte");
	during(CALL, 103, 1, 103, 0, "watch: a call changes the only byte");
	during(CALL, 1000, MOST, 1000 + MOST - 1, 0, "watch: a call changes the last byte of the longest range");
	during(CALL, 4090, 4, 4093, 0, "watch: a call changes the last byte of a page");
	during(CALL, 4094, 4, 4096, 0, "watch: a call changes the first byte of the second page");
	during(STORE, 200, 64, 250, 0, "watch: a store into a mapping");
	during(STORE, 200, 64, 251, 0, "watch: a second store into a mapping");
	during(SAME, 300, 4, 300, ETIMEDOUT, "watch: a write of the same byte");
	during(BESIDE, 400, 8, 400, ETIMEDOUT, "watch: a write beside the range");
	during(UNWATCHED, 0, 4, 0, EIDRM, "watch: ended by unwatch");
	during(SIGNAL, 0, 4, 0, EINTR, "watch: a signal with SA_RESTART");
	is(killed(4), "watch: killed");
	turns();
	during(CLOSE, 0, 4, 0, EIDRM, "watch: another thread closes the file");
	return 0;
}

static int wait_through(int file, uint32_t type, uint32_t timeout)
{
	struct event event = { .type = type, .timeout = timeout };

	return ioctl(file, WAIT_FOR_EVENT, &event) ? errno : 0;
}

static void *wait_run(void *arg)
{
	*(int *)arg = wait_through(fd, 2, FOREVER);
	return NULL;
}

/* Call UNWAIT in a child. Return its errno, or -1 if the child failed. */
static int unwait_by_child(uint32_t events)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(call(UNWAIT, &(struct unwait){ .events = events }));
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : -1;
}

static int do_waits(char **arg)
{
	int other = open(path, O_RDONLY), waited = -1;
	pthread_t thread;

	(void)arg;
	pthread_create(&thread, NULL, wait_run, &waited);
	while (wait_through(other, 2, 0) != EALREADY)
		pause_ms(5);
	gives(0, ioctl(other, UNWAIT, &(struct unwait){ .events = 0xfff }) ? errno : 0, "unwait: through another file");
	gives(0, unwait_by_child(0xfff), "unwait: by another process through the same file");
	gives(0, call(UNWAIT, &(struct unwait){ .events = ~4 & 0xfff }), "unwait: all other events");
	pause_ms(200);
	is(waited == -1 && wait_through(other, 2, 0) == EALREADY, "unwait: a wait continues after unwait by others");
	gives(0, call(UNWAIT, &(struct unwait){ .events = 4 }), "unwait: the event of a wait, through its file");
	pthread_join(thread, NULL);
	gives(EIDRM, waited, "unwait: a wait is ended");
	gives(ETIMEDOUT, wait_through(other, 2, 0), "unwait: a later wait times out");
	return 0;
}

static void short_waits(uint32_t at)
{
	uint64_t begin = now_ms();

	gives(ETIMEDOUT, watch_at(at, 4, 0, NULL, NULL), "watch with a silent peer: no timeout");
	gives(ETIMEDOUT, watch_at(at, MOST, 200, NULL, NULL), "watch with a silent peer: a short timeout");
	is(now_ms() - begin < 1000, "watch with a silent peer: in time");
}

/*
 * Run the cases in two processes at the same time, because the peer is silent for a
 * limited time only.
 */
static int do_silent(char **arg)
{
	uint32_t at = strtoul(arg[0], NULL, 0);
	pid_t pid = fork();

	if (!pid) {
		short_waits(at);
		_exit(0);
	}
	catch_signals();
	during(UNWATCHED, at, 4, at, EIDRM, "watch with a silent peer: ended by unwatch");
	during(SIGNAL, at, 4, at, EINTR, "watch with a silent peer: a signal");
	during(CLOSE, at, 4, at, EIDRM, "watch with a silent peer: another thread closes the file");
	return waitpid(pid, NULL, 0) != pid;
}

static const char *name_of(int error)
{
	return error ? strerrorname_np(error) : "0";
}

static int do_flush(char **arg)
{
	struct flush flush = { .timeout = strtoul(arg[0], NULL, 0) };
	int ret = call(FLUSH, &flush);

	printf("%s %u %u %u\n", name_of(ret), flush.reached, flush.behind, flush.absent);
	return 0;
}

static int do_watch(char **arg)
{
	uint32_t old = arg[3] ? strtoul(arg[3], NULL, 0) : 0, changed;
	int ret = watch_at(strtoul(arg[0], NULL, 0), strtoul(arg[1], NULL, 0), strtoul(arg[2], NULL, 0),
			   arg[3] ? &old : NULL, &changed);

	printf("%s %u\n", name_of(ret), changed);
	return 0;
}

static int do_claim(char **arg)
{
	struct claim claim = { .offset = strtoul(arg[0], NULL, 0), .length = strtoul(arg[1], NULL, 0) };

	printf("%s\n", name_of(call(CLAIM, &claim)));
	fflush(stdout);
	while (arg[2] && access(arg[2], F_OK))
		pause_ms(5);
	return arg[2] ? call(UNCLAIM, &claim) : 0;
}

static void number(const char *name, uint64_t value)
{
	printf(" %s %llu", name, (unsigned long long)value);
}

static void print_peer(const struct peer *p)
{
	char address[64];

	inet_ntop(p->family ? p->family : AF_INET, p->address, address, sizeof(address));
	printf("peer %u", p->node);
	number("state", p->state);
	number("flags", p->flags);
	number("lag", p->lag);
	number("missed", p->missed);
	number("since", p->since_ms);
	number("links", p->links);
	number("sent", p->bytes_sent);
	number("received", p->bytes_received);
	number("overloads", p->overloads);
	number("errors", p->protocol_errors);
	number("dropped", p->events_dropped);
	number("family", p->family);
	number("port", p->port);
	number("late", p->late_ms);
	number("error", p->error);
	number("refusal", p->refusal);
	number("mtus", p->path_mtu && p->path_mtu == p->local_mtu && p->path_mtu == p->peer_mtu);
	printf(" address %s\n", address);
}

static int do_peers(char **arg)
{
	struct peer all[255];
	struct peers peers = { .peers = (uintptr_t)all, .peer_size = sizeof(*all), .count = 255 };
	int ret = call(PEERS, &peers);
	uint32_t i;

	(void)arg;
	if (ret)
		err(1, "peers");
	printf("image %u loaded %llu size %llu lineage %016llx\n", peers.image, (unsigned long long)peers.loaded,
	       (unsigned long long)peers.size, (unsigned long long)peers.lineage);
	for (i = 0; i < peers.count; i++)
		print_peer(&all[i]);
	return 0;
}

static void *gone_wait(void *arg)
{
	*(int *)arg = watch_at(0, 4, FOREVER, NULL, NULL);
	return NULL;
}

static int do_gone(char **arg)
{
	pthread_t thread;
	uint32_t n;
	int waited = 0;

	pthread_create(&thread, NULL, gone_wait, &waited);
	pause_ms(300);
	close(open(arg[0], O_CREAT | O_WRONLY, 0600));
	pthread_join(thread, NULL);
	gives(EIDRM, waited, "watch: ended when the device is removed");
	while (!access(path, F_OK))
		pause_ms(20);
	gives(ENODEV, call(FLUSH, &(struct flush){ .timeout = 100 }), "flush: on a removed device");
	gives(ENODEV, watch_at(0, 4, 100, NULL, NULL), "watch: on a removed device");
	gives(ENODEV, call(UNWATCH, NULL), "unwatch: on a removed device");
	gives(ENODEV, call(UNWAIT, &(struct unwait){ .events = 1 }), "unwait: on a removed device");
	gives(ENODEV, peers_at(NULL, PEER_SIZE, 0, 0, &n), "peers: on a removed device");
	return 0;
}

static const struct {
	const char *name;
	int least, most;
	int (*run)(char **arg);
} commands[] = {
	{ "bad", 1, 1, do_bad }, { "alone", 0, 0, do_alone }, { "flush", 1, 1, do_flush }, { "watch", 3, 4, do_watch },
	{ "peers", 0, 0, do_peers }, { "gone", 1, 1, do_gone }, { "claim", 2, 3, do_claim },
	{ "waits", 0, 0, do_waits },
	{ "busy", 0, 0, do_busy }, { "silent", 1, 1, do_silent },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 3)
		errx(2, "own DEVICE COMMAND ARGUMENT...");
	path = argv[1];
	fd = open(path, O_RDWR);
	if (fd < 0)
		err(1, "%s", path);
	size = lseek(fd, 0, SEEK_END);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[2], commands[i].name) && argc - 3 >= commands[i].least && argc - 3 <= commands[i].most)
			return commands[i].run(argv + 3);
	errx(2, "%s: no such command, or not its arguments", argv[2]);
}
