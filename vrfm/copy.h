/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_COPY_H
#define VRFM_COPY_H

#include <linux/types.h>

void vrfm_copy(void *to, const void *from, size_t len);
void vrfm_copy_out(void *to, const void *from, size_t len);
void vrfm_copy_words(u32 *to, const void *from, u32 n);

#endif /* VRFM_COPY_H */
