// SPDX-License-Identifier: GPL-2.0
/*
 * Back end "uml": kernels of User-mode Linux that share a file of the host, for
 * tests. They are as fast as the host, where virtual machines of an emulator are
 * many times slower.
 *
 * A window is a piece of this kernel's memory, of which the pages are replaced
 * by a mapping of the file (MAP_FIXED). They are mapped as before when the
 * module is unloaded. Only the linear mapping is replaced, so a window is
 * contiguous memory of at most 4 MiB.
 *
 * A doorbell is a datagram with the number of the lane. The program that starts
 * the kernels gives each of them the sockets. The interrupt handler reads the
 * datagrams. It uses the RDMA device in an RCU read-side section.
 *
 * The parameters give each kernel its number, so there is no directory.
 */
#include <linux/etherdevice.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <irq_kern.h>
#include <irq_user.h>
#include <os.h>

#include <compat.h>

#include "../../../ntrdma/dev.h"
#include "../../../ntrdma/eth.h"
#include "../../../ntrdma/win.h"

#define UML_INBOX	SZ_4M
#define UML_NAME	"ntr%d"
/* System calls of the host, which is x86-64 as well. */
#define UML_SYS_MMAP	9

static char *uml_file;
module_param_named(file, uml_file, charp, 0444);
MODULE_PARM_DESC(file, "File of the host that all kernels share");

static unsigned int uml_member;
module_param_named(member, uml_member, uint, 0444);
MODULE_PARM_DESC(member, "Number of this kernel, from 0");

static int uml_bells[NTRDMA_MEMBERS];
static unsigned int uml_members;
module_param_array_named(bells, uml_bells, int, &uml_members, 0444);
MODULE_PARM_DESC(bells,
		 "File descriptors of the host: socket of each member; own one: to receive");

/**
 * struct uml_map - memory whose pages are replaced
 * @mem: memory, or NULL
 * @offset: place in the file
 */
struct uml_map {
	void *mem;
	u64 offset;
};

static struct uml_map uml_in[NTRDMA_MEMBERS];
static struct uml_map uml_out[NTRDMA_MEMBERS];
static struct net_device *uml_netdev;
static struct ntrdma_dev *uml_dev;
static struct ntrdma_dev __rcu *uml_notified;
static int uml_fd = -1;
static int uml_irq = -1;

/*
 * Windows.
 */

static int uml_mmap(void *mem, int fd, u64 offset)
{
	long ret = syscall(UML_SYS_MMAP, mem, (long)UML_INBOX,
			   PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_SHARED | MAP_FIXED, fd, (long)offset);

	return (void *)ret == mem ? 0 : -ENOMEM;
}

static int uml_map_window(struct uml_map *map, u64 offset)
{
	int order = get_order(UML_INBOX);
	void *mem = (void *)__get_free_pages(GFP_KERNEL | __GFP_NOWARN, order);

	if (!mem)
		return -ENOMEM;
	if (uml_mmap(mem, uml_fd, offset)) {
		free_pages((unsigned long)mem, order);
		return -ENOMEM;
	}
	*map = (struct uml_map){ .mem = mem, .offset = offset };
	return 0;
}

static void uml_unmap_window(struct uml_map *map)
{
	unsigned long long offset;
	int fd;

	if (!map->mem)
		return;
	fd = phys_mapping(__pa(map->mem), &offset);
	if (uml_mmap(map->mem, fd, offset))
		panic("ntr_uml: cannot restore memory\n");
	free_pages((unsigned long)map->mem, get_order(UML_INBOX));
	map->mem = NULL;
}

/* Offset of the inbox of member @to from member @from. */
static u64 uml_offset(unsigned int to, unsigned int from)
{
	return (u64)(to * (uml_members - 1) + from - (from > to)) * UML_INBOX;
}

static void uml_unmap_all(void)
{
	unsigned int i;

	for (i = 0; i < uml_members; i++) {
		uml_unmap_window(&uml_in[i]);
		uml_unmap_window(&uml_out[i]);
	}
	os_close_file(uml_fd);
}

static int uml_map_all(void)
{
	unsigned int i;
	int ret = 0;

	uml_fd = os_open_file(uml_file, of_rdwr(OPENFLAGS()), 0);
	if (uml_fd < 0)
		return uml_fd;
	for (i = 0; i < uml_members && !ret; i++) {
		if (i == uml_member)
			continue;
		ret = uml_map_window(&uml_in[i], uml_offset(uml_member, i));
		if (!ret)
			ret = uml_map_window(&uml_out[i],
					     uml_offset(i, uml_member));
	}
	if (ret)
		uml_unmap_all();
	return ret;
}

