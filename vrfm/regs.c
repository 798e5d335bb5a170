// SPDX-License-Identifier: GPL-2.0
/*
 * Emulation of a card's registers.
 *
 * Each access composes a register space from the state of the device. A write
 * then changes the composed space, and acts on the registers that the write
 * touches. A program that maps registers gets a copy of them: one page for each
 * space and open file. vrfm_regs_publish_locked() updates the copies of BAR2
 * when a register changes, and vrfm_regs_publish_bus_locked() those of BAR0. A
 * program's store changes only the copy.
 */
#include <linux/mm.h>
#include <linux/string.h>

#include "copy.h"
#include "priv.h"

/* Offsets of registers in BAR2. */
#define VRFM_REG_BRV 0x00
#define VRFM_REG_BID 0x01
#define VRFM_REG_NID 0x04
#define VRFM_REG_LCSR1 0x08
#define VRFM_REG_LISR 0x10
#define VRFM_REG_LIER 0x14
#define VRFM_REG_NTD 0x18
#define VRFM_REG_NTN 0x1C
#define VRFM_REG_NIC 0x1D
#define VRFM_REG_FIFO 0x20

/* Offsets of registers in BAR0. */
#define VRFM_REG_ENDIAN 0x0C
#define VRFM_REG_PLX_REVISION 0x74
#define VRFM_REG_WINDOW_RANGE 0xF0
#define VRFM_REG_WINDOW_BASE 0xF4

#define VRFM_ENDIAN_DMA BIT(7)
#define VRFM_ENDIAN_PIO BIT(5)

/* Bit of LISR that is always set, because the cards' driver keeps it set. */
#define VRFM_LISR_GLOBAL_ENABLE BIT(14)

/*
 * Fields of the register NIC (network interrupt command): a bit that sends the
 * command to all nodes, and the command. A probe is a command that returns to
 * its sender.
 */
#define VRFM_NIC_BROADCAST BIT(3)
#define VRFM_NIC_COMMAND 0x07
#define VRFM_NIC_PROBE 4

/* Bits of LCSR1 that a write sets to the written value. */
#define VRFM_LCSR_WRITABLE (VRFM_LCSR_LED | VRFM_LCSR_TX_OFF | \
			    VRFM_LCSR_DARK_ON_DARK | VRFM_LCSR_LOOPBACK | \
			    VRFM_LCSR_PARITY)
/* Bits of LCSR1 that a written 0 clears, and a written 1 does not change. */
#define VRFM_LCSR_LATCHED (VRFM_LCSR_RX_FULL | VRFM_LCSR_RX_AFULL | \
			   VRFM_LCSR_SYNC_LOSS | VRFM_LCSR_BAD_DATA | \
			   VRFM_LCSR_OWN_DATA)

