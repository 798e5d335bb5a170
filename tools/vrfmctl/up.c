// SPDX-License-Identifier: GPL-2.0
/* Bring devices of the configuration up, and bring devices down. */
#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"

/* Return the name that a key has in configfs. */
static const char *ctl_name(enum conf_key key)
{
	return key == CONF_NODE ? "node_id" : conf_names[key];
}

/*
 * Parse a number with an optional suffix. Callers compare the numbers of the
 * file and of the kernel, because equal numbers may have different texts.
 */
static uint64_t ctl_number(const char *text)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	return unit ? value << 10 * (unit - units + 1) : value;
}

static bool ctl_is_same(enum conf_key key, const char *a, const char *b)
{
	if (key == CONF_LISTEN || key == CONF_DIRECT || key == CONF_SECURITY)
		return !strcmp(a, b);
	return ctl_number(a) == ctl_number(b);
}

/*
 * Check whether a device has the wanted value of a key. If the key is
 * overload_ms, check the device's overload_us, because the device rounds its
 * overload_ms up.
 */
static bool ctl_has(unsigned int unit, enum conf_key key, const char *wanted,
		    char *value, size_t size)
{
	if (key != CONF_OVERLOAD_MS)
		return !ctl_get(unit, ctl_name(key), value, size) ||
		       ctl_is_same(key, value, wanted);
	return !ctl_get(unit, ctl_name(CONF_OVERLOAD_US), value, size) ||
	       ctl_number(value) == ctl_number(wanted) * 1000;
}

/*
 * Check that a device has the wanted values of the keys that cannot change
 * while it is up.
 */
static bool ctl_agrees(const struct conf_device *device)
{
	char value[CONF_VALUE];
	int key;

	for (key = 0; key < CONF_KEYS; key++) {
		if (!*device->values[key] || conf_tuned_default(key) ||
		    ctl_has(device->unit, key, device->values[key], value,
			    sizeof(value)))
			continue;
		warnx("rfm2g%u is up with %s %s, not %s: vrfmctl down rfm2g%u first",
		      device->unit, conf_names[key], value, device->values[key],
		      device->unit);
		return false;
	}
	return true;
}

/*
 * Return the wanted value of a key: the value in the file, or the default if
 * the file has no line with this key, because the user may have removed it.
 * overload_us and overload_ms set the same value. So return NULL for
 * overload_ms if the file does not give it, and for overload_us if the file
 * gives only overload_ms.
 */
static const char *ctl_wanted(const struct conf_device *device,
			      enum conf_key key)
{
	if (*device->values[key])
		return device->values[key];
	if (key == CONF_OVERLOAD_US && *device->values[CONF_OVERLOAD_MS])
		return NULL;
	if (key == CONF_OVERLOAD_MS)
		return NULL;
	return conf_tuned_default(key);
}

static bool ctl_tune(const struct conf_device *device)
{
	char value[CONF_VALUE];
	const char *wanted;
	int key;

	for (key = 0; key < CONF_KEYS; key++) {
		wanted = conf_tuned_default(key) ? ctl_wanted(device, key) :
						   NULL;
		if (wanted && !ctl_has(device->unit, key, wanted, value,
				       sizeof(value)) &&
		    !ctl_set(device->unit, ctl_name(key), wanted))
			return false;
	}
	return true;
}

/*
 * Set the peers, and the keys. With a level a peer must have a key at any time.
 * So the keys of the device come first, and are removed last.
 */
static bool ctl_peers(const struct conf_device *device,
		      const struct keyfile *keys)
{
	int i;

	if (!ctl_keep_peers(device) ||
	    (keys->device.n && !ctl_hand_device(device->unit, keys)))
		return false;
	for (i = 0; i < device->npeers; i++)
		if (!ctl_add_peer(device->unit, &device->peers[i], keys))
			return false;
	return keys->device.n || ctl_hand_device(device->unit, keys);
}

