/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Registers of RFM2g cards, for RFM2gReadReg() and similar functions.
 */
#ifndef RFM2G_REGS_H
#define RFM2G_REGS_H

/* Offsets of registers in the set RFM2GCTRLREGMEM. */
#define RFM2G_BRV 0x00		/* 8 bits: revision of the board */
#define RFM2G_BID 0x01		/* 8 bits: id of the board */
#define RFM2G_BUILD_ID 0x02	/* 16 bits: id of the build */
#define RFM2G_NID 0x04		/* 8 bits: id of the node */
#define RFM2G_LCSR1 0x08	/* 32 bits: control and status */
#define RFM2G_LISR1 0x10	/* 32 bits: pending events */
#define RFM2G_LIER1 0x14	/* 32 bits: enabled events */
#define RFM2G_NTD 0x18		/* 32 bits: data of the next event sent */
#define RFM2G_NTN 0x1C		/* 8 bits: receiver of the next event */
#define RFM2G_NIC 0x1D		/* 8 bits: a write sends the next event */
#define RFM2G_ISD1 0x20		/* 32 bits: data of the oldest pending INTR1 */
#define RFM2G_SID1 0x24		/* 8 bits: sender of the oldest pending INTR1 */
#define RFM2G_ISD2 0x28
#define RFM2G_SID2 0x2C
#define RFM2G_ISD3 0x30
#define RFM2G_SID3 0x34
#define RFM2G_INITD 0x38
#define RFM2G_INITN 0x3C

/* Bits of LCSR1. */
#define RFM2G_LCSR1_LED 0x80000000U
#define RFM2G_LCSR1_TX_DISABLE 0x40000000U
#define RFM2G_LCSR1_DARK_ON_DARK 0x20000000U
#define RFM2G_LCSR1_LOOPBACK 0x10000000U
#define RFM2G_LCSR1_PARITY 0x08000000U
#define RFM2G_LCSR1_REDUNDANT 0x04000000U
#define RFM2G_LCSR1_ROGUE_MASTER1 0x02000000U
#define RFM2G_LCSR1_ROGUE_MASTER0 0x01000000U
#define RFM2G_LCSR1_SIZE 0x00300000U	/* size: 0: 64 MiB, 1: 128, 2: 256 */
#define RFM2G_LCSR1_OFFSET 0x00030000U
#define RFM2G_LCSR1_TX_EMPTY 0x00000080U
#define RFM2G_LCSR1_TX_ALMOST_FULL 0x00000040U
#define RFM2G_LCSR1_RX_FULL 0x00000020U
#define RFM2G_LCSR1_RX_ALMOST_FULL 0x00000010U
#define RFM2G_LCSR1_SYNC_LOSS 0x00000008U
#define RFM2G_LCSR1_SIGNAL 0x00000004U
#define RFM2G_LCSR1_BAD_DATA 0x00000002U
#define RFM2G_LCSR1_OWN_DATA 0x00000001U

/* Other names of LCSR1, LISR1 and LIER1. */
#define RFM2G_LCSR RFM2G_LCSR1
#define RFM2G_LISR RFM2G_LISR1
#define RFM2G_LIER RFM2G_LIER1

/* Values of the fields of LCSR1. */
#define RFM2G_LCSR1_SIZE_64M 0x00000000U
#define RFM2G_LCSR1_SIZE_128M 0x00100000U
#define RFM2G_LCSR1_SIZE_256M 0x00200000U
#define RFM2G_LCSR1_OFFSET0 0x00000000U
#define RFM2G_LCSR1_OFFSET1 0x00010000U
#define RFM2G_LCSR1_OFFSET2 0x00020000U
#define RFM2G_LCSR1_OFFSET3 0x00030000U

/*
 * Bits of LISR1. Except AUTO_CLEAR and GLOBAL_ENABLE, each bit is a pending
 * event. Writing 0 clears a bit.
 */