/* Number of the bit of each event in LISR and LIER. */
static const u8 vrfm_event_bit[RFM2G_EVENTS] = {
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

/* Event that each command in NIC sends; -1: no event. */
static const s8 vrfm_nic_event[] = {
	RFM2G_EVENT_RESET, RFM2G_EVENT_INTR1, RFM2G_EVENT_INTR2,
	RFM2G_EVENT_INTR3, -1, -1, -1, RFM2G_EVENT_INTR4,
};

static u32 vrfm_get32(const u8 *from)
{
	__le32 value;

	memcpy(&value, from, sizeof(value));
	return le32_to_cpu(value);
}

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

static u32 vrfm_lisr_locked(const struct vrfm_dev *vdev)
{
	u32 lisr = VRFM_LISR_GLOBAL_ENABLE;
	u32 type;

	lockdep_assert_held(&vdev->lock);
	for (type = 0; type < RFM2G_EVENTS; type++)
		if (vdev->events[type].queue.fill)
			lisr |= BIT(vrfm_event_bit[type]);
	return lisr;
}

static u32 vrfm_lier_locked(const struct vrfm_dev *vdev)
{
	u32 lier = 0;
	u32 type;

	lockdep_assert_held(&vdev->lock);
	for (type = 0; type < RFM2G_EVENTS; type++)
		if (vdev->events[type].queue.enabled)
			lier |= BIT(vrfm_event_bit[type]);
	return lier;
}

/* Show the oldest event of each of the four FIFOs: data, then sender. */
static void vrfm_fifos_locked(const struct vrfm_dev *vdev, u8 *image)
{
	const struct vrfm_queue *q;
	u32 i;

	lockdep_assert_held(&vdev->lock);
	for (i = 0; i < 4; i++, image += 8) {
		q = &vdev->events[RFM2G_EVENT_INTR1 + i].queue;
		if (!q->ready)
			continue;
		vrfm_put32(q->entries[q->head].data, image);
		image[4] = q->entries[q->head].node;
	}
}

static void vrfm_bar2_locked(const struct vrfm_dev *vdev, u8 *image)
{
	lockdep_assert_held(&vdev->lock);
	memset(image, 0, RFM2G_BAR2_SIZE);
	image[VRFM_REG_BRV] = vrfm_board_revision(vdev);
	image[VRFM_REG_BID] = VRFM_BOARD_ID;
	image[VRFM_REG_NID] = vdev->params.node;
	vrfm_put32(vrfm_lcsr_locked(vdev), image + VRFM_REG_LCSR1);
	vrfm_put32(vrfm_lisr_locked(vdev), image + VRFM_REG_LISR);
	vrfm_put32(vrfm_lier_locked(vdev), image + VRFM_REG_LIER);
	vrfm_put32(vdev->regs.ntd, image + VRFM_REG_NTD);
	image[VRFM_REG_NTN] = vdev->regs.ntn;
	vrfm_fifos_locked(vdev, image + VRFM_REG_FIFO);
}

static void vrfm_bar0_locked(const struct vrfm_dev *vdev, u8 *image)
{
	lockdep_assert_held(&vdev->lock);
	memset(image, 0, RFM2G_BAR0_SIZE);
	if (vdev->regs.dma_swap)
		image[VRFM_REG_ENDIAN] |= VRFM_ENDIAN_DMA;
	if (vdev->regs.pio_swap)
		image[VRFM_REG_ENDIAN] |= VRFM_ENDIAN_PIO;
	image[VRFM_REG_PLX_REVISION] = VRFM_PLX_REVISION;
	vrfm_put32(-(u32)vdev->params.size, image + VRFM_REG_WINDOW_RANGE);
	vrfm_put32(1, image + VRFM_REG_WINDOW_BASE);
}

static void vrfm_image_locked(const struct vrfm_dev *vdev, u32 regset,
			      u8 *image)
{
	lockdep_assert_held(&vdev->lock);
	if (regset == RFM2G_BAR0)
		vrfm_bar0_locked(vdev, image);
	else
		vrfm_bar2_locked(vdev, image);
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

static u32 vrfm_reg_get(const u8 *image, u32 width)
{
	u8 bytes[4] = { };

	memcpy(bytes, image, width);
	return vrfm_get32(bytes);
}

static int vrfm_reg_check(const struct vrfm_dev *vdev,
			  const struct rfm2g_reg_info *reg)
{
	u64 size;

	if (reg->width != 1 && reg->width != 2 && reg->width != 4)
		return -EINVAL;
	if (reg->regset == RFM2G_BAR0)
		size = RFM2G_BAR0_SIZE;
	else if (reg->regset == RFM2G_BAR2)
		size = RFM2G_BAR2_SIZE;
	else if (reg->regset == RFM2G_MEMORY)
		size = vdev->params.size;
	else
		return -EINVAL;
	return reg->offset > size - reg->width ? -EINVAL : 0;
}

static bool vrfm_reg_covers(const struct rfm2g_reg_info *reg, u32 first,
			    u32 len)
{
	return reg->offset < first + len && first < reg->offset + reg->width;
}

/*
 * Take the oldest event of each FIFO if REG covers the register that contains
 * the sender of the event. Reading this register takes the event.
 */
static void vrfm_fifos_pop_locked(struct vrfm_dev *vdev,
				  const struct rfm2g_reg_info *reg)
{
	struct vrfm_entry entry;
	u32 i;

	lockdep_assert_held(&vdev->lock);
	for (i = 0; i < 4; i++)
		if (vrfm_reg_covers(reg, VRFM_REG_FIFO + 8 * i + 4, 1))
			vrfm_queue_take(&vdev->events[RFM2G_EVENT_INTR1 + i].queue,
					&entry);
}

/**
 * vrfm_reg_read - read a register
 * @vdev: device
 * @reg: register; its value is set
 *
 * Context: may sleep.
 * Return: 0; -EINVAL: there is no such register.
 */
int vrfm_reg_read(struct vrfm_dev *vdev, struct rfm2g_reg_info *reg)
{
	u8 image[RFM2G_BAR0_SIZE];
	int ret = vrfm_reg_check(vdev, reg);

	if (ret)
		return ret;
	reg->value = 0;
	if (reg->regset == RFM2G_MEMORY) {
		vrfm_mem_load(vdev, reg->offset, &reg->value, reg->width);
		return 0;
	}
	spin_lock_bh(&vdev->lock);
	vrfm_image_locked(vdev, reg->regset, image);
	reg->value = vrfm_reg_get(image + reg->offset, reg->width);
	if (reg->regset == RFM2G_BAR2) {
		vrfm_fifos_pop_locked(vdev, reg);
		vrfm_regs_publish_locked(vdev);
	}
	spin_unlock_bh(&vdev->lock);
	return 0;
}

static void vrfm_lcsr_write_locked(struct vrfm_dev *vdev, u32 value)
{
	struct vrfm_regs *regs = &vdev->regs;

	lockdep_assert_held(&vdev->lock);
	regs->lcsr &= value | ~VRFM_LCSR_LATCHED;
	regs->lcsr = (regs->lcsr & ~VRFM_LCSR_WRITABLE) |
		     (value & VRFM_LCSR_WRITABLE);
}

/*
 * Clear the events of RESET and of faults where the written bit is 0. The other
 * events have FIFOs, which are cleared through registers of their own.
 */
static void vrfm_lisr_write_locked(struct vrfm_dev *vdev, u32 value)
{
	struct vrfm_queue *q;
	u32 type;

	lockdep_assert_held(&vdev->lock);
	for (type = 0; type < RFM2G_EVENTS; type++) {
		q = &vdev->events[type].queue;
		if (q->depth == 1 && !(value & BIT(vrfm_event_bit[type])))
			vrfm_queue_clear(q);
	}
}

static void vrfm_lier_write_locked(struct vrfm_dev *vdev, u32 value)
{
	u32 type;

	lockdep_assert_held(&vdev->lock);
	for (type = 0; type < RFM2G_EVENTS; type++)
		vrfm_event_enable_locked(vdev, type,
					 value & BIT(vrfm_event_bit[type]));
}

/*
 * Clear each FIFO if REG covers the register that contains the sender of its
 * oldest event. A write to this register clears the FIFO.
 */
static void vrfm_fifos_write_locked(struct vrfm_dev *vdev,
				    const struct rfm2g_reg_info *reg)
{
	u32 i;

	lockdep_assert_held(&vdev->lock);
	for (i = 0; i < 4; i++)
		if (vrfm_reg_covers(reg, VRFM_REG_FIFO + 8 * i + 4, 1))
			vrfm_queue_clear(&vdev->events[RFM2G_EVENT_INTR1 + i].queue);
}

/* Act on a write to REG. IMAGE is the new content of BAR2. */
static void vrfm_bar2_write_locked(struct vrfm_dev *vdev, const u8 *image,
				   const struct rfm2g_reg_info *reg)
{
	lockdep_assert_held(&vdev->lock);
	if (vrfm_reg_covers(reg, VRFM_REG_LCSR1, 4))
		vrfm_lcsr_write_locked(vdev, vrfm_get32(image + VRFM_REG_LCSR1));
	if (vrfm_reg_covers(reg, VRFM_REG_LISR, 4))
		vrfm_lisr_write_locked(vdev, vrfm_get32(image + VRFM_REG_LISR));
	if (vrfm_reg_covers(reg, VRFM_REG_LIER, 4))
		vrfm_lier_write_locked(vdev, vrfm_get32(image + VRFM_REG_LIER));
	vdev->regs.ntd = vrfm_get32(image + VRFM_REG_NTD);
	vdev->regs.ntn = image[VRFM_REG_NTN];
	vrfm_fifos_write_locked(vdev, reg);
	vrfm_regs_publish_locked(vdev);
}

/**
 * vrfm_probe - check whether the ring is closed
 * @vdev: device
 *
 * The ring is closed if each READY peer answers within %VRFM_RING_MS. In this
 * case the own data bit is set. In loopback the ring is always closed. Without
 * loopback, the ring is open while the transmitter is off.
 *
 * Context: may sleep.
 * Return: 0 if the ring is closed; -ETIMEDOUT if a peer does not answer, or the
 * transmitter is off; or an error of vrfm_await_peers().
 */
int vrfm_probe(struct vrfm_dev *vdev)
{
	struct vrfm_flush flush = { .timeout_ms = VRFM_RING_MS };
	int ret;

	if (vrfm_lcsr(vdev) & VRFM_LCSR_LOOPBACK)
		ret = 0;
	else if (vrfm_is_dark(vdev))
		ret = -ETIMEDOUT;
	else
		ret = vrfm_await_peers(vdev, &flush);
	if (!ret)
		vrfm_lcsr_update(vdev, VRFM_LCSR_OWN_DATA, true);
	return ret;
}

/* Send the command in NIC to the node in NTN, with the data in NTD. */
static void vrfm_nic_write(struct vrfm_dev *vdev, const u8 *image)
{
	u8 command = image[VRFM_REG_NIC];
	s8 type = vrfm_nic_event[command & VRFM_NIC_COMMAND];

	/* Check the ring at once: the program then reads the "own data" bit. */
	if ((command & VRFM_NIC_COMMAND) == VRFM_NIC_PROBE)
		vrfm_probe(vdev);
	if (type < 0)
		return;
	/*
	 * As on a card, an event to this node or to a missing node has no
	 * effect.
	 */
	vrfm_event_send(vdev, command & VRFM_NIC_BROADCAST ? RFM2G_NODE_ALL :
			image[VRFM_REG_NTN], type,
			vrfm_get32(image + VRFM_REG_NTD));
}

/* Set the bits of CLEAR in register REG to 0, and then those of SET to 1. */
static int vrfm_reg_change(struct vrfm_dev *vdev,
			   const struct rfm2g_reg_info *reg, u32 clear, u32 set)
{
	u8 image[RFM2G_BAR2_SIZE];
	int ret = vrfm_reg_check(vdev, reg);
	__le32 value;

	if (ret || reg->regset == RFM2G_BAR0)
		return ret;
	if (reg->regset == RFM2G_MEMORY)
		return vrfm_store_bits(vdev, reg->offset, reg->width, clear,
				       set);
	if (vrfm_reg_covers(reg, VRFM_REG_LCSR1, 4))
		ret = vrfm_switching(vdev);
	if (ret)
		return ret;
	spin_lock_bh(&vdev->lock);
	vrfm_image_locked(vdev, RFM2G_BAR2, image);
	value = cpu_to_le32((vrfm_reg_get(image + reg->offset, reg->width) &
			     ~clear) | set);
	memcpy(image + reg->offset, &value, reg->width);
	vrfm_bar2_write_locked(vdev, image, reg);
	spin_unlock_bh(&vdev->lock);
	if (vrfm_reg_covers(reg, VRFM_REG_NIC, 1))
		vrfm_nic_write(vdev, image);
	return 0;
}

/**
 * vrfm_reg_write - write a register
 * @vdev: device
 * @reg: register and its new value
 *
 * Context: may sleep.
 * Return: 0, also if the register is read-only; -EINVAL: there is no such
 * register; -EINTR: killed.
 */
int vrfm_reg_write(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg)
{
	return vrfm_reg_change(vdev, reg, U32_MAX, reg->value);
}

/**
 * vrfm_reg_set - set bits of a register, in one step
 * @vdev: device
 * @reg: register; its value is the mask
 *
 * Context: may sleep.
 * Return: as vrfm_reg_write().
 */
int vrfm_reg_set(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg)
{
	return vrfm_reg_change(vdev, reg, 0, reg->value);
}

/**
 * vrfm_reg_clear - clear bits of a register, in one step
 * @vdev: device
 * @reg: register; its value is the mask
 *
 * Context: may sleep.
 * Return: as vrfm_reg_write().
 */
int vrfm_reg_clear(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg)
{
	return vrfm_reg_change(vdev, reg, reg->value, 0);
}
