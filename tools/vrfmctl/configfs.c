// SPDX-License-Identifier: GPL-2.0
/* Create, change and remove devices, which are directories of configfs. */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl.h"

#define CTL_MOUNT "/sys/kernel/config"

/* Report a failure and errno. If only root may do it, say so. */
static void __attribute__((format(printf, 1, 2)))
ctl_complain(const char *format, ...)
{
	bool refused = errno == EACCES || errno == EPERM;
	va_list args;

	va_start(args, format);
	vwarn(format, args);
	va_end(args);
	if (refused)
		warnx("only root may bring devices up and down");
}

static void ctl_path(unsigned int unit, const char *name, char *path,
		     size_t room)
{
	snprintf(path, room, CTL_CONFIGFS "/rfm2g%u%s%s", unit,
		 *name ? "/" : "", name);
}

static bool ctl_modprobe(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execlp("modprobe", "modprobe", "vrfm", NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	return !status;
}

/**
 * ctl_is_loaded - check whether the driver is loaded
 *
 * Return: true if the driver is loaded.
 */
bool ctl_is_loaded(void)
{
	return !access("/sys/module/vrfm", F_OK);
}

/**
 * ctl_load - load the driver and mount configfs, if necessary
 *
 * Return: true; or false after an error message.
 */
bool ctl_load(void)
{
	if (!access(CTL_CONFIGFS, F_OK))
		return true;
	if (!ctl_is_loaded() && !ctl_modprobe()) {
		warnx("the driver cannot be loaded: modprobe vrfm");
		return false;
	}
	if (access(CTL_CONFIGFS, F_OK) &&
	    mount("none", CTL_MOUNT, "configfs", 0, NULL) && errno != EBUSY) {
		ctl_complain("configfs cannot be mounted on " CTL_MOUNT);
		return false;
	}
	if (!access(CTL_CONFIGFS, F_OK))
		return true;
	ctl_complain(CTL_CONFIGFS);
	return false;
}

/**
 * ctl_exists - check whether configfs has a directory for a device
 * @unit: N of rfm2gN
 *
 * Return: true if the directory exists.
 */
bool ctl_exists(unsigned int unit)
{
	char path[PATH_MAX];

	ctl_path(unit, "", path, sizeof(path));
	return !access(path, F_OK);
}

static bool ctl_read(const char *path, char *value, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, value, room - 1);
	close(fd);
	if (len < 0)
		return false;
	value[len] = 0;
	value[strcspn(value, "\n")] = 0;
	return true;
}

/**
 * ctl_get - read a value of a device
 * @unit: N of rfm2gN
 * @name: name of the value
 * @value: result
 * @room: size of @value
 *
 * Return: true, or false if there is no such value.
 */
bool ctl_get(unsigned int unit, const char *name, char *value, size_t room)
{
	char path[PATH_MAX];

	ctl_path(unit, name, path, sizeof(path));
	return ctl_read(path, value, room);
}

/**
 * ctl_is_enabled - check whether configfs has a device that is up
 * @unit: N of rfm2gN
 *
 * Return: true if configfs has the device, and it is up.
 */
bool ctl_is_enabled(unsigned int unit)
{
	char value[16];

	return ctl_get(unit, "enable", value, sizeof(value)) &&
	       !strcmp(value, "1");
}

/**
 * ctl_is_foreign - check whether module parameters created a device
 * @unit: N of rfm2gN
 *
 * Return: true if the device exists, but was not created through configfs.
 */
bool ctl_is_foreign(unsigned int unit)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/rfm2g/rfm2g%u", unit);
	return !access(path, F_OK) && !ctl_is_enabled(unit);
}

/**
 * ctl_make - create the directory of a device
 * @unit: N of rfm2gN
 *
 * Return: true; or false after an error message.
 */
bool ctl_make(unsigned int unit)
{
	char path[PATH_MAX];

	ctl_path(unit, "", path, sizeof(path));
	if (!mkdir(path, 0755) || errno == EEXIST)
		return true;
	ctl_complain("%s", path);
	return false;
}

/**
 * ctl_set - write a value of a device
 * @unit: N of rfm2gN
 * @name: name of the value
 * @value: text of the value
 *
 * Return: true; or false after an error message.
 */
