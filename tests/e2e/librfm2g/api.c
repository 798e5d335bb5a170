// SPDX-License-Identifier: GPL-2.0
/*
 * Call every function of librfm2g on a device without peers, and check the
 * documented statuses. This program is compiled like a program for the cards,
 * with the public headers only.
 *
 *   api DEVICE NODE SIZE
 *
 * Print a line for each case: "0 CASE" if it succeeds, "1 CASE" if it fails.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rfm2g_extras.h>
#include <rfm2g_version.h>

#include "wrap.h"

#define PAGE 4096
#define WINDOW_SIZES (size == 64 << 20 || size == 128 << 20 || size == 256 << 20)

static char *path;
static RFM2G_UINT32 node, size;
static RFM2GHANDLE h;

/* Return the number of open files of this process, plus a constant. */
static int files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void nothing(RFM2GHANDLE rh, RFM2GEVENTINFO *info)
{
	(void)rh;
	(void)info;
}

static RFM2G_STATUS close_of(RFM2GHANDLE rh)
{
	return RFM2gClose(&rh);
}

static int wrong, tried;
static RFM2G_STATUS all_wanted;

static void try(RFM2G_STATUS got, const char *call)
{
	tried++;
	if (got == all_wanted)
		return;
	wrong++;
	printf("# %s: %d\n", call, got);
}

#define TRY(call) try(call, #call)

/*
 * Call the functions that query the device. RFM2gClearOwnData() also clears a
 * status bit.
 */
static void try_getters(RFM2GHANDLE x)
{
	RFM2GCONFIG config;
	RFM2G_NODE id;
	RFM2G_UINT8 b;
	RFM2G_UINT32 n;
	char text[64];

	TRY(RFM2gGetConfig(x, &config));
	TRY(RFM2gNodeID(x, &id));
	TRY(RFM2gBoardID(x, &b));
	TRY(RFM2gSize(x, &n));
	TRY(RFM2gFirst(x, &n));
	TRY(RFM2gDeviceName(x, text));
	TRY(RFM2gDllVersion(x, text));
	TRY(RFM2gxIsMapped(x, &b));
	TRY(RFM2gDriverVersion(x, text));
	TRY(RFM2gGetDMAThreshold(x, &n));
	TRY(RFM2gGetDebugFlags(x, &n));
	TRY(RFM2gGetLed(x, &b));
	TRY(RFM2gGetDarkOnDark(x, &b));
	TRY(RFM2gGetTransmit(x, &b));
	TRY(RFM2gGetLoopback(x, &b));
	TRY(RFM2gGetParityEnable(x, &b));
	TRY(RFM2gGetDMAByteSwap(x, &b));
	TRY(RFM2gGetPIOByteSwap(x, &b));
	TRY(RFM2gCheckRingCont(x));
	TRY(RFM2gClearOwnData(x, &b));
}

static void try_setters(RFM2GHANDLE x)
{
	RFM2G_MEM_OFFSETTYPE where;

	TRY(RFM2gSetDMAThreshold(x, RFM2G_INFINITE_TIMEOUT));
	TRY(RFM2gSetDebugFlags(x, RFM2G_DBERROR));
	TRY(RFM2gSetLed(x, RFM2G_FALSE));
	TRY(RFM2gSetDarkOnDark(x, RFM2G_FALSE));
	TRY(RFM2gSetTransmit(x, RFM2G_TRUE));
	TRY(RFM2gSetLoopback(x, RFM2G_FALSE));
	TRY(RFM2gSetParityEnable(x, RFM2G_FALSE));
	TRY(RFM2gSetDMAByteSwap(x, RFM2G_FALSE));
	TRY(RFM2gSetPIOByteSwap(x, RFM2G_FALSE));
	TRY(RFM2gGetMemoryOffset(x, &where));
	TRY(RFM2gSetMemoryOffset(x, RFM2G_MEM_OFFSET0));
}

static void try_data(RFM2GHANDLE x)
{
	RFM2G_UINT8 b = 0;
	RFM2G_UINT16 w = 0;
	RFM2G_UINT32 l = 0;
	RFM2G_UINT64 ll = 0;
	char block[100] = "";
	/*
	 * Bytes that differ from the memory, so that a watch returns at once.
	 */
	static const char seen[] = "something else";

	TRY(RFM2gRead(x, 1, block, sizeof(block)));
	TRY(RFM2gWrite(x, 1, block, sizeof(block)));
	TRY(RFM2gPeek8(x, 7, &b));
	TRY(RFM2gPeek16(x, 6, &w));
	TRY(RFM2gPeek32(x, 4, &l));
	TRY(RFM2gPeek64(x, 8, &ll));
	TRY(RFM2gPoke8(x, 7, b));
	TRY(RFM2gPoke16(x, 6, w));
	TRY(RFM2gPoke32(x, 4, l));
	TRY(RFM2gPoke64(x, 8, ll));
	TRY(RFM2gxFlush(x));
	TRY(RFM2gxFlushTimeout(x, 1000, NULL));
	TRY(RFM2gxWatch(x, 0, sizeof(seen), seen, 0, NULL));
	TRY(RFM2gxUnwatch(x));
	TRY(RFM2gxClaim(x, 0, 4));
	TRY(RFM2gxUnclaim(x, 0, 4));
	TRY(RFM2gxPeers(x, NULL, sizeof(RFM2GXPEER), 0, &l, NULL));
	TRY(RFM2gReadReg(x, RFM2GCTRLREGMEM, RFM2G_LCSR1, 4, &l));
	TRY(RFM2gWriteReg(x, RFM2GCTRLREGMEM, RFM2G_NTD, 4, 0));
	TRY(RFM2gSetReg(x, RFM2GCTRLREGMEM, RFM2G_NTD, 4, 1));
	TRY(RFM2gClearReg(x, RFM2GCTRLREGMEM, RFM2G_NTD, 4, 1));
}

static void try_maps(RFM2GHANDLE x)
{
	volatile void *map = NULL, *bytes = NULL, *device = NULL;

	TRY(RFM2gUserMemory(x, &map, 0, 1));
	TRY(RFM2gUserMemoryBytes(x, &bytes, 0, 1));
	TRY(RFM2gMapDeviceMemory(x, RFM2GCTRLREGMEM, &device));
	if (all_wanted)
		map = bytes = device = &map;
	TRY(RFM2gUnMapUserMemory(x, &map, 1));
	TRY(RFM2gUnMapUserMemoryBytes(x, &bytes, 1));
	TRY(RFM2gUnMapDeviceMemory(x, RFM2GCTRLREGMEM, &device));
}

static void try_events(RFM2GHANDLE x)
{
	RFM2GQINFO queue = { .Event = RFM2GEVENT_INTR1 };
	RFM2G_UINT32 n;

	TRY(RFM2gEnableEvent(x, RFM2GEVENT_INTR1));
	TRY(RFM2gEnableEventCallback(x, RFM2GEVENT_INTR1, nothing));
	TRY(RFM2gDisableEventCallback(x, RFM2GEVENT_INTR1));
	TRY(RFM2gDisableEvent(x, RFM2GEVENT_INTR1));
	TRY(RFM2gClearEvent(x, RFM2GEVENT_LAST));
	TRY(RFM2gClearEventCount(x, RFM2GEVENT_LAST));
	TRY(RFM2gClearEventStats(x, RFM2GEVENT_LAST));
	TRY(RFM2gFlushEventQueue(x, RFM2GEVENT_LAST));
	TRY(RFM2gSendEvent(x, RFM2G_NODE_ALL, RFM2GEVENT_INTR1, 1));
	TRY(RFM2gGetEventCount(x, RFM2GEVENT_INTR1, &n));
	TRY(RFM2gGetEventStats(x, &queue));
}

/*
 * Call the remaining functions: those that fail on a device without peers or
 * without a sliding window, and those that close the handle.
 */
static void try_rest(RFM2GHANDLE x)
{
	RFM2GEVENTINFO event = { .Event = RFM2GEVENT_INTR1 };
	RFM2G_UINT32 n;

	TRY(RFM2gWaitForEvent(x, &event));
	TRY(RFM2gCancelWaitForEvent(x, RFM2GEVENT_INTR1));
	TRY(RFM2gGetSlidingWindow(x, &n, NULL));
	TRY(RFM2gSetSlidingWindow(x, 0));
	TRY(close_of(x));
}

static void try_most(RFM2GHANDLE x)
{
	try_getters(x);
	try_setters(x);
	try_data(x);
	try_maps(x);
	try_events(x);
}

static void all(RFM2GHANDLE x, RFM2G_STATUS wanted, const char *text)
{
	all_wanted = wanted;
	wrong = tried = 0;
	try_most(x);
	try_rest(x);
	is(!wrong && tried == 74, "%s: status %d from %d of %d", text, wanted, tried - wrong, tried);
}

