// SPDX-License-Identifier: GPL-2.0
/* A second file of the module: krdma_config() is called in the other one. */
#include <krdma_simple.h>

#include "priv.h"

int kother_receive(struct krdma_cb *cb, char *buffer)
{
	return krdma_receive(cb, buffer);
}
