// SPDX-License-Identifier: GPL-2.0
/*
 * Control groups of requests (cgroup v2), for the filter of a disk.
 *
 * The block layer associates each request with the control group that pays for
 * it, if the kernel has the io controller. A request of a kernel thread that
 * writes back the pages of a program has the group of the program. The group of
 * the request is the nearest one in which the io controller is on. So a request
 * that a task submits for itself is taken to be of the task's own group, which
 * needs no controller.
 */
#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "blk.h"

/**
 * krping_blk_cgroup_get - find the control group of a filter
 * @id: ID of the group, or 0
 * @cgroup: the group, for krping_blk_cgroup_put(), or NULL if @id is 0
 *
 * Context: process.
 * Return: 0 or -ENOENT.
 */
int krping_blk_cgroup_get(u64 id, struct cgroup **cgroup)
{
	struct cgroup *found = id ? cgroup_get_from_id(id) : NULL;

	if (IS_ERR(found))
		return PTR_ERR(found);
	*cgroup = found;
	return 0;
}

/**
 * krping_blk_cgroup_put - release the control group of a filter
 * @cgroup: the group, or NULL
 */
void krping_blk_cgroup_put(struct cgroup *cgroup)
{
	if (cgroup)
		cgroup_put(cgroup);
}

/*
 * Return the control group of a request. The caller has submitted the request,
 * and holds rcu_read_lock().
 */
static struct cgroup *krping_blk_cgroup_of(struct bio *bio)
{
#ifdef CONFIG_BLK_CGROUP
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);

	if (css && css != task_css(current, io_cgrp_id))
		return css->cgroup;
#endif
	return task_dfl_cgroup(current);
}

/**
 * krping_blk_cgroup_has - check whether a request is of a control group
 * @cgroup: the group
 * @bio: request
 *
 * Context: the task that has submitted the request.
 * Return: true if the request is of @cgroup, or of a group below it.
 */
bool krping_blk_cgroup_has(struct cgroup *cgroup, struct bio *bio)
{
	bool has;

	rcu_read_lock();
	has = cgroup_is_descendant(krping_blk_cgroup_of(bio), cgroup);
	rcu_read_unlock();
	return has;
}
