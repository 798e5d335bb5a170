// SPDX-License-Identifier: GPL-2.0
/*
 * Keys: make them, hand them to the kernel, and replace them step by step.
 *
 * vrfmctl puts the keys into the keyring of its own process, as a logon key, and
 * writes the description of the key to configfs. The kernel makes a copy, and
 * the keyring ends with the process. Nothing here encrypts: ids of keys come
 * from the kernel.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctl.h"
#include "keyfile.h"

/* Time limit for a link that was ended to come again, in seconds. */
#define CTL_LINK_SECONDS 30
/* Interval at which that link is checked, in seconds. */
#define CTL_LINK_LOOK 0.1
/* Room for the ids of KEYFILE_KEYS keys, as text. */
#define CTL_IDS 64

/* Keys of the device of the present command. */
static struct keyfile ctl_keys_of;

/**
 * ctl_read_keys - read the key file of a device
 * @device: device of the configuration
 * @keys: result; without a key file there are no keys
 *
 * Return: true; or false after an error message.
 */
bool ctl_read_keys(const struct conf_device *device, struct keyfile *keys)
{
	memset(keys, 0, sizeof(*keys));
	return !*device->key_file || keyfile_read(device->key_file, keys);
}

/* Put keys into the keyring of this process. */
static bool ctl_hold_keys(const char *description,
			  const struct keyfile_list *list)
{
	size_t len = list->n * KEYFILE_KEY;

	if (syscall(SYS_add_key, "logon", description, list->keys, len,
		    KEY_SPEC_PROCESS_KEYRING) >= 0)
		return true;
	warn("the kernel does not take the key");
	return false;
}

/*
 * Hand keys to the kernel. NAME is the file of configfs. ID is that of a peer, or
 * KEYFILE_NODES for the device. Without keys, write "none" if the kernel has
 * other ones.
 */
static bool ctl_hand(unsigned int unit, const char *name, unsigned int id,
		     const struct keyfile_list *list)
{
	char description[32], value[CTL_IDS];

	if (!list->n)
		return !ctl_get(unit, name, value, sizeof(value)) ||
		       !strcmp(value, "none") || ctl_set(unit, name, "none");
	if (id < KEYFILE_NODES)
		snprintf(description, sizeof(description), "vrfm:rfm2g%u:%u",
			 unit, id);
	else
		snprintf(description, sizeof(description), "vrfm:rfm2g%u", unit);
	return ctl_hold_keys(description, list) &&
	       ctl_set(unit, name, description);
}

/**
 * ctl_hand_device - hand the keys of a device to the kernel
 * @unit: N of rfm2gN
 * @keys: keys
 *
 * Return: true; or false after an error message.
 */
bool ctl_hand_device(unsigned int unit, const struct keyfile *keys)
{
	return ctl_hand(unit, "key", KEYFILE_NODES, &keys->device);
}

/**
 * ctl_hand_peer - hand the keys that this node shares with one peer to the kernel
 * @unit: N of rfm2gN
 * @id: node ID of the peer, which the device has
 * @keys: keys
 *
 * Return: true; or false after an error message.
 */
bool ctl_hand_peer(unsigned int unit, unsigned int id,
		   const struct keyfile *keys)
{
	char name[32];

	snprintf(name, sizeof(name), "peers/%u/key", id);
	return ctl_hand(unit, name, id, &keys->peers[id]);
}

/*
 * Hand all keys over to a device that is up. A peer must always have a key, so
 * the device loses its keys last, and gets them first.
 */
static bool ctl_hand_all(const struct conf_device *device,
			 const struct keyfile *keys)
{
	bool good = !keys->device.n || ctl_hand_device(device->unit, keys);
	int i;

	for (i = 0; i < device->npeers && good; i++)
		if (ctl_has_peer(device->unit, device->peers[i].id))
			good = ctl_hand_peer(device->unit, device->peers[i].id,
					     keys);
	return good && ctl_hand_device(device->unit, keys);
}

/* ---- genkey ---- */