/*
 * Doorbells.
 */

static irqreturn_t uml_interrupt(int irq, void *data)
{
	struct ntrdma_dev *dev;
	u8 lane;

	rcu_read_lock();
	dev = rcu_dereference(uml_notified);
	while (os_read_file(uml_bells[uml_member], &lane, 1) == 1)
		if (dev)
			ntrdma_bell(dev, lane);
	rcu_read_unlock();
	return IRQ_HANDLED;
}

/*
 * If the socket of the peer is full, the doorbell is lost, and the peer looks at
 * its rings at its next tick.
 */
static void uml_ring(struct ntrdma_dev *dev, u8 member, u8 lane)
{
	os_write_file(uml_bells[member], &lane, 1);
}

static int uml_request_irq(void)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < uml_members && !ret; i++)
		ret = os_set_fd_block(uml_bells[i], 0);
	if (ret)
		return ret;
	uml_irq = um_request_irq(UM_IRQ_ALLOC, uml_bells[uml_member], IRQ_READ,
				 uml_interrupt, 0, "ntr_uml", &uml_irq);
	return min(uml_irq, 0);
}

/*
 * The functions of the back end.
 */

static int uml_start(struct ntrdma_dev *dev)
{
	struct ntrdma_window window = { .size = UML_INBOX };
	unsigned int i;
	int ret;

	for (i = 0; i < uml_members; i++) {
		if (i == uml_member)
			continue;
		window.in = uml_in[i].mem;
		window.out = ntrdma_win_out(uml_out[i].mem);
		ret = ntrdma_peer_add(dev, i, &window);
		if (ret)
			return ret;
	}
	ntrdma_eth_attach(uml_netdev, dev, UML_INBOX);
	rcu_assign_pointer(uml_notified, dev);
	return 0;
}

static void uml_stop(struct ntrdma_dev *dev)
{
	RCU_INIT_POINTER(uml_notified, NULL);
	synchronize_rcu();
	ntrdma_eth_detach(uml_netdev);
}

static const struct ntrdma_backend_ops uml_ops = {
	.name = "uml",
	.flags = NTRDMA_COHERENT | NTRDMA_BELLS,
	.start = uml_start,
	.stop = uml_stop,
	.ring = uml_ring,
};

static int uml_create(void)
{
	struct ntrdma_config config = {
		.ops = &uml_ops,
		.name = UML_NAME,
		.member = uml_member,
		.members = uml_members,
		.bells = 1,
		.netdev = uml_netdev,
		.eth = true,
	};
	u8 mac[ETH_ALEN] = { 0x02, 0x6e, 0x74, 0, 0, uml_member + 1 };

	ntrdma_eth_set_mac(uml_netdev, mac);
	uml_dev = ntrdma_dev_create(&config);
	return PTR_ERR_OR_ZERO(uml_dev);
}

static int __init uml_init(void)
{
	int ret;

	if (!uml_file || uml_members < 2 || uml_member >= uml_members)
		return -EINVAL;
	ret = uml_map_all();
	if (ret)
		return ret;
	ret = uml_request_irq();
	if (ret)
		goto unmap;
	uml_netdev = ntrdma_eth_create("uml");
	ret = PTR_ERR_OR_ZERO(uml_netdev);
	if (ret)
		goto irq;
	ret = uml_create();
	if (!ret)
		return 0;
	ntrdma_eth_destroy(uml_netdev);
irq:
	um_free_irq(uml_irq, &uml_irq);
unmap:
	uml_unmap_all();
	return ret;
}

static void __exit uml_exit(void)
{
	char name[IB_DEVICE_NAME_MAX];

	ntrdma_dev_destroy(uml_dev, name);
	ntrdma_eth_destroy(uml_netdev);
	um_free_irq(uml_irq, &uml_irq);
	uml_unmap_all();
}

module_init(uml_init);
module_exit(uml_exit);

MODULE_AUTHOR("The krdma developers");
MODULE_DESCRIPTION("Memory that kernels of User-mode Linux share, for tests of ntrdma");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(NTRDMA_NS);
