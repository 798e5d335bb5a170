/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * librfm2g: the interface of RFM2g reflective memory.
 *
 * Each function returns RFM2G_SUCCESS or an error. It first checks the handle:
 * RFM2G_NULL_DESCRIPTOR means that it is NULL, RFM2G_BAD_PARAMETER_1 that it is
 * not open. The function then checks the other parameters, from left to right
 * unless stated otherwise. RFM2G_BAD_PARAMETER_n means the nth parameter, where
 * the handle is the first. RFM2G_OS_ERROR: the driver refused the call.
 *
 * Any thread may call any function at any time, even if other threads use or
 * close the same handle. A signal handler must not call a function if it
 * interrupted RFM2gOpen(), RFM2gClose(), or the first call of its thread that
 * opens or takes a handle. A handler must not leave a call by siglongjmp().
 * After such a jump, RFM2gClose() of the handle in this call does not return.
 * After eight such jumps, each further call of the thread returns OS_ERROR.
 * Details: Documentation/librfm2g.rst.
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
 * Opens a device. NO_RFM2G_BOARD: the path does not exist. NOT_OPEN: the file
 * cannot be opened. OS_ERROR: the file is not an RFM2g device. LOW_MEMORY: no
 * memory, or too many open handles. After an error *rh is NULL.
 */
STDRFM2GCALL RFM2gOpen(char *DevicePath, RFM2GHANDLE *rh);

/*
 * Closes a handle. Waits until other threads have ended their calls with the
 * handle. Their waits for events end with WAIT_EVENT_CANCELED. Waits also until
 * callbacks have returned, except a callback that calls RFM2gClose() itself.
 * Mappings of the program stay valid. Afterwards *rh is NULL.
 */
STDRFM2GCALL RFM2gClose(RFM2GHANDLE *rh);

/*
 * Properties of the device.
 */

/*
 * Returns the current configuration. The other functions of this section return
 * what was configured when the device was opened.
 */
STDRFM2GCALL RFM2gGetConfig(RFM2GHANDLE rh, RFM2GCONFIG *Config);
STDRFM2GCALL RFM2gNodeID(RFM2GHANDLE rh, RFM2G_NODE *NodeId);
STDRFM2GCALL RFM2gBoardID(RFM2GHANDLE rh, RFM2G_UINT8 *BoardId);
/* Returns the size of the memory in bytes. */
STDRFM2GCALL RFM2gSize(RFM2GHANDLE rh, RFM2G_UINT32 *Size);
/* Returns the first valid offset, which is 0. */
STDRFM2GCALL RFM2gFirst(RFM2GHANDLE rh, RFM2G_UINT32 *First);
/*
 * The next three functions store a text at the address that the program passes.
 * The program must provide room for 64, 16 and 16 characters.
 */
STDRFM2GCALL RFM2gDeviceName(RFM2GHANDLE rh, char *Name);
STDRFM2GCALL RFM2gDllVersion(RFM2GHANDLE rh, char *Version);
STDRFM2GCALL RFM2gDriverVersion(RFM2GHANDLE rh, char *Version);

/*
 * Mappings. Offset is a multiple of 4096 in the memory, or contains a flag
 * RFM2G_..._MMAP_OFFSET. OUT_OF_RANGE: the mapping exceeds the memory.
 * MEM_NOT_MAPPED: the system refused the mapping.
 */

STDRFM2GCALL RFM2gUserMemory(RFM2GHANDLE rh, volatile void **UserMemoryPtr,
			     RFM2G_UINT64 Offset, RFM2G_UINT32 Pages);
STDRFM2GCALL RFM2gUserMemoryBytes(RFM2GHANDLE rh,
				  volatile void **UserMemoryPtr,
				  RFM2G_UINT64 Offset, RFM2G_UINT32 Bytes);
/* Unmaps the memory. Afterwards *UserMemoryPtr is NULL. */
STDRFM2GCALL RFM2gUnMapUserMemory(RFM2GHANDLE rh,
				  volatile void **UserMemoryPtr,
				  RFM2G_UINT32 Pages);
