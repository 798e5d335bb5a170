// SPDX-License-Identifier: LGPL-2.1-or-later
/* Call commands of the driver, and convert their errnos to statuses. */
#include <errno.h>
#include <sys/ioctl.h>

#include "priv.h"

const struct rfm2g_meaning rfm2g_os_error[] = {
	{ 0, RFM2G_OS_ERROR },
};

const struct rfm2g_meaning rfm2g_driver_error[] = {
	{ 0, RFM2G_DRIVER_ERROR },
};

/**
 * rfm2g_status - convert errno to a status
 * @meanings: table of statuses
 *
 * Return: the status from @meanings.
 */
RFM2G_STATUS rfm2g_status(const struct rfm2g_meaning *meanings)
{
	while (meanings->error && meanings->error != errno)
		meanings++;
	return meanings->status;
}

/**
 * rfm2g_command - call a command of the driver
 * @h: handle that rfm2g_enter() returned
 * @cmd: IOCTL_RFM2G_...
 * @arg: argument, or its address
 * @meanings: statuses for errnos
 *
 * Return: RFM2G_SUCCESS, or a status from @meanings.
 */
RFM2G_STATUS rfm2g_command(const struct rfm2g_handle *h, unsigned long cmd,
			   unsigned long arg,
			   const struct rfm2g_meaning *meanings)
{
	return ioctl(h->fd, cmd, arg) ? rfm2g_status(meanings) : RFM2G_SUCCESS;
}

/**
 * rfm2g_call - check a handle and call a command of the driver
 * @rh: pointer from the program
 * @cmd: IOCTL_RFM2G_...
 * @arg: argument, or its address
 * @meanings: statuses for errnos
 *
 * Return: RFM2G_SUCCESS, a status from @meanings, or an error of the handle.
 */
RFM2G_STATUS rfm2g_call(RFM2GHANDLE rh, unsigned long cmd, unsigned long arg,
			const struct rfm2g_meaning *meanings)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_command(h, cmd, arg, meanings);
	rfm2g_leave();
	return ret;
}

/**
 * rfm2g_call_get - check a handle and call a command that returns a value
 * @rh: pointer from the program
 * @cmd: IOCTL_RFM2G_...
 * @to: address for the value, which is the program's second parameter; may be
 *	NULL
 *
 * Return: RFM2G_SUCCESS; RFM2G_OS_ERROR if the command fails;
 * RFM2G_BAD_PARAMETER_2 if @to is NULL; or an error of the handle.
 */
RFM2G_STATUS rfm2g_call_get(RFM2GHANDLE rh, unsigned long cmd, void *to)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = to ? rfm2g_command(h, cmd, (unsigned long)to, rfm2g_os_error) :
		   RFM2G_BAD_PARAMETER_2;
	rfm2g_leave();
	return ret;
}
