/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants and enumerations of the RFM2g interface.
 */
#ifndef RFM2G_DEFS_H
#define RFM2G_DEFS_H

#include "rfm2g_types.h"

#include "rfm2g_errno.h"

/* Return type of the functions. */
#define STDRFM2GCALL RFM2G_STATUS

#define RFM2G_NODE_MIN 0
#define RFM2G_NODE_MAX 255
#define RFM2G_NODE_UNKNOWN 0xFFFE
#define RFM2G_NODE_ALL 0xFFFF

/* IDs in this range belong to no node. */
#define RFM2G_NODE_SPECIAL_MIN RFM2G_NODE_UNKNOWN
#define RFM2G_NODE_SPECIAL_MAX RFM2G_NODE_ALL

/*
 * Constants of cards: PCI IDs, board ID, maximum number of cards in a host, and
 * page size of mappings.
 */
#define RFM2G_PCI_VENDOR 0x114A
#define RFM2G_PCI_DEVICE 0x5565
#define RFM2G_BOARD_ID_5565 0x65
#define RFM2G_MAX_DEVICES 5
#define RFM2G_PAGE_SIZE 4096

/*
 * DMA threshold until a program sets another one. With this value, no block is
 * transferred by DMA.
 */
#define RFM2G_DEFAULT_DMA_THRESHOLD 0xFFFFFFFFU

/* Values of RFM2GEVENTINFO.Timeout, which is in milliseconds. */
#define RFM2G_INFINITE_TIMEOUT 0xFFFFFFFFU
#define RFM2G_NO_WAIT 0

/*
 * Flags in the offset of RFM2gUserMemory(). Each flag selects a DMA buffer or
 * registers to map instead of the memory.
 */
#define RFM2G_DMA_MMAP_OFFSET 1
#define RFM2G_BAR0_MMAP_OFFSET 2
#define RFM2G_BAR2_MMAP_OFFSET 4

/*
 * Types of events. Nodes send events of the types up to INTR4. The types after
 * INTR4 report faults of this node.
 */
typedef enum rfm2gEventType {
	RFM2GEVENT_RESET = 0,
	RFM2GEVENT_INTR1 = 1,
	RFM2GEVENT_INTR2 = 2,
	RFM2GEVENT_INTR3 = 3,
	RFM2GEVENT_INTR4 = 4,
	RFM2GEVENT_BAD_DATA = 5,
	RFM2GEVENT_RXFIFO_FULL = 6,
	RFM2GEVENT_ROGUE_PKT = 7,
	RFM2GEVENT_RXFIFO_AFULL = 8,
	RFM2GEVENT_FIFO_AF = RFM2GEVENT_RXFIFO_AFULL,
	RFM2GEVENT_SYNC_LOSS = 9,
	RFM2GEVENT_MEM_WRITE_INHIBITED = 10,
	RFM2GEVENT_LOCAL_MEM_PARITY_ERR = 11,
	/* Number of event types. Functions that clear take it for all types. */
	RFM2GEVENT_LAST = 12,
} RFM2GEVENTTYPE;

/* Register sets. */
typedef enum rfm2gRegSetType {
	RFM2GCFGREGMEM = 0,	/* BAR0, 512 bytes */
	RFM2GCFGREGIO = 1,	/* not supported */
	RFM2GCTRLREGMEM = 2,	/* BAR2, 64 bytes */
	RFM2GMEM = 3,		/* the memory itself */
	RFM2GRESERVED0REG = 4,	/* not supported */
	RFM2GRESERVED1REG = 5,	/* not supported */
} RFM2GREGSETTYPE;

/* Position of a card's 64 MiB in the memory of the network. */
typedef enum rfm2gMemOffsetType {
	RFM2G_MEM_OFFSET0 = 0,
	RFM2G_MEM_OFFSET1 = 1,	/* 0x4000000 */
	RFM2G_MEM_OFFSET2 = 2,	/* 0x8000000 */
	RFM2G_MEM_OFFSET3 = 3,	/* 0xC000000 */
} RFM2G_MEM_OFFSETTYPE;

/* Debug flags. They are stored and have no effect. */
#define RFM2G_DBERROR 0x00001U
#define RFM2G_DBINIT 0x00002U
#define RFM2G_DBINTR 0x00004U
#define RFM2G_DBIOCTL 0x00008U
#define RFM2G_DBMMAP 0x00010U
#define RFM2G_DBOPEN 0x00020U
#define RFM2G_DBCLOSE 0x00040U
#define RFM2G_DBREAD 0x00080U
#define RFM2G_DBWRITE 0x00100U
#define RFM2G_DBPEEK 0x00200U
#define RFM2G_DBPOKE 0x00400U
#define RFM2G_DBSTRAT 0x00800U
#define RFM2G_DBTIMER 0x01000U
#define RFM2G_DBTRACE 0x02000U
#define RFM2G_DBMUTEX 0x04000U
#define RFM2G_DBINTR_NOT 0x08000U
#define RFM2G_DBSLOW 0x10000U
#define RFM2G_DBMINPHYS 0x20000U
#define RFM2G_DBDMA 0x40000U

#endif /* RFM2G_DEFS_H */
