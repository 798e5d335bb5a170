// SPDX-License-Identifier: GPL-2.0
/*
 * Messages: two-sided, in order, with credits.
 *
 * A message is sent as one part, or as several if it is longer than the peer's
 * receive buffers, see send.c. Parts arrive in order on a reliable connection.
 * They wait on the ready list, in the buffers they arrived in, until a task
 * receives the message. Only then are the buffers posted again and their
 * credits returned. So a receiver that falls behind stops the sender, and no
 * message is dropped.
 *
 * The handler of a receive completion validates all of a part before it changes
 * any state. An invalid part ends the connection with -EPROTO.
 *
 * A task that copies from or to the copy buffer of rw.c holds KRDMA_BUSY_RW.
 * Before krdma_msg_stop() unmaps buffers, it waits for that task.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "auth.h"
#include "cm.h"
#include "msg.h"
#include "registration.h"
#include "trace.h"

static bool krdma_msg_is_free(struct krdma_conn *conn, const void *arg)
{
	const unsigned int *what = arg;

	return !(READ_ONCE(conn->sq.busy) & *what);
}

/**
 * krdma_msg_enter - become the only task in an activity
 * @conn: connection in message mode
 * @what: a bit of &enum krdma_busy
 * @until: time limit in jiffies, from krdma_deadline()
 *
 * Works like a lock whose wait has a time limit and can be interrupted.
 *
 * Return: 0 or as krdma_conn_wait().
 */
int krdma_msg_enter(struct krdma_conn *conn, unsigned int what,
		    unsigned long until)
{
	unsigned long flags;
	bool busy;
	int ret;

	do {
		/*
		 * Also wait for KRDMA_BUSY_RECV after the connection has ended.
		 * Its holder finishes, and may leave messages for this task.
		 */
		if (what == KRDMA_BUSY_RECV)
			ret = krdma_conn_wait_ever(conn, krdma_msg_is_free,
						   &what, until);
		else
			ret = krdma_conn_wait(conn, krdma_msg_is_free, &what,
					      until);
		if (ret)
			return ret;
		spin_lock_irqsave(&conn->lock, flags);
		busy = conn->sq.busy & what;
		/*
		 * Messages that have arrived may be received after the
		 * connection has ended.
		 */
		if (what != KRDMA_BUSY_RECV && (conn->error || conn->life.bye))
			ret = conn->error ?: -ESHUTDOWN;
		if (!busy && !ret)
			WRITE_ONCE(conn->sq.busy, conn->sq.busy | what);
		spin_unlock_irqrestore(&conn->lock, flags);
	} while (busy);
	return ret;
}

/**
 * krdma_msg_leave - undo krdma_msg_enter()
 * @conn: connection
 * @what: the bit of krdma_msg_enter()
 */
void krdma_msg_leave(struct krdma_conn *conn, unsigned int what)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	WRITE_ONCE(conn->sq.busy, conn->sq.busy & ~what);
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
}

/* ---- receiving ---- */

/* Return the direction of receive buffers. With a level, a tag is checked in place. */
static enum dma_data_direction krdma_recv_dir(const struct krdma_conn *conn)
{
	return conn->auth ? DMA_BIDIRECTIONAL : DMA_FROM_DEVICE;
}

/*
 * Unmap a receive buffer, which may hold a message for the owner. Unmapping may
 * copy a bounce buffer to memory. It would replace a message that was opened in
 * place by the sealed one, so the opened message goes to the bounce buffer
 * before.
 */
static void krdma_recv_unmap(struct krdma_conn *conn, struct krdma_recv *recv)
{
	struct ib_device *ibdev = conn->cb.pd->device;

	if (krdma_conn_is_sealed(conn))
		ib_dma_sync_single_for_device(ibdev, recv->dma,
					      conn->p.buf_size,
					      krdma_recv_dir(conn));
	ib_dma_unmap_single(ibdev, recv->dma, conn->p.buf_size,
			    krdma_recv_dir(conn));
}

