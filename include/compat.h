/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file that knows kernel versions. The code is written for the
 * newest kernel; older ones get the newer names from here. Each entry says
 * which release moved and by which commit.
 */
#ifndef KRDMA_COMPAT_H
#define KRDMA_COMPAT_H

#include <linux/version.h>

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

#endif /* KRDMA_COMPAT_H */
