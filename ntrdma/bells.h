/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Doorbells of shared memory devices of QEMU.
 */
#ifndef NTRDMA_BELLS_H
#define NTRDMA_BELLS_H

#include <linux/timer.h>
#include <linux/types.h>

#include "wire.h"

struct ntrdma_bells;
struct ntrdma_dev;
struct pci_dev;

/* One doorbell for each lane, and one for Ethernet. */
#define NTRDMA_BELL_VECTORS	NTRDMA_RINGS

/**
 * struct ntrdma_bell_vector - an interrupt
 * @bells: doorbells of the device
 * @number: number of the vector
 * @irq: number of the interrupt
 * @timer: enables the interrupt again after a storm of doorbells
 */
struct ntrdma_bell_vector {
	struct ntrdma_bells *bells;
	unsigned int number;
	int irq;
	struct timer_list timer;
};

/**
 * struct ntrdma_bells - doorbells of a PCI device
 * @pdev: PCI device
 * @regs: registers
 * @count: number of vectors, or 0 if the device has no doorbells
 * @id: number that the server has given this machine
 * @dev: RDMA device whose lanes are notified, or NULL; interrupts and timers
 *	read it
 * @vector: vectors
 */
struct ntrdma_bells {
	struct pci_dev *pdev;
	void __iomem *regs;
	unsigned int count;
	u16 id;
	struct ntrdma_dev *dev;
	struct ntrdma_bell_vector vector[NTRDMA_BELL_VECTORS];
};

int ntrdma_bells_open(struct ntrdma_bells *bells, struct pci_dev *pdev);
void ntrdma_bells_close(struct ntrdma_bells *bells);
void ntrdma_bells_start(struct ntrdma_bells *bells, struct ntrdma_dev *dev);
void ntrdma_bells_stop(struct ntrdma_bells *bells);
void ntrdma_bells_ring(const struct ntrdma_bells *bells, u16 id, u8 lane);

#endif /* NTRDMA_BELLS_H */
