// SPDX-License-Identifier: GPL-2.0
/*
 * Access of programs to the registers. An access composes a register space, see
 * regs.c. A write then changes the composed space, and acts on the registers
 * that the write touches.
 */
#include <linux/string.h>

#include "device.h"
#include "regs.h"
#include "write.h"

/*
 * Timeout of the ring check, in ms. The check waits until all READY peers have
 * acknowledged.
 */
#define VRFM_RING_MS 500

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
	struct vrfm_entry entry;
	u32 i;

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
	/*
	 * Reading the register that contains the sender of the oldest event of
	 * a FIFO takes the event.
	 */
	for (i = 0; i < 4 && reg->regset == RFM2G_BAR2; i++)
		if (vrfm_reg_covers(reg, VRFM_REG_FIFO + 8 * i + 4, 1))
			vrfm_queue_take(&vdev->events[RFM2G_EVENT_INTR1 + i].queue,
					&entry);
	if (reg->regset == RFM2G_BAR2)
		vrfm_regs_publish_locked(vdev);
	spin_unlock_bh(&vdev->lock);
	return 0;
}

/* Act on a write to REG. IMAGE is the new content of BAR2. */
static void vrfm_bar2_write_locked(struct vrfm_dev *vdev, const u8 *image,
				   const struct rfm2g_reg_info *reg)
{
	bool writes_lisr = vrfm_reg_covers(reg, VRFM_REG_LISR, 4);
	u32 i, bit, lcsr = vrfm_get32(image + VRFM_REG_LCSR1);
	u32 lisr = vrfm_get32(image + VRFM_REG_LISR);
	u32 lier = vrfm_get32(image + VRFM_REG_LIER);
	struct vrfm_regs *regs = &vdev->regs;
	struct vrfm_queue *q;

	lockdep_assert_held(&vdev->lock);
	if (vrfm_reg_covers(reg, VRFM_REG_LCSR1, 4)) {
		regs->lcsr &= lcsr | ~VRFM_LCSR_LATCHED;
		regs->lcsr = (regs->lcsr & ~VRFM_LCSR_WRITABLE) |
			     (lcsr & VRFM_LCSR_WRITABLE);
	}
	for (i = 0; i < RFM2G_EVENTS; i++) {
		bit = BIT(vrfm_event_bit[i]);
		q = &vdev->events[i].queue;
		/*
		 * A 0 in LISR clears RESET or a fault. The other events have
		 * FIFOs, which are cleared through registers of their own.
		 */
		if (writes_lisr && q->depth == 1 && !(lisr & bit))
			vrfm_queue_clear(q);
	}
	for (i = 0; i < RFM2G_EVENTS; i++)
		if (vrfm_reg_covers(reg, VRFM_REG_LIER, 4))
			vrfm_event_enable_locked(vdev, i,
						 lier & BIT(vrfm_event_bit[i]));
	regs->ntd = vrfm_get32(image + VRFM_REG_NTD);
	regs->ntn = image[VRFM_REG_NTN];
	/* A write to the sender of the oldest event of a FIFO clears it. */
	for (i = 0; i < 4; i++)
		if (vrfm_reg_covers(reg, VRFM_REG_FIFO + 8 * i + 4, 1))
			vrfm_queue_clear(&vdev->events[RFM2G_EVENT_INTR1 + i].queue);
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
