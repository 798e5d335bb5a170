// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of drivers that krdma works around, and what it does about them.
 *
 * The code of no other file depends on the name of a driver. The faults of a
 * driver are bits of krdma_hw.quirks, which krdma_quirks_of() returns when the
 * QP is created. For most faults a patch, tests/mutants/quirk-*.cocci, removes
 * the bit of the fault. If the tests pass with the patch on the newest kernel,
 * that kernel no longer needs the workaround.
 *
 * siw, from 6.1 to 7.3 at least:
 *
 * LATE_READS: a READ completes when its answer has arrived, but a later entry
 *	of the send queue completes as soon as it is sent (siw_qp_sq_process()).
 *	On other devices a completion also ends all earlier entries. On siw, the
 *	completion of a PONG would end earlier READs that are still in flight.
 *	Therefore each work request is signalled, only its own completion ends
 *	an entry, and entries end in order. Also, memory may be reused after the
 *	completion only if the work request was signalled (siw_qp_prepare_tx()).
 * BLOCKED_READS: siw has one place for the message, request or answer that is
 *	sent next. A work request that must wait for the answer to a READ waits
 *	in that place: after a fence, or if it is a READ and too many are in
 *	flight. Answers to the peer's READs also need that place
 *	(siw_activate_tx_from_sq(), siw_init_rresp()). If such a work request
 *	waits at both ends, neither end can answer, and both wait forever. Also,
 *	while that place is occupied, messages and writes that the peer sent
 *	after a READ are processed before the READ is answered. Therefore
 *	requests wait in krdma_sendq.pending instead of behind a fence.
 * DOUBLE_FLUSH: a READ that is about to be sent is flushed twice, because it is
 *	on the queue of READs that wait for their answer, and is also the
 *	request to be sent next (siw_activate_tx_from_sq(), siw_sq_flush()). See
 *	struct krdma_quirk_read.
 * LOST_READS: if the answer to a READ is invalid (siw_rdmap_complete()), the
 *	READs behind it are not flushed, because siw_sq_flush() ends at the gap
 *	that the failed READ leaves in their queue. Also, the orderly close does
 *	not flush a READ that waits for its answer: siw_qp_nextstate_from_rts()
 *	flushes only requests that are not yet sent. If the QP moves to ERROR
 *	instead, such a READ is flushed.
 * ONE_MR: a work request that continues in a second MR sends wrong data.
 *	siw_tx_hdt() looks up the pages of the second MR with the position in
 *	the page list of the first MR (pbl_idx, which only siw_qp_prepare_tx()
 *	resets), and siw_pbl_get_buffer() returns an address before the right
 *	page.
 * KEPT_WR: siw puts a work request on the send queue before it checks whether
 *	the request can be sent. A READ cannot be sent to a peer that serves no
 *	READs (siw_activate_tx_from_sq()). Such a READ stays on the queue, and
 *	blocks all later work requests, until the QP is flushed. ib_post_send()
 *	fails without naming a bad work request.
 * MISSED_START: the accepting side ignores data that arrives between its MPA
 *	reply and the end of siw_accept(), because siw_cm_llp_data_ready() finds
 *	another state. It checks again only when more data arrives. The
 *	accepting side cannot make the client send data by a READ of 0 bytes:
 *	siw answers it with data that it sent before. So a client that waits for
 *	START of the peer sends more messages, see krdma_msg_nudge().
 * SWAPPED_DEPTHS: siw_query_qp() reports the depth of incoming READs as
 *	max_rd_atomic, and that of outgoing READs as max_dest_rd_atomic.
 * SENDS_FREED: siw passes data of a page or more to TCP without a copy if no
 *	completion was requested: the answer to a READ, and unsignalled work
 *	requests (siw_qp_prepare_tx()). TCP holds references to the pages until
 *	the last byte is acknowledged, even after the work request, the MR and
 *	the QP have ended. If the memory is changed before that, the peer may
 *	get the new contents.
 * LATE_ANSWERS: a key is checked only when the answer to a READ begins. The
 *	answer may be 1 MiB long, and the peer may receive it one byte at a
 *	time. If the MR is destroyed before the answer is sent, pages that were
 *	freed are sent (siw_qp_sq_proc_tx()). Therefore krdma first posts a
 *	LOCAL_INV: siw sends one thing at a time, so the LOCAL_INV waits until
 *	the answers before it are sent.
 *
 * rxe:
 *
 * DEAD_RECEIVE (7.3 at least): if moving a QP to RTR fails for lack of memory,
 *	the receive task of the QP stays disabled (rxe_qp_from_attr()). In ERROR
 *	such a QP flushes no receives, so the drain would never end.
 * READS_FREED (before 6.10): memory may be read after the completion, see
 *	krdma_may_read_on().
 * FENCED_READS (6.1 to 7.3 at least): a READ or an atomic with a fence waits
 *	for itself when it is sent again, because it still counts as in flight
 *	(rxe_wqe_is_fenced()). The QP then hangs without an error. rxe sends a
 *	READ again not only after a loss, but also when a timer of an earlier
 *	work request fires. Therefore such requests wait in krdma_sendq.pending
 *	instead of behind a fence.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <compat.h>
