// SPDX-License-Identifier: GPL-2.0
/*
 * Author: The krdma developers
 *
 * Capture of frames, and changes of RoCE packets on their way through the switch.
 *
 * A rule is ACTION[,KEY=VALUE]..., for example "change,from=2,min=64,byte=40". It selects packets of reliable
 * connections (RC), or messages of the connection manager, whose payload is the private data for krdma:
 *   kind=send  SENDs; the default
 *   kind=read  answers to READs
 *   kind=req   connect requests
 *   kind=rep   answers to connect requests
 *   from=N     only those of node N; the default is 0: of all nodes
 *   min=L      only those with a payload of at least L bytes; the default is 1
 *   nth=N      the first N - 1 of these packets pass; the default is 1
 *
 * Actions:
 *   change  invert the byte of the payload with the number byte=N
 *   drop    drop the packet
 *   hold    deliver the packet behind the next one
 *   repeat  replace the next packet by another copy of this one
 *   swap    exchange the packet and the next one
 * The next packet is the next one that the rule selects, for the same QP and with another sequence number. The rule is
 * applied once, to one packet or to two.
 *
 * Adapters repair what "drop" and "hold" do, because sequence numbers are missing. They do not notice the other
 * actions: each place in the sequence keeps its number, and the ICRC is computed again.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "meddle.h"

#define MAX_RULES	16
#define MAX_FRAME	(65536 + 64)
#define MAX_TEXT	128
#define ETH_HLEN	14
#define UDP_HLEN	8
#define BTH_LEN		12
#define ICRC_LEN	4
#define DETH_LEN	8
#define UD_SEND		0x64
/* Length of a management datagram (MAD), and where the private data begins that the RDMA CM leaves to krdma. */
#define MAD_LEN		256
#define REQ_PRIVATE	200
#define REP_PRIVATE	60
#define PORT_ROCE	4791
#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
/* Longest part of a packet that is masked for the ICRC: headers of IPv6, of UDP, and of RoCE (BTH). */
#define MASKED_MAX	(40 + UDP_HLEN + BTH_LEN)
/* CRC of a masked local route header, which RoCE v2 does not have: eight bytes 0xff. */
#define ICRC_SEED	0xdebb20e3u

enum action { CHANGE, DROP, HOLD, REPEAT, SWAP };
enum kind { KIND_NONE, KIND_SEND, KIND_READ, KIND_REQ, KIND_REP };

struct rule {
	enum action action;
	enum kind kind;
	unsigned int from, min, nth, byte;
	unsigned int seen;
	bool done;
	/* Copy of the selected packet, while the next one is awaited; its length is 0 before. */
	unsigned char *kept;
	size_t kept_len;
};

/* A packet that rules can select, in a frame. */
struct packet {
	enum kind kind;
	unsigned char *ip, *bth, *payload, *icrc;
	size_t size;			/* of the payload, in bytes */
};

static const char *const kinds[] = {
	[KIND_NONE] = "", [KIND_SEND] = "send", [KIND_READ] = "read", [KIND_REQ] = "req", [KIND_REP] = "rep",
};

static const char *const actions[] = {
	[CHANGE] = "change", [DROP] = "drop", [HOLD] = "hold", [REPEAT] = "repeat", [SWAP] = "swap",
};

static struct rule rules[MAX_RULES];
static unsigned int nrules;
static FILE *pcap;
static const char *watched;
static struct rule watched_rule = { .done = true };
static struct stat watched_file;

/* ---- capture ---- */

/* Create a capture file in the format of pcap, with Ethernet frames. */
void capture_open(const char *path)
{
	static const uint32_t head[] = { 0xa1b2c3d4, 2 | 4 << 16, 0, 0, MAX_FRAME, 1 };

	pcap = fopen(path, "wb");
	if (!pcap || fwrite(head, sizeof(head), 1, pcap) != 1 || fflush(pcap))
		err(1, "%s", path);
}

