// SPDX-License-Identifier: GPL-2.0
/*
 * The ioctls of RFM2g and those of vrfm, one function for each. The two tables
 * assign the functions to the commands.
 *
 * A command is found if all 32 bits of its number match. Two fields of the
 * number encode the size and direction of the argument. In many commands of
 * RFM2g these fields are wrong, so each function copies the bytes that its
 * command really takes or returns.
 */
#include <linux/compat.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "device.h"
#include "ring.h"
#include "write.h"

/**
 * struct vrfm_call - an ioctl in progress
 * @file: open file
 * @vf: private data of @file
 * @vdev: device of @vf
 * @value: argument, if it is a value
 * @user: argument, if it is an address
 * @which: parameter for the function, from the table
 * @narrow: the caller is a 32-bit program, and its argument may have another
 *	layout
 */
struct vrfm_call {
	struct file *file;
	struct vrfm_file *vf;
	struct vrfm_dev *vdev;
	unsigned long value;
	void __user *user;
	u32 which;
	bool narrow;
};

/**
 * struct vrfm_command - entry of a table of commands
 * @cmd: number of the command
 * @run: function that runs the command, and returns 0, a descriptor or an error
 * @which: parameter for @run
 * @writes: the command requires a file that is open for writing
 */
struct vrfm_command {
	u32 cmd;
	int (*run)(const struct vrfm_call *call);
	u32 which;
	bool writes;
};

static bool vrfm_call_nowait(const struct vrfm_call *call)
{
	return call->file->f_flags & O_NONBLOCK;
}

static int vrfm_get_u8(const struct vrfm_call *call, u8 value)
{
	return put_user(value, (u8 __user *)call->user);
}

static int vrfm_get_u32(const struct vrfm_call *call, u32 value)
{
	return put_user(value, (u32 __user *)call->user);
}

/*
 * Get and check the argument of peek and poke. As in the cards' driver, the
 * offset must be aligned only if byte swap is on.
 */
static int vrfm_ioctl_atomic(const struct vrfm_call *call,
			     struct rfm2g_atomic *atomic)
{
	if (copy_from_user(atomic, call->user, sizeof(*atomic)))
		return -EFAULT;
	if (atomic->width != 1 && atomic->width != 2 && atomic->width != 4)
		return -EINVAL;
	if (!vrfm_inside(call->vdev, atomic->offset, atomic->width))
		return -EINVAL;
	if (READ_ONCE(call->vdev->regs.pio_swap) &&
	    !IS_ALIGNED(atomic->offset, atomic->width))
		return -EINVAL;
	return 0;
}

static int vrfm_ioctl_peek(const struct vrfm_call *call)
{
	struct rfm2g_atomic atomic;
	int ret = vrfm_ioctl_atomic(call, &atomic);

	if (ret)
		return ret;
	atomic.data = 0;
	vrfm_mem_load(call->vdev, atomic.offset, &atomic.data, atomic.width);
	return copy_to_user(call->user, &atomic, sizeof(atomic)) ? -EFAULT : 0;
}

static int vrfm_ioctl_poke(const struct vrfm_call *call)
{
	struct rfm2g_atomic atomic;
	int ret = vrfm_ioctl_atomic(call, &atomic);

	return ret ?: vrfm_store(call->vdev, atomic.offset, &atomic.data,
				 atomic.width, vrfm_call_nowait(call));
}

/*
 * Size of an event's argument without the member that only a driver uses. That
 * member is shorter in 32-bit programs.
 */
#define VRFM_EVENT_BYTES offsetof(struct rfm2g_event_info, driver)

static int vrfm_ioctl_event(const struct vrfm_call *call,
			    struct rfm2g_event_info *info)
{
	return copy_from_user(info, call->user, VRFM_EVENT_BYTES) ? -EFAULT : 0;
}

static int vrfm_ioctl_enable(const struct vrfm_call *call)
{
	struct rfm2g_event_info info;

	return vrfm_ioctl_event(call, &info) ?:
		vrfm_event_enable(call->vdev, info.event);
}

static int vrfm_ioctl_disable(const struct vrfm_call *call)
{
	struct rfm2g_event_info info;

	return vrfm_ioctl_event(call, &info) ?:
		vrfm_event_disable(call->vdev, info.event);
}