#include "quirks.h"

#define KRDMA_QUIRKS_SIW						\
	(KRDMA_QUIRK_LATE_READS | KRDMA_QUIRK_BLOCKED_READS |		\
	 KRDMA_QUIRK_DOUBLE_FLUSH | KRDMA_QUIRK_LOST_READS |		\
	 KRDMA_QUIRK_ONE_MR | KRDMA_QUIRK_MISSED_START |		\
	 KRDMA_QUIRK_SWAPPED_DEPTHS | KRDMA_QUIRK_SENDS_FREED |		\
	 KRDMA_QUIRK_LATE_ANSWERS)

/**
 * krdma_quirks_of - return the faults of a device's driver
 * @ibdev: device
 *
 * Return: bits of &enum krdma_quirk.
 */
u32 krdma_quirks_of(const struct ib_device *ibdev)
{
	if (ibdev->ops.driver_id == RDMA_DRIVER_SIW)
		return KRDMA_QUIRKS_SIW;
	if (krdma_is_rxe(ibdev))
		return KRDMA_QUIRK_DEAD_RECEIVE | KRDMA_QUIRK_FENCED_READS |
		       (krdma_may_read_on() ? KRDMA_QUIRK_READS_FREED : 0);
	return 0;
}

/**
 * krdma_quirk_connect - call rdma_connect() with signals blocked on iWARP
 * @conn: connection in KRDMA_CONNECTING
 * @param: parameters for rdma_connect()
 *
 * On iWARP this blocks all signals except SIGKILL, unless the user has set
 * KRDMA_INTERRUPTIBLE.
 *
 * siw (6.1 to 7.3) makes its TCP connection inside rdma_connect(). Any signal
 * for the task, like SIGCHLD of a shell, ends the call, and siw_connect()
 * closes the TCP connection, which may already exist at the peer. This can kill
 * the peer's listener: until the peer's siw_accept_newconn() has handled a TCP
 * connection, its socket has the callbacks of the listener. If the TCP
 * connection ends before that, siw_cm_llp_state_change() takes this for the end
 * of the listener.
 *
 * Context: process, @conn->setup held.
 * Return: 0 or -errno; -EINTR: the task was killed or got a signal.
 */
int krdma_quirk_connect(struct krdma_conn *conn, struct rdma_conn_param *param)
{
	bool block = conn->hw.is_iwarp &&
		     !(conn->p.flags & KRDMA_INTERRUPTIBLE);
	sigset_t mask, old;
	int ret;

	lockdep_assert_held(&conn->setup);
	if (fatal_signal_pending(current))
		return -EINTR;
	siginitsetinv(&mask, sigmask(SIGKILL));
	if (block)
		sigprocmask(SIG_BLOCK, &mask, &old);
	ret = rdma_connect(conn->cb.cm_id, param);
	if (block)
		sigprocmask(SIG_SETMASK, &old, NULL);
	return ret == -ERESTARTSYS ? -EINTR : ret;
}

/**
 * krdma_quirk_connect_errno - return the errno for a failed connect
 * @id: id of the connection
 * @status: negative status of the CM event
 *
 * siw, 6.1 to 7.3, reports -EINVAL for every failure of the MPA exchange: the
 * peer closes before it has answered, the peer sends an invalid answer
 * (siw_proc_mpareply()), or the QP has moved to ERROR (siw_qp_cm_drop()). A
 * user would take -EINVAL for an invalid parameter.
 *
 * Return: -ECONNRESET for -EINVAL on iWARP, otherwise @status.
 */
