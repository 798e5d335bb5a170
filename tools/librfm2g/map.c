// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mappings for programs. A special mapping shows a DMA buffer or registers
 * instead of the memory. It takes two calls: a command tells the driver what
 * the next mmap() maps, and then mmap() maps it. rfm2g_handle.lock is held
 * during both calls, so that the handle makes no other mapping in between.
 */
#include <errno.h>
#include <sys/mman.h>

#include "priv.h"

#include "../../include/uapi/vrfm.h"

#define RFM2G_SPECIAL (RFM2G_DMA_MMAP_OFFSET | RFM2G_BAR0_MMAP_OFFSET | \
		       RFM2G_BAR2_MMAP_OFFSET)

static RFM2G_STATUS rfm2g_mmap(const struct rfm2g_handle *h,
			       volatile void **to, uint64_t offset,
			       size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			 h->fd, (off_t)offset);

	if (mem == MAP_FAILED)
		return RFM2G_MEM_NOT_MAPPED;
	*to = mem;
	return RFM2G_SUCCESS;
}

/*
 * Make the driver forget a special mapping that failed. If the kernel has no
 * room for a mapping, mmap() fails without calling the driver, and the driver
 * takes the next mmap() for the special one. So make a mapping here and discard
 * it. If the failed mmap() did call the driver, the mapping made here is an
 * ordinary one, of a page of the memory.
 */
static RFM2G_STATUS rfm2g_map_settle(struct rfm2g_handle *h)
{
	uint64_t offset = h->size > RFM2G_PAGE ? RFM2G_PAGE : 0;
	volatile void *mem;
	RFM2G_STATUS ret;

	if (!h->unsettled)
		return RFM2G_SUCCESS;
	ret = rfm2g_mmap(h, &mem, offset, RFM2G_PAGE);
	if (ret)
		return ret;
	munmap((void *)mem, RFM2G_PAGE);
	h->unsettled = false;
	return RFM2G_SUCCESS;
}

static RFM2G_STATUS rfm2g_map_special(struct rfm2g_handle *h,
				      volatile void **to, uint64_t offset,
				      size_t bytes)
{
	RFM2G_STATUS ret;

	ret = rfm2g_command(h, IOCTL_RFM2G_SET_SPECIAL_MMAP_OFFSET,
			    (unsigned long)&offset, rfm2g_os_error);
	if (ret)
		return ret;
	/* Drivers ignore this offset, except that some of them reject 0. */
	ret = rfm2g_mmap(h, to, RFM2G_PAGE, bytes);
	h->unsettled = ret;
	return ret;
}

static RFM2G_STATUS rfm2g_map_locked(struct rfm2g_handle *h,
				     volatile void **to, uint64_t offset,
				     size_t bytes)
{
	RFM2G_STATUS ret = rfm2g_map_settle(h);

	if (ret)
		return ret;
	return offset & RFM2G_SPECIAL ?
		rfm2g_map_special(h, to, offset, bytes) :
		rfm2g_mmap(h, to, offset, bytes);
}

static RFM2G_STATUS rfm2g_map(struct rfm2g_handle *h, volatile void **to,
			      uint64_t offset, size_t bytes)
{
	RFM2G_STATUS ret;

	pthread_mutex_lock(&h->lock);
	ret = rfm2g_map_locked(h, to, offset, bytes);
	pthread_mutex_unlock(&h->lock);
	return ret;
}

/*
 * Check the range of a mapping. A DMA buffer is not part of the memory, so its
 * range is not checked.
 */
static RFM2G_STATUS rfm2g_map_check(const struct rfm2g_handle *h,
				    uint64_t offset, uint64_t bytes)
{
	if (offset & RFM2G_DMA_MMAP_OFFSET)
		return RFM2G_SUCCESS;
	if (bytes > h->size || offset > h->size - bytes)
		return RFM2G_OUT_OF_RANGE;
	if (offset & RFM2G_BAR0_MMAP_OFFSET && offset != RFM2G_BAR0_MMAP_OFFSET)
		return RFM2G_BAD_PARAMETER_3;
	if (offset & RFM2G_BAR2_MMAP_OFFSET && offset != RFM2G_BAR2_MMAP_OFFSET)
		return RFM2G_BAD_PARAMETER_3;
	return RFM2G_SUCCESS;
}

static uint64_t rfm2g_pages(uint32_t bytes)
{
	return ((uint64_t)bytes + RFM2G_PAGE - 1) / RFM2G_PAGE;
}

static RFM2G_STATUS rfm2g_user_memory(RFM2GHANDLE rh, volatile void **to,
				      uint64_t offset, uint64_t pages)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!to)
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!pages)
		ret = RFM2G_BAD_PARAMETER_4;
	else
		ret = rfm2g_map_check(h, offset, pages * RFM2G_PAGE);
	if (!ret)
		ret = rfm2g_map(h, to, offset, pages * RFM2G_PAGE);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gUserMemory(RFM2GHANDLE rh, volatile void **UserMemoryPtr,
			     RFM2G_UINT64 Offset, RFM2G_UINT32 Pages)
{
	return rfm2g_user_memory(rh, UserMemoryPtr, Offset, Pages);
}

STDRFM2GCALL RFM2gUserMemoryBytes(RFM2GHANDLE rh, volatile void **UserMemoryPtr,
				  RFM2G_UINT64 Offset, RFM2G_UINT32 Bytes)
{
	return rfm2g_user_memory(rh, UserMemoryPtr, Offset, rfm2g_pages(Bytes));
}

