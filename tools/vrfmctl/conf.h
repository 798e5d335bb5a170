/* SPDX-License-Identifier: GPL-2.0 */
/* Configuration of the devices of this host, read from /etc/vrfm.conf. */
#ifndef VRFMCTL_CONF_H
#define VRFMCTL_CONF_H

#include <stdbool.h>
#include <stdio.h>

#define CONF_DEVICES 8
#define CONF_PEERS 255
#define CONF_VALUE 64
#define CONF_PATH 256

/* Keys of a device. Their values are passed to the kernel as text. */
enum conf_key {
	CONF_NODE,
	CONF_NETWORK,
	CONF_SIZE,
	CONF_LISTEN,
	CONF_PORT,
	CONF_OVERLOAD_US,
	CONF_OVERLOAD_MS,
	CONF_KEEPALIVE_MS,
	CONF_FLUSH_US,
	CONF_QUIET_US,
	CONF_STAGE_MS,
	CONF_UNSTAGE_MS,
	CONF_DIRECT,
	CONF_DIRECT_MIN,
	CONF_SECURITY,
	CONF_KEYS,
};

/**
 * struct conf_peer - a peer
 * @id: node ID
 * @addr: address, or "any"
 * @port: port; if it is empty, the port of the device is used
 * @overload_us: maximum time that a writer waits for this peer, in us; if it is
 *	empty, the value of the device is used
 */
struct conf_peer {
	unsigned int id;
	char addr[CONF_VALUE];
	char port[8];
	char overload_us[12];
};

/**
 * struct conf_place - position of a parser in a file
 * @path: path of the file
 * @line: number of the line
 * @skip: the line [rfm2gN] of the section is invalid, so its lines are ignored
 */
struct conf_place {
	const char *path;
	int line;
	bool skip;
};

/**
 * struct conf_device - a device
 * @unit: N of rfm2gN
 * @line: number of the line at which its section begins
 * @values: values of the keys; a value that the file does not give is empty
 * @key_file: path of the file with the keys; if it is empty, there are none
 * @peers: peers of the device
 * @npeers: number of @peers
 */
struct conf_device {
	unsigned int unit;
	int line;
	char values[CONF_KEYS][CONF_VALUE];
	char key_file[CONF_PATH];
	struct conf_peer peers[CONF_PEERS];
	int npeers;
};

/**
 * struct conf - the configuration
 * @devices: devices in the order of the file
 * @n: number of @devices
 */
struct conf {
	struct conf_device devices[CONF_DEVICES];
	int n;
};

extern const char * const conf_names[CONF_KEYS];

bool conf_error(const struct conf_place *at, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool conf_read(FILE *file, const char *path, struct conf *conf);
struct conf_device *conf_find(struct conf *conf, unsigned int unit);
bool conf_is_plain(const char *text);
const char *conf_tuned_default(enum conf_key key);
bool conf_unit(const char *name, unsigned int *unit);

#endif /* VRFMCTL_CONF_H */