STDRFM2GCALL RFM2gUnMapUserMemoryBytes(RFM2GHANDLE rh,
				       volatile void **UserMemoryPtr,
				       RFM2G_UINT32 Bytes);
/* Maps a page of registers, or the whole memory. */
STDRFM2GCALL RFM2gMapDeviceMemory(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
				  volatile void **DeviceMemoryPtr);
STDRFM2GCALL RFM2gUnMapDeviceMemory(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
				    volatile void **DeviceMemoryPtr);

/*
 * Registers. Width is 1, 2 or 4 bytes. BAD_PARAMETER_4: Width is not one of
 * these. This is checked first. BAD_PARAMETER_2 or _3: there is no such
 * register.
 */

STDRFM2GCALL RFM2gReadReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			  RFM2G_UINT32 Offset, RFM2G_UINT32 Width, void *Value);
STDRFM2GCALL RFM2gWriteReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			   RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			   RFM2G_UINT32 Value);
/*
 * Sets the bits of Mask in a register to 1. RFM2gClearReg() sets these bits to
 * 0. Both functions change the register atomically.
 */
STDRFM2GCALL RFM2gSetReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			 RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			 RFM2G_UINT32 Mask);
STDRFM2GCALL RFM2gClearReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			   RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			   RFM2G_UINT32 Mask);

/*
 * Reading and writing data. OUT_OF_RANGE: the bytes are outside of the memory.
 * This is checked before Buffer. An aligned access to 1, 2, 4 or 8 bytes is
 * never torn. A reader on any node sees the writes of one node in the order of
 * their calls.
 */

STDRFM2GCALL RFM2gRead(RFM2GHANDLE rh, RFM2G_UINT32 Offset, void *Buffer,
		       RFM2G_UINT32 Length);
STDRFM2GCALL RFM2gWrite(RFM2GHANDLE rh, RFM2G_UINT32 Offset, void *Buffer,
			RFM2G_UINT32 Length);
/*
 * Read or write one value. UNALIGNED_OFFSET: Offset is not a multiple of the
 * width of the value. This is checked last.
 */
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
 * Events. All programs on this node share the state of each event of a device:
 * its queue, its counter, and whether the event is enabled.
 */

/* Enabling an enabled event, or disabling a disabled one, returns SUCCESS. */
STDRFM2GCALL RFM2gEnableEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
STDRFM2GCALL RFM2gDisableEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
/*
 * Sends an event. When it arrives, all data that were written before it have
 * arrived. EventType is checked before ToNode. NODE_ID_SELF: ToNode is this
 * node. SUCCESS is also returned if no node has the ID ToNode.
 */
STDRFM2GCALL RFM2gSendEvent(RFM2GHANDLE rh, RFM2G_NODE ToNode,
			    RFM2GEVENTTYPE EventType,
			    RFM2G_UINT32 ExtendedData);
/*
 * Waits for an event. EVENT_IN_USE: another thread waits for the event.
 * TIMED_OUT: no event arrived within EventInfo->Timeout. SIGNALED: a signal
 * handler ran. WAIT_EVENT_CANCELED: RFM2gCancelWaitForEvent() or RFM2gClose()
 * was called, or the device was removed. DRIVER_ERROR: another driver error.
 */
STDRFM2GCALL RFM2gWaitForEvent(RFM2GHANDLE rh, RFM2GEVENTINFO *EventInfo);
/*
 * Cancels the wait for an event, also that of another process.
 * EVENT_NOT_IN_USE: no thread waits for the event.
 */
STDRFM2GCALL RFM2gCancelWaitForEvent(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType);
/*
 * Adds a callback: a function of the program that is called for each event of a
 * type. A queued event is delivered at once. The program must also enable the
 * event by RFM2gEnableEvent(). EVENT_IN_USE: this handle has a callback for the
 * event, or another thread waits for the event.
 */
