// SPDX-License-Identifier: GPL-2.0
/* Devices as directories of configfs. What fails is told, with its errno. */
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

/* What could not be done; who may not is told who may. */
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
 * ctl_is_loaded - is the driver loaded?
 *
 * Return: true if it is.
 */
bool ctl_is_loaded(void)
{
	return !access("/sys/module/vrfm", F_OK);
}

/**
 * ctl_load - have the driver loaded, and configfs mounted
 *
 * Return: false, after a line: one of them is not to be had.
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
 * ctl_exists - is there such a directory?
 * @unit: of the device
 *
 * Return: true if there is.
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
 * ctl_get - what the kernel has for a device
 * @unit: of the device
 * @name: of the value
 * @value: gets it
 * @room: of @value
 *
 * Return: false: there is no such value.
 */
bool ctl_get(unsigned int unit, const char *name, char *value, size_t room)
{
	char path[PATH_MAX];

	ctl_path(unit, name, path, sizeof(path));
	return ctl_read(path, value, room);
}

/**
 * ctl_is_enabled - is it a device already?
 * @unit: of the device
 *
 * Return: true if it is.
 */
bool ctl_is_enabled(unsigned int unit)
{
	char value[16];

	return ctl_get(unit, "enable", value, sizeof(value)) &&
	       !strcmp(value, "1");
}

/**
 * ctl_is_foreign - is it a device that configfs has not made?
 * @unit: of the device
 *
 * Return: true if so: the module's parameters have.
 */
bool ctl_is_foreign(unsigned int unit)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/rfm2g/rfm2g%u", unit);
	return !access(path, F_OK) && !ctl_is_enabled(unit);
}

/**
 * ctl_make - make the directory of a device
 * @unit: of the device
 *
 * Return: false, after a line for the user.
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
 * ctl_set - say what a device shall be
 * @unit: of the device
 * @name: of the value
 * @value: what it becomes
 *
 * Return: false, after a line for the user.
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
		warnx("rfm2g%u: this driver knows no %s", unit, name);
	else if (!good)
		ctl_complain("rfm2g%u: %s %s", unit, name, value);
	if (fd >= 0)
		close(fd);
	return good;
}

/**
 * ctl_has_peer - does a device have a peer?
 * @unit: of the device
 * @id: of the peer
 *
 * Return: true if it has.
 */
bool ctl_has_peer(unsigned int unit, unsigned int id)
{
	char name[32], path[PATH_MAX];

	snprintf(name, sizeof(name), "peers/%u", id);
	ctl_path(unit, name, path, sizeof(path));
	return !access(path, F_OK);
}

/* Is there such a peer, at that address? */
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

/* A driver that has no such value needs it only if the file has. */
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
 * ctl_add_peer - add a peer to a device, or tell where it is
 * @unit: of the device
 * @peer: to add
 *
 * One that is there keeps its address as long as it is: it goes and comes
 * again if it shall have another.
 *
 * Return: false, after a line for the user.
 */
bool ctl_add_peer(unsigned int unit, const struct conf_peer *peer)
{
	char name[32], path[PATH_MAX];

	if (ctl_has_same_peer(unit, peer))
		return ctl_tune_peer(unit, peer);
	snprintf(name, sizeof(name), "peers/%u", peer->id);
	ctl_path(unit, name, path, sizeof(path));
	if (rmdir(path) && errno != ENOENT) {
		ctl_complain("rfm2g%u: peer %u", unit, peer->id);
		return false;
	}
	if (mkdir(path, 0755)) {
		if (errno == ENOENT)
			warnx("rfm2g%u: this driver knows no peers", unit);
		else
			ctl_complain("rfm2g%u: peer %u", unit, peer->id);
		return false;
	}
	snprintf(name, sizeof(name), "peers/%u/port", peer->id);
	if (*peer->port && !ctl_set(unit, name, peer->port))
		return false;
	if (!ctl_tune_peer(unit, peer))
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
 * ctl_keep_peers - remove the peers that are not wanted any more
 * @device: what the file says
 *
 * Return: false, after a line for the user.
 */
bool ctl_keep_peers(const struct conf_device *device)
{
	return ctl_drop_peers(device->unit, device);
}

/**
 * ctl_remove - remove the directory of a device, and the device with it
 * @unit: of the device
 *
 * Return: false, after a line for the user.
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
