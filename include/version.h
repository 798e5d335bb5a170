/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Version of modules, library and tools. The packages contain it as well, see
 * Documentation/packages.rst.
 */
#ifndef KRDMA_VERSION_H
#define KRDMA_VERSION_H

#define KRDMA_VERSION "0.1"

#endif /* KRDMA_VERSION_H */
