// SPDX-License-Identifier: GPL-2.0
/*
 * Variants of the tests "repeat" and "echo" that seal and open messages by the
 * library of the kernel, without krdma. The message of a level has the header of
 * krdma, and the same parts are covered by the tag and encrypted.
 */
#include <crypto/chacha20poly1305.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "priv.h"

#define KBENCH_SEAL_HEADER 16

/**
 * struct kbench_seal - keys and memory of a variant
 * @conn: members that all variants share
 * @encrypt: the data are encrypted, not only covered by the tag
 * @key: key of all messages
 * @number: number of messages, which is the nonce of the next one
 * @ad: header, and behind it the data if they are not encrypted
 * @sealed: encrypted data and tag
 */
struct kbench_seal {
	struct kbench_conn conn;
	bool encrypt;
	u8 key[CHACHA20POLY1305_KEY_SIZE];
	u64 number;
	u8 *ad;
	u8 *sealed;
};

static struct kbench_seal *to_kbench_seal(struct kbench_conn *conn)
{
	return container_of(conn, struct kbench_seal, conn);
}

static void kbench_seal_close(struct kbench_conn *conn)
{
	struct kbench_seal *seal = to_kbench_seal(conn);

	kfree(seal->ad);
	kfree(seal->sealed);
	kfree(seal);
}

static struct kbench_conn *
kbench_seal_connect(const struct kbench_job *job,
		    const struct kbench_variant *variant, bool idle)
{
	struct kbench_seal *seal;

	if (idle)
		return ERR_PTR(-EOPNOTSUPP);
	seal = kzalloc(sizeof(*seal), GFP_KERNEL);
	if (!seal)
		return ERR_PTR(-ENOMEM);
	kbench_conn_init(&seal->conn, variant->calls, job);
	seal->encrypt = variant->encrypt;
	seal->ad = kzalloc(KBENCH_SEAL_HEADER + job->size, GFP_KERNEL);
	seal->sealed = kzalloc(job->size + CHACHA20POLY1305_AUTHTAG_SIZE,
			       GFP_KERNEL);
	if (!seal->ad || !seal->sealed) {
		kbench_seal_close(&seal->conn);
		return ERR_PTR(-ENOMEM);
	}
	return &seal->conn;
}

/* Seal the next message. */
static void kbench_seal_message(struct kbench_seal *seal, u32 size)
{
	u32 secret = seal->encrypt ? size : 0;

	chacha20poly1305_encrypt(seal->sealed, seal->conn.job->buf, secret,
				 seal->ad, KBENCH_SEAL_HEADER + size - secret,
				 ++seal->number, seal->key);
}

/* Open the last message. */
static int kbench_seal_open(struct kbench_seal *seal, u32 size)
{
	u32 secret = seal->encrypt ? size : 0;

	if (!chacha20poly1305_decrypt(seal->sealed, seal->sealed,
				      secret + CHACHA20POLY1305_AUTHTAG_SIZE,
				      seal->ad,
				      KBENCH_SEAL_HEADER + size - secret,
				      seal->number, seal->key))
		return -EBADMSG;
	return 0;
}

static int kbench_seal_write(struct kbench_conn *conn, u32 size)
{
	struct kbench_seal *seal = to_kbench_seal(conn);

	kbench_seal_message(seal, size);
	return kbench_seal_open(seal, size);
}

/* Seal and open the messages of a round trip. */
static int kbench_seal_echo(struct kbench_conn *conn, u32 size)
{
	return kbench_seal_write(conn, size) ?: kbench_seal_write(conn, size);
}

const struct kbench_calls kbench_seal_calls = {
	.connect = kbench_seal_connect,
	.close = kbench_seal_close,
	.write = kbench_seal_write,
	.echo = kbench_seal_echo,
};

/**
 * struct kbench_among - keys, and a connection of krdma without a level
 * @conn: members that all variants share
 * @ours: the connection
 * @seal: the keys
 * @clock_ns: time to read the clock, in ns
 * @opens: the next call opens the sealed message
 */
struct kbench_among {
	struct kbench_conn conn;
	struct kbench_conn *ours;
	struct kbench_conn *seal;
	u64 clock_ns;
	bool opens;
};

/* Number of times that the clock is read to find out how long that takes. */
#define KBENCH_CLOCK_READS 1024

static struct kbench_among *to_kbench_among(struct kbench_conn *conn)
{
	return container_of(conn, struct kbench_among, conn);
}

static void kbench_among_close(struct kbench_conn *conn)
{
	struct kbench_among *among = to_kbench_among(conn);

	if (!IS_ERR_OR_NULL(among->ours))
		among->ours->calls->close(among->ours);
	if (!IS_ERR_OR_NULL(among->seal))
		among->seal->calls->close(among->seal);
	kfree(among);
}

/* Return the time to read the clock, in ns. */
static u64 kbench_clock_ns(void)
{
	u64 begin = ktime_get_ns(), end = begin;
	int i;

	for (i = 0; i < KBENCH_CLOCK_READS; i++)
		end = ktime_get_ns();
	return (end - begin) / KBENCH_CLOCK_READS;
}

static struct kbench_conn *
kbench_among_connect(const struct kbench_job *job,
		     const struct kbench_variant *variant, bool idle)
{
	static const struct kbench_variant plain = {
		.calls = &kbench_ours_calls,
	};
	const struct kbench_variant library = {
		.calls = &kbench_seal_calls,
		.encrypt = variant->encrypt,
	};
	struct kbench_among *among;
	int ret;

	among = kzalloc(sizeof(*among), GFP_KERNEL);
	if (!among)
		return ERR_PTR(-ENOMEM);
	kbench_conn_init(&among->conn, variant->calls, job);
	among->clock_ns = kbench_clock_ns();
	among->seal = library.calls->connect(job, &library, idle);
	ret = PTR_ERR_OR_ZERO(among->seal);
	if (!ret) {
		among->ours = plain.calls->connect(job, &plain, idle);
		ret = PTR_ERR_OR_ZERO(among->ours);
	}
	if (!ret)
		return &among->conn;
	kbench_among_close(&among->conn);
	return ERR_PTR(ret);
}

/*
 * Seal a message, or open the sealed one, between two round trips. The first of
 * two calls seals, and the second one opens. So other code always runs between
 * two uses of the library, and replaces its code and data in the caches, as in
 * krdma. The library is faster in a loop.
 */
static int kbench_among_echo(struct kbench_conn *conn, u32 size)
{
	struct kbench_among *among = to_kbench_among(conn);
	struct kbench_seal *seal = to_kbench_seal(among->seal);
	u64 begin = ktime_get_ns(), took;
	int ret = 0;

	if (among->opens)
		ret = kbench_seal_open(seal, size);
	else
		kbench_seal_message(seal, size);
	took = ktime_get_ns() - begin;
	among->opens = !among->opens;
	/* A round trip has two messages, so it has two calls of each kind. */
	conn->took_ns = 4 * max_t(s64, took - among->clock_ns, 1);
	return ret ?: among->ours->calls->echo(among->ours, size);
}

const struct kbench_calls kbench_among_calls = {
	.connect = kbench_among_connect,
	.close = kbench_among_close,
	.echo = kbench_among_echo,
};
