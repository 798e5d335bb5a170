/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ABI of RFM2g devices, /dev/rfm2gN: ioctl() commands and arguments of
 * programs written for the reflective-memory cards.
 *
 * The size in the number of a command often differs from the size of the object
 * that its argument points to. Some commands with _IOW in their number take a
 * value, not a pointer to it. Programs depend on both, so both are part of the
 * ABI. The comment at each command below names its real argument. Structures
 * have the byte order of the host and the x86-64 layout.
 */
#ifndef _UAPI_RFM2G_H
#define _UAPI_RFM2G_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define RFM2G_MAGIC 0xEB

#define RFM2G_NODE_MAX 255
#define RFM2G_NODE_ALL 0xFFFF
#define RFM2G_INFINITE_TIMEOUT 0xFFFFFFFFU
#define RFM2G_NEVER_DMA 0xFFFFFFFFU

/**
 * enum rfm2g_event - type of an event
 * @RFM2G_EVENT_RESET: a node requests a reset; no sender, no data
 * @RFM2G_EVENT_INTR1: network event 1, with the sender's id and 32 bits of data
 * @RFM2G_EVENT_INTR2: network event 2
 * @RFM2G_EVENT_INTR3: network event 3
 * @RFM2G_EVENT_INTR4: network event 4, "init" in the cards' registers
 * @RFM2G_EVENT_BAD_DATA: damaged data arrived
 * @RFM2G_EVENT_RXFIFO_FULL: this node was too slow: a peer left it behind and
 *	sends the missed data later
 * @RFM2G_EVENT_ROGUE_PKT: never happens here
 * @RFM2G_EVENT_RXFIFO_AFULL: a peer was too slow: this node left it behind
 * @RFM2G_EVENT_SYNC_LOSS: a link went down
 * @RFM2G_EVENT_MEM_WRITE_INHIBITED: never happens here
 * @RFM2G_EVENT_LOCAL_MEM_PARITY_ERR: never happens here
 * @RFM2G_EVENTS: number of event types
 *
 * Nodes send the types up to INTR4. The other types report faults of this node.
 */
enum rfm2g_event {
	RFM2G_EVENT_RESET,
	RFM2G_EVENT_INTR1,
	RFM2G_EVENT_INTR2,
	RFM2G_EVENT_INTR3,
	RFM2G_EVENT_INTR4,
	RFM2G_EVENT_BAD_DATA,
	RFM2G_EVENT_RXFIFO_FULL,
	RFM2G_EVENT_ROGUE_PKT,
	RFM2G_EVENT_RXFIFO_AFULL,
	RFM2G_EVENT_SYNC_LOSS,
	RFM2G_EVENT_MEM_WRITE_INHIBITED,
	RFM2G_EVENT_LOCAL_MEM_PARITY_ERR,
	RFM2G_EVENTS,
};

/**
 * enum rfm2g_regset - location of a register
 * @RFM2G_BAR0: 512 bytes, registers of the bus bridge
 * @RFM2G_BAR2: 64 bytes, control and status
 * @RFM2G_MEMORY: the reflective memory itself
 */
enum rfm2g_regset {
	RFM2G_BAR0 = 0,
	RFM2G_BAR2 = 2,
	RFM2G_MEMORY = 3,
};

#define RFM2G_BAR0_SIZE 512
#define RFM2G_BAR2_SIZE 64

/* Flags of RFM2G_SET_SPECIAL_MMAP. They select what the next mmap() maps. */
#define RFM2G_MMAP_DMA 1
#define RFM2G_MMAP_BAR0 2
#define RFM2G_MMAP_BAR2 4

/**
 * struct rfm2g_atomic - one access of 1, 2 or 4 bytes
 * @data: value; a read zero-extends it, a write uses its low bytes
 * @offset: offset in the reflective memory, in bytes; need not be aligned
 * @width: 1, 2 or 4
 * @spare: ignored
 */