/* Append a frame to the capture file. A script may read the file at any time, so no frame stays in a buffer. */
void capture(const unsigned char *data, size_t len)
{
	struct timeval now;
	uint32_t head[4];

	if (!pcap)
		return;
	gettimeofday(&now, NULL);
	head[0] = now.tv_sec;
	head[1] = now.tv_usec;
	head[2] = len;
	head[3] = len;
	if (fwrite(head, sizeof(head), 1, pcap) != 1 || fwrite(data, len, 1, pcap) != 1 || fflush(pcap))
		err(1, "capture");
}

/* ---- packets ---- */

static unsigned int be16(const unsigned char *data)
{
	return data[0] << 8 | data[1];
}

/* Find the header of UDP, and the length of the packet from the IP header on. Return NULL for other frames. */
static unsigned char *find_udp(unsigned char *ip, unsigned int type, size_t len, size_t *ip_len)
{
	unsigned char *udp = NULL;

	if (type == 0x0800 && len >= 20 && ip[0] == 0x45 && ip[9] == 17 && !(be16(ip + 6) & 0x3fff)) {
		*ip_len = be16(ip + 2);
		udp = ip + 20;
	} else if (type == 0x86dd && len >= 40 && ip[6] == 17) {
		*ip_len = 40 + be16(ip + 4);
		udp = ip + 40;
	}
	return udp && *ip_len <= len ? udp : NULL;
}

/* Return the kind of a packet, and the length of the headers behind BTH. */
static enum kind kind_of(unsigned char opcode, size_t *more)
{
	*more = 0;
	switch (opcode) {
	case 0: case 1: case 2: case 4:		/* SEND: first, middle, last, only */
		return KIND_SEND;
	case 3: case 5: case 0x16: case 0x17:	/* SEND with immediate data, or with a key */
		*more = 4;
		return KIND_SEND;
	case 14:				/* answer to a READ: middle */
		return KIND_READ;
	case 13: case 15: case 16:		/* answer to a READ: first, last, only */
		*more = 4;
		return KIND_READ;
	default:
		return KIND_NONE;
	}
}

/* Find the private data in a message of the connection manager. */
static void parse_mad(const unsigned char *mad, struct packet *p)
{
	size_t private = 0;

	if (p->bth[0] != UD_SEND || p->icrc - mad != MAD_LEN || mad[1] != 7)
		return;
	if (be16(mad + 16) == 0x10) {
		p->kind = KIND_REQ;
		private = REQ_PRIVATE;
	} else if (be16(mad + 16) == 0x13) {
		p->kind = KIND_REP;
		private = REP_PRIVATE;
	}
	p->payload = p->bth + BTH_LEN + DETH_LEN + private;
	p->size = MAD_LEN - private;
}

static bool parse(unsigned char *data, size_t len, struct packet *p)
{
	size_t ip_len, more, front, pad;
	unsigned char *udp;

	if (len < ETH_HLEN)
		return false;
	p->ip = data + ETH_HLEN;
	udp = find_udp(p->ip, be16(data + 12), len - ETH_HLEN, &ip_len);
	if (!udp || ip_len < (size_t)(udp - p->ip) + UDP_HLEN + BTH_LEN || be16(udp + 2) != PORT_ROCE)
		return false;
	p->bth = udp + UDP_HLEN;
	p->kind = kind_of(p->bth[0], &more);
	pad = p->bth[1] >> 4 & 3;
	p->payload = p->bth + BTH_LEN + more;
	front = p->payload - p->ip;
	if (ip_len < front + pad + ICRC_LEN)
		return false;
	p->size = ip_len - front - pad - ICRC_LEN;
	p->icrc = p->ip + ip_len - ICRC_LEN;
	parse_mad(p->bth + BTH_LEN + DETH_LEN, p);
	return p->kind != KIND_NONE;
}

