// SPDX-License-Identifier: GPL-2.0
/*
 * Devices of this host, up to VRFM_DEVICES. An admin creates them by configfs
 * or by the parameters of the module.
 *
 * A device exists from vrfm_dev_create() to vrfm_dev_destroy(). If files are
 * open when it is destroyed, its memory exists until the last of these files is
 * closed. An open file holds the cdev, the cdev holds the device, and a mapping
 * holds the file.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/suspend.h>

#include "compat.h"
#include "device.h"
#include "link.h"
#include "ring.h"
#include "write.h"

static DEFINE_MUTEX(vrfm_devices_mutex); /* protects vrfm_devices */
static struct vrfm_dev *vrfm_devices[VRFM_DEVICES];
static dev_t vrfm_devt;
static umode_t vrfm_mode;

static struct vrfm_dev *vrfm_dev_of(struct device *dev)
{
	return container_of(dev, struct vrfm_dev, dev);
}

static char *vrfm_devnode(KRDMA_CONST_DEVICE struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = vrfm_mode;
	return NULL;
}

static struct class vrfm_class = {
	.name = VRFM_NAME,
	.dev_groups = vrfm_dev_groups,
	.devnode = vrfm_devnode,
};

/**
 * vrfm_devices_lock - lock the table of devices against changes
 *
 * Context: may sleep.
 */
void vrfm_devices_lock(void)
{
	mutex_lock(&vrfm_devices_mutex);
}

/**
 * vrfm_devices_unlock - unlock the table of devices
 */
void vrfm_devices_unlock(void)
{
	mutex_unlock(&vrfm_devices_mutex);
}

/**
 * vrfm_device - return a device
 * @unit: number of the device, below %VRFM_DEVICES
 *
 * Context: between vrfm_devices_lock() and vrfm_devices_unlock().
 * Return: the device; NULL if no device has this number.
 */
struct vrfm_dev *vrfm_device(unsigned int unit)
{
	lockdep_assert_held(&vrfm_devices_mutex);
	return vrfm_devices[unit];
}

/*
 * Record whether the machine is being suspended. PREPARE comes before tasks are
 * frozen, and POST comes after they are thawed.
 */
