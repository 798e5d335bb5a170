// SPDX-License-Identifier: GPL-2.0
/*
 * Capabilities of a connection. They come from the device's attributes, the
 * limits that the driver granted for the QP, the state of the QP, and the
 * peer's hello.
 *
 * Also in this file: functions that return the addresses, the peer's private
 * data and the peer's reject, which cm.c has stored.
 */
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "msg.h"
#include "quirks.h"
#include "registration.h"

static void krdma_query_device(const struct krdma_conn *conn,
			       struct krdma_caps *caps)
{
	const struct rdma_cm_id *id = conn->cb.cm_id;
	const struct ib_device_attr *attrs = &id->device->attrs;
	bool extended = attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;
	bool iwarp = rdma_protocol_iwarp(id->device, id->port_num);
	struct device *dma = id->device->dma_device;

	if (iwarp)
		caps->transport = KRDMA_TRANSPORT_IWARP;
	else if (rdma_protocol_roce(id->device, id->port_num))
		caps->transport = KRDMA_TRANSPORT_ROCE;
	else
		caps->transport = KRDMA_TRANSPORT_IB;
	strscpy(caps->device, dev_name(&id->device->dev), sizeof(caps->device));
	caps->mr_pages = krdma_region_mr_pages(id->device);
	caps->mr_bytes = (u64)caps->mr_pages << PAGE_SHIFT;
	caps->atomics = attrs->atomic_cap != IB_ATOMIC_NONE;
	caps->atomics_global = attrs->atomic_cap == IB_ATOMIC_GLOB;
	/*
	 * iWARP has no immediate data (RFC 5040). RFC 7306 adds it, but no
	 * attribute shows whether a device supports that RFC.
	 */
	caps->write_imm = !iwarp;
	caps->send_inv = extended;
	/*
	 * Only iWARP has READ with invalidate (RFC 5040 5.2). rxe also sets
	 * IB_DEVICE_MEM_MGT_EXTENSIONS, but cannot invalidate by a READ.
	 */
	caps->read_inv = extended && iwarp;
	caps->read_needs_region = iwarp;
	caps->virt_dma = ib_uses_virt_dma(id->device);
	caps->coherent = krdma_dma_is_coherent(id->device);
	/* Check whether writes of the adapter may overtake each other. */
	caps->relaxed_ordering = dma && dev_is_pci(dma) &&
				 pcie_relaxed_ordering_enabled(to_pci_dev(dma));
	caps->comp_vectors = krdma_cq_vectors(id->device);
	caps->comp_vector = conn->hw.cq->cq->comp_vector + 1;
	caps->numa_node = conn->hw.node;
}

static void krdma_query_peer(struct krdma_conn *conn, struct krdma_caps *caps)
{
	unsigned long flags;

	caps->one_sided = conn->p.security <= KRDMA_SECURITY_AUTH;
	if (krdma_conn_is_raw(conn))
		return;
	caps->max_receive = conn->p.max_msg;
	caps->security = conn->p.security;
	if (conn->auth)
		caps->key_id = krdma_auth_key_id(conn->auth);
	/* A client has the peer's hello only from KRDMA_ESTABLISHED on. */
	if (!krdma_conn_was_established(conn) &&
	    conn->cb.role == KRDMA_CLIENT_CONN)
		return;
	spin_lock_irqsave(&conn->lock, flags);
	caps->max_part = conn->msg ? conn->limits.part_max : 0;
	spin_unlock_irqrestore(&conn->lock, flags);
	caps->max_send = conn->hello.max_msg;
	caps->peer_version = conn->hello.version;
	caps->peer_features = conn->hello.features;
	caps->keepalive = krdma_alive_is_wanted(conn);
	caps->peer_takes_imm = krdma_peer_takes_imm(conn);
	caps->peer_takes_inv = krdma_peer_takes_inv(conn);
}

/*
 * Smallest valid krdma_caps.size: the size of the struct in the first version
 * of krdma that allowed the struct to grow.
 */
#define KRDMA_CAPS_SIZE_MIN offsetofend(struct krdma_caps, traffic_class)