bool ctl_set(unsigned int unit, const char *name, const char *value)
{
	char path[PATH_MAX];
	bool good;
	int fd;

	ctl_path(unit, name, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	good = fd >= 0 && write(fd, value, strlen(value)) >= 0;
	if (!good && errno == ENOENT)
		warnx("rfm2g%u: this driver does not support %s", unit, name);
	else if (!good)
		ctl_complain("rfm2g%u: %s %s", unit, name, value);
	if (fd >= 0)
		close(fd);
	return good;
}

/**
 * ctl_has_peer - check whether a device has a peer
 * @unit: N of rfm2gN
 * @id: node ID of the peer
 *
 * Return: true if the device has a peer with this ID.
 */
bool ctl_has_peer(unsigned int unit, unsigned int id)
{
	char name[32], path[PATH_MAX];

	snprintf(name, sizeof(name), "peers/%u", id);
	ctl_path(unit, name, path, sizeof(path));
	return !access(path, F_OK);
}

/* Check whether a device has a peer with this ID, address and port. */
static bool ctl_has_same_peer(unsigned int unit, const struct conf_peer *peer)
{
	char name[32], addr[CONF_VALUE], port[CONF_VALUE], usual[CONF_VALUE];
	const char *wanted = *peer->port ? peer->port : usual;

	snprintf(name, sizeof(name), "peers/%u/addr", peer->id);
	if (!ctl_get(unit, name, addr, sizeof(addr)) || strcmp(addr, peer->addr))
		return false;
	snprintf(name, sizeof(name), "peers/%u/port", peer->id);
	return ctl_get(unit, name, port, sizeof(port)) &&
	       ctl_get(unit, "port", usual, sizeof(usual)) &&
	       strtoul(port, NULL, 0) == strtoul(wanted, NULL, 0);
}

/*
 * Set the overload_us of a peer. An older driver does not have this value. This
 * is an error only if the configuration sets the value.
 */
static bool ctl_tune_peer(unsigned int unit, const struct conf_peer *peer)
{
	const char *wanted = *peer->overload_us ? peer->overload_us : "device";
	char name[40], value[CONF_VALUE];

	snprintf(name, sizeof(name), "peers/%u/overload_us", peer->id);
	if (!ctl_get(unit, name, value, sizeof(value)))
		return !*peer->overload_us || ctl_set(unit, name, wanted);
	return !strcmp(value, wanted) || ctl_set(unit, name, wanted);
}

/**
 * ctl_add_peer - add or update a peer of a device
 * @unit: N of rfm2gN
 * @peer: peer
 * @keys: keys, perhaps some that only this node and the peer share
 *
 * The address of a peer is fixed. To change it, this function removes the peer
 * and adds it with the new address.
 *
 * Return: true; or false after an error message.
 */
bool ctl_add_peer(unsigned int unit, const struct conf_peer *peer,
		  const struct keyfile *keys)
{
	char name[32], path[PATH_MAX];

	if (ctl_has_same_peer(unit, peer))
		return ctl_tune_peer(unit, peer) &&
		       ctl_hand_peer(unit, peer->id, keys);
	snprintf(name, sizeof(name), "peers/%u", peer->id);
	ctl_path(unit, name, path, sizeof(path));
	if (rmdir(path) && errno != ENOENT) {
		ctl_complain("rfm2g%u: peer %u", unit, peer->id);
		return false;
	}
	if (mkdir(path, 0755)) {
		if (errno == ENOENT)
			warnx("rfm2g%u: this driver does not support peers",
			      unit);
		else
			ctl_complain("rfm2g%u: peer %u", unit, peer->id);
		return false;
	}
	snprintf(name, sizeof(name), "peers/%u/port", peer->id);
	if (*peer->port && !ctl_set(unit, name, peer->port))
		return false;
	if (!ctl_tune_peer(unit, peer) || !ctl_hand_peer(unit, peer->id, keys))
		return false;
	snprintf(name, sizeof(name), "peers/%u/addr", peer->id);
	return ctl_set(unit, name, peer->addr);
}

static bool ctl_is_wanted(const struct conf_device *device, const char *id)
{
	int i;

	for (i = 0; device && i < device->npeers; i++)
		if (device->peers[i].id == (unsigned int)atoi(id))
			return true;
	return false;
}

static bool ctl_drop_peers(unsigned int unit, const struct conf_device *keep)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool good = true;
	DIR *dir;

	ctl_path(unit, "peers", path, sizeof(path));
	dir = opendir(path);
	if (!dir)
		return true;
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.' || ctl_is_wanted(keep, entry->d_name))
			continue;
		if (!unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR))
			continue;
		ctl_complain("rfm2g%u: peer %s", unit, entry->d_name);
		good = false;
	}
	closedir(dir);
	return good;
}

/**
 * ctl_keep_peers - remove the peers that are not in the configuration
 * @device: device of the configuration
 *
 * Return: true; or false after an error message.
 */
bool ctl_keep_peers(const struct conf_device *device)
{
	return ctl_drop_peers(device->unit, device);
}

/**
 * ctl_remove - remove a device and its directory
 * @unit: N of rfm2gN
 *
 * Return: true; or false after an error message.
 */
bool ctl_remove(unsigned int unit)
{
	char path[PATH_MAX];

	ctl_path(unit, "", path, sizeof(path));
	if (!ctl_drop_peers(unit, NULL))
		return false;
	if (!rmdir(path) || errno == ENOENT)
		return true;
	ctl_complain("%s", path);
	return false;
}
