// SPDX-License-Identifier: GPL-2.0
/*
 * Auth: the steps of the handshake for one connection, see auth.h.
 *
 * Multiplications of points take long, so they are made in process context only:
 * when a request is accepted, when AUTH is sent, and when AUTH is checked. The
 * handler of the CM and completion handlers only check tags.
 */
#include <crypto/algapi.h>
#include <crypto/curve25519.h>
#include <linux/export.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "auth.h"
#include "trace.h"

static_assert(KRDMA_WIRE_LEVEL_MAX == KRDMA_SECURITY_ENCRYPT);
static_assert(KRDMA_WIRE_LEVEL_USER_MAX == KRDMA_SECURE_PRIVATE_DATA_MAX);
/* A REQ has no room for more private data of a user. */
static_assert(sizeof(struct krdma_wire_hello) + KRDMA_WIRE_LEVEL_USER_MAX +
	      KRDMA_DOOR_TAG == KRDMA_RAW_PRIVATE_DATA_MAX);

/**
 * krdma_auth_alloc - allocate the keys of a connection or listener
 * @keys: keys; a reference is taken
 *
 * Context: process.
 * Return: object for krdma_auth_free(), or NULL.
 */
struct krdma_auth *krdma_auth_alloc(struct krdma_keys *keys)
{
	struct krdma_auth *auth = kzalloc(sizeof(*auth), GFP_KERNEL);

	if (!auth)
		return NULL;
	auth->seal = krdma_seal_alloc(GFP_KERNEL);
	if (!auth->seal) {
		kfree(auth);
		return NULL;
	}
	auth->keys = krdma_keys_get(keys);
	return auth;
}

/**
 * krdma_auth_free - erase and free the keys of a connection or listener
 * @auth: object, or NULL
 *
 * Context: any.
 */
void krdma_auth_free(struct krdma_auth *auth)
{
	if (!auth)
		return;
	krdma_seal_free(auth->seal);
	krdma_keys_put(auth->keys);
	kfree(auth);
}

/**
 * krdma_auth_key_id - return the id of the key in use
 * @auth: keys of a connection or listener
 *
 * Context: any.
 * Return: see krdma_door_id().
 */
u32 krdma_auth_key_id(const struct krdma_auth *auth)
{
	return auth->keys ? auth->keys->ids[auth->key] : 0;
}

/**
 * krdma_set_keys - replace the keys of a listener
 * @listen_cb: listener with a level; no effect on a listener without a level
 * @keys: keys for later requests; krdma takes its own reference. NULL only if
 *	the listener has &krdma_ops.keys
 *
 * Connections and requests that krdma has already checked keep their keys, see
 * krdma_keys_have().
 *
 * Context: any.
 */
void krdma_set_keys(struct krdma_cb *listen_cb, struct krdma_keys *keys)
{
	struct krdma_conn *listener = krdma_conn(listen_cb);
	struct krdma_keys *old;
	unsigned long flags;

	if (!listener->auth)
		return;
	krdma_keys_get(keys);
	spin_lock_irqsave(&listener->lock, flags);
	old = listener->auth->keys;
	listener->auth->keys = keys;
	spin_unlock_irqrestore(&listener->lock, flags);
	krdma_keys_put(old);
}
EXPORT_SYMBOL_NS_GPL(krdma_set_keys, KRDMA_NS);

/**
 * krdma_keys_have - check whether a connection was made with one of the keys
 * @keys: keys, or NULL
 * @cb: connection, also a request that is not accepted yet
 *
 * After a change of keys, the owner ends the connections whose key has become
 * invalid.
 *
 * Context: any.
 * Return: true if @cb has no level, or @keys contain its key.
 */
bool krdma_keys_have(const struct krdma_keys *keys, const struct krdma_cb *cb)
{
	const struct krdma_auth *auth = krdma_conn(cb)->auth;
	unsigned int i;

	if (!auth)
		return true;
	for (i = 0; keys && i < keys->n; i++)
		if (!crypto_memneq(keys->keys[i], auth->keys->keys[auth->key],
				   KRDMA_KEY_SIZE))
			return true;
	return false;
}
EXPORT_SYMBOL_NS_GPL(krdma_keys_have, KRDMA_NS);

/**
 * krdma_auth_finish - erase the keys of a handshake that both ends have ended
 * @conn: open connection; no effect without a level, or if it seals messages
 *
 * Context: process; no message of the handshake can arrive any more.
 */