static int vrfm_ioctl_send(const struct vrfm_call *call)
{
	struct rfm2g_event_info info;

	return vrfm_ioctl_event(call, &info) ?:
		vrfm_event_send(call->vdev, info.node_id, info.event,
				info.extended_info);
}

static int vrfm_ioctl_wait(const struct vrfm_call *call)
{
	struct rfm2g_event_info info;
	struct vrfm_entry entry;
	int ret = vrfm_ioctl_event(call, &info);

	if (!ret)
		ret = vrfm_event_wait(call->vdev, call->file, info.event,
				      info.timeout, &entry);
	if (ret)
		return ret;
	info.node_id = entry.node;
	info.extended_info = entry.data;
	return copy_to_user(call->user, &info, VRFM_EVENT_BYTES) ? -EFAULT : 0;
}

static int vrfm_ioctl_cancel(const struct vrfm_call *call)
{
	struct rfm2g_event_info info;

	return vrfm_ioctl_event(call, &info) ?:
		vrfm_event_cancel(call->vdev, info.event);
}

static int vrfm_ioctl_event_stats(const struct vrfm_call *call)
{
	struct rfm2g_queue_info info;
	int ret;

	if (copy_from_user(&info, call->user, sizeof(info)))
		return -EFAULT;
	ret = vrfm_event_info(call->vdev, &info);
	if (ret)
		return ret;
	return copy_to_user(call->user, &info, sizeof(info)) ? -EFAULT : 0;
}

static u32 vrfm_ioctl_type(const struct vrfm_call *call)
{
	return min_t(unsigned long, call->value, RFM2G_EVENTS);
}

static int vrfm_ioctl_clear(const struct vrfm_call *call)
{
	return vrfm_event_clear(call->vdev, vrfm_ioctl_type(call));
}

static int vrfm_ioctl_clear_count(const struct vrfm_call *call)
{
	return vrfm_event_clear_count(call->vdev, vrfm_ioctl_type(call));
}

/*
 * Zero the structure first, because the gaps between its members are copied to
 * the program as well.
 */
static int vrfm_ioctl_config(const struct vrfm_call *call)
{
	struct vrfm_dev *vdev = call->vdev;
	struct rfm2g_config config;

	BUILD_BUG_ON(sizeof(config) != 244);
	memset(&config, 0, sizeof(config));
	config.node_id = vdev->params.node;
	config.board_id = VRFM_BOARD_ID;
	config.unit = vdev->unit;
	config.plx_revision = VRFM_PLX_REVISION;
	config.memory_size = vdev->params.size;
	snprintf(config.device, sizeof(config.device), "/dev/%s",
		 dev_name(&vdev->dev));
	strscpy(config.name, "krdma vrfm", sizeof(config.name));
	strscpy(config.driver_version, VRFM_VERSION,
		sizeof(config.driver_version));
	config.board_revision = vrfm_board_revision(vdev);
	config.revision_id = 1;
	config.lcsr1 = vrfm_lcsr(vdev);
	config.pci.or_window_size = RFM2G_BAR0_SIZE;
	config.pci.or_reg_size = RFM2G_BAR0_SIZE;
	config.pci.cs_window_size = RFM2G_BAR2_SIZE;
	config.pci.cs_reg_size = RFM2G_BAR2_SIZE;
	config.pci.window_size = vdev->params.size;
	config.pci.type = 0x5565;
	return copy_to_user(call->user, &config, sizeof(config)) ? -EFAULT : 0;
}

static int vrfm_ioctl_get_threshold(const struct vrfm_call *call)
{
	return vrfm_get_u32(call, READ_ONCE(call->vf->dma_threshold));
}

static int vrfm_ioctl_set_threshold(const struct vrfm_call *call)
{
	u32 threshold;

	if (get_user(threshold, (u32 __user *)call->user))
		return -EFAULT;
	WRITE_ONCE(call->vf->dma_threshold, threshold);
	return 0;
}

static int vrfm_ioctl_get_debug(const struct vrfm_call *call)
{
	return vrfm_get_u32(call, READ_ONCE(call->vdev->regs.debug));
}

static int vrfm_ioctl_set_debug(const struct vrfm_call *call)
{
	WRITE_ONCE(call->vdev->regs.debug, call->value);
	return 0;
}

