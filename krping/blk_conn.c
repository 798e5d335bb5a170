// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of a server. The callbacks of krdma only store what the client
 * sends. A work item of the connection does one request after the other, and
 * acknowledges each of them. So requests are done and acknowledged in order, and
 * a flush needs no wait for earlier requests.
 *
 * A client is not trusted: a message that violates the protocol ends its
 * connection.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "blk.h"

/* Maximum number of connections of a server. */
#define KRPING_BLK_CONNS_MAX 64
/* Maximum number of bytes of all rings of a server. */
#define KRPING_BLK_RINGS_MAX (256 * 1024 * 1024)
/* Receives of a connection: a hello, and a request for each slot. */
#define KRPING_BLK_CONN_RECVS 128

/* Number of pieces into which krdma may divide the ring, see krdma_region_export(). */
#define KRPING_BLK_DESC_MAX (16 + 16 * 128)

/**
 * struct krping_blk_answer - message to a client
 * @conn: connection
 * @busy: krdma uses the message
 * @req: request that sends it
 * @msg: its bytes
 */
struct krping_blk_answer {
	struct krping_blk_conn *conn;
	bool busy;
	struct krdma_req req;
	u8 msg[KRPING_BLK_ACK_LEN];
};

/**
 * struct krping_blk_conn - connection of a server
 * @link: in krping_blk_server.conns
 * @server: the server
 * @cb: the connection
 * @releasing: @cb may be freed; protected by krping_blk_server.lock
 * @work: does requests
 * @close_work: frees the connection
 * @hello: hello of the client, valid if @image is set
 * @image: image of the disk, or NULL before the grant
 * @ring: slots, which the client writes
 * @requests: received requests, one for each slot
 * @answers: acknowledgments, one for each slot
 * @wait: woken when an answer is not busy, and when @closed is set
 * @grant: message with the grant
 * @grant_req: request that sends it
 * @lock: protects the members below
 * @hello_msg: first message
 * @hello_len: length of the first message in bytes, 0 before it arrives
 * @closed: the connection has ended
 * @received: number of requests received
 * @served: number of requests acknowledged
 */
struct krping_blk_conn {
	struct list_head link;
	struct krping_blk_server *server;
	struct krdma_cb *cb;
	bool releasing;
	struct work_struct work;
	struct work_struct close_work;
	struct krping_blk_hello hello;
	struct krping_blk_image *image;
	struct krdma_region *ring;
	struct krping_blk_request *requests;
	struct krping_blk_answer **answers;
	wait_queue_head_t wait;
	void *grant;
	struct krdma_req grant_req;
	spinlock_t lock; /* protects the members below */
	u8 hello_msg[KRPING_BLK_HELLO_LEN];
	u32 hello_len;
	bool closed;
	u64 received;
	u64 served;
};

static void krping_blk_conn_violated(struct krping_blk_conn *conn)
{
	atomic64_inc(&conn->server->stats.violations);
	pr_warn_ratelimited("%u: a client violated the protocol\n",
			    conn->server->id);
	krdma_disconnect(conn->cb);
}

static u32 krping_blk_conn_slot(const struct krping_blk_conn *conn, u64 seq)
{
	u32 number;

	div_u64_rem(seq, conn->hello.depth, &number);
	return number;
}

/* ---- answers ---- */

static void krping_blk_answer_done(struct krdma_req *req, int status)
{
	struct krping_blk_answer *answer =
		container_of(req, struct krping_blk_answer, req);

	/* Pairs with krping_blk_answer_is_free(). */
	smp_store_release(&answer->busy, false);
	wake_up(&answer->conn->wait);
}

static void krping_blk_grant_done(struct krdma_req *req, int status)
{
	/* If the grant is lost, the connection has ended. */
}

static void krping_blk_conn_send_init(struct krdma_req *req, void *msg, u32 len,
				      void (*done)(struct krdma_req *req,
						   int status))
{
	*req = (struct krdma_req) {
		.opcode = KRDMA_SEND,
		.local.mem = KRDMA_MEM_VIRT,
		.local.virt = msg,
		.local.len = len,
		.done = done,
	};
}

static bool krping_blk_answer_is_free(struct krping_blk_answer *answer)
{
	/* Pairs with krping_blk_answer_done(). */
	return !smp_load_acquire(&answer->busy);
}

