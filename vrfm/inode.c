// SPDX-License-Identifier: GPL-2.0
/*
 * An inode for each device, whose address space knows all mappings of it,
 * through whichever node in the file system the device was opened: that is how
 * a page is write-protected everywhere. As drivers/gpu/drm/drm_drv.c does.
 */
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>

#include "priv.h"

/* "vrfm" */
#define VRFM_FS_MAGIC 0x7672666d

static int vrfm_fs_init_context(struct fs_context *fc)
{
	return init_pseudo(fc, VRFM_FS_MAGIC) ? 0 : -ENOMEM;
}

/*
 * Without an owner, who would be held by each device, also by the one that goes
 * when the module is unloaded. The module outlives its devices anyway.
 */
static struct file_system_type vrfm_fs_type = {
	.name = "vrfm",
	.init_fs_context = vrfm_fs_init_context,
	.kill_sb = kill_anon_super,
};

static struct vfsmount *vrfm_fs_mount;
static int vrfm_fs_count;

/**
 * vrfm_inode_new - an inode for a device
 *
 * Context: may sleep.
 * Return: what vrfm_inode_free() takes, or an ERR_PTR.
 */
struct inode *vrfm_inode_new(void)
{
	struct inode *inode;
	int ret;

	ret = simple_pin_fs(&vrfm_fs_type, &vrfm_fs_mount, &vrfm_fs_count);
	if (ret)
		return ERR_PTR(ret);
	inode = alloc_anon_inode(vrfm_fs_mount->mnt_sb);
	if (IS_ERR(inode))
		simple_release_fs(&vrfm_fs_mount, &vrfm_fs_count);
	return inode;
}

/**
 * vrfm_inode_free - end of an inode
 * @inode: from vrfm_inode_new(); nothing maps it any more
 *
 * Context: may sleep.
 */
void vrfm_inode_free(struct inode *inode)
{
	iput(inode);
	simple_release_fs(&vrfm_fs_mount, &vrfm_fs_count);
}