/* Return one bit of LCSR1 to the program; @which is the bit. */
static int vrfm_ioctl_get_bit(const struct vrfm_call *call)
{
	return vrfm_get_u8(call, !!(vrfm_lcsr(call->vdev) & call->which));
}

static int vrfm_ioctl_set_bit(const struct vrfm_call *call)
{
	vrfm_lcsr_update(call->vdev, call->which, call->value);
	return 0;
}

static int vrfm_ioctl_transmit(const struct vrfm_call *call)
{
	return vrfm_switching(call->vdev) ?: vrfm_ioctl_set_bit(call);
}

static int vrfm_ioctl_own_data(const struct vrfm_call *call)
{
	return vrfm_get_u8(call, vrfm_lcsr_update(call->vdev,
						  VRFM_LCSR_OWN_DATA, false));
}

static int vrfm_ioctl_ring(const struct vrfm_call *call)
{
	int ret;

	vrfm_lcsr_update(call->vdev, VRFM_LCSR_OWN_DATA, false);
	ret = vrfm_probe(call->vdev);
	return ret == -ETIMEDOUT ? -EFAULT : ret;
}

static int vrfm_ioctl_get_swap(const struct vrfm_call *call)
{
	const struct vrfm_regs *regs = &call->vdev->regs;

	return vrfm_get_u8(call, call->which ? READ_ONCE(regs->dma_swap) :
			   READ_ONCE(regs->pio_swap));
}

static int vrfm_ioctl_set_swap(const struct vrfm_call *call)
{
	struct vrfm_dev *vdev = call->vdev;

	spin_lock_bh(&vdev->lock);
	if (call->which)
		vdev->regs.dma_swap = call->value;
	else
		vdev->regs.pio_swap = call->value;
	vrfm_regs_publish_bus_locked(vdev);
	spin_unlock_bh(&vdev->lock);
	return 0;
}

static int vrfm_ioctl_get_offset(const struct vrfm_call *call)
{
	return vrfm_get_u32(call, 0);
}

/* Set the memory offset or the sliding window: only 0 is valid. */
static int vrfm_ioctl_only_zero(const struct vrfm_call *call)
{
	return call->value ? -EINVAL : 0;
}

static int vrfm_ioctl_nothing(const struct vrfm_call *call)
{
	return 0;
}

static int vrfm_ioctl_read_reg(const struct vrfm_call *call)
{
	struct rfm2g_reg_info reg;
	int ret;

	if (copy_from_user(&reg, call->user, sizeof(reg)))
		return -EFAULT;
	ret = vrfm_reg_read(call->vdev, &reg);
	if (ret)
		return ret;
	return copy_to_user(call->user, &reg, sizeof(reg)) ? -EFAULT : 0;
}

/* Set, clear or write a register; @which is the command. */
static int vrfm_ioctl_change_reg(const struct vrfm_call *call)
{
	struct rfm2g_reg_info reg;

	if (copy_from_user(&reg, call->user, sizeof(reg)))
		return -EFAULT;
	if (call->which == RFM2G_SET_REG)
		return vrfm_reg_set(call->vdev, &reg);
	if (call->which == RFM2G_CLEAR_REG)
		return vrfm_reg_clear(call->vdev, &reg);
	return vrfm_reg_write(call->vdev, &reg);
}

static int vrfm_ioctl_transfer(const struct vrfm_call *call,
			       struct rfm2g_transfer *transfer)
{
	struct rfm2g_transfer_32 narrow;

	if (call->narrow) {
		if (copy_from_user(&narrow, call->user, sizeof(narrow)))
			return -EFAULT;
		transfer->offset = narrow.offset;
		transfer->length = narrow.length;
		transfer->buffer = narrow.buffer;
	} else if (copy_from_user(transfer, call->user, sizeof(*transfer))) {
		return -EFAULT;
	}
	/* A transfer of 0 bytes is valid at any offset. */
	if (transfer->length &&
	    !vrfm_inside(call->vdev, transfer->offset, transfer->length))
		return -EFAULT;
	return 0;
}

static int vrfm_ioctl_read(const struct vrfm_call *call)
{
	struct rfm2g_transfer transfer;
	int ret = vrfm_ioctl_transfer(call, &transfer);

	if (ret || !transfer.length)
		return ret;
	return vrfm_read(call->vdev, transfer.offset,
			 u64_to_user_ptr(transfer.buffer), transfer.length);
}

