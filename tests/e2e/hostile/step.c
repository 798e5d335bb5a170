// SPDX-License-Identifier: GPL-2.0
/*
 * Steps of a hostile peer on its connection, one word each:
 *
 *	send:HEX[+N]		a message, with N zeroes behind it
 *	flood:N:HEX		the same message N times, as fast as possible
 *	count:N:HEX		N messages that differ in the message number of
 *				their header, which grows by one each time
 *	imm:HEX			a message with immediate data
 *	inv:KEY:HEX		a message that invalidates a key of the victim
 *	auth:LETTER[:CHANGE]	AUTH, made with a key that the letter fills.
 *				CHANGE: flip=N: byte N is changed. cut=N: the last
 *				N bytes are missing. again: the AUTH of the last
 *				such step is sent once more
 *	welcome[:CHANGE]	the START of a server whose client has sent AUTH.
 *				CHANGE as for auth
 *	reflect[:TYPE]		the victim's first message. TYPE replaces the type in
 *				its header
 *	seal:HEX[:CHANGE]...	a sealed message, after the step auth. CHANGE:
 *				flip=N, cut=N, again: as above. ahead=N: its
 *				number is higher by N. drop: it is counted, and
 *				not sent
 *	wimm			an RDMA WRITE of 0 bytes, with immediate data
 *	add:KEY:ADDR		an atomic addition
 *	write:KEY:ADDR:LEN	an RDMA WRITE of zeroes
 *	read:KEY:ADDR:LEN	an RDMA READ; bytes that are not zero are counted
 *	offer:HEX		a message; its last 16 bytes are replaced by the
 *				segment of a page that the victim may read
 *	start:MS		wait at most MS for the victim's START
 *	told:MS			wait at most MS until the module parameter
 *				"told" is not 0
 *	sleep:MS
 *	closed:MS		wait at most MS until the victim closes
 *
 * KEY and ADDR are numbers, or one of these words, which may be followed by +N
 * or -N. "shown" is the key or the start address of the buffer that the
 * victim's START describes. "end" is the end of this buffer. "old" is the key
 * or the start address of the buffer that the START of the previous session
 * described. "told" is the value of the module parameter. Each step waits until
 * its work requests have completed.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "priv.h"
#include "../../../krdma/wire.h"

/*
 * Convert hexadecimal digits as hex2bin() does. This file does not call
 * hex2bin(), because the name of the header of hex2bin() depends on the version
 * of the kernel.
 */
bool hostile_hex(u8 *data, const char *hex, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &data[i]) != 1)
			return false;
	return true;
}

/*
 * Convert HEX[+N] to bytes, followed by N zeroes; "-" stands for no bytes.
 * Store the address of the bytes in *data; the caller frees them. Return the
 * number of bytes, or an errno.
 */
ssize_t hostile_bytes(const char *hex, u8 **data)
{
	const char *plus = strchrnul(hex, '+');
	size_t n = strcmp(hex, "-") ? (plus - hex) / 2 : 0;
	u32 more = 0;

	if (*plus && (kstrtou32(plus + 1, 0, &more) || more > SZ_1M))
		return -EINVAL;
	*data = kzalloc(n + more + 1, GFP_KERNEL);
	if (!*data)
		return -ENOMEM;
	if (!hostile_hex(*data, hex, n)) {
		kfree(*data);
		return -EINVAL;
	}
	return n + more;
}

static u64 hostile_key_base(const struct hostile_session *s, const char *word)
{
	if (word[0] == 't')
		return READ_ONCE(hostile_told);
	return word[0] == 'o' ? hostile_last_shown().rkey : s->shown.rkey;
}

static u64 hostile_addr_base(const struct hostile_session *s, const char *word)
{
	struct hostile_shown old = hostile_last_shown();

	if (word[0] == 'o')
		return old.addr;
	return s->shown.addr + (word[0] == 'e' ? s->shown.len : 0);
}

/*
 * Convert @text to *value. @text is a number, or a word that +N or -N may
 * follow. @base returns the value of a word.
 */
