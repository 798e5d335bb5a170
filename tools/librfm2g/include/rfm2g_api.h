/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * librfm2g: the interface of RFM2g reflective memory.
 *
 * Each function returns RFM2G_SUCCESS or an error. The handle is checked first:
 * RFM2G_NULL_DESCRIPTOR for NULL, RFM2G_BAD_PARAMETER_1 for a handle that is
 * not open. Then the other parameters are checked, from left to right unless
 * stated otherwise: RFM2G_BAD_PARAMETER_n for the nth, counted from 1 with the
 * handle. RFM2G_OS_ERROR: the driver refused the call.
 *
 * Any thread may call any function at any time, also on the same handle, and
 * while another thread closes it. A signal handler must not call a function if
 * it interrupted RFM2gOpen(), RFM2gClose(), or the first call of its thread
 * that takes a handle; RFM2gOpen() counts as such a call. A handler must not
 * leave a call by siglongjmp(): after eight times, each call of that thread
 * returns OS_ERROR, and RFM2gClose() of its handles does not return. Details:
 * Documentation/librfm2g.rst.
 */
#ifndef RFM2G_API_H
#define RFM2G_API_H

#include "rfm2g_osspec.h"

#include "rfm2g_ioctl.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opening and closing a device.
 */

/*
 * NO_RFM2G_BOARD: the path does not exist; NOT_OPEN: it cannot be opened;
 * OS_ERROR: it is not an RFM2g device; LOW_MEMORY. After an error *rh is NULL.
 */
STDRFM2GCALL RFM2gOpen(char *DevicePath, RFM2GHANDLE *rh);

/*
 * Waits until other threads have left the library. Their waits end with
 * WAIT_EVENT_CANCELED. Also waits until callbacks have returned, except a
 * callback that calls it. Mappings of the program stay valid. Afterwards *rh is
 * NULL.
 */
STDRFM2GCALL RFM2gClose(RFM2GHANDLE *rh);

/*
 * Properties of the device.
 */

/* The current configuration. The other functions return that of RFM2gOpen(). */
STDRFM2GCALL RFM2gGetConfig(RFM2GHANDLE rh, RFM2GCONFIG *Config);
STDRFM2GCALL RFM2gNodeID(RFM2GHANDLE rh, RFM2G_NODE *NodeId);
STDRFM2GCALL RFM2gBoardID(RFM2GHANDLE rh, RFM2G_UINT8 *BoardId);
/* Size of the memory in bytes. */
STDRFM2GCALL RFM2gSize(RFM2GHANDLE rh, RFM2G_UINT32 *Size);
/* The first offset, 0. */
STDRFM2GCALL RFM2gFirst(RFM2GHANDLE rh, RFM2G_UINT32 *First);
/* The texts fit into 64, 16 and 16 characters. */
STDRFM2GCALL RFM2gDeviceName(RFM2GHANDLE rh, char *Name);
STDRFM2GCALL RFM2gDllVersion(RFM2GHANDLE rh, char *Version);
STDRFM2GCALL RFM2gDriverVersion(RFM2GHANDLE rh, char *Version);

/*
 * Mappings. Offset is an offset in the memory, a multiple of 4096, or has a
 * flag RFM2G_..._MMAP_OFFSET. OUT_OF_RANGE: the mapping exceeds the memory;
 * MEM_NOT_MAPPED: the system refused it.
 */

STDRFM2GCALL RFM2gUserMemory(RFM2GHANDLE rh, volatile void **UserMemoryPtr,
			     RFM2G_UINT64 Offset, RFM2G_UINT32 Pages);
STDRFM2GCALL RFM2gUserMemoryBytes(RFM2GHANDLE rh,
				  volatile void **UserMemoryPtr,
				  RFM2G_UINT64 Offset, RFM2G_UINT32 Bytes);
/* Afterwards *UserMemoryPtr is NULL. */
STDRFM2GCALL RFM2gUnMapUserMemory(RFM2GHANDLE rh,
				  volatile void **UserMemoryPtr,
				  RFM2G_UINT32 Pages);
