// SPDX-License-Identifier: GPL-2.0
/*
 * Parser of the configuration. It reports each error with its line. A file with
 * an error is not used at all.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

#define CONF_SIZE_MIN 4096ULL
#define CONF_SIZE_MAX (2ULL << 30)

/*
 * Names of the keys in the file. configfs has the same names, except "node_id"
 * instead of "node".
 */
const char * const conf_names[CONF_KEYS] = {
	[CONF_NODE] = "node",
	[CONF_NETWORK] = "network",
	[CONF_SIZE] = "size",
	[CONF_LISTEN] = "listen",
	[CONF_PORT] = "port",
	[CONF_OVERLOAD_US] = "overload_us",
	[CONF_OVERLOAD_MS] = "overload_ms",
	[CONF_KEEPALIVE_MS] = "keepalive_ms",
	[CONF_FLUSH_US] = "flush_us",
	[CONF_QUIET_US] = "quiet_us",
	[CONF_STAGE_MS] = "stage_ms",
	[CONF_UNSTAGE_MS] = "unstage_ms",
	[CONF_DIRECT] = "direct",
	[CONF_DIRECT_MIN] = "direct_min",
	[CONF_SECURITY] = "security",
};

/* Range of numbers that the driver accepts for each key. */
static const struct {
	uint64_t min, max;
} conf_limits[CONF_KEYS] = {
	[CONF_NODE] = { 0, 255 },
	[CONF_NETWORK] = { 0, UINT32_MAX },
	[CONF_PORT] = { 1, 65535 },
	[CONF_OVERLOAD_US] = { 0, 60000000 },
	[CONF_OVERLOAD_MS] = { 1, 60000 },
	[CONF_KEEPALIVE_MS] = { 1, 60000 },
	[CONF_FLUSH_US] = { 0, 1000000 },
	[CONF_QUIET_US] = { 0, 10000000 },
	[CONF_STAGE_MS] = { 1, 60000 },
	[CONF_UNSTAGE_MS] = { 1, 60000 },
	[CONF_DIRECT_MIN] = { 1, 65536 },
};

/**
 * conf_error - print a message about a line of a file
 * @at: the line
 * @format: text, as for printf()
 *
 * Return: false.
 */
bool conf_error(const struct conf_place *at, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", at->path, at->line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return false;
}

/**
 * conf_is_plain - check that a number is not octal
 * @text: number, with an optional suffix
 *
 * C and the kernel take a number with a leading 0 for octal: 010 means 8, and
 * 08 is invalid. People expect decimal numbers.
 *
 * Return: true if the number is decimal, or begins with 0x.
 */
bool conf_is_plain(const char *text)
{
	return isdigit((unsigned char)text[0]) &&
	       !(text[0] == '0' && isdigit((unsigned char)text[1]));
}