void krdma_auth_finish(struct krdma_conn *conn)
{
	if (!conn->auth || krdma_conn_is_sealed(conn))
		return;
	krdma_seal_free(conn->auth->seal);
	conn->auth->seal = NULL;
}

/* Record the result of a step. Return @result. */
static int krdma_auth_step(struct krdma_conn *conn, enum krdma_auth_step step,
			   int result)
{
	trace_krdma_auth(conn->stats.id, step, result,
			 krdma_auth_key_id(conn->auth));
	if (result == -EKEYREJECTED)
		krdma_count(conn, KRDMA_COUNT_AUTH_FAILED);
	return result;
}

/* Get the keys for a request; NULL: no key is valid for it. */
static struct krdma_keys *krdma_auth_get_keys(struct krdma_conn *listener,
					      const struct rdma_cm_id *id,
					      const void *user, u8 user_len)
{
	const struct rdma_addr *addr = &id->route.addr;
	struct krdma_keys *keys = NULL;
	unsigned long flags;

	if (listener->ops && listener->ops->keys)
		keys = listener->ops->keys(&listener->cb,
					   (struct sockaddr *)&addr->dst_addr,
					   user, user_len);
	if (keys)
		return keys;
	spin_lock_irqsave(&listener->lock, flags);
	keys = krdma_keys_get(listener->auth->keys);
	spin_unlock_irqrestore(&listener->lock, flags);
	return keys;
}

/* Return the index of the key with which a request was tagged, or an errno. */
static int krdma_auth_find_key(const struct krdma_keys *keys,
			       const struct krdma_hello *hello,
			       const struct rdma_cm_id *id, const void *req,
			       size_t len, struct krdma_door_ends *ends)
{
	const struct rdma_addr *addr = &id->route.addr;
	int ret;

	if (!keys)
		return -EKEYREJECTED;
	ret = krdma_door_fill(ends, (struct sockaddr *)&addr->dst_addr,
			      (struct sockaddr *)&addr->src_addr);
	return ret ?: krdma_door_find(keys->doors[0], keys->n, req, len,
				      hello->user_len, ends);
}

/**
 * krdma_auth_check_req - check level and tag of a request
 * @listener: listener, which may have no level
 * @hello: decoded hello of the request
 * @id: cm_id of the request
 * @req: private data of the request
 * @len: number of bytes of @req
 * @auth: result, for krdma_auth_free(); unchanged without a level
 *
 * Nothing is allocated for a request without a valid tag.
 *
 * Context: process, in the handler of the CM.
 * Return: 0; -EPERM: the client wants another level; -EKEYREJECTED: it has
 * another key, or another address; -EPROTO: the request has no tag; -ENOMEM.
 */
int krdma_auth_check_req(struct krdma_conn *listener,
			 const struct krdma_hello *hello,
			 const struct rdma_cm_id *id, const void *req,
			 size_t len, struct krdma_auth **auth)
{
	struct krdma_door_ends ends;
	struct krdma_auth *new = NULL;
	struct krdma_keys *keys;
	int key;

	if (hello->level != listener->p.security) {
		krdma_count(listener, KRDMA_COUNT_REFUSED_SECURITY);
		return -EPERM;
	}
	if (!hello->level)
		return 0;
	keys = krdma_auth_get_keys(listener, id,
				   req + sizeof(struct krdma_wire_hello),
				   hello->user_len);
	key = krdma_auth_find_key(keys, hello, id, req, len, &ends);
	trace_krdma_auth(listener->stats.id, KRDMA_AUTH_REQ, min(key, 0),
			 keys ? keys->ids[max(key, 0)] : 0);
	if (key == -EKEYREJECTED)
		krdma_count(listener, KRDMA_COUNT_REFUSED_KEY);
	if (key >= 0)
		new = krdma_auth_alloc(keys);
	krdma_keys_put(keys);
	if (!new)
		return min(key, 0) ?: -ENOMEM;
	new->key = key;
	new->ends = ends;
	new->req_user_len = hello->user_len;
	memcpy(new->req, req, sizeof(struct krdma_wire_hello) +
	       hello->user_len + KRDMA_DOOR_TAG);
	*auth = new;
	return 0;
}

