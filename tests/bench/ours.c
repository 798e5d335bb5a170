// SPDX-License-Identifier: GPL-2.0
/* The variant that uses krdma. */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/types.h>

#include <krdma.h>

#include "priv.h"

/**
 * struct kbench_ours_req - a WRITE of the test "stream"
 * @req: request of krdma
 * @ours: connection of the request
 * @slot: number of the chain of WRITEs to which the request belongs
 */
struct kbench_ours_req {
	struct krdma_req req;
	struct kbench_ours *ours;
	u32 slot;
};

/**
 * struct kbench_ours - a connection
 * @conn: members that all variants share
 * @cb: connection of krdma
 * @region: memory that the WRITEs of the test "stream" read
 * @reqs: array of job->depth requests, chain by chain
 */
struct kbench_ours {
	struct kbench_conn conn;
	struct krdma_cb *cb;
	struct krdma_region *region;
	struct kbench_ours_req *reqs;
};

static struct kbench_ours *kbench_ours(struct kbench_conn *conn)
{
	return container_of(conn, struct kbench_ours, conn);
}

static void kbench_ours_close(struct kbench_conn *conn)
{
	struct kbench_ours *ours = kbench_ours(conn);

	/* The release completes all requests, so that they can be freed. */
	krdma_release_cb(ours->cb);
	if (ours->region)
		krdma_region_put(ours->region);
	kvfree(ours->reqs);
	kfree(ours);
}

/* Keys of all variants; constant between kbench_keys_init() and exit. */
static struct krdma_keys *kbench_keys[KBENCH_KEYS_MAX];

/**
 * kbench_keys_exit - undo kbench_keys_init()
 */
void kbench_keys_exit(void)
{
	int i;

	for (i = 0; i < KBENCH_KEYS_MAX; i++)
		krdma_keys_put(kbench_keys[i]);
}

/**
 * kbench_keys_init - make the keys
 *
 * Return: 0 or -ENOMEM.
 */
int kbench_keys_init(void)
{
	u8 key[KRDMA_KEY_SIZE];
	int i, ret = 0;

	for (i = KBENCH_KEYS; i < KBENCH_KEYS_MAX && !ret; i++) {
		memset(key, i, sizeof(key));
		kbench_keys[i] = krdma_keys_make(key, 1);
		ret = PTR_ERR_OR_ZERO(kbench_keys[i]);
		if (ret)
			kbench_keys[i] = NULL;
	}
	if (ret)
		kbench_keys_exit();
	return ret;
}

/**
 * kbench_keys_set - set the level and the keys of a connection or listener
 * @p: parameters
 * @keys: keys; no effect with KBENCH_NO_KEYS
 * @encrypt: the level is encrypt instead of auth
 */
void kbench_keys_set(struct krdma_params *p, enum kbench_keys keys,
		     bool encrypt)
{
	if (!keys)
		return;
	p->security = encrypt ? KRDMA_SECURITY_ENCRYPT : KRDMA_SECURITY_AUTH;
	p->keys = kbench_keys[keys];
}

/* Allocate the members that a connection needs unless it is idle. */
static int kbench_ours_fill(struct kbench_ours *ours)
{
	const struct kbench_job *job = ours->conn.job;
	struct krdma_region *region;

	ours->reqs = kvcalloc(job->depth, sizeof(*ours->reqs), GFP_KERNEL);
	if (!ours->reqs)
		return -ENOMEM;
	region = krdma_region_alloc(ours->cb, KBENCH_SPAN, 0);
	if (IS_ERR(region))
		return PTR_ERR(region);
	ours->region = region;
	return 0;
}

/* Get the listener for connections of @variant. */
static enum kbench_port kbench_ours_port(const struct kbench_variant *variant,
					 bool idle)
{
	if (variant->encrypt)
		return KBENCH_PORT_SEALED;
	if (variant->keys || variant->refused)
		return KBENCH_PORT_AUTH_IDLE;
	return idle ? KBENCH_PORT_OURS_IDLE : KBENCH_PORT_OURS;
}