static bool ctl_genkey_pair(struct keyfile *one, struct keyfile *two,
			    unsigned int a, unsigned int b)
{
	unsigned char key[KEYFILE_KEY];
	bool good = keyfile_random(key);

	if (good) {
		keyfile_add(&one->peers[b], key);
		keyfile_add(&two->peers[a], key);
	}
	explicit_bzero(key, sizeof(key));
	return good;
}

static bool ctl_is_chosen(const struct ctl_choice *choice, unsigned int node)
{
	return choice->nodes[node / 64] >> node % 64 & 1;
}

/* Make a file for each chosen node, with a key for each pair of them. */
static enum ctl_result ctl_genkey_nodes(const struct ctl_choice *choice,
					const char *folder)
{
	struct keyfile *files = calloc(KEYFILE_NODES, sizeof(*files));
	char path[PATH_MAX];
	unsigned int a, b;
	bool good = files;

	if (!files)
		warn("memory");
	if (good && mkdir(folder, 0700) && errno != EEXIST) {
		warn("%s", folder);
		good = false;
	}
	for (a = 0; a < KEYFILE_NODES && good; a++)
		for (b = a + 1; b < KEYFILE_NODES && good; b++)
			if (ctl_is_chosen(choice, a) && ctl_is_chosen(choice, b))
				good = ctl_genkey_pair(&files[a], &files[b], a,
						       b);
	for (a = 0; a < KEYFILE_NODES && good; a++) {
		snprintf(path, sizeof(path), "%s/%u.key", folder, a);
		if (ctl_is_chosen(choice, a))
			good = keyfile_create(path, &files[a]);
	}
	if (files)
		explicit_bzero(files, KEYFILE_NODES * sizeof(*files));
	free(files);
	return good ? CTL_OK : CTL_FAILED;
}

/**
 * ctl_genkey - make a key, or a key for each pair of nodes
 * @options: options of the command line
 * @path: file, or folder with --nodes; NULL: the standard output
 *
 * Return: CTL_OK; CTL_USAGE; CTL_FAILED after an error message.
 */
enum ctl_result ctl_genkey(const struct ctl_options *options, const char *path)
{
	static const uint64_t none[4];
	unsigned char key[KEYFILE_KEY];
	bool good;

	if (memcmp(options->choice.nodes, none, sizeof(none)) && path)
		return ctl_genkey_nodes(&options->choice, path);
	if (memcmp(options->choice.nodes, none, sizeof(none))) {
		warnx("genkey --nodes=NODES needs a folder");
		return CTL_USAGE;
	}
	memset(&ctl_keys_of, 0, sizeof(ctl_keys_of));
	good = keyfile_random(key);
	if (good)
		keyfile_add(&ctl_keys_of.device, key);
	explicit_bzero(key, sizeof(key));
	if (good)
		good = path ? keyfile_create(path, &ctl_keys_of) :
			      keyfile_print(&ctl_keys_of);
	keyfile_erase(&ctl_keys_of);
	return good ? CTL_OK : CTL_FAILED;
}

/* ---- keys ---- */

/* Print ids that the kernel has separated by blanks as an array of JSON. */
static void ctl_json_ids(const char *name, char *ids)
{
	const char *comma = "";
	char *id;

	printf(",\"%s\":[", name);
	while ((id = strsep(&ids, " "))) {
		if (!*id || !strcmp(id, "none"))
			continue;
		printf("%s\"%s\"", comma, id);
		comma = ",";
	}
	printf("]");
}

static void ctl_print_key(unsigned int unit, bool json,
			  const struct vrfm_peer_state *peer)
{
	char name[32], ids[CTL_IDS] = "none";
	const char *why = ctl_why(peer);
	struct ctl_text since;

	snprintf(name, sizeof(name), "peers/%u/key", peer->node);
	ctl_get(unit, name, ids, sizeof(ids));
	if (json) {
		printf("{\"node\":%u,\"state\":\"%s\",\"key\":\"%08x\",\"since_ms\":%llu",
		       peer->node, ctl_state(peer), peer->key_id,
		       peer->since_ms);
		ctl_json_ids("keys", ids);
		if (why)
			printf(",\"why\":\"%s\"", why);
		printf("}");
		return;
	}
	printf(" %4u %-7s %7s %08x %s%s%s\n", peer->node, ctl_state(peer),
	       ctl_time(peer->since_ms, &since), peer->key_id, ids,
	       why ? ", " : "", why ? why : "");
}