static int krdma_recv_post(struct krdma_conn *conn, struct krdma_recv *recv)
{
	struct ib_sge sge = {
		.addr = recv->dma,
		.length = conn->p.buf_size,
		.lkey = conn->cb.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &recv->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	ib_dma_sync_single_for_device(conn->cb.pd->device, recv->dma,
				      conn->p.buf_size, krdma_recv_dir(conn));
	return ib_post_recv(conn->cb.qp, &wr, NULL);
}

/**
 * krdma_msg_repost_locked - post a receive buffer again
 * @conn: connection
 * @recv: the buffer, on no list and not counted as held by the owner
 *
 * Context: any, @conn->lock held.
 * Return: 0 or an errno that must end the connection.
 */
int krdma_msg_repost_locked(struct krdma_conn *conn, struct krdma_recv *recv)
{
	int ret;

	lockdep_assert_held(&conn->lock);
	/*
	 * After the move to KRDMA_CLOSING, the drain may have begun, and the
	 * buffers may be unmapped.
	 */
	if (conn->cb.state >= KRDMA_CLOSING)
		return 0;
	ret = krdma_recv_post(conn, recv);
	if (ret)
		return ret;
	krdma_credit_reposted(&conn->sq.credit,
			      recv->hdr.type == KRDMA_WIRE_CREDIT);
	krdma_control_credits_locked(conn);
	return 0;
}

/**
 * krdma_msg_repost - post a receive buffer again
 * @conn: connection
 * @recv: the buffer, on no list
 * @held: the owner has held the buffer, and returns it now
 *
 * Context: any.
 */
void krdma_msg_repost(struct krdma_conn *conn, struct krdma_recv *recv,
		      bool held)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&conn->lock, flags);
	if (held)
		krdma_credit_unhold(&conn->sq.credit);
	ret = krdma_msg_repost_locked(conn, recv);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (ret)
		krdma_conn_abort(conn, ret);
}

/**
 * krdma_msg_breach_locked - count a protocol violation of the peer
 * @conn: connection
 * @breach: kind of the violation
 *
 * Context: any, @conn->lock held.
 * Return: -EPROTO.
 */
int krdma_msg_breach_locked(struct krdma_conn *conn, enum krdma_breach breach)
{
	krdma_count_locked(conn, KRDMA_COUNT_BREACH + breach, 1);
	return -EPROTO;
}

/*
 * Put a part on the ready list. The parts of a message must follow each other
 * without a gap, and so must the messages.
 */
static int krdma_msg_take_data_locked(struct krdma_conn *conn,
				      struct krdma_recv *recv)
{
	const struct krdma_hdr *hdr = &recv->hdr;
	struct krdma_msg *msg = conn->msg;

	lockdep_assert_held(&conn->lock);
	if (hdr->msg_id != msg->next_id || hdr->offset != msg->next_offset ||
	    (msg->next_offset && (hdr->msg_len != msg->next_len ||
				  hdr->type != msg->next_type)))
		return krdma_msg_breach_locked(conn, KRDMA_BREACH_SEQUENCE);
	krdma_count_locked(conn, KRDMA_COUNT_BYTES_RECEIVED, recv->len);
	msg->next_len = hdr->msg_len;
	msg->next_type = hdr->type;
	msg->next_offset += recv->len;
	if (msg->next_offset == msg->next_len) {
		msg->next_id++;
		msg->next_offset = 0;
		krdma_count_locked(conn, KRDMA_COUNT_MSGS_RECEIVED, 1);
	}
	list_add_tail(&recv->link, &msg->ready);
	krdma_pull_start_locked(conn);
	return 0;
}

/*
 * Handle the peer's START or AUTH, which must come only once. It may describe an
 * exported buffer only on a KRDMA_RW connection.
 */
static int krdma_msg_on_start_locked(struct krdma_conn *conn,
				     struct krdma_recv *recv)
{
	struct krdma_msg *msg = conn->msg;
	bool keep;

	lockdep_assert_held(&conn->lock);
	if (msg->got_start ||
	    (recv->len && !krdma_conn_is_rw(conn) && !msg->unproved))
		return krdma_msg_breach_locked(conn, KRDMA_BREACH_START);
	keep = krdma_conn_is_rw(conn) || msg->unproved;
	if (keep)
		msg->start = recv;
	/* Pairs with krdma_msg_has_start(). */
	smp_store_release(&msg->got_start, true);
	krdma_step_queue(conn);
	return keep ? 0 : krdma_msg_repost_locked(conn, recv);
}

/*
 * Check whether the handshake of a connection with a level lets the peer send
 * this message. krdma_recv_decode() has checked the first message, and the tag
 * of each message of a level that seals.
 */
static bool krdma_msg_may_come(const struct krdma_conn *conn,
			       const struct krdma_hdr *hdr)
{
	const struct krdma_msg *msg = conn->msg;

	if (!msg->got_start)
		return hdr->tagged;
	/* A client of siw sends CREDIT until START arrives, see krdma_msg_nudge(). */
	return !msg->unproved || hdr->type == KRDMA_WIRE_CREDIT ||
	       krdma_conn_is_sealed(conn);
}

static int krdma_msg_take_locked(struct krdma_conn *conn,
				 struct krdma_recv *recv)
{
	const struct krdma_hdr *hdr = &recv->hdr;
	struct krdma_msg *msg = conn->msg;

