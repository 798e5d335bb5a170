/* SPDX-License-Identifier: GPL-2.0 */
/* File with the keys of a device. */
#ifndef VRFMCTL_KEYFILE_H
#define VRFMCTL_KEYFILE_H

#include <stdbool.h>

#define KEYFILE_KEY 32
#define KEYFILE_KEYS 4
#define KEYFILE_NODES 256

/**
 * struct keyfile_list - keys in the order in which they are used
 * @n: number of @keys
 * @keys: the keys
 */
struct keyfile_list {
	int n;
	unsigned char keys[KEYFILE_KEYS][KEYFILE_KEY];
};

/**
 * struct keyfile - content of a file
 * @device: keys of the device
 * @peers: keys of the pair of this node and each peer
 */
struct keyfile {
	struct keyfile_list device;
	struct keyfile_list peers[KEYFILE_NODES];
};

bool keyfile_read(const char *path, struct keyfile *file);
bool keyfile_create(const char *path, const struct keyfile *file);
bool keyfile_replace(const char *path, const struct keyfile *file);
bool keyfile_print(const struct keyfile *file);
bool keyfile_random(unsigned char *key);
void keyfile_erase(struct keyfile *file);
bool keyfile_has(const struct keyfile_list *list, const unsigned char *key);
bool keyfile_add(struct keyfile_list *list, const unsigned char *key);

#endif /* VRFMCTL_KEYFILE_H */
