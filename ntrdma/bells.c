// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbells of the device "ivshmem-doorbell" of QEMU. Facts are from
 * docs/specs/ivshmem-spec.rst of QEMU.
 *
 * A server gives each machine a number, and connects the machines. The device
 * "ivshmem-plain" has no doorbells. The two differ in MSI-X: only the device
 * with doorbells has it.
 *
 * A store to the register DOORBELL raises an interrupt of another machine: the
 * number of the machine is in the upper half, and the vector in the lower. The
 * device ignores a machine or a vector that does not exist.
 *
 * Any machine may ring as often as it likes. If doorbells come often and bring
 * no work, the interrupt is disabled for a while, and a timer notifies the
 * lanes instead.
 */
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/pci.h>

#include <compat.h>

#include "backend.h"
#include "bells.h"

/* The registers are BAR 0. */
#define NTRDMA_BELLS_BAR	0
#define NTRDMA_BELLS_ID		8
#define NTRDMA_BELLS_DOORBELL	12
/* Time for which the interrupt is disabled after a storm, in ms. */
#define NTRDMA_BELLS_STORM_MS	100

/*
 * The vector of a lane. The last one is for Ethernet. All machines of a server
 * have the same number of vectors.
 */
static unsigned int ntrdma_bells_vector(const struct ntrdma_bells *bells,
					u8 lane)
{
	if (lane == NTRDMA_ETH_RING || bells->count == 1)
		return bells->count - 1;
	return lane % (bells->count - 1);
}

/*
 * Notify all lanes of a vector. Return false if doorbells come too often for
 * each of them: if only one lane has frames, these are its doorbells.
 */
static bool ntrdma_bells_notify(const struct ntrdma_bell_vector *vector,
				struct ntrdma_dev *dev)
{
	bool calm = false;
	u8 lane;

	for (lane = 0; lane < NTRDMA_RINGS; lane++)
		if (ntrdma_bells_vector(vector->bells, lane) ==
		    vector->number && ntrdma_bell(dev, lane))
			calm = true;
	return calm;
}

static irqreturn_t ntrdma_bells_irq(int irq, void *data)
{
	struct ntrdma_bell_vector *vector = data;
	struct ntrdma_dev *dev = READ_ONCE(vector->bells->dev);

	if (!dev || ntrdma_bells_notify(vector, dev))
		return IRQ_HANDLED;
	disable_irq_nosync(irq);
	mod_timer(&vector->timer,
		  jiffies + msecs_to_jiffies(NTRDMA_BELLS_STORM_MS));
	dev_warn_ratelimited(&vector->bells->pdev->dev,
			     "ntrdma: doorbell %u rings without work, so it is ignored for a while\n",
			     vector->number);
	return IRQ_HANDLED;
}

/* A doorbell that was ignored may have brought work. */
static void ntrdma_bells_calm(struct timer_list *timer)
{
	struct ntrdma_bell_vector *vector =
		container_of(timer, struct ntrdma_bell_vector, timer);
	struct ntrdma_dev *dev = READ_ONCE(vector->bells->dev);

	if (dev)
		ntrdma_bells_notify(vector, dev);
	enable_irq(vector->irq);
}

static void ntrdma_bells_free(struct ntrdma_bells *bells, unsigned int count)
{
	while (count-- > 0)
		free_irq(bells->vector[count].irq, &bells->vector[count]);
	pci_free_irq_vectors(bells->pdev);
}

