/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of programs and admins, and the life of a device. */
#ifndef VRFM_DEVICE_H
#define VRFM_DEVICE_H

#include "priv.h"

/* chardev.c */
extern const struct file_operations vrfm_fops;

/* configfs.c */
int vrfm_configfs_init(void);
void vrfm_configfs_allow(void);
void vrfm_configfs_exit(void);

/* debugfs.c */
void vrfm_debugfs_init(void);
void vrfm_debugfs_exit(void);
void vrfm_debugfs_add(struct vrfm_dev *vdev);
void vrfm_debugfs_remove(struct vrfm_dev *vdev);

/* device.c */
int vrfm_device_init(umode_t mode);
void vrfm_device_exit(void);
struct vrfm_dev *vrfm_dev_create(unsigned int unit,
				 const struct vrfm_params *params);
int vrfm_dev_publish(struct vrfm_dev *vdev);
int vrfm_dev_destroy(struct vrfm_dev *vdev, bool even_if_open);
void vrfm_devices_lock(void);
void vrfm_devices_unlock(void);
struct vrfm_dev *vrfm_device(unsigned int unit);

/* ioctl.c */
long vrfm_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
#ifdef CONFIG_COMPAT
long vrfm_compat_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
#else
#define vrfm_compat_ioctl NULL
#endif

/* mmap.c */
int vrfm_mmap(struct file *file, struct vm_area_struct *vma);

/* peers_ioctl.c */
int vrfm_states(struct vrfm_dev *vdev, struct vrfm_peers *peers);

/* proc.c */
int vrfm_proc_init(void);
void vrfm_proc_exit(void);

/* reg_access.c */
int vrfm_probe(struct vrfm_dev *vdev);
int vrfm_reg_read(struct vrfm_dev *vdev, struct rfm2g_reg_info *reg);
int vrfm_reg_write(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);
int vrfm_reg_set(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);
int vrfm_reg_clear(struct vrfm_dev *vdev, const struct rfm2g_reg_info *reg);

/* sysfs.c */
extern const struct attribute_group *vrfm_dev_groups[];

/* watch.c */
int vrfm_watch(struct vrfm_dev *vdev, struct file *file,
	       struct vrfm_watch *watch);
void vrfm_watches_cancel(struct vrfm_dev *vdev, const struct file *file,
			 fl_owner_t owner);

#endif /* VRFM_DEVICE_H */
