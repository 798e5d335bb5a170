// SPDX-License-Identifier: GPL-2.0
/*
 * The calls of snake0/krdma, source compatible, doing what their names say:
 * strings for addresses, no parameters, one call for each thing.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/kernel.h>

#include "priv.h"

/*
 * snake0/krdma's buffers: PAGE_SIZE * 1024. Here it is the same on every
 * architecture, and only a limit: a connection does not allocate it.
 */
#define KRDMA_SIMPLE_MAX_MSG (4096 * 1024)

/* As snake0/krdma: three attempts, a second apart. */
#define KRDMA_SIMPLE_ATTEMPTS 3
#define KRDMA_SIMPLE_PAUSE_MS 1000

static u32 krdma_max_msg = KRDMA_SIMPLE_MAX_MSG;

/**
 * krdma_default_max_msg - what krdma_config() set
 *
 * Return: bytes.
 */
u32 krdma_default_max_msg(void)
{
	return READ_ONCE(krdma_max_msg);
}

/**
 * krdma_config - set the longest message of connections made later
 * @max_buf_size: bytes, 1 … 1 GiB; 0: back to the default of 4 MiB. Other
 *	values are refused with a line in the log
 *
 * It is the default of &krdma_params.max_msg, the size of the buffers that are
 * shown by krdma_rw_init_client() and krdma_rw_init_server(), and what every
 * buffer given to krdma_receive() must hold. For all users of krdma on this
 * host: a module that wants its own passes krdma_params.
 *
 * Context: any.
 */
void krdma_config(size_t max_buf_size)
{
	if (max_buf_size > KRDMA_WIRE_MSG_MAX) {
		pr_warn("longest message of %zu bytes refused: more than 1 GiB\n",
			max_buf_size);
		return;
	}
	WRITE_ONCE(krdma_max_msg, max_buf_size ?: KRDMA_SIMPLE_MAX_MSG);
}
EXPORT_SYMBOL_NS_GPL(krdma_config, KRDMA_NS);

/* The peer may not be up yet, or just have no time. */
static bool krdma_simple_may_retry(int error)
{
	return error == -ECONNREFUSED || error == -ETIMEDOUT ||
	       error == -EHOSTUNREACH || error == -ECONNRESET ||
	       error == -ECONNABORTED || error == -EBUSY;
}

static int krdma_simple_dial(const char *host, const char *port, u32 flags,
			     struct krdma_cb **conn_cb)
{
	const struct krdma_params params = {
		.size = sizeof(params),
		.flags = flags,
	};
	struct sockaddr_storage dst;
	int attempt = 0, ret;

	ret = krdma_parse_addr(NULL, host, port, &dst);
	if (ret)
		return ret;
	for (;;) {
		ret = krdma_connect_params((struct sockaddr *)&dst, &params,
					   conn_cb);
		if (!krdma_simple_may_retry(ret) ||
		    ++attempt == KRDMA_SIMPLE_ATTEMPTS)
			return ret;
		if (krdma_pause(KRDMA_SIMPLE_PAUSE_MS))
			return -EINTR;
	}
}

static int krdma_simple_listen(const char *host, const char *port, u32 flags,
			       struct krdma_cb **listen_cb)
{
	const struct krdma_params params = {
		.size = sizeof(params),
		.flags = flags,
	};
	struct sockaddr_storage src;
	int ret;

	ret = krdma_parse_addr(NULL, host, port, &src);
	if (ret)
		return ret;
	return krdma_listen_params((struct sockaddr *)&src, &params, listen_cb);
}

/**
 * krdma_connect - connect to a listener, for messages
 * @host: IPv4 or IPv6 address as text
 * @port: decimal
 * @conn_cb: result, for krdma_release_cb(); unchanged on error
 *
 * Tries three times, a second apart, while nobody listens or answers there.
 *
 * Return: 0 or an errno of krdma_connect_cb().
 */
int krdma_connect(const char *host, const char *port, struct krdma_cb **conn_cb)
{
	return krdma_simple_dial(host, port, 0, conn_cb);
}
EXPORT_SYMBOL_NS_GPL(krdma_connect, KRDMA_NS);

