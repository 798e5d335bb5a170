// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that are source compatible with those of snake0/krdma: they take
 * addresses as text, and no parameters. Calls that depend on krdma_config() are
 * inline functions in krdma_simple.h, which pass the calling module's value.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/kernel.h>

#include <krdma_simple.h>

#include "cm.h"

/* Connect as snake0/krdma does: three attempts, a second apart. */
#define KRDMA_SIMPLE_ATTEMPTS 3
#define KRDMA_SIMPLE_PAUSE_MS 1000

/**
 * krdma_simple_size - check the argument of krdma_config()
 * @size: length of the longest message in bytes
 * @otherwise: result if @size is too large
 *
 * Context: any.
 * Return: @size, which may be 0, or @otherwise.
 */
u32 krdma_simple_size(size_t size, u32 otherwise)
{
	if (size <= KRDMA_WIRE_MSG_MAX)
		return size;
	pr_warn("longest message of %zu bytes refused: more than 1 GiB\n", size);
	return otherwise;
}
EXPORT_SYMBOL_NS_GPL(krdma_simple_size, KRDMA_NS);

/* Check whether to try again: the peer may not be ready yet, or may be busy. */
static bool krdma_simple_may_retry(int error)
{
	return error == -ECONNREFUSED || error == -ETIMEDOUT ||
	       error == -EHOSTUNREACH || error == -ECONNRESET ||
	       error == -ECONNABORTED || error == -EBUSY;
}

/**
 * krdma_simple_connect - implement krdma_connect() and krdma_rw_init_client()
 * @max_msg: &krdma_params.max_msg
 * @host: IPv4 or IPv6 address as text
 * @port: port number as decimal text
 * @flags: 0 or KRDMA_RW
 * @conn_cb: result, unchanged on error
 *
 * Context: process, may sleep.
 * Return: 0 or an errno of krdma_connect_cb().
 */
int krdma_simple_connect(u32 max_msg, const char *host, const char *port,
			 u32 flags, struct krdma_cb **conn_cb)
{
	const struct krdma_params params = {
		.size = sizeof(params),
		.flags = flags,
		.max_msg = max_msg,
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
EXPORT_SYMBOL_NS_GPL(krdma_simple_connect, KRDMA_NS);

/**
 * krdma_simple_listen - implement krdma_listen()
 * @max_msg: &krdma_params.max_msg
 * @host: local address as text; NULL, "" or "0.0.0.0" mean all addresses
 * @port: port number as decimal text
 * @flags: 0 or KRDMA_RW
 * @listen_cb: result, unchanged on error
 *
 * Context: process, may sleep.
 * Return: 0 or an errno of krdma_listen_params().
 */
int krdma_simple_listen(u32 max_msg, const char *host, const char *port,
			u32 flags, struct krdma_cb **listen_cb)
{
	const struct krdma_params params = {
		.size = sizeof(params),
		.flags = flags,
		.max_msg = max_msg,
	};
	struct sockaddr_storage src;
	int ret;

	ret = krdma_parse_addr(NULL, host, port, &src);
	if (ret)
		return ret;
	return krdma_listen_params((struct sockaddr *)&src, &params, listen_cb);
}
EXPORT_SYMBOL_NS_GPL(krdma_simple_listen, KRDMA_NS);

/**
 * krdma_simple_accept_one - implement krdma_rw_init_server()
 * @max_msg: &krdma_params.max_msg
 * @host: as for krdma_simple_listen()
 * @port: port number as decimal text
 * @cbp: result, unchanged on error
 *
 * Context: process, may sleep.
 * Return: 0 or an errno of krdma_listen_params() or krdma_accept_timeout().
 */
int krdma_simple_accept_one(u32 max_msg, const char *host, const char *port,
			    struct krdma_cb **cbp)
{
	struct krdma_cb *listener;
	int ret;

	ret = krdma_simple_listen(max_msg, host, port, KRDMA_RW, &listener);
	if (ret)
		return ret;
	ret = krdma_accept(listener, cbp);
	krdma_release_cb(listener);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_simple_accept_one, KRDMA_NS);

/**
 * krdma_simple_receive - implement krdma_receive()
 * @max_msg: size of @buffer in bytes; 0 means KRDMA_MAX_MSG_DEFAULT
 * @cb: connection
 * @buffer: result
 *
 * Context: process, may sleep.
 * Return: as krdma_receive_len(); there is no time limit.
 */
int krdma_simple_receive(u32 max_msg, struct krdma_cb *cb, char *buffer)
{
	return krdma_receive_len(cb, buffer, max_msg ?: KRDMA_MAX_MSG_DEFAULT,
				 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_simple_receive, KRDMA_NS);

/**
 * krdma_accept - wait for a connection
 * @listen_cb: listener from krdma_listen()
 * @accept_cb: result: connection for krdma_release_cb()
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
 * @buffer: data to send
 * @length: length in bytes
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
 * krdma_read - read the beginning of the peer's exported buffer
 * @cb: connection from krdma_rw_init_client() or krdma_rw_init_server()
 * @buffer: target
 * @length: length in bytes
 *
 * Return: 0 or an errno of krdma_read_at(); the time limit is 30 s.
 */
int krdma_read(struct krdma_cb *cb, char *buffer, size_t length)
{
	return krdma_read_at(cb, buffer, length, 0, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_read, KRDMA_NS);

/**
 * krdma_write - write the beginning of the peer's exported buffer
 * @cb: connection from krdma_rw_init_client() or krdma_rw_init_server()
 * @buffer: data to write
 * @length: length in bytes
 *
 * Return: 0 or an errno of krdma_write_at(); the time limit is 30 s.
 */
int krdma_write(struct krdma_cb *cb, const char *buffer, size_t length)
{
	return krdma_write_at(cb, buffer, length, 0, 0);
}
EXPORT_SYMBOL_NS_GPL(krdma_write, KRDMA_NS);
