/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands of RFM2g devices, for ioctl() on the fd of a handle.
 *
 * The size and direction that a command's number contains are often wrong. The
 * comment above a command, or above its group, gives the argument.
 */
#ifndef RFM2G_IOCTL_H
#define RFM2G_IOCTL_H

#include "rfm2g_osspec.h"

#include "rfm2g_regs.h"

#define RFM2G_IOCTL_MAGIC 0xEB

/*
 * A structure that contains an address is shorter in 32-bit programs. The
 * number of the command contains this size, so the number differs as well.
 */
#ifdef __LP64__
#define RFM2G_IOCTL_BITS(wide, narrow) (wide)
#else
#define RFM2G_IOCTL_BITS(wide, narrow) (narrow)
#endif

/* Argument: RFM2GATOMIC * */
#define IOCTL_RFM2G_ATOMIC_PEEK 0xC010EB0AU
#define IOCTL_RFM2G_ATOMIC_POKE 0x4010EB0BU
/* Argument: RFM2GEVENTINFO * */
#define IOCTL_RFM2G_ENABLE_EVENT RFM2G_IOCTL_BITS(0x4018EB14U, 0x4014EB14U)
#define IOCTL_RFM2G_DISABLE_EVENT RFM2G_IOCTL_BITS(0x4018EB15U, 0x4014EB15U)
#define IOCTL_RFM2G_SEND_EVENT RFM2G_IOCTL_BITS(0x4018EB16U, 0x4014EB16U)
#define IOCTL_RFM2G_WAIT_FOR_EVENT RFM2G_IOCTL_BITS(0xC018EB17U, 0xC014EB17U)
#define IOCTL_RFM2G_CANCEL_EVENT RFM2G_IOCTL_BITS(0x4018EB18U, 0x4014EB18U)
/* Argument: RFM2GQINFO * */
#define IOCTL_RFM2G_GET_EVENT_STATS 0xC018EB19U
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_CLEAR_EVENT_STATS 0x4001EB1AU
#define IOCTL_RFM2G_FLUSH_QUEUE 0x4001EB1DU
/* Argument: RFM2GCONFIG * */
#define IOCTL_RFM2G_GET_CONFIG 0xC0F4EB1EU
/* Argument: RFM2G_UINT32 * */
#define IOCTL_RFM2G_GET_DMA_THRESHOLD 0x8004EB21U
#define IOCTL_RFM2G_SET_DMA_THRESHOLD 0x4004EB22U
#define IOCTL_RFM2G_GET_DEBUG_FLAGS 0x8004EB28U
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_SET_DEBUG_FLAGS 0x4004EB29U
#define IOCTL_RFM2G_SET_LED 0x4001EB32U
/* Argument: RFM2G_UINT8 * */
#define IOCTL_RFM2G_GET_LED 0x8001EB33U
/* No argument. */
#define IOCTL_RFM2G_CHECK_RING_CONT 0x8001EB34U
/* Argument: RFM2G_UINT8 * */
#define IOCTL_RFM2G_GET_DARK_ON_DARK 0x8001EB35U
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_SET_DARK_ON_DARK 0x4001EB36U
/* Argument: RFM2G_UINT8 * */
#define IOCTL_RFM2G_CLEAR_OWN_DATA 0x8001EB37U
#define IOCTL_RFM2G_GET_TRANSMIT_DISABLE 0x8001EB38U
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_SET_TRANSMIT_DISABLE 0x4001EB39U
/* Argument: RFM2G_UINT8 * */
#define IOCTL_RFM2G_GET_LOOPBACK 0x8001EB3AU
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_SET_LOOPBACK 0x4001EB3BU
/* Argument: RFM2G_UINT8 * */
#define IOCTL_RFM2G_GET_PARITY_ENABLE 0x8001EB3CU
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_SET_PARITY_ENABLE 0x4001EB3DU
/* Argument: RFM2G_UINT32 * */
#define IOCTL_RFM2G_GET_MEMORY_OFFSET 0x8004EB3EU
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_SET_MEMORY_OFFSET 0x4004EB3FU
/* No argument. */
#define IOCTL_RFM2G_SET_PCI_COMPATIBILITY 0x4001EB40U
/* Argument: RFM2GLINUXREGINFO * */
#define IOCTL_RFM2G_READ_REG 0x8004EB41U
#define IOCTL_RFM2G_WRITE_REG 0x4004EB42U
/* Argument: RFM2G_UINT8 * */
#define IOCTL_RFM2G_GET_DMA_BYTESWAP 0x8001EB43U
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_SET_DMA_BYTE_SWAP 0x4001EB44U
/* Argument: RFM2G_UINT8 * */
#define IOCTL_RFM2G_GET_PIO_BYTESWAP 0x8001EB45U
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_SET_PIO_BYTE_SWAP 0x4001EB46U
#define IOCTL_RFM2G_CLEAR_EVENT 0x4002EB47U
#define IOCTL_RFM2G_CLEAR_EVENT_COUNT 0x4001EB48U
/* Argument: RFM2GTRANSFER * */
#define IOCTL_RFM2G_READ RFM2G_IOCTL_BITS(0x4008EB49U, 0x4004EB49U)
#define IOCTL_RFM2G_WRITE RFM2G_IOCTL_BITS(0x4008EB4AU, 0x4004EB4AU)
/* Argument: RFM2GLINUXREGINFO * */
#define IOCTL_RFM2G_CLEAR_REG 0x4004EB4BU
#define IOCTL_RFM2G_SET_REG 0x4004EB4CU
/* Argument: RFM2G_UINT64 * */
#define IOCTL_RFM2G_SET_SPECIAL_MMAP_OFFSET 0x4008EB4DU
/* Argument: the value itself, not an address. */
#define IOCTL_RFM2G_CLEAR_DMA_MMAP_OFFSET 0x4004EB4EU
#define IOCTL_RFM2G_SET_SLIDING_WINDOW_OFFSET 0x4004EB4FU

#endif /* RFM2G_IOCTL_H */
