/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma_simple - the calls of snake0/krdma, source compatible
 *
 * These calls take addresses as text, and no struct krdma_params. snake0/krdma
 * also has krdma_release_cb(), which krdma.h declares. Instead of
 * krdma_connect(), krdma_listen() and krdma_receive(), new code uses
 * krdma_connect_params(), krdma_listen_params() and krdma_receive_len().
 *
 * krdma_receive() has no argument for the size of its buffer. Each calling
 * module has one size for all its buffers. krdma_config() sets this size, and
 * the module's variable krdma_simple_max stores it.
 */
#ifndef KRDMA_SIMPLE_H
#define KRDMA_SIMPLE_H

#include <linux/compiler.h>

#include <krdma.h>

/*
 * Maximum message size of this module, set by krdma_config(); 0 means
 * KRDMA_MAX_MSG_DEFAULT. The variable is weak, so all files of a module share
 * it. It is not exported, so each module has its own.
 */
extern u32 krdma_simple_max;
u32 krdma_simple_max __weak;

u32 krdma_simple_size(size_t size, u32 otherwise);
int krdma_simple_connect(u32 max_msg, const char *host, const char *port,
			 u32 flags, struct krdma_cb **conn_cb);
int krdma_simple_listen(u32 max_msg, const char *host, const char *port,
			u32 flags, struct krdma_cb **listen_cb);
int krdma_simple_accept_one(u32 max_msg, const char *host, const char *port,
			    struct krdma_cb **cbp);
int krdma_simple_receive(u32 max_msg, struct krdma_cb *cb, char *buffer);

int krdma_accept(struct krdma_cb *listen_cb, struct krdma_cb **accept_cb);
int krdma_send(struct krdma_cb *cb, const char *buffer, size_t length);
int krdma_read(struct krdma_cb *cb, char *buffer, size_t length);
int krdma_write(struct krdma_cb *cb, const char *buffer, size_t length);

/**
 * krdma_config - set the maximum size of messages and receive buffers
 * @max_buf_size: bytes, 1 to 1 GiB; 0 means the default of 4 MiB. Other values
 *	have no effect except a line in the log
 *
 * Applies only to the functions of this header, called by the same module. The
 * size becomes &krdma_params.max_msg of the connections and listeners that the
 * module creates later. It is also the size of the buffers that
 * krdma_rw_init_client() and krdma_rw_init_server() export. From now on each
 * buffer passed to krdma_receive() must have this size. All code linked into
 * the kernel image counts as one module.
 *
 * Context: any.
 */
static inline void krdma_config(size_t max_buf_size)
{
	WRITE_ONCE(krdma_simple_max,
		   krdma_simple_size(max_buf_size, READ_ONCE(krdma_simple_max)));
}

/**
 * krdma_connect - connect to a listener, for messages
 * @host: IPv4 or IPv6 address as text
 * @port: port number as decimal text
 * @conn_cb: result: the connection, for krdma_release_cb(); unchanged on error
 *
 * If there is no listener or no answer, this call makes up to three attempts, a
 * second apart.
 *
 * Return: 0 or an errno of krdma_connect_cb().
 */
static inline int krdma_connect(const char *host, const char *port,
				struct krdma_cb **conn_cb)
{
	return krdma_simple_connect(READ_ONCE(krdma_simple_max), host, port, 0,
				    conn_cb);
}

/**
 * krdma_listen - listen for connections that exchange messages
 * @host: local address as text; NULL, "" or "0.0.0.0" means all
 * @port: port number as decimal text
 * @listen_cb: result: the listener, for krdma_accept() and krdma_release_cb()
 *
 * Return: 0 or an errno of krdma_listen_params().
 */
static inline int krdma_listen(const char *host, const char *port,
			       struct krdma_cb **listen_cb)
{
	return krdma_simple_listen(READ_ONCE(krdma_simple_max), host, port, 0,
				   listen_cb);
}

/**
 * krdma_receive - receive a message
 * @cb: connection
 * @buffer: buffer of the size that the calling module last set by
 *	krdma_config(), 4 MiB by default
 *
 * Prefer krdma_receive_len(), which has the size of the buffer as an argument.
 * If the message is longer than the buffer, this call returns -EMSGSIZE, and
 * the message stays queued for a call with a larger buffer. There is no time
 * limit.
 *
 * Return: the message's length, or a negative errno of krdma_receive_len().
 */
static inline int krdma_receive(struct krdma_cb *cb, char *buffer)
{
	return krdma_simple_receive(READ_ONCE(krdma_simple_max), cb, buffer);
}

/**
 * krdma_rw_init_client - connect, and exchange exported buffers
 * @host: as for krdma_connect()
 * @port: likewise
 * @cbp: result: the connection, for krdma_read(), krdma_write() and
 *	krdma_release_cb()
 *
 * Return: 0 or an errno of krdma_connect_cb().
 */
static inline int krdma_rw_init_client(const char *host, const char *port,
				       struct krdma_cb **cbp)
{
	return krdma_simple_connect(READ_ONCE(krdma_simple_max), host, port,
				    KRDMA_RW, cbp);
}

/**
 * krdma_rw_init_server - accept one connection, and exchange exported buffers
 * @host: as for krdma_listen()
 * @port: likewise
 * @cbp: result: the connection, for krdma_read(), krdma_write() and
 *	krdma_release_cb()
 *
 * Waits without a time limit. The listener is released on return.
 *
 * Return: 0 or an errno of krdma_listen_params() or krdma_accept_timeout().
 */
static inline int krdma_rw_init_server(const char *host, const char *port,
				       struct krdma_cb **cbp)
{
	return krdma_simple_accept_one(READ_ONCE(krdma_simple_max), host, port,
				       cbp);
}

#endif /* KRDMA_SIMPLE_H */
