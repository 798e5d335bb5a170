// SPDX-License-Identifier: GPL-2.0
// /proc/rfm2g is read under the lock of the writers: a reader delays them.
//
// file: vrfm/proc.c
// caught-by: kunit-uml
// rule: Documentation/realtime.rst#What a call may wait for
@@
iterator name list_for_each_entry, list_for_each_entry_rcu;
expression vdev, link;
statement print;
@@
- rcu_read_lock();
- list_for_each_entry_rcu(link, &vdev->links, entry)
+ rt_mutex_lock(&vdev->write_lock);
+ list_for_each_entry(link, &vdev->links, entry)
  	print
- rcu_read_unlock();
+ rt_mutex_unlock(&vdev->write_lock);
