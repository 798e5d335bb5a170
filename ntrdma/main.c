// SPDX-License-Identifier: GPL-2.0
/* Module init and exit, parameters, and events of the machine. */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/suspend.h>

#include <compat.h>
#include <version.h>

#include "dev.h"
#include "emulate.h"

#if !defined(CONFIG_64BIT) || !defined(CONFIG_INFINIBAND_VIRT_DMA)
#error "ntrdma needs a 64-bit kernel with CONFIG_INFINIBAND_VIRT_DMA"
#endif

/*
 * Range of beat_ms. If dead_ms is short, the links beat more often than beat_ms
 * says.
 */
#define NTRDMA_BEAT_MS_MIN	10
#define NTRDMA_BEAT_MS_MAX	10000

/* Range of idle_us. */
#define NTRDMA_IDLE_US_MIN	20
#define NTRDMA_IDLE_US_MAX	100000

/* Range of storm_bells. */
#define NTRDMA_STORM_BELLS_MIN	10
#define NTRDMA_STORM_BELLS_MAX	1000000

unsigned int ntrdma_beat_ms = 250;
module_param_named(beat_ms, ntrdma_beat_ms, uint, 0444);
MODULE_PARM_DESC(beat_ms, "Maximum time between two signs of life, in ms");

unsigned int ntrdma_dead_ms = 5000;
module_param_named(dead_ms, ntrdma_dead_ms, uint, 0444);
MODULE_PARM_DESC(dead_ms,
		 "Time without a sign of life after which a peer is lost, in ms");

unsigned int ntrdma_ring_kb;
module_param_named(ring_kb, ntrdma_ring_kb, uint, 0444);
MODULE_PARM_DESC(ring_kb,
		 "Maximum size of a ring, in KiB; 0: default of the back end");

unsigned int ntrdma_lanes;
module_param_named(lanes, ntrdma_lanes, uint, 0444);
MODULE_PARM_DESC(lanes,
		 "Number of lanes, 1 to 8; 0: number of processors, at most 4");

unsigned int ntrdma_idle_us = 1000;
module_param_named(idle_us, ntrdma_idle_us, uint, 0444);
MODULE_PARM_DESC(idle_us,
		 "Without doorbells: maximum time between two polls, in us");

unsigned int ntrdma_storm_bells = 5000;
module_param_named(storm_bells, ntrdma_storm_bells, uint, 0444);
MODULE_PARM_DESC(storm_bells,
		 "Doorbells without a frame in 100 ms after which a doorbell is ignored for 100 ms");

/* Range of dma_min, beside 0. Shorter payloads are in the header. */
#define NTRDMA_DMA_MIN_MIN	(NTRDMA_SHORT + 1)
#define NTRDMA_DMA_MIN_MAX	NTRDMA_CHUNK_MAX

unsigned int ntrdma_dma_min;
module_param_named(dma_min, ntrdma_dma_min, uint, 0444);
MODULE_PARM_DESC(dma_min,
		 "With bridges: minimum bytes that a DMA engine copies; 0: never");

/* Maximum of spin_us. The poll runs with bottom halves disabled. */
#define NTRDMA_SPIN_US_MAX	50

unsigned int ntrdma_spin_us;

static int ntrdma_set_spin_us(const char *text, const struct kernel_param *param)
{
	int ret = param_set_uint_minmax(text, param, 0, NTRDMA_SPIN_US_MAX);

	if (ret)
		pr_err("ntrdma: spin_us must be 0 to 50\n");
	return ret;
}

static const struct kernel_param_ops ntrdma_spin_us_ops = {
	.set = ntrdma_set_spin_us,
	.get = param_get_uint,
};

module_param_cb(spin_us, &ntrdma_spin_us_ops, &ntrdma_spin_us, 0644);
MODULE_PARM_DESC(spin_us,
		 "Time for which a lane waits for further frames before it sleeps, in us");

/* All work items of the module. Ends of sessions help to free memory. */
struct workqueue_struct *ntrdma_wq;

static bool ntrdma_ring_kb_ok(void)
{
	return !ntrdma_ring_kb ||
	       (is_power_of_2(ntrdma_ring_kb) &&
		ntrdma_ring_kb >= NTRDMA_RING_MIN / SZ_1K &&
		ntrdma_ring_kb <= NTRDMA_RING_MAX / SZ_1K);
}