	lockdep_assert_held(&conn->lock);
	if (conn->auth && !krdma_msg_may_come(conn, hdr))
		return krdma_msg_breach_locked(conn, KRDMA_BREACH_START);
	conn->sq.heard = true;
	if (krdma_wire_is_free(hdr->type)) {
		/*
		 * The message takes no credit. Posting its receive again
		 * returns no credit.
		 */
		if (conn->cb.state >= KRDMA_CLOSING)
			return 0;
		if (hdr->type == KRDMA_WIRE_PULLED &&
		    !krdma_push_pulled_locked(conn, hdr))
			return krdma_msg_breach_locked(conn,
						       KRDMA_BREACH_SEQUENCE);
		/*
		 * A PING is ignored while the PONG for the last PING is in
		 * flight. A peer that follows the protocol does not probe that
		 * fast.
		 */
		if (hdr->type == KRDMA_WIRE_PING)
			krdma_control_send_locked(conn, KRDMA_CONTROL_PONG);
		else if (hdr->type == KRDMA_WIRE_BYE)
			krdma_close_told_locked(conn, hdr->msg_id);
		if (conn->cb.state >= KRDMA_CLOSING)
			return 0;
		return krdma_recv_post(conn, recv);
	}
	if (krdma_credit_arrived(&conn->sq.credit) ||
	    krdma_credit_granted(&conn->sq.credit, hdr->credits))
		return krdma_msg_breach_locked(conn, KRDMA_BREACH_CREDIT);
	trace_krdma_credit_received(conn->stats.id, hdr->credits,
				    conn->sq.credit.unadvertised,
				    conn->sq.credit.avail);
	if (hdr->type == KRDMA_WIRE_START || hdr->type == KRDMA_WIRE_AUTH)
		return krdma_msg_on_start_locked(conn, recv);
	if (!msg->got_start)
		return krdma_msg_breach_locked(conn, KRDMA_BREACH_START);
	if (krdma_wire_is_part(hdr->type))
		return krdma_msg_take_data_locked(conn, recv);
	if (!krdma_recv_is_written(recv))
		return krdma_msg_repost_locked(conn, recv);
	/*
	 * A WRITTEN reports a write of the peer to local memory. It must not
	 * come between the parts of a message.
	 */
	if (!krdma_deliver_is_wanted(conn))
		return krdma_msg_breach_locked(conn, KRDMA_BREACH_OPCODE);
	if (msg->next_offset)
		return krdma_msg_breach_locked(conn, KRDMA_BREACH_SEQUENCE);
	krdma_count_locked(conn, KRDMA_COUNT_WRITTEN, 1);
	list_add_tail(&recv->link, &msg->ready);
	return 0;
}

/*
 * Decode the first message of a peer with a level: AUTH for a server, the sealed
 * START for a client. A client checks the tag here, because further messages may
 * follow START at once. A server checks AUTH later, in process context.
 *
 * Return: 0; -EPROTO: another message; -EKEYREJECTED: the tag is wrong.
 */
static int krdma_recv_decode_first(struct krdma_conn *conn,
				   struct krdma_recv *recv, u32 len)
{
	bool client = conn->cb.role == KRDMA_CLIENT_CONN;
	unsigned long flags;
	bool expected;
	int ret;

	/*
	 * A client sends AUTH first. From then on only this function uses the
	 * state of the handshake, until START has arrived. The lock pairs with
	 * that of the context that has posted AUTH.
	 */
	spin_lock_irqsave(&conn->lock, flags);
	expected = !client || conn->sq.greeted;
	spin_unlock_irqrestore(&conn->lock, flags);
	ret = krdma_hdr_decode_tagged(&recv->hdr, recv->buf, len,
				      client ? KRDMA_WIRE_START :
					       KRDMA_WIRE_AUTH);
	if (ret || !expected)
		return -EPROTO;
	if (!client)
		return 0;
	ret = krdma_auth_open_start(conn, recv->buf, &len);
	recv->hdr.part_len = len;
	return ret;
}

/*
 * Open a message of a level that seals, and decode its header. Return: 0;
 * -EPROTO: the message is invalid; -EBADMSG: it is not the next one of the peer.
 */
static int krdma_recv_open(struct krdma_conn *conn, struct krdma_recv *recv,
			   u32 len)
{
	struct krdma_seal *seal = conn->auth->seal;
	int ret = krdma_seal_open(seal, recv->buf, len);

	if (ret < 0)
		return ret;
	ret = krdma_hdr_decode_sealed(&recv->hdr, recv->buf,
				      sizeof(struct krdma_wire_hdr) + ret,
				      conn->p.max_msg);
	if (!ret && recv->hdr.type == KRDMA_WIRE_DATA &&
	    krdma_seal_is_rekeyed(&seal->rx)) {
		krdma_count(conn, KRDMA_COUNT_REKEYS);
		trace_krdma_rekey(conn->stats.id, false, seal->rx.messages);
	}
	return ret;
}

