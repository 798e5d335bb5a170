/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What librfm2g has and libraries for the cards do not. Programs that use it
 * need this librfm2g; RFM2G_HAS_EXTRAS can be asked.
 */
#ifndef RFM2G_EXTRAS_H
#define RFM2G_EXTRAS_H

#include <stddef.h>

#include "rfm2g_api.h"

#define RFM2G_HAS_EXTRAS 1

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns when all that was stored so far, through mappings too, has reached
 * every node that is there. OS_ERROR: the device is gone.
 */
STDRFM2GCALL RFM2gxFlush(RFM2GHANDLE rh);

/*
 * Why RFM2gOpen(DevicePath) does not succeed, in a sentence for the user: what
 * is missing, or which group to join. SUCCESS, and an empty text: it would.
 * BAD_PARAMETER_1 or _2: one of them is NULL or has no room.
 */
STDRFM2GCALL RFM2gxExplain(const char *DevicePath, char *Text, size_t Size);

#ifdef __cplusplus
}
#endif

#endif /* RFM2G_EXTRAS_H */
