// SPDX-License-Identifier: GPL-2.0
/* Print records as lines and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "stream.h"

/* Largest number of payload bytes in a line. */
#define CTL_LINE_BYTES 16
#define CTL_NS 1000000000LL

/**
 * ctl_type_name - return the name of a type of record
 * @type: VRFM_REC_...
 *
 * Return: name; "?" if the type is unknown.
 */
const char *ctl_type_name(unsigned int type)
{
	static const char *const names[] = {
		[VRFM_REC_LOST] = "LOST",
		[VRFM_REC_STORED] = "STORED",
		[VRFM_REC_FOUND] = "FOUND",
		[VRFM_REC_APPLIED] = "APPLIED",
		[VRFM_REC_PLACED] = "PLACED",
		[VRFM_REC_SENT] = "SENT",
		[VRFM_REC_RECEIVED] = "RECEIVED",
		[VRFM_REC_RAISED] = "RAISED",
		[VRFM_REC_TOLD] = "TOLD",
		[VRFM_REC_HOLE] = "HOLE",
		[VRFM_REC_IMAGE_AT] = "IMAGE_AT",
	};

	return type < sizeof(names) / sizeof(*names) && names[type] ?
		       names[type] :
		       "?";
}

static const char *ctl_message_name(unsigned int type)
{
	static const char *const names[] = {
		"?",	"ACK",	"UPDATE", "EVENT", "PROBE",
		"NOTE", "PULL", "IMAGE",  "STAGE",
	};

	return names[type < sizeof(names) / sizeof(*names) ? type : 0];
}

static bool ctl_is_message(const struct vrfm_record *record)
{
	return record->type == VRFM_REC_SENT ||
	       record->type == VRFM_REC_RECEIVED;
}

static bool ctl_is_event(const struct vrfm_record *record)
{
	return record->type == VRFM_REC_RAISED || record->type == VRFM_REC_TOLD;
}

/**
 * ctl_is_write - check whether a record is about written bytes
 * @record: record
 *
 * Return: true if so.
 */
bool ctl_is_write(const struct vrfm_record *record)
{
	return (record->type >= VRFM_REC_STORED &&
		record->type <= VRFM_REC_PLACED) ||
	       record->type == VRFM_REC_IMAGE_AT;
}

/**
 * ctl_payload - return the number of payload bytes of a record
 * @record: record of a ring
 * @snap: largest number of payload bytes of the ring
 *
 * Return: number of bytes, which fit into the slots of the record.
 */
uint32_t ctl_payload(const struct vrfm_record *record, uint32_t snap)
{
	uint32_t room = (record->slots - 1) * sizeof(*record);
	uint32_t len = record->flags & VRFM_REC_CUT ? snap : record->length;

	return len < room ? len : room;
}

/* Print the time of a record: seconds since 1970. */
static void ctl_show_time(const struct vrfm_record *record, int64_t real_ns)
{
	int64_t ns = record->time_ns + real_ns;

	printf("%" PRId64 ".%09" PRId64, (int64_t)(ns / CTL_NS),
	       (int64_t)(ns % CTL_NS));
}

static void ctl_show_hex(const struct vrfm_record *record, uint32_t len,
			 const char *gap)
{
	const uint8_t *bytes = (const void *)(record + 1);
	uint32_t i;

	for (i = 0; i < len; i++)
		printf("%s%02x", gap, bytes[i]);
}

static void ctl_line_message(const struct vrfm_record *record)
{
	const uint8_t flags = record->message.flags;

	printf(" %s %u %s sequence %" PRIu64 " applied %" PRIu64
	       " runs %u bytes %u%s%s%s%s",
	       record->type == VRFM_REC_SENT ? "to" : "from",
	       record->message.peer, ctl_message_name(record->message.type),
	       (uint64_t)record->message.sequence,
	       (uint64_t)record->message.applied, record->message.count,
	       record->length, flags & 1 ? " synced" : "",
	       flags & 2 ? " grant" : "", flags & 4 ? " answer" : "",
	       flags & 8 ? " direct" : "");
}

