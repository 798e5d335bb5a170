// SPDX-License-Identifier: GPL-2.0
/*
 * One-sided reads and writes of exported buffers: the buffers that two ends
 * export to each other.
 *
 * Each end of a KRDMA_RW connection has an exported region, and sends the keys
 * of the region in START. Each end also has a copy buffer for its own reads and
 * writes. The copy buffer is registered as well, because on iWARP the sink of a
 * READ needs a remotely writable key (RFC 5040 5.3). On other transports only
 * the local adapter may use the copy buffer. The peer describes its exported
 * buffer once, and every use is checked against that description.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "msg.h"
#include "registration.h"

#define KRDMA_STAGE_SIZE 65536

/**
 * krdma_rw_greet - send START with the description of an exported buffer
 * @conn: new KRDMA_RW connection
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Return: 0 or -errno. On error the caller aborts the connection.
 */
int krdma_rw_greet(struct krdma_conn *conn, unsigned long until)
{
	u32 access = KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE;
	struct krdma_msg *msg = conn->msg;
	struct krdma_region *region;
	ssize_t len;
	void *desc;
	int ret;

	/* Create the copy buffer. */
	region = krdma_region_create(conn, KRDMA_STAGE_SIZE, KRDMA_READ_SINK,
				     until);
	if (IS_ERR(region))
		return PTR_ERR(region);
	msg->copy_buf = region;
	/* Create the exported buffer. Atomics need a device that has them. */
	mutex_lock(&conn->setup);
	if (conn->cb.pd &&
	    conn->cb.pd->device->attrs.atomic_cap != IB_ATOMIC_NONE)
		access |= KRDMA_REMOTE_ATOMIC;
	mutex_unlock(&conn->setup);
	region = krdma_region_create(conn, conn->p.max_msg, access, until);
	if (IS_ERR(region))
		return PTR_ERR(region);
	msg->exported = region;
	/* Describe it to the peer. */
	len = krdma_region_export(region, 0, krdma_region_size(region), NULL,
				  0);
	if (len < 0)
		return len;
	desc = kvmalloc(len, GFP_KERNEL);
	if (!desc)
		return -ENOMEM;
	if (krdma_region_export(region, 0, krdma_region_size(region), desc,
				len) < 0)
		ret = -ENOTCONN;
	else
		ret = krdma_msg_send_start(conn, desc, len, until);
	kvfree(desc);
	return ret;
}

/**
 * krdma_rw_learn - read the exported buffer in the peer's START
 * @conn: KRDMA_RW connection that has received START of its peer
 *
 * Return: 0 or -errno. On error the caller aborts the connection.
 */
int krdma_rw_learn(struct krdma_conn *conn)
{
	struct krdma_recv *recv = conn->msg->start;
	struct krdma_remote *remote;
	int ret;

	remote = krdma_remote_import(recv->buf + sizeof(struct krdma_wire_hdr),
				     recv->len);
	ret = PTR_ERR_OR_ZERO(remote);
	if (!ret)
		conn->msg->remote = remote;
	conn->msg->start = NULL;
	krdma_msg_repost(conn, recv, false);
	if (ret == -EPROTO) {
		krdma_count(conn, KRDMA_COUNT_BREACH + KRDMA_BREACH_START);
		pr_info_ratelimited("%pISpc: bad description of an exported buffer, closing\n",
				    &conn->cm.peer);
	}
	return ret;
}

/**
 * krdma_rw_open - allow the use of the exported buffers
 * @conn: connection after krdma_rw_greet() and krdma_rw_learn()
 */
void krdma_rw_open(struct krdma_conn *conn)
{
	/* Pairs with krdma_rw_check(). */
	smp_store_release(&conn->msg->rw_ready, true);
}

/**
 * struct krdma_rw_step - a READ or WRITE that a task waits for
 * @opcode: KRDMA_READ or KRDMA_WRITE
 * @offset: offset in the peer's exported buffer
 * @from: WRITE of at most krdma_limits.max_inline bytes: the data; NULL: the
 *	data are in the copy buffer
 * @late: see krdma_wr.late
 * @until: time limit in jiffies, from krdma_deadline()
 */
struct krdma_rw_step {
	enum krdma_opcode opcode;
	u64 offset;
	const void *from;
	bool late;
	unsigned long until;
};

static int krdma_rw_execute(struct krdma_conn *conn,
			    const struct krdma_rw_step *step, u32 len)
{
	struct krdma_op *op = krdma_op_alloc(conn, 1, step->from ? len : 0);
	struct krdma_req *req;
	int ret;

	if (!op)
		return -ENOMEM;
	req = &krdma_op_add(conn, op, step->opcode)->req;
	req->remote = conn->msg->remote;
	req->remote_offset = step->offset;
	req->local.len = len;
	if (step->from) {
		req->local.mem = KRDMA_MEM_VIRT;
		req->local.virt = op->data;
		memcpy(op->data, step->from, len);
	} else {
		req->local.mem = KRDMA_MEM_REGION;
		req->local.region = conn->msg->copy_buf;
	}
	req->wr.len = len;
	req->wr.bulk = true;
	req->wr.late = step->late;
	ret = krdma_op_post(conn, op);
	if (!ret)
		ret = krdma_op_wait(conn, op, step->until);
	krdma_op_put(op);
	return ret;
}

