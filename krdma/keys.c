// SPDX-License-Identifier: GPL-2.0
/*
 * Keys: takes shared keys from the kernel's key service, or from memory of the
 * caller, into an object of krdma. So a later handshake in a work item needs no
 * keyring of a task.
 */
#include <keys/user-type.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/key.h>
#include <linux/kconfig.h>
#include <linux/module.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "door.h"
#include "keys.h"

#if !IS_ENABLED(CONFIG_WIREGUARD)
/* WireGuard selects libcurve25519 and libchacha20poly1305. */
#error "krdma needs a kernel with CONFIG_WIREGUARD"
#endif
#if !IS_ENABLED(CONFIG_KEYS)
#error "krdma needs a kernel with CONFIG_KEYS"
#endif

static_assert(KRDMA_KEY_SIZE == KRDMA_NOISE_KEY);

/**
 * krdma_keys_make - make an object from the bytes of shared keys
 * @keys: @n keys of KRDMA_KEY_SIZE bytes, one behind the other, which must be
 *	random. The call copies them, and the caller erases its own copy
 * @n: number of keys, 1 to KRDMA_KEYS_MAX
 *
 * A client uses the first key. A listener accepts a client with any of the
 * keys.
 *
 * Context: process, may sleep.
 * Return: object with one reference for krdma_keys_put(), ERR_PTR(-EINVAL) for
 * an invalid number of keys, ERR_PTR(-ENOMEM).
 */
struct krdma_keys *krdma_keys_make(const void *keys, unsigned int n)
{
	struct krdma_keys *made;
	unsigned int i;

	if (!n || n > KRDMA_KEYS_MAX)
		return ERR_PTR(-EINVAL);
	made = kzalloc(sizeof(*made), GFP_KERNEL);
	if (!made)
		return ERR_PTR(-ENOMEM);
	refcount_set(&made->ref, 1);
	made->n = n;
	memcpy(made->keys, keys, n * KRDMA_KEY_SIZE);
	for (i = 0; i < n; i++) {
		made->ids[i] = krdma_door_id(made->keys[i]);
		krdma_door_key(made->doors[i], made->keys[i]);
	}
	return made;
}
EXPORT_SYMBOL_NS_GPL(krdma_keys_make, KRDMA_NS);

/* Copy the payload of a key of the kernel, which may be revoked at any time. */
static struct krdma_keys *krdma_keys_copy(struct key *key)
{
	const struct user_key_payload *payload;
	struct krdma_keys *keys;

	down_read(&key->sem);
	payload = user_key_payload_locked(key);
	if (!payload)
		keys = ERR_PTR(-EKEYREVOKED);
	else if (payload->datalen % KRDMA_KEY_SIZE)
		keys = ERR_PTR(-EINVAL);
	else
		keys = krdma_keys_make(payload->data,
				       payload->datalen / KRDMA_KEY_SIZE);
	up_read(&key->sem);
	return keys;
}

/**
 * krdma_keys_find - take shared keys from the keyrings of the calling task
 * @description: description of a key of type "logon", or of type "user" if
 *	there is no such logon key. Its payload is one to KRDMA_KEYS_MAX keys of
 *	KRDMA_KEY_SIZE random bytes each, as for krdma_keys_make()
 *
 * Programs cannot read a logon key. Its description has a colon. No program is
 * called to find a key. The result does not change if the key of the kernel
 * changes or expires later.
 *
 * Context: process, may sleep; the task whose keyrings contain the key.
 * Return: object with one reference for krdma_keys_put(); ERR_PTR(-ENOKEY):
 * there is no such key; -EKEYREVOKED; -EKEYEXPIRED; -EINVAL: the payload is not
 * one to KRDMA_KEYS_MAX keys; -EACCES: the task may not use the key; -ENOMEM.
 */
struct krdma_keys *krdma_keys_find(const char *description)
{
	struct krdma_keys *keys;
	struct key *key;

	key = request_key(&key_type_logon, description, NULL);
	if (PTR_ERR_OR_ZERO(key) == -ENOKEY)
		key = request_key(&key_type_user, description, NULL);
	if (IS_ERR(key))
		return ERR_CAST(key);
	keys = krdma_keys_copy(key);
	key_put(key);
	return keys;
}
EXPORT_SYMBOL_NS_GPL(krdma_keys_find, KRDMA_NS);

/**
 * krdma_keys_get - take a reference
 * @keys: keys to which the caller has a reference, or NULL
 *
 * Context: any.
 * Return: @keys.
 */
struct krdma_keys *krdma_keys_get(struct krdma_keys *keys)
{
	if (keys)
		refcount_inc(&keys->ref);
	return keys;
}
EXPORT_SYMBOL_NS_GPL(krdma_keys_get, KRDMA_NS);

/**
 * krdma_keys_put - drop a reference; the last put erases and frees the keys
 * @keys: keys, or NULL
 *
 * Context: any.
 */
void krdma_keys_put(struct krdma_keys *keys)
{
	if (keys && refcount_dec_and_test(&keys->ref))
		kfree_sensitive(keys);
}
EXPORT_SYMBOL_NS_GPL(krdma_keys_put, KRDMA_NS);

/**
 * krdma_keys_ids - return the ids of keys
 * @keys: keys
 * @ids: room for KRDMA_KEYS_MAX ids, in the order of the keys. People compare
 *	ids, shown as 8 hexadecimal digits, to see which key a host has. An id
 *	tells nothing about its key
 *
 * Context: any.
 * Return: number of keys.
 */
unsigned int krdma_keys_ids(const struct krdma_keys *keys, u32 *ids)
{
	memcpy(ids, keys->ids, keys->n * sizeof(*ids));
	return keys->n;
}
EXPORT_SYMBOL_NS_GPL(krdma_keys_ids, KRDMA_NS);
