// SPDX-License-Identifier: GPL-2.0
/*
 * Log lines about a link.
 *
 * printk() may write to a console in the context of its caller, and a serial
 * console takes milliseconds for a line. So nothing is printed under
 * vrfm_dev.write_lock or in the receive path. vrfm_link_say() only marks the
 * line. A work item of the link prints it later.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitops.h>
#include <linux/printk.h>

#include "link.h"

/*
 * Print a line. Each kind of line has its own rate limit, which all links
 * share.
 */
static void vrfm_say(const char *dev, u32 node, enum vrfm_say what)
{
	switch (what) {
	case VRFM_SAY_BEHIND:
		pr_warn_ratelimited("%s: node %u is too slow, it catches up later\n",
				    dev, node);
		break;
	case VRFM_SAY_LEFT:
		pr_warn_ratelimited("%s: node %u left this node behind, its data come later\n",
				    dev, node);
		break;
	case VRFM_SAY_BAD:
		pr_warn_ratelimited("%s: node %u sent a message that makes no sense\n",
				    dev, node);
		break;
	case VRFM_SAY_UNANSWERED:
		pr_warn_ratelimited("%s: node %u did not confirm staged ranges in time, disconnecting\n",
				    dev, node);
		break;
	case VRFM_SAY_LOADING:
		pr_info_ratelimited("%s: loading the image of node %u\n",
				    dev, node);
		break;
	case VRFM_SAY_LOADED:
		pr_info_ratelimited("%s: loaded the image of node %u\n",
				    dev, node);
		break;
	case VRFM_SAY_NO_IMAGE:
		pr_warn_ratelimited("%s: node %u does not send its image\n",
				    dev, node);
		break;
	case VRFM_SAYS:
		break;
	}
}

static void vrfm_say_work(struct work_struct *work)
{
	struct vrfm_link *link = container_of(work, struct vrfm_link, log.work);
	enum vrfm_say what;

	for (what = 0; what < VRFM_SAYS; what++)
		if (test_and_clear_bit(what, &link->log.lines))
			vrfm_say(dev_name(&link->vdev->dev), link->peer.node,
				 what);
}

/**
 * vrfm_say_init - prepare a link for log lines
 * @link: link
 */
void vrfm_say_init(struct vrfm_link *link)
{
	INIT_WORK(&link->log.work, vrfm_say_work);
}

/**
 * vrfm_link_say - log a line about a link, from a work item
 * @link: link that vrfm_peer_remove() has not released
 * @what: the line to log
 *
 * If the same line is logged again before the work item has printed it, it is
 * printed once.
 *
 * Context: any, also under spinlocks.
 */
void vrfm_link_say(struct vrfm_link *link, enum vrfm_say what)
{
	set_bit(what, &link->log.lines);
	queue_work(vrfm_wq, &link->log.work);
}
