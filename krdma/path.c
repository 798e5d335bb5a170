// SPDX-License-Identifier: GPL-2.0
/*
 * The path of a connection: MTU, GID type and traffic class. krdma compares
 * them with those of the peer when the connection is established.
 *
 * The client chooses the path MTU by its own interface, and the CM sets it in
 * both QPs. If the peer's interface has a smaller MTU, the peer cannot send
 * full packets: short messages arrive, long ones are repeated until the
 * connection ends. So each end describes its interface in its hello, and both
 * ends log a mismatch. The passive side can compare even without a hello (raw
 * mode), because the request contains the path MTU. A krdma_reconnect uses the
 * smaller MTU for its next attempt.
 *
 * The interface's MTU is that of the netdev, as the CM calculates it for RoCE.
 * ib_query_port() would take the RTNL, which the removal of a device may hold
 * while it waits for connections. On InfiniBand the subnet manager knows the
 * MTUs of a path, and on iWARP TCP does. So the hello describes the interface
 * only on RoCE.
 *
 * CM events write krdma_conn.cm.path, under krdma_conn.lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/netdevice.h>
#include <linux/ratelimit.h>
#include <linux/rcupdate.h>
#include <rdma/ib_addr.h>

#include "conn.h"

/*
 * Limits of the messages in the log, so that a peer that reconnects again and
 * again does not fill the log.
 */
#define KRDMA_PATH_LOG_INTERVAL (60 * HZ)
#define KRDMA_PATH_LOG_BURST 10

static const char * const krdma_gid_names[] = {
	[KRDMA_GID_UNKNOWN]	= "-",
	[KRDMA_GID_IB]		= "IB",
	[KRDMA_GID_ROCE_V1]	= "RoCEv1",
	[KRDMA_GID_ROCE_V2]	= "RoCEv2",
};

/**
 * krdma_gid_name - return the name of a GID type
 * @type: &enum krdma_gid_type
 *
 * Context: any.
 * Return: name of the type.
 */
const char *krdma_gid_name(u8 type)
{
	return krdma_gid_names[min_t(u8, type, KRDMA_GID_ROCE_V2)];
}

static bool krdma_path_is_roce(const struct rdma_cm_id *id)
{
	return rdma_protocol_roce(id->device, id->port_num);
}

static enum ib_mtu krdma_path_netdev_mtu(const struct rdma_dev_addr *addr)
{
	const struct net_device *ndev;
	enum ib_mtu mtu = 0;

	/* The device of KUnit tests is not bound to an interface. */
	if (!addr->net)
		return mtu;
	rcu_read_lock();
	ndev = dev_get_by_index_rcu(addr->net, addr->bound_dev_if);
	if (ndev)
		mtu = iboe_get_mtu(READ_ONCE(ndev->mtu));
	rcu_read_unlock();
	return mtu;
}

/* Convert an MTU to bytes. The result is 0 if the MTU is not known. */
static u16 krdma_path_bytes(enum ib_mtu mtu)
{
	return max(ib_mtu_enum_to_int(mtu), 0);
}

/**
 * krdma_path_hello - describe the local interface to the peer
 * @conn: connection with a cm_id that has a device
 * @hello: result: on RoCE the MTU and the GID type are set, elsewhere nothing
 *
 * Context: process.
 */
void krdma_path_hello(const struct krdma_conn *conn, struct krdma_hello *hello)
{
	const struct rdma_cm_id *id = conn->cb.cm_id;
	const struct rdma_dev_addr *addr = &id->route.addr.dev_addr;

	if (!krdma_path_is_roce(id))
		return;
	hello->mtu = krdma_path_netdev_mtu(addr);
	if (addr->sgid_attr)
		hello->gid = 1 + addr->sgid_attr->gid_type;
}

/**
 * krdma_path_limit - apply &krdma_params.path_mtu to the path MTU
 * @conn: client whose route is resolved
 *
 * Context: process, @conn->setup held, before rdma_connect().
 */
void krdma_path_limit(struct krdma_conn *conn)
{
	struct sa_path_rec *rec = conn->cb.cm_id->route.path_rec;

	lockdep_assert_held(&conn->setup);
	if (rec && conn->p.path_mtu)
		rec->mtu = min_t(u8, rec->mtu,
				 ib_mtu_int_to_enum(conn->p.path_mtu));
}

