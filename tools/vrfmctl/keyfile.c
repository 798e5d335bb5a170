// SPDX-License-Identifier: GPL-2.0
/*
 * Files with keys: lines "key = BASE64" with keys of the device, and lines
 * "peer ID = BASE64" with keys that only this node and node ID share. A # begins
 * a comment. Memory with keys is locked, so that it is not written to swap, and
 * is erased after its use. No message contains a key.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "keyfile.h"

/* Number of characters of a key as text. */
#define KEYFILE_BASE64 44
/* Room for a file with the largest number of keys, and for some comments. */
#define KEYFILE_ROOM (128 * 1024)

static const char keyfile_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Text of the file that is being read or written. */
static char keyfile_text[KEYFILE_ROOM];

/* Encode a key as KEYFILE_BASE64 characters. 32 bytes end with one "=". */
static void keyfile_encode(const unsigned char *key, char *text)
{
	unsigned int bits = 0, n = 0, i;

	for (i = 0; i < KEYFILE_KEY; i++) {
		bits = bits << 8 | key[i];
		for (n += 8; n >= 6; n -= 6)
			*text++ = keyfile_digits[bits >> (n - 6) & 63];
	}
	*text++ = keyfile_digits[bits << (6 - n) & 63];
	*text++ = '=';
	*text = 0;
}

/* Decode a key. The unused bits of its last digit must be 0. */
static bool keyfile_decode(const char *text, unsigned char *key)
{
	unsigned int bits = 0, n = 0, i, done = 0;
	const char *digit;

	if (strlen(text) != KEYFILE_BASE64 || text[KEYFILE_BASE64 - 1] != '=')
		return false;
	for (i = 0; i < KEYFILE_BASE64 - 1; i++) {
		digit = strchr(keyfile_digits, text[i]);
		if (!digit)
			return false;
		bits = bits << 6 | (digit - keyfile_digits);
		n += 6;
		if (n >= 8) {
			n -= 8;
			key[done++] = bits >> n;
		}
	}
	return done == KEYFILE_KEY && !(bits & ((1 << n) - 1));
}

/**
 * keyfile_has - check whether a list contains a key
 * @list: list
 * @key: key
 *
 * Return: true if it does.
 */
bool keyfile_has(const struct keyfile_list *list, const unsigned char *key)
{
	int i;

	for (i = 0; i < list->n; i++)
		if (!memcmp(list->keys[i], key, KEYFILE_KEY))
			return true;
	return false;
}

/**
 * keyfile_add - append a key to a list
 * @list: list
 * @key: key
 *
 * Return: false if the list is full.
 */
bool keyfile_add(struct keyfile_list *list, const unsigned char *key)
{
	if (list->n == KEYFILE_KEYS)
		return false;
	memcpy(list->keys[list->n++], key, KEYFILE_KEY);
	return true;
}

static char *keyfile_trim(char *text)
{
	char *end;

	text += strspn(text, " \t\r");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r", end[-1]))
		end--;
	*end = 0;
	return text;
}

/* Return the list that the left side of a line names, or NULL. */
static struct keyfile_list *keyfile_which(char *name, struct keyfile *file)
{
	unsigned long id;
	char *end;

	if (!strcmp(name, "key"))
		return &file->device;
	if (strncmp(name, "peer", 4) || !strchr(" \t", name[4]) || !name[4])
		return NULL;
	name = keyfile_trim(name + 4);
	if (*name < '0' || *name > '9' || (*name == '0' && name[1]))
		return NULL;
	errno = 0;
	id = strtoul(name, &end, 10);
	return errno || *end || id >= KEYFILE_NODES ? NULL : &file->peers[id];
}

static bool keyfile_line(const struct conf_place *at, char *text,
			 struct keyfile *file)
{
	unsigned char key[KEYFILE_KEY];
	struct keyfile_list *list;
	char *value;
	bool good;

	text[strcspn(text, "#")] = 0;
	text = keyfile_trim(text);
	if (!*text)
		return true;
	value = strchr(text, '=');
	if (!value)
		return conf_error(at, "key = BASE64, or peer ID = BASE64");
	*value++ = 0;
	list = keyfile_which(keyfile_trim(text), file);
	if (!list)
		return conf_error(at, "key = BASE64, or peer ID = BASE64");
	good = keyfile_decode(keyfile_trim(value), key);
	if (!good)
		conf_error(at, "a key is 44 characters of base64, for 32 bytes");
	else if (keyfile_has(list, key))
		good = conf_error(at, "this key is there already");
	else if (!keyfile_add(list, key))
		good = conf_error(at, "at most %d keys", KEYFILE_KEYS);
	explicit_bzero(key, sizeof(key));
	return good;
}

/* Check that only root can read or change the file. */
static bool keyfile_is_safe(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st)) {
		warn("%s", path);
		return false;
	}
	if (!S_ISREG(st.st_mode))
		warnx("%s: a file with keys is a regular file", path);
	else if (st.st_uid)
		warnx("%s belongs to user %u, not to root: chown root %s", path,
		      st.st_uid, path);
	else if (st.st_mode & 077)
		warnx("%s: other users have rights: chmod 600 %s", path, path);
	else
		return true;
	return false;
}