/*
 * Return the number of bytes from an offset to the end of the MR of the peer. A
 * READ that ends there is one work request, so it never exceeds the number of
 * READs that may be in flight.
 */
static u64 krdma_rw_run(const struct krdma_remote *remote, u64 offset)
{
	const struct krdma_seg *seg = krdma_remote_segs(remote);

	while (offset >= seg->len)
		offset -= seg++->len;
	return seg->len - offset;
}

/*
 * Read to @to, or write from @from, by way of the copy buffer; one of the two
 * is NULL. KRDMA_BUSY_RW keeps that buffer mapped, and only one task at a time
 * has it.
 */
static int krdma_rw_pieces(struct krdma_conn *conn, void *to, const void *from,
			   size_t length, struct krdma_rw_step *step)
{
	u32 len, max = KRDMA_STAGE_SIZE;
	struct krdma_region *copy_buf;
	size_t done = 0;
	void *vaddr;
	int ret;

	ret = krdma_msg_enter(conn, KRDMA_BUSY_RW, step->until);
	if (ret)
		return ret;
	copy_buf = conn->msg->copy_buf;
	vaddr = krdma_region_vaddr(copy_buf);
	while (done < length && !ret) {
		len = min_t(size_t, max, length - done);
		if (to)
			len = min_t(u64, len, krdma_rw_run(conn->msg->remote,
							   step->offset));
		else
			memcpy(vaddr, from + done, len);
		krdma_region_sync_for_device(copy_buf, 0, len);
		ret = krdma_rw_execute(conn, step, len);
		if (ret == -E2BIG && len > 1) {
			/* The piece needs too many work requests. */
			max = len / 2;
			ret = 0;
			continue;
		}
		if (!ret && to) {
			krdma_region_sync_for_cpu(copy_buf, 0, len);
			memcpy(to + done, vaddr, len);
		}
		done += len;
		step->offset += len;
		step->late = false;
	}
	krdma_msg_leave(conn, KRDMA_BUSY_RW);
	return ret;
}

static int krdma_rw_check(struct krdma_conn *conn)
{
	int ret = krdma_conn_check_msg(conn);

	if (ret)
		return ret;
	if (!krdma_conn_is_rw(conn))
		return -EINVAL;
	/* Pairs with krdma_rw_open(): the regions and the remote are set. */
	if (!smp_load_acquire(&conn->msg->rw_ready))
		return krdma_last_error(&conn->cb) ?: -ENOTCONN;
	return 0;
}

static int krdma_rw(struct krdma_cb *cb, void *to, const void *from,
		    size_t length, u64 offset, u32 timeout_ms)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_rw_step step = {
		.opcode = to ? KRDMA_READ : KRDMA_WRITE,
		.offset = offset,
		.late = true,
	};
	struct krdma_noio noio;
	int ret;

	ret = krdma_rw_check(conn);
	if (ret)
		return ret;
	if (!krdma_range_ok(krdma_remote_size(conn->msg->remote), offset,
			    length))
		return -EMSGSIZE;
	if (READ_ONCE(conn->life.bye))
		return krdma_last_error(&conn->cb) ?: -ESHUTDOWN;
	step.until = krdma_deadline(timeout_ms ?: conn->p.op_timeout_ms);
	krdma_conn_get(conn);
	noio = krdma_noio_enter(&conn->p);
	ret = -E2BIG;
	if (from && length && length <= conn->limits.max_inline) {
		step.from = from;
		ret = krdma_rw_execute(conn, &step, length);
		step.from = NULL;
	}
	if (ret == -E2BIG)
		ret = krdma_rw_pieces(conn, to, from, length, &step);
	krdma_noio_leave(noio);
	krdma_conn_put(conn);
	return ret;
}

/**
 * krdma_read_at - read from the peer's exported buffer
 * @cb: established KRDMA_RW connection
 * @buffer: target; any kernel memory
 * @length: length in bytes
 * @offset: offset in the peer's exported buffer
 * @timeout_ms: time limit in ms; 0 means &krdma_params.op_timeout_ms
 *
 * The peer's CPU is not involved. More than 64 KiB are read in pieces, so the
 * result may contain a part of a concurrent change at the peer. A timeout or
 * kill while a READ is in flight ends the connection. Requests that
 * krdma_post() took before this call are posted first.
 *
 * Return: 0; -EMSGSIZE: the range exceeds the peer's buffer; -ENOTCONN;
 * -EINVAL: not a KRDMA_RW connection; -ETIMEDOUT; -EINTR; -ENOMEM; or the
 * reason for which the connection ended.
 */
int krdma_read_at(struct krdma_cb *cb, void *buffer, size_t length, u64 offset,
		  u32 timeout_ms)
{
	return krdma_rw(cb, buffer, NULL, length, offset, timeout_ms);
}
EXPORT_SYMBOL_NS_GPL(krdma_read_at, KRDMA_NS);

