// SPDX-License-Identifier: GPL-2.0
/*
 * Emulation of a card's registers.
 *
 * Each access composes a register space from the state of the device, see
 * reg_access.c. A program that maps registers gets a copy of them: one page for each
 * space and open file. vrfm_regs_publish_locked() updates the copies of BAR2
 * when a register changes, and vrfm_regs_publish_bus_locked() those of BAR0. A
 * program's store changes only the copy.
 */
#include <linux/mm.h>
#include <linux/string.h>

#include "copy.h"
#include "regs.h"

/* Offsets of registers in BAR0. */
#define VRFM_REG_ENDIAN 0x0C
#define VRFM_REG_PLX_REVISION 0x74
#define VRFM_REG_WINDOW_RANGE 0xF0
#define VRFM_REG_WINDOW_BASE 0xF4

#define VRFM_ENDIAN_DMA BIT(7)
#define VRFM_ENDIAN_PIO BIT(5)

/* Bit of LISR that is always set, because the cards' driver keeps it set. */
#define VRFM_LISR_GLOBAL_ENABLE BIT(14)

const u8 vrfm_event_bit[RFM2G_EVENTS] = {
	[RFM2G_EVENT_INTR1] = 0,
	[RFM2G_EVENT_INTR2] = 1,
	[RFM2G_EVENT_INTR3] = 2,
	[RFM2G_EVENT_RESET] = 3,
	[RFM2G_EVENT_ROGUE_PKT] = 6,
	[RFM2G_EVENT_INTR4] = 7,
	[RFM2G_EVENT_BAD_DATA] = 8,
	[RFM2G_EVENT_RXFIFO_AFULL] = 9,
	[RFM2G_EVENT_RXFIFO_FULL] = 10,
	[RFM2G_EVENT_SYNC_LOSS] = 11,
	[RFM2G_EVENT_MEM_WRITE_INHIBITED] = 12,
	[RFM2G_EVENT_LOCAL_MEM_PARITY_ERR] = 13,
};

static void vrfm_put32(u32 value, u8 *to)
{
	__le32 le = cpu_to_le32(value);

	memcpy(to, &le, sizeof(le));
}

/**
 * vrfm_regs_init - set the registers as a card has them after its start
 * @vdev: device, with its parameters
 */
void vrfm_regs_init(struct vrfm_dev *vdev)
{
	vdev->regs.debug = 1;
	spin_lock_bh(&vdev->lock);
	vrfm_regs_publish_bus_locked(vdev);
	vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
}

/* Return bits 21:20 of LCSR1, which encode the size of the memory. */
static u32 vrfm_lcsr_size(u64 size)
{
	switch (size) {
	case SZ_64M:
		return 0;
	case SZ_128M:
		return 1;
	case SZ_256M:
		return 2;
	default:
		return 3;
	}
}

static u32 vrfm_lcsr_locked(const struct vrfm_dev *vdev)
{
	u32 lcsr = vdev->regs.lcsr | vrfm_lcsr_size(vdev->params.size) << 20 |
		   VRFM_LCSR_TX_EMPTY;

	lockdep_assert_held(&vdev->lock);
	/* Without peers, this node is a closed ring, which has a signal. */
	if (vdev->regs.linked || !vdev->regs.peers)
		lcsr |= VRFM_LCSR_SIGNAL;
	return lcsr;
}

/**
 * vrfm_lcsr - return the control and status register
 * @vdev: device
 *
 * Context: any but hard interrupts.
 * Return: value of LCSR1, as cards have it.
 */
u32 vrfm_lcsr(struct vrfm_dev *vdev)
{
	u32 lcsr;

	spin_lock_bh(&vdev->lock);
	lcsr = vrfm_lcsr_locked(vdev);
	spin_unlock_bh(&vdev->lock);
	return lcsr;
}

/**
 * vrfm_lcsr_update - change a bit of the control and status register
 * @vdev: device
 * @bit: VRFM_LCSR_... bit, one of those in &vrfm_regs.lcsr
 * @on: new value
 *
 * Context: any but hard interrupts.
 * Return: old value.
 */
bool vrfm_lcsr_update(struct vrfm_dev *vdev, u32 bit, bool on)
{
	bool was;

	spin_lock_bh(&vdev->lock);
	was = vdev->regs.lcsr & bit;
	if (on)
		vdev->regs.lcsr |= bit;
	else
		vdev->regs.lcsr &= ~bit;
	vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
	return was;
}

/**
 * vrfm_regs_peers - count peers for the status register
 * @vdev: device
 * @peers: change of the number of configured peers
 * @linked: change of the number of connected peers
 *
 * Context: any but hard interrupts.
 */
void vrfm_regs_peers(struct vrfm_dev *vdev, int peers, int linked)
{
	spin_lock_bh(&vdev->lock);
	vdev->regs.peers += peers;
	vdev->regs.linked += linked;
	vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
}

/**
 * vrfm_board_revision - return the revision of the board
 * @vdev: device
 *
 * The cards' library derives from the revision whether there is a sliding
 * window. It can decode the window's registers only if the memory has the size
 * of a real board.
 *
 * Return: 0x8C if there is a window; 0x8B if there is none.
 */
u8 vrfm_board_revision(const struct vrfm_dev *vdev)
{
	return vrfm_lcsr_size(vdev->params.size) == 3 ? 0x8B : 0x8C;
}