static int hostile_value(const struct hostile_session *s, const char *text,
			 u64 (*base)(const struct hostile_session *s,
				     const char *word), u64 *value)
{
	static const char * const words[] = { "shown", "old", "end", "told" };
	s64 more = 0;
	size_t len;
	int i;

	if (!text)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		len = strlen(words[i]);
		if (strncmp(text, words[i], len))
			continue;
		if (text[len] && kstrtos64(text + len, 0, &more))
			return -EINVAL;
		*value = base(s, text) + more;
		return 0;
	}
	return kstrtou64(text, 0, value);
}

/*
 * Send @n messages of the bytes @hex. If @counted is true, increase the message
 * number in the header by one after each message.
 */
static int hostile_sends(struct hostile_session *s, struct ib_rdma_wr *rdma,
			 const char *hex, u32 n, bool counted)
{
	struct krdma_wire_hdr *hdr;
	u8 *data;
	ssize_t len = hex ? hostile_bytes(hex, &data) : -EINVAL;
	int ret = 0;
	u32 i;

	if (len < 0)
		return len;
	hdr = (struct krdma_wire_hdr *)data;
	if (n > HOSTILE_SENDS || (counted && len < sizeof(*hdr)))
		ret = -EINVAL;
	for (i = 0; i < n && !ret; i++) {
		ret = hostile_post(s, &rdma->wr, data, len);
		if (counted)
			le32_add_cpu(&hdr->msg_id, 1);
	}
	kfree(data);
	return ret ?: hostile_wait_sent(s);
}

static int hostile_step_send(struct hostile_session *s, char *args)
{
	struct ib_rdma_wr rdma = { .wr.opcode = IB_WR_SEND };

	return hostile_sends(s, &rdma, args, 1, false);
}

static int hostile_many(struct hostile_session *s, char *args, bool counted)
{
	struct ib_rdma_wr rdma = { .wr.opcode = IB_WR_SEND };
	char *number = strsep(&args, ":");
	u32 n;

	if (!number || kstrtou32(number, 0, &n))
		return -EINVAL;
	return hostile_sends(s, &rdma, args, n, counted);
}

static int hostile_step_flood(struct hostile_session *s, char *args)
{
	return hostile_many(s, args, false);
}

static int hostile_step_count(struct hostile_session *s, char *args)
{
	return hostile_many(s, args, true);
}

static int hostile_step_imm(struct hostile_session *s, char *args)
{
	struct ib_rdma_wr rdma = {
		.wr.opcode = IB_WR_SEND_WITH_IMM,
		.wr.ex.imm_data = cpu_to_be32(1),
	};

	return hostile_sends(s, &rdma, args, 1, false);
}

static int hostile_step_inv(struct hostile_session *s, char *args)
{
	struct ib_rdma_wr rdma = { .wr.opcode = IB_WR_SEND_WITH_INV };
	char *key = strsep(&args, ":");
	u64 rkey;
	int ret = hostile_value(s, key, hostile_key_base, &rkey);

	if (ret)
		return ret;
	rdma.wr.ex.invalidate_rkey = rkey;
	return hostile_sends(s, &rdma, args, 1, false);
}

static int hostile_step_wimm(struct hostile_session *s, char *args)
{
	struct ib_rdma_wr rdma = { .wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM };

	return hostile_post(s, &rdma.wr, NULL, 0) ?: hostile_wait_sent(s);
}

/* Post an RDMA READ or WRITE; @args is KEY:ADDR:LEN. */
static int hostile_one_sided(struct hostile_session *s, char *args,
			     enum ib_wr_opcode opcode)
{
	struct ib_rdma_wr rdma = { .wr.opcode = opcode };
	char *key = strsep(&args, ":"), *addr = strsep(&args, ":");
	u64 rkey;
	u32 len;
	int ret;

	ret = hostile_value(s, key, hostile_key_base, &rkey) ?:
	      hostile_value(s, addr, hostile_addr_base, &rdma.remote_addr);
	if (ret || !args || kstrtou32(args, 0, &len) || len > SZ_1M)
		return ret ?: -EINVAL;
	rdma.rkey = rkey;
	return hostile_post(s, &rdma.wr, NULL, len) ?: hostile_wait_sent(s);
}