int krdma_quirk_connect_errno(const struct rdma_cm_id *id, int status)
{
	if (status == -EINVAL && rdma_protocol_iwarp(id->device, id->port_num))
		return -ECONNRESET;
	return status;
}

/**
 * krdma_quirk_reject_data - return the private data of the peer's reject
 * @id: id of the connection
 * @event: RDMA_CM_EVENT_REJECTED
 * @len: result: length of the private data in bytes
 *
 * siw, 6.1 to 7.3, reports a reject by -ECONNRESET (siw_proc_mpareply()). On
 * iWARP, rdma_consumer_reject_data() returns private data only for
 * -ECONNREFUSED, so the client would not learn the reason.
 *
 * siw also reports -ECONNRESET, without private data, if the TCP connection
 * ends before the reply, or with it: tcp_data_queue() reports the end of a
 * connection before the data in the same packet. Then the reason is lost. If
 * the connection ends within the reply, the private data may be any bytes, as
 * those of a hostile peer.
 *
 * Return: private data, or NULL if there are none. Valid as long as @event.
 */
const void *krdma_quirk_reject_data(struct rdma_cm_id *id,
				    struct rdma_cm_event *event, u8 *len)
{
	if (event->status != -ECONNRESET ||
	    !rdma_protocol_iwarp(id->device, id->port_num))
		return rdma_consumer_reject_data(id, event, len);
	*len = event->param.conn.private_data_len;
	return *len ? event->param.conn.private_data : NULL;
}

/*
 * Minimum backlog for rdma_listen(): the default of the iWARP CM (iwcm.c:
 * default_backlog, 6.1 to 7.3), which limits the requests that it has not
 * delivered yet. siw, 6.1 to 7.3, limits TCP connections that it has not
 * accepted yet by the backlog, and forgets those beyond the limit. When the
 * client of a forgotten connection gives up, the listener dies
 * (siw_cm_llp_state_change()). So the backlog must not be small.
 */
#define KRDMA_BACKLOG_MIN 256

/**
 * krdma_quirk_backlog - return the backlog for rdma_listen()
 * @backlog: &krdma_params.backlog, which limits the requests that wait for the
 *	user; cm.c counts these
 *
 * Return: number of connections.
 */
int krdma_quirk_backlog(u32 backlog)
{
	return max_t(u32, backlog, KRDMA_BACKLOG_MIN);
}

/**
 * krdma_quirk_post_errno - return the errno for a failed post
 * @ret: return value of ib_post_send() or ib_post_recv()
 *
 * siw reports -ENOTCONN if the peer has closed the connection. The CM event for
 * this follows later.
 *
 * Return: -ECONNRESET for -ENOTCONN, otherwise @ret.
 */
int krdma_quirk_post_errno(int ret)
{
	return ret == -ENOTCONN ? -ECONNRESET : ret;
}

/**
 * krdma_quirk_kept_errno - return the errno for a work request that siw keeps
 * @ret: return value of an ib_post_send() that reported no bad work request
 *
 * See KEPT_WR. The work request completes only when the QP is flushed, so its
 * memory cannot be reused earlier.
 *
 * Return: errno with which the connection ends.
 */
int krdma_quirk_kept_errno(int ret)
{
	return ret == -EINVAL ? -EOPNOTSUPP : krdma_quirk_post_errno(ret);
}

/**
 * krdma_quirk_swap_depths - undo SWAPPED_DEPTHS
 * @conn: connection with a QP
 * @attr: attributes of the QP, as the driver reported them
 */
void krdma_quirk_swap_depths(const struct krdma_conn *conn,
			     struct ib_qp_attr *attr)
{
	if (krdma_has_quirk(conn, KRDMA_QUIRK_SWAPPED_DEPTHS))
		swap(attr->max_rd_atomic, attr->max_dest_rd_atomic);
}

/**
 * krdma_quirk_enable_receive - undo DEAD_RECEIVE
 * @conn: connection whose QP is about to be drained
 *
 * Moving the QP to RESET enables the receive task. RESET also drops the posted
 * receives without completing them. No user needs these completions, because
 * the QP was never connected. The drain moves the QP to ERROR, which is not
 * possible from RESET, so the QP is moved to INIT before.
 *
 * Context: process, @conn->setup held.
 */