static void vrfm_bar2_locked(const struct vrfm_dev *vdev, u8 *image)
{
	u32 type, lisr = VRFM_LISR_GLOBAL_ENABLE, lier = 0;
	u8 *fifo = image + VRFM_REG_FIFO;
	const struct vrfm_queue *q;

	lockdep_assert_held(&vdev->lock);
	memset(image, 0, RFM2G_BAR2_SIZE);
	for (type = 0; type < RFM2G_EVENTS; type++) {
		q = &vdev->events[type].queue;
		if (q->fill)
			lisr |= BIT(vrfm_event_bit[type]);
		if (q->enabled)
			lier |= BIT(vrfm_event_bit[type]);
	}
	image[VRFM_REG_BRV] = vrfm_board_revision(vdev);
	image[VRFM_REG_BID] = VRFM_BOARD_ID;
	image[VRFM_REG_NID] = vdev->params.node;
	vrfm_put32(vrfm_lcsr_locked(vdev), image + VRFM_REG_LCSR1);
	vrfm_put32(lisr, image + VRFM_REG_LISR);
	vrfm_put32(lier, image + VRFM_REG_LIER);
	vrfm_put32(vdev->regs.ntd, image + VRFM_REG_NTD);
	image[VRFM_REG_NTN] = vdev->regs.ntn;
	/* Show the oldest event of each of the four FIFOs: data, then sender. */
	for (type = 0; type < 4; type++, fifo += 8) {
		q = &vdev->events[RFM2G_EVENT_INTR1 + type].queue;
		if (!q->ready)
			continue;
		vrfm_put32(q->entries[q->head].data, fifo);
		fifo[4] = q->entries[q->head].node;
	}
}

/**
 * vrfm_image_locked - write the content of a register space into a buffer
 * @vdev: device
 * @regset: %RFM2G_BAR0 or %RFM2G_BAR2
 * @image: buffer for the whole space
 */
void vrfm_image_locked(const struct vrfm_dev *vdev, u32 regset, u8 *image)
{
	lockdep_assert_held(&vdev->lock);
	if (regset != RFM2G_BAR0) {
		vrfm_bar2_locked(vdev, image);
		return;
	}
	memset(image, 0, RFM2G_BAR0_SIZE);
	if (vdev->regs.dma_swap)
		image[VRFM_REG_ENDIAN] |= VRFM_ENDIAN_DMA;
	if (vdev->regs.pio_swap)
		image[VRFM_REG_ENDIAN] |= VRFM_ENDIAN_PIO;
	image[VRFM_REG_PLX_REVISION] = VRFM_PLX_REVISION;
	vrfm_put32(-(u32)vdev->params.size, image + VRFM_REG_WINDOW_RANGE);
	vrfm_put32(1, image + VRFM_REG_WINDOW_BASE);
}

/*
 * Copy IMAGE into all mapped pages of a register space. Programs may read these
 * pages at any time, so each word is stored by one access.
 */
static void vrfm_bars_store_locked(struct vrfm_dev *vdev, unsigned int bar,
				   const void *image, size_t len)
{
	struct vrfm_file *vf;

	lockdep_assert_held(&vdev->lock);
	list_for_each_entry(vf, &vdev->bar_files, bar_entry)
		if (vf->bars[bar])
			vrfm_copy(page_address(vf->bars[bar]), image, len);
}

/**
 * vrfm_regs_publish_locked - update the pages of BAR2 that programs have mapped
 * @vdev: device
 */
void vrfm_regs_publish_locked(struct vrfm_dev *vdev)
{
	u8 image[RFM2G_BAR2_SIZE] __aligned(8);

	lockdep_assert_held(&vdev->lock);
	if (list_empty(&vdev->bar_files))
		return;
	vrfm_image_locked(vdev, RFM2G_BAR2, image);
	vrfm_bars_store_locked(vdev, 1, image, sizeof(image));
}

/**
 * vrfm_regs_publish_bus_locked - update the pages of BAR0 that programs have
 * mapped
 * @vdev: device
 */
void vrfm_regs_publish_bus_locked(struct vrfm_dev *vdev)
{
	u8 image[RFM2G_BAR0_SIZE] __aligned(8);

	lockdep_assert_held(&vdev->lock);
	if (list_empty(&vdev->bar_files))
		return;
	vrfm_image_locked(vdev, RFM2G_BAR0, image);
	vrfm_bars_store_locked(vdev, 0, image, sizeof(image));
}

/**
 * vrfm_regs_map - get the page of registers that an open file maps
 * @vf: open file
 * @bar: 0: BAR0, 1: BAR2
 *
 * Each open file has pages of its own, so a program's store into a page is not
 * visible through other open files.
 *
 * Context: may sleep.
 * Return: the page, which vrfm_regs_unmap() frees; NULL: no memory.
 */
struct page *vrfm_regs_map(struct vrfm_file *vf, unsigned int bar)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	struct vrfm_dev *vdev = vf->vdev;
	struct page *mine;

	if (!page)
		return NULL;
	spin_lock_bh(&vdev->lock);
	if (!vf->bars[bar]) {
		vf->bars[bar] = page;
		page = NULL;
	}
	mine = vf->bars[bar];
	if (list_empty(&vf->bar_entry))
		list_add(&vf->bar_entry, &vdev->bar_files);
	vrfm_regs_publish_bus_locked(vdev);
	vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
	if (page)
		put_page(page);
	return mine;
}

/**
 * vrfm_regs_unmap - free the pages of registers of an open file
 * @vf: file that is being closed
 *
 * Context: may sleep.
 */
void vrfm_regs_unmap(struct vrfm_file *vf)
{
	unsigned int i;

	spin_lock_bh(&vf->vdev->lock);
	list_del_init(&vf->bar_entry);
	spin_unlock_bh(&vf->vdev->lock);
	for (i = 0; i < ARRAY_SIZE(vf->bars); i++)
		if (vf->bars[i])
			put_page(vf->bars[i]);
}