static int vrfm_ioctl_write(const struct vrfm_call *call)
{
	struct rfm2g_transfer transfer;
	int ret = vrfm_ioctl_transfer(call, &transfer);
	size_t done;

	if (ret || !transfer.length)
		return ret;
	return vrfm_write(call->vdev, transfer.offset,
			  u64_to_user_ptr(transfer.buffer), transfer.length,
			  vrfm_call_nowait(call), &done);
}

static int vrfm_ioctl_special(const struct vrfm_call *call)
{
	u64 value, address;
	int special;

	if (copy_from_user(&value, call->user, sizeof(value)))
		return -EFAULT;
	address = value & ~(u64)RFM2G_MMAP_DMA;
	if (value & RFM2G_MMAP_DMA) {
		if (!PAGE_ALIGNED(address))
			return -EFAULT;
		special = address ? VRFM_SPECIAL_DMA : VRFM_SPECIAL_DMA_NULL;
	} else if (value & RFM2G_MMAP_BAR0) {
		special = VRFM_SPECIAL_BAR0;
	} else if (value & RFM2G_MMAP_BAR2) {
		special = VRFM_SPECIAL_BAR2;
	} else {
		return -EFAULT;
	}
	WRITE_ONCE(call->vf->special, special);
	return 0;
}

/*
 * Wait for the peers, and copy the counts to the program, also after a timeout.
 */
static int vrfm_ioctl_flush(const struct vrfm_call *call)
{
	struct vrfm_flush flush;
	int ret;

	if (copy_from_user(&flush, call->user, sizeof(flush)))
		return -EFAULT;
	if (flush.flags || flush.reserved)
		return -EINVAL;
	ret = vrfm_await_peers(call->vdev, &flush);
	if (ret && ret != -ETIMEDOUT)
		return ret;
	return copy_to_user(call->user, &flush, sizeof(flush)) ? -EFAULT : ret;
}

static int vrfm_ioctl_watch(const struct vrfm_call *call)
{
	struct vrfm_watch watch;
	int ret;

	if (copy_from_user(&watch, call->user, sizeof(watch)))
		return -EFAULT;
	if (watch.flags || watch.reserved || !watch.length ||
	    watch.length > VRFM_WATCH_MAX ||
	    !vrfm_inside(call->vdev, watch.offset, watch.length))
		return -EINVAL;
	ret = vrfm_watch(call->vdev, call->file, &watch);
	if (ret)
		return ret;
	return copy_to_user(call->user, &watch, sizeof(watch)) ? -EFAULT : 0;
}

static int vrfm_ioctl_unwatch(const struct vrfm_call *call)
{
	vrfm_watches_cancel(call->vdev, call->file, current->files);
	return 0;
}

static int vrfm_get_claim(const struct vrfm_call *call,
			  struct vrfm_claim *claim)
{
	if (copy_from_user(claim, call->user, sizeof(*claim)))
		return -EFAULT;
	if (claim->flags || claim->reserved || !claim->length ||
	    !vrfm_inside(call->vdev, claim->offset, claim->length))
		return -EINVAL;
	return 0;
}

static int vrfm_ioctl_claim(const struct vrfm_call *call)
{
	struct vrfm_claim claim;
	int ret = vrfm_get_claim(call, &claim);

	return ret ?: vrfm_claim(call->file->private_data, claim.offset,
				 claim.length);
}

static int vrfm_ioctl_unclaim(const struct vrfm_call *call)
{
	struct vrfm_claim claim;
	int ret = vrfm_get_claim(call, &claim);

	return ret ?: vrfm_unclaim(call->file->private_data, claim.offset,
				   claim.length);
}

static int vrfm_ioctl_peers(const struct vrfm_call *call)
{
	struct vrfm_peers peers;
	int ret;

	if (copy_from_user(&peers, call->user, sizeof(peers)))
		return -EFAULT;
	if (peers.flags || peers.peer_size < VRFM_PEER_SIZE)
		return -EINVAL;
	if (peers.peer_size > PAGE_SIZE)
		return -E2BIG;
	ret = vrfm_states(call->vdev, &peers);
	if (ret)
		return ret;
	return copy_to_user(call->user, &peers, sizeof(peers)) ? -EFAULT : 0;
}