/*
 * Decode the header of a received message. Return: 0; -EPROTO: invalid;
 * -EKEYREJECTED: the handshake has failed; -EBADMSG: see krdma_recv_open().
 */
static int krdma_recv_decode_send(struct krdma_conn *conn,
				  struct krdma_recv *recv, u32 len)
{
	enum krdma_breach breach = KRDMA_BREACH_HEADER;
	int ret;

	if (conn->auth && !conn->msg->got_start) {
		breach = KRDMA_BREACH_START;
		ret = krdma_recv_decode_first(conn, recv, len);
	} else if (krdma_conn_is_sealed(conn)) {
		ret = krdma_recv_open(conn, recv, len);
	} else {
		ret = krdma_hdr_decode(&recv->hdr, recv->buf, len,
				       conn->p.max_msg);
	}
	if (ret == -EBADMSG)
		krdma_count(conn, KRDMA_COUNT_BREACH + KRDMA_BREACH_SEAL);
	else if (ret == -EPROTO)
		krdma_count(conn, KRDMA_COUNT_BREACH + breach);
	recv->len = recv->hdr.part_len;
	return ret;
}

/* Check what the adapter says of a received message. */
static bool krdma_recv_is_send(const struct krdma_conn *conn,
			       const struct ib_wc *wc)
{
	/* krdma never sends a SEND with immediate data. */
	if (wc->opcode != IB_WC_RECV || wc->wc_flags & IB_WC_WITH_IMM)
		return false;
	return !(wc->wc_flags & IB_WC_WITH_INVALIDATE) ||
	       !krdma_conn_is_sealed(conn);
}

/* As krdma_recv_decode_send(), also for a write with immediate data. */
static int krdma_recv_decode(struct krdma_conn *conn, struct krdma_recv *recv,
			     const struct ib_wc *wc)
{
	if (wc->opcode != IB_WC_RECV_RDMA_WITH_IMM)
		return krdma_recv_decode_send(conn, recv, wc->byte_len);
	recv->hdr = (struct krdma_hdr){
		.type = KRDMA_WIRE_WRITTEN,
		.msg_id = be32_to_cpu(wc->ex.imm_data),
	};
	recv->len = 0;
	return 0;
}

/*
 * Mark the region whose key a message has invalidated. The adapter has already
 * invalidated the key.
 */
static int krdma_msg_invalidate_locked(struct krdma_conn *conn,
				       struct krdma_recv *recv, u32 rkey)
{
	struct krdma_region *region = krdma_region_find_rkey_locked(conn, rkey);

	if (!region || recv->hdr.type != KRDMA_WIRE_DATA ||
	    recv->len != recv->hdr.msg_len ||
	    !krdma_region_invalidated_locked(region, &recv->rx_msg))
		return krdma_msg_breach_locked(conn, KRDMA_BREACH_KEY);
	return 0;
}

/* Take a decoded message. @wc: its completion; NULL: it was in krdma_msg.early. */
static int krdma_msg_arrived(struct krdma_conn *conn, struct krdma_recv *recv,
			     const struct ib_wc *wc)
{
	bool deliver, space;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&conn->lock, flags);
	if (krdma_conn_is_sealed(conn) && recv->hdr.type != KRDMA_WIRE_AUTH) {
		krdma_count_locked(conn, KRDMA_COUNT_OPENED, 1);
		krdma_count_locked(conn, KRDMA_COUNT_OPENED + 1, recv->len);
	}
	if (wc && wc->wc_flags & IB_WC_WITH_INVALIDATE)
		ret = krdma_msg_invalidate_locked(conn, recv,
						  wc->ex.invalidate_rkey);
	ret = ret ?: krdma_msg_take_locked(conn, recv);
	deliver = krdma_deliver_begin_locked(conn);
	/* The message may have brought credits. */
	krdma_req_kick_locked(conn);
	space = krdma_space_begin_locked(conn);
	/* Wake tasks that receive and tasks that wait for credits. */
	krdma_conn_wake(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (deliver)
		krdma_deliver_all(conn);
	if (space)
		krdma_space_tell(conn);
	krdma_tx_kick(conn);
	return ret;
}

/* End the connection because of a message of @len bytes, if @error is not 0. */
static void krdma_msg_failed(struct krdma_conn *conn, int error, u32 len)
{
	if (error == -EPROTO)
		krdma_conn_abort_for(conn, error, KRDMA_CAUSE_MESSAGE, len);
	else if (error == -EBADMSG)
		krdma_conn_abort_for(conn, error, KRDMA_CAUSE_SEAL, len);
	else if (error == -EKEYREJECTED)
		krdma_conn_abort_for(conn, error, KRDMA_CAUSE_AUTH, 0);
	else if (error)
		krdma_conn_abort(conn, error);
}

