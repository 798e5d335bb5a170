/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_STAGE_H
#define VRFM_STAGE_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct vrfm_dev;
struct vrfm_file;
struct vrfm_pack;

/**
 * struct vrfm_stage - ranges that are staged: programs of this node may store
 * there through mappings, so peers must not write there directly
 * @lock: protects the members below; taken in any context but hard interrupts
 * @nranges: number of ranges in the memory
 * @wanted: a bit for each range that the next STAGE must add
 * @told: a bit for each range that the last STAGE contained
 * @ready: a bit for each range that is staged: no peer writes there directly
 *	any more
 * @pins: number of users of each range: twins, claims, watches, and
 *	subscriptions of rings
 * @claims: number of files that have claimed each range
 * @used: jiffies when each range was last added to a STAGE or unpinned
 * @number: number of the last STAGE
 * @nshown: number of peers that may write directly into ranges that are not
 *	staged
 * @pending: some peers have not answered STAGE @number yet; under
 *	vrfm_dev.write_lock
 * @deadline: jiffies after which peers that have not answered are disconnected
 * @wait: wait queue of tasks that wait until a range is staged, except watchers
 * @work: work that sends each STAGE and checks for answers
 */
struct vrfm_stage {
	spinlock_t lock; /* see @lock above */
	u32 nranges;
	unsigned long *wanted;
	unsigned long *told;
	unsigned long *ready;
	u32 *pins;
	u32 *claims;
	u32 *used;
	u64 number;
	u32 nshown;
	bool pending;
	unsigned long deadline;
	wait_queue_head_t wait;
	struct delayed_work work;
};

void vrfm_stage_init(struct vrfm_dev *vdev);
int vrfm_stage_alloc(struct vrfm_dev *vdev);
void vrfm_stage_exit(struct vrfm_dev *vdev);
void vrfm_stage_free(struct vrfm_dev *vdev);
void vrfm_stage_kick(struct vrfm_dev *vdev);
bool vrfm_stage_try(struct vrfm_dev *vdev, u32 range);
bool vrfm_stage_fault(struct vrfm_dev *vdev, u32 range);
int vrfm_stage_pin_part(struct vrfm_dev *vdev, u32 offset, u32 len);
void vrfm_stage_unpin(struct vrfm_dev *vdev, u32 first, u32 last);
bool vrfm_stage_is_claimed(const struct vrfm_dev *vdev, u32 range);
void *vrfm_stage_pack(struct vrfm_dev *vdev, struct vrfm_pack *pack,
		      u32 desc_len, u64 *number);
void vrfm_stage_hide(struct vrfm_dev *vdev);
int vrfm_claim(struct vrfm_file *vf, u32 offset, u32 len);
int vrfm_unclaim(struct vrfm_file *vf, u32 offset, u32 len);
void vrfm_claims_free(struct vrfm_file *vf);

#endif /* VRFM_STAGE_H */