static bool ctl_print_keys(unsigned int unit, bool json)
{
	char security[16] = "none", ids[CTL_IDS] = "none";
	static struct ctl_view view;
	int fd = ctl_open(unit, O_RDONLY);
	bool good = fd >= 0 && ctl_look(fd, unit, &view);
	uint32_t i;

	if (fd >= 0)
		close(fd);
	if (!good)
		return false;
	ctl_get(unit, "security", security, sizeof(security));
	ctl_get(unit, "key", ids, sizeof(ids));
	if (json) {
		printf("{\"device\":\"rfm2g%u\",\"security\":\"%s\"", unit,
		       security);
		ctl_json_ids("keys", ids);
		printf(",\"peers\":[");
	} else {
		printf("rfm2g%u: security %s, keys %s\n", unit, security, ids);
		if (view.all.count)
			printf(" node state     since key      keys of the pair\n");
	}
	for (i = 0; i < view.all.count; i++) {
		printf("%s", json && i ? "," : "");
		ctl_print_key(unit, json, &view.peers[i]);
	}
	if (json)
		printf("]}");
	return true;
}

/**
 * ctl_keys - print the ids of keys, and of those in use
 * @options: options of the command line
 * @only: name of the device; NULL means all devices
 *
 * Return: CTL_OK; or CTL_FAILED after an error message.
 */
enum ctl_result ctl_keys(const struct ctl_options *options, const char *only)
{
	unsigned int units[CONF_DEVICES];
	int i, n = ctl_devices(only, units), shown = 0;

	if (options->json)
		printf("[");
	for (i = 0; i < n; i++) {
		if (options->json && shown)
			printf(",\n");
		shown += ctl_print_keys(units[i], options->json);
	}
	if (options->json)
		printf("]\n");
	return n && shown == n ? CTL_OK : CTL_FAILED;
}

/* ---- rekey ---- */

/* Return the device of a command, whose keys are read into ctl_keys_of. */
static struct conf_device *ctl_keyed(const struct ctl_options *options,
				     const char *only, struct conf *conf)
{
	struct conf_device *device = NULL;
	unsigned int unit;
	int i, n = 0;

	if (only && !conf_unit(only, &unit)) {
		warnx("%s: devices are rfm2g0 to rfm2g7", only);
		return NULL;
	}
	if (ctl_conf(options->path, conf))
		return NULL;
	for (i = 0; i < conf->n; i++) {
		if ((only && conf->devices[i].unit != unit) ||
		    !*conf->devices[i].key_file)
			continue;
		device = &conf->devices[i];
		n++;
	}
	if (!n)
		warnx("%s: no %s with a key_file", options->path,
		      only ? only : "device");
	if (n > 1)
		warnx("%s: there are %d devices with a key_file: name one of them",
		      options->path, n);
	return n == 1 && ctl_read_keys(device, &ctl_keys_of) ? device : NULL;
}

static const struct vrfm_peer_state *ctl_peer_of(const struct ctl_view *view,
						 unsigned int id)
{
	uint32_t i;

	for (i = 0; i < view->all.count; i++)
		if (view->peers[i].node == id)
			return &view->peers[i];
	return NULL;
}

/*
 * End the link of a peer: give the peer a key that nobody else has, and its own
 * keys at once afterwards. The next attempt to connect comes later than that.
 */