/*
 * Let a message wait until AUTH has been checked. Before, there are no keys to
 * open it. Return true if it waits. Its receive is not posted again before, so
 * the number of receives limits the number of these messages.
 */
static bool krdma_msg_waits_early(struct krdma_conn *conn,
				  struct krdma_recv *recv, u32 len)
{
	struct krdma_msg *msg = conn->msg;
	unsigned long flags;
	bool waits;

	/* Pairs with krdma_msg_take_early(). */
	if (!smp_load_acquire(&msg->unproved))
		return false;
	spin_lock_irqsave(&conn->lock, flags);
	waits = msg->unproved && msg->got_start;
	if (waits) {
		recv->len = len;
		list_add_tail(&recv->link, &msg->early);
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	return waits;
}

/**
 * krdma_msg_take_early - take the messages that came behind a valid AUTH
 * @conn: server with a level, whose keys are set
 *
 * From the return on, messages of the peer are taken as they arrive.
 *
 * Context: process.
 * Return: 0, or the errno with which the connection ends.
 */
int krdma_msg_take_early(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_recv *recv;
	unsigned long flags;
	u32 len;
	int ret;

	for (;;) {
		spin_lock_irqsave(&conn->lock, flags);
		recv = list_first_entry_or_null(&msg->early, struct krdma_recv,
						link);
		if (recv)
			list_del_init(&recv->link);
		else
			/* Pairs with krdma_msg_waits_early(). */
			smp_store_release(&msg->unproved, false);
		spin_unlock_irqrestore(&conn->lock, flags);
		if (!recv)
			return 0;
		len = recv->len;
		ret = krdma_recv_decode_send(conn, recv, len) ?:
		      krdma_msg_arrived(conn, recv, NULL);
		krdma_msg_failed(conn, ret, len);
		if (ret)
			return ret;
	}
}

static void krdma_msg_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_recv *recv =
		container_of(wc->wr_cqe, struct krdma_recv, cqe);
	struct krdma_conn *conn = recv->conn;
	int ret = READ_ONCE(conn->error);

	if (wc->status != IB_WC_SUCCESS) {
		krdma_qp_failed(conn, wc->status);
		return;
	}
	/* After a protocol violation, or a wrong tag, ignore all messages. */
	if (ret == -EPROTO || ret == -EKEYREJECTED || ret == -EBADMSG)
		return;
	recv->rx_msg.invalidated = NULL;
	ret = 0;
	if (krdma_recv_is_send(conn, wc)) {
		ib_dma_sync_single_for_cpu(conn->cb.pd->device, recv->dma,
					   wc->byte_len, krdma_recv_dir(conn));
		if (krdma_conn_is_sealed(conn) &&
		    krdma_msg_waits_early(conn, recv, wc->byte_len))
			return;
	} else if (wc->opcode != IB_WC_RECV_RDMA_WITH_IMM ||
		   krdma_conn_is_sealed(conn)) {
		krdma_count(conn, KRDMA_COUNT_BREACH + KRDMA_BREACH_OPCODE);
		ret = -EPROTO;
	}
	ret = ret ?: krdma_recv_decode(conn, recv, wc) ?:
	      krdma_msg_arrived(conn, recv, wc);
	krdma_msg_failed(conn, ret, wc->byte_len);
}

static bool krdma_msg_is_ready(struct krdma_conn *conn, const void *arg)
{
	const struct krdma_msg *msg = conn->msg;

	/*
	 * A message that is being assembled, or read from the peer, may be on
	 * no list. krdma_msg_look() decides with the lock held.
	 */
	return !list_empty_careful(&msg->ready) || READ_ONCE(msg->whole) ||
	       READ_ONCE(msg->pulling);
}

static bool krdma_msg_has_part(struct krdma_conn *conn, const void *arg)
{
	return !list_empty_careful(&conn->msg->ready);
}

/* Copy a part to @buffer, and post its receive again. */
static void krdma_msg_consume(struct krdma_conn *conn, struct krdma_recv *recv,
			      void *buffer)
{
	unsigned long flags;
	int ret;

	memcpy(buffer, recv->buf + sizeof(struct krdma_wire_hdr), recv->len);
	spin_lock_irqsave(&conn->lock, flags);
	list_del_init(&recv->link);
	krdma_pull_start_locked(conn);
	ret = krdma_msg_repost_locked(conn, recv);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (ret)
		krdma_conn_abort(conn, ret);
}

static bool krdma_msg_is_settled(struct krdma_conn *conn, const void *arg)
{
	/* Pairs with krdma_pull_over(). */
	return !smp_load_acquire(&conn->msg->pulling);
}

