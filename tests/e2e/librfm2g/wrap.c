// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of wrap.h. The functions ioctl(), mmap(), fsync() and syscall()
 * in this file replace those of the C library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "wrap.h"

#define EVENTS 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long fail_cmd;
static int fail_error, ignorant;
static bool no_mmap, no_membarrier, ours;
static atomic_uint late_ms;
static const struct wrap_card *card;
static RFM2GEVENTINFO queue[RFM2GEVENT_LAST][EVENTS];
static int queued[RFM2GEVENT_LAST], taken, cancelled;
static bool waits[RFM2GEVENT_LAST], cancel[RFM2GEVENT_LAST], last_moment;

void wrap_fail(unsigned long cmd, int error)
{
	fail_cmd = cmd;
	fail_error = error;
}

void wrap_ignorant(int error)
{
	ignorant = error;
}

void wrap_no_mmap(bool fail)
{
	no_mmap = fail;
}

void wrap_late(unsigned int ms)
{
	late_ms = ms;
}

void wrap_no_membarrier(void)
{
	no_membarrier = true;
}

void wrap_card(const struct wrap_card *now)
{
	card = now;
}

void wrap_events(bool now)
{
	pthread_mutex_lock(&lock);
	ours = now;
	memset(queued, 0, sizeof(queued));
	taken = 0;
	cancelled = 0;
	pthread_mutex_unlock(&lock);
}

void wrap_event(RFM2GEVENTTYPE type, RFM2G_NODE node, RFM2G_UINT32 data)
{
	pthread_mutex_lock(&lock);
	if (queued[type] < EVENTS)
		queue[type][queued[type]++] = (RFM2GEVENTINFO){ .NodeId = node, .ExtendedInfo = data };
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void wrap_event_at_cancel(void)
{
	pthread_mutex_lock(&lock);
	last_moment = true;
	pthread_mutex_unlock(&lock);
}

bool wrap_waits(RFM2GEVENTTYPE type)
{
	bool ret;

	pthread_mutex_lock(&lock);
	ret = waits[type];
	pthread_mutex_unlock(&lock);
	return ret;
}

static int count(const int *from)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = *from;
	pthread_mutex_unlock(&lock);
	return ret;
}

int wrap_taken(void)
{
	return count(&taken);
}

int wrap_cancelled(void)
{
	return count(&cancelled);
}

static int take(RFM2GEVENTINFO *info)
{
	RFM2GEVENTINFO *first = queue[info->Event];

	info->NodeId = first->NodeId;
	info->ExtendedInfo = first->ExtendedInfo;
	memmove(first, first + 1, --queued[info->Event] * sizeof(*first));
	taken++;
	return 0;
}

/*
 * Wait for an event as the device does: only one thread waits for a type of
 * event, a queued event is returned at once, and a timeout of 0 does not wait.
 * Return 0 or an errno.
 */
static int wait_locked(RFM2GEVENTINFO *info)
{
	RFM2GEVENTTYPE type = info->Event;
	int ret = 0;

	if (waits[type])
		return EALREADY;
	if (queued[type])
		return take(info);
	if (!info->Timeout)
		return ETIMEDOUT;
	waits[type] = true;
	while (!queued[type] && !cancel[type])
		pthread_cond_wait(&changed, &lock);
	if (queued[type])
		take(info);
	else
		ret = EIDRM;
	cancelled += cancel[type];
	waits[type] = false;
	cancel[type] = false;
	return ret;
}

static int cancel_locked(RFM2GEVENTTYPE type)
{
	if (!waits[type])
		return ENOSYS;
	cancel[type] = true;
	if (last_moment)
		queue[type][queued[type]++] = (RFM2GEVENTINFO){ .NodeId = 7, .ExtendedInfo = 52 };
	last_moment = false;
	pthread_cond_broadcast(&changed);
	return 0;
}

static int unwait_locked(const unsigned int *events)
{
	int type;

	for (type = 0; type < RFM2GEVENT_LAST; type++)
		if (*events & 1u << type)
			cancel_locked(type);
	return 0;
}

static int event(unsigned long cmd, void *arg)
{
	RFM2GEVENTINFO *info = arg;
	int ret;

	pthread_mutex_lock(&lock);
	if (cmd == WRAP_UNWAIT)
		ret = unwait_locked(arg);
	else
		ret = cmd == IOCTL_RFM2G_WAIT_FOR_EVENT ? wait_locked(info) : cancel_locked(info->Event);
	pthread_mutex_unlock(&lock);
	return ret;
}

static int pretended(unsigned long cmd, void *arg)
{
	if (fail_error && cmd == fail_cmd)
		return fail_error;
	if (ignorant && cmd != IOCTL_RFM2G_GET_CONFIG)
		return ignorant;
	if (ours && (cmd == IOCTL_RFM2G_WAIT_FOR_EVENT || cmd == IOCTL_RFM2G_CANCEL_EVENT || cmd == WRAP_UNWAIT))
		return event(cmd, arg);
	return -1;
}

static void disguise(unsigned long cmd, void *arg)
{
	RFM2GLINUXREGINFO *reg = arg;
	RFM2GCONFIG *config = arg;

	if (cmd == IOCTL_RFM2G_GET_CONFIG) {
		config->BoardRevision = 0x8C;
		config->PciConfig.rfm2gOrBase = card->or_base;
		config->PciConfig.rfm2gCsBase = card->cs_base;
		config->Lcsr1 = card->lcsr1;
	}
	if (cmd == IOCTL_RFM2G_READ_REG && reg->regset == RFM2GCFGREGMEM && reg->Offset == RFM2G_WINDOW_RANGE)
		reg->Value = card->range;
}

static void delay(unsigned long cmd)
{
	const int error = errno;

	if (cmd == IOCTL_RFM2G_WAIT_FOR_EVENT && late_ms)
		usleep(late_ms * 1000);
	errno = error;
}

int ioctl(int fd, unsigned long cmd, ...)
{
	va_list args;
	void *arg;
	int ret;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	ret = pretended(cmd, arg);
	if (ret < 0) {
		ret = syscall(SYS_ioctl, fd, cmd, arg);
		if (!ret && card)
			disguise(cmd, arg);
		delay(cmd);
		return ret;
	}
	errno = ret;
	return ret ? -1 : 0;
}

long syscall(long number, ...)
{
	static long (*next)(long number, ...);
	long arg[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_membarrier && no_membarrier) {
		errno = EPERM;
		return -1;
	}
	if (!next)
		next = dlsym(RTLD_NEXT, "syscall");
	return next(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

int fsync(int fd)
{
	int ret = pretended(WRAP_FSYNC, NULL);

	if (ret < 0)
		return syscall(SYS_fsync, fd);
	errno = ret;
	return ret ? -1 : 0;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (no_mmap && fd >= 0) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, offset);
}

/* mmap64() is the same function, because off_t and off64_t are equal here. */
void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));

void is(bool good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("%d ", !good);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	fflush(stdout);
}

void gives(RFM2G_STATUS wanted, RFM2G_STATUS got, const char *what)
{
	if (got == wanted)
		is(true, "%s", what);
	else
		is(false, "%s: %d (%s)", what, got, RFM2gErrorMsg(got));
}
