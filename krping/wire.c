// SPDX-License-Identifier: GPL-2.0
/* Encode and decode messages and hellos, and fill in the data of a ping. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "opts.h"
#include "wire.h"

/* After the prefix, the data of a ping repeat the characters 'A' to 'z'. */
#define KRPING_RUN_FIRST 65
#define KRPING_RUN_LAST 122
#define KRPING_RUN_LEN (KRPING_RUN_LAST - KRPING_RUN_FIRST + 1)

/* Size of the prefix: "rdma-ping-", 20 digits, ": ", NUL. */
#define KRPING_PREFIX_MAX 33

/**
 * krping_wire_encode - encode a message
 * @wire: result
 * @adv: content
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
 * krping_wire_decode - decode a message
 * @adv: result
 * @data: received data
 * @len: length of @data in bytes
 *
 * Any content is valid here. The caller checks the numbers before it uses them.
 *
 * Context: any.
 * Return: 0, or -EPROTO if @len is not the length of a message.
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
 * krping_payload_fill - generate the data of a ping
 * @buf: result
 * @size: length of the data in bytes, at least 1
 * @ping: number of the ping, from 0
 *
 * Only the last byte is NUL, because old servers send back only the data before
 * the first NUL. The data begin with a prefix that contains @ping. If @size is
 * too small, the prefix is cut.
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
 * krping_hello_encode - encode a hello
 * @wire: result
 * @hello: content
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
 * krping_hello_decode - decode a hello
 * @hello: result
 * @data: private data
 * @len: length of @data in bytes; may exceed that of a hello, because the CM
 *	pads
 *
 * Context: any.
 * Return: 0, or -ENOMSG if @data is not a hello, because the peer is old.
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

/**
 * krping_msg_hello_encode - encode a hello of mlat or mbw
 * @wire: result
 * @hello: hello; its window and warmup are not transmitted
 *
 * Context: any.
 */
void krping_msg_hello_encode(struct krping_wire_msg_hello *wire,
			     const struct krping_hello *hello)
{
	*wire = (struct krping_wire_msg_hello){
		.magic = cpu_to_be32(KRPING_MSG_MAGIC),
		.version = KRPING_HELLO_VERSION,
		.test = hello->test,
		.flags = hello->flags & KRPING_HELLO_CRC,
		.refused = hello->refused,
		.size = cpu_to_be32(hello->size),
		.count = cpu_to_be32(hello->count),
		.from = cpu_to_be32(hello->from),
		.duration_s = cpu_to_be32(hello->duration_s),
	};
}

/**
 * krping_msg_hello_decode - decode a hello of mlat or mbw
 * @hello: result
 * @data: private data
 * @len: length of @data in bytes; may exceed that of a hello
 *
 * Context: any.
 * Return: 0, or -ENOMSG if @data is no such hello.
 */
int krping_msg_hello_decode(struct krping_hello *hello, const void *data,
			    u32 len)
{
	const struct krping_wire_msg_hello *wire = data;

	if (len < sizeof(*wire) ||
	    wire->magic != cpu_to_be32(KRPING_MSG_MAGIC) ||
	    wire->version < KRPING_HELLO_VERSION)
		return -ENOMSG;
	*hello = (struct krping_hello){
		.test = wire->test,
		.flags = wire->flags & KRPING_HELLO_CRC,
		.refused = wire->refused,
		.size = be32_to_cpu(wire->size),
		.count = be32_to_cpu(wire->count),
		.from = be32_to_cpu(wire->from),
		.duration_s = be32_to_cpu(wire->duration_s),
	};
	return 0;
}

/**
 * krping_msg_end_encode - encode the last message of a side of mlat or mbw
 * @wire: result
 * @status: 0 or a positive errno
 * @count: number of data messages
 *
 * Context: any.
 */
void krping_msg_end_encode(struct krping_wire_msg_end *wire, u32 status,
			   u64 count)
{
	*wire = (struct krping_wire_msg_end){
		.type = KRPING_MSG_END,
		.status = cpu_to_be32(status),
		.count = cpu_to_be64(count),
	};
}

