/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants and choices of the interface of RFM2g.
 */
#ifndef RFM2G_DEFS_H
#define RFM2G_DEFS_H

#include "rfm2g_types.h"

#include "rfm2g_errno.h"

/* What functions return; before a name it declares one. */
#define STDRFM2GCALL RFM2G_STATUS

#define RFM2G_NODE_MIN 0
#define RFM2G_NODE_MAX 255
#define RFM2G_NODE_UNKNOWN 0xFFFE
#define RFM2G_NODE_ALL 0xFFFF

/* Ids that belong to no node lie between these. */
#define RFM2G_NODE_SPECIAL_MIN RFM2G_NODE_UNKNOWN
#define RFM2G_NODE_SPECIAL_MAX RFM2G_NODE_ALL

/* Cards: PCI ids, devices of a host, bytes of a page that mappings are made of. */
#define RFM2G_PCI_VENDOR 0x114A
#define RFM2G_PCI_DEVICE 0x5565
#define RFM2G_BOARD_ID_5565 0x65
#define RFM2G_MAX_DEVICES 5
#define RFM2G_PAGE_SIZE 4096

/* RFM2gGetDMAThreshold() until a program sets one: blocks never go by DMA. */
#define RFM2G_DEFAULT_DMA_THRESHOLD 0xFFFFFFFFU

/* Milliseconds of RFM2GEVENTINFO.Timeout. */
#define RFM2G_INFINITE_TIMEOUT 0xFFFFFFFFU
#define RFM2G_NO_WAIT 0

/* Flags in the offset of RFM2gUserMemory(): not the memory, but this. */
#define RFM2G_DMA_MMAP_OFFSET 1
#define RFM2G_BAR0_MMAP_OFFSET 2
#define RFM2G_BAR2_MMAP_OFFSET 4

/* Those up to INTR4 are sent by nodes, the others tell of faults of this one. */
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
	/* How many there are; for functions that clear: all of them. */
	RFM2GEVENT_LAST = 12,
} RFM2GEVENTTYPE;

/* Where a register is. */
typedef enum rfm2gRegSetType {
	RFM2GCFGREGMEM = 0,	/* BAR0, 512 bytes */
	RFM2GCFGREGIO = 1,	/* not supported */
	RFM2GCTRLREGMEM = 2,	/* BAR2, 64 bytes */
	RFM2GMEM = 3,		/* the memory itself */
	RFM2GRESERVED0REG = 4,	/* not supported */
	RFM2GRESERVED1REG = 5,	/* not supported */
} RFM2GREGSETTYPE;

/* Where in the network's memory that of a card of 64 MiB begins. */
typedef enum rfm2gMemOffsetType {
	RFM2G_MEM_OFFSET0 = 0,
	RFM2G_MEM_OFFSET1 = 1,	/* 0x4000000 */
	RFM2G_MEM_OFFSET2 = 2,	/* 0x8000000 */
	RFM2G_MEM_OFFSET3 = 3,	/* 0xC000000 */
} RFM2G_MEM_OFFSETTYPE;

/* Debug flags: kept for who asks. */
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
