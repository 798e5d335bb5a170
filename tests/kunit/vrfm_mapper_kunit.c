// SPDX-License-Identifier: GPL-2.0
/*
 * Test the choice of pages that a call must compare with their twins: pages
 * into which its own process can store, and pages into which several families
 * of processes can store (common pages).
 */
#include <kunit/test.h>

#include "../../vrfm/mapper.c"

#define PROCESSES 3
#define TWINS (2 * VRFM_MOVE + 1)
/* Number of the last comparison before a call. */
#define NOW 100

struct fixture {
	struct vrfm_dev vdev;
	struct vm_area_struct vmas[PROCESSES];
	struct vrfm_twin twins[TWINS];
};

/*
 * Return an address for the mm of a process. It is only compared, and never
 * dereferenced.
 */
static struct mm_struct *mm(unsigned long process)
{
	return (struct mm_struct *)(4096 * (process + 1));
}

static struct fixture *fixture(struct kunit *test)
{
	struct fixture *f = kvzalloc(sizeof(*f), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	vrfm_mappers_init(&f->vdev);
	f->vdev.compared = NOW;
	for (i = 0; i < PROCESSES; i++)
		f->vmas[i].vm_mm = mm(i);
	return f;
}

static void unmap(struct fixture *f, unsigned int process)
{
	vrfm_mapper_close(&f->vdev, &f->vmas[process]);
}

static void map(struct kunit *test, struct fixture *f, unsigned int process)
{
	KUNIT_ASSERT_EQ(test, vrfm_mapper_add(&f->vdev, &f->vmas[process]), 0);
}

static void forked(struct fixture *f, unsigned int from, unsigned int to)
{
	f->vmas[to].vm_private_data = f->vmas[from].vm_private_data;
	vrfm_mapper_open(&f->vdev, &f->vmas[to]);
}

static void store(struct fixture *f, unsigned int process, unsigned int twin)
{
	spin_lock(&f->vdev.twins_lock);
	vrfm_mapper_join_locked(&f->vdev, &f->twins[twin],
				f->vmas[process].vm_private_data);
	spin_unlock(&f->vdev.twins_lock);
}

static struct vrfm_twin *found(struct fixture *f, const struct mm_struct *by,
			       u64 before)
{
	struct vrfm_twin *twin;

	spin_lock(&f->vdev.twins_lock);
	twin = vrfm_mapper_twin_locked(&f->vdev, by, before);
	spin_unlock(&f->vdev.twins_lock);
	return twin;
}

/* Mark a twin as compared, as vrfm_compared_locked() does. */
static void compare(struct fixture *f, unsigned int twin)
{
	f->twins[twin].compared = ++f->vdev.compared;
	list_move_tail(&f->twins[twin].kin, &f->twins[twin].family->twins);
}

static void page_is_found_by_own_process_only(struct kunit *test)
{
	struct fixture *f = fixture(test);

	map(test, f, 0);
	map(test, f, 1);
	store(f, 0, 0);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(0), NOW), &f->twins[0]);
	KUNIT_EXPECT_NULL(test, found(f, mm(1), NOW));
	KUNIT_EXPECT_NULL(test, found(f, mm(2), NOW));
	KUNIT_EXPECT_PTR_EQ(test, found(f, NULL, NOW), &f->twins[0]);
	unmap(f, 0);
	unmap(f, 1);
	kvfree(f);
}

static void page_of_two_processes_is_found_by_all(struct kunit *test)
{
	struct fixture *f = fixture(test);
	unsigned int i;

	map(test, f, 0);
	map(test, f, 1);
	store(f, 0, 0);
	store(f, 1, 0);
	for (i = 0; i < PROCESSES; i++)
		KUNIT_EXPECT_PTR_EQ(test, found(f, mm(i), NOW), &f->twins[0]);
	unmap(f, 0);
	unmap(f, 1);
	kvfree(f);
}

/*
 * Task A compares the pages of its process, and task B has compared this page.
 * Then a second process stores into the page, which makes the page common. Task
 * A must compare the page again.
 */
