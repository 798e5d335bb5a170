/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * librfm2g: the interface of RFM2g reflective memory.
 *
 * Each function returns RFM2G_SUCCESS or says why not. All that take a handle
 * look at it first: RFM2G_NULL_DESCRIPTOR for NULL, RFM2G_BAD_PARAMETER_1 for
 * one that is not open, or no longer. Then come the other parameters, from left
 * to right unless said otherwise: RFM2G_BAD_PARAMETER_n for the nth, counted
 * from 1 with the handle. RFM2G_OS_ERROR: the driver refused.
 *
 * All may be called by any thread at any time, on the same handle too, also
 * while another thread closes it. None may be called by a signal handler that
 * interrupted RFM2gOpen(), RFM2gClose() or the first call of its thread that takes
 * a handle; RFM2gOpen() counts as such a call. A handler must not leave a call by
 * siglongjmp(): after eight times each call of that thread is OS_ERROR, and
 * RFM2gClose() of its handles does not return. Details: Documentation/librfm2g.rst.
 */
#ifndef RFM2G_API_H
#define RFM2G_API_H

#include "rfm2g_osspec.h"

#include "rfm2g_ioctl.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Open and close.
 */

/*
 * NO_RFM2G_BOARD: there is no such path; NOT_OPEN: it cannot be opened;
 * OS_ERROR: it is no RFM2g device; LOW_MEMORY. *rh is NULL then.
 */
STDRFM2GCALL RFM2gOpen(char *DevicePath, RFM2GHANDLE *rh);

/*
 * Waits until other threads have left the library, whose waits end with
 * WAIT_EVENT_CANCELED, and until callbacks have returned, except one that calls
 * it itself. What was mapped stays mapped. *rh is NULL then.
 */
STDRFM2GCALL RFM2gClose(RFM2GHANDLE *rh);

/*
 * What the device is.
 */

/* As it is now, where the others tell what was when it was opened. */
STDRFM2GCALL RFM2gGetConfig(RFM2GHANDLE rh, RFM2GCONFIG *Config);
STDRFM2GCALL RFM2gNodeID(RFM2GHANDLE rh, RFM2G_NODE *NodeId);
STDRFM2GCALL RFM2gBoardID(RFM2GHANDLE rh, RFM2G_UINT8 *BoardId);
/* Bytes of memory. */
STDRFM2GCALL RFM2gSize(RFM2GHANDLE rh, RFM2G_UINT32 *Size);
/* The first offset, 0. */
STDRFM2GCALL RFM2gFirst(RFM2GHANDLE rh, RFM2G_UINT32 *First);
/* Room for 64, 16 and 16 characters is enough. */
STDRFM2GCALL RFM2gDeviceName(RFM2GHANDLE rh, char *Name);
STDRFM2GCALL RFM2gDllVersion(RFM2GHANDLE rh, char *Version);
STDRFM2GCALL RFM2gDriverVersion(RFM2GHANDLE rh, char *Version);

/*
 * Mappings. Offset is one in the memory, a multiple of 4096, or has a flag of
 * RFM2G_..._MMAP_OFFSET. OUT_OF_RANGE: it ends behind the memory;
 * MEM_NOT_MAPPED: the system refused.
 */
STDRFM2GCALL RFM2gUserMemory(RFM2GHANDLE rh, volatile void **UserMemoryPtr,
			     RFM2G_UINT64 Offset, RFM2G_UINT32 Pages);
STDRFM2GCALL RFM2gUserMemoryBytes(RFM2GHANDLE rh,
				  volatile void **UserMemoryPtr,
				  RFM2G_UINT64 Offset, RFM2G_UINT32 Bytes);
/* *UserMemoryPtr is NULL then. */
STDRFM2GCALL RFM2gUnMapUserMemory(RFM2GHANDLE rh,
				  volatile void **UserMemoryPtr,
				  RFM2G_UINT32 Pages);
STDRFM2GCALL RFM2gUnMapUserMemoryBytes(RFM2GHANDLE rh,
				       volatile void **UserMemoryPtr,
				       RFM2G_UINT32 Bytes);
/* A page of registers, or the whole memory. */
STDRFM2GCALL RFM2gMapDeviceMemory(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
				  volatile void **DeviceMemoryPtr);
STDRFM2GCALL RFM2gUnMapDeviceMemory(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
				    volatile void **DeviceMemoryPtr);

/*
 * Registers, 1, 2 or 4 bytes of them: BAD_PARAMETER_4 is looked at first, then
 * BAD_PARAMETER_2 and _3, for places that do not exist.
 */
STDRFM2GCALL RFM2gReadReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			  RFM2G_UINT32 Offset, RFM2G_UINT32 Width, void *Value);
STDRFM2GCALL RFM2gWriteReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			   RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			   RFM2G_UINT32 Value);
/* In one step, bits of Mask become 1, or 0. */
STDRFM2GCALL RFM2gSetReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			 RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			 RFM2G_UINT32 Mask);
STDRFM2GCALL RFM2gClearReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			   RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			   RFM2G_UINT32 Mask);

/*
 * Data. OUT_OF_RANGE: not inside the memory, which is looked at before Buffer.
 * Of 1, 2, 4 or 8 aligned bytes an access is never torn. Whoever reads, on this
 * node or another, sees the writes of one node in the order of their calls.
 */
STDRFM2GCALL RFM2gRead(RFM2GHANDLE rh, RFM2G_UINT32 Offset, void *Buffer,
		       RFM2G_UINT32 Length);