static bool ctl_cut(unsigned int unit, unsigned int id,
		    const struct keyfile *keys)
{
	struct keyfile_list other = { .n = 1 };
	sigset_t all, before;
	char name[32];
	bool good;

	snprintf(name, sizeof(name), "peers/%u/key", id);
	if (!keyfile_random(other.keys[0]))
		return false;
	/* The peer must not keep that key if the user interrupts the command. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	good = ctl_hand(unit, name, id, &other);
	good = ctl_hand_peer(unit, id, keys) && good;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return good;
}

/* End the link of a peer, and wait until the link is ready again. */
static bool ctl_link_again(const struct ctl_options *options, int fd,
			   struct ctl_view *view, unsigned int id)
{
	double end = ctl_now() + (options->timeout ?: CTL_LINK_SECONDS);
	const struct vrfm_peer_state *peer = ctl_peer_of(view, id);
	uint64_t links;

	if (!peer || peer->state == VRFM_PEER_DOWN)
		return true;
	links = peer->links;
	if (!ctl_cut(view->unit, id, &ctl_keys_of))
		return false;
	while (ctl_now() < end) {
		if (!ctl_look(fd, view->unit, view))
			return false;
		peer = ctl_peer_of(view, id);
		if (!peer || (peer->links > links &&
			      peer->state == VRFM_PEER_READY &&
			      peer->flags & VRFM_PEER_SYNCED))
			return true;
		ctl_pause(CTL_LINK_LOOK);
	}
	warnx("rfm2g%u: node %u did not come again", view->unit, id);
	return false;
}

static bool ctl_links_again(const struct ctl_options *options,
			    const struct conf_device *device)
{
	static struct ctl_view view;
	int i, fd = ctl_open(device->unit, O_RDONLY);
	bool good = fd >= 0;

	for (i = 0; i < device->npeers && good; i++)
		good = ctl_look(fd, device->unit, &view) &&
		       ctl_link_again(options, fd, &view, device->peers[i].id);
	if (fd >= 0)
		close(fd);
	return good;
}

/* Check that a device is up, and has a level. */
static bool ctl_has_level(unsigned int unit)
{
	char level[16];

	if (!ctl_is_enabled(unit)) {
		warnx("rfm2g%u is not up", unit);
		return false;
	}
	if (ctl_get(unit, "security", level, sizeof(level)) &&
	    strcmp(level, "none"))
		return true;
	warnx("rfm2g%u has no level of security", unit);
	return false;
}

/* Show the keys after a command that changed them. */
static bool ctl_show_keys(const struct ctl_options *options, unsigned int unit)
{
	bool good = ctl_print_keys(unit, options->json);

	if (options->json)
		putchar('\n');
	return good;
}

/**
 * ctl_rekey - hand the key file over again, and perhaps make links again
 * @options: options of the command line
 * @only: name of the device; NULL if one device has a key file
 *
 * Return: CTL_OK; or CTL_FAILED after an error message.
 */
enum ctl_result ctl_rekey(const struct ctl_options *options, const char *only)
{
	static struct conf conf;
	struct conf_device *device = ctl_keyed(options, only, &conf);
	bool good;

	if (!device)
		return CTL_FAILED;
	good = ctl_has_level(device->unit) &&
	       ctl_hand_all(device, &ctl_keys_of) &&
	       (!options->links || ctl_links_again(options, device)) &&
	       ctl_show_keys(options, device->unit);
	keyfile_erase(&ctl_keys_of);
	return good ? CTL_OK : CTL_FAILED;
}

/* ---- key next, switch, drop ---- */

static bool ctl_next(const char *path, struct keyfile_list *list)
{
	static struct keyfile next;
	bool good = keyfile_read(path, &next);
	int i;

	if (good && !next.device.n) {
		warnx("%s has no key of a device", path);
		good = false;
	}
	for (i = 0; good && i < next.device.n; i++) {
		if (keyfile_has(list, next.device.keys[i]))
			continue;
		good = keyfile_add(list, next.device.keys[i]);
		if (!good)
			warnx("the device has %d keys: vrfmctl key drop first",
			      KEYFILE_KEYS);
	}
	keyfile_erase(&next);
	return good;
}

/* Check that there are two keys for the steps behind "next". */
static bool ctl_has_next(const struct keyfile_list *list)
{
	if (list->n > 1)
		return true;
	warnx("there is no next key: vrfmctl key next FILE first");
	return false;
}

static bool ctl_switch(struct keyfile_list *list)
{
	unsigned char last[KEYFILE_KEY];

	if (!ctl_has_next(list))
		return false;
	memcpy(last, list->keys[list->n - 1], sizeof(last));
	memmove(list->keys[1], list->keys[0], (list->n - 1) * sizeof(last));
	memcpy(list->keys[0], last, sizeof(last));
	explicit_bzero(last, sizeof(last));
	return true;
}

/* Check whether a link uses another key of the device than the first one. */
static bool ctl_uses_old(unsigned int unit, const struct vrfm_peer_state *peer)
{
	char ids[CTL_IDS];

	return peer->state != VRFM_PEER_DOWN &&
	       !ctl_keys_of.peers[peer->node].n &&
	       ctl_get(unit, "key", ids, sizeof(ids)) &&
	       strtoul(ids, NULL, 16) != peer->key_id;
}

/*
 * Check that no link uses an old key. With --now, make each such link again
 * first, which then uses the first key of the node that connects.
 */
static bool ctl_leave_old(const struct ctl_options *options,
			  const struct conf_device *device)
{
	static struct ctl_view view;
	int fd = ctl_open(device->unit, O_RDONLY);
	bool good = fd >= 0 && ctl_look(fd, device->unit, &view);
	const struct vrfm_peer_state *peer;
	int i;

	for (i = 0; good && i < device->npeers; i++) {
		peer = ctl_peer_of(&view, device->peers[i].id);
		if (!peer || !ctl_uses_old(device->unit, peer))
			continue;
		if (options->now)
			good = ctl_link_again(options, fd, &view,
					      device->peers[i].id);
		peer = ctl_peer_of(&view, device->peers[i].id);
		if (!good || !peer || !ctl_uses_old(device->unit, peer))
			continue;
		warnx("rfm2g%u: the link with node %u uses the old key: %s",
		      device->unit, peer->node, options->now ?
		      "vrfmctl key switch on that node first" :
		      "--now makes it again");
		good = false;
	}
	if (fd >= 0)
		close(fd);
	return good;
}

static bool ctl_drop(const struct ctl_options *options,
		     const struct conf_device *device)
{
	struct keyfile_list *list = &ctl_keys_of.device;

	if (!ctl_has_next(list))
		return false;
	/* The kernel must have the keys of the file, in the same order. */
	if (ctl_is_enabled(device->unit) &&
	    !(ctl_hand_all(device, &ctl_keys_of) &&
	      ctl_leave_old(options, device)))
		return false;
	explicit_bzero(list->keys[1], (list->n - 1) * KEYFILE_KEY);
	list->n = 1;
	return true;
}

/**
 * ctl_key - make one step of the replacement of a key
 * @options: options of the command line
 * @argc: number of words: the step, the file of "next", and perhaps a device
 * @argv: words
 *
 * Return: CTL_OK; CTL_USAGE; CTL_FAILED after an error message.
 */
enum ctl_result ctl_key(const struct ctl_options *options, int argc, char **argv)
{
	int files = argc > 0 && !strcmp(argv[0], "next");
	const char *only = argc > 1 + files ? argv[1 + files] : NULL;
	static struct conf conf;
	struct conf_device *device;
	bool good;

	if (argc < 1 + files || argc > 2 + files ||
	    (!files && strcmp(argv[0], "switch") && strcmp(argv[0], "drop")))
		return CTL_USAGE;
	if (options->now && strcmp(argv[0], "drop"))
		return CTL_USAGE;
	device = ctl_keyed(options, only, &conf);
	if (!device)
		return CTL_FAILED;
	if (files)
		good = ctl_next(argv[1], &ctl_keys_of.device);
	else if (!strcmp(argv[0], "switch"))
		good = ctl_switch(&ctl_keys_of.device);
	else
		good = ctl_drop(options, device);
	good = good && keyfile_replace(device->key_file, &ctl_keys_of);
	if (good && ctl_is_enabled(device->unit))
		good = ctl_hand_all(device, &ctl_keys_of) &&
		       ctl_show_keys(options, device->unit);
	keyfile_erase(&ctl_keys_of);
	return good ? CTL_OK : CTL_FAILED;
}
