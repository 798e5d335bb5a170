// SPDX-License-Identifier: LGPL-2.1-or-later
/* Functions that the library of the cards does not have. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rfm2g_extras.h"

#include "priv.h"

static const struct rfm2g_meaning rfm2g_flush_meanings[] = {
	{ ETIMEDOUT, RFM2G_TIMED_OUT },
	{ EINTR, RFM2G_SIGNALED },
	{ ENOMEM, RFM2G_LOW_MEMORY },
	{ 0, RFM2G_OS_ERROR },
};

STDRFM2GCALL RFM2gxFlush(RFM2GHANDLE rh)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (fsync(h->fd))
		ret = rfm2g_status(rfm2g_flush_meanings);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gxIsMapped(RFM2GHANDLE rh, RFM2G_BOOL *Mapped)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (Mapped)
		*Mapped = h->mem ? RFM2G_TRUE : RFM2G_FALSE;
	else
		ret = RFM2G_BAD_PARAMETER_2;
	rfm2g_leave();
	return ret;
}

/*
 * Explain that only members of a group may open the device. Grow the buffer
 * until the list of the group's members fits. If the name of the group is not
 * known, print its number.
 */
static void rfm2g_explain_group(const char *path, gid_t gid, char *text,
				size_t size)
{
	struct group group, *found = NULL;
	char *buffer = NULL, *larger;
	size_t room = 512;
	int ret;

	do {
		room *= 2;
		larger = realloc(buffer, room);
		if (!larger)
			break;
		buffer = larger;
		ret = getgrgid_r(gid, &group, buffer, room, &found);
	} while (ret == ERANGE);
	if (found)
		snprintf(text, size,
			 "only members of group %s may open %s: adduser USER %s, and log in again",
			 found->gr_name, path, found->gr_name);
	else
		snprintf(text, size, "only members of group %u may open %s",
			 gid, path);
	free(buffer);
}

/* Explain which users may open the device. */
static void rfm2g_explain_permission(const char *path, char *text, size_t size)
{
	struct stat st;

	if (stat(path, &st)) {
		snprintf(text, size, "%s cannot be checked: %s", path,
			 strerror(errno));
		return;
	}
	if ((st.st_mode & 0060) != 0060 || !st.st_gid) {
		snprintf(text, size,
			 "only root may open %s; to let a group do it, give it to that group (udev rule) or load vrfm with mode=0666",
			 path);
		return;
	}
	rfm2g_explain_group(path, st.st_gid, text, size);
}

static void rfm2g_explain_missing(const char *path, char *text, size_t size)
{
	if (!access("/proc/rfm2g", F_OK))
		snprintf(text, size,
			 "there is no %s; cat /proc/rfm2g tells which devices there are",
			 path);
	else
		snprintf(text, size,
			 "there is no %s, and the driver is not loaded: modprobe vrfm node=N",
			 path);
}

static void rfm2g_explain_errno(const char *path, int error, char *text,
				size_t size)
{
	switch (error) {
	case EACCES:
	case EPERM:
		rfm2g_explain_permission(path, text, size);
		break;
	case ENOENT:
	case ENOTDIR:
	case ENXIO:
	case ENODEV:
		rfm2g_explain_missing(path, text, size);
		break;
	default:
		snprintf(text, size, "%s cannot be opened: %s", path,
			 strerror(error));
	}
}

STDRFM2GCALL RFM2gxExplain(const char *DevicePath, char *Text, size_t Size)
{
	RFM2GCONFIG config;
	int fd;

	if (!DevicePath)
		return RFM2G_BAD_PARAMETER_1;
	if (!Text || !Size)
		return RFM2G_BAD_PARAMETER_2;
	*Text = 0;
	fd = open(DevicePath, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		rfm2g_explain_errno(DevicePath, errno, Text, Size);
		return RFM2G_SUCCESS;
	}
	if (ioctl(fd, IOCTL_RFM2G_GET_CONFIG, &config))
		snprintf(Text, Size, "%s is not an RFM2g device: %s",
			 DevicePath, strerror(errno));
	close(fd);
	return RFM2G_SUCCESS;
}
