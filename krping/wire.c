// SPDX-License-Identifier: GPL-2.0
/* The message of the ping protocol and the data of a ping, see wire.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "wire.h"

/* The data after the prefix runs through these characters again and again. */
#define KRPING_RUN_FIRST 65
#define KRPING_RUN_LAST 122
#define KRPING_RUN_LEN (KRPING_RUN_LAST - KRPING_RUN_FIRST + 1)

/* "rdma-ping-", 20 digits, ": ", NUL */
#define KRPING_PREFIX_MAX 33

/**
 * krping_wire_encode - make a message
 * @wire: result
 * @adv: what it says
 *
 * Context: any.
 */
void krping_wire_encode(struct krping_wire *wire, const struct krping_adv *adv)
{
	wire->addr = cpu_to_be64(adv->addr);
	wire->rkey = cpu_to_be32(adv->rkey);
	wire->size = cpu_to_be32(adv->size);
}

/**
 * krping_wire_decode - read a message
 * @adv: result
 * @data: what was received
 * @len: bytes
 *
 * Any content is a valid message: what its numbers are worth, only its use
 * shows.
 *
 * Context: any.
 * Return: 0, or -EPROTO: not the length of a message.
 */
int krping_wire_decode(struct krping_adv *adv, const void *data, u32 len)
{
	const struct krping_wire *wire = data;

	if (len != sizeof(*wire))
		return -EPROTO;
	adv->addr = be64_to_cpu(wire->addr);
	adv->rkey = be32_to_cpu(wire->rkey);
	adv->size = be32_to_cpu(wire->size);
	return 0;
}

/**
 * krping_payload_fill - make the data of a ping
 * @buf: result
 * @size: bytes, at least 1
 * @ping: number of the ping, from 0
 *
 * The last byte is NUL and no other is: old servers send back what precedes
 * the first one. Sizes that have no room for the prefix get a part of it.
 *
 * Context: any.
 */
void krping_payload_fill(void *buf, u32 size, u64 ping)
{
	char prefix[KRPING_PREFIX_MAX];
	u32 run = ping % KRPING_RUN_LEN;
	u32 i, len;
	char *data = buf;

	len = scnprintf(prefix, sizeof(prefix), "rdma-ping-%llu: ", ping);
	len = min(len, size - 1);
	memcpy(data, prefix, len);
	for (i = len; i < size - 1; i++) {
		data[i] = KRPING_RUN_FIRST + run;
		run = run + 1 < KRPING_RUN_LEN ? run + 1 : 0;
	}
	data[size - 1] = '\0';
}
