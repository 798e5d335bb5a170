// SPDX-License-Identifier: GPL-2.0
/*
 * locks DEVICE: test a mutex and a semaphore of pthreads in mapped memory that two processes share, for scenarios.
 * Author: The krdma developers.
 *
 * Two processes, each with a mapping of its own, count 2000 times under the mutex. Print a line for each case, and exit
 * with 0 if all lines are printed.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 2000
#define OFFSET 0x80000
#define SECONDS 60

struct shared {
	pthread_mutex_t mutex;
	sem_t done;
	int count;
};

static void is(int good, const char *text)
{
	printf("%d %s\n", !good, text);
	fflush(stdout);
}

static struct shared *map(const char *path)
{
	int fd = open(path, O_RDWR);
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, OFFSET);

	if (fd < 0 || memory == MAP_FAILED)
		err(2, "%s", path);
	return memory;
}

static int count(struct shared *shared)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (pthread_mutex_lock(&shared->mutex))
			return 1;
		shared->count++;
		if (i % 100 == 0)
			usleep(100);
		pthread_mutex_unlock(&shared->mutex);
	}
	return 0;
}

static int child(const char *path)
{
	struct shared *shared = map(path);

	return count(shared) || sem_post(&shared->done);
}

int main(int argc, char **argv)
{
	struct shared *shared = map(argv[argc - 1]);
	pthread_mutexattr_t attr;
	struct timespec until;
	int status = 0;
	pid_t pid;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	is(!pthread_mutex_init(&shared->mutex, &attr) && !sem_init(&shared->done, 1, 0),
	   "a mutex and a semaphore are initialized in a mapping");
	pid = fork();
	if (!pid)
		_exit(child(argv[argc - 1]));
	is(pid > 0 && !count(shared), "two processes lock the mutex");
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SECONDS;
	is(!sem_timedwait(&shared->done, &until), "a process waits for the semaphore of the other one");
	is(waitpid(pid, &status, 0) == pid && !status, "the other process exits with 0");
	is(shared->count == 2 * ROUNDS, "no count under the mutex is lost");
	return 0;
}
