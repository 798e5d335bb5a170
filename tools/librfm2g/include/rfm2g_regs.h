/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Registers of RFM2g cards that RFM2gReadReg() and its kin reach.
 */
#ifndef RFM2G_REGS_H
#define RFM2G_REGS_H

/* In RFM2GCTRLREGMEM. */
#define RFM2G_BRV 0x00		/* 8 bits: revision of the board */
#define RFM2G_BID 0x01		/* 8: id of the board */
#define RFM2G_BUILD_ID 0x02	/* 16 */
#define RFM2G_NID 0x04		/* 8: id of the node */
#define RFM2G_LCSR1 0x08	/* 32: control and status */
#define RFM2G_LISR1 0x10	/* 32: events that are there */
#define RFM2G_LIER1 0x14	/* 32: events that are enabled */
#define RFM2G_NTD 0x18		/* 32: data of the next event sent */
#define RFM2G_NTN 0x1C		/* 8: where to */
#define RFM2G_NIC 0x1D		/* 8: writing sends */
#define RFM2G_ISD1 0x20		/* 32: data of the oldest INTR1 */
#define RFM2G_SID1 0x24		/* 8: its sender */
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
#define RFM2G_LCSR1_SIZE 0x00300000U	/* 0: 64 MiB, 1: 128, 2: 256 */
#define RFM2G_LCSR1_OFFSET 0x00030000U
#define RFM2G_LCSR1_TX_EMPTY 0x00000080U
#define RFM2G_LCSR1_TX_ALMOST_FULL 0x00000040U
#define RFM2G_LCSR1_RX_FULL 0x00000020U
#define RFM2G_LCSR1_RX_ALMOST_FULL 0x00000010U
#define RFM2G_LCSR1_SYNC_LOSS 0x00000008U
#define RFM2G_LCSR1_SIGNAL 0x00000004U
#define RFM2G_LCSR1_BAD_DATA 0x00000002U
#define RFM2G_LCSR1_OWN_DATA 0x00000001U

/* In RFM2GCFGREGMEM. */
#define RFM2G_WINDOW_RANGE 0xF0	/* 32: minus its size, in the upper 28 bits */
#define RFM2G_WINDOW_BASE 0xF4	/* 32: offset, and bit 0 */

/* Boards of this revision and later have a sliding window. */
#define RFM2G_WINDOW_BOARD_REVISION 0x8C

#endif /* RFM2G_REGS_H */