struct rfm2g_atomic {
	__u64 data;
	__u32 offset;
	__u8 width;
	__u8 spare[3];
};

/**
 * struct rfm2g_transfer - transfer of a block
 * @offset: offset in the reflective memory, in bytes
 * @length: number of bytes
 * @buffer: address in the caller's memory
 */
struct rfm2g_transfer {
	__u32 offset;
	__u32 length;
	__u64 buffer;
};

/**
 * struct rfm2g_event_info - argument of the commands for events
 * @extended_info: 32 bits of data from the sender
 * @event: enum rfm2g_event
 * @timeout: time limit in ms; %RFM2G_INFINITE_TIMEOUT means no limit
 * @node_id: node id of the receiver, or %RFM2G_NODE_ALL for all other nodes. In
 *	a received event: node id of the sender
 * @pad: ignored
 * @driver: ignored
 */
struct rfm2g_event_info {
	__u32 extended_info;
	__u32 event;
	__u32 timeout;
	__u16 node_id;
	__u16 pad;
	__u64 driver;
};

/**
 * struct rfm2g_queue_info - statistics of one event
 * @event: enum rfm2g_event, given by the caller
 * @overflowed: not 0 if an event was lost since the queue was cleared
 * @queue_peak: largest number of events queued at once, 255 at most
 * @reserved: 0
 * @event_count: number of events delivered since the count was cleared
 * @events_queued: number of events in the queue
 * @queue_size: capacity of the queue
 * @max_queue_size: same as @queue_size
 * @event_timeout: 0
 */
struct rfm2g_queue_info {
	__u8 event;
	__u8 overflowed;
	__u8 queue_peak;
	__u8 reserved;
	__u32 event_count;
	__u32 events_queued;
	__u32 queue_size;
	__u32 max_queue_size;
	__u32 event_timeout;
};

/**
 * struct rfm2g_reg_info - access to a register
 * @regset: enum rfm2g_regset
 * @offset: in bytes
 * @width: 1, 2 or 4
 * @value: value, or a mask of the bits to set or clear
 */
struct rfm2g_reg_info {
	__u32 regset;
	__u32 offset;
	__u32 width;
	__u32 value;
};

/**
 * struct rfm2g_pci_config - PCI configuration; constant except @window_size
 * @or_window_size: 0x200
 * @or_reg_size: 0x200
 * @cs_window_size: 0x40
 * @cs_reg_size: 0x40
 * @window_size: bytes of memory that can be mapped
 * @devfn: 0
 * @type: 0x5565
 * @interrupt: 0
 * @bus: 0
 * @function: 0
 * @revision: 0
 * @pad: 0
 * @base: 0
 * @cs_base: 0
 * @or_base: 0
 */
struct rfm2g_pci_config {
	__u32 or_window_size;
	__u32 or_reg_size;
	__u32 cs_window_size;
	__u32 cs_reg_size;
	__u32 window_size;
	__u32 devfn;
	__u16 type;
	__u8 interrupt;
	__u8 bus;
	__u8 function;
	__u8 revision;
	__u16 pad;
	__u32 base;
	__u32 cs_base;
	__u32 or_base;
};

/**
 * struct rfm2g_config - configuration of the device
 * @node_id: 0..255
 * @board_id: 0x65
 * @unit: N of /dev/rfm2gN
 * @plx_revision: 0xAD
 * @pad: 0
 * @memory_size: bytes
 * @device: "/dev/rfm2gN"
 * @name: name of the product
 * @driver_version: version of the driver
 * @board_revision: 0x8C, which means that the board has a sliding window. Here
 *	the window is the whole memory
 * @revision_id: 1
 * @pad2: 0
 * @lcsr1: control and status register at the time of the call
 * @pci: PCI configuration
 * @build_id: 0
 * @pad3: 0
 */
