// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of each opcode on each type of QP, and the times after which
 * messages are repeated.
 */
#include <linux/kernel.h>
#include <linux/time64.h>

#include "order.h"

static const u8 ntrdma_rc_ops[] = {
	[IB_WR_RDMA_WRITE]	     = NTRDMA_OP_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM]  = NTRDMA_OP_WRITE | NTRDMA_OP_SEND |
				       NTRDMA_OP_IMM,
	[IB_WR_SEND]		     = NTRDMA_OP_SEND,
	[IB_WR_SEND_WITH_IMM]	     = NTRDMA_OP_SEND | NTRDMA_OP_IMM,
	[IB_WR_SEND_WITH_INV]	     = NTRDMA_OP_SEND | NTRDMA_OP_INV,
	[IB_WR_RDMA_READ]	     = NTRDMA_OP_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP]   = NTRDMA_OP_ATOMIC,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = NTRDMA_OP_ATOMIC,
	[IB_WR_LOCAL_INV]	     = NTRDMA_OP_LOCAL | NTRDMA_OP_KERNEL,
};

static const u8 ntrdma_ud_ops[] = {
	[IB_WR_SEND]	      = NTRDMA_OP_SEND,
	[IB_WR_SEND_WITH_IMM] = NTRDMA_OP_SEND | NTRDMA_OP_IMM,
};

/**
 * ntrdma_op_flags - return the properties of a work request
 * @type: type of the QP
 * @opcode: opcode; a program may have written any number
 *
 * Return: NTRDMA_OP_*; 0 if this type of QP does not support the opcode.
 */
u32 ntrdma_op_flags(enum ib_qp_type type, enum ib_wr_opcode opcode)
{
	if (type == IB_QPT_RC) {
		/*
		 * IB_WR_REG_MR is not in the table, because its number is much
		 * larger.
		 */
		if (opcode == IB_WR_REG_MR)
			return NTRDMA_OP_LOCAL | NTRDMA_OP_KERNEL;
		return (u32)opcode < ARRAY_SIZE(ntrdma_rc_ops) ?
		       ntrdma_rc_ops[opcode] : 0;
	}
	if (type == IB_QPT_UD || type == IB_QPT_GSI)
		return (u32)opcode < ARRAY_SIZE(ntrdma_ud_ops) ?
		       ntrdma_ud_ops[opcode] : 0;
	return 0;
}

/**
 * ntrdma_op_wc - return the opcode of the completion of a work request
 * @opcode: opcode for which ntrdma_op_flags() is not 0
 *
 * Return: opcode of the completion.
 */
enum ib_wc_opcode ntrdma_op_wc(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return IB_WC_COMP_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return IB_WC_FETCH_ADD;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	default:
		return IB_WC_SEND;
	}
}

/*
 * Times of the RNR timer in us, by code. Source: InfiniBand Architecture
 * Specification, volume 1, 9.7.5.2.8.
 */
static const u32 ntrdma_rnr_times[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120,
	160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720,
	40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

/**
 * ntrdma_rnr_us - return the time after which a message is repeated that found
 * no receive
 * @code: RNR timer code of the responder, 0 to 31; other bits are ignored
 *
 * Return: time in us.
 */
u32 ntrdma_rnr_us(u8 code)
{
	return ntrdma_rnr_times[code & 31];
}

/**
 * ntrdma_timeout_ns - return the time-out of a QP
 * @timeout: &ib_qp_attr.timeout, 0 to 31; other bits are ignored
 *
 * The time is 4.096 us * 2^timeout, see the InfiniBand Architecture
 * Specification, volume 1, 9.7.6.1.3. It is at least 1 ms, because a request
 * for which the peer was not ready is repeated after this time.
 *
 * Return: time in ns; 0: no time-out.
 */
u64 ntrdma_timeout_ns(u8 timeout)
{
	timeout &= 31;
	if (!timeout)
		return 0;
	return max_t(u64, 4096ULL << timeout, NSEC_PER_MSEC);
}