static int krping_blk_conn_ack(struct krping_blk_conn *conn, u64 seq,
			       int status)
{
	struct krping_blk_answer *answer =
		conn->answers[krping_blk_conn_slot(conn, seq)];
	struct krping_blk_ack ack = { .seq = seq, .status = status };
	int ret;

	/*
	 * The client may use the slot again before the adapter here has
	 * completed the last acknowledgment of the slot.
	 */
	wait_event(conn->wait,
		   krping_blk_answer_is_free(answer) || READ_ONCE(conn->closed));
	if (READ_ONCE(conn->closed))
		return -ENOTCONN;
	if (atomic_inc_return(&conn->server->acks) == conn->server->opts->bad_ack)
		ack.seq ^= 1;
	krping_blk_ack_encode(answer->msg, &ack);
	krping_blk_conn_send_init(&answer->req, answer->msg,
				  sizeof(answer->msg), krping_blk_answer_done);
	answer->busy = true;
	ret = krdma_post(conn->cb, &answer->req);
	if (ret)
		answer->busy = false;
	return ret;
}

/* ---- requests ---- */

static bool krping_blk_conn_next(struct krping_blk_conn *conn,
				 struct krping_blk_request *req)
{
	bool found;

	spin_lock_irq(&conn->lock);
	found = !conn->closed && conn->served != conn->received;
	if (found)
		*req = conn->requests[krping_blk_conn_slot(conn, conn->served)];
	spin_unlock_irq(&conn->lock);
	return found;
}

/* Check the data of a write, and do a request. */
static int krping_blk_conn_do(struct krping_blk_conn *conn,
			      const struct krping_blk_request *req)
{
	struct krping_blk_server_stats *stats = &conn->server->stats;
	u64 offset = (u64)krping_blk_conn_slot(conn, req->seq) *
		     conn->hello.slot;
	void *data = krdma_region_vaddr(conn->ring) + offset;
	int ret;

	if (req->op == KRPING_BLK_WRITE) {
		krdma_region_sync_for_cpu(conn->ring, offset, req->bytes);
		if (!(req->flags & KRPING_BLK_NO_CRC) &&
		    krping_blk_crc(data, req->bytes) != req->crc) {
			atomic64_inc(&stats->crc_errors);
			return -EBADMSG;
		}
	}
	ret = krping_blk_target_do(conn->server, conn->image, req, data);
	if (ret)
		atomic64_inc(&stats->errors);
	else if (req->op == KRPING_BLK_WRITE)
		atomic64_add(req->bytes, &stats->bytes);
	if (req->op == KRPING_BLK_WRITE)
		krdma_region_sync_for_device(conn->ring, offset, req->bytes);
	return ret;
}

static int krping_blk_conn_serve(struct krping_blk_conn *conn,
				 const struct krping_blk_request *req)
{
	struct krping_blk_server_stats *stats = &conn->server->stats;
	int status;

	atomic64_inc(&stats->requests);
	if (req->op == KRPING_BLK_FLUSH || req->flags & KRPING_BLK_PREFLUSH)
		atomic64_inc(&stats->flushes);
	if (req->flags & KRPING_BLK_FUA)
		atomic64_inc(&stats->fua);
	status = krping_blk_conn_do(conn, req);
	/*
	 * The slot may receive the next request as soon as the client has the
	 * acknowledgment.
	 */
	spin_lock_irq(&conn->lock);
	conn->served++;
	spin_unlock_irq(&conn->lock);
	return krping_blk_conn_ack(conn, req->seq, status);
}

/* ---- grant ---- */

static int krping_blk_conn_alloc_answers(struct krping_blk_conn *conn)
{
	u32 depth = conn->hello.depth, i;

	conn->requests = kvcalloc(depth, sizeof(*conn->requests), GFP_KERNEL);
	conn->answers = kvcalloc(depth, sizeof(*conn->answers), GFP_KERNEL);
	conn->grant = kmalloc(KRPING_BLK_GRANT_LEN + KRPING_BLK_DESC_MAX,
			      GFP_KERNEL);
	if (!conn->requests || !conn->answers || !conn->grant)
		return -ENOMEM;
	for (i = 0; i < depth; i++) {
		struct krping_blk_answer *answer;

		answer = kzalloc(sizeof(*answer), GFP_KERNEL);
		if (!answer)
			return -ENOMEM;
		answer->conn = conn;
		conn->answers[i] = answer;
	}
	return 0;
}

static u64 krping_blk_conn_ring_bytes(const struct krping_blk_conn *conn)
{
	return (u64)conn->hello.depth * conn->hello.slot;
}

/* Take an image, and reserve memory for the ring. */
static int krping_blk_conn_admit(struct krping_blk_conn *conn)
{
	struct krping_blk_server *server = conn->server;
	u64 bytes = krping_blk_conn_ring_bytes(conn);
	struct krping_blk_image *image = ERR_PTR(-ENOSPC);

	mutex_lock(&server->lock);
	if (bytes <= KRPING_BLK_RINGS_MAX - server->ring_bytes)
		image = krping_blk_image_get(server, &conn->hello);
	if (!IS_ERR(image)) {
		server->ring_bytes += bytes;
		conn->image = image;
	}
	mutex_unlock(&server->lock);
	return PTR_ERR_OR_ZERO(image);
}