static void ctl_line_event(const struct vrfm_record *record)
{
	if (record->node != VRFM_REC_NO_NODE)
		printf(" node %u", record->node);
	printf(" event %u data %u", record->event.event, record->event.data);
	if (record->type == VRFM_REC_TOLD &&
	    record->event.to == VRFM_REC_NO_NODE)
		printf(" to all");
	else if (record->type == VRFM_REC_TOLD)
		printf(" to %u", record->event.to);
}

static void ctl_line_write(const struct vrfm_record *record)
{
	printf(" node %u serial %" PRIu64 " offset 0x%x length %u",
	       record->node, (uint64_t)record->serial, record->offset,
	       record->length);
	if (record->type == VRFM_REC_PLACED)
		printf(" to %u", record->placed.peer);
	if (record->flags & VRFM_REC_FROM_IMAGE)
		printf(" image");
}

/**
 * ctl_show_line - print a record as a line
 * @record: record
 * @len: number of payload bytes
 * @real_ns: CLOCK_REALTIME minus the clock of the record, in ns
 */
void ctl_show_line(const struct vrfm_record *record, uint32_t len,
		   int64_t real_ns)
{
	ctl_show_time(record, real_ns);
	printf(" %s", ctl_type_name(record->type));
	if (ctl_is_write(record))
		ctl_line_write(record);
	else if (ctl_is_message(record))
		ctl_line_message(record);
	else if (ctl_is_event(record))
		ctl_line_event(record);
	else if (record->type == VRFM_REC_LOST)
		printf(" %" PRIu64 " records", (uint64_t)record->lost.count);
	else if (record->type == VRFM_REC_HOLE)
		printf(" node %u %s", record->node,
		       record->length ? "may write directly" :
					"does not write directly");
	if (len) {
		printf(":");
		ctl_show_hex(record,
			     len < CTL_LINE_BYTES ? len : CTL_LINE_BYTES, " ");
	}
	if (len > CTL_LINE_BYTES || (len && record->flags & VRFM_REC_CUT))
		printf(" ...");
	printf("\n");
}

static void ctl_json_message(const struct vrfm_record *record)
{
	printf(",\"peer\":%u,\"message\":\"%s\",\"message_flags\":%u",
	       record->message.peer, ctl_message_name(record->message.type),
	       record->message.flags);
	printf(",\"runs\":%u,\"sequence\":%" PRIu64 ",\"applied\":%" PRIu64,
	       record->message.count, (uint64_t)record->message.sequence,
	       (uint64_t)record->message.applied);
}

static void ctl_json_event(const struct vrfm_record *record)
{
	printf(",\"event\":%u,\"data\":%u", record->event.event,
	       record->event.data);
	if (record->type == VRFM_REC_TOLD &&
	    record->event.to == VRFM_REC_NO_NODE)
		printf(",\"to\":null");
	else if (record->type == VRFM_REC_TOLD)
		printf(",\"to\":%u", record->event.to);
}

/**
 * ctl_show_json - print a record as a line with a JSON object
 * @record: record
 * @len: number of payload bytes
 * @real_ns: CLOCK_REALTIME minus the clock of the record, in ns
 */
void ctl_show_json(const struct vrfm_record *record, uint32_t len,
		   int64_t real_ns)
{
	printf("{\"type\":\"%s\",\"time_ns\":%" PRId64,
	       ctl_type_name(record->type),
	       (int64_t)(record->time_ns + real_ns));
	if (record->type == VRFM_REC_LOST) {
		printf(",\"count\":%" PRIu64 "}\n",
		       (uint64_t)record->lost.count);
		return;
	}
	if (record->node == VRFM_REC_NO_NODE)
		printf(",\"node\":null");
	else
		printf(",\"node\":%u", record->node);
	printf(",\"flags\":%u,\"offset\":%u,\"length\":%u,\"serial\":%" PRIu64,
	       record->flags, record->offset, record->length,
	       (uint64_t)record->serial);
	if (ctl_is_message(record))
		ctl_json_message(record);
	else if (ctl_is_event(record))
		ctl_json_event(record);
	else if (record->type == VRFM_REC_PLACED)
		printf(",\"peer\":%u", record->placed.peer);
	printf(",\"payload\":\"");
	ctl_show_hex(record, len, "");
	printf("\"}\n");
}
