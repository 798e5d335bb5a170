/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VRFM_MAPPER_H
#define VRFM_MAPPER_H

#include <linux/list.h>
#include <linux/types.h>

struct mm_struct;
struct vm_area_struct;
struct vrfm_dev;
struct vrfm_twin;

/**
 * struct vrfm_family - a process that maps the memory, and the processes that
 * inherited its page tables by fork()
 * @entry: place in vrfm_dev.families
 * @twins: twins of pages that only these processes can store into without a
 *	fault, the least recently compared first
 * @vmas: number of mappings of the memory in these processes
 * @common: memory was short for the mapper of a process in this family, so
 *	twins of the family belong to vrfm_dev.common
 */
struct vrfm_family {
	struct list_head entry;
	struct list_head twins;
	unsigned int vmas;
	bool common;
};

void vrfm_mappers_init(struct vrfm_dev *vdev);
int vrfm_mapper_add(struct vrfm_dev *vdev, struct vm_area_struct *vma);
void vrfm_mapper_open(struct vrfm_dev *vdev, struct vm_area_struct *vma);
void vrfm_mapper_close(struct vrfm_dev *vdev, struct vm_area_struct *vma);
void vrfm_mapper_join_locked(struct vrfm_dev *vdev, struct vrfm_twin *twin,
			     struct vrfm_family *family);
struct vrfm_twin *vrfm_mapper_twin_locked(struct vrfm_dev *vdev,
					  const struct mm_struct *mm,
					  u64 before);

#endif /* VRFM_MAPPER_H */
