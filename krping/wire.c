// SPDX-License-Identifier: GPL-2.0
/* Messages, hellos, and the data of a ping, see wire.h. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "opts.h"
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

/**
 * krping_hello_encode - make a hello
 * @wire: result
 * @hello: what it says
 *
 * Context: any.
 */
void krping_hello_encode(struct krping_wire_hello *wire,
			 const struct krping_hello *hello)
{
	*wire = (struct krping_wire_hello){
		.magic = cpu_to_be32(KRPING_HELLO_MAGIC),
		.version = KRPING_HELLO_VERSION,
		.test = hello->test,
		.flags = cpu_to_be16(hello->flags),
		.size = cpu_to_be32(hello->size),
		.count = cpu_to_be32(hello->count),
		.from = cpu_to_be32(hello->from),
		.duration_s = cpu_to_be32(hello->duration_s),
		.window = cpu_to_be32(hello->window),
		.warmup = cpu_to_be32(hello->warmup),
		.refused = cpu_to_be32(hello->refused),
	};
}

/**
 * krping_hello_decode - read a hello
 * @hello: result
 * @data: private data
 * @len: bytes, more than a hello has: the CM pads
 *
 * Context: any.
 * Return: 0, or -ENOMSG: it is none, the peer is an old one.
 */
int krping_hello_decode(struct krping_hello *hello, const void *data, u32 len)
{
	const struct krping_wire_hello *wire = data;

	if (len < sizeof(*wire) ||
	    wire->magic != cpu_to_be32(KRPING_HELLO_MAGIC) ||
	    wire->version < KRPING_HELLO_VERSION)
		return -ENOMSG;
	*hello = (struct krping_hello){
		.test = wire->test,
		.flags = be16_to_cpu(wire->flags),
		.size = be32_to_cpu(wire->size),
		.count = be32_to_cpu(wire->count),
		.from = be32_to_cpu(wire->from),
		.duration_s = be32_to_cpu(wire->duration_s),
		.window = be32_to_cpu(wire->window),
		.warmup = be32_to_cpu(wire->warmup),
		.refused = be32_to_cpu(wire->refused),
	};
	return 0;
}

static bool krping_flag_differs(const struct krping_hello *a,
				const struct krping_hello *b, u16 flag)
{
	return (a->flags ^ b->flags) & flag;
}

/* Both count and must come to the same end. */
static bool krping_is_mutual(const struct krping_hello *hello)
{
	return hello->test == KRPING_TEST_WLAT ||
	       hello->test == KRPING_TEST_SLAT;
}

/* The server has room for that, and the end of nothing is nowhere. */
static bool krping_size_fits(const struct krping_hello *server,
			     const struct krping_hello *client)
{
	return client->size && client->size <= server->size;
}

static enum krping_mismatch
krping_bench_check(const struct krping_hello *server,
		   const struct krping_hello *client)
{
	if (server->test != client->test)
		return KRPING_DIFFERENT_TEST;
	if (krping_flag_differs(server, client, KRPING_HELLO_DUPLEX))
		return KRPING_DIFFERENT_DUPLEX;
	if (krping_flag_differs(server, client, KRPING_HELLO_IMM))
		return KRPING_DIFFERENT_IMM;
	if (!krping_size_fits(server, client))
		return KRPING_DIFFERENT_SIZE;
	/* A server that shall check data cannot without the client's checksum. */
	if (server->flags & KRPING_HELLO_CRC &&
	    !(client->flags & KRPING_HELLO_CRC))
		return KRPING_DIFFERENT_VERIFY;
	/* With duplex both do all sizes; how many of each does not matter. */
	if (client->flags & KRPING_HELLO_DUPLEX && server->from != client->from)
		return KRPING_DIFFERENT_FROM;
	if (!krping_is_mutual(client))
		return KRPING_AGREED;
	if (server->size != client->size)
		return KRPING_DIFFERENT_SIZE;
	/* With a duration the client says when it is over. */
	if (!client->duration_s && server->count != client->count)
		return KRPING_DIFFERENT_COUNT;
	return server->from == client->from ? KRPING_AGREED :
					      KRPING_DIFFERENT_FROM;
}

/**
 * krping_hello_check - do the two sides mean the same test?
 * @server: what the server was told to do
 * @client: what the client says
 *
 * Only what matters is compared: a server that only serves need not know the
 * count, as it never had to. A client that registers and invalidates all by
 * itself goes to a server of pings. The client may be anybody: its size becomes
 * the server's, and is checked for what the server does with it.
 *
 * Context: any.
 * Return: the first difference, or KRPING_AGREED.
 */
enum krping_mismatch krping_hello_check(const struct krping_hello *server,
					const struct krping_hello *client)
{
	if (server->test != KRPING_TEST_PING)
		return krping_bench_check(server, client);
	if (client->test == KRPING_TEST_FR)
		return KRPING_AGREED;
	if (client->test != KRPING_TEST_PING)
		return KRPING_DIFFERENT_TEST;
	if (!krping_size_fits(server, client))
		return KRPING_DIFFERENT_SIZE;
	/* The other way round does no harm: the client sees it in time. */
	if (client->flags & KRPING_HELLO_SERVER_INV &&
	    !(server->flags & KRPING_HELLO_SERVER_INV))
		return KRPING_DIFFERENT_INV;
	return KRPING_AGREED;
}

/**
 * krping_mismatch_name - which option it is, for the log
 * @mismatch: &enum krping_mismatch, or what a peer calls so
 *
 * Context: any.
 * Return: its name.
 */
const char *krping_mismatch_name(u32 mismatch)
{
	static const char * const names[] = {
		[KRPING_AGREED]			= "nothing",
		[KRPING_DIFFERENT_TEST]		= "the test",
		[KRPING_DIFFERENT_SIZE]		= "size",
		[KRPING_DIFFERENT_COUNT]	= "count",
		[KRPING_DIFFERENT_DUPLEX]	= "duplex",
		[KRPING_DIFFERENT_INV]		= "server_inv",
		[KRPING_DIFFERENT_FROM]		= "from",
		[KRPING_DIFFERENT_IMM]		= "imm",
		[KRPING_DIFFERENT_VERIFY]	= "verify",
	};
	static_assert(ARRAY_SIZE(names) == KRPING_MISMATCHES);

	return mismatch < ARRAY_SIZE(names) ? names[mismatch] :
					      "what we do not know";
}

/**
 * krping_ctl_encode - make a message of size 0
 * @adv: result
 * @ctl: what it says
 *
 * Context: any.
 */
void krping_ctl_encode(struct krping_adv *adv, const struct krping_ctl *ctl)
{
	*adv = (struct krping_adv){
		.addr = (u64)ctl->status << 32 | ctl->value,
		.rkey = KRPING_CTL_MAGIC | ctl->type,
	};
}

/**
 * krping_ctl_decode - read a message of size 0
 * @ctl: result
 * @adv: any message of a new peer
 *
 * Context: any.
 */
void krping_ctl_decode(struct krping_ctl *ctl, const struct krping_adv *adv)
{
	*ctl = (struct krping_ctl){};
	if (adv->size || (adv->rkey & 0xffff0000) != KRPING_CTL_MAGIC)
		return;
	ctl->type = adv->rkey & 0xffff;
	ctl->status = adv->addr >> 32;
	ctl->value = adv->addr;
}