/* Prepare for requests. Return the length of the ring's description. */
static ssize_t krping_blk_conn_prepare(struct krping_blk_conn *conn)
{
	u64 bytes = krping_blk_conn_ring_bytes(conn);
	struct krdma_region *ring;
	int ret;

	ret = krping_blk_conn_admit(conn) ?:
	      krping_blk_conn_alloc_answers(conn);
	if (ret)
		return ret;
	ring = krdma_region_alloc(conn->cb, bytes, KRDMA_REMOTE_WRITE);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	/* Pairs with krping_blk_conn_take_locked(), which then uses requests. */
	smp_store_release(&conn->ring, ring);
	return krdma_region_export(ring, 0, bytes,
				   conn->grant + KRPING_BLK_GRANT_LEN,
				   KRPING_BLK_DESC_MAX);
}

/* Answer a hello, with a refusal if the server cannot serve the client. */
static int krping_blk_conn_grant(struct krping_blk_conn *conn)
{
	ssize_t len;
	int ret;

	ret = krping_blk_hello_decode(&conn->hello, conn->hello_msg,
				      conn->hello_len);
	if (ret)
		return ret;
	len = krping_blk_conn_prepare(conn);
	if (!conn->grant)
		conn->grant = kmalloc(KRPING_BLK_GRANT_LEN, GFP_KERNEL);
	if (!conn->grant)
		return -ENOMEM;
	if (len < 0)
		pr_info_ratelimited("%u: refuses a client: error %zd\n",
				    conn->server->id, len);
	krping_blk_grant_encode(conn->grant, min_t(ssize_t, len, 0));
	krping_blk_conn_send_init(&conn->grant_req, conn->grant,
				  KRPING_BLK_GRANT_LEN + max_t(ssize_t, len, 0),
				  krping_blk_grant_done);
	return krdma_post(conn->cb, &conn->grant_req);
}

static void krping_blk_conn_work(struct work_struct *work)
{
	struct krping_blk_conn *conn =
		container_of(work, struct krping_blk_conn, work);
	unsigned int noio = memalloc_noio_save();
	struct krping_blk_request req;
	int ret = 0;

	if (!conn->hello.depth)
		ret = krping_blk_conn_grant(conn);
	while (!ret && krping_blk_conn_next(conn, &req)) {
		ret = krping_blk_conn_serve(conn, &req);
		cond_resched();
	}
	if (ret == -EPROTO)
		krping_blk_conn_violated(conn);
	else if (ret)
		krdma_disconnect(conn->cb);
	memalloc_noio_restore(noio);
}

/* ---- life ---- */

static void krping_blk_conn_free(struct krping_blk_conn *conn)
{
	u32 i;

	if (krdma_may_read_on())
		synchronize_rcu();
	for (i = 0; conn->answers && i < conn->hello.depth; i++)
		kfree(conn->answers[i]);
	kvfree(conn->answers);
	kvfree(conn->requests);
	kfree(conn->grant);
	kfree(conn);
}

static void krping_blk_conn_put_server(struct krping_blk_server *server)
{
	if (refcount_dec_and_test(&server->refs))
		complete(&server->idle);
}

/* Free a connection that has ended, or that was never established. */
static void krping_blk_conn_close_work(struct work_struct *work)
{
	struct krping_blk_conn *conn =
		container_of(work, struct krping_blk_conn, close_work);
	struct krping_blk_server *server = conn->server;

	cancel_work_sync(&conn->work);
	krdma_region_put(conn->ring);
	mutex_lock(&server->lock);
	conn->releasing = true;
	mutex_unlock(&server->lock);
	krdma_release_cb(conn->cb);
	mutex_lock(&server->lock);
	if (conn->image) {
		krping_blk_image_put(server, conn->image);
		server->ring_bytes -= krping_blk_conn_ring_bytes(conn);
	}
	list_del(&conn->link);
	mutex_unlock(&server->lock);
	krping_blk_conn_free(conn);
	krping_blk_conn_put_server(server);
}

static void krping_blk_conn_close(struct krping_blk_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	WRITE_ONCE(conn->closed, true);
	spin_unlock_irqrestore(&conn->lock, flags);
	wake_up_all(&conn->wait);
	queue_work(krping_blk_server_wq, &conn->close_work);
}