static bool conf_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	if (!conf_is_plain(text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value <= max;
}

/* Check that a text is a size: a number with an optional suffix K, M or G. */
static bool conf_is_size(const char *text)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t value;
	char *end;

	if (!conf_is_plain(text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 0);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (errno || value > CONF_SIZE_MAX || (*end && (!unit || end[1])))
		return false;
	if (unit)
		value <<= 10 * (unit - units + 1);
	return value >= CONF_SIZE_MIN && value <= CONF_SIZE_MAX &&
	       !(value % CONF_SIZE_MIN);
}

/*
 * Check a link-local address with a scope, such as fe80::2%eth0. Reject a scope
 * of any other address, because the kernel would ignore it.
 */
static bool conf_is_scoped(const char *text, const char *scope)
{
	char host[INET6_ADDRSTRLEN];
	struct in6_addr address;
	size_t len = scope - text;

	if (len >= sizeof(host) || !scope[1] || strlen(scope + 1) >= IF_NAMESIZE)
		return false;
	memcpy(host, text, len);
	host[len] = 0;
	return inet_pton(AF_INET6, host, &address) == 1 &&
	       IN6_IS_ADDR_LINKLOCAL(&address);
}

static bool conf_is_address(const char *text)
{
	const char *scope = strchr(text, '%');
	struct in6_addr address;

	if (scope)
		return conf_is_scoped(text, scope);
	return inet_pton(AF_INET, text, &address) == 1 ||
	       inet_pton(AF_INET6, text, &address) == 1;
}

static bool conf_is_port(const char *text)
{
	uint64_t port;

	return conf_number(text, 65535, &port) && port;
}

/**
 * conf_unit - parse the name of a device
 * @name: text to parse
 * @unit: result: N of rfm2gN
 *
 * Return: true, or false if @name is not a name from rfm2g0 to rfm2g7.
 */
bool conf_unit(const char *name, unsigned int *unit)
{
	if (strncmp(name, "rfm2g", 5) || name[5] < '0' ||
	    name[5] >= '0' + CONF_DEVICES || name[6])
		return false;
	*unit = name[5] - '0';
	return true;
}

/**
 * conf_find - find a device in the configuration
 * @conf: configuration
 * @unit: N of rfm2gN
 *
 * Return: the device, or NULL if the configuration does not contain it.
 */
struct conf_device *conf_find(struct conf *conf, unsigned int unit)
{
	int i;

	for (i = 0; i < conf->n; i++)
		if (conf->devices[i].unit == unit)
			return &conf->devices[i];
	return NULL;
}

static char *conf_trim(char *text)
{
	char *end;

	text += strspn(text, " \t\r\n");
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	return text;
}

/* Parse the line [rfm2gN], which begins the section of a device. */
static bool conf_section(const struct conf_place *at, char *text,
			 struct conf *conf)
{
	size_t len = strlen(text);
	unsigned int unit;

	if (len < 2 || text[len - 1] != ']')
		return conf_error(at, "a device is written [rfm2gN]");
	text[len - 1] = 0;
	text = conf_trim(text + 1);
	if (!conf_unit(text, &unit))
		return conf_error(at, "%s: devices are rfm2g0 to rfm2g7", text);
	if (conf_find(conf, unit))
		return conf_error(at, "rfm2g%u is in line %d already", unit,
				  conf_find(conf, unit)->line);
	conf->devices[conf->n].unit = unit;
	conf->devices[conf->n].line = at->line;
	conf->n++;
	return true;
}

static bool conf_is_mode(const char *text)
{
	return !strcmp(text, "auto") || !strcmp(text, "on") ||
	       !strcmp(text, "off");
}

static bool conf_is_level(const char *text)
{
	return !strcmp(text, "none") || !strcmp(text, "auth") ||
	       !strcmp(text, "integrity") || !strcmp(text, "encrypt");
}

static bool conf_check_number(const struct conf_place *at, enum conf_key key,
			      const char *value)
{
	uint64_t number;

	if (conf_number(value, conf_limits[key].max, &number) &&
	    number >= conf_limits[key].min)
		return true;
	if (isdigit((unsigned char)*value) && !conf_is_plain(value))
		return conf_error(at, "%s %s: a number has no leading 0",
				  conf_names[key], value);
	return conf_error(at, "%s %s: %llu to %llu", conf_names[key], value,
			  (unsigned long long)conf_limits[key].min,
			  (unsigned long long)conf_limits[key].max);
}

static bool conf_check(const struct conf_place *at, enum conf_key key,
		       const char *value)
{
	switch (key) {
	case CONF_SIZE:
		return conf_is_size(value) ||
		       conf_error(at, "size %s: 4K to 2G, a multiple of 4K",
				  value);
	case CONF_LISTEN:
		return conf_is_address(value) ||
		       conf_error(at, "listen %s: an address", value);
	case CONF_DIRECT:
		return conf_is_mode(value) ||
		       conf_error(at, "direct %s: auto, on or off", value);
	case CONF_SECURITY:
		return conf_is_level(value) ||
		       conf_error(at, "security %s: none, auth, integrity or encrypt",
				  value);
	default:
		return conf_check_number(at, key, value);
	}
}

/**
 * conf_tuned_default - return the default of a value that can change
 * @key: key of the value
 *
 * Return: the driver's default, as in vrfm.conf(5); NULL if the value cannot
 * change while the device is up.
 */
const char *conf_tuned_default(enum conf_key key)
{
	switch (key) {
	case CONF_OVERLOAD_US:
		return "100000";
	case CONF_OVERLOAD_MS:
		return "100";
	case CONF_FLUSH_US:
		return "50";
	case CONF_QUIET_US:
		return "1000";
	case CONF_STAGE_MS:
	case CONF_UNSTAGE_MS:
		return "1000";
	case CONF_DIRECT_MIN:
		return "16384";
	default:
		return NULL;
	}
}

/* Parse the optional words at the end of a peer's line. SAVE points to them. */
static bool conf_peer_rest(const struct conf_place *at, char **save,
			   const char **port, struct conf_peer *peer)
{
	static const char overload[] = "overload_us=";
	const size_t len = sizeof(overload) - 1;
	uint64_t number;
	char *word;

	*port = NULL;
	*peer->overload_us = 0;
	while ((word = strtok_r(NULL, " \t", save))) {
		if (strncmp(word, overload, len)) {
			if (*port || *peer->overload_us)
				return conf_error(at, "peer = ID ADDRESS [PORT] [overload_us=N]");
			*port = word;
			continue;
		}
		if (!conf_number(word + len, conf_limits[CONF_OVERLOAD_US].max,
				 &number))
			return conf_error(at, "peer: %s: 0 to 60000000", word);
		snprintf(peer->overload_us, sizeof(peer->overload_us), "%u",
			 (unsigned int)number);
	}
	return true;
}

/* Parse the value of the line "peer = ID ADDRESS [PORT] [overload_us=N]". */
static bool conf_peer(const struct conf_place *at, char *text,
		      struct conf_device *device)
{
	struct conf_peer *peer = &device->peers[device->npeers];
	char *save, *id = strtok_r(text, " \t", &save);
	char *addr = strtok_r(NULL, " \t", &save);
	const char *port;
	uint64_t number;
	int i;

	if (!id || !addr)
		return conf_error(at, "peer = ID ADDRESS [PORT] [overload_us=N]");
	if (device->npeers == CONF_PEERS)
		return conf_error(at, "at most %d peers", CONF_PEERS);
	if (!conf_peer_rest(at, &save, &port, peer))
		return false;
	if (!conf_number(id, 255, &number))
		return conf_error(at, "peer %s: 0 to 255, without a leading 0", id);
	if (strcmp(addr, "any") && !conf_is_address(addr))
		return conf_error(at, "peer %s: %s is not an address", id,
				  addr);
	if (port && !conf_is_port(port))
		return conf_error(at, "peer %s: port %s: 1 to 65535", id, port);
	for (i = 0; i < device->npeers; i++)
		if (device->peers[i].id == number)
			return conf_error(at, "peer %s is there already", id);
	peer->id = number;
	snprintf(peer->addr, sizeof(peer->addr), "%s", addr);
	/* Store the port in decimal: hexadecimal text may be too long. */
	if (port && conf_number(port, UINT16_MAX, &number))
		snprintf(peer->port, sizeof(peer->port), "%u", (unsigned int)number);
	else
		*peer->port = 0;
	device->npeers++;
	return true;
}

static bool conf_unknown(const struct conf_place *at, const char *name)
{
	char known[256] = "";
	int key;

	for (key = 0; key < CONF_KEYS; key++) {
		strcat(known, conf_names[key]);
		strcat(known, key + 1 < CONF_KEYS ? ", " : ", key_file or peer");
	}
	return conf_error(at, "%s: %s", name, known);
}

static bool conf_key_file(const struct conf_place *at, const char *value,
			  struct conf_device *device)
{
	if (*device->key_file)
		return conf_error(at, "key_file is there already");
	if (*value != '/')
		return conf_error(at, "key_file %s: an absolute path", value);
	if (strlen(value) >= sizeof(device->key_file))
		return conf_error(at, "key_file is too long");
	strcpy(device->key_file, value);
	return true;
}

static bool conf_value(const struct conf_place *at, const char *name,
		       char *value, struct conf_device *device)
{
	int key;

	if (!strcmp(name, "peer"))
		return conf_peer(at, value, device);
	if (!strcmp(name, "key_file"))
		return conf_key_file(at, value, device);
	for (key = 0; key < CONF_KEYS; key++)
		if (!strcmp(conf_names[key], name))
			break;
	if (key == CONF_KEYS)
		return conf_unknown(at, name);
	if (*device->values[key])
		return conf_error(at, "%s is there already", name);
	if (strlen(value) >= CONF_VALUE)
		return conf_error(at, "%s is too long", name);
	if (!conf_check(at, key, value))
		return false;
	strcpy(device->values[key], value);
	return true;
}

static bool conf_line(struct conf_place *at, char *line, struct conf *conf)
{
	char *text, *value;

	line[strcspn(line, "#")] = 0;
	text = conf_trim(line);
	if (!*text)
		return true;
	if (*text == '[') {
		at->skip = !conf_section(at, text, conf);
		return !at->skip;
	}
	if (at->skip)
		return true;
	value = strchr(text, '=');
	if (!value)
		return conf_error(at, "%s: NAME = VALUE", text);
	*value++ = 0;
	if (!conf->n)
		return conf_error(at, "no device yet: [rfm2gN] comes first");
	return conf_value(at, conf_trim(text), conf_trim(value),
			  &conf->devices[conf->n - 1]);
}

/* Check a device after all of its lines have been read. */
static bool conf_complete(const char *path, const struct conf_device *device)
{
	struct conf_place at = { .path = path, .line = device->line };
	uint64_t node;
	int i;

	if (!conf_number(device->values[CONF_NODE], 255, &node))
		return conf_error(&at, "rfm2g%u has no node", device->unit);
	if (*device->values[CONF_OVERLOAD_US] &&
	    *device->values[CONF_OVERLOAD_MS])
		return conf_error(&at, "rfm2g%u: set overload_us or overload_ms, one of them",
				  device->unit);
	if (*device->values[CONF_SECURITY] && !*device->key_file &&
	    strcmp(device->values[CONF_SECURITY], "none"))
		return conf_error(&at, "rfm2g%u: security needs a key_file",
				  device->unit);
	for (i = 0; i < device->npeers; i++)
		if (device->peers[i].id == node)
			return conf_error(&at, "rfm2g%u is node %u itself, no peer",
					  device->unit, device->peers[i].id);
	return true;
}

/**
 * conf_read - read the configuration
 * @file: open file
 * @path: path of @file, for messages
 * @conf: result
 *
 * Return: true, or false after a line for each error.
 */
bool conf_read(FILE *file, const char *path, struct conf *conf)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct conf_place at = { .path = path };
	size_t room = 0;
	char *line = NULL;
	bool good = true;
	ssize_t len;
	int i;

	memset(conf, 0, sizeof(*conf));
	while ((len = getline(&line, &room, file)) >= 0) {
		at.line++;
		/* Reject a NUL, which would hide the rest of the line. */
		if (memchr(line, 0, len))
			good = conf_error(&at, "a byte is 0: not a text file");
		else
			good &= conf_line(&at, at.line == 1 && !strncmp(line, bom, 3) ?
					  line + 3 : line, conf);
	}
	if (ferror(file)) {
		warn("%s", path);
		good = false;
	}
	free(line);
	if (!good)
		return false;
	for (i = 0; i < conf->n; i++)
		good &= conf_complete(path, &conf->devices[i]);
	return good;
}
