// SPDX-License-Identifier: GPL-2.0
/*
 * Variants of the tests "repeat" and "echo" that seal and open messages by the
 * library of the kernel, without krdma. The message of a level has the header of
 * krdma, and the same parts are covered by the tag and encrypted.
 */
#include <crypto/chacha20poly1305.h>
#include <linux/err.h>
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

/* Seal a message, and open it. */
static int kbench_seal_write(struct kbench_conn *conn, u32 size)
{
	struct kbench_seal *seal = to_kbench_seal(conn);
	u32 secret = seal->encrypt ? size : 0;
	u32 clear = KBENCH_SEAL_HEADER + size - secret;

	seal->number++;
	chacha20poly1305_encrypt(seal->sealed, conn->job->buf, secret, seal->ad,
				 clear, seal->number, seal->key);
	if (!chacha20poly1305_decrypt(seal->sealed, seal->sealed,
				      secret + CHACHA20POLY1305_AUTHTAG_SIZE,
				      seal->ad, clear, seal->number, seal->key))
		return -EBADMSG;
	return 0;
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
