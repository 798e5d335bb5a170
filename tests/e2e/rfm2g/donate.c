// SPDX-License-Identifier: GPL-2.0
/*
 * donate DEVICE COMMAND ARGUMENT...: a thread of a program executes the batches that another thread submits. Print a
 * line for each case. Author: The krdma developers.
 *
 *   local        cases that need no peer
 *   gone FILE    donate a thread, create FILE, and wait until the device is removed
 */
#define _GNU_SOURCE
#include "ring.h"

#include <sys/wait.h>

#define SUBMITS 8
#define AREA 8192
#define ROUNDS 20000
#define SPIN_MAX 1000000

static struct ring ring;
static uint32_t kicks;

static struct ring open_ring(uint32_t submits)
{
	struct ring made = { .args = { .size = 64, .slots = 64, .submits = submits, .clock = CLOCK_MONOTONIC } };

	made.fd = ioctl(fd, RING, &made.args);
	if (made.fd < 0)
		err(2, "VRFM_RING");
	ring_map(&made);
	return made;
}

static int order(uint32_t flags, uint32_t spin_us, uint32_t submit)
{
	return call(ring.fd, ENTER, &(struct enter){ .submit = submit, .flags = flags, .spin_us = spin_us });
}

static uint32_t submit_flags(void)
{
	return __atomic_load_n(&ring.kernel->submit_flags, __ATOMIC_ACQUIRE);
}

