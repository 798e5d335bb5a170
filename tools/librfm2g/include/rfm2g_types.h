/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of plain types in the interface of RFM2g.
 */
#ifndef RFM2G_TYPES_H
#define RFM2G_TYPES_H

typedef signed char RFM2G_INT8;
typedef unsigned char RFM2G_UINT8;
typedef short RFM2G_INT16;
typedef unsigned short RFM2G_UINT16;
typedef int RFM2G_INT32;
typedef unsigned int RFM2G_UINT32;
typedef long long RFM2G_INT64;
typedef unsigned long long RFM2G_UINT64;
typedef char RFM2G_CHAR;
typedef unsigned char RFM2G_BOOL;
typedef unsigned long RFM2G_ADDR;

/* Id of a node: 0 to 255, or RFM2G_NODE_UNKNOWN or RFM2G_NODE_ALL. */
typedef RFM2G_UINT16 RFM2G_NODE;

#define RFM2G_FALSE 0
#define RFM2G_TRUE 1
#define RFM2G_OFF 0
#define RFM2G_ON 1
#define RFM2G_DISABLE 0
#define RFM2G_ENABLE 1

/* Width of an access, in bytes. */
typedef enum rfm2gDataWidth {
	RFM2G_BYTE = 1,
	RFM2G_WORD = 2,
	RFM2G_LONG = 4,
	RFM2G_LONGLONG = 8,
} RFM2GDATAWIDTH;

#endif /* RFM2G_TYPES_H */
