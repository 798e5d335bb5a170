// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts of the statuses. */
#include "priv.h"

const char *rfm2g_errlist[] = {
	[RFM2G_SUCCESS] = "no error",
	[RFM2G_NOT_IMPLEMENTED] = "this function is not implemented",
	[RFM2G_DRIVER_ERROR] = "the driver failed",
	[RFM2G_TIMED_OUT] = "the call timed out",
	[RFM2G_LOW_MEMORY] = "not enough memory",
	[RFM2G_MEM_NOT_MAPPED] = "the memory could not be mapped",
	[RFM2G_OS_ERROR] = "a system call failed",
	[RFM2G_EVENT_IN_USE] = "the event has another wait or callback",
	[RFM2G_NOT_SUPPORTED] = "not supported by device or driver",
	[RFM2G_NOT_OPEN] = "the device is not open",
	[RFM2G_NO_RFM2G_BOARD] = "there is no such device",
	[RFM2G_BAD_PARAMETER_1] = "parameter 1 is NULL or invalid",
	[RFM2G_BAD_PARAMETER_2] = "parameter 2 is NULL or invalid",
	[RFM2G_BAD_PARAMETER_3] = "parameter 3 is NULL or invalid",
	[RFM2G_BAD_PARAMETER_4] = "parameter 4 is NULL or invalid",
	[RFM2G_BAD_PARAMETER_5] = "parameter 5 is NULL or invalid",
	[RFM2G_BAD_PARAMETER_6] = "parameter 6 is NULL or invalid",
	[RFM2G_BAD_PARAMETER_7] = "parameter 7 is NULL or invalid",
	[RFM2G_BAD_PARAMETER_8] = "parameter 8 is NULL or invalid",
	[RFM2G_BAD_PARAMETER_9] = "parameter 9 is NULL or invalid",
	[RFM2G_OUT_OF_RANGE] = "offset and length exceed the memory",
	[RFM2G_MAP_NOT_ALLOWED] = "this offset cannot be mapped",
	[RFM2G_LINK_TEST_FAIL] = "the ring is not intact",
	[RFM2G_MEM_READ_ONLY] = "this memory is read-only",
	[RFM2G_UNALIGNED_OFFSET] = "offset is not a multiple of the width",
	[RFM2G_UNALIGNED_ADDRESS] = "address is not a multiple of the width",
	[RFM2G_LSEEK_ERROR] = "lseek() failed",
	[RFM2G_READ_ERROR] = "read() failed",
	[RFM2G_WRITE_ERROR] = "write() failed",
	[RFM2G_HANDLE_NOT_NULL] = "the handle is not NULL",
	[RFM2G_MODULE_NOT_LOADED] = "the driver is not loaded",
	[RFM2G_NOT_ENABLED] = "the event is not enabled",
	[RFM2G_ALREADY_ENABLED] = "the event is enabled already",
	[RFM2G_EVENT_NOT_IN_USE] = "the event has no wait",
	[RFM2G_BAD_RFM2G_BOARD_ID] = "the ID of the board is unknown",
	[RFM2G_NULL_DESCRIPTOR] = "the handle is NULL",
	[RFM2G_WAIT_EVENT_CANCELED] = "the wait was cancelled",
	[RFM2G_DMA_FAILED] = "DMA failed",
	[RFM2G_NOT_INITIALIZED] = "the library is not initialized",
	[RFM2G_UNALIGNED_LENGTH] = "the length is not a multiple of 4",
	[RFM2G_SIGNALED] = "a signal interrupted the call",
	[RFM2G_NODE_ID_SELF] = "an event cannot be sent to its own node",
	[RFM2G_MAX_ERROR_CODE] = "unknown status",
};

const int rfm2g_nerr = sizeof(rfm2g_errlist) / sizeof(*rfm2g_errlist);

char *RFM2gErrorMsg(RFM2G_STATUS ErrorCode)
{
	if (ErrorCode < 0 || ErrorCode > RFM2G_MAX_ERROR_CODE)
		ErrorCode = RFM2G_MAX_ERROR_CODE;
	return (char *)rfm2g_errlist[ErrorCode];
}
