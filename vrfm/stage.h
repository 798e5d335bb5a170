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
 * struct vrfm_stage - where this node's programs may store into mappings
 * @lock: protects what follows; taken in any context but hard interrupts
 * @nranges: of the memory
 * @wanted: a bit for each range: somebody waits for it
 * @told: peers are told that they must not write there directly
 * @ready: and none does any more
 * @pins: of a range: who needs it to stay so: twins, claims, watches
 * @claims: of a range: number of files that have claimed it
 * @used: of a range: jiffies when the last of them went
 * @number: of @told
 * @nshown: peers that may write directly where they were not told otherwise
 * @pending: @ready waits for answers to @number; under the device's order
 * @deadline: jiffies: who has not answered then is cut off
 * @wait: for @ready; who watches has a queue of his own
 * @work: tells peers
 */
struct vrfm_stage {
	spinlock_t lock; /* see above */
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
void vrfm_stage_put(struct vrfm_dev *vdev, u32 first, u32 last);
bool vrfm_stage_is_claimed(const struct vrfm_dev *vdev, u32 range);
void *vrfm_stage_pack(struct vrfm_dev *vdev, struct vrfm_pack *pack,
		      u32 desc_len, u64 *number);
void vrfm_stage_hide(struct vrfm_dev *vdev);
int vrfm_claim(struct vrfm_file *vf, u32 offset, u32 len);
int vrfm_unclaim(struct vrfm_file *vf, u32 offset, u32 len);
void vrfm_claims_free(struct vrfm_file *vf);

#endif /* VRFM_STAGE_H */
