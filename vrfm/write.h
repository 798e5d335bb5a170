/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_WRITE_H
#define VRFM_WRITE_H

#include "priv.h"

struct vrfm_ops;

/**
 * struct vrfm_wait - total time that the steps of a call have waited for slow
 * peers. vrfm_write() uses a new structure after each MiB
 * @waited_ns: time that the steps have waited for room, or for their turn, in
 *	ns; the time for copying and comparing does not count
 * @nowait: the call fails instead of waiting
 */
struct vrfm_wait {
	u64 waited_ns;
	bool nowait;
};

/**
 * struct vrfm_need - room that a step needs before it is accepted
 * @len: number of bytes of a run; 0 for an event or a probe
 * @messages: number of free messages that a batch needs; otherwise 0
 * @node: peer whose link must have the room, or %RFM2G_NODE_ALL
 * @even_dark: room is needed even while the transmitter is off
 */
struct vrfm_need {
	u32 len;
	u32 messages;
	u32 node;
	bool even_dark;
};

/**
 * vrfm_wait_begin - return a struct vrfm_wait for a call that begins
 * @nowait: fail instead of waiting
 *
 * Return: the structure, which the caller passes to all functions that may
 * wait.
 */
static inline struct vrfm_wait vrfm_wait_begin(bool nowait)
{
	return (struct vrfm_wait){ .nowait = nowait };
}

/**
 * struct vrfm_mark - message that a peer must acknowledge to end a wait
 * @link: link of the peer, with a reference
 * @ups: number of the connection that has the message
 * @sequence: sequence of the message
 */
struct vrfm_mark {
	struct vrfm_link *link;
	u64 ups;
	u64 sequence;
};

/* barrier.c */
struct vrfm_mark *vrfm_marks_alloc(void);
void vrfm_mark_set(struct vrfm_mark *mark, struct vrfm_link *link,
		   u64 sequence);
int vrfm_marks_wait(struct vrfm_dev *vdev, const struct vrfm_mark *marks, int n,
		    struct vrfm_flush *flush);
u16 vrfm_marks_count(const struct vrfm_mark *marks, int n,
		     struct vrfm_flush *flush);
void vrfm_marks_put(struct vrfm_mark *marks, int n);
void vrfm_marks_free(struct vrfm_mark *marks, int n);
int vrfm_await_peers(struct vrfm_dev *vdev, struct vrfm_flush *flush);

/**
 * struct vrfm_execution - execution of a batch
 * @flags: %VRFM_OP_NOFLUSH; other flags are ignored
 * @nowait: fail instead of waiting for a peer
 * @marks: marks for the last message to each peer that is READY, or NULL
 * @nmarks: result: number of marks that were set
 * @absent: result, with @marks: number of peers that are not READY
 * @serial: result: see &vrfm_batch.serial
 */
struct vrfm_execution {
	u32 flags;
	bool nowait;
	struct vrfm_mark *marks;
	int nmarks;
	u32 absent;
	u64 serial;
};

/* batch.c */
int vrfm_batch_check(struct vrfm_dev *vdev, struct vrfm_ops *ops, u32 *failed);
int vrfm_batch_copy(const struct vrfm_ops *ops, u32 *failed);
int vrfm_batch_execute(struct vrfm_dev *vdev, const struct vrfm_ops *ops,
		       struct vrfm_execution *execution);
int vrfm_batch(struct vrfm_dev *vdev, struct vrfm_batch *args, bool nowait);

/* scan.c */
int vrfm_scan_init(struct vrfm_dev *vdev);
void vrfm_scan_free(struct vrfm_dev *vdev);
int vrfm_scan_own(struct vrfm_dev *vdev, struct vrfm_wait *wait);
int vrfm_scan_all(struct vrfm_dev *vdev, struct vrfm_wait *wait);
int vrfm_twins_init(void);
void vrfm_twins_exit(void);
bool vrfm_twin_wait(struct vrfm_dev *vdev, unsigned long index);
int vrfm_twin_make(struct vrfm_dev *vdev, struct vrfm_family *family,
		   struct page *page, unsigned long index);

/* write.c */
int vrfm_write_lock_for(struct vrfm_dev *vdev, const struct vrfm_need *need,
			struct vrfm_wait *wait);
int vrfm_write_lock(struct vrfm_dev *vdev, u32 len, struct vrfm_wait *wait);
void vrfm_writers_suspend(bool suspending);
void vrfm_accepted(struct vrfm_dev *vdev);
int vrfm_switching(struct vrfm_dev *vdev);
int vrfm_store(struct vrfm_dev *vdev, u32 offset, const void *buf, u32 width,
	       bool nowait);
int vrfm_store_bits(struct vrfm_dev *vdev, u32 offset, u32 width, u32 clear,
		    u32 set);
int vrfm_write(struct vrfm_dev *vdev, u32 offset, const void __user *buf,
	       size_t len, bool nowait, size_t *done);
int vrfm_event_send(struct vrfm_dev *vdev, u32 node, u32 type, u32 data);

#endif /* VRFM_WRITE_H */