/*
 * Wait until no data of a CHUNK is being read from the peer. This also works
 * after the connection has ended, because the end of the connection ends the
 * READs. So a message that this side has acknowledged by PULLED can still be
 * received.
 */
static int krdma_msg_settle(struct krdma_conn *conn, unsigned long until)
{
	return krdma_conn_wait_ever(conn, krdma_msg_is_settled, NULL, until);
}

/**
 * struct krdma_msg_next - next message, for the holder of KRDMA_BUSY_RECV
 * @len: length of the message in bytes
 * @recv: receive that holds the whole message. No other context takes it off
 *	the list. NULL: the message has several parts, or is read from the peer
 *	by RDMA READs
 */
struct krdma_msg_next {
	u32 len;
	struct krdma_recv *recv;
};

/*
 * Find the next message. Read all state under one lock: otherwise the next
 * CHUNK may arrive, its data may be read, and its buffer may be posted again
 * while this function runs.
 */
static bool krdma_msg_look(struct krdma_conn *conn, struct krdma_msg_next *next)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_recv *recv;
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&conn->lock, flags);
	recv = list_first_entry_or_null(&msg->ready, struct krdma_recv, link);
	found = !msg->pulling && (msg->whole || recv);
	if (found) {
		next->len = msg->whole ? msg->whole_len : recv->hdr.msg_len;
		next->recv = NULL;
		if (!msg->whole && krdma_recv_is_whole(recv))
			next->recv = recv;
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	return found;
}

static int krdma_msg_wait_next(struct krdma_conn *conn, unsigned long until,
			       struct krdma_msg_next *next)
{
	int ret;

	/*
	 * Wait while the data of a CHUNK is read, and until the next part
	 * arrives.
	 */
	while (!krdma_msg_look(conn, next)) {
		ret = READ_ONCE(conn->msg->pulling) ?
			      krdma_msg_settle(conn, until) :
			      krdma_conn_wait_late(conn, krdma_msg_is_ready,
						   NULL, until);
		/* A message may have arrived just before the wait ended. */
		if (ret)
			return krdma_msg_look(conn, next) ? 0 : ret;
	}
	return 0;
}

/**
 * krdma_msg_take_part - append a part of a message to krdma_msg.whole
 * @conn: connection; the caller holds KRDMA_BUSY_RECV, or delivers
 * @recv: first receive on the ready list, which holds a part with data
 *
 * When krdma_msg.whole_have is krdma_msg.whole_len, the message is complete.
 *
 * Context: process.
 * Return: 0; -ENOMEM: nothing has changed; -EDQUOT: the message exceeds the
 * limit of memory for messages, and the connection has ended.
 */
int krdma_msg_take_part(struct krdma_conn *conn, struct krdma_recv *recv)
{
	struct krdma_msg *msg = conn->msg;
	u32 len = recv->len;
	int ret;

	if (!msg->whole) {
		krdma_noio_check(conn);
		ret = krdma_budget_charge(conn, recv->hdr.msg_len);
		if (ret)
			return ret;
		msg->whole = kvmalloc(recv->hdr.msg_len, GFP_KERNEL);
		if (!msg->whole) {
			krdma_budget_uncharge(conn);
			return -ENOMEM;
		}
		msg->whole_len = recv->hdr.msg_len;
		msg->whole_have = 0;
	}
	krdma_msg_consume(conn, recv, msg->whole + msg->whole_have);
	msg->whole_have += len;
	return 0;
}

/* Wait for one more part and append it. */
static int krdma_msg_add_part(struct krdma_conn *conn, unsigned long until)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_recv *recv;
	unsigned long flags;
	bool pulling;
	int ret;

	spin_lock_irqsave(&conn->lock, flags);
	/* If the part is a CHUNK and nothing reads its data yet, read them. */
	krdma_pull_start_locked(conn);
	pulling = msg->pulling;
	/*
	 * Only this task takes the part off the list, because it holds
	 * KRDMA_BUSY_RECV.
	 */
	recv = list_first_entry_or_null(&msg->ready, struct krdma_recv, link);
	spin_unlock_irqrestore(&conn->lock, flags);
	if (pulling)
		return krdma_msg_settle(conn, until) ?:
		       READ_ONCE(msg->pull_error);
	/*
	 * No READs have started for this CHUNK, because the connection has
	 * ended. The peer's memory cannot be read any more.
	 */
	if (recv && recv->hdr.type == KRDMA_WIRE_CHUNK)
		return krdma_last_error(&conn->cb) ?: -ECONNRESET;
	if (recv)
		return krdma_msg_take_part(conn, recv);
	/*
	 * While a message is incomplete, krdma_msg_is_ready() is always true.
	 * So use krdma_msg_has_part() to wait for the next part.
	 */
	if (msg->whole)
		ret = krdma_conn_wait_late(conn, krdma_msg_has_part, NULL,
					   until);
	else
		ret = krdma_conn_wait_late(conn, krdma_msg_is_ready, NULL,
					   until);
	return ret ?: krdma_msg_settle(conn, until);
}