static void page_that_becomes_common_is_found_again(struct kunit *test)
{
	struct fixture *f = fixture(test);

	map(test, f, 0);
	map(test, f, 1);
	store(f, 0, 0);
	compare(f, 0);
	KUNIT_EXPECT_NULL(test, found(f, mm(0), NOW));
	store(f, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(0), NOW), &f->twins[0]);
	compare(f, 0);
	KUNIT_EXPECT_NULL(test, found(f, mm(0), NOW));
	/* The page is already common, so another store changes nothing. */
	store(f, 0, 0);
	KUNIT_EXPECT_NULL(test, found(f, mm(0), NOW));
	unmap(f, 0);
	unmap(f, 1);
	kvfree(f);
}

static void parent_and_child_share_a_family(struct kunit *test)
{
	struct fixture *f = fixture(test);

	map(test, f, 0);
	store(f, 0, 0);
	forked(f, 0, 1);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(1), NOW), &f->twins[0]);
	store(f, 1, 1);
	compare(f, 0);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(0), NOW), &f->twins[1]);
	KUNIT_EXPECT_NULL(test, found(f, mm(2), NOW));
	unmap(f, 0);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(1), NOW), &f->twins[1]);
	unmap(f, 1);
	kvfree(f);
}

/*
 * If a process maps the memory twice, creating and removing the second mapping
 * does not change the family of the process.
 */
static void second_mapping_keeps_family(struct kunit *test)
{
	struct fixture *f = fixture(test);

	f->vmas[1].vm_mm = mm(0);
	map(test, f, 0);
	map(test, f, 1);
	store(f, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(0), NOW), &f->twins[0]);
	unmap(f, 1);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(0), NOW), &f->twins[0]);
	KUNIT_EXPECT_NULL(test, found(f, mm(2), NOW));
	unmap(f, 0);
	kvfree(f);
}

static void pages_of_ended_process_are_found_by_all(struct kunit *test)
{
	struct fixture *f = fixture(test);
	unsigned int i;

	map(test, f, 0);
	map(test, f, 1);
	for (i = 0; i < TWINS; i++)
		store(f, 0, i);
	unmap(f, 0);
	for (i = 0; i < TWINS; i++) {
		struct vrfm_twin *twin = found(f, mm(1), NOW);

		KUNIT_ASSERT_NOT_NULL(test, twin);
		compare(f, twin - f->twins);
	}
	KUNIT_EXPECT_NULL(test, found(f, mm(1), NOW));
	unmap(f, 1);
	kvfree(f);
}

/*
 * A call must compare only pages that became writable before it began.
 * Otherwise it might never end while other threads store into further pages.
 */
static void page_newer_than_call_is_not_found(struct kunit *test)
{
	struct fixture *f = fixture(test);

	map(test, f, 0);
	store(f, 0, 0);
	compare(f, 0);
	store(f, 0, 1);
	KUNIT_EXPECT_NULL(test, found(f, mm(0), NOW));
	KUNIT_EXPECT_NULL(test, found(f, NULL, NOW));
	unmap(f, 0);
	kvfree(f);
}

static void pages_of_common_family_are_found_by_all(struct kunit *test)
{
	struct fixture *f = fixture(test);
	struct vrfm_family *family;

	map(test, f, 0);
	store(f, 0, 0);
	family = f->vmas[0].vm_private_data;
	family->common = true;
	forked(f, 0, 1);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(2), NOW), &f->twins[0]);
	store(f, 0, 1);
	compare(f, 0);
	KUNIT_EXPECT_PTR_EQ(test, found(f, mm(2), NOW), &f->twins[1]);
	unmap(f, 0);
	unmap(f, 1);
	kvfree(f);
}

static struct kunit_case vrfm_mapper_cases[] = {
	KUNIT_CASE(page_is_found_by_own_process_only),
	KUNIT_CASE(page_of_two_processes_is_found_by_all),
	KUNIT_CASE(page_that_becomes_common_is_found_again),
	KUNIT_CASE(parent_and_child_share_a_family),
	KUNIT_CASE(second_mapping_keeps_family),
	KUNIT_CASE(pages_of_ended_process_are_found_by_all),
	KUNIT_CASE(page_newer_than_call_is_not_found),
	KUNIT_CASE(pages_of_common_family_are_found_by_all),
	{ }
};

static struct kunit_suite vrfm_mapper_suite = {
	.name = "vrfm_mapper",
	.test_cases = vrfm_mapper_cases,
};

kunit_test_suite(vrfm_mapper_suite);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("KUnit tests of vrfm/mapper.c");
MODULE_LICENSE("GPL");
