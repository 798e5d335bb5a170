/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RDMA device with real DMA rules, for a copy of krdma in a KUnit module.
 *
 * Every file of krdma is compiled once more with this header in front of it, see
 * Kbuild. Verbs go through the RDMA core of the kernel to the device of
 * krdma_device_fake.c. Macros replace the DMA API, and the calls of the RDMA CM
 * and of ib_client. So the tests run without a network, and on kernels without
 * an IOMMU or swiotlb.
 *
 * Mapped memory is copied into an arena, as swiotlb does without
 * min_align_mask. If a mapping is shorter than a page, its DMA address never has
 * the same offset in a page as the memory. The device accesses only the
 * arena, and only calls of the DMA API copy bytes between the arena and the
 * memory. So a wrong offset, a wrong direction or a missing sync causes wrong
 * data or a fault.
 */
#ifndef KRDMA_DEVICE_FAKE_H
#define KRDMA_DEVICE_FAKE_H

/* Define pr_fmt as the files of krdma do, because this header precedes them. */
#ifndef KRDMA_DEVICE_FAKE_ITSELF
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#endif

#include <linux/dma-mapping.h>
#include <linux/memremap.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/**
 * struct fake - the device
 * @ibdev: RDMA device; its attributes may be set before a connection is made
 * @copies: mapping and syncing copy memory to and from the arena
 * @max_map: maximum length of a mapping in bytes
 * @max_inline: maximum inline data of a QP in bytes
 * @lacks_inline_memory: a QP with inline data cannot be created: -ENOMEM
 * @reuses_indices: a new MR gets the index of the last one that was destroyed
 * @free_index: index of the last MR that was destroyed; 0: the next MR gets a
 *	new index
 * @refuses_inv: a LOCAL_INV of an invalid key fails
 * @grows_after: index of the MR after which new MRs may have 64 pages; 0 means
 *	never
 * @forgets_reads: a READ that fails has no completion, as on siw
 * @p2p_page: page that is taken for memory of a PCI device, or NULL
 * @holds_recvs: completions of receives wait for fake_release_recvs()
 * @holds_sends: completions on send queues wait for fake_release_sends()
 * @fails_regs: number of following REG_MR work requests that are flushed, as if
 *	their queue pair had failed
 * @refuses_regs: each REG_MR fails
 * @holds_ends: the CM reports an end only by fake_report_end(), as if each peer
 *	were silent
 * @holds_routes: the CM resolves no route
 * @faults: number of breaches of the rules of the DMA API, of the order of
 *	verbs, or of the context of calls
 * @written_back: number of copies from the arena to memory
 * @longest: length of the longest mapping so far, in bytes
 * @longest_inline: length of the longest inline data so far, in bytes
 * @mapped: number of mappings that exist
 * @registered: number of REG_MR work requests that have succeeded
 * @allocated: number of MRs that exist
 * @disconnects: number of calls of rdma_disconnect()
 * @errors: number of times that a queue pair was moved to ERROR
 * @disconnects_at_error: value of @disconnects at the first move to ERROR
 * @error_at: time of the first move to ERROR, in jiffies
 */
struct fake {
	struct ib_device ibdev;
	bool copies;
	u32 max_map;
	u32 max_inline;
	bool refuses_inv;
	bool lacks_inline_memory;
	bool reuses_indices;
	u32 free_index;
	u32 grows_after;
	bool forgets_reads;
	struct page *p2p_page;
	bool holds_recvs;
	bool holds_sends;
	unsigned int fails_regs;
	bool refuses_regs;
	bool holds_ends;
	bool holds_routes;
	unsigned int faults;
	unsigned int written_back;
	size_t longest;
	u32 longest_inline;
	unsigned int mapped;
	unsigned int registered;
	unsigned int allocated;
	unsigned int disconnects;
	unsigned int errors;
	unsigned int disconnects_at_error;
	unsigned long error_at;
	/* private: */
	/* The lock protects the other private members, and the counters. */
	spinlock_t lock;
	void *arena;
	unsigned long *slots;
	struct list_head maps;
	struct list_head mrs;
	struct list_head qps;
	struct list_head held;
	struct list_head held_sends;
	struct work_struct work;
	u32 next_index;
	u32 next_qp;
};

extern struct fake *fake;

struct fake *fake_create(void);
void fake_destroy(void);
void fake_release_recvs(void);
void fake_release_sends(void);
void fake_link_qps(struct ib_qp *a, struct ib_qp *b);
void fake_fail_qp(struct ib_qp *qp);

/* krdma_device_cm.c */
int fake_cm_init(void);
void fake_cm_exit(void);
void fake_cm_flush(void);
int fake_register_client(struct ib_client *client);
void fake_unregister_client(struct ib_client *client);
bool fake_has_client(void);
void fake_set_client_data(void *data);
void fake_add_device(void);
void fake_remove_device(void);
struct rdma_cm_id *fake_create_id(struct net *net, rdma_cm_event_handler handler,
				  void *context);
