// SPDX-License-Identifier: GPL-2.0
/*
 * Each device has an inode. The address space of the inode contains all
 * mappings of the device, even if programs opened it through several device
 * nodes. So a page can be write-protected in all mappings at once.
 * drivers/gpu/drm/drm_drv.c does the same.
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
 * The file system type has no owner. With an owner, each device would hold the
 * module. The device of the module's parameters exists until the module is
 * unloaded, so the module could never be unloaded. The module outlives its
 * devices in any case.
 */
static struct file_system_type vrfm_fs_type = {
	.name = "vrfm",
	.init_fs_context = vrfm_fs_init_context,
	.kill_sb = kill_anon_super,
};

static struct vfsmount *vrfm_fs_mount;
static int vrfm_fs_count;

/**
 * vrfm_inode_new - allocate the inode of a device
 *
 * Context: may sleep.
 * Return: inode, which the caller frees with vrfm_inode_free(); or an ERR_PTR.
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
 * vrfm_inode_free - free the inode of a device
 * @inode: inode from vrfm_inode_new(), without a mapping
 *
 * Context: may sleep.
 */
void vrfm_inode_free(struct inode *inode)
{
	iput(inode);
	simple_release_fs(&vrfm_fs_mount, &vrfm_fs_count);
}
