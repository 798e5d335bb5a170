/* SPDX-License-Identifier: GPL-2.0 */
/* krdma_other - a consumer of krdma's simple calls that is not krdma_test */
#ifndef KRDMA_OTHER_PRIV_H
#define KRDMA_OTHER_PRIV_H

struct krdma_cb;

/* receive.c */
int kother_receive(struct krdma_cb *cb, char *buffer);

#endif /* KRDMA_OTHER_PRIV_H */
