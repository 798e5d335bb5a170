/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that knows kernel versions. The code is written for the
 * newest kernel; older ones get the newer names from here. Each entry says
 * which release moved and by which commit.
 */
#ifndef KRDMA_COMPAT_H
#define KRDMA_COMPAT_H

#include <linux/version.h>
#include <rdma/ib_verbs.h>

/*
 * Symbol namespaces became string literals in v6.13, commit cdd30ebb1b9f
 * ("module: Convert symbol namespace to string literal"). KRDMA_NS is what
 * both EXPORT_SYMBOL_NS_GPL() and MODULE_IMPORT_NS() take.
 */
#if KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE
#define KRDMA_NS "KRDMA"
#else
#define KRDMA_NS KRDMA
#endif

/**
 * krdma_mr_room - how many pages to ask ib_alloc_mr() for
 * @ibdev: device
 * @npages: pages that will be registered
 *
 * rxe before v6.3, which replaced the lists by an xarray, keeps the pages of an
 * MR in lists of 256. A copy that ends with the last page of a full last list
 * looks for one more list, behind the end of an array (rxe_mr_copy() of 6.1;
 * KASAN sees it). Room for one page more means that there is that list.
 *
 * Return: the number.
 */
static inline u32 krdma_mr_room(const struct ib_device *ibdev, u32 npages)
{
#if KERNEL_VERSION(6, 3, 0) <= LINUX_VERSION_CODE
	return npages;
#else
	return npages + (ibdev->ops.driver_id == RDMA_DRIVER_RXE);
#endif
}

#endif /* KRDMA_COMPAT_H */