STDRFM2GCALL RFM2gEnableEventCallback(RFM2GHANDLE rh, RFM2GEVENTTYPE EventType,
				      RFM2G_EVENT_FUNCPTR pEventFunc);
/*
 * Removes a callback, and waits until it has returned, unless the callback
 * itself calls this. So the caller must not hold a lock that the callback
 * takes. NOT_ENABLED: there is no callback.
 */
STDRFM2GCALL RFM2gDisableEventCallback(RFM2GHANDLE rh,
				       RFM2GEVENTTYPE EventType);
/*
 * Discards the queued events of a type. RFM2GEVENT_LAST stands for all types,
 * also in the following three functions.
 */
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
/* RFM2G_TRUE means that the node sends its data to the other nodes. */
STDRFM2GCALL RFM2gGetTransmit(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetTransmit(RFM2GHANDLE rh, RFM2G_BOOL State);
STDRFM2GCALL RFM2gGetLoopback(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetLoopback(RFM2GHANDLE rh, RFM2G_BOOL State);
STDRFM2GCALL RFM2gGetParityEnable(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gSetParityEnable(RFM2GHANDLE rh, RFM2G_BOOL State);
/*
 * vrfm stores the byte swaps, the DMA threshold and the debug flags. The
 * functions that get them return the stored values. The settings have no effect
 * on data or transfers.
 */
STDRFM2GCALL RFM2gGetDMAByteSwap(RFM2GHANDLE rh, RFM2G_BOOL *ByteSwap);
STDRFM2GCALL RFM2gSetDMAByteSwap(RFM2GHANDLE rh, RFM2G_BOOL ByteSwap);
STDRFM2GCALL RFM2gGetPIOByteSwap(RFM2GHANDLE rh, RFM2G_BOOL *ByteSwap);
STDRFM2GCALL RFM2gSetPIOByteSwap(RFM2GHANDLE rh, RFM2G_BOOL ByteSwap);
STDRFM2GCALL RFM2gGetDMAThreshold(RFM2GHANDLE rh, RFM2G_UINT32 *Threshold);
STDRFM2GCALL RFM2gSetDMAThreshold(RFM2GHANDLE rh, RFM2G_UINT32 Threshold);
STDRFM2GCALL RFM2gGetDebugFlags(RFM2GHANDLE rh, RFM2G_UINT32 *Flags);
STDRFM2GCALL RFM2gSetDebugFlags(RFM2GHANDLE rh, RFM2G_UINT32 Flags);
/*
 * Checks that all ready nodes answer. LINK_TEST_FAIL: a ready node did not
 * answer within half a second.
 */
STDRFM2GCALL RFM2gCheckRingCont(RFM2GHANDLE rh);
/* Clears the status bit "own data". State gets the bit's previous value. */
STDRFM2GCALL RFM2gClearOwnData(RFM2GHANDLE rh, RFM2G_BOOL *State);
STDRFM2GCALL RFM2gGetMemoryOffset(RFM2GHANDLE rh,
				  RFM2G_MEM_OFFSETTYPE *Offset);
STDRFM2GCALL RFM2gSetMemoryOffset(RFM2GHANDLE rh, RFM2G_MEM_OFFSETTYPE Offset);
/*
 * Returns offset and size of the sliding window. WindowSize may be NULL.
 * NOT_SUPPORTED: this device has no window.
 */
STDRFM2GCALL RFM2gGetSlidingWindow(RFM2GHANDLE rh, RFM2G_UINT32 *WindowOffset,
				   RFM2G_UINT32 *WindowSize);
STDRFM2GCALL RFM2gSetSlidingWindow(RFM2GHANDLE rh, RFM2G_UINT32 WindowOffset);

/* Returns the text of a status. Any value is accepted. */
char *RFM2gErrorMsg(RFM2G_STATUS ErrorCode);

#ifdef __cplusplus
}
#endif

#endif /* RFM2G_API_H */
