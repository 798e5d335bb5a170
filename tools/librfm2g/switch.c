// SPDX-License-Identifier: LGPL-2.1-or-later
/* Switches, LEDs and tests. Each function calls one command of the driver. */
#include "priv.h"

static const struct rfm2g_meaning rfm2g_ring_meanings[] = {
	{ 0, RFM2G_LINK_TEST_FAIL },
};

static RFM2G_STATUS rfm2g_set(RFM2GHANDLE rh, unsigned long cmd,
			      unsigned long value)
{
	return rfm2g_call(rh, cmd, value, rfm2g_os_error);
}

/* Read a switch. The driver returns a byte, and any value except 0 means on. */
static RFM2G_STATUS rfm2g_get(RFM2GHANDLE rh, unsigned long cmd,
			      RFM2G_BOOL *state, RFM2G_BOOL invert)
{
	RFM2G_UINT8 byte = 0;
	RFM2G_STATUS ret = rfm2g_call_get(rh, cmd, state ? &byte : NULL);

	if (!ret)
		*state = !!byte ^ invert;
	return ret;
}

STDRFM2GCALL RFM2gGetLed(RFM2GHANDLE rh, RFM2G_BOOL *Led)
{
	return rfm2g_get(rh, IOCTL_RFM2G_GET_LED, Led, 0);
}

STDRFM2GCALL RFM2gSetLed(RFM2GHANDLE rh, RFM2G_BOOL Led)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_LED, Led);
}

STDRFM2GCALL RFM2gGetDarkOnDark(RFM2GHANDLE rh, RFM2G_BOOL *State)
{
	return rfm2g_get(rh, IOCTL_RFM2G_GET_DARK_ON_DARK, State, 0);
}

STDRFM2GCALL RFM2gSetDarkOnDark(RFM2GHANDLE rh, RFM2G_BOOL State)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_DARK_ON_DARK, State);
}

/* The driver returns 1 if the transmitter is off, so invert the state. */
STDRFM2GCALL RFM2gGetTransmit(RFM2GHANDLE rh, RFM2G_BOOL *State)
{
	return rfm2g_get(rh, IOCTL_RFM2G_GET_TRANSMIT_DISABLE, State, 1);
}

STDRFM2GCALL RFM2gSetTransmit(RFM2GHANDLE rh, RFM2G_BOOL State)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_TRANSMIT_DISABLE, !State);
}

STDRFM2GCALL RFM2gGetLoopback(RFM2GHANDLE rh, RFM2G_BOOL *State)
{
	return rfm2g_get(rh, IOCTL_RFM2G_GET_LOOPBACK, State, 0);
}

STDRFM2GCALL RFM2gSetLoopback(RFM2GHANDLE rh, RFM2G_BOOL State)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_LOOPBACK, State);
}

STDRFM2GCALL RFM2gGetParityEnable(RFM2GHANDLE rh, RFM2G_BOOL *State)
{
	return rfm2g_get(rh, IOCTL_RFM2G_GET_PARITY_ENABLE, State, 0);
}

STDRFM2GCALL RFM2gSetParityEnable(RFM2GHANDLE rh, RFM2G_BOOL State)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_PARITY_ENABLE, State);
}

STDRFM2GCALL RFM2gGetDMAByteSwap(RFM2GHANDLE rh, RFM2G_BOOL *ByteSwap)
{
	return rfm2g_get(rh, IOCTL_RFM2G_GET_DMA_BYTESWAP, ByteSwap, 0);
}

STDRFM2GCALL RFM2gSetDMAByteSwap(RFM2GHANDLE rh, RFM2G_BOOL ByteSwap)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_DMA_BYTE_SWAP, ByteSwap);
}

STDRFM2GCALL RFM2gGetPIOByteSwap(RFM2GHANDLE rh, RFM2G_BOOL *ByteSwap)
{
	return rfm2g_get(rh, IOCTL_RFM2G_GET_PIO_BYTESWAP, ByteSwap, 0);
}

STDRFM2GCALL RFM2gSetPIOByteSwap(RFM2GHANDLE rh, RFM2G_BOOL ByteSwap)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_PIO_BYTE_SWAP, ByteSwap);
}

STDRFM2GCALL RFM2gGetDMAThreshold(RFM2GHANDLE rh, RFM2G_UINT32 *Threshold)
{
	return rfm2g_call_get(rh, IOCTL_RFM2G_GET_DMA_THRESHOLD, Threshold);
}

/* Unlike other commands, this one takes the address of the value. */
STDRFM2GCALL RFM2gSetDMAThreshold(RFM2GHANDLE rh, RFM2G_UINT32 Threshold)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_DMA_THRESHOLD,
			 (unsigned long)&Threshold);
}

STDRFM2GCALL RFM2gGetDebugFlags(RFM2GHANDLE rh, RFM2G_UINT32 *Flags)
{
	return rfm2g_call_get(rh, IOCTL_RFM2G_GET_DEBUG_FLAGS, Flags);
}

STDRFM2GCALL RFM2gSetDebugFlags(RFM2GHANDLE rh, RFM2G_UINT32 Flags)
{
	return rfm2g_set(rh, IOCTL_RFM2G_SET_DEBUG_FLAGS, Flags);
}

/* This command has no argument; the driver of the cards ignores the 0. */
STDRFM2GCALL RFM2gCheckRingCont(RFM2GHANDLE rh)
{
	return rfm2g_call(rh, IOCTL_RFM2G_CHECK_RING_CONT, 0,
			  rfm2g_ring_meanings);
}

STDRFM2GCALL RFM2gClearOwnData(RFM2GHANDLE rh, RFM2G_BOOL *State)
{
	return rfm2g_get(rh, IOCTL_RFM2G_CLEAR_OWN_DATA, State, 0);
}

STDRFM2GCALL RFM2gGetMemoryOffset(RFM2GHANDLE rh, RFM2G_MEM_OFFSETTYPE *Offset)
{
	return rfm2g_call_get(rh, IOCTL_RFM2G_GET_MEMORY_OFFSET, Offset);
}

STDRFM2GCALL RFM2gSetMemoryOffset(RFM2GHANDLE rh, RFM2G_MEM_OFFSETTYPE Offset)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if ((unsigned int)Offset > RFM2G_MEM_OFFSET3)
		ret = RFM2G_BAD_PARAMETER_2;
	else
		ret = rfm2g_command(h, IOCTL_RFM2G_SET_MEMORY_OFFSET, Offset,
				    rfm2g_os_error);
	rfm2g_leave();
	return ret;
}