static void krdma_path_read(const struct krdma_conn *conn,
			    const struct rdma_cm_id *id,
			    struct krdma_path *path)
{
	const struct rdma_dev_addr *addr = &id->route.addr.dev_addr;
	const struct sa_path_rec *rec = id->route.path_rec;

	*path = (struct krdma_path){};
	if (rdma_protocol_iwarp(id->device, id->port_num) || !rec)
		return;
	path->mtu = krdma_path_bytes(rec->mtu);
	path->tclass = rec->traffic_class;
	if (addr->sgid_attr)
		path->gid_type = 1 + addr->sgid_attr->gid_type;
	if (!krdma_path_is_roce(id))
		return;
	path->local_mtu = krdma_path_bytes(krdma_path_netdev_mtu(addr));
	/*
	 * The peer's MTU is 0 (not known) in raw mode, and if the peer's hello
	 * does not contain it.
	 */
	path->peer_mtu = krdma_path_bytes(conn->hello.mtu);
	path->peer_gid_type = conn->hello.gid;
	/* The peer's interface supports the MTU that the peer has requested. */
	if (!path->peer_mtu && conn->cb.role == KRDMA_ACCEPT_CONN)
		path->peer_mtu = path->mtu;
}

static bool krdma_path_gids_differ(const struct krdma_path *path)
{
	return path->gid_type && path->peer_gid_type &&
	       path->gid_type != path->peer_gid_type;
}

/*
 * Check whether the passive side wants another traffic class than the request
 * has. Packets of both sides have the class of the request.
 */
static bool krdma_path_tos_differs(const struct krdma_conn *conn,
				   const struct krdma_path *path)
{
	return path->mtu && conn->cb.role == KRDMA_ACCEPT_CONN &&
	       conn->p.tos && conn->p.tos != path->tclass;
}

static void krdma_path_log(const struct krdma_conn *conn,
			   const struct krdma_path *path,
			   const struct sockaddr_storage *peer)
{
	if (krdma_path_fit(path) == KRDMA_PATH_TOO_LONG)
		pr_warn("%pISpc: path MTU %u: the MTU allows %u here and %u at the peer, long packets are lost\n",
			peer, path->mtu, path->local_mtu, path->peer_mtu);
	else if (krdma_path_fit(path) == KRDMA_PATH_LOWERED)
		pr_warn("%pISpc: path MTU %u: the MTU allows %u here and %u at the peer, the smaller one is used\n",
			peer, path->mtu, path->local_mtu, path->peer_mtu);
	if (krdma_path_gids_differ(path))
		pr_warn("%pISpc: GID type is %s here and %s at the peer\n",
			peer, krdma_gid_name(path->gid_type),
			krdma_gid_name(path->peer_gid_type));
	if (krdma_path_tos_differs(conn, path))
		pr_warn("%pISpc: traffic class is %u, as the peer chose, not %u\n",
			peer, path->tclass, conn->p.tos);
}

/**
 * krdma_path_keep - store the path of a connection, and log a mismatch
 * @conn: client that has the answer, or passive side that has the request
 * @id: cm_id of @conn
 *
 * Context: a CM event of @id.
 * Return: 0; -EMSGSIZE: long packets would be lost, and
 * &krdma_conn.cm.path_strict is set.
 */
int krdma_path_keep(struct krdma_conn *conn, const struct rdma_cm_id *id)
{
	static DEFINE_RATELIMIT_STATE(limit, KRDMA_PATH_LOG_INTERVAL,
				      KRDMA_PATH_LOG_BURST);
	const struct sockaddr_storage *peer = &id->route.addr.dst_addr;
	struct krdma_path path;
	unsigned long flags;

	krdma_path_read(conn, id, &path);
	spin_lock_irqsave(&conn->lock, flags);
	conn->cm.path = path;
	spin_unlock_irqrestore(&conn->lock, flags);
	if (krdma_path_fit(&path) == KRDMA_PATH_TOO_LONG &&
	    conn->cm.path_strict)
		return -EMSGSIZE;
	if ((krdma_path_fit(&path) || krdma_path_gids_differ(&path) ||
	     krdma_path_tos_differs(conn, &path)) && __ratelimit(&limit))
		krdma_path_log(conn, &path, peer);
	return 0;
}
