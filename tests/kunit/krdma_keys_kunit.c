// SPDX-License-Identifier: GPL-2.0
/*
 * Test the object that holds shared keys: its ids and the keys of tags, invalid
 * numbers of keys, references, keys in keyrings, and that the memory is erased
 * before it is freed.
 * noise_vectors.py has calculated the expected results.
 */
#include <keys/user-type.h>
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/key.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "../../krdma/noise.c"
#include "../../krdma/door.c"
#include "../../krdma/keys.c"
#include "noise_vectors.h"

/* Keys of which the last one is vector_key. */
static void fill(u8 (*keys)[KRDMA_KEY_SIZE], unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		memset(keys[i], 0x11 * (i + 1), KRDMA_KEY_SIZE);
	memcpy(keys[n - 1], vector_key, KRDMA_KEY_SIZE);
}

static void keys_have_ids_of_vector(struct kunit *test)
{
	u8 bytes[KRDMA_KEYS_MAX][KRDMA_KEY_SIZE];
	struct krdma_keys *keys;
	u32 ids[KRDMA_KEYS_MAX];
	unsigned int n;
	__be32 id;

	for (n = 1; n <= KRDMA_KEYS_MAX; n++) {
		fill(bytes, n);
		keys = krdma_keys_make(bytes, n);
		KUNIT_ASSERT_FALSE(test, IS_ERR(keys));
		KUNIT_EXPECT_EQ(test, krdma_keys_ids(keys, ids), n);
		id = cpu_to_be32(ids[n - 1]);
		KUNIT_EXPECT_EQ(test, memcmp(&id, vector_id, sizeof(id)), 0);
		KUNIT_EXPECT_EQ(test, memcmp(keys->keys, bytes,
					     n * KRDMA_KEY_SIZE), 0);
		KUNIT_EXPECT_EQ(test, memcmp(keys->doors[n - 1], vector_door,
					     KRDMA_NOISE_KEY), 0);
		krdma_keys_put(keys);
	}
}

static void keys_of_other_number_are_refused(struct kunit *test)
{
	u8 bytes[KRDMA_KEYS_MAX + 1][KRDMA_KEY_SIZE];

	fill(bytes, KRDMA_KEYS_MAX + 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(krdma_keys_make(bytes, 0)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(krdma_keys_make(bytes,
							KRDMA_KEYS_MAX + 1)));
}

static void keys_null_has_no_references(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, krdma_keys_get(NULL), NULL);
	krdma_keys_put(NULL);
}

/*
 * Check the memory of freed keys. KASAN refuses accesses by the address of the
 * object, so a second mapping of its pages is used. The allocator may overwrite
 * a few bytes, or another task all of them, but not with the old bytes.
 */
static void keys_are_erased_after_last_put(struct kunit *test)
{
	u8 bytes[1][KRDMA_KEY_SIZE];
	struct krdma_keys *keys;
	struct page *pages[2];
	u64 *before, *after;
	unsigned int i, kept = 0;
	size_t at;
	void *place;

	before = kunit_kzalloc(test, sizeof(*keys), GFP_KERNEL);
	after = kunit_kzalloc(test, sizeof(*keys), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, before);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, after);
	fill(bytes, 1);
	keys = krdma_keys_make(bytes, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(keys));
	at = offset_in_page(keys);
	pages[0] = virt_to_page(keys);
	pages[1] = pages[0] + 1;
	place = vmap(pages, 1 + (at + sizeof(*keys) > PAGE_SIZE), VM_MAP,
		     PAGE_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, place);

	krdma_keys_get(keys);
	krdma_keys_put(keys);
	KUNIT_EXPECT_EQ(test, memcmp(place + at + offsetof(struct krdma_keys,
							   keys),
				     vector_key, KRDMA_KEY_SIZE), 0);
	memcpy(before, keys, sizeof(*keys));
	krdma_keys_put(keys);
	memcpy(after, place + at, sizeof(*keys));
	vunmap(place);
	for (i = 0; i < sizeof(*keys) / sizeof(u64); i++)
		kept += before[i] && before[i] == after[i];
	KUNIT_EXPECT_EQ(test, kept, 0U);
}

/* Give this task, which runs only this case, a keyring. Return the keyring. */
static struct key *take_keyring(struct kunit *test)
{
	const key_perm_t perm = KEY_POS_ALL | KEY_USR_ALL;
	struct cred *cred = prepare_creds();
	struct key *keyring;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cred);
	keyring = keyring_alloc("krdma", GLOBAL_ROOT_UID, GLOBAL_ROOT_GID, cred,
				perm, KEY_ALLOC_NOT_IN_QUOTA, NULL, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(keyring));
	key_put(cred->session_keyring);
	cred->session_keyring = key_get(keyring);
	commit_creds(cred);
	return keyring;
}

/* Add a key, and return the number of keys that krdma_keys_find() then finds. */
static int found_after(struct key *keyring, const char *type, const char *name,
		       size_t len)
{
	const key_perm_t perm = KEY_POS_ALL | KEY_USR_ALL;
	u8 payload[KRDMA_KEYS_MAX * KRDMA_KEY_SIZE + 1] = { 1, 2, 3 };
	u32 ids[KRDMA_KEYS_MAX];
	struct krdma_keys *keys;
	key_ref_t key;
	int n;

	key = key_create_or_update(make_key_ref(keyring, 1), type, name,
				   payload, len, perm, KEY_ALLOC_NOT_IN_QUOTA);
	if (IS_ERR(key))
		return PTR_ERR(key);
	key_ref_put(key);
	keys = krdma_keys_find(name);
	if (IS_ERR(keys))
		return PTR_ERR(keys);
	n = krdma_keys_ids(keys, ids);
	krdma_keys_put(keys);
	return n;
}

static void keys_are_found_in_keyrings(struct kunit *test)
{
	struct key *keyring = take_keyring(test);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(krdma_keys_find("krdma:none")),
			-ENOKEY);
	KUNIT_EXPECT_EQ(test, found_after(keyring, "user", "krdma:a", 32), 1);
	/* A logon key is preferred to a user key. */
	KUNIT_EXPECT_EQ(test, found_after(keyring, "logon", "krdma:a", 64), 2);
	KUNIT_EXPECT_EQ(test, found_after(keyring, "logon", "krdma:b", 128), 4);
	KUNIT_EXPECT_EQ(test, found_after(keyring, "logon", "krdma:c", 31),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, found_after(keyring, "logon", "krdma:d", 129),
			-EINVAL);
	key_put(keyring);
}

static struct kunit_case krdma_keys_cases[] = {
	KUNIT_CASE(keys_have_ids_of_vector),
	KUNIT_CASE(keys_of_other_number_are_refused),
	KUNIT_CASE(keys_null_has_no_references),
	KUNIT_CASE(keys_are_erased_after_last_put),
	KUNIT_CASE(keys_are_found_in_keyrings),
	{}
};

static struct kunit_suite krdma_keys_suite = {
	.name = "krdma_keys",
	.test_cases = krdma_keys_cases,
};

kunit_test_suite(krdma_keys_suite);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("KUnit tests of krdma's shared keys");
MODULE_LICENSE("GPL");