/**
 * krdma_write_at - write to the peer's exported buffer
 * @cb: established KRDMA_RW connection
 * @buffer: data to write; any kernel memory
 * @length: length in bytes
 * @offset: offset in the peer's exported buffer
 * @timeout_ms: time limit in ms; 0 means &krdma_params.op_timeout_ms
 *
 * On return @buffer may be reused, and the data may still be in flight. The
 * peer's processor sees the data after it has received a message that was sent
 * after this call. A read after this call returns the data. Requests that
 * krdma_post() took before this call are posted first.
 *
 * Return: as krdma_read_at().
 */
int krdma_write_at(struct krdma_cb *cb, const void *buffer, size_t length,
		   u64 offset, u32 timeout_ms)
{
	return krdma_rw(cb, NULL, buffer, length, offset, timeout_ms);
}
EXPORT_SYMBOL_NS_GPL(krdma_write_at, KRDMA_NS);

/*
 * Copy from or to the local exported buffer. Hold setup, because teardown of
 * the connection removes the region's DMA mapping, which a sync needs. The
 * memory stays after teardown.
 */
static int krdma_export_copy(struct krdma_cb *cb, void *to, const void *from,
			     size_t length, u64 offset)
{
	struct krdma_conn *conn = krdma_conn(cb);
	struct krdma_region *exported;
	int ret;

	ret = krdma_rw_check(conn);
	if (ret)
		return ret;
	exported = conn->msg->exported;
	if (!krdma_range_ok(krdma_region_size(exported), offset, length))
		return -EMSGSIZE;
	mutex_lock(&conn->setup);
	if (to) {
		krdma_region_sync_for_cpu(exported, offset, length);
		memcpy(to, krdma_region_vaddr(exported) + offset, length);
	} else {
		memcpy(krdma_region_vaddr(exported) + offset, from, length);
		krdma_region_sync_for_device(exported, offset, length);
	}
	mutex_unlock(&conn->setup);
	return 0;
}

/**
 * krdma_export_read - copy from the local exported buffer
 * @cb: KRDMA_RW connection, established or ended
 * @buffer: target
 * @length: length in bytes
 * @offset: offset in the local exported buffer
 *
 * If the peer writes at the same time, each byte is old or new, in any mix.
 *
 * Return: 0; -EMSGSIZE: the range exceeds the buffer; -ENOTCONN: not connected
 * yet; -EINVAL: not a KRDMA_RW connection; or the reason for which connecting
 * failed.
 */
int krdma_export_read(struct krdma_cb *cb, void *buffer, size_t length,
		      u64 offset)
{
	return krdma_export_copy(cb, buffer, NULL, length, offset);
}
EXPORT_SYMBOL_NS_GPL(krdma_export_read, KRDMA_NS);

/**
 * krdma_export_write - copy to the local exported buffer
 * @cb: KRDMA_RW connection, established or ended
 * @buffer: data to copy
 * @length: length in bytes
 * @offset: offset in the local exported buffer
 *
 * Return: 0, or an errno as for krdma_export_read().
 */
int krdma_export_write(struct krdma_cb *cb, const void *buffer, size_t length,
		       u64 offset)
{
	return krdma_export_copy(cb, NULL, buffer, length, offset);
}
EXPORT_SYMBOL_NS_GPL(krdma_export_write, KRDMA_NS);

/**
 * krdma_export_size - return the size of the local exported buffer
 * @cb: KRDMA_RW connection
 *
 * Context: any.
 * Return: size in bytes; 0 if there is no exported buffer.
 */
u64 krdma_export_size(const struct krdma_cb *cb)
{
	const struct krdma_conn *conn = krdma_conn(cb);

	if (krdma_rw_check(krdma_conn(cb)))
		return 0;
	return krdma_region_size(conn->msg->exported);
}
EXPORT_SYMBOL_NS_GPL(krdma_export_size, KRDMA_NS);

/**
 * krdma_peer_export_size - return the size of the peer's exported buffer
 * @cb: KRDMA_RW connection
 *
 * Context: any.
 * Return: size in bytes; 0 if there is no exported buffer.
 */
u64 krdma_peer_export_size(const struct krdma_cb *cb)
{
	if (krdma_rw_check(krdma_conn(cb)))
		return 0;
	return krdma_remote_size(krdma_conn(cb)->msg->remote);
}
EXPORT_SYMBOL_NS_GPL(krdma_peer_export_size, KRDMA_NS);

/**
 * krdma_peer_export - return the peer's exported buffer, for requests
 * @cb: KRDMA_RW connection
 *
 * Context: any.
 * Return: the peer's memory, valid until the last reference to @cb is put; NULL
 * if there is no exported buffer.
 */
const struct krdma_remote *krdma_peer_export(const struct krdma_cb *cb)
{
	if (krdma_rw_check(krdma_conn(cb)))
		return NULL;
	return krdma_conn(cb)->msg->remote;
}
EXPORT_SYMBOL_NS_GPL(krdma_peer_export, KRDMA_NS);
