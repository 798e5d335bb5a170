// SPDX-License-Identifier: GPL-2.0
/*
 * A variant of the test "connect" that connects to no peer. It makes the
 * multiplications of points that a level of security adds to a connect: each end
 * makes a public key, and multiplies the public key of the other end.
 */
#include <crypto/curve25519.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "priv.h"

static int kbench_curve_multiply(void)
{
	u8 secret[CURVE25519_KEY_SIZE], other[CURVE25519_KEY_SIZE];
	u8 public[CURVE25519_KEY_SIZE], shared[CURVE25519_KEY_SIZE];

	curve25519_generate_secret(secret);
	curve25519_generate_secret(other);
	if (!curve25519_generate_public(public, secret) ||
	    !curve25519(shared, other, public) ||
	    !curve25519_generate_public(public, other) ||
	    !curve25519(shared, secret, public))
		return -EINVAL;
	return 0;
}

static struct kbench_conn *
kbench_curve_connect(const struct kbench_job *job,
		     const struct kbench_variant *variant, bool idle)
{
	struct kbench_conn *conn;
	int ret;

	if (!idle)
		return ERR_PTR(-EOPNOTSUPP);
	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return ERR_PTR(-ENOMEM);
	ret = kbench_curve_multiply();
	if (ret) {
		kfree(conn);
		return ERR_PTR(ret);
	}
	kbench_conn_init(conn, &kbench_curve_calls, job);
	return conn;
}

static void kbench_curve_close(struct kbench_conn *conn)
{
	kfree(conn);
}

const struct kbench_calls kbench_curve_calls = {
	.connect = kbench_curve_connect,
	.close = kbench_curve_close,
};