void krdma_quirk_enable_receive(struct krdma_conn *conn)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT,
		.port_num = conn->cb.cm_id->port_num,
	};

	lockdep_assert_held(&conn->setup);
	if (!READ_ONCE(conn->hw.modify_failed) ||
	    !krdma_has_quirk(conn, KRDMA_QUIRK_DEAD_RECEIVE))
		return;
	ib_modify_qp(conn->cb.qp, &reset, IB_QP_STATE);
	ib_modify_qp(conn->cb.qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX |
		     IB_QP_PORT | IB_QP_ACCESS_FLAGS);
}

/**
 * krdma_quirk_flush_all - make the QP flush also the READs that it would lose
 * @conn: connection that is about to disconnect
 *
 * See LOST_READS. Do not do this on other iWARP devices: cxgb4 and irdma reset
 * the TCP connection in ERROR, which discards messages that the peer has not
 * received yet.
 *
 * Context: process, @conn->setup held.
 */
void krdma_quirk_flush_all(struct krdma_conn *conn)
{
	struct ib_qp_attr error = { .qp_state = IB_QPS_ERR };

	lockdep_assert_held(&conn->setup);
	if (krdma_conn_was_established(conn) &&
	    krdma_has_quirk(conn, KRDMA_QUIRK_LOST_READS))
		ib_modify_qp(conn->cb.qp, &error, IB_QP_STATE);
}

/**
 * struct krdma_quirk_read - completion of a READ that may be flushed twice
 * @cqe: completion of the READ
 * @kwr: entry of the READ; NULL if the READ has completed
 *
 * See DOUBLE_FLUSH. When the second completion comes, the owner may have freed
 * the entry. So the driver gets the address of this struct, which is freed with
 * the connection.
 */
struct krdma_quirk_read {
	struct ib_cqe cqe;
	struct krdma_wr *kwr;
};

static void krdma_quirk_read_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_quirk_read *read =
		container_of(wc->wr_cqe, struct krdma_quirk_read, cqe);
	struct krdma_wr *kwr = xchg(&read->kwr, NULL);

	if (!kwr)
		return;
	wc->wr_cqe = &kwr->cqe;
	kwr->cqe.done(cq, wc);
}

/*
 * Return the number of elements of krdma_sendq.quirk_reads. The second
 * completion of a READ follows the first at once. In between, other contexts
 * can post at most as many READs as fit into the send queue. With twice that
 * number, no element is reused too early.
 */
static u32 krdma_quirk_nreads(const struct krdma_conn *conn)
{
	return 2 * conn->limits.send_depth;
}

/**
 * krdma_quirk_reads_alloc - allocate completions for READs
 * @conn: connection in message mode with a new QP; no effect if its driver does
 *	not need them
 *
 * Context: process, @conn->setup held.
 * Return: 0 or -ENOMEM; krdma_quirk_reads_free() undoes it.
 */
int krdma_quirk_reads_alloc(struct krdma_conn *conn)
{
	u32 i;

	lockdep_assert_held(&conn->setup);
	if (!krdma_has_quirk(conn, KRDMA_QUIRK_DOUBLE_FLUSH))
		return 0;
	conn->sq.quirk_reads = kvcalloc(krdma_quirk_nreads(conn),
					sizeof(*conn->sq.quirk_reads),
					GFP_KERNEL);
	if (!conn->sq.quirk_reads)
		return -ENOMEM;
	for (i = 0; i < krdma_quirk_nreads(conn); i++)
		conn->sq.quirk_reads[i].cqe.done = krdma_quirk_read_done;
	return 0;
}

/**
 * krdma_quirk_reads_free - free the completions for READs
 * @conn: connection whose QP is destroyed; also if it has none
 */
void krdma_quirk_reads_free(struct krdma_conn *conn)
{
	kvfree(conn->sq.quirk_reads);
}

/**
 * krdma_quirk_read_cqe_locked - return the completion for a READ
 * @conn: connection with krdma_sendq.quirk_reads
 * @kwr: entry to which the READ belongs, as its last work request
 *
 * Context: any, @conn->lock held.
 * Return: value for wr_cqe of the READ.
 */
struct ib_cqe *krdma_quirk_read_cqe_locked(struct krdma_conn *conn,
					   struct krdma_wr *kwr)
{
	struct krdma_quirk_read *read;

	lockdep_assert_held(&conn->lock);
	read = &conn->sq.quirk_reads[conn->sq.quirk_next];
	conn->sq.quirk_next = (conn->sq.quirk_next + 1) %
			      krdma_quirk_nreads(conn);
	read->kwr = kwr;
	return &read->cqe;
}