static uint32_t crc32(uint32_t crc, const unsigned char *data, size_t len)
{
	int bit;

	while (len--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/* Set the fields that may change on the way to ones, as the ICRC wants it. */
static void mask(unsigned char *copy, size_t udp, size_t bth)
{
	if (copy[0] >> 4 == 4) {
		copy[1] = 0xff;			/* type of service */
		copy[8] = 0xff;			/* time to live */
		memset(copy + 10, 0xff, 2);	/* checksum */
	} else {
		copy[0] |= 0x0f;		/* traffic class and flow label */
		memset(copy + 1, 0xff, 3);
		copy[7] = 0xff;			/* hop limit */
	}
	memset(copy + udp + 6, 0xff, 2);	/* checksum */
	copy[bth + 4] = 0xff;			/* reserved */
}

/* Make the ICRC of a changed packet valid, and state that UDP has no checksum. */
static void seal(struct packet *p)
{
	size_t bth = p->bth - p->ip, masked = bth + BTH_LEN;
	unsigned char copy[MASKED_MAX];
	uint32_t crc;
	int i;

	memset(p->bth - 2, 0, 2);
	memcpy(copy, p->ip, masked);
	mask(copy, bth - UDP_HLEN, bth);
	crc = crc32(ICRC_SEED, copy, masked);
	crc = ~crc32(crc, p->ip + masked, p->icrc - p->ip - masked);
	for (i = 0; i < ICRC_LEN; i++)
		p->icrc[i] = crc >> 8 * i;
}

/* Exchange the sequence numbers of two packets. The request for an acknowledgment stays with its number. */
static void exchange_numbers(struct packet *a, struct packet *b)
{
	unsigned char number[4];

	memcpy(number, a->bth + 8, 4);
	memcpy(a->bth + 8, b->bth + 8, 4);
	memcpy(b->bth + 8, number, 4);
}

static bool same_number(const struct packet *a, const struct packet *b)
{
	return !memcmp(a->bth + 9, b->bth + 9, 3);
}

static bool same_qp(const struct packet *a, const struct packet *b)
{
	return !memcmp(a->bth + 5, b->bth + 5, 3);
}

/* ---- rules ---- */

static bool parse_number(const char *text, unsigned int *value)
{
	char *end;

	*value = strtoul(text, &end, 10);
	return end != text && !*end;
}

/* Find a text in a list of N. Return N if it is not there. */
static size_t find(const char *text, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(text, list[i]))
			break;
	return i;
}

static bool parse_key(struct rule *rule, const char *word)
{
	if (!strncmp(word, "kind=", 5)) {
		rule->kind = find(word + 5, kinds, COUNT(kinds));
		return rule->kind != KIND_NONE && rule->kind != COUNT(kinds);
	}
	if (!strncmp(word, "from=", 5))
		return parse_number(word + 5, &rule->from);
	if (!strncmp(word, "min=", 4))
		return parse_number(word + 4, &rule->min);
	if (!strncmp(word, "nth=", 4))
		return parse_number(word + 4, &rule->nth) && rule->nth;
	return !strncmp(word, "byte=", 5) && parse_number(word + 5, &rule->byte);
}

static bool parse_rule(struct rule *rule, const char *from)
{
	char text[MAX_TEXT], *word;

	if (snprintf(text, sizeof(text), "%s", from) >= (int)sizeof(text))
		return false;
	*rule = (struct rule){ .kind = KIND_SEND, .min = 1, .nth = 1 };
	word = strtok(text, ",\n");
	if (!word)
		return false;
	rule->action = find(word, actions, COUNT(actions));
	if (rule->action == COUNT(actions))
		return false;
	while ((word = strtok(NULL, ",\n")))
		if (!parse_key(rule, word))
			return false;
	if (rule->action == CHANGE && rule->min <= rule->byte)
		rule->min = rule->byte + 1;
	return true;
}

/* Add a rule. Return false if it is malformed. */
bool meddle_add(const char *text)
{
	return nrules < MAX_RULES && parse_rule(&rules[nrules], text) && ++nrules;
}

/*
 * Take a rule from the file PATH whenever one appears there, and delete the file when the rule was applied. If the file
 * disappears before, forget the rule.
 */
void meddle_watch(const char *path)
{
	watched = path;
}

static void forget(struct rule *rule)
{
	free(rule->kept);
	rule->kept = NULL;
	rule->kept_len = 0;
	rule->done = true;
}

static void look_at_file(void)
{
	char text[MAX_TEXT] = "";
	struct stat st;
	FILE *file;

	if (stat(watched, &st))
		st = (struct stat){ 0 };
	if (st.st_ino == watched_file.st_ino && st.st_mtim.tv_sec == watched_file.st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == watched_file.st_mtim.tv_nsec)
		return;
	forget(&watched_rule);
	watched_file = st;
	file = st.st_ino ? fopen(watched, "r") : NULL;
	if (!file)
		return;
	if (!fgets(text, sizeof(text), file) || !parse_rule(&watched_rule, text))
		watched_rule.done = true;
	fclose(file);
}

static void applied(struct rule *rule)
{
	forget(rule);
	if (rule == &watched_rule)
		unlink(watched);
}

static bool selects(const struct rule *rule, int from, const struct packet *p)
{
	return !rule->done && rule->kind == p->kind && p->size >= rule->min &&
	       (!rule->from || rule->from == (unsigned int)from + 1);
}

static bool keep(struct rule *rule, const unsigned char *data, size_t len)
{
	rule->kept = malloc(len);
	if (!rule->kept)
		return false;
	memcpy(rule->kept, data, len);
	rule->kept_len = len;
	return true;
}

/* Apply a rule to the packet that it selects. Return true if the frame must not be forwarded. */
static bool apply_first(struct rule *rule, unsigned char *data, size_t len, struct packet *p)
{
	switch (rule->action) {
	case CHANGE:
		p->payload[rule->byte] ^= 0xff;
		seal(p);
		applied(rule);
		return false;
	case DROP:
		applied(rule);
		return true;
	case REPEAT:
		keep(rule, data, len);
		return false;
	default:
		return keep(rule, data, len);
	}
}

/*
 * Apply a rule to a packet behind the one that it has kept. Return true if the frame must not be forwarded, because it
 * was, or because it is the kept packet, which is sent again.
 */
static bool apply_next(struct rule *rule, int from, unsigned char *data, size_t len, struct packet *p,
		       meddle_forward forward)
{
	struct packet kept;

	parse(rule->kept, rule->kept_len, &kept);
	if (!same_qp(&kept, p))
		return false;
	if (same_number(&kept, p))
		return rule->action == SWAP;
	if (rule->action != HOLD) {
		exchange_numbers(&kept, p);
		seal(&kept);
		seal(p);
	}
	if (rule->action != REPEAT)
		forward(from, data, len);
	forward(from, rule->kept, rule->kept_len);
	applied(rule);
	return true;
}

static bool apply(struct rule *rule, int from, unsigned char *data, size_t len, struct packet *p,
		  meddle_forward forward)
{
	if (!selects(rule, from, p))
		return false;
	if (rule->kept_len)
		return apply_next(rule, from, data, len, p, forward);
	if (++rule->seen < rule->nth)
		return false;
	return apply_first(rule, data, len, p);
}

/* Forward a frame, except if a rule keeps or replaces it. The frame itself may be changed. */
void meddle(int from, unsigned char *data, size_t len, meddle_forward forward)
{
	struct packet p;
	unsigned int i;

	if ((nrules || watched) && parse(data, len, &p)) {
		for (i = 0; i < nrules; i++)
			if (apply(&rules[i], from, data, len, &p, forward))
				return;
		if (watched)
			look_at_file();
		if (watched && apply(&watched_rule, from, data, len, &p, forward))
			return;
	}
	forward(from, data, len);
}