/**
 * krdma_auth_refused - notify the owner of a listener of a refused request
 * @listener: listener in message mode
 * @id: cm_id of the request
 * @req: private data of the request
 * @len: number of bytes of @req
 * @why: errno of the refusal
 *
 * Context: process, in the handler of the CM.
 */
void krdma_auth_refused(struct krdma_conn *listener,
			const struct rdma_cm_id *id, const void *req,
			size_t len, int why)
{
	const struct sockaddr_storage *addr = &id->route.addr.dst_addr;
	struct krdma_hello hello;

	if (!listener->ops || !listener->ops->refused)
		return;
	if (krdma_hello_decode(&hello, req, len))
		hello.user_len = 0;
	listener->ops->refused(&listener->cb, (struct sockaddr *)addr,
			       hello.user_len ?
			       req + sizeof(struct krdma_wire_hello) : NULL,
			       hello.user_len, why);
}

/**
 * krdma_auth_fill_req - append the tag to a request
 * @conn: client whose addresses are known
 * @req: hello, private data of the user, and room for the tag
 * @user_len: number of bytes of the user
 * @len: number of bytes of @req, which grows
 *
 * Context: process.
 * Return: 0 or -EAFNOSUPPORT.
 */
int krdma_auth_fill_req(struct krdma_conn *conn, void *req, u8 user_len,
			u8 *len)
{
	const struct rdma_addr *addr = &conn->cb.cm_id->route.addr;
	struct krdma_auth *auth = conn->auth;
	int ret;

	ret = krdma_door_fill(&auth->ends, (struct sockaddr *)&addr->src_addr,
			      (struct sockaddr *)&addr->dst_addr);
	if (ret)
		return ret;
	krdma_door_tag(req + *len, auth->keys->doors[auth->key], req, user_len,
		       &auth->ends);
	*len += KRDMA_DOOR_TAG;
	/* The prologue contains the request as it is sent. */
	memcpy(auth->req, req, *len);
	auth->req_user_len = user_len;
	return 0;
}

static void krdma_auth_begin(struct krdma_auth *auth, const void *rep,
			     u8 user_len)
{
	u8 prologue[KRDMA_DOOR_PROLOGUE];
	size_t len;

	len = krdma_door_prologue(prologue, auth->req, auth->req_user_len, rep,
				  user_len, &auth->ends);
	krdma_noise_init(&auth->seal->noise, auth->keys->keys[auth->key],
			 prologue, len);
}

/*
 * Generate a secret for one handshake. The generator of random numbers would
 * wait without a time limit until it is initialized.
 */
static int krdma_auth_secret(u8 *secret)
{
	if (!rng_is_initialized())
		return -EAGAIN;
	curve25519_generate_secret(secret);
	return 0;
}

/**
 * krdma_auth_fill_rep - append the first message of the handshake to a reply
 * @conn: server that accepts a request
 * @rep: hello, private data of the user, and room for KRDMA_AUTH_REP_SIZE bytes
 * @user_len: number of bytes of the user
 * @len: number of bytes of @rep, which grows
 *
 * Context: process, because the call multiplies a point.
 * Return: 0 or -EAGAIN: there are no random numbers yet.
 */
int krdma_auth_fill_rep(struct krdma_conn *conn, void *rep, u8 user_len,
			u8 *len)
{
	struct krdma_auth *auth = conn->auth;
	u8 secret[KRDMA_NOISE_KEY];
	int ret;

	ret = krdma_auth_secret(secret);
	if (ret)
		return ret;
	krdma_auth_begin(auth, rep, user_len);
	ret = krdma_noise_write_first(&auth->seal->noise, rep + *len, secret,
				      NULL, 0);
	memzero_explicit(secret, sizeof(secret));
	*len += KRDMA_AUTH_REP_SIZE;
	return ret;
}

/**
 * krdma_auth_read_rep - check the first message of the handshake in a reply
 * @conn: client whose conn->hello is that of the reply
 * @rep: private data of the reply
 * @len: number of bytes of @rep
 *
 * Context: process, in the handler of the CM.
 * Return: 0, or -EKEYREJECTED: the server has another key, or the request or
 * the reply was changed.
 */
