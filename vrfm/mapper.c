// SPDX-License-Identifier: GPL-2.0
/*
 * Mappers: processes that map the memory, and the pages that each of them can
 * store into.
 *
 * A system call first sends the words that its caller has stored into mappings.
 * It must not wait until pages of other processes are compared. So each twin
 * (copy of a writable page, see scan.c) belongs to a family: a process, and the
 * processes that inherited its page tables by fork(). Only members of the
 * family can store into the twin's page without a fault. If a process of
 * another family faults on the page, the twin moves to the common family. Every
 * call compares the twins of the common family.
 *
 * When the last mapping of a family is removed, its twins move to the common
 * family as well. So if a process waits for another process to end, its next
 * call sends the stores of that process first.
 *
 * The vm_private_data of a mapping (VMA) is its family. fork() copies it, and
 * so does splitting a mapping. A call finds its family by the mm of the
 * process.
 *
 * vrfm_dev.twins_lock protects all of this. A twin may move to another family
 * under this lock alone. A twin is removed only with vrfm_dev.write_lock held
 * as well, so a holder of vrfm_dev.write_lock may use a twin after it has
 * released vrfm_dev.twins_lock.
 */
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "mapper.h"
#include "priv.h"
#include "twin.h"

/* Maximum number of twins that are moved before the lock is released. */
#define VRFM_MOVE 32

/**
 * struct vrfm_mapper - a process that maps the memory
 * @node: place in vrfm_dev.mappers
 * @mm: mm of the process; only compared, never dereferenced
 * @family: family of the process
 * @vmas: number of mappings of the memory in the process
 */
struct vrfm_mapper {
	struct hlist_node node;
	const struct mm_struct *mm;
	struct vrfm_family *family;
	unsigned int vmas;
};

/**
 * vrfm_mappers_init - initialize the lists of a device without mappings
 * @vdev: device
 */
void vrfm_mappers_init(struct vrfm_dev *vdev)
{
	spin_lock_init(&vdev->twins_lock);
	INIT_LIST_HEAD(&vdev->pages);
	INIT_LIST_HEAD(&vdev->families);
	INIT_LIST_HEAD(&vdev->common.twins);
	hash_init(vdev->mappers);
}

static struct vrfm_mapper *vrfm_mapper_find_locked(struct vrfm_dev *vdev,
						   const struct mm_struct *mm)
{
	struct vrfm_mapper *mapper;

	lockdep_assert_held(&vdev->twins_lock);
	hash_for_each_possible(vdev->mappers, mapper, node, (unsigned long)mm)
		if (mapper->mm == mm)
			return mapper;
	return NULL;
}

/*
 * Move a twin to the common family. The twin then counts as never compared, so
 * it must be at the head of the list, where vrfm_family_twin() finds it.
 */
static void vrfm_twin_share_locked(struct vrfm_dev *vdev,
				   struct vrfm_twin *twin)
{
	lockdep_assert_held(&vdev->twins_lock);
	twin->family = &vdev->common;
	twin->compared = 0;
	list_move(&twin->kin, &vdev->common.twins);
}

/*
 * Move all twins of a family to the common family. The family gets no new
 * twins, because it has no mapping, or its flag common is set.
 */
static void vrfm_family_share(struct vrfm_dev *vdev, struct vrfm_family *family)
{
	struct vrfm_twin *twin;
	unsigned int n;
	bool left;

	do {
		/* Move some twins, and then let other tasks take the lock. */
		spin_lock(&vdev->twins_lock);
		for (n = 0; n < VRFM_MOVE && !list_empty(&family->twins); n++) {
			twin = list_first_entry(&family->twins,
						struct vrfm_twin, kin);
			vrfm_twin_share_locked(vdev, twin);
		}
		left = !list_empty(&family->twins);
		spin_unlock(&vdev->twins_lock);
		cond_resched();
	} while (left);
}

static void vrfm_mapper_insert_locked(struct vrfm_dev *vdev,
				      struct vrfm_mapper *mapper,
				      const struct mm_struct *mm,
				      struct vrfm_family *family)
{
	lockdep_assert_held(&vdev->twins_lock);
	mapper->mm = mm;
	mapper->family = family;
	mapper->vmas = 0;
	hash_add(vdev->mappers, &mapper->node, (unsigned long)mm);
}

/**
 * vrfm_mapper_add - count a mapping that mmap() creates, and set its family
 * @vdev: device
 * @vma: the mapping
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM. After 0 the mapping must be passed to
 * vrfm_mapper_close().
 */
int vrfm_mapper_add(struct vrfm_dev *vdev, struct vm_area_struct *vma)
{
	struct vrfm_family *family = kzalloc(sizeof(*family),
					     GFP_KERNEL_ACCOUNT);
	struct vrfm_mapper *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	struct vrfm_mapper *mapper;

	if (!family || !spare) {
		kfree(family);
		kfree(spare);
		return -ENOMEM;
	}
	INIT_LIST_HEAD(&family->twins);
	spin_lock(&vdev->twins_lock);
	mapper = vrfm_mapper_find_locked(vdev, vma->vm_mm);
	if (!mapper) {
		mapper = spare;
		spare = NULL;
		list_add_tail(&family->entry, &vdev->families);
		vrfm_mapper_insert_locked(vdev, mapper, vma->vm_mm, family);
		family = NULL;
	}
	mapper->vmas++;
	mapper->family->vmas++;
	vma->vm_private_data = mapper->family;
	spin_unlock(&vdev->twins_lock);
	kfree(family);
	kfree(spare);
	return 0;
}

