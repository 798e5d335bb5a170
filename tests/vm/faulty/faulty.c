// SPDX-License-Identifier: GPL-2.0
/*
 * A module that causes one fault, to test that the rig notices it.
 *
 * insmod faulty.ko fault=NAME; the fault happens when the module is loaded.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

static char *fault = "none";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "none, warn, leak, hold, hang, use_after_free or lock_order");

static DEFINE_MUTEX(faulty_lock_a);
static DEFINE_MUTEX(faulty_lock_b);

/*
 * Leak many objects, because kmemleak may still find pointers to the last ones
 * in a register or on a stack.
 */
static void faulty_leak(void)
{
	void *lost;
	int i;

	for (i = 0; i < 32; i++) {
		lost = kmalloc(1000, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(lost);
	}
}

static void faulty_use_after_free(void)
{
	char *gone = kmalloc(64, GFP_KERNEL);

	if (!gone)
		return;
	kfree(gone);
	OPTIMIZER_HIDE_VAR(gone);
	WRITE_ONCE(gone[8], READ_ONCE(gone[8]) + 1);
}

static void faulty_hang(void)
{
	long left = 60 * HZ;

	while (left) {
		__set_current_state(TASK_UNINTERRUPTIBLE);
		left = schedule_timeout(left);
	}
}

static void faulty_lock_order(void)
{
	mutex_lock(&faulty_lock_a);
	mutex_lock(&faulty_lock_b);
	mutex_unlock(&faulty_lock_b);
	mutex_unlock(&faulty_lock_a);

	mutex_lock(&faulty_lock_b);
	mutex_lock(&faulty_lock_a);
	mutex_unlock(&faulty_lock_a);
	mutex_unlock(&faulty_lock_b);
}

static int __init faulty_init(void)
{
	if (!strcmp(fault, "leak"))
		faulty_leak();
	else if (!strcmp(fault, "use_after_free"))
		faulty_use_after_free();
	else if (!strcmp(fault, "hang"))
		faulty_hang();
	else if (!strcmp(fault, "lock_order"))
		faulty_lock_order();
	else if (!strcmp(fault, "hold"))
		__module_get(THIS_MODULE);
	else
		WARN_ON(!strcmp(fault, "warn"));
	return 0;
}
module_init(faulty_init);

static void __exit faulty_exit(void)
{
}
module_exit(faulty_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Faults that the test rig must notice");
MODULE_LICENSE("GPL");
