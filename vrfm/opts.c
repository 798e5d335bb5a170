// SPDX-License-Identifier: GPL-2.0
/* What an admin writes. Pure: text in, numbers out. */
#include <linux/align.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <asm/page.h>

#include "opts.h"

/**
 * vrfm_parse_size - the size of a memory
 * @text: a number, in bytes or with K, M or G behind it
 * @size: gets it, in bytes; untouched after an error
 *
 * Return: 0; -EINVAL: not a number; -ERANGE: not a multiple of the page size
 * from %VRFM_SIZE_MIN to %VRFM_SIZE_MAX.
 */
int vrfm_parse_size(const char *text, u64 *size)
{
	char *end;
	u64 value;

	if (!isdigit(*text))
		return -EINVAL;
	value = memparse(text, &end);
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	if (value < VRFM_SIZE_MIN || value > VRFM_SIZE_MAX ||
	    !IS_ALIGNED(value, PAGE_SIZE))
		return -ERANGE;
	*size = value;
	return 0;
}

/**
 * vrfm_parse_unit - which device a name means
 * @name: "rfm2gN"
 * @unit: gets N, 0..7; untouched after an error
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
