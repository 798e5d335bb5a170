// SPDX-License-Identifier: GPL-2.0
/*
 * A peer that acknowledges all messages, and announces an image that is older
 * than the victim's. So the victim must load this image. The peer never answers
 * a PULL, which requests pages of the image.
 */
#include <linux/jiffies.h>

#include <krdma.h>

#include "priv.h"

static int vhostile_note(struct krdma_cb *cb, struct vhostile *vh,
			 const struct vrfm_wire_note *note, u64 applied)
{
	int ret;

	vhostile_say(vh, note, applied);
	ret = vhostile_send(cb, vh);
	vh->sequence++;
	return ret;
}

/*
 * Answer a LOAD note, which requests all words that this peer has written.
 * There are none, so send only the SWEPT note, which says that all words were
 * sent.
 */
static int vhostile_swept(struct krdma_cb *cb, struct vhostile *vh,
			  const struct vrfm_wire_note *load, u64 applied)
{
	const struct vrfm_wire_note note = {
		.kind = VRFM_NOTE_SWEPT, .number = load->number,
	};

	return vhostile_note(cb, vh, &note, applied);
}

static int vhostile_answer_to(struct krdma_cb *cb, struct vhostile *vh,
			      const struct vrfm_wire_head *head)
{
	const struct vrfm_wire_note *note = (const void *)(head + 1);
	u64 applied = le64_to_cpu(head->sequence);

	if (head->type == VRFM_WIRE_NOTE && note->kind == VRFM_NOTE_LOAD)
		return vhostile_swept(cb, vh, note, applied);
	vhostile_ack(vh, applied);
	return vhostile_send(cb, vh);
}

/*
 * Announce an image, and never send it. Return 0 if the victim has requested
 * pages, and has then stopped waiting for them, as the flag GRANT of its
 * messages shows. Return -ETIME if the victim still waits after @ms, or the
 * errno of a call that failed.
 */
int vhostile_mute(struct krdma_cb *cb, struct vhostile *vh, void *buf, u32 ms)
{
	static const struct vrfm_wire_note info = {
		.kind = VRFM_NOTE_INFO,
		.flags = cpu_to_le16(VRFM_INFO_COMPLETE),
		.id = cpu_to_le64(4711),
		.value = cpu_to_le64(1ULL << 40),
	};
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	const struct vrfm_wire_head *head = buf;
	int ret = vhostile_note(cb, vh, &info, 0);
	bool asked = false;

	while (ret >= 0 && time_before(jiffies, end)) {
		ret = krdma_receive_len(cb, buf, VHOSTILE_MESSAGE, ms);
		if (ret < 0)
			break;
		if (asked && head->flags & VRFM_WIRE_GRANT)
			return 0;
		asked |= head->type == VRFM_WIRE_PULL;
		if (head->type != VRFM_WIRE_ACK)
			ret = vhostile_answer_to(cb, vh, head);
	}
	return ret < 0 ? ret : -ETIME;
}