void fake_destroy_id(struct rdma_cm_id *id);
int fake_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
int fake_resolve_addr(struct rdma_cm_id *id, const struct sockaddr *dst);
int fake_resolve_route(struct rdma_cm_id *id);
int fake_create_qp(struct rdma_cm_id *id, struct ib_pd *pd,
		   struct ib_qp_init_attr *attr);
void fake_destroy_qp(struct rdma_cm_id *id);
int fake_listen(struct rdma_cm_id *id);
int fake_connect(struct rdma_cm_id *id, struct rdma_conn_param *param);
int fake_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int fake_reject(struct rdma_cm_id *id, const void *data, u8 len);
int fake_disconnect(struct rdma_cm_id *id);
void fake_report_end(struct rdma_cm_id *id);
const void *fake_reject_data(struct rdma_cm_event *event, u8 *len);
int fake_done(struct rdma_cm_id *id);
void fake_lock_handler(struct rdma_cm_id *id);
void fake_unlock_handler(struct rdma_cm_id *id);

/*
 * DMA. If fake.copies is true, a dma_addr_t is an address in the arena. If not,
 * it is the address of the mapped memory itself.
 */
u64 fake_map(void *cpu, size_t size, enum dma_data_direction dir,
	     unsigned long attrs);
void fake_unmap(u64 dma, size_t size, enum dma_data_direction dir,
		unsigned long attrs);
int fake_map_sg(struct scatterlist *sg, int nents, enum dma_data_direction dir,
		unsigned long attrs);
void fake_unmap_sg(struct scatterlist *sg, int nents,
		   enum dma_data_direction dir, unsigned long attrs);
void fake_sync(u64 dma, size_t size, enum dma_data_direction dir, bool for_cpu);
void fake_mutex_lock(struct mutex *mutex);

#ifndef KRDMA_DEVICE_FAKE_ITSELF
#define is_pci_p2pdma_page(page) ((page) == fake->p2p_page)
#define ib_uses_virt_dma(dev) ((void)(dev), false)
#define ib_dma_mapping_error(dev, dma) ((void)(dev), !(dma))
#define ib_dma_map_single(dev, cpu, size, dir) \
	((void)(dev), fake_map(cpu, size, dir, 0))
#define ib_dma_unmap_single(dev, dma, size, dir) \
	((void)(dev), fake_unmap(dma, size, dir, 0))
#define ib_dma_map_page(dev, page, offset, size, dir) \
	((void)(dev), fake_map(page_address(page) + (offset), size, dir, 0))
#define ib_dma_unmap_page(dev, dma, size, dir) \
	((void)(dev), fake_unmap(dma, size, dir, 0))
#define ib_dma_map_sg_attrs(dev, sg, nents, dir, attrs) \
	((void)(dev), fake_map_sg(sg, nents, dir, attrs))
#define ib_dma_unmap_sg_attrs(dev, sg, nents, dir, attrs) \
	((void)(dev), fake_unmap_sg(sg, nents, dir, attrs))
#define ib_dma_sync_single_for_cpu(dev, dma, size, dir) \
	((void)(dev), fake_sync(dma, size, dir, true))
#define ib_dma_sync_single_for_device(dev, dma, size, dir) \
	((void)(dev), fake_sync(dma, size, dir, false))
#undef dma_need_sync
#define dma_need_sync(dev, dma) ((void)(dev), (void)(dma), fake->copies)
#define dma_max_mapping_size(dev) ((void)(dev), (size_t)fake->max_map)
#undef mutex_lock
#define mutex_lock(mutex) fake_mutex_lock(mutex)

#define ib_register_client fake_register_client
#define ib_unregister_client fake_unregister_client
#define ib_set_client_data(dev, client, data) fake_set_client_data(data)

#undef rdma_create_id
#define rdma_create_id(net, handler, context, ps, type) \
	fake_create_id(net, handler, context)
#define rdma_destroy_id fake_destroy_id
#define rdma_bind_addr fake_bind_addr
#define rdma_resolve_addr(id, src, dst, ms) \
	((void)(src), fake_resolve_addr(id, dst))
#define rdma_resolve_route(id, ms) fake_resolve_route(id)
#define rdma_create_qp fake_create_qp
#define rdma_destroy_qp fake_destroy_qp
#define rdma_listen(id, backlog) ((void)(backlog), fake_listen(id))
#define rdma_connect fake_connect
#undef rdma_accept
#define rdma_accept fake_accept
#define rdma_reject(id, data, len, reason) fake_reject(id, data, len)
#define rdma_disconnect fake_disconnect
#define rdma_notify(id, event) fake_done(id)
#define rdma_set_ack_timeout(id, timeout) fake_done(id)
#define rdma_set_min_rnr_timer(id, timer) fake_done(id)
#define rdma_set_afonly(id, afonly) fake_done(id)
#define rdma_set_service_type(id, tos) ((void)(id))
#define rdma_consumer_reject_data(id, event, len) fake_reject_data(event, len)
#define rdma_lock_handler fake_lock_handler
#define rdma_unlock_handler fake_unlock_handler
#endif

#endif /* KRDMA_DEVICE_FAKE_H */