/**
 * krdma_listen - listen for connections that exchange messages
 * @host: local address as text, NULL, "" or "0.0.0.0": all
 * @port: decimal
 * @listen_cb: result, for krdma_accept() and krdma_release_cb()
 *
 * Return: 0 or an errno of krdma_listen_params().
 */
int krdma_listen(const char *host, const char *port, struct krdma_cb **listen_cb)
{
	return krdma_simple_listen(host, port, 0, listen_cb);
}
EXPORT_SYMBOL_NS_GPL(krdma_listen, KRDMA_NS);

/**
 * krdma_accept - wait for a connection
 * @listen_cb: from krdma_listen()
 * @accept_cb: result, for krdma_release_cb()
 *
 * Return: 0 or an errno of krdma_accept_timeout(); there is no time limit.
 */
int krdma_accept(struct krdma_cb *listen_cb, struct krdma_cb **accept_cb)
{
	return krdma_accept_timeout(listen_cb, 0, accept_cb);
}
EXPORT_SYMBOL_NS_GPL(krdma_accept, KRDMA_NS);

/**
 * krdma_send - send a message
 * @cb: connection
 * @buffer: what to send
 * @length: bytes
 *
 * Return: @length, or a negative errno of krdma_send_timeout(); the time limit
 * is 30 s.
 */
int krdma_send(struct krdma_cb *cb, const char *buffer, size_t length)
{
	return krdma_send_timeout(cb, buffer, length, 0) ?: length;
}
EXPORT_SYMBOL_NS_GPL(krdma_send, KRDMA_NS);

/**
 * krdma_receive - receive a message
 * @cb: connection
 * @buffer: as large as krdma_config() said when @cb (or its listener) was
 *	made: 4 MiB by default
 *
 * Prefer krdma_receive_len(), which is told how large the buffer is.
 *
 * Return: the message's length, or a negative errno of krdma_receive_len();
 * there is no time limit.
 */
int krdma_receive(struct krdma_cb *cb, char *buffer)
{
	return krdma_receive_len(cb, buffer, krdma_conn(cb)->legacy_max, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_receive, KRDMA_NS);

/**
 * krdma_rw_init_client - connect, and show buffers to each other
 * @host: as for krdma_connect()
 * @port: likewise
 * @cbp: result, for krdma_read(), krdma_write() and krdma_release_cb()
 *
 * Return: 0 or an errno of krdma_connect_cb().
 */
int krdma_rw_init_client(const char *host, const char *port,
			 struct krdma_cb **cbp)
{
	return krdma_simple_dial(host, port, KRDMA_RW, cbp);
}
EXPORT_SYMBOL_NS_GPL(krdma_rw_init_client, KRDMA_NS);

/**
 * krdma_rw_init_server - take one connection, and show buffers to each other
 * @host: as for krdma_listen()
 * @port: likewise
 * @cbp: result, for krdma_read(), krdma_write() and krdma_release_cb()
 *
 * Waits without a time limit. The listener is gone on return.
 *
 * Return: 0 or an errno of krdma_listen_params() or krdma_accept_timeout().
 */
int krdma_rw_init_server(const char *host, const char *port,
			 struct krdma_cb **cbp)
{
	struct krdma_cb *listener;
	int ret;

	ret = krdma_simple_listen(host, port, KRDMA_RW, &listener);
	if (ret)
		return ret;
	ret = krdma_accept(listener, cbp);
	krdma_release_cb(listener);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_rw_init_server, KRDMA_NS);

/**
 * krdma_read - read the beginning of the peer's shown buffer
 * @cb: from krdma_rw_init_client() or krdma_rw_init_server()
 * @buffer: where to
 * @length: bytes
 *
 * Return: 0 or an errno of krdma_read_at(); the time limit is 30 s.
 */
int krdma_read(struct krdma_cb *cb, char *buffer, size_t length)
{
	return krdma_read_at(cb, buffer, length, 0, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_read, KRDMA_NS);

/**
 * krdma_write - write the beginning of the peer's shown buffer
 * @cb: from krdma_rw_init_client() or krdma_rw_init_server()
 * @buffer: what to write
 * @length: bytes
 *
 * Return: 0 or an errno of krdma_write_at(); the time limit is 30 s.
 */
int krdma_write(struct krdma_cb *cb, const char *buffer, size_t length)
{
	return krdma_write_at(cb, buffer, length, 0, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_write, KRDMA_NS);