static int vrfm_power_event(struct notifier_block *block, unsigned long event,
			    void *data)
{
	unsigned int unit;

	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		vrfm_writers_suspend(true);
		/* Let waiting writers check their deadlines again. */
		vrfm_devices_lock();
		for (unit = 0; unit < VRFM_DEVICES; unit++)
			if (vrfm_devices[unit])
				vrfm_wake_writers(vrfm_devices[unit]);
		vrfm_devices_unlock();
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		vrfm_writers_suspend(false);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block vrfm_power_notifier = {
	.notifier_call = vrfm_power_event,
};

/**
 * vrfm_device_init - register the class, the device numbers and the notifier
 * @mode: permissions of the device nodes
 *
 * Return: 0 or an error.
 */
int vrfm_device_init(umode_t mode)
{
	int ret;

	vrfm_mode = mode;
	ret = alloc_chrdev_region(&vrfm_devt, 0, VRFM_DEVICES, VRFM_NAME);
	if (ret)
		return ret;
	ret = class_register(&vrfm_class);
	if (ret)
		goto err_unregister_region;
	ret = register_pm_notifier(&vrfm_power_notifier);
	if (ret)
		goto err_unregister_class;
	return 0;

err_unregister_class:
	class_unregister(&vrfm_class);
err_unregister_region:
	unregister_chrdev_region(vrfm_devt, VRFM_DEVICES);
	return ret;
}

/**
 * vrfm_device_exit - unregister what vrfm_device_init() has registered
 *
 * Context: may sleep; no device is left.
 */
void vrfm_device_exit(void)
{
	unregister_pm_notifier(&vrfm_power_notifier);
	class_unregister(&vrfm_class);
	unregister_chrdev_region(vrfm_devt, VRFM_DEVICES);
}

/*
 * Free a device when its last reference is dropped: no file, mapping or entry
 * in sysfs is left.
 */
static void vrfm_dev_release(struct device *dev)
{
	struct vrfm_dev *vdev = vrfm_dev_of(dev);

	vrfm_scan_free(vdev);
	vrfm_stage_free(vdev);
	vrfm_share_free(vdev);
	vrfm_mem_free(&vdev->mem);
	vrfm_status_free(vdev);
	krdma_keys_put(vdev->params.keys);
	kvfree(vdev->own);
	if (!IS_ERR_OR_NULL(vdev->inode))
		vrfm_inode_free(vdev->inode);
	kvfree(vdev);
}

/*
 * Return a new epoch, which identifies a life of a device and is not 0. Its
 * upper 40 bits are the time in units of 1/256 s, which suffices until 2106. So
 * the later of two lives has the greater epoch, if the clock of the host is
 * correct. The lower 24 bits are random.
 */
static u64 vrfm_dev_epoch(void)
{
	u64 time = div_u64(ktime_get_real_ns(), NSEC_PER_SEC / 256);

	return (time << 24 | get_random_u32() >> 8) ?: 1;
}

/*
 * Allocate a device and initialize its locks, lists and state. The caller frees
 * it with put_device().
 */
static struct vrfm_dev *vrfm_dev_alloc(unsigned int unit,
				       const struct vrfm_params *params)
{
	struct vrfm_dev *vdev = kvzalloc(sizeof(*vdev), GFP_KERNEL);
	u32 i;

	if (!vdev)
		return NULL;
	vdev->params = *params;
	krdma_keys_get(vdev->params.keys);
	vdev->unit = unit;
	rt_mutex_init(&vdev->write_lock);
	rt_mutex_init(&vdev->waiter_lock);
	mutex_init(&vdev->shares.lock);
	spin_lock_init(&vdev->lock);
	for (i = 0; i < VRFM_PAGE_LOCKS; i++)
		spin_lock_init(&vdev->page_locks[i].lock);
	INIT_LIST_HEAD(&vdev->links);
	INIT_LIST_HEAD(&vdev->shares.list);
	INIT_LIST_HEAD(&vdev->bar_files);
	INIT_LIST_HEAD(&vdev->rings);
	init_waitqueue_head(&vdev->room);
	vdev->epoch = vrfm_dev_epoch();
	vrfm_stage_init(vdev);
	vrfm_watch_init(vdev);
	vrfm_resync_init(vdev);
	vrfm_events_init(vdev);
	device_initialize(&vdev->dev);
	vdev->dev.class = &vrfm_class;
	vdev->dev.devt = vrfm_devt + unit;
	vdev->dev.release = vrfm_dev_release;
	cdev_init(&vdev->cdev, &vrfm_fops);
	vdev->cdev.owner = THIS_MODULE;
	return vdev;
}

static int vrfm_dev_fill(struct vrfm_dev *vdev)
{
	int ret;

	ret = dev_set_name(&vdev->dev, VRFM_NAME "%u", vdev->unit);
	if (ret)
		return ret;
	ret = vrfm_share_init(vdev);
	if (ret)
		return ret;
	ret = vrfm_mem_alloc(&vdev->mem, vdev->params.size);
	if (ret)
		return ret;
	ret = vrfm_status_alloc(vdev);
	if (ret)
		return ret;
	vdev->own = kvzalloc(vdev->params.size / VRFM_WORD / BITS_PER_BYTE,
			     GFP_KERNEL);
	if (!vdev->own)
		return -ENOMEM;
	vdev->inode = vrfm_inode_new();
	if (IS_ERR(vdev->inode))
		return PTR_ERR(vdev->inode);
	vrfm_mem_name(&vdev->mem, vdev->inode->i_mapping);
	ret = vrfm_stage_alloc(vdev);
	if (ret)
		return ret;
	vrfm_regs_init(vdev);
	return vrfm_scan_init(vdev);
}

/**
 * vrfm_dev_create - create a device, without a device node
 * @unit: number N of /dev/rfm2gN
 * @params: valid parameters, see opts.c
 *
 * Programs cannot open the device before vrfm_dev_publish(). So if loading the
 * module fails before that call, no file is open, and the module can destroy
 * the device.
 *
 * Context: may sleep.
 * Return: the device, for vrfm_dev_destroy(), or an ERR_PTR: -ENOMEM; -EEXIST
 * if the number is in use; -EINVAL if the level of security forbids the direct
 * writes that the parameters demand.
 */
struct vrfm_dev *vrfm_dev_create(unsigned int unit,
				 const struct vrfm_params *params)
{
	int ret = vrfm_security_judge(unit, params);
	struct vrfm_dev *vdev;

	if (ret)
		return ERR_PTR(ret);
	vdev = vrfm_dev_alloc(unit, params);
	if (!vdev)
		return ERR_PTR(-ENOMEM);
	ret = vrfm_dev_fill(vdev);
	vrfm_devices_lock();
	if (!ret && vrfm_devices[unit])
		ret = -EEXIST;
	if (!ret)
		vrfm_devices[unit] = vdev;
	vrfm_devices_unlock();
	if (ret) {
		pr_warn("%s%u: node %u, %llu bytes: error %d\n", VRFM_NAME,
			unit, params->node, params->size, ret);
		put_device(&vdev->dev);
		return ERR_PTR(ret);
	}
	return vdev;
}

/**
 * vrfm_dev_publish - let programs open a device
 * @vdev: device from vrfm_dev_create()
 *
 * Context: may sleep.
 * Return: 0 or an error. After an error, programs still cannot open the device.
 */
int vrfm_dev_publish(struct vrfm_dev *vdev)
{
	int ret;

	vrfm_devices_lock();
	ret = cdev_device_add(&vdev->cdev, &vdev->dev);
	vdev->published = !ret;
	if (!ret)
		vrfm_debugfs_add(vdev);
	vrfm_devices_unlock();
	return ret;
}

/**
 * vrfm_dev_destroy - destroy a device and remove /dev/rfm2gN
 * @vdev: device from vrfm_dev_create()
 * @even_if_open: destroy the device even if files are open: calls return
 *	-ENODEV, waits end, and mappings stay
 *
 * Context: may sleep.
 * Return: 0: the device is destroyed, and the caller must not use @vdev any
 * more; -EBUSY: a file is open, and @even_if_open is false.
 */
int vrfm_dev_destroy(struct vrfm_dev *vdev, bool even_if_open)
{
	bool refused;

	/* From now on open() fails with -ENODEV. */
	spin_lock_bh(&vdev->lock);
	refused = vdev->opens && !even_if_open;
	if (!refused)
		WRITE_ONCE(vdev->gone, true);
	spin_unlock_bh(&vdev->lock);
	if (refused) {
		pr_warn("%s is open\n", dev_name(&vdev->dev));
		return -EBUSY;
	}
	vrfm_devices_lock();
	vrfm_devices[vdev->unit] = NULL;
	/*
	 * Wait for readers of debugfs. A new device may use the same name only
	 * after the directory is removed.
	 */
	vrfm_debugfs_remove(vdev);
	if (vdev->published)
		cdev_device_del(&vdev->cdev, &vdev->dev);
	vrfm_devices_unlock();
	/*
	 * End all waits now, because removing the peers takes seconds. No new
	 * wait can begin, because vrfm_dev.gone is set.
	 */
	vrfm_events_cancel(vdev, NULL, NULL, VRFM_ALL_EVENTS);
	vrfm_watches_cancel(vdev, NULL, NULL);
	vrfm_rings_gone(vdev);
	vrfm_peers_remove(vdev);
	vrfm_resync_exit(vdev);
	vrfm_stage_exit(vdev);
	put_device(&vdev->dev);
	return 0;
}