static void handles(void)
{
	struct rfm2ghandle_s mine = { .fd = h->fd };
	RFM2GHANDLE other, old;

	all_wanted = RFM2G_SUCCESS;
	wrong = tried = 0;
	try_most(h);
	is(!wrong, "with an open handle %d of %d functions succeed", tried - wrong, tried);
	all(NULL, RFM2G_NULL_DESCRIPTOR, "no handle");
	all(&mine, RFM2G_BAD_PARAMETER_1, "memory like that of a handle");
	all((RFM2GHANDLE)8, RFM2G_BAD_PARAMETER_1, "a small number");
	all((RFM2GHANDLE)UINTPTR_MAX, RFM2G_BAD_PARAMETER_1, "the last address");
	all((RFM2GHANDLE)((char *)h + 8), RFM2G_BAD_PARAMETER_1, "an address beside an open handle");
	all((RFM2GHANDLE)((char *)h + 16384), RFM2G_BAD_PARAMETER_1, "a handle that was never open");
	GIVES(SUCCESS, RFM2gOpen(path, &other));
	old = other;
	GIVES(SUCCESS, RFM2gClose(&other));
	is(!other, "RFM2gClose() sets the handle to NULL");
	all(old, RFM2G_BAD_PARAMETER_1, "a closed handle");
	GIVES(SUCCESS, RFM2gOpen(path, &other));
	is(other != old, "a handle opened after a close differs from the closed one");
	RFM2gClose(&other);
}

/*
 * Open the device in a child as user UID with group GID. Return the wait status
 * of the child, which exits with 0 if the open is refused as documented.
 */
static int refused(int uid, int gid)
{
	RFM2GHANDLE x = (RFM2GHANDLE)8;
	char text[400];
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(0, NULL) || setgid(gid) || setuid(uid))
			_exit(100);
		status = RFM2gOpen(path, &x);
		RFM2gxExplain(path, text, sizeof(text));
		printf("# %s\n", text);
		fflush(stdout);
		_exit(status == RFM2G_NOT_OPEN && !x && strstr(text, path) ? 0 : 1 + status);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void explained(char *device, const char *wanted)
{
	char text[400] = "";

	RFM2gxExplain(device, text, sizeof(text));
	is(strstr(text, wanted), "%s: %s", device, text);
}

static void opening(void)
{
	RFM2GHANDLE x = (RFM2GHANDLE)8;
	char text[8], missing[] = "/dev/rfm2g9", folder[] = "/dev", null[] = "/dev/null";
	int before = files();

	GIVES(BAD_PARAMETER_1, RFM2gOpen(NULL, &x));
	GIVES(BAD_PARAMETER_1, RFM2gOpen(NULL, NULL));
	GIVES(NO_RFM2G_BOARD, RFM2gOpen(missing, &x));
	GIVES(NO_RFM2G_BOARD, RFM2gOpen(missing, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gOpen(path, NULL));
	GIVES(NOT_OPEN, RFM2gOpen(folder, &x));
	is(!x, "opening a folder sets the handle to NULL");
	x = (RFM2GHANDLE)8;
	GIVES(OS_ERROR, RFM2gOpen(null, &x));
	is(!x, "opening /dev/null sets the handle to NULL");
	wrap_fail(IOCTL_RFM2G_GET_CONFIG, EIO);
	GIVES(OS_ERROR, RFM2gOpen(path, &x));
	wrap_fail(0, 0);
	is(files() == before, "failed opens leave no file open");
	is(!refused(65534, 65534), "RFM2gOpen() without permission: NOT_OPEN, with an explanation");
	explained(missing, "there is no");
	explained(null, "not an RFM2g device");
	explained(path, "");
	GIVES(BAD_PARAMETER_1, RFM2gxExplain(NULL, text, 1));
	GIVES(BAD_PARAMETER_2, RFM2gxExplain(path, NULL, 1));
	GIVES(BAD_PARAMETER_2, RFM2gxExplain(path, text, 0));
	is(!RFM2gxExplain(missing, text, sizeof(text)) && strlen(text) == 7,
	   "RFM2gxExplain() cuts a text that does not fit: %s",
	   text);
}

/*
 * Check that the explanation of a refused open names the group that may open.
 */
static void groups(void)
{
	char text[400];
	pid_t pid;
	int status;

	if (chown(path, 0, 6) || chmod(path, 0660))
		err(2, "%s", path);
	pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(2);
		RFM2gxExplain(path, text, sizeof(text));
		printf("# %s\n", text);
		fflush(stdout);
		_exit(!strstr(text, "group disk"));
	}
	waitpid(pid, &status, 0);
	is(!status, "RFM2gxExplain() names the group of the device");
	is(refused(65534, 6) == (1 + RFM2G_SUCCESS) << 8, "a member of the group of the device can open it");
	if (chown(path, 0, 0))
		err(2, "%s", path);
}

static void closing(void)
{
	RFM2GHANDLE x, y;
	int before = files();

	GIVES(BAD_PARAMETER_1, RFM2gClose(NULL));
	x = NULL;
	GIVES(NULL_DESCRIPTOR, RFM2gClose(&x));
	RFM2gOpen(path, &x);
	y = x;
	GIVES(SUCCESS, RFM2gClose(&x));
	GIVES(BAD_PARAMETER_1, RFM2gClose(&y));
	RFM2gOpen(path, &x);
	close(x->fd);
	GIVES(OS_ERROR, RFM2gClose(&x));
	is(!x && files() == before, "closing a handle whose file was closed: OS_ERROR, and the handle is closed");
}

/*
 * Open the maximum number of handles. Let mmap() fail, so that the test also
 * passes on a kernel that has no room for a mapping of each handle.
 */
static void many(void)
{
	static RFM2GHANDLE x[1024];
	struct rlimit limit = { 4096, 4096 };
	int before = files(), n;
	RFM2G_UINT32 value;

	setrlimit(RLIMIT_NOFILE, &limit);
	RFM2gPoke32(h, 64, 0xCAFE);
	wrap_no_mmap(true);
	for (n = 0; n < 1023 && !RFM2gOpen(path, &x[n]); n++)
		;
	is(n == 1023, "%d handles are open at once", n + 1);
	GIVES(LOW_MEMORY, RFM2gOpen(path, &x[1023]));
	is(!RFM2gPeek32(x[1022], 64, &value) && value == 0xCAFE, "the last of 1023 handles works");
	for (wrong = 0; n--;)
		wrong += RFM2gClose(&x[n]) != RFM2G_SUCCESS;
	is(!wrong && files() == before, "all of 1023 handles are closed");
	wrap_no_mmap(false);
}

static void *open_cancelled(void *unused)
{
	RFM2GHANDLE x;

	pthread_cancel(pthread_self());
	if (!RFM2gOpen(path, &x))
		RFM2gClose(&x);
	return unused;
}

/*
 * Start 1024 threads, one after the other, and cancel each while it opens the
 * device. A process may have at most 1024 open handles, so the last open
 * succeeds only if cancelled threads leave no handle.
 */
static void cancelled(void)
{
	int before = files();
	pthread_t thread;
	RFM2GHANDLE x;

	wrap_no_mmap(true);
	for (int i = 0; i < 1024; i++)
		if (!pthread_create(&thread, NULL, open_cancelled, NULL))
			pthread_join(thread, NULL);
	GIVES(SUCCESS, RFM2gOpen(path, &x));
	GIVES(SUCCESS, RFM2gClose(&x));
	is(files() == before, "threads that are cancelled in RFM2gOpen() leave no handle");
	wrap_no_mmap(false);
}