/**
 * krping_msg_end_decode - decode the last message of a side of mlat or mbw
 * @status: result
 * @count: result
 * @data: message
 * @len: length of @data in bytes
 *
 * Context: any.
 * Return: 0, or -EPROTO if @data is no such message.
 */
int krping_msg_end_decode(u32 *status, u64 *count, const void *data, u32 len)
{
	const struct krping_wire_msg_end *wire = data;

	if (len != sizeof(*wire) || wire->type != KRPING_MSG_END)
		return -EPROTO;
	*status = be32_to_cpu(wire->status);
	*count = be64_to_cpu(wire->count);
	return 0;
}

static bool krping_flag_differs(const struct krping_hello *a,
				const struct krping_hello *b, u16 flag)
{
	return (a->flags ^ b->flags) & flag;
}

/* Check for a test in which both sides count the operations. */
static bool krping_is_mutual(const struct krping_hello *hello)
{
	return hello->test == KRPING_TEST_WLAT ||
	       hello->test == KRPING_TEST_SLAT;
}

/* Check for a server with verify= and a client that sends no checksums. */
static bool krping_lacks_crc(const struct krping_hello *server,
			     const struct krping_hello *client)
{
	return server->flags & ~client->flags & KRPING_HELLO_CRC;
}

/*
 * Check whether the client's size fits the server's buffer. A size of 0 is
 * invalid, because the tests access the last byte of the data.
 */
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
	if (krping_lacks_crc(server, client))
		return KRPING_DIFFERENT_VERIFY;
	/*
	 * With duplex, both sides run the same sizes. The number of operations
	 * may differ.
	 */
	if (client->flags & KRPING_HELLO_DUPLEX && server->from != client->from)
		return KRPING_DIFFERENT_FROM;
	if (!krping_is_mutual(client))
		return KRPING_AGREED;
	if (server->size != client->size)
		return KRPING_DIFFERENT_SIZE;
	/*
	 * With a duration, the client's end message and not the count ends the
	 * test.
	 */
	if (!client->duration_s && server->count != client->count)
		return KRPING_DIFFERENT_COUNT;
	return server->from == client->from ? KRPING_AGREED :
					      KRPING_DIFFERENT_FROM;
}

/**
 * krping_hello_check - check whether the two sides run the same test
 * @server: options of the server
 * @client: hello of the client
 *
 * Only options that matter are compared: for example, a server that posts no
 * operations of its own does not need the count. A client with the fr test
 * sends nothing, and may connect to a server with the ping test, unless the
 * server verifies checksums. The client is not trusted: its size replaces the
 * server's size, and is checked against the server's buffers.
 *
 * Context: any.
 * Return: the first difference, or KRPING_AGREED.
 */
enum krping_mismatch krping_hello_check(const struct krping_hello *server,
					const struct krping_hello *client)
{
	if (server->test != KRPING_TEST_PING)
		return krping_bench_check(server, client);
	if (client->test != KRPING_TEST_PING && client->test != KRPING_TEST_FR)
		return KRPING_DIFFERENT_TEST;
	if (krping_lacks_crc(server, client))
		return KRPING_DIFFERENT_VERIFY;
	if (client->test == KRPING_TEST_FR)
		return KRPING_AGREED;
	if (!krping_size_fits(server, client))
		return KRPING_DIFFERENT_SIZE;
	/*
	 * The server alone may set server_inv: the client sees which of its
	 * keys are invalidated.
	 */
	if (client->flags & KRPING_HELLO_SERVER_INV &&
	    !(server->flags & KRPING_HELLO_SERVER_INV))
		return KRPING_DIFFERENT_INV;
	return KRPING_AGREED;
}

/**
 * krping_mismatch_name - return the name of an option that differs
 * @mismatch: &enum krping_mismatch, or another value from a peer
 *
 * Context: any.
 * Return: name for the log.
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
					      "an unknown option";
}

/**
 * krping_ctl_encode - encode a control message, whose size is 0
 * @adv: result
 * @ctl: content
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
 * krping_ctl_decode - decode a control message
 * @ctl: result; its type is KRPING_CTL_NONE if @adv is another message
 * @adv: any message of a peer that runs this project's krping
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
