/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Auth: the proof that both ends of a connection have the same key. This file
 * joins the parts: tags of requests (door.h), the handshake (noise.h), and the
 * sealed START (seal.h).
 *
 *   client                                    server
 *     krdma_auth_fill_req()       REQ  ->       krdma_auth_check_req()
 *     krdma_auth_read_rep()      <-  REP        krdma_auth_fill_rep()
 *     krdma_auth_write()         AUTH  ->       krdma_auth_read()
 *     krdma_auth_open_start()   <-  START       krdma_auth_write()
 *
 * A valid REQ proves nothing, because it may be a recorded one. Only AUTH proves
 * to the server that the client has the key now, and START proves the same to
 * the client. Before AUTH was valid, nothing that the client says has an effect
 * on another connection.
 */
#ifndef KRDMA_AUTH_H
#define KRDMA_AUTH_H

#include "conn.h"
#include "door.h"
#include "keys.h"
#include "seal.h"

/**
 * struct krdma_auth - keys and handshake of a connection with a level, or of
 * its listener
 * @keys: keys, with a reference. Constant, except for a listener: there they
 *	change under krdma_conn.lock, and NULL means that &krdma_ops.keys has all
 *	keys
 * @key: index in @keys of the key in use
 * @ends: addresses of both ends
 * @req: REQ as it was sent: hello, private data of the user, tag
 * @req_user_len: number of bytes of the user in @req
 * @seal: state of the handshake, and then the keys of the messages. Erased and
 *	freed when the connection is open, or with the connection if its level
 *	seals messages. krdma_seal.rx belongs to the context that takes messages
 *	of the peer, see krdma_msg.early. krdma_conn.lock protects the counters
 *	in krdma_seal.tx. Its key is read under krdma_tx.lock or
 *	krdma_conn.lock, and changes under both
 * @proved: server: AUTH was valid. Written under krdma_dev.lock, see
 *	krdma_device_replace_older()
 */
struct krdma_auth {
	struct krdma_keys *keys;
	unsigned int key;
	struct krdma_door_ends ends;
	u8 req[KRDMA_RAW_PRIVATE_DATA_MAX];
	u8 req_user_len;
	struct krdma_seal *seal;
	bool proved;
};

/* Bytes of a REP behind the private data of the user. */
#define KRDMA_AUTH_REP_SIZE KRDMA_NOISE_MSG

struct krdma_auth *krdma_auth_alloc(struct krdma_keys *keys);
void krdma_auth_free(struct krdma_auth *auth);
void krdma_auth_finish(struct krdma_conn *conn);
int krdma_auth_check_req(struct krdma_conn *listener,
			 const struct krdma_hello *hello,
			 const struct rdma_cm_id *id, const void *req,
			 size_t len, struct krdma_auth **auth);
void krdma_auth_refused(struct krdma_conn *listener,
			const struct rdma_cm_id *id, const void *req,
			size_t len, int why);
int krdma_auth_fill_req(struct krdma_conn *conn, void *req, u8 user_len,
			u8 *len);
int krdma_auth_fill_rep(struct krdma_conn *conn, void *rep, u8 user_len,
			u8 *len);
int krdma_auth_read_rep(struct krdma_conn *conn, const void *rep, size_t len);
u32 krdma_auth_extra(const struct krdma_conn *conn);
int krdma_auth_write(struct krdma_conn *conn, void *msg, const void *data,
		     u32 len);
int krdma_auth_read(struct krdma_conn *conn, void *body, u32 *len);
int krdma_auth_open_start(struct krdma_conn *conn, void *msg, u32 *len);

#endif /* KRDMA_AUTH_H */
