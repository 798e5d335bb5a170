/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Version of modules, library and tools. debian/changelog, dkms.conf and
 * tools/krping contain the same version, see Documentation/packages.rst.
 */
#ifndef KRDMA_VERSION_H
#define KRDMA_VERSION_H

#define KRDMA_VERSION "0.1"

#endif /* KRDMA_VERSION_H */