STDRFM2GCALL RFM2gxManualMemory(RFM2GHANDLE rh, volatile void **Memory,
				RFM2G_UINT64 Offset, RFM2G_UINT32 Pages)
{
	uint64_t bytes = (uint64_t)Pages * RFM2G_PAGE;
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!Memory)
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!Pages)
		ret = RFM2G_BAD_PARAMETER_4;
	else if (bytes > h->size || Offset > h->size - bytes)
		ret = RFM2G_OUT_OF_RANGE;
	else if (Offset % RFM2G_PAGE)
		ret = RFM2G_BAD_PARAMETER_3;
	else
		ret = rfm2g_map(h, Memory, Offset + VRFM_MMAP_MANUAL, bytes);
	rfm2g_leave();
	return ret;
}

/*
 * Unmap a mapping of the program. Call the driver first, because the driver of
 * the cards then forgets a DMA buffer. ENODEV is no error: the device has been
 * removed, but the program still has the mapping.
 */
static RFM2G_STATUS rfm2g_unmap(const struct rfm2g_handle *h,
				volatile void **from, uint64_t bytes)
{
	static const struct rfm2g_meaning meanings[] = {
		{ ENODEV, RFM2G_SUCCESS },
		{ 0, RFM2G_OS_ERROR },
	};
	RFM2G_STATUS ret;

	ret = rfm2g_command(h, IOCTL_RFM2G_CLEAR_DMA_MMAP_OFFSET,
			    (uint32_t)(uintptr_t)*from, meanings);
	if (ret)
		return ret;
	if (munmap((void *)*from, bytes))
		return RFM2G_OS_ERROR;
	*from = NULL;
	return RFM2G_SUCCESS;
}

static RFM2G_STATUS rfm2g_unmap_user(RFM2GHANDLE rh, volatile void **from,
				     uint64_t pages)
{
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	if (!from || !*from)
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!pages)
		ret = RFM2G_BAD_PARAMETER_3;
	else
		ret = rfm2g_unmap(h, from, pages * RFM2G_PAGE);
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gUnMapUserMemory(RFM2GHANDLE rh, volatile void **UserMemoryPtr,
				  RFM2G_UINT32 Pages)
{
	return rfm2g_unmap_user(rh, UserMemoryPtr, Pages);
}

STDRFM2GCALL RFM2gUnMapUserMemoryBytes(RFM2GHANDLE rh,
				       volatile void **UserMemoryPtr,
				       RFM2G_UINT32 Bytes)
{
	return rfm2g_unmap_user(rh, UserMemoryPtr, rfm2g_pages(Bytes));
}

/*
 * Return the number of bytes to map for a register set, or 0 if it cannot be
 * mapped. Set *offset to the offset to map at.
 */
static uint64_t rfm2g_device_bytes(const struct rfm2g_handle *h,
				   RFM2GREGSETTYPE regset, uint64_t *offset)
{
	switch (regset) {
	case RFM2GCFGREGMEM:
		*offset = RFM2G_BAR0_MMAP_OFFSET;
		return RFM2G_PAGE;
	case RFM2GCTRLREGMEM:
		*offset = RFM2G_BAR2_MMAP_OFFSET;
		return RFM2G_PAGE;
	case RFM2GMEM:
		*offset = 0;
		return h->size;
	default:
		return 0;
	}
}

/*
 * Return the offset of the registers in the page that contains them. On some
 * cards, they do not begin at the start of a page.
 */
static uintptr_t rfm2g_device_begin(const struct rfm2g_handle *h,
				    RFM2GREGSETTYPE regset)
{
	const RFM2GPCICONFIG *pci = &h->config.PciConfig;

	if (regset == RFM2GMEM)
		return 0;
	return (regset == RFM2GCFGREGMEM ? pci->rfm2gOrBase : pci->rfm2gCsBase) &
	       (RFM2G_PAGE - 1);
}

static volatile void *rfm2g_move(volatile void *mem, intptr_t bytes)
{
	return (volatile uint8_t *)mem + bytes;
}

STDRFM2GCALL RFM2gMapDeviceMemory(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
				  volatile void **DeviceMemoryPtr)
{
	uint64_t bytes, offset;
	struct rfm2g_handle *h;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	bytes = rfm2g_device_bytes(h, regset, &offset);
	if (!bytes)
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!DeviceMemoryPtr)
		ret = RFM2G_BAD_PARAMETER_3;
	else
		ret = rfm2g_map(h, DeviceMemoryPtr, offset, bytes);
	if (!ret)
		*DeviceMemoryPtr = rfm2g_move(*DeviceMemoryPtr,
					      rfm2g_device_begin(h, regset));
	rfm2g_leave();
	return ret;
}

STDRFM2GCALL RFM2gUnMapDeviceMemory(RFM2GHANDLE rh, RFM2GREGSETTYPE regset,
				    volatile void **DeviceMemoryPtr)
{
	uint64_t bytes, offset;
	struct rfm2g_handle *h;
	volatile void *page;
	RFM2G_STATUS ret = rfm2g_enter(rh, &h);

	if (ret)
		return ret;
	bytes = rfm2g_device_bytes(h, regset, &offset);
	if (!bytes)
		ret = RFM2G_BAD_PARAMETER_2;
	else if (!DeviceMemoryPtr || !*DeviceMemoryPtr)
		ret = RFM2G_BAD_PARAMETER_3;
	if (!ret) {
		page = rfm2g_move(*DeviceMemoryPtr,
				  -(intptr_t)rfm2g_device_begin(h, regset));
		ret = rfm2g_unmap(h, &page, bytes);
	}
	if (!ret)
		*DeviceMemoryPtr = NULL;
	rfm2g_leave();
	return ret;
}