struct rfm2g_config {
	__u16 node_id;
	__u8 board_id;
	__u8 unit;
	__u8 plx_revision;
	__u8 pad[3];
	__u32 memory_size;
	char device[128];
	char name[32];
	char driver_version[16];
	__u8 board_revision;
	__u8 revision_id;
	__u8 pad2[2];
	__u32 lcsr1;
	struct rfm2g_pci_config pci;
	__u16 build_id;
	__u16 pad3;
};

#define RFM2G_IOC(dir, nr, size) _IOC(dir, RFM2G_MAGIC, nr, size)
#define RFM2G_IOCW(nr, size) RFM2G_IOC(_IOC_WRITE, nr, size)
#define RFM2G_IOCR(nr, size) RFM2G_IOC(_IOC_READ, nr, size)
#define RFM2G_IOCWR(nr, size) RFM2G_IOC(_IOC_WRITE | _IOC_READ, nr, size)

/* Argument: struct rfm2g_atomic. */
#define RFM2G_ATOMIC_PEEK RFM2G_IOCWR(10, 16)
#define RFM2G_ATOMIC_POKE RFM2G_IOCW(11, 16)
/* Argument: struct rfm2g_event_info. */
#define RFM2G_ENABLE_EVENT RFM2G_IOCW(20, 24)
#define RFM2G_DISABLE_EVENT RFM2G_IOCW(21, 24)
#define RFM2G_SEND_EVENT RFM2G_IOCW(22, 24)
#define RFM2G_WAIT_FOR_EVENT RFM2G_IOCWR(23, 24)
#define RFM2G_CANCEL_EVENT RFM2G_IOCW(24, 24)
/* Argument: struct rfm2g_queue_info. */
#define RFM2G_GET_EVENT_STATS RFM2G_IOCWR(25, 24)
/* The argument is the type of the event, not a pointer. */
#define RFM2G_CLEAR_EVENT_STATS RFM2G_IOCW(26, 1)
#define RFM2G_FLUSH_QUEUE RFM2G_IOCW(29, 1)
/* Argument: struct rfm2g_config. */
#define RFM2G_GET_CONFIG RFM2G_IOCWR(30, 244)
/* Both commands take a pointer to a __u32. */
#define RFM2G_GET_DMA_THRESHOLD RFM2G_IOCR(33, 4)
#define RFM2G_SET_DMA_THRESHOLD RFM2G_IOCW(34, 4)
/* GET takes a pointer to a __u32, SET takes the value itself. */
#define RFM2G_GET_DEBUG_FLAGS RFM2G_IOCR(40, 4)
#define RFM2G_SET_DEBUG_FLAGS RFM2G_IOCW(41, 4)
/*
 * In this block of commands, SET commands take the value itself.
 * RFM2G_CHECK_RING_CONT ignores its argument. All other commands take a pointer
 * to one byte.
 */
#define RFM2G_SET_LED RFM2G_IOCW(50, 1)
#define RFM2G_GET_LED RFM2G_IOCR(51, 1)
#define RFM2G_CHECK_RING_CONT RFM2G_IOCR(52, 1)
#define RFM2G_GET_DARK_ON_DARK RFM2G_IOCR(53, 1)
#define RFM2G_SET_DARK_ON_DARK RFM2G_IOCW(54, 1)
#define RFM2G_CLEAR_OWN_DATA RFM2G_IOCR(55, 1)
#define RFM2G_GET_TRANSMIT_DISABLE RFM2G_IOCR(56, 1)
#define RFM2G_SET_TRANSMIT_DISABLE RFM2G_IOCW(57, 1)
#define RFM2G_GET_LOOPBACK RFM2G_IOCR(58, 1)
#define RFM2G_SET_LOOPBACK RFM2G_IOCW(59, 1)
#define RFM2G_GET_PARITY_ENABLE RFM2G_IOCR(60, 1)
#define RFM2G_SET_PARITY_ENABLE RFM2G_IOCW(61, 1)
/*
 * GET takes a pointer to a __u32, SET takes the value itself, which must be 0.
 */