static void identity(void)
{
	RFM2G_BOOL mapped;
	int major, minor;
	RFM2GCONFIG config;
	RFM2G_NODE id = 999;
	RFM2G_UINT8 board = 0;
	RFM2G_UINT32 n = 0, first = 99;
	char text[128];

	is(!RFM2gGetConfig(h, &config) && config.NodeId == node && config.MemorySize == size,
	   "RFM2gGetConfig() returns node and size");
	GIVES(BAD_PARAMETER_2, RFM2gGetConfig(h, NULL));
	is(!memcmp(&config, &h->Config, offsetof(RFM2GCONFIG, Lcsr1)), "the handle has the configuration");
	is(!RFM2gNodeID(h, &id) && id == node, "RFM2gNodeID() returns node %u", id);
	GIVES(BAD_PARAMETER_2, RFM2gNodeID(h, NULL));
	is(!RFM2gBoardID(h, &board) && board == 0x65, "board 0x%x", board);
	GIVES(BAD_PARAMETER_2, RFM2gBoardID(h, NULL));
	is(!RFM2gSize(h, &n) && n == size, "size %u", n);
	GIVES(BAD_PARAMETER_2, RFM2gSize(h, NULL));
	is(!RFM2gFirst(h, &first) && !first, "RFM2gFirst() returns 0");
	GIVES(BAD_PARAMETER_2, RFM2gFirst(h, NULL));
	is(!RFM2gDeviceName(h, text) && !strcmp(text, path) && strlen(text) < 64, "name %s", text);
	GIVES(BAD_PARAMETER_2, RFM2gDeviceName(h, NULL));
	is(!RFM2gDllVersion(h, text) && sscanf(text, "R%2d.%2d", &major, &minor) == 2 && major == RFM2G_VERSION_MAJOR &&
	   minor == RFM2G_VERSION_MINOR && strlen(text) < 16,
	   "the version of the library begins with R, two numbers: %s", text);
	is(!RFM2gxIsMapped(h, &mapped) && mapped, "RFM2gxIsMapped() of a mapped handle");
	GIVES(BAD_PARAMETER_2, RFM2gxIsMapped(h, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gDllVersion(h, NULL));
	is(!RFM2gDriverVersion(h, text) && !strcmp(text, config.DriverVersion), "driver %s", text);
	GIVES(BAD_PARAMETER_2, RFM2gDriverVersion(h, NULL));
	h->Config.MemorySize = 16;
	is(!RFM2gPeek8(h, size - 1, &board), "changes of the configuration in a handle have no effect");
	h->Config.MemorySize = size;
}

static void blocks(void)
{
	static char block[3 * PAGE], back[3 * PAGE];
	RFM2GHANDLE other;

	for (int i = 0; i < 3 * PAGE; i++)
		block[i] = i * 7 + i / 256;
	RFM2gOpen(path, &other);
	for (int len = 0; len < 40; len++)
		for (int offset = 500; offset < 517; offset++) {
			memset(back, 0x55, 64);
			wrong += RFM2gWrite(h, offset, block + len, len) != RFM2G_SUCCESS;
			wrong += RFM2gRead(other, offset, back + 1, len) != RFM2G_SUCCESS;
			wrong += memcmp(back + 1, block + len, len) || back[0] != 0x55 || back[len + 1] != 0x55;
		}
	is(!wrong, "every length up to 39 at every alignment, written by one handle and read by another");
	RFM2gClose(&other);
	GIVES(SUCCESS, RFM2gWrite(h, size - 3 * PAGE, block, 3 * PAGE));
	GIVES(SUCCESS, RFM2gRead(h, size - 3 * PAGE, back, 3 * PAGE));
	is(!memcmp(block, back, 3 * PAGE), "RFM2gRead() returns the last pages");
	GIVES(SUCCESS, RFM2gRead(h, size - 1, back, 1));
	GIVES(SUCCESS, RFM2gRead(h, size, back, 0));
	GIVES(SUCCESS, RFM2gWrite(h, size, block, 0));
	GIVES(OUT_OF_RANGE, RFM2gRead(h, size, back, 1));
	GIVES(OUT_OF_RANGE, RFM2gRead(h, size + 1, back, 0));
	GIVES(OUT_OF_RANGE, RFM2gRead(h, size - 1, back, 2));
	GIVES(OUT_OF_RANGE, RFM2gRead(h, 0xFFFFFFFF, back, 2));
	GIVES(OUT_OF_RANGE, RFM2gRead(h, 16, back, 0xFFFFFFF8));
	GIVES(OUT_OF_RANGE, RFM2gRead(h, size, NULL, 1));
	GIVES(BAD_PARAMETER_3, RFM2gRead(h, 0, NULL, 1));
	GIVES(OUT_OF_RANGE, RFM2gWrite(h, size, block, 1));
	GIVES(OUT_OF_RANGE, RFM2gWrite(h, 0xFFFFFFFF, block, 2));
	GIVES(OUT_OF_RANGE, RFM2gWrite(h, 16, block, 0xFFFFFFF8));
	GIVES(OUT_OF_RANGE, RFM2gWrite(h, size, NULL, 1));
	GIVES(BAD_PARAMETER_3, RFM2gWrite(h, 0, NULL, 1));
	GIVES(OS_ERROR, RFM2gWrite(h, 0, (void *)8, 100));
}

static void words(void)
{
	RFM2G_UINT8 b;
	RFM2G_UINT16 w;
	RFM2G_UINT32 l;
	RFM2G_UINT64 ll;

	is(!RFM2gPoke64(h, 800, 0x1122334455667788) && !RFM2gPeek64(h, 800, &ll) && ll == 0x1122334455667788,
	   "64 bits");
	is(!RFM2gPeek32(h, 800, &l) && l == 0x55667788 && !RFM2gPeek16(h, 802, &w) && w == 0x5566 &&
	   !RFM2gPeek8(h, 807, &b) && b == 0x11, "peeks of all widths return the parts of a word of 64 bits");
	is(!RFM2gPoke8(h, 801, 0xAA) && !RFM2gPoke16(h, 802, 0xBBBB) && !RFM2gPoke32(h, 804, 0xCCCCCCCC) &&
	   !RFM2gPeek64(h, 800, &ll) && ll == 0xCCCCCCCCBBBBAA88, "a peek of 64 bits returns parts that were poked");
	GIVES(SUCCESS, RFM2gPeek8(h, size - 1, &b));
	GIVES(SUCCESS, RFM2gPeek16(h, size - 2, &w));
	GIVES(SUCCESS, RFM2gPeek32(h, size - 4, &l));
	GIVES(SUCCESS, RFM2gPeek64(h, size - 8, &ll));
	GIVES(OUT_OF_RANGE, RFM2gPeek8(h, size, &b));
	GIVES(OUT_OF_RANGE, RFM2gPeek16(h, size - 1, &w));
	GIVES(OUT_OF_RANGE, RFM2gPeek32(h, size - 3, &l));
	GIVES(OUT_OF_RANGE, RFM2gPeek64(h, size - 7, &ll));
	GIVES(OUT_OF_RANGE, RFM2gPeek64(h, 0xFFFFFFF8, &ll));
	GIVES(UNALIGNED_OFFSET, RFM2gPeek16(h, 1, &w));
	GIVES(UNALIGNED_OFFSET, RFM2gPeek32(h, 2, &l));
	GIVES(UNALIGNED_OFFSET, RFM2gPeek64(h, 4, &ll));
	GIVES(BAD_PARAMETER_3, RFM2gPeek8(h, size, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gPeek16(h, 1, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gPeek32(h, 0, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gPeek64(h, 0, NULL));
	GIVES(SUCCESS, RFM2gPoke8(h, size - 1, 1));
	GIVES(SUCCESS, RFM2gPoke64(h, size - 8, 1));
	GIVES(OUT_OF_RANGE, RFM2gPoke8(h, size, 1));
	GIVES(OUT_OF_RANGE, RFM2gPoke16(h, size - 1, 1));
	GIVES(OUT_OF_RANGE, RFM2gPoke32(h, size - 3, 1));
	GIVES(OUT_OF_RANGE, RFM2gPoke64(h, size - 7, 1));
	GIVES(UNALIGNED_OFFSET, RFM2gPoke16(h, 1, 1));
	GIVES(UNALIGNED_OFFSET, RFM2gPoke32(h, 2, 1));
	GIVES(UNALIGNED_OFFSET, RFM2gPoke64(h, 4, 1));
}

/* Map the whole memory and a part of it, and unmap both. */
static void user_memory(void)
{
	volatile void *p = NULL, *q = NULL;
	RFM2G_UINT32 value;

	GIVES(SUCCESS, RFM2gUserMemory(h, &p, 0, size / PAGE));
	GIVES(SUCCESS, RFM2gUserMemoryBytes(h, &q, PAGE, 5));
	((volatile RFM2G_UINT32 *)q)[3] = 0xFACE;
	is(((volatile RFM2G_UINT32 *)p)[PAGE / 4 + 3] == 0xFACE, "two mappings see each other's stores");
	is(!RFM2gPeek32(h, PAGE + 12, &value) && value == 0xFACE, "a peek returns a stored word");
	RFM2gPoke32(h, PAGE + 12, 0xBEEF);
	is(((volatile RFM2G_UINT32 *)q)[3] == 0xBEEF, "a mapping shows a poked word");
	GIVES(SUCCESS, RFM2gUnMapUserMemory(h, &p, size / PAGE));
	GIVES(SUCCESS, RFM2gUnMapUserMemoryBytes(h, &q, 5));
	is(!p && !q, "unmapping sets the pointers to NULL");
	GIVES(BAD_PARAMETER_2, RFM2gUserMemory(h, NULL, 0, 0));
	GIVES(BAD_PARAMETER_4, RFM2gUserMemory(h, &p, size, 0));
	GIVES(BAD_PARAMETER_4, RFM2gUserMemoryBytes(h, &p, size, 0));
	GIVES(BAD_PARAMETER_2, RFM2gUserMemoryBytes(h, NULL, 0, 0));
	GIVES(OUT_OF_RANGE, RFM2gUserMemory(h, &p, 0, size / PAGE + 1));
	GIVES(OUT_OF_RANGE, RFM2gUserMemory(h, &p, PAGE, size / PAGE));
	GIVES(OUT_OF_RANGE, RFM2gUserMemory(h, &p, size, 1));
	GIVES(OUT_OF_RANGE, RFM2gUserMemory(h, &p, 0, 0xFFFFFFFF));
	GIVES(OUT_OF_RANGE, RFM2gUserMemory(h, &p, 1ULL << 32, 1));
	GIVES(OUT_OF_RANGE, RFM2gUserMemoryBytes(h, &p, 0, size + 1));
	GIVES(OUT_OF_RANGE, RFM2gUserMemoryBytes(h, &p, 0, 0xFFFFFFFF));
	GIVES(MEM_NOT_MAPPED, RFM2gUserMemory(h, &p, 8, 1));
	GIVES(BAD_PARAMETER_3, RFM2gUserMemory(h, &p, 6, 1));
	GIVES(BAD_PARAMETER_3, RFM2gUserMemory(h, &p, PAGE + 2, 1));
	GIVES(BAD_PARAMETER_3, RFM2gUserMemory(h, &p, PAGE + 4, 1));
	GIVES(OUT_OF_RANGE, RFM2gUserMemory(h, &p, size + 2, 1));
	is(!p, "a failed mapping sets the pointer to NULL");
	GIVES(BAD_PARAMETER_2, RFM2gUnMapUserMemory(h, NULL, 1));
	GIVES(BAD_PARAMETER_2, RFM2gUnMapUserMemory(h, &p, 1));
	p = (volatile void *)(PAGE + 1);
	GIVES(BAD_PARAMETER_3, RFM2gUnMapUserMemory(h, &p, 0));
	GIVES(OS_ERROR, RFM2gUnMapUserMemory(h, &p, 1));
	GIVES(BAD_PARAMETER_2, RFM2gUnMapUserMemoryBytes(h, NULL, 1));
	GIVES(BAD_PARAMETER_3, RFM2gUnMapUserMemoryBytes(h, &p, 0));
}

static void special_memory(void)
{
	volatile void *p = NULL;
	RFM2G_UINT32 value;

	GIVES(SUCCESS, RFM2gUserMemory(h, &p, RFM2G_BAR2_MMAP_OFFSET, 1));
	is(p && ((volatile RFM2G_UINT8 *)p)[RFM2G_NID] == node, "mapped BAR2 has the node");
	RFM2gUnMapUserMemory(h, &p, 1);
	GIVES(SUCCESS, RFM2gUserMemory(h, &p, RFM2G_BAR0_MMAP_OFFSET, 1));
	RFM2gReadReg(h, RFM2GCFGREGMEM, RFM2G_WINDOW_RANGE, 4, &value);
	is(p && ((volatile RFM2G_UINT32 *)p)[RFM2G_WINDOW_RANGE / 4] == value, "mapped BAR0 has the window");
	RFM2gUnMapUserMemory(h, &p, 1);
	GIVES(SUCCESS, RFM2gUserMemory(h, &p, 0x40000000 | RFM2G_DMA_MMAP_OFFSET, 512));
	if (p) {
		memset((void *)p, 0x44, 512 * PAGE);
		RFM2gSetDMAThreshold(h, 16);
		GIVES(SUCCESS, RFM2gWrite(h, 0, (void *)p, PAGE));
		is(!RFM2gPeek32(h, PAGE - 4, &value) && value == 0x44444444, "RFM2gWrite() from a DMA buffer");
		RFM2gSetDMAThreshold(h, 0xFFFFFFFF);
	}
	GIVES(SUCCESS, RFM2gUnMapUserMemory(h, &p, 512));
	GIVES(OS_ERROR, RFM2gUserMemory(h, &p, 0x40000800 | RFM2G_DMA_MMAP_OFFSET, 1));
	GIVES(MEM_NOT_MAPPED, RFM2gUserMemory(h, &p, RFM2G_DMA_MMAP_OFFSET, 1));
	/*
	 * Mapping registers (BAR2) takes two steps: the library requests the
	 * registers, and calls mmap(). If mmap() fails, the next mmap() must
	 * map the memory, not the registers.
	 */
	wrap_no_mmap(true);
	GIVES(MEM_NOT_MAPPED, RFM2gUserMemory(h, &p, RFM2G_BAR2_MMAP_OFFSET, 1));
	GIVES(MEM_NOT_MAPPED, RFM2gUserMemory(h, &p, 0, 1));
	wrap_no_mmap(false);
	GIVES(SUCCESS, RFM2gUserMemory(h, &p, 0, 1));
	RFM2gPoke32(h, 16, 0xD00D);
	is(p && ((volatile RFM2G_UINT32 *)p)[4] == 0xD00D, "a mapping after a failed special one is of the memory");
	GIVES(SUCCESS, RFM2gUnMapUserMemory(h, &p, 1));
}

static void device_memory(void)
{
	volatile void *p = NULL;
	RFM2G_UINT32 value = 0;

	GIVES(SUCCESS, RFM2gMapDeviceMemory(h, RFM2GMEM, &p));
	RFM2gPoke32(h, size - 4, 0xD00D);
	is(p && ((volatile RFM2G_UINT32 *)p)[size / 4 - 1] == 0xD00D, "RFM2gMapDeviceMemory() maps all of the memory");
	GIVES(SUCCESS, RFM2gUnMapDeviceMemory(h, RFM2GMEM, &p));
	is(!p, "RFM2gUnMapDeviceMemory() sets the pointer to NULL");
	GIVES(SUCCESS, RFM2gMapDeviceMemory(h, RFM2GCTRLREGMEM, &p));
	RFM2gReadReg(h, RFM2GCTRLREGMEM, RFM2G_LCSR1, 4, &value);
	is(p && ((volatile RFM2G_UINT32 *)p)[RFM2G_LCSR1 / 4] == value, "RFM2gMapDeviceMemory() maps the registers");
	GIVES(SUCCESS, RFM2gUnMapDeviceMemory(h, RFM2GCTRLREGMEM, &p));
	GIVES(SUCCESS, RFM2gMapDeviceMemory(h, RFM2GCFGREGMEM, &p));
	GIVES(SUCCESS, RFM2gUnMapDeviceMemory(h, RFM2GCFGREGMEM, &p));
	GIVES(BAD_PARAMETER_2, RFM2gMapDeviceMemory(h, RFM2GCFGREGIO, &p));
	GIVES(BAD_PARAMETER_2, RFM2gMapDeviceMemory(h, RFM2GRESERVED0REG, &p));
	GIVES(BAD_PARAMETER_2, RFM2gMapDeviceMemory(h, RFM2GRESERVED1REG, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gMapDeviceMemory(h, RFM2GMEM, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gUnMapDeviceMemory(h, RFM2GMEM, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gUnMapDeviceMemory(h, RFM2GMEM, &p));
	GIVES(BAD_PARAMETER_2, RFM2gUnMapDeviceMemory(h, RFM2GCFGREGIO, &p));
}

static void registers(void)
{
	RFM2G_UINT8 b[4] = { 0xEE, 0xEE, 0xEE, 0xEE };
	RFM2G_UINT32 value = 0;

	is(!RFM2gReadReg(h, RFM2GCTRLREGMEM, RFM2G_NID, 1, b) && b[0] == node && b[1] == 0xEE,
	   "RFM2gReadReg() of 8 bits returns one byte");
	is(!RFM2gReadReg(h, RFM2GCTRLREGMEM, RFM2G_BID, 2, b) && b[0] == 0x65 && b[2] == 0xEE,
	   "RFM2gReadReg() of 16 bits returns two bytes");
	is(!RFM2gWriteReg(h, RFM2GCTRLREGMEM, RFM2G_NTD, 4, 0x12345678) &&
	   !RFM2gSetReg(h, RFM2GCTRLREGMEM, RFM2G_NTD, 4, 0x80000001) &&
	   !RFM2gClearReg(h, RFM2GCTRLREGMEM, RFM2G_NTD, 4, 0x00000078) &&
	   !RFM2gReadReg(h, RFM2GCTRLREGMEM, RFM2G_NTD, 4, &value) && value == 0x92345601, "written, set, cleared");
	is(!RFM2gWriteReg(h, RFM2GMEM, 100, 4, 0xABCD) && !RFM2gPeek32(h, 100, &value) && value == 0xABCD,
	   "RFM2gWriteReg() writes to the memory");
	GIVES(BAD_PARAMETER_4, RFM2gReadReg(h, RFM2GCFGREGIO, 999, 3, NULL));
	GIVES(BAD_PARAMETER_4, RFM2gReadReg(h, RFM2GCTRLREGMEM, 0, 8, &value));
	GIVES(BAD_PARAMETER_4, RFM2gReadReg(h, RFM2GCTRLREGMEM, 0, 0, &value));
	GIVES(BAD_PARAMETER_2, RFM2gReadReg(h, RFM2GCFGREGIO, 999, 4, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gReadReg(h, RFM2GRESERVED1REG, 0, 4, &value));
	GIVES(BAD_PARAMETER_3, RFM2gReadReg(h, RFM2GCFGREGMEM, 509, 4, NULL));
	GIVES(SUCCESS, RFM2gReadReg(h, RFM2GCFGREGMEM, 508, 4, &value));
	GIVES(BAD_PARAMETER_3, RFM2gReadReg(h, RFM2GCTRLREGMEM, 64, 1, &value));
	GIVES(SUCCESS, RFM2gReadReg(h, RFM2GCTRLREGMEM, 63, 1, &value));
	GIVES(BAD_PARAMETER_3, RFM2gReadReg(h, RFM2GMEM, size - 1, 2, &value));
	GIVES(SUCCESS, RFM2gReadReg(h, RFM2GMEM, size - 2, 2, &value));
	GIVES(BAD_PARAMETER_3, RFM2gReadReg(h, RFM2GMEM, 0xFFFFFFFF, 2, &value));
	GIVES(BAD_PARAMETER_5, RFM2gReadReg(h, RFM2GCTRLREGMEM, 0, 4, NULL));
	GIVES(BAD_PARAMETER_4, RFM2gWriteReg(h, RFM2GCFGREGIO, 999, 3, 0));
	GIVES(BAD_PARAMETER_2, RFM2gWriteReg(h, RFM2GCFGREGIO, 999, 4, 0));
	GIVES(BAD_PARAMETER_3, RFM2gWriteReg(h, RFM2GCTRLREGMEM, 61, 4, 0));
	GIVES(BAD_PARAMETER_4, RFM2gSetReg(h, RFM2GCFGREGIO, 999, 3, 0));
	GIVES(BAD_PARAMETER_2, RFM2gSetReg(h, RFM2GCFGREGIO, 999, 4, 0));
	GIVES(BAD_PARAMETER_3, RFM2gSetReg(h, RFM2GMEM, size - 3, 4, 0));
	GIVES(BAD_PARAMETER_4, RFM2gClearReg(h, RFM2GCFGREGIO, 999, 3, 0));
	GIVES(BAD_PARAMETER_2, RFM2gClearReg(h, RFM2GCFGREGIO, 999, 4, 0));
	GIVES(BAD_PARAMETER_3, RFM2gClearReg(h, RFM2GCTRLREGMEM, 63, 2, 0));
}

static void switches(void)
{
	static const struct {
		const char *name;
		RFM2G_STATUS (*get)(RFM2GHANDLE rh, RFM2G_BOOL *state);
		RFM2G_STATUS (*set)(RFM2GHANDLE rh, RFM2G_BOOL state);
		RFM2G_BOOL before;
		RFM2G_UINT32 bit;
	} all[] = {
		{ "led", RFM2gGetLed, RFM2gSetLed, 0, RFM2G_LCSR1_LED },
		{ "dark on dark", RFM2gGetDarkOnDark, RFM2gSetDarkOnDark, 0, RFM2G_LCSR1_DARK_ON_DARK },
		{ "transmitter", RFM2gGetTransmit, RFM2gSetTransmit, 1, RFM2G_LCSR1_TX_DISABLE },
		{ "loopback", RFM2gGetLoopback, RFM2gSetLoopback, 0, RFM2G_LCSR1_LOOPBACK },
		{ "parity", RFM2gGetParityEnable, RFM2gSetParityEnable, 0, RFM2G_LCSR1_PARITY },
		{ "DMA byte swap", RFM2gGetDMAByteSwap, RFM2gSetDMAByteSwap, 0, 0 },
		{ "PIO byte swap", RFM2gGetPIOByteSwap, RFM2gSetPIOByteSwap, 0, 0 },
	};
	RFM2G_UINT32 lcsr, value;
	RFM2G_BOOL b;
	bool good;

	for (unsigned int i = 0; i < sizeof(all) / sizeof(*all); i++) {
		good = !all[i].get(h, &b) && b == all[i].before;
		good = good && !all[i].set(h, !b) && !all[i].get(h, &b) && b == !all[i].before;
		RFM2gReadReg(h, RFM2GCTRLREGMEM, RFM2G_LCSR1, 4, &lcsr);
		good = good && (!all[i].bit || lcsr & all[i].bit);
		good = good && !all[i].set(h, all[i].before) && !all[i].get(h, &b) && b == all[i].before;
		is(good && all[i].get(h, NULL) == RFM2G_BAD_PARAMETER_2, "%s", all[i].name);
	}
	RFM2gSetPIOByteSwap(h, RFM2G_TRUE);
	is(!RFM2gPoke32(h, 40, 0x01020304) && !RFM2gPeek32(h, 40, &value) && value == 0x01020304,
	   "SetPIOByteSwap does not swap data");
	RFM2gSetPIOByteSwap(h, RFM2G_FALSE);
}

static void numbers(void)
{
	RFM2G_MEM_OFFSETTYPE where = RFM2G_MEM_OFFSET3;
	RFM2G_UINT32 n;
	RFM2G_BOOL b;

	is(!RFM2gGetDMAThreshold(h, &n) && n == 0xFFFFFFFF && !RFM2gSetDMAThreshold(h, 4096) &&
	   !RFM2gGetDMAThreshold(h, &n) && n == 4096, "DMA threshold");
	RFM2gSetDMAThreshold(h, 0xFFFFFFFF);
	GIVES(BAD_PARAMETER_2, RFM2gGetDMAThreshold(h, NULL));
	is(!RFM2gGetDebugFlags(h, &n) && n == RFM2G_DBERROR && !RFM2gSetDebugFlags(h, RFM2G_DBDMA) &&
	   !RFM2gGetDebugFlags(h, &n) && n == RFM2G_DBDMA, "debug flags are set");
	RFM2gSetDebugFlags(h, RFM2G_DBERROR);
	GIVES(BAD_PARAMETER_2, RFM2gGetDebugFlags(h, NULL));
	GIVES(SUCCESS, RFM2gCheckRingCont(h));
	is(!RFM2gClearOwnData(h, &b) && b == 1 && !RFM2gClearOwnData(h, &b) && b == 0,
	   "RFM2gClearOwnData() clears own data");
	GIVES(BAD_PARAMETER_2, RFM2gClearOwnData(h, NULL));
	is(!RFM2gGetMemoryOffset(h, &where) && where == RFM2G_MEM_OFFSET0, "the memory offset is 0");
	GIVES(BAD_PARAMETER_2, RFM2gGetMemoryOffset(h, NULL));
	GIVES(SUCCESS, RFM2gSetMemoryOffset(h, RFM2G_MEM_OFFSET0));
	GIVES(OS_ERROR, RFM2gSetMemoryOffset(h, RFM2G_MEM_OFFSET3));
	GIVES(BAD_PARAMETER_2, RFM2gSetMemoryOffset(h, 4));
	GIVES(SUCCESS, RFM2gxFlush(h));
}

/* Numbers of commands that only vrfm has, not the cards. */
#define OWN_FLUSH 0xC018EA01
#define OWN_WATCH 0xC020EA02
#define OWN_UNWATCH 0x0000EA03
#define OWN_CLAIM 0x4010EA05
#define OWN_PEERS 0xC030EA04

static void flushing(void)
{
	RFM2GXFLUSHED flushed = { 7, 7, 7 };

	GIVES(SUCCESS, RFM2gxFlushTimeout(h, 1000, &flushed));
	is(!flushed.Reached && !flushed.Behind && !flushed.Absent, "RFM2gxFlushTimeout() without peers counts none");
	GIVES(SUCCESS, RFM2gxFlushTimeout(h, 0, NULL));
	GIVES(SUCCESS, RFM2gxFlushTimeout(h, RFM2GX_FOREVER, NULL));
	wrap_fail(OWN_FLUSH, ETIMEDOUT);
	flushed.Behind = 9;
	GIVES(TIMED_OUT, RFM2gxFlushTimeout(h, 1000, &flushed));
	is(!flushed.Behind, "RFM2gxFlushTimeout() sets the counts after a timeout");
	wrap_fail(OWN_FLUSH, EINTR);
	flushed.Behind = 9;
	GIVES(SIGNALED, RFM2gxFlushTimeout(h, 1000, &flushed));
	is(flushed.Behind == 9, "RFM2gxFlushTimeout() sets no counts after another error");
	wrap_fail(OWN_FLUSH, ENOTTY);
	GIVES(NOT_SUPPORTED, RFM2gxFlushTimeout(h, 1000, NULL));
	wrap_fail(OWN_FLUSH, EIO);
	GIVES(OS_ERROR, RFM2gxFlushTimeout(h, 1000, NULL));
	wrap_fail(WRAP_FSYNC, ETIMEDOUT);
	GIVES(TIMED_OUT, RFM2gxFlush(h));
	wrap_fail(WRAP_FSYNC, EINTR);
	GIVES(SIGNALED, RFM2gxFlush(h));
	wrap_fail(WRAP_FSYNC, ENOMEM);
	GIVES(LOW_MEMORY, RFM2gxFlush(h));
	wrap_fail(WRAP_FSYNC, EIO);
	GIVES(OS_ERROR, RFM2gxFlush(h));
	wrap_fail(0, 0);
}

static void watching(void)
{
	RFM2G_UINT32 seen = 5, at = 99;

	GIVES(BAD_PARAMETER_3, RFM2gxWatch(h, 0, 0, NULL, 0, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gxWatch(h, 0, RFM2GX_WATCH_MAX + 1, NULL, 0, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gxWatch(h, 0, 0xFFFFFFFF, NULL, 0, NULL));
	GIVES(OUT_OF_RANGE, RFM2gxWatch(h, size, 1, NULL, 0, NULL));
	GIVES(OUT_OF_RANGE, RFM2gxWatch(h, size - 3, 4, NULL, 0, NULL));
	GIVES(OUT_OF_RANGE, RFM2gxWatch(h, 0xFFFFFFFF, 2, NULL, 0, NULL));
	GIVES(TIMED_OUT, RFM2gxWatch(h, size - 4, 4, NULL, 0, &at));
	is(at == 99, "RFM2gxWatch() sets no offset after a timeout");
	RFM2gPoke32(h, 1600, 5);
	GIVES(TIMED_OUT, RFM2gxWatch(h, 1600, 4, &seen, 20, &at));
	RFM2gPoke8(h, 1602, 1);
	GIVES(SUCCESS, RFM2gxWatch(h, 1600, 4, &seen, RFM2GX_FOREVER, &at));
	is(at == 1602, "RFM2gxWatch() sets the offset of the change: %u", at);
	GIVES(SUCCESS, RFM2gxWatch(h, 1600, 4, &seen, 0, NULL));
	GIVES(OS_ERROR, RFM2gxWatch(h, 1600, 4, (void *)8, 0, NULL));
	GIVES(SUCCESS, RFM2gxUnwatch(h));
	wrap_fail(OWN_WATCH, ENOTTY);
	GIVES(NOT_SUPPORTED, RFM2gxWatch(h, 0, 4, NULL, 0, NULL));
	wrap_fail(OWN_WATCH, EIDRM);
	GIVES(WAIT_EVENT_CANCELED, RFM2gxWatch(h, 0, 4, NULL, 0, NULL));
	wrap_fail(OWN_WATCH, EINTR);
	GIVES(SIGNALED, RFM2gxWatch(h, 0, 4, NULL, 0, NULL));
	wrap_fail(OWN_WATCH, ENOMEM);
	GIVES(LOW_MEMORY, RFM2gxWatch(h, 0, 4, NULL, 0, NULL));
	wrap_fail(OWN_UNWATCH, ENOTTY);
	GIVES(NOT_SUPPORTED, RFM2gxUnwatch(h));
	wrap_fail(0, 0);
}

static void claims(void)
{
	GIVES(BAD_PARAMETER_3, RFM2gxClaim(h, 0, 0));
	GIVES(BAD_PARAMETER_3, RFM2gxUnclaim(h, 0, 0));
	GIVES(OUT_OF_RANGE, RFM2gxClaim(h, size, 1));
	GIVES(OUT_OF_RANGE, RFM2gxClaim(h, size - 3, 4));
	GIVES(OUT_OF_RANGE, RFM2gxUnclaim(h, 0xFFFFFFFF, 2));
	GIVES(SUCCESS, RFM2gxClaim(h, 0, size));
	GIVES(SUCCESS, RFM2gxClaim(h, size - 4, 4));
	GIVES(SUCCESS, RFM2gxUnclaim(h, 65536, 4));
	GIVES(SUCCESS, RFM2gxUnclaim(h, 65536, 4));
	wrap_fail(OWN_CLAIM, ENOTTY);
	GIVES(NOT_SUPPORTED, RFM2gxClaim(h, 0, 4));
	wrap_fail(OWN_CLAIM, ENOMEM);
	GIVES(LOW_MEMORY, RFM2gxClaim(h, 0, 4));
	wrap_fail(OWN_CLAIM, ETIMEDOUT);
	GIVES(TIMED_OUT, RFM2gxClaim(h, 0, 4));
	wrap_fail(0, 0);
}

static void peers(void)
{
	RFM2GXPEER peer = { .Node = 77 };
	RFM2GXIMAGE image = { .Loading = 1, .Loaded = 9 };
	RFM2G_UINT32 n = 99;

	GIVES(SUCCESS, RFM2gxPeers(h, &peer, sizeof(peer), 1, &n, &image));
	is(!n && peer.Node == 77, "RFM2gxPeers() without peers returns none");
	is(!image.Loading && !image.Loaded && image.Size == size && image.Lineage,
	   "RFM2gxPeers() returns a complete image");
	GIVES(SUCCESS, RFM2gxPeers(h, NULL, sizeof(peer), 0, &n, NULL));
	GIVES(SUCCESS, RFM2gxPeers(h, &peer, 4096, 0, &n, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gxPeers(h, NULL, sizeof(peer), 1, &n, &image));
	GIVES(SUCCESS, RFM2gxPeers(h, &peer, offsetof(RFM2GXPEER, LateMs), 1, &n, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gxPeers(h, &peer, offsetof(RFM2GXPEER, LateMs) - 1, 1, &n, &image));
	GIVES(BAD_PARAMETER_3, RFM2gxPeers(h, &peer, 4097, 1, &n, &image));
	GIVES(BAD_PARAMETER_5, RFM2gxPeers(h, &peer, sizeof(peer), 1, NULL, &image));
	wrap_fail(OWN_PEERS, ENOTTY);
	n = 99;
	GIVES(NOT_SUPPORTED, RFM2gxPeers(h, &peer, sizeof(peer), 1, &n, &image));
	is(n == 99, "RFM2gxPeers() sets no number after an error");
	wrap_fail(OWN_PEERS, EIO);
	GIVES(OS_ERROR, RFM2gxPeers(h, &peer, sizeof(peer), 1, &n, &image));
	wrap_fail(0, 0);
}

static void window(void)
{
	RFM2G_UINT32 offset = 99, bytes = 99;

	GIVES(BAD_PARAMETER_2, RFM2gGetSlidingWindow(h, NULL, &bytes));
	if (!WINDOW_SIZES) {
		GIVES(NOT_SUPPORTED, RFM2gGetSlidingWindow(h, &offset, &bytes));
		GIVES(NOT_SUPPORTED, RFM2gSetSlidingWindow(h, 0));
		return;
	}
	is(!RFM2gGetSlidingWindow(h, &offset, &bytes) && offset == 0 && bytes == size,
	   "the sliding window is the whole memory");
	GIVES(SUCCESS, RFM2gGetSlidingWindow(h, &offset, NULL));
	GIVES(SUCCESS, RFM2gSetSlidingWindow(h, 0));
	GIVES(BAD_PARAMETER_2, RFM2gSetSlidingWindow(h, 4096));
	GIVES(OUT_OF_RANGE, RFM2gSetSlidingWindow(h, size));
	wrap_fail(IOCTL_RFM2G_SET_SLIDING_WINDOW_OFFSET, EIO);
	GIVES(DRIVER_ERROR, RFM2gSetSlidingWindow(h, 0));
	wrap_fail(IOCTL_RFM2G_READ_REG, EIO);
	GIVES(OS_ERROR, RFM2gGetSlidingWindow(h, &offset, &bytes));
	wrap_fail(0, 0);
}

static void card_windows(RFM2GHANDLE x, struct wrap_card *card)
{
	static const struct {
		RFM2G_UINT32 range, mib;
	} windows[] = {
		{ 0xFFE00001, 2 }, { 0xFF000008, 16 }, { 0xFC00000F, 64 }, { 0xF8000000, 128 }, { 0xF0000001, 256 },
	};
	RFM2G_UINT32 offset, bytes;

	for (unsigned int i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		card->range = windows[i].range;
		is(!RFM2gGetSlidingWindow(x, &offset, &bytes) && bytes == windows[i].mib << 20,
		   "RFM2gGetSlidingWindow() returns a window of %u MiB",
		   windows[i].mib);
		GIVES(BAD_PARAMETER_2, RFM2gSetSlidingWindow(x, bytes / 2));
		GIVES(OUT_OF_RANGE, RFM2gSetSlidingWindow(x, 256 << 20));
	}
	card->range = 0xFFF00001;
	GIVES(DRIVER_ERROR, RFM2gGetSlidingWindow(x, &offset, &bytes));
	is(!bytes, "RFM2gGetSlidingWindow() with an invalid size returns 0 bytes");
	GIVES(DRIVER_ERROR, RFM2gSetSlidingWindow(x, 0));
}

static void card_map(RFM2GHANDLE x, RFM2GREGSETTYPE regset, RFM2G_UINT32 begin)
{
	volatile void *p = NULL;

	is(!RFM2gMapDeviceMemory(x, regset, &p) && ((uintptr_t)p & (PAGE - 1)) == begin,
	   "mapped register set %d begins at offset 0x%x of a page", regset, begin);
	GIVES(SUCCESS, RFM2gUnMapDeviceMemory(x, regset, &p));
	is(!p, "a mapped register set is unmapped");
}

/*
 * Simulate cards with windows of all sizes, and registers that begin inside a
 * page.
 */
static void cards(void)
{
	struct wrap_card card = { .or_base = 0xFEB00A80, .cs_base = 0xFEC000C0, .lcsr1 = 2 << 20, .range = 0xFC000001 };
	RFM2GHANDLE x;

	wrap_card(&card);
	GIVES(SUCCESS, RFM2gOpen(path, &x));
	card_windows(x, &card);
	card_map(x, RFM2GCFGREGMEM, 0xA80);
	card_map(x, RFM2GCTRLREGMEM, 0x0C0);
	card_map(x, RFM2GMEM, 0);
	GIVES(SUCCESS, RFM2gClose(&x));
	card.lcsr1 = 3 << 20;
	card.range = 0xFC000001;
	GIVES(SUCCESS, RFM2gOpen(path, &x));
	GIVES(OUT_OF_RANGE, RFM2gSetSlidingWindow(x, 0));
	GIVES(SUCCESS, RFM2gClose(&x));
	wrap_card(NULL);
}

static void events(void)
{
	RFM2GEVENTINFO e = { .Event = RFM2GEVENT_INTR1 };
	RFM2GQINFO q = { .Event = RFM2GEVENT_INTR1 };
	RFM2G_UINT32 n = 9;

	for (int type = 0; type < RFM2GEVENT_LAST; type++) {
		wrong += RFM2gEnableEvent(h, type) || RFM2gEnableEvent(h, type);
		wrong += RFM2gDisableEvent(h, type) || RFM2gDisableEvent(h, type);
		wrong += RFM2gClearEvent(h, type) || RFM2gFlushEventQueue(h, type);
		wrong += RFM2gClearEventCount(h, type) || RFM2gClearEventStats(h, type);
		e.Event = q.Event = type;
		wrong += RFM2gWaitForEvent(h, &e) != RFM2G_TIMED_OUT;
		wrong += RFM2gCancelWaitForEvent(h, type) != RFM2G_EVENT_NOT_IN_USE;
		wrong += RFM2gDisableEventCallback(h, type) != RFM2G_NOT_ENABLED;
		wrong += RFM2gGetEventCount(h, type, &n) || n;
		wrong += RFM2gGetEventStats(h, &q) || q.Event != type || q.EventCount;
		wrong += q.QueueSize != (type >= 1 && type <= 4 ? 127 : 1);
	}
	is(!wrong, "all functions on events accept each event");
	GIVES(BAD_PARAMETER_2, RFM2gEnableEvent(h, RFM2GEVENT_LAST));
	GIVES(BAD_PARAMETER_2, RFM2gDisableEvent(h, RFM2GEVENT_LAST));
	GIVES(BAD_PARAMETER_2, RFM2gWaitForEvent(h, NULL));
	e.Event = RFM2GEVENT_LAST;
	GIVES(BAD_PARAMETER_2, RFM2gWaitForEvent(h, &e));
	e.Event = (RFM2GEVENTTYPE)-1;
	GIVES(BAD_PARAMETER_2, RFM2gWaitForEvent(h, &e));
	GIVES(BAD_PARAMETER_2, RFM2gCancelWaitForEvent(h, RFM2GEVENT_LAST));
	GIVES(BAD_PARAMETER_2, RFM2gEnableEventCallback(h, RFM2GEVENT_LAST, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gEnableEventCallback(h, RFM2GEVENT_INTR1, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gDisableEventCallback(h, RFM2GEVENT_LAST));
	GIVES(SUCCESS, RFM2gClearEvent(h, RFM2GEVENT_LAST));
	GIVES(BAD_PARAMETER_2, RFM2gClearEvent(h, RFM2GEVENT_LAST + 1));
	GIVES(BAD_PARAMETER_2, RFM2gClearEvent(h, (RFM2GEVENTTYPE)-1));
	GIVES(BAD_PARAMETER_2, RFM2gFlushEventQueue(h, RFM2GEVENT_LAST + 1));
	GIVES(BAD_PARAMETER_2, RFM2gClearEventCount(h, RFM2GEVENT_LAST + 1));
	GIVES(BAD_PARAMETER_2, RFM2gClearEventStats(h, RFM2GEVENT_LAST + 1));
	GIVES(BAD_PARAMETER_2, RFM2gGetEventCount(h, RFM2GEVENT_LAST, NULL));
	GIVES(BAD_PARAMETER_3, RFM2gGetEventCount(h, RFM2GEVENT_INTR1, NULL));
	GIVES(BAD_PARAMETER_2, RFM2gGetEventStats(h, NULL));
	q.Event = RFM2GEVENT_LAST;
	GIVES(BAD_PARAMETER_2, RFM2gGetEventStats(h, &q));
}

static void sending(void)
{
	GIVES(SUCCESS, RFM2gSendEvent(h, node ^ 1, RFM2GEVENT_RESET, 0));
	GIVES(SUCCESS, RFM2gSendEvent(h, RFM2G_NODE_ALL, RFM2GEVENT_INTR4, 77));
	GIVES(NODE_ID_SELF, RFM2gSendEvent(h, node, RFM2GEVENT_INTR1, 0));
	GIVES(BAD_PARAMETER_3, RFM2gSendEvent(h, node, RFM2GEVENT_BAD_DATA, 0));
	GIVES(BAD_PARAMETER_3, RFM2gSendEvent(h, 256, RFM2GEVENT_LAST, 0));
	GIVES(BAD_PARAMETER_2, RFM2gSendEvent(h, 256, RFM2GEVENT_INTR1, 0));
	GIVES(BAD_PARAMETER_2, RFM2gSendEvent(h, RFM2G_NODE_UNKNOWN, RFM2GEVENT_INTR1, 0));
	wrap_fail(IOCTL_RFM2G_SEND_EVENT, EINVAL);
	GIVES(DRIVER_ERROR, RFM2gSendEvent(h, node ^ 1, RFM2GEVENT_INTR1, 0));
	wrap_fail(0, 0);
}

#define FAILS(cmd, error, wanted, call) \
	do { \
		wrap_fail(IOCTL_RFM2G_##cmd, error); \
		gives(RFM2G_##wanted, call, #error " of " #cmd ": " #wanted); \
		wrap_fail(0, 0); \
	} while (0)

/* Check the status that the library returns for each errno of the driver. */
static void errnos(void)
{
	RFM2GEVENTINFO e = { .Event = RFM2GEVENT_INTR2 };
	RFM2GQINFO q = { .Event = RFM2GEVENT_INTR2 };
	RFM2G_UINT32 n;

	FAILS(ENABLE_EVENT, ENOSYS, NOT_SUPPORTED, RFM2gEnableEvent(h, 2));
	FAILS(ENABLE_EVENT, EACCES, EVENT_IN_USE, RFM2gEnableEvent(h, 2));
	FAILS(ENABLE_EVENT, EIO, DRIVER_ERROR, RFM2gEnableEvent(h, 2));
	FAILS(DISABLE_EVENT, ENOSYS, NOT_SUPPORTED, RFM2gDisableEvent(h, 2));
	FAILS(DISABLE_EVENT, EACCES, NOT_ENABLED, RFM2gDisableEvent(h, 2));
	FAILS(DISABLE_EVENT, EIO, DRIVER_ERROR, RFM2gDisableEvent(h, 2));
	FAILS(WAIT_FOR_EVENT, EALREADY, EVENT_IN_USE, RFM2gWaitForEvent(h, &e));
	FAILS(WAIT_FOR_EVENT, ENOSYS, NOT_ENABLED, RFM2gWaitForEvent(h, &e));
	FAILS(WAIT_FOR_EVENT, EINTR, SIGNALED, RFM2gWaitForEvent(h, &e));
	FAILS(WAIT_FOR_EVENT, EIDRM, WAIT_EVENT_CANCELED, RFM2gWaitForEvent(h, &e));
	FAILS(WAIT_FOR_EVENT, EIO, DRIVER_ERROR, RFM2gWaitForEvent(h, &e));
	FAILS(WAIT_FOR_EVENT, ENOSYS, NOT_ENABLED, RFM2gEnableEventCallback(h, 2, nothing));
	FAILS(WAIT_FOR_EVENT, EALREADY, EVENT_IN_USE, RFM2gEnableEventCallback(h, 2, nothing));
	FAILS(WAIT_FOR_EVENT, EIO, OS_ERROR, RFM2gEnableEventCallback(h, 2, nothing));
	FAILS(CANCEL_EVENT, EIO, OS_ERROR, RFM2gCancelWaitForEvent(h, 2));
	FAILS(CLEAR_EVENT, EIO, DRIVER_ERROR, RFM2gClearEvent(h, 12));
	FAILS(CLEAR_EVENT, EIO, DRIVER_ERROR, RFM2gFlushEventQueue(h, 2));
	FAILS(CLEAR_EVENT_COUNT, EIO, DRIVER_ERROR, RFM2gClearEventCount(h, 2));
	FAILS(CLEAR_EVENT_STATS, EIO, DRIVER_ERROR, RFM2gClearEventStats(h, 2));
	FAILS(GET_EVENT_STATS, EIO, DRIVER_ERROR, RFM2gGetEventStats(h, &q));
	FAILS(GET_EVENT_STATS, EIO, DRIVER_ERROR, RFM2gGetEventCount(h, 2, &n));
	FAILS(CHECK_RING_CONT, EFAULT, LINK_TEST_FAIL, RFM2gCheckRingCont(h));
	FAILS(WRITE, EIO, OS_ERROR, RFM2gWrite(h, 0, &n, 4));
	FAILS(WRITE_REG, EIO, OS_ERROR, RFM2gWriteReg(h, RFM2GCTRLREGMEM, 0, 4, 0));
	FAILS(SET_REG, EIO, OS_ERROR, RFM2gSetReg(h, RFM2GCTRLREGMEM, 0, 4, 0));
	FAILS(CLEAR_REG, EIO, OS_ERROR, RFM2gClearReg(h, RFM2GCTRLREGMEM, 0, 4, 0));
	FAILS(GET_CONFIG, EIO, OS_ERROR, RFM2gGetConfig(h, &(RFM2GCONFIG){}));
	is(RFM2gDisableEventCallback(h, 2) == RFM2G_NOT_ENABLED, "a refused callback is not enabled");
}

/* Check commands for which each errno of the driver gives the same status. */
static void failures(void)
{
	RFM2G_MEM_OFFSETTYPE where;
	volatile void *p = NULL;
	RFM2G_UINT32 n;
	RFM2G_BOOL b;

	FAILS(GET_LED, EIO, OS_ERROR, RFM2gGetLed(h, &b));
	FAILS(SET_LED, EIO, OS_ERROR, RFM2gSetLed(h, 1));
	FAILS(GET_DARK_ON_DARK, EIO, OS_ERROR, RFM2gGetDarkOnDark(h, &b));
	FAILS(SET_DARK_ON_DARK, EIO, OS_ERROR, RFM2gSetDarkOnDark(h, 1));
	FAILS(GET_TRANSMIT_DISABLE, EIO, OS_ERROR, RFM2gGetTransmit(h, &b));
	FAILS(SET_TRANSMIT_DISABLE, EIO, OS_ERROR, RFM2gSetTransmit(h, 0));
	FAILS(GET_LOOPBACK, EIO, OS_ERROR, RFM2gGetLoopback(h, &b));
	FAILS(SET_LOOPBACK, EIO, OS_ERROR, RFM2gSetLoopback(h, 1));
	FAILS(GET_PARITY_ENABLE, EIO, OS_ERROR, RFM2gGetParityEnable(h, &b));
	FAILS(SET_PARITY_ENABLE, EIO, OS_ERROR, RFM2gSetParityEnable(h, 1));
	FAILS(GET_DMA_BYTESWAP, EIO, OS_ERROR, RFM2gGetDMAByteSwap(h, &b));
	FAILS(SET_DMA_BYTE_SWAP, EIO, OS_ERROR, RFM2gSetDMAByteSwap(h, 1));
	FAILS(GET_PIO_BYTESWAP, EIO, OS_ERROR, RFM2gGetPIOByteSwap(h, &b));
	FAILS(SET_PIO_BYTE_SWAP, EIO, OS_ERROR, RFM2gSetPIOByteSwap(h, 1));
	FAILS(GET_DMA_THRESHOLD, EIO, OS_ERROR, RFM2gGetDMAThreshold(h, &n));
	FAILS(SET_DMA_THRESHOLD, EIO, OS_ERROR, RFM2gSetDMAThreshold(h, 1));
	FAILS(GET_DEBUG_FLAGS, EIO, OS_ERROR, RFM2gGetDebugFlags(h, &n));
	FAILS(SET_DEBUG_FLAGS, EIO, OS_ERROR, RFM2gSetDebugFlags(h, 1));
	FAILS(CLEAR_OWN_DATA, EIO, OS_ERROR, RFM2gClearOwnData(h, &b));
	FAILS(GET_MEMORY_OFFSET, EIO, OS_ERROR, RFM2gGetMemoryOffset(h, &where));
	RFM2gUserMemory(h, &p, 0, 1);
	FAILS(CLEAR_DMA_MMAP_OFFSET, EIO, OS_ERROR, RFM2gUnMapUserMemory(h, &p, 1));
	is(p, "a mapping stays after a failed unmap");
	GIVES(SUCCESS, RFM2gUnMapUserMemory(h, &p, 1));
	RFM2gMapDeviceMemory(h, RFM2GCTRLREGMEM, &p);
	FAILS(CLEAR_DMA_MMAP_OFFSET, EIO, OS_ERROR, RFM2gUnMapDeviceMemory(h, RFM2GCTRLREGMEM, &p));
	GIVES(SUCCESS, RFM2gUnMapDeviceMemory(h, RFM2GCTRLREGMEM, &p));
}

/*
 * With a driver that knows only GET_CONFIG, each function must return an error.
 */
static void ignorant(void)
{
	RFM2GHANDLE x;
	RFM2G_UINT32 n;
	RFM2G_BOOL b;

	wrap_ignorant(EINVAL);
	GIVES(SUCCESS, RFM2gOpen(path, &x));
	GIVES(OS_ERROR, RFM2gGetLed(x, &b));
	GIVES(OS_ERROR, RFM2gSetLed(x, 1));
	GIVES(OS_ERROR, RFM2gGetDMAThreshold(x, &n));
	GIVES(OS_ERROR, RFM2gPoke32(x, 0, 1));
	GIVES(BAD_PARAMETER_2, RFM2gEnableEvent(x, RFM2GEVENT_INTR1));
	GIVES(OS_ERROR, RFM2gReadReg(x, RFM2GCTRLREGMEM, 0, 4, &n));
	GIVES(OS_ERROR, RFM2gEnableEventCallback(x, RFM2GEVENT_INTR1, nothing));
	GIVES(SUCCESS, RFM2gPeek32(x, 0, &n));
	GIVES(SUCCESS, RFM2gClose(&x));
	wrap_ignorant(0);
}

/*
 * In a process that cannot map the memory, the library must read by commands.
 */
static void unmapped(void)
{
	volatile void *p = NULL;
	char block[100];
	RFM2GHANDLE x;
	RFM2G_UINT8 b;
	RFM2G_UINT16 w;
	RFM2G_UINT32 l;
	RFM2G_UINT64 ll;

	wrap_no_mmap(true);
	GIVES(SUCCESS, RFM2gOpen(path, &x));
	GIVES(MEM_NOT_MAPPED, RFM2gUserMemory(x, &p, 0, 1));
	GIVES(MEM_NOT_MAPPED, RFM2gMapDeviceMemory(x, RFM2GMEM, &p));
	wrap_no_mmap(false);
	is(!RFM2gxIsMapped(x, &b) && !b, "RFM2gxIsMapped() of a handle without a mapping");
	RFM2gPoke64(h, 1600, 0x0102030405060708);
	is(!RFM2gPeek64(x, 1600, &ll) && ll == 0x0102030405060708 && !RFM2gPeek32(x, 1604, &l) && l == 0x01020304 &&
	   !RFM2gPeek16(x, 1602, &w) && w == 0x0506 && !RFM2gPeek8(x, 1601, &b) && b == 7,
	   "peeks of all widths without a mapping");
	is(!RFM2gRead(x, 1595, block, 100) && block[5] == 8 && block[12] == 1, "RFM2gRead() without a mapping");
	FAILS(READ, EIO, OS_ERROR, RFM2gRead(x, 0, block, 100));
	GIVES(SUCCESS, RFM2gClose(&x));
}

static void texts(void)
{
	for (int i = 0; i <= RFM2G_MAX_ERROR_CODE; i++) {
		const char *text = RFM2gErrorMsg(i);

		wrong += !text || !*text || strcmp(text, rfm2g_errlist[i]);
		for (int k = 0; k < i; k++)
			wrong += !strcmp(text, rfm2g_errlist[k]);
	}
	is(!wrong && rfm2g_nerr == 43, "each status has a different text");
	is(RFM2gErrorMsg(-1) == RFM2gErrorMsg(42) && RFM2gErrorMsg(43) == RFM2gErrorMsg(42) &&
	   RFM2gErrorMsg(0x7FFFFFFF) == RFM2gErrorMsg(42), "an unknown status has the last text");
}

int main(int argc, char **argv)
{
	static void (*const steps[])(void) = {
		handles, opening, groups, closing, many, cancelled, identity, blocks, words, user_memory,
		special_memory, device_memory, registers, switches, numbers, flushing, watching, claims,
		peers, window, cards, events, sending, errnos, failures, ignorant, unmapped, texts,
	};

	if (argc != 4)
		errx(2, "api DEVICE NODE SIZE");
	path = argv[1];
	node = strtoul(argv[2], NULL, 0);
	size = strtoul(argv[3], NULL, 0);
	if (RFM2gOpen(path, &h))
		errx(2, "%s cannot be opened", path);
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		wrong = 0;
		steps[i]();
	}
	gives(RFM2G_SUCCESS, RFM2gClose(&h), "closed");
	return 0;
}
