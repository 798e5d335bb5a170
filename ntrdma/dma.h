/* SPDX-License-Identifier: GPL-2.0 */
/* Copies by a DMA engine of the host. */
#ifndef NTRDMA_DMA_H
#define NTRDMA_DMA_H

#include <linux/types.h>

struct device;
struct ntrdma_copy_ops;
struct ntrdma_dma;

extern const struct ntrdma_copy_ops ntrdma_dma_ops;

struct ntrdma_dma *ntrdma_dma_open(struct device *near, phys_addr_t window,
				   size_t bytes);
const char *ntrdma_dma_name(const struct ntrdma_dma *dma);
void ntrdma_dma_close(struct ntrdma_dma *dma);

#endif /* NTRDMA_DMA_H */