/* Get the arguments of a ring, of a program that may know more members. */
static int vrfm_get_ring(const struct vrfm_call *call, struct vrfm_ring *args)
{
	u32 size;
	int ret;

	BUILD_BUG_ON(sizeof(*args) != 64);
	if (get_user(size, (u32 __user *)call->user))
		return -EFAULT;
	if (size < sizeof(*args))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(args, sizeof(*args), call->user, size);
	/* The program may have changed the size since then. */
	args->size = size;
	return ret;
}

/*
 * Create a ring, and return its descriptor. The descriptor is usable only after
 * the results have been copied to the program.
 */
static int vrfm_ioctl_ring_create(const struct vrfm_call *call)
{
	struct vrfm_ring args;
	struct file *made;
	int fd, ret;

	if (!(call->file->f_mode & FMODE_READ))
		return -EBADF;
	ret = vrfm_get_ring(call, &args);
	if (ret)
		return ret;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	made = vrfm_ring_create(call->file, &args);
	if (IS_ERR(made)) {
		ret = PTR_ERR(made);
		goto err_put_fd;
	}
	if (copy_to_user(call->user, &args, sizeof(args))) {
		ret = -EFAULT;
		goto err_put_file;
	}
	fd_install(fd, made);
	return fd;

err_put_file:
	fput(made);
err_put_fd:
	put_unused_fd(fd);
	return ret;
}

/* Commands of RFM2g, indexed by _IOC_NR() of the command. */
static const struct vrfm_command vrfm_commands[] = {
	[10] = { RFM2G_ATOMIC_PEEK, vrfm_ioctl_peek },
	[11] = { RFM2G_ATOMIC_POKE, vrfm_ioctl_poke, 0, true },
	[20] = { RFM2G_ENABLE_EVENT, vrfm_ioctl_enable },
	[21] = { RFM2G_DISABLE_EVENT, vrfm_ioctl_disable },
	[22] = { RFM2G_SEND_EVENT, vrfm_ioctl_send, 0, true },
	[23] = { RFM2G_WAIT_FOR_EVENT, vrfm_ioctl_wait },
	[24] = { RFM2G_CANCEL_EVENT, vrfm_ioctl_cancel },
	[25] = { RFM2G_GET_EVENT_STATS, vrfm_ioctl_event_stats },
	[26] = { RFM2G_CLEAR_EVENT_STATS, vrfm_ioctl_clear_count },
	[29] = { RFM2G_FLUSH_QUEUE, vrfm_ioctl_clear },
	[30] = { RFM2G_GET_CONFIG, vrfm_ioctl_config },
	[33] = { RFM2G_GET_DMA_THRESHOLD, vrfm_ioctl_get_threshold },
	[34] = { RFM2G_SET_DMA_THRESHOLD, vrfm_ioctl_set_threshold },
	[40] = { RFM2G_GET_DEBUG_FLAGS, vrfm_ioctl_get_debug },
	[41] = { RFM2G_SET_DEBUG_FLAGS, vrfm_ioctl_set_debug },
	[50] = { RFM2G_SET_LED, vrfm_ioctl_set_bit, VRFM_LCSR_LED, true },
	[51] = { RFM2G_GET_LED, vrfm_ioctl_get_bit, VRFM_LCSR_LED },
	[52] = { RFM2G_CHECK_RING_CONT, vrfm_ioctl_ring },
	[53] = { RFM2G_GET_DARK_ON_DARK, vrfm_ioctl_get_bit,
		 VRFM_LCSR_DARK_ON_DARK },
	[54] = { RFM2G_SET_DARK_ON_DARK, vrfm_ioctl_set_bit,
		 VRFM_LCSR_DARK_ON_DARK, true },
	[55] = { RFM2G_CLEAR_OWN_DATA, vrfm_ioctl_own_data },
	[56] = { RFM2G_GET_TRANSMIT_DISABLE, vrfm_ioctl_get_bit,
		 VRFM_LCSR_TX_OFF },
	[57] = { RFM2G_SET_TRANSMIT_DISABLE, vrfm_ioctl_transmit,
		 VRFM_LCSR_TX_OFF, true },
	[58] = { RFM2G_GET_LOOPBACK, vrfm_ioctl_get_bit, VRFM_LCSR_LOOPBACK },
	[59] = { RFM2G_SET_LOOPBACK, vrfm_ioctl_set_bit, VRFM_LCSR_LOOPBACK,
		 true },
	[60] = { RFM2G_GET_PARITY_ENABLE, vrfm_ioctl_get_bit,
		 VRFM_LCSR_PARITY },
	[61] = { RFM2G_SET_PARITY_ENABLE, vrfm_ioctl_set_bit,
		 VRFM_LCSR_PARITY, true },
	[62] = { RFM2G_GET_MEMORY_OFFSET, vrfm_ioctl_get_offset },
	[63] = { RFM2G_SET_MEMORY_OFFSET, vrfm_ioctl_only_zero, 0, true },
	[64] = { RFM2G_SET_PCI_COMPATIBILITY, vrfm_ioctl_nothing },
	[65] = { RFM2G_READ_REG, vrfm_ioctl_read_reg },
	[66] = { RFM2G_WRITE_REG, vrfm_ioctl_change_reg, RFM2G_WRITE_REG, true },
	[67] = { RFM2G_GET_DMA_BYTE_SWAP, vrfm_ioctl_get_swap, 1 },
	[68] = { RFM2G_SET_DMA_BYTE_SWAP, vrfm_ioctl_set_swap, 1, true },
	[69] = { RFM2G_GET_PIO_BYTE_SWAP, vrfm_ioctl_get_swap, 0 },
	[70] = { RFM2G_SET_PIO_BYTE_SWAP, vrfm_ioctl_set_swap, 0, true },
	[71] = { RFM2G_CLEAR_EVENT, vrfm_ioctl_clear },
	[72] = { RFM2G_CLEAR_EVENT_COUNT, vrfm_ioctl_clear_count },
	[73] = { RFM2G_READ, vrfm_ioctl_read },
	[74] = { RFM2G_WRITE, vrfm_ioctl_write, 0, true },
	[75] = { RFM2G_CLEAR_REG, vrfm_ioctl_change_reg, RFM2G_CLEAR_REG, true },
	[76] = { RFM2G_SET_REG, vrfm_ioctl_change_reg, RFM2G_SET_REG, true },
	[77] = { RFM2G_SET_SPECIAL_MMAP, vrfm_ioctl_special },
	[78] = { RFM2G_CLEAR_DMA_MMAP, vrfm_ioctl_nothing },
	[79] = { RFM2G_SET_SLIDING_WINDOW, vrfm_ioctl_only_zero, 0, true },
};