/* Submit a batch as a program does that makes no call while the thread is awake. */
static void submit(uint32_t value, uint32_t flags)
{
	struct op *entry = (struct op *)((char *)ring.user + 4096) + ring.user->submit_tail % SUBMITS;

	*entry = word_of(AREA, value);
	entry->flags = flags;
	entry->cookie = value;
	__atomic_store_n(&ring.user->submit_tail, ring.user->submit_tail + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (submit_flags() & SLEEPS) {
		kicks++;
		order(DO_KICK, 0, 0);
	}
}

/* Wait until all entries are taken. Return whether that happens in time. */
static int is_taken(void)
{
	const uint64_t end = now_ms() + 60000;

	while (__atomic_load_n(&ring.kernel->submit_head, __ATOMIC_ACQUIRE) != ring.user->submit_tail) {
		if (now_ms() > end)
			return 0;
		sched_yield();
	}
	return 1;
}

static uint32_t word(void)
{
	uint32_t value;

	if (pread(fd, &value, 4, AREA) != 4)
		err(2, "pread");
	return value;
}

/* ---- the thread ---- */

static pthread_t thread;

static void *donated(void *spin_us)
{
	return (void *)(intptr_t)order(DO_LOOP, (uintptr_t)spin_us, 0);
}

/* Donate a thread, and wait until it executes batches. */
static void donate(uint32_t spin_us)
{
	pthread_create(&thread, NULL, donated, (void *)(uintptr_t)spin_us);
	while (!(submit_flags() & LOOPS))
		pause_ms(1);
}

/* Return the errno with which the call of the thread has ended. */
static int ended(void)
{
	void *ret;

	pthread_join(thread, &ret);
	return (intptr_t)ret;
}

static void await_sleep(void)
{
	while (!(submit_flags() & SLEEPS))
		pause_ms(1);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* ---- cases ---- */

static void members_are_checked(void)
{
	struct ring without = open_ring(0);
	struct enter args = { .flags = DO_LOOP, .records = 1 };

	gives(EINVAL, order(8, 0, 0), "members: an unknown flag");
	gives(EINVAL, order(DO_LOOP | DO_STOP, 0, 0), "members: LOOP and STOP");
	gives(EINVAL, order(DO_LOOP, SPIN_MAX + 1, 0), "members: more than a second");
	gives(EINVAL, order(0, 1, 0), "members: a time without LOOP");
	gives(EINVAL, order(DO_LOOP, 0, 1), "members: LOOP with entries");
	gives(EINVAL, call(ring.fd, ENTER, &args), "members: LOOP with records");
	args = (struct enter){ .flags = DO_LOOP };
	gives(EINVAL, call(without.fd, ENTER, &args), "members: a ring without entries");
	gives(0, order(DO_KICK, 0, 0), "members: KICK without a thread");
	gives(0, order(DO_STOP, 0, 0), "members: STOP without a thread");
	ring_close(&without);
}

/* The call of a second thread executes batches, and never returns. */
static void never_refused(int signal)
{
	static const char text[] = "1 thread: a second thread is refused\n";

	(void)signal;
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0);
}

static void second_thread_is_refused(void)
{
	signal(SIGALRM, never_refused);
	alarm(60);
	gives(EBUSY, order(DO_LOOP, 0, 0), "thread: a second thread is donated");
	alarm(0);
}

static void thread_executes_batches(void)
{
	struct record record = { .type = REC_PAD };

	donate(0);
	await_sleep();
	submit(1, OP_DONE);
	is(is_taken() && word() == 1, "thread: a batch is executed");
	gives(0, enter(&ring, 1, 60000), "thread: another task waits for its record");
	is(next(&ring, &record) && record.type == REC_DONE && record.cookie == 1, "thread: the record");
	gives(EBUSY, order(0, 0, 1), "thread: another task submits");
	second_thread_is_refused();
	submit(2, 0);
	is(is_taken() && word() == 2, "thread: the first one goes on");
	gives(0, order(DO_STOP, 0, 0), "thread: STOP");
	gives(0, ended(), "thread: its call succeeds after STOP");
	counts(0, submit_flags(), "thread: flags without a thread");
	submit(3, 0);
	counts(2, word(), "thread: a batch stays without it");
	gives(0, order(0, 0, 1), "thread: another task submits after that");
	counts(3, word(), "thread: the batch that stayed");
}

/* The thread goes to sleep again and again, at any moment of a submission. */
static void no_batch_is_forgotten(void)
{
	uint32_t i, j, forgotten = 0;

	donate(0);
	for (i = 0; i < ROUNDS && !forgotten; i++) {
		submit(i, 0);
		forgotten = !is_taken();
		for (j = 0; j < i % 64 * 16; j++)
			__asm__ volatile("" : : : "memory");
	}
	counts(0, forgotten, "sleep: batches that the thread does not see");
	is(kicks > 0, "sleep: the thread is woken");
	counts(ROUNDS - 1, word(), "sleep: the last batch");
	order(DO_STOP, 0, 0);
	ended();
}

static void thread_spins(void)
{
	uint32_t before, tries = 0;

	donate(SPIN_MAX);
	submit(5, 0);
	is(is_taken() && word() == 5, "spin: a batch is executed");
	/* The thread may sleep if this one does not run for a second. */
	do {
		submit(6, 0);
		is_taken();
		before = kicks;
		submit(7, 0);
	} while (kicks != before && ++tries < 10);
	is(is_taken() && word() == 7 && kicks == before, "spin: without a call");
	await_sleep();
	is(1, "spin: the thread sleeps after its time");
	submit(8, 0);
	is(is_taken() && kicks == before + 1, "spin: it is woken by one call");
	order(DO_STOP, 0, 0);
	gives(0, ended(), "spin: STOP while it spins");
}

/* A program that does not read its records stops its own batches, until it reads. */
static void unread_records_stop_thread(void)
{
	const uint64_t end = now_ms() + 60000;
	struct record record;
	uint32_t i, read = 0, wrong = 0;

	donate(0);
	for (i = 0; i < 64 + 2 * SUBMITS; i++) {
		submit(i, OP_DONE);
		if (i < 64 + SUBMITS)
			wrong += !is_taken();
	}
	counts(0, wrong, "unread: batches that are not taken");
	pause_ms(20);
	is(__atomic_load_n(&ring.kernel->submit_head, __ATOMIC_ACQUIRE) != ring.user->submit_tail,
	   "unread: further batches stay");
	while (read < 64 + 2 * SUBMITS && now_ms() < end) {
		record.type = REC_PAD;
		enter(&ring, 1, 100);
		while (next(&ring, &record)) {
			wrong += record.type != REC_DONE || record.cookie != read;
			read++;
		}
	}
	is(!wrong && read == 64 + 2 * SUBMITS, "unread: all batches are executed when the records are read");
	order(DO_STOP, 0, 0);
	ended();
}

static void thread_ends(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct ring old;
	pid_t pid;
	int status;

	sigaction(SIGUSR1, &action, NULL);
	donate(0);
	await_sleep();
	pthread_kill(thread, SIGUSR1);
	gives(EINTR, ended(), "end: a signal");
	donate(0);
	ring.user->submit_tail += SUBMITS + 1;
	order(DO_KICK, 0, 0);
	gives(EBADR, ended(), "end: an index beyond the entries");
	ring.user->submit_tail -= SUBMITS + 1;
	donate(SPIN_MAX);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	is(submit_flags() & LOOPS, "end: not by a child that closes the ring");
	old = ring;
	close(ring.fd);
	gives(EIDRM, ended(), "end: the process closes the ring");
	munmap(old.user, old.args.user_len);
	munmap((void *)old.kernel, old.args.kernel_len);
	ring = open_ring(SUBMITS);
	pid = fork();
	if (!pid) {
		ring = open_ring(SUBMITS);
		order(DO_LOOP, SPIN_MAX, 0);
		_exit(1);
	}
	pause_ms(50);
	kill(pid, SIGKILL);
	is(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "end: the program is killed");
}

static int do_local(char **arg)
{
	(void)arg;
	ring = open_ring(SUBMITS);
	members_are_checked();
	thread_executes_batches();
	no_batch_is_forgotten();
	thread_spins();
	unread_records_stop_thread();
	thread_ends();
	ring_close(&ring);
	return 0;
}

static int do_gone(char **arg)
{
	ring = open_ring(SUBMITS);
	donate(0);
	await_sleep();
	close(open(arg[0], O_CREAT | O_WRONLY, 0600));
	gives(ENODEV, ended(), "gone: the device is removed");
	ring_close(&ring);
	return 0;
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} commands[] = {
	{ "local", 0, do_local }, { "gone", 1, do_gone },
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 3)
		errx(2, "donate DEVICE COMMAND ARGUMENT...");
	device_open(argv[1]);
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[2], commands[i].name) && argc - 3 == commands[i].args)
			return commands[i].run(argv + 3);
	errx(2, "%s: no such command, or not its arguments", argv[2]);
}
