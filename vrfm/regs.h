/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_REGS_H
#define VRFM_REGS_H

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

/* Number of the bit of each event in LISR and LIER. */
extern const u8 vrfm_event_bit[RFM2G_EVENTS];

void vrfm_image_locked(const struct vrfm_dev *vdev, u32 regset, u8 *image);

#endif /* VRFM_REGS_H */
