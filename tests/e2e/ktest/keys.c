// SPDX-License-Identifier: GPL-2.0
/*
 * Shared keys of krdma. The option keys=LETTERS makes a key of each letter, which
 * the letter fills. The option keyring=DESCRIPTION takes the keys of that
 * description from the keyrings of the task. The objects stay until the module
 * is unloaded, or until the command unkey.
 */
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include "priv.h"

#define KTEST_KEYS 64

/* Keys in use; @letters is empty for those of a keyring. */
static struct {
	char letters[KRDMA_KEYS_MAX + 1];
	struct krdma_keys *keys;
} ktest_keys[KTEST_KEYS];
static u32 ktest_nkeys;
static DEFINE_MUTEX(ktest_keys_lock); /* protects ktest_keys, ktest_nkeys */

static struct krdma_keys *ktest_keys_known_locked(const char *letters)
{
	u32 i;

	lockdep_assert_held(&ktest_keys_lock);
	for (i = 0; letters && i < ktest_nkeys; i++)
		if (!strcmp(ktest_keys[i].letters, letters))
			return ktest_keys[i].keys;
	return NULL;
}

static struct krdma_keys *ktest_keys_of(const char *letters)
{
	u8 keys[KRDMA_KEYS_MAX + 1][KRDMA_KEY_SIZE];
	u32 n = 0;

	for (; letters[n] && n < ARRAY_SIZE(keys); n++)
		memset(keys[n], letters[n], KRDMA_KEY_SIZE);
	return krdma_keys_make(keys, n);
}

static struct krdma_keys *ktest_keys_get_locked(const char *letters,
						const char *description)
{
	struct krdma_keys *keys = ktest_keys_known_locked(letters);

	if (keys)
		return keys;
	if (ktest_nkeys == KTEST_KEYS)
		return ERR_PTR(-ENOSPC);
	keys = letters ? ktest_keys_of(letters) : krdma_keys_find(description);
	if (IS_ERR(keys))
		return keys;
	strscpy(ktest_keys[ktest_nkeys].letters, letters ?: "",
		sizeof(ktest_keys[ktest_nkeys].letters));
	ktest_keys[ktest_nkeys++].keys = keys;
	return keys;
}

/* Fill in the keys of @p. They stay until ktest_keys_end(). */
int ktest_fill_keys(const struct ktest_args *args, struct krdma_params *p)
{
	const char *letters = ktest_text_option(args, "keys");
	const char *description = ktest_text_option(args, "keyring");
	struct krdma_keys *keys;

	if (!letters && !description)
		return 0;
	mutex_lock(&ktest_keys_lock);
	keys = ktest_keys_get_locked(letters, description);
	mutex_unlock(&ktest_keys_lock);
	if (IS_ERR(keys))
		return PTR_ERR(keys);
	p->keys = keys;
	return 0;
}

void ktest_keys_end(void)
{
	mutex_lock(&ktest_keys_lock);
	while (ktest_nkeys)
		krdma_keys_put(ktest_keys[--ktest_nkeys].keys);
	mutex_unlock(&ktest_keys_lock);
}

/* unkey: put all keys; connections and listeners with these keys continue */
int ktest_cmd_unkey(struct ktest_ctx *ctx, struct ktest_args *args)
{
	ktest_keys_end();
	return 0;
}
