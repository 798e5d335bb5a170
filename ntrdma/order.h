/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of messages, times of repetition, opcodes of each type of QP. All
 * functions are pure: they use only their arguments.
 */
#ifndef NTRDMA_ORDER_H
#define NTRDMA_ORDER_H

#include <rdma/ib_verbs.h>

#include "wire.h"

/**
 * ntrdma_msn_add - add to the number of a message
 * @msn: number
 * @n: messages to advance
 *
 * Return: number, modulo 2^24.
 */
static inline u32 ntrdma_msn_add(u32 msn, u32 n)
{
	return (msn + n) & NTRDMA_NUMBER_MASK;
}

/**
 * ntrdma_msn_diff - return the distance of two numbers of messages
 * @a: number
 * @b: number, less than 2^23 before or after @a
 *
 * Return: @a - @b, negative if @a is earlier.
 */
static inline s32 ntrdma_msn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/* Properties of a work request. */
#define NTRDMA_OP_SEND		BIT(0) /* uses a receive of the peer */
#define NTRDMA_OP_WRITE		BIT(1) /* writes to the peer's memory */
#define NTRDMA_OP_READ		BIT(2) /* waits for data of the peer */
#define NTRDMA_OP_ATOMIC	BIT(3) /* waits for a result of the peer */
#define NTRDMA_OP_LOCAL		BIT(4) /* sends nothing */
#define NTRDMA_OP_IMM		BIT(5) /* has immediate data */
#define NTRDMA_OP_INV		BIT(6) /* has a key to invalidate */
#define NTRDMA_OP_KERNEL	BIT(7) /* not for programs */

u32 ntrdma_op_flags(enum ib_qp_type type, enum ib_wr_opcode opcode);
enum ib_wc_opcode ntrdma_op_wc(enum ib_wr_opcode opcode);
u32 ntrdma_rnr_us(u8 code);
u64 ntrdma_timeout_ns(u8 timeout);

#endif /* NTRDMA_ORDER_H */
