// SPDX-License-Identifier: GPL-2.0
/*
 * Programs in user space.
 *
 * The device has the driver_id and the ABI of rxe, which the kernel's uapi
 * header <rdma/rdma_user_rxe.h> describes. So the library for rxe of every
 * distribution opens it. The library puts work requests and receives into queues
 * in memory that it shares with the kernel, and takes completions from such a
 * queue. A post is a system call that has no request in it, a doorbell. A post of
 * receives is no call at all.
 *
 * The memory of a queue belongs to the entry of its mapping. It is freed when
 * the queue is destroyed, and no call of mmap() uses the entry. Pages that a
 * program still maps are freed when it unmaps them.
 *
 * rxe searches the devices of its driver_id in a table of interfaces. This device
 * is not in it, see ib.c. When rxe is unloaded, it unregisters all devices of its
 * driver_id; see local.c and ivshmem.c.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>

#include "uqueue.h"
#include "verbs.h"

struct ntrdma_ucontext {
	struct ib_ucontext ib;
};

/**
 * struct ntrdma_umap - memory of a queue
 * @entry: key of the mapping
 * @buf: memory
 */
struct ntrdma_umap {
	struct rdma_user_mmap_entry entry;
	void *buf;
};

static bool ntrdma_user = true;
module_param_named(user, ntrdma_user, bool, 0444);
MODULE_PARM_DESC(user, "Programs in user space can use the devices");

/*
 * Pages of programs may be copied for the DMA API (swiotlb), and programs do not
 * sync them.
 */
static int ntrdma_alloc_ucontext(struct ib_ucontext *ib, struct ib_udata *udata)
{
	return to_ntrdma_dev(ib->device)->config.dma_device ? -EOPNOTSUPP : 0;
}

static void ntrdma_dealloc_ucontext(struct ib_ucontext *ib)
{
}

/*
 * The core calls this when a device is removed that programs use. It then
 * destroys all objects of the programs, and nothing else refers to the device.
 */
static void ntrdma_disassociate_ucontext(struct ib_ucontext *ib)
{
}

static int ntrdma_mmap(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct ntrdma_umap *map;
	unsigned long addr;
	int ret = 0;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	entry = rdma_user_mmap_entry_get(ib, vma);
	if (!entry)
		return -EINVAL;
	map = container_of(entry, struct ntrdma_umap, entry);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (addr = vma->vm_start; addr < vma->vm_end && !ret; addr += PAGE_SIZE)
		ret = vm_insert_page(vma, addr,
				     vmalloc_to_page(map->buf + addr -
						     vma->vm_start));
	rdma_user_mmap_entry_put(entry);
	return ret;
}

static void ntrdma_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct ntrdma_umap *map = container_of(entry, struct ntrdma_umap,
					       entry);

	vfree(map->buf);
	kfree(map);
}

static struct ntrdma_umap *ntrdma_umap_create(struct ib_ucontext *context,
					      size_t bytes)
{
	struct ntrdma_umap *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!map)
		return ERR_PTR(-ENOMEM);
	/* vmalloc_user() does not charge the memory to the program. */
	map->buf = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!map->buf) {
		kfree(map);
		return ERR_PTR(-ENOMEM);
	}
	ret = rdma_user_mmap_entry_insert(context, &map->entry, bytes);
	if (ret) {
		vfree(map->buf);
		kfree(map);
		return ERR_PTR(ret);
	}
	return map;
}

/**
 * ntrdma_uqueue_create - create a queue that a program shares
 * @udata: program
 * @elems: number of elements that the queue must have room for
 * @bytes: size of an element
 * @info: result: offset and length for mmap() of the program
 *
 * Context: may sleep.
 * Return: queue to free with ntrdma_uqueue_free(), or an error pointer.
 */
struct ntrdma_uqueue *ntrdma_uqueue_create(struct ib_udata *udata, u32 elems,
					   size_t bytes, struct mminfo *info)
{
	struct ntrdma_ucontext *context =
		rdma_udata_to_drv_context(udata, struct ntrdma_ucontext, ib);
	struct ntrdma_uqueue *queue = kzalloc(sizeof(*queue),
					      GFP_KERNEL_ACCOUNT);
	u32 mask = roundup_pow_of_two(elems + 1) - 1;
	u8 shift = ntrdma_uqueue_shift(bytes);
	struct ntrdma_umap *map;
	size_t size;

	if (!queue)
		return ERR_PTR(-ENOMEM);
	size = PAGE_ALIGN(ntrdma_uqueue_bytes(mask, shift));
	map = ntrdma_umap_create(&context->ib, size);
	if (IS_ERR(map)) {
		kfree(queue);
		return ERR_CAST(map);
	}
	ntrdma_uqueue_init(queue, map->buf, mask, shift);
	queue->entry = &map->entry;
	*info = (struct mminfo){
		.offset = rdma_user_mmap_get_offset(&map->entry),
		.size = size,
	};
	return queue;
}

/**
 * ntrdma_uqueue_free - free a queue that a program shares
 * @queue: queue that this side does not use any more, or NULL
 *
 * The program may still map the memory.
 *
 * Context: may sleep.
 */
void ntrdma_uqueue_free(struct ntrdma_uqueue *queue)
{
	if (!queue)
		return;
	rdma_user_mmap_entry_remove(queue->entry);
	kfree(queue);
}

/**
 * ntrdma_respond - answer the library of a program
 * @udata: program
 * @answer: answer
 * @bytes: size of @answer
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the library expects a shorter answer; -EFAULT.
 */
int ntrdma_respond(struct ib_udata *udata, const void *answer, size_t bytes)
{
	if (udata->outlen < bytes)
		return -EINVAL;
	return ib_copy_to_udata(udata, (void *)answer, bytes);
}

static const struct ib_device_ops ntrdma_user_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	/* Version 2: requests name address handles by number. */
	.uverbs_abi_ver = 2,

	.alloc_ucontext = ntrdma_alloc_ucontext,
	.create_user_ah = ntrdma_create_user_ah,
	.dealloc_ucontext = ntrdma_dealloc_ucontext,
	.disassociate_ucontext = ntrdma_disassociate_ucontext,
	.mmap = ntrdma_mmap,
	.mmap_free = ntrdma_mmap_free,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, ntrdma_ucontext, ib),
};

/**
 * ntrdma_uverbs_init - let programs use a device, unless user=0
 * @dev: device that is not registered yet
 */
void ntrdma_uverbs_init(struct ntrdma_dev *dev)
{
	if (!ntrdma_user)
		return;
	ib_set_device_ops(&dev->ib, &ntrdma_user_ops);
	/* The two calls that the library makes for a QP or a CQ. */
	dev->ib.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				   BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
}