/*
 * Assemble a message from its parts. On error the assembled parts stay for the
 * next call.
 */
static int krdma_msg_assemble(struct krdma_conn *conn, unsigned long until)
{
	struct krdma_msg *msg = conn->msg;
	int ret = 0;

	while (!ret && !(msg->whole && msg->whole_have == msg->whole_len))
		ret = krdma_msg_add_part(conn, until);
	return ret;
}

static int krdma_msg_receive(struct krdma_conn *conn, void *buffer, size_t size,
			     unsigned long until)
{
	struct krdma_msg_next next;
	unsigned long flags;
	void *whole;
	int ret;

	ret = krdma_msg_wait_next(conn, until, &next);
	if (ret)
		return ret;
	if (next.len > size)
		return -EMSGSIZE;
	if (next.recv) {
		krdma_msg_consume(conn, next.recv, buffer);
		return next.len;
	}
	ret = krdma_msg_assemble(conn, until);
	if (ret)
		return ret;
	whole = conn->msg->whole;
	memcpy(buffer, whole, next.len);
	spin_lock_irqsave(&conn->lock, flags);
	conn->msg->whole = NULL;
	krdma_budget_uncharge(conn);
	krdma_pull_start_locked(conn);
	spin_unlock_irqrestore(&conn->lock, flags);
	kvfree(whole);
	return next.len;
}

static int krdma_msg_check_receive(struct krdma_conn *conn)
{
	return krdma_deliver_is_wanted(conn) ? -EINVAL :
					       krdma_conn_check_open(conn);
}

/**
 * krdma_receive_len - receive a message
 * @cb: connection in message mode
 * @buffer: buffer for the message; any kernel memory
 * @size: size of @buffer in bytes
 * @timeout_ms: time limit in ms; 0 means no limit
 *
 * A message longer than @size stays for a call with a larger buffer. After a
 * timeout, or when the task is killed, the connection stays and no message is
 * lost. Messages that arrived before the connection ended can still be
 * received. Several tasks may receive; each gets whole messages.
 *
 * Return: length of the message, possibly 0; -EMSGSIZE; -ETIMEDOUT; -EINTR;
 * -ENOMEM; -ENOTCONN; -EINVAL: not message mode, or messages go to a callback;
 * or the reason for which the connection ended.
 */
int krdma_receive_len(struct krdma_cb *cb, void *buffer, size_t size,
		      u32 timeout_ms)
{
	struct krdma_conn *conn = krdma_conn(cb);
	unsigned long until = krdma_deadline(timeout_ms);
	struct krdma_noio noio;
	int ret;

	ret = krdma_msg_check_receive(conn);
	if (ret)
		return ret;
	krdma_conn_get(conn);
	noio = krdma_noio_enter(&conn->p);
	ret = krdma_msg_enter(conn, KRDMA_BUSY_RECV, until);
	if (!ret) {
		ret = krdma_msg_receive(conn, buffer, size, until);
		krdma_msg_leave(conn, KRDMA_BUSY_RECV);
	}
	krdma_noio_leave(noio);
	krdma_conn_put(conn);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_receive_len, KRDMA_NS);

/**
 * krdma_receive_peek - return the length of the next message
 * @cb: connection in message mode
 * @timeout_ms: time limit in ms; 0 means no limit
 *
 * After the connection has ended, only messages count that have arrived
 * completely, or were completely read from the peer.
 *
 * Return: length of the next message in bytes, or an errno of
 * krdma_receive_len(). The message can still be received.
 */
ssize_t krdma_receive_peek(struct krdma_cb *cb, u32 timeout_ms)
{
	struct krdma_conn *conn = krdma_conn(cb);
	unsigned long until = krdma_deadline(timeout_ms);
	struct krdma_msg_next next;
	struct krdma_noio noio;
	int ret;

	ret = krdma_msg_check_receive(conn);
	if (ret)
		return ret;
	krdma_conn_get(conn);
	noio = krdma_noio_enter(&conn->p);
	ret = krdma_msg_enter(conn, KRDMA_BUSY_RECV, until);
	if (!ret) {
		ret = krdma_msg_wait_next(conn, until, &next);
		/*
		 * After the connection has ended, also assemble the message,
		 * because only a complete message can be received.
		 */
		if (!ret && !next.recv && krdma_conn_is_over(conn))
			ret = krdma_msg_assemble(conn, until);
		krdma_msg_leave(conn, KRDMA_BUSY_RECV);
	}
	krdma_noio_leave(noio);
	krdma_conn_put(conn);
	/* Do not write "ret ?: next.len": that expression is unsigned. */
	return ret ? ret : (ssize_t)next.len;
}
EXPORT_SYMBOL_NS_GPL(krdma_receive_peek, KRDMA_NS);

