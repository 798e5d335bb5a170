// SPDX-License-Identifier: GPL-2.0
/* Parse the options that an admin writes. Pure: text in, numbers out. */
#include <linux/align.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <uapi/rfm2g.h>
#include <asm/page.h>

#include "opts.h"

/* Size of a buffer for the digits of any 64-bit number. */
#define VRFM_DIGITS 32

static unsigned int vrfm_suffix(char last)
{
	switch (toupper(last)) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return 0;
	}
}

/**
 * vrfm_is_octal - check for a number that kstrto*() would read as octal
 * @text: text
 *
 * An admin who writes 010 means ten, and the kernel reads eight.
 *
 * Context: any.
 * Return: true if @text begins with a 0 and another digit.
 */
bool vrfm_is_octal(const char *text)
{
	text += *text == '+';
	return text[0] == '0' && isdigit(text[1]);
}

/*
 * Parse a number of bytes. memparse() is not used, because in Linux 6.1 it
 * parses 2^64 as 0.
 */
static int vrfm_parse_bytes(const char *text, u64 *bytes)
{
	size_t len = strlen(text);
	char digits[VRFM_DIGITS];
	unsigned int shift;
	u64 value;
	int ret;

	if (!isdigit(*text) || vrfm_is_octal(text))
		return -EINVAL;
	if (text[len - 1] == '\n')
		len--;
	shift = vrfm_suffix(text[len - 1]);
	if (shift)
		len--;
	/*
	 * Check the last digit, because kstrtou64() would accept another
	 * newline.
	 */
	if (len >= sizeof(digits) || !isxdigit(text[len - 1]))
		return -EINVAL;
	memcpy(digits, text, len);
	digits[len] = '\0';
	ret = kstrtou64(digits, 0, &value);
	if (ret)
		return ret;
	return check_shl_overflow(value, shift, bytes) ? -ERANGE : 0;
}

/**
 * vrfm_parse_size - parse the size of a memory
 * @text: number of bytes, or a number that ends with K, M or G
 * @size: set to the size in bytes; unchanged after an error
 *
 * Return: 0; -EINVAL if @text is not a number; -ERANGE if the size is not a
 * multiple of the page size from %VRFM_SIZE_MIN to %VRFM_SIZE_MAX.
 */
int vrfm_parse_size(const char *text, u64 *size)
{
	u64 value;
	int ret = vrfm_parse_bytes(text, &value);

	if (ret)
		return ret;
	if (value < VRFM_SIZE_MIN || value > VRFM_SIZE_MAX ||
	    !IS_ALIGNED(value, PAGE_SIZE))
		return -ERANGE;
	*size = value;
	return 0;
}

/**
 * vrfm_parse_unit - parse the name of a device
 * @name: name of the device: "rfm2gN"
 * @unit: set to N, 0 to 7; unchanged after an error
 *
 * Return: 0 or -EINVAL.
 */
int vrfm_parse_unit(const char *name, unsigned int *unit)
{
	static const char prefix[] = VRFM_NAME;
	size_t len = strlen(prefix);

	if (strncmp(name, prefix, len) || name[len] < '0' ||
	    name[len] >= '0' + VRFM_DEVICES || name[len + 1])
		return -EINVAL;
	*unit = name[len] - '0';
	return 0;
}

/*
 * Split "addr" or "addr:port" into its parts. The address is in brackets if it
 * contains colons.
 */
static int vrfm_split_host(char *text, struct vrfm_peer_text *peer)
{
	char *end;

	if (*text == '[') {
		peer->host = text + 1;
		end = strchr(text, ']');
		if (!end)
			return -EINVAL;
		*end++ = '\0';
	} else {
		peer->host = text;
		end = strchrnul(text, ':');
	}
	peer->port = NULL;
	if (*end == ':') {
		*end++ = '\0';
		peer->port = end;
	} else if (*end) {
		return -EINVAL;
	}
	return *peer->host ? 0 : -EINVAL;
}

/**
 * vrfm_parse_peer - parse the text of a peer: id@addr or id@addr:port
 * @text: text, which the function changes; an IPv6 address is in brackets
 * @peer: set to the parts; its strings point into @text
 *
 * The function does not check the address: krdma_parse_addr() does.
 *
 * Return: 0; -EINVAL if the text is invalid; -ERANGE if the id is too high.
 */
int vrfm_parse_peer(char *text, struct vrfm_peer_text *peer)
{
	char *host = strchr(text, '@');
	u16 port;
	int ret;

	if (!host || !isdigit(*text))
		return -EINVAL;
	*host++ = '\0';
	ret = kstrtou32(text, 10, &peer->node);
	if (ret)
		return ret;
	if (peer->node > RFM2G_NODE_MAX)
		return -ERANGE;
	ret = vrfm_split_host(host, peer);
	if (ret || !peer->port)
		return ret;
	if (!isdigit(*peer->port) || kstrtou16(peer->port, 10, &port) || !port)
		return -EINVAL;
	return 0;
}

static const char * const vrfm_direct_modes[VRFM_DIRECT_MODES] = {
	[VRFM_DIRECT_AUTO] = "auto",
	[VRFM_DIRECT_ON] = "on",
	[VRFM_DIRECT_OFF] = "off",
};

/**
 * vrfm_direct_mode_name - return the name of a policy for direct writes
 * @mode: enum vrfm_direct_mode
 *
 * Return: its name.
 */
const char *vrfm_direct_mode_name(u32 mode)
{
	return vrfm_direct_modes[mode];
}

/**
 * vrfm_parse_direct - parse the name of a policy for direct writes
 * @text: "auto", "on" or "off"; may end with a newline
 * @mode: set to the enum vrfm_direct_mode
 *
 * Return: 0; -EINVAL if the name is unknown.
 */
int vrfm_parse_direct(const char *text, u32 *mode)
{
	int ret = sysfs_match_string(vrfm_direct_modes, text);

	if (ret < 0)
		return -EINVAL;
	*mode = ret;
	return 0;
}

static const char * const vrfm_security_names[VRFM_SECURITY_LEVELS] = {
	"none", "auth", "integrity", "encrypt",
};

/**
 * vrfm_security_name - return the name of a level of security
 * @level: enum krdma_security
 *
 * Return: its name.
 */
const char *vrfm_security_name(u32 level)
{
	return vrfm_security_names[level];
}

/**
 * vrfm_parse_security - parse the name of a level of security
 * @text: "none", "auth", "integrity" or "encrypt"; may end with a newline
 * @level: set to the enum krdma_security
 *
 * Return: 0; -EINVAL if the name is unknown.
 */
int vrfm_parse_security(const char *text, u32 *level)
{
	int ret = sysfs_match_string(vrfm_security_names, text);

	if (ret < 0)
		return -EINVAL;
	*level = ret;
	return 0;
}