static int vrfm_ioctl_poll_events(const struct vrfm_call *call)
{
	const u32 known = VRFM_NETWORK_EVENTS | VRFM_FAULT_EVENTS;
	struct vrfm_poll_events events;

	if (copy_from_user(&events, call->user, sizeof(events)))
		return -EFAULT;
	if (events.flags || events.reserved || (events.in | events.pri) & ~known)
		return -EINVAL;
	WRITE_ONCE(call->vf->poll_in, events.in);
	WRITE_ONCE(call->vf->poll_pri, events.pri);
	vrfm_events_wake(call->vdev);
	return 0;
}

static int vrfm_ioctl_unwait(const struct vrfm_call *call)
{
	struct vrfm_unwait unwait;

	if (copy_from_user(&unwait, call->user, sizeof(unwait)))
		return -EFAULT;
	if (unwait.flags || unwait.events & ~VRFM_ALL_EVENTS)
		return -EINVAL;
	vrfm_events_cancel(call->vdev, call->file, current->files,
			   unwait.events);
	return 0;
}

/* Execute a batch, and copy the results to the program, also after an error. */
static int vrfm_ioctl_batch(const struct vrfm_call *call)
{
	struct vrfm_batch batch;
	int ret;

	BUILD_BUG_ON(sizeof(batch) != 48);
	BUILD_BUG_ON(sizeof(struct vrfm_op) != 64);
	if (copy_from_user(&batch, call->user, sizeof(batch)))
		return -EFAULT;
	ret = vrfm_batch(call->vdev, &batch, vrfm_call_nowait(call));
	return copy_to_user(call->user, &batch, sizeof(batch)) ? -EFAULT : ret;
}