/* Post an atomic addition; @args is KEY:ADDR. */
static int hostile_step_add(struct hostile_session *s, char *args)
{
	struct ib_atomic_wr add = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
		.compare_add = 1,
	};
	char *key = strsep(&args, ":");
	u64 rkey;
	int ret;

	ret = hostile_value(s, key, hostile_key_base, &rkey) ?:
	      hostile_value(s, args, hostile_addr_base, &add.remote_addr);
	if (ret)
		return ret;
	add.rkey = rkey;
	return hostile_post(s, &add.wr, NULL, sizeof(u64)) ?:
	       hostile_wait_sent(s);
}

static int hostile_step_write(struct hostile_session *s, char *args)
{
	return hostile_one_sided(s, args, IB_WR_RDMA_WRITE);
}

static int hostile_step_read(struct hostile_session *s, char *args)
{
	return hostile_one_sided(s, args, IB_WR_RDMA_READ);
}

static int hostile_step_offer(struct hostile_session *s, char *args)
{
	struct ib_rdma_wr rdma = { .wr.opcode = IB_WR_SEND };
	struct krdma_wire_seg *seg;
	ssize_t len;
	u8 *data;
	int ret;

	len = args ? hostile_bytes(args, &data) : -EINVAL;
	if (len < 0)
		return len;
	seg = (void *)(data + len - sizeof(*seg));
	ret = len < sizeof(*seg) ? -EINVAL : hostile_expose(s);
	if (!ret) {
		seg->addr = cpu_to_le64(s->mr->iova);
		seg->rkey = cpu_to_le32(s->mr->rkey);
		ret = hostile_post(s, &rdma.wr, data, len);
	}
	kfree(data);
	return ret ?: hostile_wait_sent(s);
}

static int hostile_ms(const char *args, u32 *ms)
{
	return args ? kstrtou32(args, 0, ms) : -EINVAL;
}

static int hostile_step_start(struct hostile_session *s, char *args)
{
	u32 ms;

	return hostile_ms(args, &ms) ?: hostile_wait_start(s, ms);
}

static int hostile_step_sleep(struct hostile_session *s, char *args)
{
	u32 ms;
	int ret = hostile_ms(args, &ms);

	if (!ret && msleep_interruptible(ms))
		ret = -EINTR;
	return ret;
}

static int hostile_step_told(struct hostile_session *s, char *args)
{
	ktime_t end;
	u32 ms;

	if (hostile_ms(args, &ms))
		return -EINVAL;
	end = ktime_add_ms(ktime_get(), ms);
	while (!READ_ONCE(hostile_told)) {
		if (ktime_after(ktime_get(), end))
			return -ETIMEDOUT;
		if (msleep_interruptible(10))
			return -EINTR;
	}
	return 0;
}

static int hostile_step_closed(struct hostile_session *s, char *args)
{
	u32 ms;

	return hostile_ms(args, &ms) ?: hostile_wait_closed(s, ms);
}

static const struct {
	const char *name;
	int (*run)(struct hostile_session *s, char *args);
	bool needs_qp;
} hostile_steps[] = {
	{ "add", hostile_step_add, true },
	{ "auth", hostile_step_auth, true },
	{ "closed", hostile_step_closed },
	{ "count", hostile_step_count, true },
	{ "flood", hostile_step_flood, true },
	{ "imm", hostile_step_imm, true },
	{ "inv", hostile_step_inv, true },
	{ "offer", hostile_step_offer, true },
	{ "read", hostile_step_read, true },
	{ "reflect", hostile_step_reflect, true },
	{ "seal", hostile_step_seal, true },
	{ "send", hostile_step_send, true },
	{ "sleep", hostile_step_sleep },
	{ "start", hostile_step_start },
	{ "told", hostile_step_told },
	{ "welcome", hostile_step_welcome, true },
	{ "wimm", hostile_step_wimm, true },
	{ "write", hostile_step_write, true },
};

/* Do one step. This function splits @step into words. */
int hostile_step(struct hostile_session *s, char *step)
{
	char *name = strsep(&step, ":");
	int i;

	for (i = 0; i < ARRAY_SIZE(hostile_steps); i++)
		if (!strcmp(name, hostile_steps[i].name))
			break;
	if (i == ARRAY_SIZE(hostile_steps))
		return -EINVAL;
	if (hostile_steps[i].needs_qp && !s->recvs)
		return -ENOTCONN;
	return hostile_steps[i].run(s, step);
}