static int ntrdma_bells_request(struct ntrdma_bells *bells)
{
	int count = min(pci_msix_vec_count(bells->pdev), NTRDMA_BELL_VECTORS);
	struct ntrdma_bell_vector *vector;
	unsigned int i;
	int ret;

	/* The others compute the vectors of this machine from this number. */
	ret = pci_alloc_irq_vectors(bells->pdev, count, count, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	bells->count = ret;
	for (i = 0; i < bells->count; i++) {
		vector = &bells->vector[i];
		vector->bells = bells;
		vector->number = i;
		vector->irq = pci_irq_vector(bells->pdev, i);
		timer_setup(&vector->timer, ntrdma_bells_calm, 0);
		ret = request_irq(vector->irq, ntrdma_bells_irq, 0, "ntrdma",
				  vector);
		if (ret) {
			ntrdma_bells_free(bells, i);
			return ret;
		}
	}
	return 0;
}

static int ntrdma_bells_map(struct ntrdma_bells *bells)
{
	struct pci_dev *pdev = bells->pdev;
	int ret = pci_request_region(pdev, NTRDMA_BELLS_BAR, "ntrdma");
	u32 id;

	if (ret)
		return ret;
	bells->regs = pci_iomap(pdev, NTRDMA_BELLS_BAR, 0);
	if (!bells->regs) {
		pci_release_region(pdev, NTRDMA_BELLS_BAR);
		return -ENOMEM;
	}
	id = ioread32(bells->regs + NTRDMA_BELLS_ID);
	if (id <= U16_MAX) {
		bells->id = id;
		return 0;
	}
	pci_err(pdev, "ntrdma: the server has given no number: %d\n", id);
	pci_iounmap(pdev, bells->regs);
	pci_release_region(pdev, NTRDMA_BELLS_BAR);
	return -ERANGE;
}

/**
 * ntrdma_bells_open - prepare the doorbells of a device, if it has any
 * @bells: result; @bells->count is 0 if the device has no doorbells
 * @pdev: enabled PCI device
 *
 * Context: may sleep.
 * Return: 0 or an error code.
 */
int ntrdma_bells_open(struct ntrdma_bells *bells, struct pci_dev *pdev)
{
	int ret;

	*bells = (struct ntrdma_bells){ .pdev = pdev };
	if (!pdev->msix_cap)
		return 0;
	ret = ntrdma_bells_map(bells);
	if (ret)
		return ret;
	/* MSI-X messages are writes of the device. */
	pci_set_master(pdev);
	ret = ntrdma_bells_request(bells);
	if (!ret)
		return 0;
	bells->count = 0;
	pci_clear_master(pdev);
	pci_iounmap(pdev, bells->regs);
	pci_release_region(pdev, NTRDMA_BELLS_BAR);
	return ret;
}

/**
 * ntrdma_bells_close - release the doorbells of a device
 * @bells: doorbells that notify no RDMA device
 *
 * Context: may sleep.
 */
void ntrdma_bells_close(struct ntrdma_bells *bells)
{
	if (!bells->count)
		return;
	ntrdma_bells_free(bells, bells->count);
	pci_clear_master(bells->pdev);
	pci_iounmap(bells->pdev, bells->regs);
	pci_release_region(bells->pdev, NTRDMA_BELLS_BAR);
}

/**
 * ntrdma_bells_start - begin to notify an RDMA device
 * @bells: doorbells
 * @dev: RDMA device
 *
 * Context: may sleep.
 */
void ntrdma_bells_start(struct ntrdma_bells *bells, struct ntrdma_dev *dev)
{
	WRITE_ONCE(bells->dev, dev);
}

/**
 * ntrdma_bells_stop - end it
 * @bells: doorbells
 *
 * After this, no interrupt and no timer uses the RDMA device.
 *
 * Context: may sleep.
 */
void ntrdma_bells_stop(struct ntrdma_bells *bells)
{
	struct ntrdma_bell_vector *vector;
	unsigned int i;

	WRITE_ONCE(bells->dev, NULL);
	for (i = 0; i < bells->count; i++) {
		vector = &bells->vector[i];
		synchronize_irq(vector->irq);
		if (timer_delete_sync(&vector->timer))
			enable_irq(vector->irq);
	}
}

/**
 * ntrdma_bells_ring - notify a lane of another machine by its doorbell
 * @bells: doorbells
 * @id: number that the server has given to the machine
 * @lane: number of the lane
 *
 * Context: any.
 */
void ntrdma_bells_ring(const struct ntrdma_bells *bells, u16 id, u8 lane)
{
	iowrite32((u32)id << 16 | ntrdma_bells_vector(bells, lane),
		  bells->regs + NTRDMA_BELLS_DOORBELL);
}