int krdma_auth_read_rep(struct krdma_conn *conn, const void *rep, size_t len)
{
	const u8 user_len = conn->hello.user_len;
	const size_t at = sizeof(struct krdma_wire_hello) + user_len;
	struct krdma_auth *auth = conn->auth;
	int ret = -EKEYREJECTED;

	/* InfiniBand pads, so @len may be too large. */
	if (len >= at + KRDMA_AUTH_REP_SIZE) {
		krdma_auth_begin(auth, rep, user_len);
		ret = krdma_noise_read_first(&auth->seal->noise, NULL, rep + at,
					     KRDMA_AUTH_REP_SIZE);
	}
	return krdma_auth_step(conn, KRDMA_AUTH_REP, ret);
}

/**
 * krdma_auth_extra - return the number of bytes that a level adds to START
 * @conn: connection with a level
 *
 * Context: any.
 * Return: number of bytes behind the header of AUTH or of the sealed START,
 * without those of the exported buffer.
 */
u32 krdma_auth_extra(const struct krdma_conn *conn)
{
	return conn->cb.role == KRDMA_CLIENT_CONN ? KRDMA_NOISE_MSG :
						    KRDMA_SEAL_TAG;
}

static bool krdma_auth_encrypts(const struct krdma_conn *conn)
{
	return conn->p.security == KRDMA_SECURITY_ENCRYPT;
}

static int krdma_auth_write_second(struct krdma_conn *conn, void *body,
				   const void *data, u32 len)
{
	struct krdma_seal *seal = conn->auth->seal;
	u8 secret[KRDMA_NOISE_KEY];
	int ret;

	ret = krdma_auth_secret(secret);
	if (ret)
		return ret;
	ret = krdma_noise_write_second(&seal->noise, body, secret, data, len);
	memzero_explicit(secret, sizeof(secret));
	if (!ret)
		krdma_seal_start(seal, false, krdma_auth_encrypts(conn));
	return ret;
}

/**
 * krdma_auth_write - write AUTH of a client, or the sealed START of a server
 * @conn: client whose reply was valid, or server whose AUTH was valid
 * @msg: header, and room for krdma_auth_extra() + @len bytes behind it
 * @data: description of the exported buffer
 * @len: number of bytes of @data
 *
 * Context: process, because AUTH multiplies two points.
 * Return: 0; -EKEYREJECTED: the server's public key is invalid; -EAGAIN: there
 * are no random numbers yet.
 */
int krdma_auth_write(struct krdma_conn *conn, void *msg, const void *data,
		     u32 len)
{
	struct krdma_seal *seal = conn->auth->seal;
	int ret;

	if (conn->cb.role == KRDMA_CLIENT_CONN) {
		ret = krdma_auth_write_second(conn,
					      msg + sizeof(struct krdma_wire_hdr),
					      data, len);
		return krdma_auth_step(conn, KRDMA_AUTH_AUTH, ret);
	}
	ret = krdma_seal_message(seal, msg, data, len);
	return min(ret, 0);
}

/**
 * krdma_auth_read - check AUTH of a client
 * @conn: server
 * @body: bytes behind the header of AUTH. After success, the description of the
 *	client's exported buffer
 * @len: number of bytes of @body, which becomes smaller
 *
 * Context: process, because the call multiplies a point.
 * Return: 0, or -EKEYREJECTED: the client does not have the key, or has not
 * sent this REQ, or AUTH was changed.
 */
int krdma_auth_read(struct krdma_conn *conn, void *body, u32 *len)
{
	struct krdma_seal *seal = conn->auth->seal;
	int ret;

	ret = krdma_noise_read_second(&seal->noise, body + KRDMA_NOISE_KEY,
				      body, *len);
	if (!ret) {
		*len -= KRDMA_NOISE_MSG;
		memmove(body, body + KRDMA_NOISE_KEY, *len);
		krdma_seal_start(seal, true, krdma_auth_encrypts(conn));
	}
	return krdma_auth_step(conn, KRDMA_AUTH_AUTH, ret);
}

/**
 * krdma_auth_open_start - open the sealed START of a server
 * @conn: client that has posted AUTH
 * @msg: received message
 * @len: number of bytes of @msg; after success, those behind the header
 *
 * Context: completion handler, without @conn->lock.
 * Return: 0, or -EKEYREJECTED: the server does not have the key, or START was
 * changed.
 */
int krdma_auth_open_start(struct krdma_conn *conn, void *msg, u32 *len)
{
	int ret = krdma_seal_open(conn->auth->seal, msg, *len);

	if (ret >= 0)
		*len = ret;
	return krdma_auth_step(conn, KRDMA_AUTH_START,
			       ret < 0 ? -EKEYREJECTED : 0);
}
