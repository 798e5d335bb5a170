// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_config() must apply to all files of a module. main.c calls
 * krdma_config(), and this file calls krdma_receive().
 */
#include <krdma_simple.h>

#include "priv.h"

int kother_receive(struct krdma_cb *cb, char *buffer)
{
	return krdma_receive(cb, buffer);
}