/* ---- setup and teardown of message mode ---- */

static int krdma_msg_alloc(struct krdma_conn *conn)
{
	struct krdma_msg *msg =
		kzalloc_node(sizeof(*msg), GFP_KERNEL, conn->hw.node);
	struct krdma_recv *recv;

	if (!msg)
		return -ENOMEM;
	conn->msg = msg;
	INIT_LIST_HEAD(&msg->ready);
	INIT_LIST_HEAD(&msg->early);
	msg->unproved = conn->auth && conn->cb.role == KRDMA_ACCEPT_CONN;
	krdma_credit_init(&conn->sq.credit, conn->limits.recv_depth);
	msg->nrecvs = conn->limits.recv_depth + conn->mode->extra_recvs;
	msg->recvs = kvmalloc_node(array_size(msg->nrecvs, sizeof(*msg->recvs)),
				   GFP_KERNEL | __GFP_ZERO, conn->hw.node);
	if (!msg->recvs)
		return -ENOMEM;
	for (recv = msg->recvs; recv < msg->recvs + msg->nrecvs; recv++) {
		recv->cqe.done = krdma_msg_recv_done;
		recv->conn = conn;
		INIT_LIST_HEAD(&recv->link);
		recv->buf = kmalloc_node(conn->p.buf_size, GFP_KERNEL,
					 conn->hw.node);
		if (!recv->buf)
			return -ENOMEM;
	}
	return 0;
}

/**
 * krdma_msg_free - free the memory of message mode
 * @conn: connection without references; nothing is done if it has no krdma_msg
 */
void krdma_msg_free(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;
	unsigned int i;

	if (!msg)
		return;
	for (i = 0; msg->recvs && i < msg->nrecvs; i++)
		kfree(msg->recvs[i].buf);
	kvfree(msg->recvs);
	kvfree(msg->whole);
	krdma_remote_free(msg->remote);
	kfree(msg);
}

/**
 * krdma_msg_stop - end the use of the device by message mode
 * @conn: connection whose QP is drained; nothing is done if it has no krdma_msg
 *
 * Messages that have arrived can still be received.
 *
 * Context: process, @conn->setup held.
 */
void krdma_msg_stop(struct krdma_conn *conn)
{
	struct krdma_msg *msg = conn->msg;
	struct krdma_recv *recv;
	unsigned int i;

	lockdep_assert_held(&conn->setup);
	if (!msg)
		return;
	/*
	 * A task that uses the copy buffer waits no longer, because the
	 * connection has ended. But it may still copy.
	 */
	wait_event(conn->wait, !READ_ONCE(conn->sq.space.telling) &&
		   !(READ_ONCE(conn->sq.busy) & KRDMA_BUSY_RW));
	krdma_req_stop(conn);
	for (i = 0; msg->recvs && i < msg->nrecvs; i++) {
		recv = &msg->recvs[i];
		if (recv->mapped)
			krdma_recv_unmap(conn, recv);
		recv->mapped = false;
	}
	krdma_control_free(conn);
	krdma_tx_unmap(conn);
}

/**
 * krdma_msg_post_all - allocate the memory of message mode and post all
 * receives
 * @conn: connection with a new QP
 *
 * Context: process, @conn->setup held.
 * Return: 0 or -errno; krdma_msg_stop() and krdma_msg_free() undo it.
 */
int krdma_msg_post_all(struct krdma_conn *conn)
{
	struct ib_device *ibdev = conn->cb.pd->device;
	struct krdma_recv *recv;
	unsigned int i;
	u64 dma;
	int ret;

	lockdep_assert_held(&conn->setup);
	ret = krdma_msg_alloc(conn);
	if (ret)
		return ret;
	ret = krdma_req_begin(conn) ?: krdma_control_alloc(conn);
	for (i = 0; i < conn->msg->nrecvs && !ret; i++) {
		recv = &conn->msg->recvs[i];
		dma = ib_dma_map_single(ibdev, recv->buf, conn->p.buf_size,
					krdma_recv_dir(conn));
		if (ib_dma_mapping_error(ibdev, dma)) {
			ret = -ENOMEM;
			break;
		}
		recv->dma = dma;
		recv->mapped = true;
		ret = krdma_recv_post(conn, recv);
	}
	/*
	 * The passive side got the peer's hello with the connect request, when
	 * conn->msg did not exist yet.
	 */
	if (conn->cb.role == KRDMA_ACCEPT_CONN)
		krdma_msg_peer_hello(conn);
	return ret;
}