STDRFM2GCALL RFM2gWrite(RFM2GHANDLE rh, RFM2G_UINT32 Offset, void *Buffer,
			RFM2G_UINT32 Length);
/* UNALIGNED_OFFSET: not a multiple of the width, looked at last. */
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
 * Events. Enabling, queues and counts belong to the device, whoever opened it.
 */

/* SUCCESS also if it was. */
STDRFM2GCALL RFM2gEnableEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gDisableEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
/*
 * Everything that was written before is there when the event is.
 * BAD_PARAMETER_3 is looked at first; NODE_ID_SELF. A node that does not exist
 * is no error.
 */
STDRFM2GCALL RFM2gSendEvent(RFM2GHANDLE rh, RFM2G_NODE ToNode,
			    RFM2GEVENTTYPE EventType,
			    RFM2G_UINT32 ExtendedData);
/*
 * TIMED_OUT, EVENT_IN_USE: somebody waits for it; WAIT_EVENT_CANCELED,
 * SIGNALED, DRIVER_ERROR.
 */
STDRFM2GCALL RFM2gWaitForEvent(RFM2GHANDLE rh, RFM2GEVENTINFO *EventInfo);
/* Whoever waits for it, in any process. EVENT_NOT_IN_USE: nobody. */
STDRFM2GCALL RFM2gCancelWaitForEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
/*
 * An event that is queued is handed over at once. Does not enable it.
 * EVENT_IN_USE: this handle has a callback for it, or somebody waits.
 */
STDRFM2GCALL RFM2gEnableEventCallback(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType,
				      RFM2G_EVENT_FUNCPTR pEventFunc);
/*
 * Returns when the callback has returned, except to itself: do not hold a lock
 * that the callback takes. NOT_ENABLED: there is none.
 */
STDRFM2GCALL RFM2gDisableEventCallback(RFM2GHANDLE rh,
				       RFM2GEVENTTYPE EventType);
/* Those that clear take RFM2GEVENT_LAST for all. */
STDRFM2GCALL RFM2gClearEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gFlushEventQueue(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gClearEventCount(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gClearEventStats(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gGetEventCount(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType,
				RFM2G_UINT32 *Count);
STDRFM2GCALL RFM2gGetEventStats(RFM2GHANDLE rh, RFM2GQINFO *QueueInfo);

/*
 * Switches, lamps, tests.
 */
STDRFM2GCALL RFM2gGetLed(RFM2GHANDLE rh, RFM2G_BOOL *Led);
STDRFM2GCALL RFM2gSetLed(RFM2GHANDLE rh, RFM2G_BOOL Led);
STDRFM2GCALL RFM2gGetDarkOnDark(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetDarkOnDark(RFM2GHANDLE rh, RFM2G_BOOL State);
/* RFM2G_TRUE: what is written goes to the other nodes. */
STDRFM2GCALL RFM2gGetTransmit(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetTransmit(RFM2GHANDLE rh, RFM2G_BOOL State);
STDRFM2GCALL RFM2gGetLoopback(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetLoopback(RFM2GHANDLE rh, RFM2G_BOOL State);
STDRFM2GCALL RFM2gGetParityEnable(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetParityEnable(RFM2GHANDLE rh, RFM2G_BOOL State);
/* Kept for who asks, data stays as it is. */
STDRFM2GCALL RFM2gGetDMAByteSwap(RFM2GHANDLE rh, RFM2G_BOOL *ByteSwap);
STDRFM2GCALL RFM2gSetDMAByteSwap(RFM2GHANDLE rh, RFM2G_BOOL ByteSwap);
STDRFM2GCALL RFM2gGetPIOByteSwap(RFM2GHANDLE rh, RFM2G_BOOL *ByteSwap);
STDRFM2GCALL RFM2gSetPIOByteSwap(RFM2GHANDLE rh, RFM2G_BOOL ByteSwap);
STDRFM2GCALL RFM2gGetDMAThreshold(RFM2GHANDLE rh, RFM2G_UINT32 *Threshold);
STDRFM2GCALL RFM2gSetDMAThreshold(RFM2GHANDLE rh, RFM2G_UINT32 Threshold);
STDRFM2GCALL RFM2gGetDebugFlags(RFM2GHANDLE rh, RFM2G_UINT32 *Flags);
STDRFM2GCALL RFM2gSetDebugFlags(RFM2GHANDLE rh, RFM2G_UINT32 Flags);
/* LINK_TEST_FAIL: a node that is ready did not answer in half a second. */
STDRFM2GCALL RFM2gCheckRingCont(RFM2GHANDLE rh);
/* Tells what it was. */
STDRFM2GCALL RFM2gClearOwnData(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gGetMemoryOffset(RFM2GHANDLE rh,
				  RFM2G_MEM_OFFSETTYPE *Offset);
STDRFM2GCALL RFM2gSetMemoryOffset(RFM2GHANDLE rh, RFM2G_MEM_OFFSETTYPE Offset);
/* NOT_SUPPORTED: this device has none. WindowSize may be NULL. */
STDRFM2GCALL RFM2gGetSlidingWindow(RFM2GHANDLE rh, RFM2G_UINT32 *WindowOffset,
				   RFM2G_UINT32 *WindowSize);
STDRFM2GCALL RFM2gSetSlidingWindow(RFM2GHANDLE rh, RFM2G_UINT32 WindowOffset);

/* A text for a status, whatever it is. */
char *RFM2gErrorMsg(RFM2G_STATUS ErrorCode);

#ifdef __cplusplus
}
#endif

#endif /* RFM2G_API_H */
