/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Structures of RFM2g that programs and the driver exchange. Their layout is
 * part of the ABI. Handles are declared in rfm2g_osspec.h.
 */
#ifndef RFM2G_STRUCT_H
#define RFM2G_STRUCT_H

#include "rfm2g_defs_linux.h"

/* An access to 1, 2 or 4 bytes. */
typedef struct rfm2gAtomic {
	RFM2G_UINT64 data;
	RFM2G_UINT32 offset;
	RFM2G_UINT8 width;
	RFM2G_UINT8 spare[3];
} RFM2GATOMIC;

/* A transfer of a block. */
typedef struct rfm2gTransfer {
	RFM2G_UINT32 Offset;
	RFM2G_UINT32 Length;
	void *Buffer;
} RFM2GTRANSFER;

/* An event that a program sends, waits for, or has received. */
typedef struct rfm2gEventInfo {
	RFM2G_UINT32 ExtendedInfo;	/* data that the sender attached */
	RFM2GEVENTTYPE Event;		/* type */
	RFM2G_UINT32 Timeout;		/* timeout of a wait, in ms */
	RFM2G_NODE NodeId;		/* sender of a received event */
	void *pDrvSpec;			/* not used */
} RFM2GEVENTINFO;

/* Statistics of an event type. The caller sets Event. */
typedef struct rfm2gQInfo {
	RFM2G_UINT8 Event;		/* type */
	RFM2G_UINT8 Overflowed;		/* not 0 if an event was lost */
	RFM2G_UINT8 QueuePeak;
	RFM2G_UINT8 reserved;
	RFM2G_UINT32 EventCount;
	RFM2G_UINT32 EventsQueued;
	RFM2G_UINT32 QueueSize;
	RFM2G_UINT32 MaxQueueSize;
	RFM2G_UINT32 EventTimeout;
} RFM2GQINFO;

/* An access to a register. */
typedef struct rfm2gLinuxRegInfo {
	RFM2GREGSETTYPE regset;
	RFM2G_UINT32 Offset;
	RFM2G_UINT32 Width;
	RFM2G_UINT32 Value;
} RFM2GLINUXREGINFO;

/* Location of a card on the PCI bus; part of RFM2GCONFIG. */
typedef struct rfm2gPciConfig {
	RFM2G_UINT32 rfm2gOrWindowSize;
	RFM2G_UINT32 rfm2gOrRegSize;
	RFM2G_UINT32 rfm2gCsWindowSize;
	RFM2G_UINT32 rfm2gCsRegSize;
	RFM2G_UINT32 rfm2gWindowSize;
	RFM2G_UINT32 devfn;
	RFM2G_UINT16 type;
	RFM2G_UINT8 interruptNumber;
	RFM2G_UINT8 bus;
	RFM2G_UINT8 function;
	RFM2G_UINT8 revision;
	RFM2G_UINT32 rfm2gBase;
	RFM2G_UINT32 rfm2gCsBase;
	RFM2G_UINT32 rfm2gOrBase;
} RFM2GPCICONFIG;

/* Configuration of a device. */
typedef struct RFM2GCONFIG_ {
	RFM2G_NODE NodeId;
	RFM2G_UINT8 BoardId;
	RFM2G_UINT8 Unit;
	RFM2G_UINT8 PlxRevision;
	RFM2G_UINT32 MemorySize;
	RFM2G_CHAR Device[MAX_PATH];
	RFM2G_CHAR Name[32];
	RFM2G_CHAR DriverVersion[16];
	RFM2G_UINT8 BoardRevision;
	RFM2G_UINT8 RevisionId;
	RFM2G_UINT32 Lcsr1;
	RFM2GPCICONFIG PciConfig;
	RFM2G_UINT16 BuildId;
} RFM2GCONFIG;

#endif /* RFM2G_STRUCT_H */
