/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Version of the RFM2g interface that librfm2g implements. Build scripts of
 * programs for the cards parse it: the letter R, the major number, a dot, the
 * minor number. The files for pkg-config and CMake have the version of librfm2g
 * itself.
 */
#ifndef RFM2G_VERSION_H
#define RFM2G_VERSION_H

#define RFM2G_PRODUCT_VERSION "R09.00"
#define RFM2G_VERSION_MAJOR 9
#define RFM2G_VERSION_MINOR 0

#endif /* RFM2G_VERSION_H */
