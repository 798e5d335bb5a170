// SPDX-License-Identifier: GPL-2.0
// A manual mapping is an ordinary one: the driver finds its stores, and sends them before they are published.
//
// file: vrfm/mmap.c
// caught-by: batch-uml
// rule: Documentation/batches.rst#Publishing stores
@@
expression file, vdev, vma;
@@
- return vrfm_mmap_manual(file, vdev, vma);
+ {
+ 	vma->vm_pgoff -= VRFM_MANUAL_PGOFF;
+ 	return vrfm_mmap_memory(vdev, vma);
+ }