/* Read a file into keyfile_text. Return its length, or -1. */
static ssize_t keyfile_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len = 0;
	ssize_t got = 1;

	if (fd < 0 && errno == ELOOP)
		warnx("%s: a file with keys is a regular file", path);
	else if (fd < 0)
		warn("%s", path);
	if (fd < 0)
		return -1;
	if (!keyfile_is_safe(fd, path)) {
		close(fd);
		return -1;
	}
	while (got > 0 && len < sizeof(keyfile_text) - 1) {
		got = read(fd, keyfile_text + len,
			   sizeof(keyfile_text) - 1 - len);
		len += got > 0 ? got : 0;
	}
	if (got)
		warnx("%s: %s", path, got < 0 ? strerror(errno) : "too long");
	close(fd);
	keyfile_text[len] = 0;
	return got ? -1 : (ssize_t)len;
}

static bool keyfile_parse(const char *path, size_t len, struct keyfile *file)
{
	struct conf_place at = { .path = path };
	char *line, *rest = keyfile_text;
	bool good = true;
	int i, n = 0;

	if (strlen(keyfile_text) != len) {
		warnx("%s: a byte is 0: not a text file", path);
		return false;
	}
	while ((line = strsep(&rest, "\n"))) {
		at.line++;
		good &= keyfile_line(&at, line, file);
	}
	for (i = 0; i < KEYFILE_NODES; i++)
		n += file->peers[i].n;
	if (!good || file->device.n || n)
		return good;
	warnx("%s has no key", path);
	return false;
}

/**
 * keyfile_read - read a file with keys
 * @path: path of the file
 * @file: result, for keyfile_erase()
 *
 * Return: true; or false after an error message: the file cannot be read, other
 * users have rights, or a line is invalid.
 */
bool keyfile_read(const char *path, struct keyfile *file)
{
	ssize_t len;
	bool good;

	/* Without the right to lock memory, the keys are used all the same. */
	mlock(file, sizeof(*file));
	mlock(keyfile_text, sizeof(keyfile_text));
	memset(file, 0, sizeof(*file));
	len = keyfile_load(path);
	good = len >= 0 && keyfile_parse(path, len, file);
	explicit_bzero(keyfile_text, sizeof(keyfile_text));
	if (!good)
		keyfile_erase(file);
	return good;
}

/**
 * keyfile_erase - erase keys in memory
 * @file: content of a file
 */
void keyfile_erase(struct keyfile *file)
{
	explicit_bzero(file, sizeof(*file));
}

/**
 * keyfile_random - make a key
 * @key: result
 *
 * Return: true; or false after an error message.
 */
bool keyfile_random(unsigned char *key)
{
	if (getrandom(key, KEYFILE_KEY, 0) == KEYFILE_KEY)
		return true;
	warn("no random numbers");
	return false;
}

static size_t keyfile_format_list(const struct keyfile_list *list, int id,
				  size_t at)
{
	char name[16] = "key", key[KEYFILE_BASE64 + 1];
	int i;

	if (id >= 0)
		snprintf(name, sizeof(name), "peer %d", id);
	for (i = 0; i < list->n; i++) {
		keyfile_encode(list->keys[i], key);
		at += snprintf(keyfile_text + at, sizeof(keyfile_text) - at,
			       "%s = %s\n", name, key);
	}
	explicit_bzero(key, sizeof(key));
	return at;
}

/* Format a file into keyfile_text. The caller erases the text. */
static size_t keyfile_format(const struct keyfile *file)
{
	size_t len = keyfile_format_list(&file->device, -1, 0);
	int id;

	mlock(keyfile_text, sizeof(keyfile_text));
	for (id = 0; id < KEYFILE_NODES; id++)
		len = keyfile_format_list(&file->peers[id], id, len);
	return len;
}

static bool keyfile_put(int fd, const struct keyfile *file)
{
	size_t len = keyfile_format(file), done = 0;
	ssize_t put = 0;

	while (done < len && put >= 0) {
		put = write(fd, keyfile_text + done, len - done);
		done += put > 0 ? put : 0;
	}
	explicit_bzero(keyfile_text, sizeof(keyfile_text));
	return done == len;
}

/**
 * keyfile_print - print a file to the standard output
 * @file: content
 *
 * Return: true; or false after an error message.
 */
bool keyfile_print(const struct keyfile *file)
{
	bool good = !fflush(stdout) && keyfile_put(STDOUT_FILENO, file);

	if (!good)
		warn("output");
	return good;
}

/**
 * keyfile_create - create a file with keys, which only root can read
 * @path: path, which must not exist
 * @file: content
 *
 * Return: true; or false after an error message.
 */
bool keyfile_create(const char *path, const struct keyfile *file)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
	bool good;

	if (fd < 0) {
		warn("%s", path);
		return false;
	}
	good = keyfile_put(fd, file) && !fsync(fd);
	good &= !close(fd);
	if (good)
		return true;
	warn("%s", path);
	unlink(path);
	return false;
}

/**
 * keyfile_replace - replace a file with keys in one step
 * @path: path of the file
 * @file: new content. Comments of the old file are not kept
 *
 * Return: true; or false after an error message, with the old file unchanged.
 */
bool keyfile_replace(const char *path, const struct keyfile *file)
{
	char next[PATH_MAX];

	if (snprintf(next, sizeof(next), "%s.new", path) >= (int)sizeof(next)) {
		warnx("%s: the path is too long", path);
		return false;
	}
	/* A file that an earlier call has left behind. */
	unlink(next);
	if (!keyfile_create(next, file))
		return false;
	if (!rename(next, path))
		return true;
	warn("%s", path);
	unlink(next);
	return false;
}