STDRFM2GCALL RFM2gUnMapUserMemoryBytes(RFM2GHANDLE rh,
				       volatile void **UserMemoryPtr,
				       RFM2G_UINT32 Bytes);
/* Map a page of registers, or the whole memory. */
STDRFM2GCALL RFM2gMapDeviceMemory(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
				  volatile void **DeviceMemoryPtr);
STDRFM2GCALL RFM2gUnMapDeviceMemory(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
				    volatile void **DeviceMemoryPtr);

/*
 * Registers. They have 1, 2 or 4 bytes. BAD_PARAMETER_4 is checked first, then
 * BAD_PARAMETER_2 and _3, for registers that do not exist.
 */

STDRFM2GCALL RFM2gReadReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			  RFM2G_UINT32 Offset, RFM2G_UINT32 Width, void *Value);
STDRFM2GCALL RFM2gWriteReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			   RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			   RFM2G_UINT32 Value);
/* Atomically set the bits of Mask to 1, or to 0. */
STDRFM2GCALL RFM2gSetReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			 RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			 RFM2G_UINT32 Mask);
STDRFM2GCALL RFM2gClearReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			   RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			   RFM2G_UINT32 Mask);

/*
 * Reading and writing data. OUT_OF_RANGE: the bytes are outside of the memory; checked before
 * Buffer. An aligned access to 1, 2, 4 or 8 bytes is never torn. A reader on
 * any node sees the writes of one node in the order of their calls.
 */

STDRFM2GCALL RFM2gRead(RFM2GHANDLE rh, RFM2G_UINT32 Offset, void *Buffer,
		       RFM2G_UINT32 Length);
STDRFM2GCALL RFM2gWrite(RFM2GHANDLE rh, RFM2G_UINT32 Offset, void *Buffer,
			RFM2G_UINT32 Length);
/* UNALIGNED_OFFSET: not a multiple of the width; checked last. */
STDRFM2GCALL RFM2gPeek8(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			RFM2G_UINT8 *Value);
STDRFM2GCALL RFM2gPeek16(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT16 *Value);
STDRFM2GCALL RFM2gPeek32(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 *Value);
STDRFM2GCALL RFM2gPeek64(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT64 *Value);
STDRFM2GCALL RFM2gPoke8(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			RFM2G_UINT8 Value);
STDRFM2GCALL RFM2gPoke16(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT16 Value);
STDRFM2GCALL RFM2gPoke32(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Value);
STDRFM2GCALL RFM2gPoke64(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT64 Value);

/*
 * Events. Enabling, queues and counters belong to the device, for all its
 * users.
 */

/* SUCCESS also if the event was enabled, or disabled, before. */
STDRFM2GCALL RFM2gEnableEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gDisableEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
/*
 * When the event arrives, all data that were written before it have arrived.
 * BAD_PARAMETER_3 is checked first; NODE_ID_SELF. A node that does not exist is
 * no error.
 */
STDRFM2GCALL RFM2gSendEvent(RFM2GHANDLE rh, RFM2G_NODE ToNode,
			    RFM2GEVENTTYPE EventType,
			    RFM2G_UINT32 ExtendedData);
/*
 * TIMED_OUT; EVENT_IN_USE: another thread waits for the event;
 * WAIT_EVENT_CANCELED, SIGNALED, DRIVER_ERROR.
 */
STDRFM2GCALL RFM2gWaitForEvent(RFM2GHANDLE rh, RFM2GEVENTINFO *EventInfo);
/* Cancels the wait of any process. EVENT_NOT_IN_USE: there is none. */
STDRFM2GCALL RFM2gCancelWaitForEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
/*
 * A queued event is delivered at once. The event is not enabled by this.
 * EVENT_IN_USE: this handle has a callback for it, or another thread waits for
 * it.
 */
STDRFM2GCALL RFM2gEnableEventCallback(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType,
				      RFM2G_EVENT_FUNCPTR pEventFunc);
