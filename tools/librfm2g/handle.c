// SPDX-License-Identifier: LGPL-2.1-or-later
/* Open and close handles. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "priv.h"

struct rfm2g_handle rfm2g_handles[RFM2G_HANDLES];

/*
 * Take a free handle. The search begins after the last handle taken, so that a
 * closed handle is not reused soon. A program that still uses a closed handle
 * then gets an error instead of another device.
 */
static struct rfm2g_handle *rfm2g_handle_take(void)
{
	static _Atomic unsigned int next;
	struct rfm2g_handle *h;
	unsigned int i;
	int expected;

	for (i = 0; i < RFM2G_HANDLES; i++) {
		h = &rfm2g_handles[next++ % RFM2G_HANDLES];
		expected = RFM2G_STATE_FREE;
		if (atomic_compare_exchange_strong(&h->state, &expected,
						   RFM2G_STATE_BUSY))
			return h;
	}
	return NULL;
}

static void rfm2g_handle_free(struct rfm2g_handle *h)
{
	memset(&h->pub, 0, sizeof(h->pub));
	h->pub.fd = -1;
	h->fd = -1;
	atomic_store(&h->state, RFM2G_STATE_FREE);
}

/*
 * Map the whole memory, so that reads are loads. If mapping fails, each read is
 * a command to the driver.
 */
static void rfm2g_handle_map(struct rfm2g_handle *h)
{
	void *mem = mmap(NULL, h->size, PROT_READ, MAP_SHARED, h->fd, 0);

	h->mem = mem == MAP_FAILED ? NULL : mem;
}

static RFM2G_STATUS rfm2g_handle_open(struct rfm2g_handle *h, const char *path)
{
	RFM2G_STATUS ret;

	h->fd = open(path, O_RDWR | O_CLOEXEC);
	if (h->fd < 0)
		return RFM2G_NOT_OPEN;
	ret = rfm2g_command(h, IOCTL_RFM2G_GET_CONFIG,
			    (unsigned long)&h->config, rfm2g_os_error);
	if (ret) {
		close(h->fd);
		return ret;
	}
	h->size = h->config.MemorySize;
	rfm2g_handle_map(h);
	h->pub.fd = h->fd;
	h->pub.Config = h->config;
	return RFM2G_SUCCESS;
}

/*
 * Create the record of the calling thread before its first handle. As soon as
 * the handle exists, a signal handler may call the library. The handler must
 * find the record, because it must not allocate memory to create one.
 */
static bool rfm2g_thread_known(void)
{
	return rfm2g_self || rfm2g_thread_add();
}

static RFM2G_STATUS rfm2g_handle_new(const char *path, RFM2GHANDLE *rh)
{
	struct rfm2g_handle *h = rfm2g_thread_known() ? rfm2g_handle_take() :
							NULL;
	RFM2G_STATUS ret;

	if (!h)
		return RFM2G_LOW_MEMORY;
	ret = rfm2g_handle_open(h, path);
	if (ret) {
		rfm2g_handle_free(h);
		return ret;
	}
	atomic_store(&h->state, RFM2G_STATE_OPEN);
	*rh = &h->pub;
	return RFM2G_SUCCESS;
}

STDRFM2GCALL RFM2gOpen(char *DevicePath, RFM2GHANDLE *rh)
{
	RFM2G_STATUS ret;
	int cancel;

	if (!DevicePath)
		return RFM2G_BAD_PARAMETER_1;
	if (access(DevicePath, F_OK))
		return RFM2G_NO_RFM2G_BOARD;
	if (!rh)
		return RFM2G_BAD_PARAMETER_2;
	*rh = NULL;
	/* Forbid cancellation: a cancelled thread would not free the handle. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = rfm2g_handle_new(DevicePath, rh);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}

/*
 * Wait until no other thread uses the handle. Cancel waits and watches
 * repeatedly, because a thread may be about to begin one. Other calls end soon.
 */
static void rfm2g_handle_drain(struct rfm2g_handle *h)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	rfm2g_uses_see();
	while (rfm2g_is_used(h)) {
		rfm2g_waits_cancel(h);
		rfm2g_watches_cancel(h);
		nanosleep(&moment, NULL);
	}
}

static RFM2G_STATUS rfm2g_handle_close(struct rfm2g_handle *h)
{
	RFM2G_STATUS ret;

	rfm2g_handle_drain(h);
	rfm2g_callbacks_stop(h);
	if (h->mem)
		munmap((void *)h->mem, h->size);
	ret = close(h->fd) ? RFM2G_OS_ERROR : RFM2G_SUCCESS;
	rfm2g_handle_free(h);
	return ret;
}

STDRFM2GCALL RFM2gClose(RFM2GHANDLE *rh)
{
	int expected = RFM2G_STATE_OPEN;
	struct rfm2g_handle *h;
	RFM2G_STATUS ret;
	int cancel;

	if (!rh)
		return RFM2G_BAD_PARAMETER_1;
	if (!*rh)
		return RFM2G_NULL_DESCRIPTOR;
	h = rfm2g_handle_of(*rh);
	/* If several threads close a handle at once, only one succeeds. */
	if (!h || !atomic_compare_exchange_strong(&h->state, &expected,
						  RFM2G_STATE_BUSY))
		return RFM2G_BAD_PARAMETER_1;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ret = rfm2g_handle_close(h);
	pthread_setcancelstate(cancel, NULL);
	*rh = NULL;
	return ret;
}