/**
 * vrfm_mapper_open - count a mapping that fork() or a split has copied
 * @vdev: device
 * @vma: the copy, with the family of the original
 *
 * If there is no memory for the mapper of a new process, the twins of its
 * family move to the common family. Later twins of the family also go there.
 *
 * Context: may sleep.
 */
void vrfm_mapper_open(struct vrfm_dev *vdev, struct vm_area_struct *vma)
{
	struct vrfm_mapper *spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	struct vrfm_family *family = vma->vm_private_data;
	struct vrfm_mapper *mapper;

	spin_lock(&vdev->twins_lock);
	family->vmas++;
	mapper = vrfm_mapper_find_locked(vdev, vma->vm_mm);
	if (!mapper && spare) {
		mapper = spare;
		spare = NULL;
		vrfm_mapper_insert_locked(vdev, mapper, vma->vm_mm, family);
	}
	if (mapper && mapper->family == family)
		mapper->vmas++;
	else
		family->common = true;
	spin_unlock(&vdev->twins_lock);
	kfree(spare);
	if (READ_ONCE(family->common))
		vrfm_family_share(vdev, family);
}

/**
 * vrfm_mapper_close - stop counting a mapping that is being removed
 * @vdev: device
 * @vma: mapping
 *
 * Context: may sleep.
 */
void vrfm_mapper_close(struct vrfm_dev *vdev, struct vm_area_struct *vma)
{
	struct vrfm_family *family = vma->vm_private_data;
	struct vrfm_mapper *mapper;
	bool last;

	spin_lock(&vdev->twins_lock);
	mapper = vrfm_mapper_find_locked(vdev, vma->vm_mm);
	if (mapper && (mapper->family != family || --mapper->vmas))
		mapper = NULL;
	if (mapper)
		hash_del(&mapper->node);
	last = !--family->vmas;
	spin_unlock(&vdev->twins_lock);
	kfree(mapper);
	if (!last)
		return;
	vrfm_family_share(vdev, family);
	spin_lock(&vdev->twins_lock);
	list_del(&family->entry);
	spin_unlock(&vdev->twins_lock);
	kfree(family);
}

/**
 * vrfm_mapper_join_locked - let a family store into the page of a twin without
 * a fault
 * @vdev: device, with its twins_lock held
 * @twin: twin of the page; a new twin has no family yet
 * @family: family of the process that caused the fault
 *
 * Context: process; the struct page is locked.
 */
void vrfm_mapper_join_locked(struct vrfm_dev *vdev, struct vrfm_twin *twin,
			     struct vrfm_family *family)
{
	lockdep_assert_held(&vdev->twins_lock);
	if (family->common)
		family = &vdev->common;
	if (!twin->family) {
		/*
		 * A call that has already begun to compare pages need not
		 * compare the new twin, because stores into the page of this
		 * twin come later.
		 */
		twin->family = family;
		twin->compared = vdev->compared;
		list_add_tail(&twin->kin, &family->twins);
	} else if (twin->family != family && twin->family != &vdev->common) {
		vrfm_twin_share_locked(vdev, twin);
	}
}

static struct vrfm_twin *vrfm_family_twin(struct vrfm_family *family,
					  u64 before)
{
	struct vrfm_twin *twin = list_first_entry_or_null(&family->twins,
							  struct vrfm_twin,
							  kin);

	return twin && twin->compared <= before ? twin : NULL;
}

/**
 * vrfm_mapper_twin_locked - find a twin that a call must compare, to send
 * earlier stores into mappings
 * @vdev: device, with its twins_lock held
 * @mm: mm of the process that makes the call; NULL: find twins of all families
 * @before: value of vrfm_dev.compared when the call began to compare
 *
 * Context: vrfm_dev.write_lock is held if the caller uses the twin.
 * Return: a twin that was not compared since the call began to compare; NULL if
 * no twin is left.
 */
struct vrfm_twin *vrfm_mapper_twin_locked(struct vrfm_dev *vdev,
					  const struct mm_struct *mm,
					  u64 before)
{
	struct vrfm_twin *twin = NULL;
	struct vrfm_family *family;
	struct vrfm_mapper *mapper;

	lockdep_assert_held(&vdev->twins_lock);
	if (mm) {
		mapper = vrfm_mapper_find_locked(vdev, mm);
		if (mapper)
			twin = vrfm_family_twin(mapper->family, before);
	} else {
		list_for_each_entry(family, &vdev->families, entry) {
			twin = vrfm_family_twin(family, before);
			if (twin)
				break;
		}
	}
	return twin ?: vrfm_family_twin(&vdev->common, before);
}