static bool ctl_describe(const struct conf_device *device,
			 const struct keyfile *keys)
{
	int key;

	for (key = 0; key < CONF_KEYS; key++)
		if (*device->values[key] &&
		    !ctl_set(device->unit, ctl_name(key), device->values[key]))
			return false;
	return ctl_peers(device, keys);
}

static bool ctl_create(const struct conf_device *device,
		       const struct keyfile *keys)
{
	bool was_there = ctl_exists(device->unit);

	if (!ctl_make(device->unit))
		return false;
	if (ctl_describe(device, keys) && ctl_set(device->unit, "enable", "1"))
		return true;
	/* Remove the incomplete device, unless its directory existed before. */
	if (!was_there)
		ctl_remove(device->unit);
	return false;
}

/*
 * Check that a device was not created by module parameters. Such a device can
 * only be removed by unloading the driver.
 */
static bool ctl_is_ours(unsigned int unit)
{
	if (!ctl_is_foreign(unit))
		return true;
	warnx("rfm2g%u was made by node= of the module: modprobe -r vrfm takes it away",
	      unit);
	return false;
}

/**
 * ctl_up - create a device, or update one that is up
 * @device: device of the configuration
 *
 * If the device is up, this updates its peers and keys, and those values that
 * can change while it is up.
 *
 * Return: CTL_OK, also if the device was up before; CTL_FAILED after an error
 * message.
 */
enum ctl_result ctl_up(struct conf_device *device)
{
	static struct keyfile keys;
	bool good;

	/* With an unsafe file of keys nothing is brought up. */
	if (!ctl_load() || !ctl_is_ours(device->unit) ||
	    !ctl_read_keys(device, &keys))
		return CTL_FAILED;
	if (ctl_is_enabled(device->unit))
		good = ctl_agrees(device) && ctl_tune(device) &&
		       ctl_peers(device, &keys);
	else
		good = ctl_create(device, &keys);
	keyfile_erase(&keys);
	return good ? CTL_OK : CTL_FAILED;
}

/*
 * Check whether a process has a device open. HOW is "fd" to check its file
 * descriptors, or "map_files" to check its mappings. A mapping keeps the device
 * open after the descriptor has been closed.
 */
static bool ctl_has_open(const char *pid, const char *how, const char *device)
{
	char path[PATH_MAX], link[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, how);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, link,
				 sizeof(link) - 1);
		found = len > 0 && (size_t)len == strlen(device) &&
			!strncmp(link, device, len);
	}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * Print a process that has a device open. Replace special characters of its
 * name, because they could control the terminal.
 */
static void ctl_print_user(const char *pid)
{
	char path[PATH_MAX], name[32] = "?", *c;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "r");
	if (file) {
		if (fgets(name, sizeof(name), file))
			name[strcspn(name, "\n")] = 0;
		fclose(file);
	}
	for (c = name; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	fprintf(stderr, "  opened by process %s (%s)\n", pid, name);
}

/* List the processes that have a device open. */
static void ctl_print_users(unsigned int unit)
{
	char device[32];
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	snprintf(device, sizeof(device), "/dev/rfm2g%u", unit);
	while (dir && (entry = readdir(dir)))
		if (isdigit((unsigned char)*entry->d_name) &&
		    (ctl_has_open(entry->d_name, "fd", device) ||
		     ctl_has_open(entry->d_name, "map_files", device)))
			ctl_print_user(entry->d_name);
	if (dir)
		closedir(dir);
}

/**
 * ctl_down - remove a device, unless it is open
 * @unit: N of rfm2gN
 *
 * Return: CTL_OK, also if there is no such device; CTL_FAILED after an error
 * message.
 */
enum ctl_result ctl_down(unsigned int unit)
{
	if (!ctl_is_ours(unit))
		return CTL_FAILED;
	if (!ctl_exists(unit))
		return CTL_OK;
	if (ctl_is_enabled(unit) && !ctl_set(unit, "enable", "0")) {
		ctl_print_users(unit);
		return CTL_FAILED;
	}
	return ctl_remove(unit) ? CTL_OK : CTL_FAILED;
}