/* Store a request. Return false if the client violates the protocol. */
static bool krping_blk_conn_take_locked(struct krping_blk_conn *conn,
					const struct krdma_rx_msg *rx_msg)
{
	struct krping_blk_request req;

	lockdep_assert_held(&conn->lock);
	/* Pairs with krping_blk_conn_prepare(), which has created requests. */
	if (!smp_load_acquire(&conn->ring) ||
	    krping_blk_request_decode(&req, rx_msg->data, rx_msg->len) ||
	    !krping_blk_request_fits(&req, conn->hello.slot,
				     conn->hello.capacity))
		return false;
	if (req.seq != conn->hello.seq + conn->received ||
	    conn->received - conn->served >= conn->hello.depth)
		return false;
	conn->requests[krping_blk_conn_slot(conn, conn->received)] = req;
	conn->received++;
	return true;
}

static void krping_blk_conn_receive(struct krdma_cb *cb,
				    struct krdma_rx_msg *rx_msg)
{
	struct krping_blk_conn *conn = cb->context;
	unsigned long flags;
	bool valid = true;

	spin_lock_irqsave(&conn->lock, flags);
	if (conn->hello_len) {
		valid = krping_blk_conn_take_locked(conn, rx_msg);
	} else if (rx_msg->len == sizeof(conn->hello_msg)) {
		memcpy(conn->hello_msg, rx_msg->data, rx_msg->len);
		conn->hello_len = rx_msg->len;
	} else {
		valid = false;
	}
	spin_unlock_irqrestore(&conn->lock, flags);
	krdma_rx_msg_release(rx_msg);
	if (valid)
		queue_work(krping_blk_server_wq, &conn->work);
	else
		krping_blk_conn_violated(conn);
}

static void krping_blk_conn_closing(struct krdma_cb *cb, int reason)
{
	krping_blk_conn_close(cb->context);
}

static void krping_blk_conn_connected(struct krdma_cb *cb, int error)
{
	if (error)
		krping_blk_conn_close(cb->context);
}

static struct krping_blk_conn *
krping_blk_conn_alloc(struct krping_blk_server *server, struct krdma_cb *cb)
{
	struct krping_blk_conn *conn = kzalloc(sizeof(*conn), GFP_NOIO);

	if (!conn)
		return NULL;
	conn->server = server;
	conn->cb = cb;
	INIT_WORK(&conn->work, krping_blk_conn_work);
	INIT_WORK(&conn->close_work, krping_blk_conn_close_work);
	init_waitqueue_head(&conn->wait);
	spin_lock_init(&conn->lock);
	return conn;
}

static void krping_blk_conn_request(struct krdma_cb *listener,
				    struct krdma_cb *cb)
{
	struct krping_blk_server *server = listener->context;
	struct krping_blk_conn *conn = krping_blk_conn_alloc(server, cb);

	if (!conn) {
		krdma_reject_request(cb, NULL, 0);
		krdma_release_cb(cb);
		return;
	}
	cb->context = conn;
	refcount_inc(&server->refs);
	mutex_lock(&server->lock);
	list_add(&conn->link, &server->conns);
	mutex_unlock(&server->lock);
	if (krdma_accept_async(cb, NULL, 0))
		krping_blk_conn_close(conn);
}

static const struct krdma_ops krping_blk_conn_ops = {
	.owner = THIS_MODULE,
	.request = krping_blk_conn_request,
	.connected = krping_blk_conn_connected,
	.receive = krping_blk_conn_receive,
	.closing = krping_blk_conn_closing,
};

/**
 * krping_blk_conn_listen - accept connections of clients
 * @server: server
 * @addr: address and port
 *
 * Return: 0, and krping_blk_conn_unlisten() ends it; or a negative errno.
 */
int krping_blk_conn_listen(struct krping_blk_server *server,
			   const struct sockaddr_storage *addr)
{
	const struct krdma_params params = {
		.size = sizeof(params),
		.flags = KRDMA_NOIO,
		.ops = &krping_blk_conn_ops,
		.context = server,
		.recv_depth = KRPING_BLK_CONN_RECVS,
		.mr_pool = KRDMA_NEVER,
		.max_msg = 4096,
		.pull_min = KRDMA_NEVER,
		.max_conns = KRPING_BLK_CONNS_MAX,
	};

	return krdma_listen_params((const struct sockaddr *)addr, &params,
				   &server->listener);
}

/**
 * krping_blk_conn_unlisten - end all connections of a server
 * @server: server
 *
 * Context: process; waits until the target has done the requests that it has
 * begun, and until krdma has freed the connections.
 */
void krping_blk_conn_unlisten(struct krping_blk_server *server)
{
	struct krping_blk_conn *conn;

	krdma_release_cb(server->listener);
	mutex_lock(&server->lock);
	list_for_each_entry(conn, &server->conns, link) {
		if (!conn->releasing)
			krdma_disconnect(conn->cb);
	}
	mutex_unlock(&server->lock);
	krping_blk_conn_put_server(server);
	wait_for_completion(&server->idle);
}
