/* SPDX-License-Identifier: GPL-2.0 */
/* Emulation of adapters, for tests of consumers. */
#ifndef NTRDMA_EMULATE_H
#define NTRDMA_EMULATE_H

#include <linux/types.h>

struct device;
struct ib_device_attr;
struct ib_wc;

/* Orders in which the bytes of a frame become visible. */
enum ntrdma_order {
	NTRDMA_FORWARD,
	NTRDMA_REVERSE,
	NTRDMA_RANDOM,
};

/* They do not change while the module is loaded. */
extern enum ntrdma_order ntrdma_copy_order;
extern bool ntrdma_strict_inv;
extern unsigned int ntrdma_late_us;

const char *ntrdma_emulate_init(void);
void ntrdma_emulate_limits(struct ib_device_attr *attr);
u32 ntrdma_emulate_inline(void);
u64 ntrdma_emulate_delay(void);
bool ntrdma_emulate_fault(u32 ms);
void ntrdma_emulate_reorder(struct ib_wc *wc, u32 size, u32 from, u32 to);
void ntrdma_copy_disordered(void *to, const void *from, u32 bytes);
struct device *ntrdma_dma_device_get(void);
void ntrdma_dma_device_put(struct device *dma_device);
void *ntrdma_dma_ptr(struct device *dma_device, u64 addr, u32 bytes);

#endif /* NTRDMA_EMULATE_H */
