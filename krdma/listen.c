// SPDX-License-Identifier: GPL-2.0
/* Listeners: made here, taken down by conn.c; what they hear comes in in cm.c. */
#include <linux/export.h>

#include "priv.h"

static int krdma_cm_listen(struct krdma_conn *conn, const struct sockaddr *src)
{
	int ret;

	lockdep_assert_held(&conn->setup);
	ret = krdma_cm_new_id(conn);
	if (ret)
		return ret;
	if (conn->p.tos)
		rdma_set_service_type(conn->cb.cm_id, conn->p.tos);
	ret = rdma_bind_addr(conn->cb.cm_id, (struct sockaddr *)src);
	if (ret)
		return ret;
	/* Before the first request can come in. */
	if (!krdma_conn_move(conn, KRDMA_LISTENING))
		return krdma_last_error(&conn->cb);
	ret = rdma_listen(conn->cb.cm_id, conn->p.backlog);
	if (!ret)
		krdma_cm_keep_addrs(conn, conn->cb.cm_id);
	return ret;
}

/**
 * krdma_listen_params - start to take connect requests
 * @src: local address, port 0: one is chosen, see krdma_local_addr(). The
 *	address 0.0.0.0 or :: means all RDMA devices, later ones too
 * @params: for the listener and its connections, NULL: defaults
 * @listen_cb: result, unchanged on error
 *
 * Return: 0; -EINVAL; -EADDRINUSE; -EADDRNOTAVAIL or -ENODEV no RDMA device
 * has that address; -ENOMEM.
 */
int krdma_listen_params(const struct sockaddr *src,
			const struct krdma_params *params,
			struct krdma_cb **listen_cb)
{
	struct krdma_conn *conn;
	int ret;

	if (!krdma_cm_family_ok(src))
		return -EINVAL;
	conn = krdma_conn_alloc(KRDMA_LISTEN_CONN, params);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	conn->async = conn->ops && conn->ops->request;
	mutex_lock(&conn->setup);
	ret = krdma_cm_listen(conn, src);
	mutex_unlock(&conn->setup);
	if (ret) {
		krdma_release_cb(&conn->cb);
		return ret;
	}
	*listen_cb = &conn->cb;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_listen_params, KRDMA_NS);
