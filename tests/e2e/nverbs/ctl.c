// SPDX-License-Identifier: GPL-2.0
/* The control connection: the client makes calls, the server executes them. */
#include <linux/delay.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/sock.h>

#include "priv.h"

#define NV_SILENCE	(300 * HZ)
#define NV_HELLO_TRIES	200

static int nv_read(struct socket *sock, void *data, size_t len)
{
	struct kvec vec = { .iov_base = data, .iov_len = len };
	struct msghdr msg = {};
	int ret = kernel_recvmsg(sock, &msg, &vec, 1, len, MSG_WAITALL);

	if (ret < 0)
		return ret;
	return ret == len ? 0 : -ECONNRESET;
}

static int nv_write(struct socket *sock, void *data, size_t len)
{
	struct kvec vec = { .iov_base = data, .iov_len = len };
	struct msghdr msg = {};
	int ret = kernel_sendmsg(sock, &msg, &vec, 1, len);

	if (ret < 0)
		return ret;
	return ret == len ? 0 : -EPIPE;
}

/* Execute a call on this side. */
int nv_call_me(struct nv_test *t, const struct nv_call *call)
{
	memset(&t->reply, 0, sizeof(t->reply));
	nv_exec(&t->side, call, &t->reply);
	return t->reply.ret;
}

/* Let the server execute a call. */
int nv_call_peer(struct nv_test *t, const struct nv_call *call)
{
	struct nv_call copy = *call;
	int ret;

	memset(&t->reply, 0, sizeof(t->reply));
	ret = nv_write(t->sock, &copy, sizeof(copy)) ?:
	      nv_read(t->sock, &t->reply, sizeof(t->reply));
	return ret ?: t->reply.ret;
}

/* Open a connection, and register the regions of both sides. */
bool nv_open(struct nv_test *t, u32 conn, const struct nv_spec *spec)
{
	int ret;

	ret = nv_peer(t, .op = NV_OPEN, .conn = conn, .spec = *spec) ?:
	      nv_dial(&t->side, conn, spec, &t->dst);
	if (ret)
		return nv_bad(t, "connecting returns %d", ret);
	ret = nv_me(t, .op = NV_READY, .conn = conn);
	if (ret)
		return nv_bad(t, "registering returns %d", ret);
	ret = nv_peer(t, .op = NV_READY, .conn = conn);
	if (ret)
		return nv_bad(t, "registering at the peer returns %d", ret);
	t->addr[conn] = t->reply.addr[0];
	memcpy(t->rkey[conn], t->reply.rkey, sizeof(t->rkey[conn]));
	return true;
}

void nv_close(struct nv_test *t, u32 conn)
{
	nv_me(t, .op = NV_CLOSE, .conn = conn);
	nv_peer(t, .op = NV_CLOSE, .conn = conn);
}

/* Return the key of the server with which a request names the region. */
u32 nv_rkey(const struct nv_test *t, enum nv_key key)
{
	u32 all = t->rkey[0][NV_ALL];

	switch (key) {
	case NV_OLD:
		return (all & ~0xff) | ((all + 0x55) & 0xff);
	case NV_UNKNOWN:
		return all ^ 0x5a5a5a00;
	case NV_FOREIGN:
		return t->rkey[1][NV_ALL];
	case NV_NONE:
		return 0;
	default:
		return t->rkey[0][key];
	}
}

static void nv_serve_calls(struct nv_side *side, struct socket *sock)
{
	struct nv_reply *reply = kmalloc(sizeof(*reply), GFP_KERNEL);
	struct nv_call call = { .op = NV_OPEN };

	while (reply && call.op != NV_BYE &&
	       !nv_read(sock, &call, sizeof(call))) {
		memset(reply, 0, sizeof(*reply));
		nv_exec(side, &call, reply);
		if (nv_write(sock, reply, sizeof(*reply)))
			break;
	}
	kfree(reply);
}

static struct socket *nv_accept(struct net *net, u16 port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	struct socket *listen, *sock = NULL;
	int ret;

	ret = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &listen);
	if (ret)
		return ERR_PTR(ret);
	sock_set_reuseaddr(listen->sk);
	listen->sk->sk_rcvtimeo = NV_SILENCE;
	ret = kernel_bind(listen, (void *)&addr, sizeof(addr)) ?:
	      kernel_listen(listen, 1) ?:
	      kernel_accept(listen, &sock, 0);
	sock_release(listen);
	return ret ? ERR_PTR(ret) : sock;
}

static void nv_sock_setup(struct socket *sock)
{
	sock->sk->sk_rcvtimeo = NV_SILENCE;
	tcp_sock_set_nodelay(sock->sk);
}

/* Serve one client on a TCP port, and on the next port of rdma_cm. */
int nv_serve(u16 port)
{
	struct nv_side side = { .net = current->nsproxy->net_ns };
	struct socket *sock;
	int ret;

	ret = nv_listen(&side, port + 1);
	if (!ret) {
		sock = nv_accept(side.net, port);
		ret = PTR_ERR_OR_ZERO(sock);
	}
	if (!ret) {
		nv_sock_setup(sock);
		nv_serve_calls(&side, sock);
		sock_release(sock);
	}
	nv_side_end(&side);
	return ret;
}

/* Connect to the server, which may start at the same time. */
int nv_hello(struct nv_test *t)
{
	int ret = -EINVAL;
	int i;

	for (i = 0; i < NV_HELLO_TRIES; i++) {
		ret = sock_create_kern(t->side.net, AF_INET, SOCK_STREAM,
				       IPPROTO_TCP, &t->sock);
		if (ret)
			return ret;
		ret = kernel_connect(t->sock, (void *)&t->dst, sizeof(t->dst),
				     0);
		if (!ret)
			break;
		sock_release(t->sock);
		if (msleep_interruptible(50))
			return -EINTR;
	}
	if (!ret) {
		nv_sock_setup(t->sock);
		t->dst.sin_port = htons(ntohs(t->dst.sin_port) + 1);
	}
	return ret;
}
