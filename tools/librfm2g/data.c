// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read and write the memory.
 *
 * A read loads from the mapping of the handle. A write is a command, because
 * the driver puts all writes of a node into one order. All nodes receive the
 * writes in this order. Stores to a mapping are outside of this order.
 */
#include <string.h>

#include "priv.h"

/*
 * Load WIDTH bytes. Widths of 1, 2, 4 and 8 are loaded in one access, if the
 * processor can. This function is inline, so that the compiler keeps only one
 * case if the width is constant.
 */
static inline void rfm2g_load(const volatile uint8_t *from, void *to,
			      uint32_t width)
{
	uint16_t word;
	uint32_t lword;
	uint64_t llword;

	switch (width) {
	case 1:
		*(uint8_t *)to = *from;
		break;
	case 2:
		word = *(const volatile uint16_t *)from;
		memcpy(to, &word, sizeof(word));
		break;
	case 4:
		lword = *(const volatile uint32_t *)from;
		memcpy(to, &lword, sizeof(lword));
		break;
	case 8:
		llword = *(const volatile uint64_t *)from;
		memcpy(to, &llword, sizeof(llword));
		break;
	default:
		memcpy(to, (const void *)from, width);
	}
}

static RFM2G_STATUS rfm2g_transfer(const struct rfm2g_handle *h,
				   unsigned long cmd, uint32_t offset,
				   const void *buffer, uint32_t length)
{
	RFM2GTRANSFER transfer = {
		.Offset = offset,
		.Length = length,
		.Buffer = (void *)buffer,
	};

	return rfm2g_command(h, cmd, (unsigned long)&transfer, rfm2g_os_error);
}

/*
 * Read from the memory. The fence ensures that a later read does not return
 * older data. Unaligned data are copied by memcpy(), because not all processors
 * can load them in one access.
 */
static inline RFM2G_STATUS rfm2g_load_from(const struct rfm2g_handle *h,
					   uint32_t offset, void *to,
					   uint32_t length)
{
	if (!h->mem)
		return rfm2g_transfer(h, IOCTL_RFM2G_READ, offset, to, length);
	if (offset & (length - 1))
		memcpy(to, (const void *)(h->mem + offset), length);
	else
		rfm2g_load(h->mem + offset, to, length);
	atomic_thread_fence(memory_order_acquire);
	return RFM2G_SUCCESS;
}

static RFM2G_STATUS rfm2g_check(const struct rfm2g_handle *h, uint32_t offset,
				const void *buffer, uint32_t length)
{
	if (length > h->size || offset > h->size - length)
		return RFM2G_OUT_OF_RANGE;
	return buffer ? RFM2G_SUCCESS : RFM2G_BAD_PARAMETER_3;
}

STDRFM2GCALL RFM2gRead(RFM2GHANDLE rh, RFM2G_UINT32 Offset, void *Buffer,
		       RFM2G_UINT32 Length)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_check(h, Offset, Buffer, Length);
	if (!ret)
		ret = rfm2g_load_from(h, Offset, Buffer, Length);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gWrite(RFM2GHANDLE rh, RFM2G_UINT32 Offset, void *Buffer,
			RFM2G_UINT32 Length)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_check(h, Offset, Buffer, Length);
	if (!ret)
		ret = rfm2g_transfer(h, IOCTL_RFM2G_WRITE, Offset, Buffer,
				     Length);
	rfm2g_leave();
	return ret;
}

static RFM2G_STATUS rfm2g_word_check(const struct rfm2g_handle *h,
				     uint32_t offset, uint32_t width)
{
	if (width > h->size || offset > h->size - width)
		return RFM2G_OUT_OF_RANGE;
	return offset % width ? RFM2G_UNALIGNED_OFFSET : RFM2G_SUCCESS;
}

/*
 * Peek a value. This function is inline, so that the compiler makes a version
 * for each width.
 */
static inline RFM2G_STATUS rfm2g_peek(RFM2GHANDLE rh, uint32_t offset,
				      void *value, uint32_t width)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = value ? rfm2g_word_check(h, offset, width) :
		      RFM2G_BAD_PARAMETER_3;
	if (!ret)
		ret = rfm2g_load_from(h, offset, value, width);
	rfm2g_leave();
	return ret;
}

static RFM2G_STATUS rfm2g_poke(RFM2GHANDLE rh, uint32_t offset,
			       const void *value, uint32_t width)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	ret = rfm2g_word_check(h, offset, width);
	if (!ret)
		ret = rfm2g_transfer(h, IOCTL_RFM2G_WRITE, offset, value,
				     width);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gPeek8(RFM2GHANDLE rh, RFM2G_UINT32 Offset, RFM2G_UINT8 *Value)
{
	return rfm2g_peek(rh, Offset, Value, 1);
}

STDRFM2GCALL RFM2gPeek16(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT16 *Value)
{
	return rfm2g_peek(rh, Offset, Value, 2);
}

STDRFM2GCALL RFM2gPeek32(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 *Value)
{
	return rfm2g_peek(rh, Offset, Value, 4);
}

STDRFM2GCALL RFM2gPeek64(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT64 *Value)
{
	return rfm2g_peek(rh, Offset, Value, 8);
}

STDRFM2GCALL RFM2gPoke8(RFM2GHANDLE rh, RFM2G_UINT32 Offset, RFM2G_UINT8 Value)
{
	return rfm2g_poke(rh, Offset, &Value, 1);
}

STDRFM2GCALL RFM2gPoke16(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT16 Value)
{
	return rfm2g_poke(rh, Offset, &Value, 2);
}

STDRFM2GCALL RFM2gPoke32(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT32 Value)
{
	return rfm2g_poke(rh, Offset, &Value, 4);
}

STDRFM2GCALL RFM2gPoke64(RFM2GHANDLE rh, RFM2G_UINT32 Offset,
			 RFM2G_UINT64 Value)
{
	return rfm2g_poke(rh, Offset, &Value, 8);
}