static const char *ntrdma_bad_param(void)
{
	if (ntrdma_beat_ms < NTRDMA_BEAT_MS_MIN ||
	    ntrdma_beat_ms > NTRDMA_BEAT_MS_MAX)
		return "beat_ms must be 10 to 10000";
	if (ntrdma_dead_ms < NTRDMA_DEAD_MS_MIN ||
	    ntrdma_dead_ms > NTRDMA_DEAD_MS_MAX)
		return "dead_ms must be 100 to 600000";
	if (!ntrdma_ring_kb_ok())
		return "ring_kb must be 0, or a power of 2 from 16 to 16384";
	if (ntrdma_lanes > NTRDMA_LANES)
		return "lanes must be 0 to 8";
	if (ntrdma_idle_us < NTRDMA_IDLE_US_MIN ||
	    ntrdma_idle_us > NTRDMA_IDLE_US_MAX)
		return "idle_us must be 20 to 100000";
	if (ntrdma_storm_bells < NTRDMA_STORM_BELLS_MIN ||
	    ntrdma_storm_bells > NTRDMA_STORM_BELLS_MAX)
		return "storm_bells must be 10 to 1000000";
	if (ntrdma_dma_min && (ntrdma_dma_min < NTRDMA_DMA_MIN_MIN ||
			       ntrdma_dma_min > NTRDMA_DMA_MIN_MAX))
		return "dma_min must be 0, or 17 to 65536";
	return ntrdma_shm_bad_param() ?: ntrdma_ntb_bad_param() ?:
	       ntrdma_emulate_init();
}

/*
 * The machine does not answer while it sleeps. So peers are notified that it
 * leaves, and do not wait for dead_ms.
 */
static int ntrdma_pm_event(struct notifier_block *nb, unsigned long event,
			   void *unused)
{
	switch (event) {
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
	case PM_SUSPEND_PREPARE:
		ntrdma_devs_suspend();
		break;
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
	case PM_POST_SUSPEND:
		ntrdma_devs_resume();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block ntrdma_pm_notifier = {
	.notifier_call = ntrdma_pm_event,
};

static int ntrdma_reboot_event(struct notifier_block *nb, unsigned long event,
			       void *unused)
{
	ntrdma_devs_suspend();
	return NOTIFY_DONE;
}

static struct notifier_block ntrdma_reboot_notifier = {
	.notifier_call = ntrdma_reboot_event,
};

static int __init ntrdma_register(void)
{
	int ret = register_pm_notifier(&ntrdma_pm_notifier);

	if (ret)
		return ret;
	ret = register_reboot_notifier(&ntrdma_reboot_notifier);
	if (ret)
		goto pm;
	ret = ntrdma_local_init();
	if (ret)
		goto reboot;
	ret = ntrdma_shm_init();
	if (ret)
		goto local;
	ret = ntrdma_ntb_init();
	if (ret)
		goto shm;
	return 0;

shm:
	ntrdma_shm_exit();
local:
	ntrdma_local_close();
	ntrdma_devs_exit();
	ntrdma_local_exit();
reboot:
	unregister_reboot_notifier(&ntrdma_reboot_notifier);
pm:
	unregister_pm_notifier(&ntrdma_pm_notifier);
	return ret;
}

static int __init ntrdma_init(void)
{
	const char *bad = ntrdma_bad_param();
	int ret;

	if (bad) {
		pr_err("ntrdma: %s\n", bad);
		return -EINVAL;
	}
	ntrdma_wq = alloc_workqueue("ntrdma", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!ntrdma_wq)
		return -ENOMEM;
	ntrdma_debugfs_init();
	ret = ntrdma_register();
	if (ret) {
		ntrdma_debugfs_exit();
		destroy_workqueue(ntrdma_wq);
	}
	return ret;
}

/*
 * First no new device can be created, then all devices are destroyed. The queue
 * is last, because a device that ends queues a work item.
 */
static void __exit ntrdma_exit(void)
{
	ntrdma_local_close();
	ntrdma_ntb_exit();
	ntrdma_shm_exit();
	ntrdma_devs_exit();
	ntrdma_local_exit();
	unregister_reboot_notifier(&ntrdma_reboot_notifier);
	unregister_pm_notifier(&ntrdma_pm_notifier);
	destroy_workqueue(ntrdma_wq);
	ntrdma_debugfs_exit();
}

module_init(ntrdma_init);
module_exit(ntrdma_exit);

MODULE_AUTHOR("The krdma developers <krdma@example.org>");
MODULE_DESCRIPTION("RDMA through a shared memory window");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