static int krdma_query_locked(struct krdma_conn *conn, struct krdma_caps *caps)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr = {};
	struct krdma_path path;
	unsigned long flags;
	int ret;

	lockdep_assert_held(&conn->setup);
	krdma_noio_check(conn);
	if (!conn->cb.qp)
		return krdma_last_error(&conn->cb) ?: -ENOTCONN;
	spin_lock_irqsave(&conn->lock, flags);
	path = conn->cm.path;
	spin_unlock_irqrestore(&conn->lock, flags);
	*caps = (struct krdma_caps){
		.size = sizeof(*caps),
		.path_mtu = path.mtu,
		.local_mtu = path.local_mtu,
		.peer_mtu = path.peer_mtu,
		.gid_type = path.gid_type,
		.peer_gid_type = path.peer_gid_type,
		.traffic_class = path.tclass,
		.max_inline = conn->limits.max_inline,
		.max_send_sge = conn->limits.max_send_sge,
		.max_read_sge = conn->limits.max_read_sge,
		.send_depth = conn->limits.send_depth,
		.recv_depth = conn->limits.recv_depth,
	};
	krdma_query_device(conn, caps);
	krdma_query_peer(conn, caps);
	ret = ib_query_qp(conn->cb.qp, &attr,
			  IB_QP_MAX_QP_RD_ATOMIC | IB_QP_MAX_DEST_RD_ATOMIC,
			  &init);
	if (ret)
		return ret;
	krdma_quirk_swap_depths(conn, &attr);
	caps->initiator_depth = attr.max_rd_atomic;
	caps->responder_resources = attr.max_dest_rd_atomic;
	return 0;
}

/**
 * krdma_query - return the capabilities of a connection
 * @cb: connection with a QP. In message mode the values that depend on the peer
 *	are 0 until the peer's hello is known
 * @caps: result, unchanged on error. The caller sets its size member
 *
 * If another task is in a connect step of @cb, this waits for that step.
 *
 * Return: 0; -EINVAL: &krdma_caps.size is not set; -ENOTCONN: there is no QP
 * yet; -EINTR: the task was killed; an errno of the driver; or the reason for
 * which the connection ended.
 */
int krdma_query(struct krdma_cb *cb, struct krdma_caps *caps)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_caps found;
	struct krdma_noio noio;
	int ret;

	ret = mutex_lock_killable(&conn->setup);
	if (ret)
		return ret;
	noio = krdma_noio_enter(&conn->p);
	ret = krdma_query_locked(conn, &found);
	krdma_noio_leave(noio);
	mutex_unlock(&conn->setup);
	return ret ?: krdma_struct_out(caps, KRDMA_CAPS_SIZE_MIN, &found);
}
EXPORT_SYMBOL_NS_GPL(krdma_query, KRDMA_NS);

/**
 * krdma_peer_private_data - return private data of the peer's REQ or REP
 * @cb: connection from a connect request, or client connection that was
 *	established
 * @buf: result
 * @size: size of @buf in bytes
 *
 * In raw mode InfiniBand and RoCE pad the data with zeroes to the CM's full
 * size. Only the users know the real length.
 *
 * Context: any.
 * Return: length of the data in bytes; at most @size bytes of it are copied.
 */
int krdma_peer_private_data(const struct krdma_cb *cb, void *buf, u8 size)
{
	const struct krdma_conn *conn = krdma_conn(cb);

	memcpy(buf, conn->cm.peer_data, min(size, conn->cm.peer_data_len));
	return conn->cm.peer_data_len;
}
EXPORT_SYMBOL_NS_GPL(krdma_peer_private_data, KRDMA_NS);

static int krdma_copy_addr(const struct sockaddr_storage *from,
			   struct sockaddr_storage *to)
{
	if (!from->ss_family)
		return -ENOTCONN;
	*to = *from;
	return 0;
}

/**
 * krdma_local_addr - return address and port of this side
 * @cb: listener, connection from a connect request, or client connection that
 *	was established
 * @addr: result
 *
 * Context: any.
 * Return: 0, or -ENOTCONN if the address is not known yet.
 */
int krdma_local_addr(const struct krdma_cb *cb, struct sockaddr_storage *addr)
{
	return krdma_copy_addr(&krdma_conn(cb)->cm.local, addr);
}
EXPORT_SYMBOL_NS_GPL(krdma_local_addr, KRDMA_NS);

/**
 * krdma_peer_addr - return address and port of the other side
 * @cb: connection from a connect request, or client connection that was
 *	established
 * @addr: result
 *
 * Context: any.
 * Return: 0, or -ENOTCONN if the address is not known yet.
 */
int krdma_peer_addr(const struct krdma_cb *cb, struct sockaddr_storage *addr)
{
	return krdma_copy_addr(&krdma_conn(cb)->cm.peer, addr);
}
EXPORT_SYMBOL_NS_GPL(krdma_peer_addr, KRDMA_NS);

/**
 * krdma_get_reject - return the peer's reject of a connect request
 * @cb: connection whose krdma_connect_cb() failed
 * @rej: result
 *
 * Context: any.
 * Return: true if the peer, or its CM, rejected the request.
 */
bool krdma_get_reject(const struct krdma_cb *cb, struct krdma_reject *rej)
{
	const struct krdma_conn *conn = krdma_conn(cb);

	/* Pairs with krdma_cm_rejected(). */
	if (!smp_load_acquire(&conn->cm.rejected))
		return false;
	*rej = conn->cm.rej;
	return true;
}
EXPORT_SYMBOL_NS_GPL(krdma_get_reject, KRDMA_NS);