/* Commands of vrfm, indexed by _IOC_NR() of the command. */
static const struct vrfm_command vrfm_own_commands[] = {
	[1] = { VRFM_FLUSH, vrfm_ioctl_flush },
	[2] = { VRFM_WATCH, vrfm_ioctl_watch },
	[3] = { VRFM_UNWATCH, vrfm_ioctl_unwatch },
	[4] = { VRFM_PEERS, vrfm_ioctl_peers },
	[5] = { VRFM_CLAIM, vrfm_ioctl_claim },
	[6] = { VRFM_UNCLAIM, vrfm_ioctl_unclaim },
	[7] = { VRFM_POLL_EVENTS, vrfm_ioctl_poll_events },
	[8] = { VRFM_UNWAIT, vrfm_ioctl_unwait },
	[9] = { VRFM_RING, vrfm_ioctl_ring_create },
	[12] = { VRFM_BATCH, vrfm_ioctl_batch, 0, true },
};

/*
 * Find a command in its table. array_index_nospec() keeps the index inside the
 * table also under speculation.
 */
static const struct vrfm_command *vrfm_command_find(unsigned int cmd)
{
	const struct vrfm_command *table = vrfm_commands, *command;
	unsigned int n = ARRAY_SIZE(vrfm_commands), nr = _IOC_NR(cmd);

	if (_IOC_TYPE(cmd) == VRFM_MAGIC) {
		table = vrfm_own_commands;
		n = ARRAY_SIZE(vrfm_own_commands);
	}
	if (nr >= n)
		return NULL;
	command = &table[array_index_nospec(nr, n)];
	return command->run && command->cmd == cmd ? command : NULL;
}

static long vrfm_call_run(struct vrfm_call *call, unsigned int cmd)
{
	const struct vrfm_command *command = vrfm_command_find(cmd);

	if (!command)
		return _IOC_TYPE(cmd) == RFM2G_MAGIC ? -EINVAL : -ENOTTY;
	call->vf = call->file->private_data;
	call->vdev = call->vf->vdev;
	if (READ_ONCE(call->vdev->gone))
		return -ENODEV;
	if (command->writes && !(call->file->f_mode & FMODE_WRITE))
		return -EBADF;
	call->which = command->which;
	return command->run(call);
}

/**
 * vrfm_ioctl - run an ioctl
 * @file: open device
 * @cmd: number of the command
 * @arg: argument of the command
 *
 * Return: 0, or the descriptor of a ring; -ENOTTY if @cmd is an unknown command
 * that is not one of RFM2g; -EINVAL if it is an unknown command of RFM2g, or the
 * argument is invalid; -EBADF if the command writes, and the file is not open
 * for writing; -ENODEV if the device was destroyed; or another error of the
 * command.
 */
long vrfm_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct vrfm_call call = {
		.file = file,
		.value = arg,
		.user = (void __user *)arg,
	};

	return vrfm_call_run(&call, cmd);
}

#ifdef CONFIG_COMPAT
/*
 * Commands that have another number in 32-bit programs: that number, and the
 * number in 64-bit programs.
 */
static const u32 vrfm_narrow_commands[][2] = {
	{ RFM2G_ENABLE_EVENT_32, RFM2G_ENABLE_EVENT },
	{ RFM2G_DISABLE_EVENT_32, RFM2G_DISABLE_EVENT },
	{ RFM2G_SEND_EVENT_32, RFM2G_SEND_EVENT },
	{ RFM2G_WAIT_FOR_EVENT_32, RFM2G_WAIT_FOR_EVENT },
	{ RFM2G_CANCEL_EVENT_32, RFM2G_CANCEL_EVENT },
	{ RFM2G_READ_32, RFM2G_READ },
	{ RFM2G_WRITE_32, RFM2G_WRITE },
};

/**
 * vrfm_compat_ioctl - run an ioctl of a 32-bit program
 * @file: open device
 * @cmd: number of the command
 * @arg: argument of the command
 *
 * Return: see vrfm_ioctl().
 */
long vrfm_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct vrfm_call call = {
		.file = file,
		.value = arg,
		.user = compat_ptr(arg),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vrfm_narrow_commands); i++) {
		if (vrfm_narrow_commands[i][0] != cmd)
			continue;
		call.narrow = true;
		return vrfm_call_run(&call, vrfm_narrow_commands[i][1]);
	}
	return vrfm_call_run(&call, cmd);
}
#endif
