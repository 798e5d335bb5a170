// SPDX-License-Identifier: GPL-2.0
/* The client of the kernel, unchanged. The kernel is configured without it. */
#include <../drivers/net/ntb_netdev.c>
