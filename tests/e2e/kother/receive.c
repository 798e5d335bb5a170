// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_config() is called in main.c, and applies to the calls of the whole
 * module. So this file calls krdma_receive() to test another file of the
 * module.
 */
#include <krdma_simple.h>

#include "priv.h"

int kother_receive(struct krdma_cb *cb, char *buffer)
{
	return krdma_receive(cb, buffer);
}