/*
 * Returns when the callback has returned, unless the callback calls it. So do
 * not hold a lock that the callback takes. NOT_ENABLED: there is no callback.
 */
STDRFM2GCALL RFM2gDisableEventCallback(RFM2GHANDLE rh,
				       RFM2GEVENTTYPE EventType);
/* RFM2GEVENT_LAST clears all events. */
STDRFM2GCALL RFM2gClearEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gFlushEventQueue(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gClearEventCount(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gClearEventStats(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gGetEventCount(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType,
				RFM2G_UINT32 *Count);
STDRFM2GCALL RFM2gGetEventStats(RFM2GHANDLE rh, RFM2GQINFO *QueueInfo);

/*
 * Switches, LEDs, tests.
 */

STDRFM2GCALL RFM2gGetLed(RFM2GHANDLE rh, RFM2G_BOOL *Led);
STDRFM2GCALL RFM2gSetLed(RFM2GHANDLE rh, RFM2G_BOOL Led);
STDRFM2GCALL RFM2gGetDarkOnDark(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetDarkOnDark(RFM2GHANDLE rh, RFM2G_BOOL State);
/* RFM2G_TRUE: data are sent to the other nodes. */
STDRFM2GCALL RFM2gGetTransmit(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetTransmit(RFM2GHANDLE rh, RFM2G_BOOL State);
STDRFM2GCALL RFM2gGetLoopback(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetLoopback(RFM2GHANDLE rh, RFM2G_BOOL State);
STDRFM2GCALL RFM2gGetParityEnable(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetParityEnable(RFM2GHANDLE rh, RFM2G_BOOL State);
/* These settings are stored, and do not change data. */
STDRFM2GCALL RFM2gGetDMAByteSwap(RFM2GHANDLE rh, RFM2G_BOOL *ByteSwap);
STDRFM2GCALL RFM2gSetDMAByteSwap(RFM2GHANDLE rh, RFM2G_BOOL ByteSwap);
STDRFM2GCALL RFM2gGetPIOByteSwap(RFM2GHANDLE rh, RFM2G_BOOL *ByteSwap);
STDRFM2GCALL RFM2gSetPIOByteSwap(RFM2GHANDLE rh, RFM2G_BOOL ByteSwap);
STDRFM2GCALL RFM2gGetDMAThreshold(RFM2GHANDLE rh, RFM2G_UINT32 *Threshold);
STDRFM2GCALL RFM2gSetDMAThreshold(RFM2GHANDLE rh, RFM2G_UINT32 Threshold);
STDRFM2GCALL RFM2gGetDebugFlags(RFM2GHANDLE rh, RFM2G_UINT32 *Flags);
STDRFM2GCALL RFM2gSetDebugFlags(RFM2GHANDLE rh, RFM2G_UINT32 Flags);
/* LINK_TEST_FAIL: a ready node did not answer within half a second. */
STDRFM2GCALL RFM2gCheckRingCont(RFM2GHANDLE rh);
/* State gets the previous state. */
STDRFM2GCALL RFM2gClearOwnData(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gGetMemoryOffset(RFM2GHANDLE rh,
				  RFM2G_MEM_OFFSETTYPE *Offset);
STDRFM2GCALL RFM2gSetMemoryOffset(RFM2GHANDLE rh, RFM2G_MEM_OFFSETTYPE Offset);
/* NOT_SUPPORTED: this device has no window. WindowSize may be NULL. */
STDRFM2GCALL RFM2gGetSlidingWindow(RFM2GHANDLE rh, RFM2G_UINT32 *WindowOffset,
				   RFM2G_UINT32 *WindowSize);
STDRFM2GCALL RFM2gSetSlidingWindow(RFM2GHANDLE rh, RFM2G_UINT32 WindowOffset);

/* Text of a status. Any value is accepted. */
char *RFM2gErrorMsg(RFM2G_STATUS ErrorCode);

#ifdef __cplusplus
}
#endif

#endif /* RFM2G_API_H */
