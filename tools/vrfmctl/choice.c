// SPDX-License-Identifier: GPL-2.0
/*
 * Options that choose records: nodes, a part of the memory, types of records,
 * and the length of payloads.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf.h"
#include "stream.h"

#define CTL_NODES 256

/* Parse a number, and set *END behind it. */
static bool ctl_number(const char *text, uint64_t most, uint64_t *value,
		       const char **end)
{
	char *rest;

	if (!conf_is_plain(text))
		return false;
	errno = 0;
	*value = strtoull(text, &rest, 0);
	*end = rest;
	return !errno && *value <= most;
}

/**
 * ctl_choose_nodes - parse a list of nodes: ids and ranges of ids, separated by commas
 * @text: the list
 * @choice: result
 *
 * Return: false if the list is invalid.
 */
bool ctl_choose_nodes(const char *text, struct ctl_choice *choice)
{
	uint64_t first, last;

	for (;; text++) {
		if (!ctl_number(text, CTL_NODES - 1, &first, &text))
			return false;
		last = first;
		if (*text == '-' &&
		    !ctl_number(text + 1, CTL_NODES - 1, &last, &text))
			return false;
		if (last < first)
			return false;
		for (; first <= last; first++)
			choice->nodes[first / 64] |= 1ULL << first % 64;
		if (*text != ',')
			return !*text;
	}
}

static bool ctl_bytes(const char *text, uint64_t *value, const char **end)
{
	uint64_t unit = 0;

	if (!ctl_number(text, UINT32_MAX, value, end))
		return false;
	if (**end == 'K' || **end == 'M' || **end == 'G')
		unit = *(*end)++ == 'K' ? 10 : (*end)[-1] == 'M' ? 20 : 30;
	*value <<= unit;
	return *value <= UINT32_MAX;
}

/**
 * ctl_choose_range - parse a part of the memory: OFFSET:LENGTH
 * @text: the part; K, M or G may follow each number
 * @choice: result
 *
 * Return: false if the text is invalid.
 */
bool ctl_choose_range(const char *text, struct ctl_choice *choice)
{
	uint64_t offset, length;

	if (!ctl_bytes(text, &offset, &text) || *text != ':' ||
	    !ctl_bytes(text + 1, &length, &text) || *text || !length ||
	    offset + length > UINT32_MAX)
		return false;
	choice->offset = offset;
	choice->length = length;
	return true;
}

/**
 * ctl_choose_kinds - parse a list of types of records of taps, separated by commas
 * @text: the list
 * @choice: result
 *
 * Return: false if the list is invalid.
 */
bool ctl_choose_kinds(const char *text, struct ctl_choice *choice)
{
	unsigned int type;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (type = VRFM_REC_STORED; type <= VRFM_REC_HOLE; type++)
			if (len && strlen(ctl_type_name(type)) == len &&
			    !strncasecmp(text, ctl_type_name(type), len))
				break;
		if (type > VRFM_REC_HOLE)
			return false;
		choice->kinds |= VRFM_TAP_KIND(type);
		if (!text[len])
			return true;
	}
}

/**
 * ctl_choose_snap - parse the largest number of payload bytes
 * @text: the number
 * @choice: result
 *
 * Return: false if the text is invalid.
 */
bool ctl_choose_snap(const char *text, struct ctl_choice *choice)
{
	uint64_t snap;

	if (!ctl_number(text, VRFM_RING_SNAP_MAX, &snap, &text) || *text)
		return false;
	choice->snap = snap;
	choice->has_snap = true;
	return true;
}
