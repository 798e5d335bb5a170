/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Constants of RFM2g on Linux.
 */
#ifndef RFM2G_DEFS_LINUX_H
#define RFM2G_DEFS_LINUX_H

#include "rfm2g_defs.h"

#define MAX_PATH 128

#endif /* RFM2G_DEFS_LINUX_H */
