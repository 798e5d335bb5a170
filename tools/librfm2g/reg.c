// SPDX-License-Identifier: LGPL-2.1-or-later
/* Registers, and the sliding window, which two registers describe. */
#include <string.h>

#include "priv.h"

#define RFM2G_BAR0_BYTES 512
#define RFM2G_BAR2_BYTES 64

/* Return the size of a register set in bytes, or 0 if there is no such set. */
static uint32_t rfm2g_reg_bytes(const struct rfm2g_handle *h,
				RFM2GREGSETTYPE regset)
{
	switch (regset) {
	case RFM2GCFGREGMEM:
		return RFM2G_BAR0_BYTES;
	case RFM2GCTRLREGMEM:
		return RFM2G_BAR2_BYTES;
	case RFM2GMEM:
		return h->size;
	default:
		return 0;
	}
}

static RFM2G_STATUS rfm2g_reg_check(const struct rfm2g_handle *h,
				    const RFM2GLINUXREGINFO *reg)
{
	uint32_t bytes = rfm2g_reg_bytes(h, reg->regset);

	if (reg->Width != 1 && reg->Width != 2 && reg->Width != 4)
		return RFM2G_BAD_PARAMETER_4;
	if (!bytes)
		return RFM2G_BAD_PARAMETER_2;
	if (reg->Offset > bytes - reg->Width)
		return RFM2G_BAD_PARAMETER_3;
	return RFM2G_SUCCESS;
}

/*
 * Read a register. Copy only the first Width bytes of the value, which are its
 * low bytes because it is little-endian.
 */
static RFM2G_STATUS rfm2g_reg_read(const struct rfm2g_handle *h,
				   RFM2GLINUXREGINFO *reg, void *value)
{
	RFM2G_STATUS ret = rfm2g_reg_check(h, reg);

	if (ret)
		return ret;
	if (!value)
		return RFM2G_BAD_PARAMETER_5;
	ret = rfm2g_command(h, IOCTL_RFM2G_READ_REG, (unsigned long)reg,
			    rfm2g_os_error);
	if (!ret)
		memcpy(value, &reg->Value, reg->Width);
	return ret;
}

STDRFM2GCALL RFM2gReadReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			  RFM2G_UINT32 Offset, RFM2G_UINT32 Width, void *Value)
{
	RFM2GLINUXREGINFO reg = {
		.regset = regset, .Offset = Offset, .Width = Width,
	};
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_reg_read(h, &reg, Value);
	rfm2g_leave();
	return ret;
}

static RFM2G_STATUS rfm2g_reg_change(RFM2GHANDLE rh, unsigned long cmd,
				     RFM2GLINUXREGINFO *reg)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_reg_check(h, reg);
	if (!ret)
		ret = rfm2g_command(h, cmd, (unsigned long)reg, rfm2g_os_error);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gWriteReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			   RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			   RFM2G_UINT32 Value)
{
	RFM2GLINUXREGINFO reg = { regset, Offset, Width, Value };

	return rfm2g_reg_change(rh, IOCTL_RFM2G_WRITE_REG, &reg);
}

STDRFM2GCALL RFM2gSetReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			 RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			 RFM2G_UINT32 Mask)
{
	RFM2GLINUXREGINFO reg = { regset, Offset, Width, Mask };

	return rfm2g_reg_change(rh, IOCTL_RFM2G_SET_REG, &reg);
}

STDRFM2GCALL RFM2gClearReg(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
			   RFM2G_UINT32 Offset, RFM2G_UINT32 Width,
			   RFM2G_UINT32 Mask)
{
	RFM2GLINUXREGINFO reg = { regset, Offset, Width, Mask };

	return rfm2g_reg_change(rh, IOCTL_RFM2G_CLEAR_REG, &reg);
}

static bool rfm2g_has_window(const struct rfm2g_handle *h)
{
	return h->config.BoardRevision >= RFM2G_WINDOW_BOARD_REVISION;
}

/* Read a 32-bit register of the card's bridge to the bus. */
static RFM2G_STATUS rfm2g_window_reg(const struct rfm2g_handle *h,
				     uint32_t offset, uint32_t *value)
{
	RFM2GLINUXREGINFO reg = {
		.regset = RFM2GCFGREGMEM, .Offset = offset, .Width = 4,
	};

	return rfm2g_reg_read(h, &reg, value);
}

/*
 * Read the size of the sliding window. The register contains the negated size.
 * Cards have only windows of the sizes listed here.
 */
static RFM2G_STATUS rfm2g_window_size(const struct rfm2g_handle *h,
				      uint32_t *size)
{
	static const uint32_t sizes[] = {
		2U << 20, 16U << 20, 64U << 20, 128U << 20, 256U << 20,
	};
	uint32_t range = 0, i;
	RFM2G_STATUS ret;

	*size = 0;
	ret = rfm2g_window_reg(h, RFM2G_WINDOW_RANGE, &range);
	if (ret)
		return ret;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if ((range & ~0xFU) == -sizes[i])
			*size = sizes[i];
	return *size ? RFM2G_SUCCESS : RFM2G_DRIVER_ERROR;
}

static RFM2G_STATUS rfm2g_window_get(const struct rfm2g_handle *h,
				     uint32_t *offset, uint32_t *size)
{
	RFM2G_STATUS ret;

	if (!offset)
		return RFM2G_BAD_PARAMETER_2;
	if (!rfm2g_has_window(h))
		return RFM2G_NOT_SUPPORTED;
	ret = rfm2g_window_reg(h, RFM2G_WINDOW_BASE, offset);
	*offset &= ~1U;
	return ret || !size ? ret : rfm2g_window_size(h, size);
}

STDRFM2GCALL RFM2gGetSlidingWindow(RFM2GHANDLE rh, RFM2G_UINT32 *WindowOffset,
				   RFM2G_UINT32 *WindowSize)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_window_get(h, WindowOffset, WindowSize);
	rfm2g_leave();
	return ret;
}

/* Decode the size of a card's memory in bytes from its status register. */
static uint64_t rfm2g_window_ram(const struct rfm2g_handle *h)
{
	uint32_t code = (h->config.Lcsr1 & RFM2G_LCSR1_SIZE) >> 20;

	return code == 3 ? 0 : 64ULL << 20 << code;
}

static RFM2G_STATUS rfm2g_window_set(const struct rfm2g_handle *h,
				     uint32_t offset)
{
	uint64_t ram = rfm2g_window_ram(h);
	uint32_t size;
	RFM2G_STATUS ret;

	if (!rfm2g_has_window(h))
		return RFM2G_NOT_SUPPORTED;
	ret = rfm2g_window_size(h, &size);
	if (ret)
		return ret;
	if (offset % size)
		return RFM2G_BAD_PARAMETER_2;
	if ((uint64_t)offset + size > ram)
		return RFM2G_OUT_OF_RANGE;
	return rfm2g_command(h, IOCTL_RFM2G_SET_SLIDING_WINDOW_OFFSET, offset,
			     rfm2g_driver_error);
}

STDRFM2GCALL RFM2gSetSlidingWindow(RFM2GHANDLE rh, RFM2G_UINT32 WindowOffset)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_window_set(h, WindowOffset);
	rfm2g_leave();
	return ret;
}