#define RFM2G_GET_MEMORY_OFFSET RFM2G_IOCR(62, 4)
#define RFM2G_SET_MEMORY_OFFSET RFM2G_IOCW(63, 4)
/* The command has no effect. */
#define RFM2G_SET_PCI_COMPATIBILITY RFM2G_IOCW(64, 1)
/* Argument: struct rfm2g_reg_info. */
#define RFM2G_READ_REG RFM2G_IOCR(65, 4)
#define RFM2G_WRITE_REG RFM2G_IOCW(66, 4)
/* GET takes a pointer to one byte, SET takes the value itself. */
#define RFM2G_GET_DMA_BYTE_SWAP RFM2G_IOCR(67, 1)
#define RFM2G_SET_DMA_BYTE_SWAP RFM2G_IOCW(68, 1)
#define RFM2G_GET_PIO_BYTE_SWAP RFM2G_IOCR(69, 1)
#define RFM2G_SET_PIO_BYTE_SWAP RFM2G_IOCW(70, 1)
/* The argument is the type of the event, not a pointer. */
#define RFM2G_CLEAR_EVENT RFM2G_IOCW(71, 2)
#define RFM2G_CLEAR_EVENT_COUNT RFM2G_IOCW(72, 1)
/* Argument: struct rfm2g_transfer. */
#define RFM2G_READ RFM2G_IOCW(73, 8)
#define RFM2G_WRITE RFM2G_IOCW(74, 8)
/*
 * Argument: struct rfm2g_reg_info, whose member value is the mask of the bits
 * to clear or set.
 */
#define RFM2G_CLEAR_REG RFM2G_IOCW(75, 4)
#define RFM2G_SET_REG RFM2G_IOCW(76, 4)
/*
 * The argument points to a __u64: a flag RFM2G_MMAP_BAR0 or RFM2G_MMAP_BAR2, or
 * the address of a page combined with RFM2G_MMAP_DMA.
 */
#define RFM2G_SET_SPECIAL_MMAP RFM2G_IOCW(77, 8)
/*
 * The argument is the low half of the address of a mapping. The command has no
 * effect.
 */
#define RFM2G_CLEAR_DMA_MMAP RFM2G_IOCW(78, 4)
/* The argument is the offset itself, which must be 0. */
#define RFM2G_SET_SLIDING_WINDOW RFM2G_IOCW(79, 4)

/**
 * struct rfm2g_transfer_32 - &struct rfm2g_transfer of 32-bit programs
 * @offset: offset in the reflective memory, in bytes
 * @length: number of bytes
 * @buffer: address in the caller's memory
 */
struct rfm2g_transfer_32 {
	__u32 offset;
	__u32 length;
	__u32 buffer;
};

/*
 * In 32-bit programs that were compiled with the cards' headers, a structure
 * with an address is shorter. A command's number contains the size, so the
 * commands with such a structure have other numbers. The first 16 bytes of
 * struct rfm2g_event_info are the same, and its other bytes are ignored. All
 * other commands have the same numbers. 32-bit programs may also use the
 * commands above.
 */
#define RFM2G_ENABLE_EVENT_32 RFM2G_IOCW(20, 20)
#define RFM2G_DISABLE_EVENT_32 RFM2G_IOCW(21, 20)
#define RFM2G_SEND_EVENT_32 RFM2G_IOCW(22, 20)
#define RFM2G_WAIT_FOR_EVENT_32 RFM2G_IOCWR(23, 20)
#define RFM2G_CANCEL_EVENT_32 RFM2G_IOCW(24, 20)
/* Argument: struct rfm2g_transfer_32. */
#define RFM2G_READ_32 RFM2G_IOCW(73, 4)
#define RFM2G_WRITE_32 RFM2G_IOCW(74, 4)

#endif /* _UAPI_RFM2G_H */