static struct kbench_conn *
kbench_ours_connect(const struct kbench_job *job,
		    const struct kbench_variant *variant, bool idle)
{
	struct sockaddr_storage dst =
		kbench_peer(job, kbench_ours_port(variant, idle));
	struct krdma_params p = {
		.size = sizeof(p),
		.net = job->net,
		.spin_us = job->spin_us,
	};
	struct kbench_ours *ours;
	int ret;

	ours = kzalloc(sizeof(*ours), GFP_KERNEL);
	if (!ours)
		return ERR_PTR(-ENOMEM);
	kbench_conn_init(&ours->conn, &kbench_ours_calls, job);
	kbench_keys_set(&p, variant->keys, variant->encrypt);
	/* With the level encrypt there are no WRITEs. */
	if (!idle && !variant->encrypt) {
		p.flags = KRDMA_RW;
		p.max_msg = KBENCH_SPAN;
	}
	ret = krdma_connect_params((struct sockaddr *)&dst, &p, &ours->cb);
	if (ret) {
		kfree(ours);
		return ERR_PTR(ret);
	}
	ret = p.flags & KRDMA_RW ? kbench_ours_fill(ours) : 0;
	if (ret) {
		kbench_ours_close(&ours->conn);
		return ERR_PTR(ret);
	}
	return &ours->conn;
}

static int kbench_ours_write(struct kbench_conn *conn, u32 size)
{
	return krdma_write_at(kbench_ours(conn)->cb, conn->job->buf, size, 0,
			      KBENCH_TIMEOUT_MS);
}

static int kbench_ours_echo(struct kbench_conn *conn, u32 size)
{
	struct krdma_cb *cb = kbench_ours(conn)->cb;
	int ret;

	ret = krdma_send_timeout(cb, conn->job->buf, size, KBENCH_TIMEOUT_MS);
	if (ret)
		return ret;
	ret = krdma_receive_len(cb, conn->job->buf, size, KBENCH_TIMEOUT_MS);
	if (ret < 0)
		return ret;
	return ret == size ? 0 : -EPROTO;
}

/*
 * Handle the completion of a request that is not the last of its chain. Ignore
 * a failure, because the last request of the chain then also fails.
 */
static void kbench_ours_part_done(struct krdma_req *req, int status)
{
}

static void kbench_ours_chain_done(struct krdma_req *req, int status)
{
	struct kbench_ours_req *last =
		container_of(req, struct kbench_ours_req, req);

	kbench_stream_done(&last->ours->conn, last->slot, status);
}

static void kbench_ours_set(struct kbench_ours *ours, u32 slot, u32 i)
{
	const struct kbench_job *job = ours->conn.job;
	struct kbench_ours_req *ours_req = &ours->reqs[slot * job->chain + i];
	bool is_last = i + 1 == job->chain;
	u32 offset = kbench_offset(job, slot, i);

	ours_req->ours = ours;
	ours_req->slot = slot;
	ours_req->req.opcode = KRDMA_WRITE;
	ours_req->req.flags = 0;
	ours_req->req.local.mem = KRDMA_MEM_REGION;
	ours_req->req.local.len = job->size;
	ours_req->req.local.offset = offset;
	ours_req->req.local.region = ours->region;
	ours_req->req.remote = krdma_peer_export(ours->cb);
	ours_req->req.remote_offset = offset;
	ours_req->req.done = is_last ? kbench_ours_chain_done :
				       kbench_ours_part_done;
	ours_req->req.next = is_last ? NULL : &ours_req[1].req;
}

static int kbench_ours_post(struct kbench_conn *conn, u32 slot)
{
	struct kbench_ours *ours = kbench_ours(conn);
	u32 i;

	for (i = 0; i < conn->job->chain; i++)
		kbench_ours_set(ours, slot, i);
	return krdma_post(ours->cb, &ours->reqs[slot * conn->job->chain].req);
}

const struct kbench_calls kbench_ours_calls = {
	.connect = kbench_ours_connect,
	.close = kbench_ours_close,
	.write = kbench_ours_write,
	.echo = kbench_ours_echo,
	.post = kbench_ours_post,
};

/**
 * kbench_ours_stall - connect to a peer that never answers
 * @job: test with the time limit @job->ms
 *
 * Return: 0 if the connect timed out, otherwise an errno.
 */
int kbench_ours_stall(const struct kbench_job *job)
{
	struct sockaddr_storage dst = kbench_peer(job, KBENCH_PORT_STALL);
	struct krdma_params p = {
		.size = sizeof(p),
		.net = job->net,
		.connect_timeout_ms = job->ms,
	};
	struct krdma_cb *cb;
	int ret;

	ret = krdma_connect_params((struct sockaddr *)&dst, &p, &cb);
	if (!ret)
		krdma_release_cb(cb);
	if (ret == -ETIMEDOUT)
		return 0;
	return ret ?: -EISCONN;
}