#define RFM2G_LISR1_AUTO_CLEAR 0x00008000U
#define RFM2G_LISR1_GLOBAL_ENABLE 0x00004000U
#define RFM2G_LISR1_PARITY_ERR 0x00002000U
#define RFM2G_LISR1_WRITE_INHIBITED 0x00001000U
#define RFM2G_LISR1_SYNC_LOSS 0x00000800U
#define RFM2G_LISR1_RX_FULL 0x00000400U
#define RFM2G_LISR1_RX_ALMOST_FULL 0x00000200U
#define RFM2G_LISR1_BAD_DATA 0x00000100U
#define RFM2G_LISR1_INT4 0x00000080U
#define RFM2G_LISR1_ROGUE_PKT 0x00000040U
#define RFM2G_LISR1_RESET 0x00000008U
#define RFM2G_LISR1_INT3 0x00000004U
#define RFM2G_LISR1_INT2 0x00000002U
#define RFM2G_LISR1_INT1 0x00000001U

/* Bits of LIER1. They enable the events that have the same bits in LISR1. */
#define RFM2G_LIER1_AUTO_CLEAR RFM2G_LISR1_AUTO_CLEAR
#define RFM2G_LIER1_GLOBAL_ENABLE RFM2G_LISR1_GLOBAL_ENABLE
#define RFM2G_LIER1_PARITY_ERR RFM2G_LISR1_PARITY_ERR
#define RFM2G_LIER1_WRITE_INHIBITED RFM2G_LISR1_WRITE_INHIBITED
#define RFM2G_LIER1_SYNC_LOSS RFM2G_LISR1_SYNC_LOSS
#define RFM2G_LIER1_RX_FULL RFM2G_LISR1_RX_FULL
#define RFM2G_LIER1_RX_ALMOST_FULL RFM2G_LISR1_RX_ALMOST_FULL
#define RFM2G_LIER1_BAD_DATA RFM2G_LISR1_BAD_DATA
#define RFM2G_LIER1_INT4 RFM2G_LISR1_INT4
#define RFM2G_LIER1_ROGUE_PKT RFM2G_LISR1_ROGUE_PKT
#define RFM2G_LIER1_RESET RFM2G_LISR1_RESET
#define RFM2G_LIER1_INT3 RFM2G_LISR1_INT3
#define RFM2G_LIER1_INT2 RFM2G_LISR1_INT2
#define RFM2G_LIER1_INT1 RFM2G_LISR1_INT1
/* Initial value on a card: only the events that report faults are enabled. */
#define RFM2G_LIER1_DEFAULT 0x00003F40U

/*
 * Values that send an event when they are written to NIC. Add BROADCAST to send
 * the event to all nodes.
 */
#define RFM2G_NIC_RESET 0
#define RFM2G_NIC_INT1 1
#define RFM2G_NIC_INT2 2
#define RFM2G_NIC_INT3 3
#define RFM2G_NIC_RING_PROBE 4
#define RFM2G_NIC_INT4 7
#define RFM2G_NIC_BROADCAST 8

/* Sizes of the register sets in bytes. */
#define RFM2G_BAR0_REG_SIZE 512
#define RFM2G_BAR2_REG_SIZE 64

/*
 * Offsets of registers in the set RFM2GCFGREGMEM, which are those of the card's
 * bridge to the bus.
 */
#define RFM2G_BIGEND 0x0C	/* 32 bits: byte order */
#define RFM2G_BIGEND_DMA_SWAP 0x00000080U
#define RFM2G_BIGEND_PIO_SWAP 0x00000020U
#define RFM2G_INTCSR 0x68	/* 32 bits: interrupt control */
#define RFM2G_CNTRL 0x6C	/* 32 bits: control */
#define RFM2G_PLX_REVISION 0x74	/* 8 bits: revision of the bridge */
#define RFM2G_DMA_CHANNEL 0x80	/* registers of DMA, up to 0xB4 */
/* In bridges of this revision and later, DMA has no erratum. */
#define RFM2G_PLX_REVISION_DMA 0xAD
#define RFM2G_WINDOW_RANGE 0xF0	/* 32 bits: negated size of the window */
#define RFM2G_WINDOW_BASE 0xF4	/* 32 bits: offset of the window (bits 1-31) */

/* Boards of this revision and later have a sliding window. */
#define RFM2G_WINDOW_BOARD_REVISION 0x8C

#endif /* RFM2G_REGS_H */
