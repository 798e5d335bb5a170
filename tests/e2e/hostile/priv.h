/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma_hostile - a peer of krdma that breaks the protocol
 *
 * A command is one line written to /proc/krdma_hostile. It runs in the writing
 * task. write() returns the errno of the command. read() on the same descriptor
 * returns the result, "ret ms text". One command runs at a time.
 *
 *	attack HOST PORT HELLO STEP...
 *		connect with HELLO for private data, do the steps, disconnect
 *	serve PORT MS HELLO[/PROOF] STEP...
 *		wait at most MS for a client, answer with HELLO, do the steps,
 *		disconnect. HELLO "mute": do not answer. PROOF is the first
 *		message of the handshake behind HELLO, see server.c
 *	flood HOST PORT HELLO N MS
 *		send N connect requests at once, and no RTU if the victim
 *		accepts them; destroy all connections after MS
 *
 * HELLO and messages are bytes in hexadecimal; "-" stands for no bytes. They
 * may be invalid, because this module does not check them. step.c lists the
 * steps.
 *
 * The connection of attack and serve is in krdma's raw mode, so krdma sends no
 * messages on it. flood uses rdma_cm without krdma.
 */
#ifndef KRDMA_HOSTILE_PRIV_H
#define KRDMA_HOSTILE_PRIV_H

#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include <krdma.h>

#include "../../../krdma/noise.h"

#define HOSTILE_TEXT_LEN 256
#define HOSTILE_RECVS 64
#define HOSTILE_RECV_LEN 4096
#define HOSTILE_SENDS 256
/* Number of bytes of a victim's first message that are kept: those of AUTH. */
#define HOSTILE_FIRST_LEN 64
#define HOSTILE_SEALED_MAX 256

struct krdma_seal;

/*
 * The first segment of the exported buffer that a victim has described in its
 * START, krdma's first message on a connection.
 */
struct hostile_shown {
	u64 addr;
	u32 rkey;
	u32 len;
};

/*
 * A receive buffer. It is posted again after each message, until posting fails.
 */
struct hostile_recv {
	struct ib_cqe cqe;
	struct hostile_session *session;
	u64 dma;
	u8 *buf;
};

/**
 * struct hostile_session - one connection to a victim
 * @cb: connection; NULL before it is created or requested
 * @recvs: array of receive buffers; NULL before qp_ready and after the drain
 * @dev: device for which the buffers of @recvs are mapped
 * @mr: MR of @page, created by hostile_expose(), or NULL
 * @page: memory that the victim may read
 * @connect: result of connecting or accepting
 * @begun: time when connecting or accepting began
 *
 * @hello: private data of the connect request; of a server only after
 *	hostile_prove()
 * @noise: server: state of the handshake that the reply has started
 * @seal: keys of the connection, after the step "auth"
 * @sealed: last message of the step "seal"
 * @sealed_len: number of bytes of @sealed
 *
 * @lock: protects the members below; taken in any context
 * @wait: wait queue that is woken when a member below changes
 * @posted: number of posted work requests
 * @acked: number of work requests that the victim's adapter has acknowledged
 * @refused: number of work requests that the victim's adapter has refused
 * @flushed: number of work requests that were flushed
 * @failed: number of work requests that failed in another way
 * @status: status of the first work request that was refused or failed
 * @nonzero: number of bytes from READs that are not zero
 * @received: number of received messages
 * @first: first bytes of the first message
 * @first_len: number of bytes in @first
 * @shown: buffer that the first message (START) describes; all members are
 *	zero if START describes no buffer
 * @closed: reason of the victim's close; 0 if the victim has not closed
 * @closed_ms: time from @begun to the victim's close, in ms
 */
struct hostile_session {
	struct krdma_cb *cb;
	struct hostile_recv *recvs;
	struct ib_device *dev;
	struct ib_mr *mr;
	struct page *page;
	int connect;
	ktime_t begun;
	u8 hello[KRDMA_RAW_PRIVATE_DATA_MAX];
	struct krdma_noise noise;
	struct krdma_seal *seal;
	u8 sealed[HOSTILE_SEALED_MAX];
	u32 sealed_len;

	spinlock_t lock; /* see @lock above */
	wait_queue_head_t wait;
	unsigned int posted;
	unsigned int acked;
	unsigned int refused;
	unsigned int flushed;
	unsigned int failed;
	enum ib_wc_status status;
	unsigned int nonzero;
	unsigned int received;
	u8 first[HOSTILE_FIRST_LEN];
	u32 first_len;
	struct hostile_shown shown;
	int closed;
	s64 closed_ms;
};

/* A change of a message before it is sent, see auth in step.c and server.c. */
struct hostile_change {
	u32 flip;
	u32 cut;
	bool flips;
	bool again;
	const char *point;
	bool drops;
	u64 ahead;
};

struct krdma_wire_hello;

/* session.c */
extern const struct krdma_ops hostile_ops;
struct hostile_session *hostile_session_alloc(void);
void hostile_session_free(struct hostile_session *s);
int hostile_post(struct hostile_session *s, struct ib_send_wr *send,
		 const void *data, u32 len);
int hostile_expose(struct hostile_session *s);
int hostile_wait_sent(struct hostile_session *s);
int hostile_wait_start(struct hostile_session *s, u32 ms);
int hostile_wait_closed(struct hostile_session *s, u32 ms);
u32 hostile_first(struct hostile_session *s, u8 *first);
void hostile_say(struct hostile_session *s, char *text);
struct hostile_shown hostile_last_shown(void);

/* main.c */
extern unsigned int hostile_told;

/* step.c */
bool hostile_hex(u8 *data, const char *hex, size_t n);
ssize_t hostile_bytes(const char *hex, u8 **data);
int hostile_step(struct hostile_session *s, char *step);

/* auth.c */
int hostile_change_parse(struct hostile_change *change, char *args);
int hostile_post_changed(struct hostile_session *s, u8 *msg, u32 len,
			 const struct hostile_change *change);
int hostile_begin(struct hostile_session *s, struct krdma_noise *noise,
		  char letter, const struct krdma_wire_hello *rep);
int hostile_write_point(struct krdma_noise *noise, u8 *msg, const char *point);
int hostile_step_auth(struct hostile_session *s, char *args);
int hostile_step_seal(struct hostile_session *s, char *args);
void hostile_seal_free(struct hostile_session *s);

/* server.c */
int hostile_prove(struct hostile_session *s, char *proof, u8 *rep, u8 *len);
int hostile_step_welcome(struct hostile_session *s, char *args);
int hostile_step_reflect(struct hostile_session *s, char *args);

/* flood.c */
int hostile_flood(struct net *net, struct sockaddr *dst, const u8 *hello,
		  u8 len, u32 n, u32 ms, char *text);

#endif /* KRDMA_HOSTILE_PRIV_H */
