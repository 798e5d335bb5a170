// SPDX-License-Identifier: GPL-2.0
/*
 * Test regions, requests, messages and long messages of krdma. The device has
 * real DMA rules, and limits that no software device has, see
 * krdma_device_fake.h.
 *
 * Each case makes its own connections. Afterwards no memory may be mapped, and
 * the device must have counted no fault.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <krdma.h>

#define KRDMA_DEVICE_FAKE_ITSELF
#include "krdma_device_fake.h"

#include "../../krdma/conn.h"
#include "../../krdma/priv.h"
#include "../../krdma/seal.h"

#define WAIT_MS 5000
#define PORT 7000
/*
 * Number of messages of a test, which is more than the number of receives of a
 * connection.
 */
#define MESSAGES 64

/*
 * Two ends of a connection, and the results of their callbacks. The server is
 * in @domain. The client has @ops, or client_ops if @ops is NULL. @rx_msgs are
 * received messages that the client has not released. @send_depth is a parameter
 * of both ends; 0 means 32. So are @security and @keys.
 */
struct ends {
	struct krdma_domain *domain;
	const struct krdma_ops *ops;
	struct krdma_rx_msg *rx_msgs[MESSAGES];
	unsigned int nrx_msgs;
	struct completion received;
	struct krdma_cb *listener;
	struct krdma_cb *client;
	struct krdma_cb *server;
	struct completion connected;
	int error;
	u32 send_depth;
	enum krdma_security security;
	struct krdma_keys *keys;
};

static struct ends ends;
static struct ends others;

/*
 * Static data of the module, which is outside the linear map on most
 * architectures.
 */
static u8 static_bytes[8];

static void client_connected(struct krdma_cb *cb, int error)
{
	struct ends *e = cb->context;

	e->error = error;
	complete(&e->connected);
}

static const struct krdma_ops client_ops = {
	.connected = client_connected,
};

/* Create the listener of @e, and begin to connect its client. */
static int begin_ends(struct ends *e, u32 flags, u32 ms)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = cpu_to_be16(e == &ends ? PORT : PORT + 1),
		.sin_addr.s_addr = cpu_to_be32(INADDR_LOOPBACK),
	};
	struct krdma_params params = {
		.size = sizeof(params),
		.flags = flags,
		.max_msg = SZ_1M,
		.recv_depth = 8,
		.send_depth = e->send_depth ?: 32,
		.keepalive_ms = KRDMA_NEVER,
		.op_timeout_ms = WAIT_MS,
		.connect_timeout_ms = ms,
		.domain = e->domain,
		.security = e->security,
		.keys = e->keys,
	};
	const struct sockaddr *addr = (const struct sockaddr *)&address;
	int ret;

	init_completion(&e->connected);
	if (flags & KRDMA_RW)
		params.max_msg = SZ_128K + 100;
	ret = krdma_listen_params(addr, &params, &e->listener);
	if (ret)
		return ret;
	params.ops = e->ops ?: &client_ops;
	params.context = e;
	params.domain = NULL;
	e->client = krdma_create(&params);
	return krdma_connect_async(e->client, addr);
}

static int connect_ends(struct ends *e, u32 flags, u32 ms)
{
	int ret = begin_ends(e, flags, ms) ?:
		  krdma_accept_timeout(e->listener, ms, &e->server);

	if (!wait_for_completion_timeout(&e->connected,
					 msecs_to_jiffies(WAIT_MS)))
		return -ETIMEDOUT;
	return ret ?: e->error;
}

static int connect_within(u32 flags, u32 ms)
{
	return connect_ends(&ends, flags, ms);
}

static int connect_with(u32 flags)
{
	return connect_within(flags, WAIT_MS);
}

static void release_ends(struct ends *e)
{
	krdma_release_cb(e->client);
	krdma_release_cb(e->server);
	krdma_release_cb(e->listener);
	e->client = NULL;
	e->server = NULL;
	e->listener = NULL;
	fake_cm_flush();
}

static void release_all(void)
{
	release_ends(&ends);
	release_ends(&others);
	if (others.domain != ends.domain)
		krdma_domain_put(others.domain);
	krdma_domain_put(ends.domain);
	krdma_keys_put(ends.keys);
	ends = (struct ends){};
	others = (struct ends){};
}

static int device_init(struct kunit *test)
{
	/*
	 * KUnit of 6.1 runs the suites of a module before its init function,
	 * which here is that of krdma.
	 */
	if (!fake_has_client())
		kunit_skip(test, "krdma is not initialized");
	if (!fake_create())
		return -ENOMEM;
	fake_add_device();
	return 0;
}

static void device_exit(struct kunit *test)
{
	if (!fake)
		return;
	fake_release_recvs();
	fake_release_sends();
	release_all();
	fake_remove_device();
	KUNIT_EXPECT_EQ(test, fake->mapped, 0U);
	KUNIT_EXPECT_EQ(test, fake->allocated, 0U);
	KUNIT_EXPECT_EQ(test, fake->faults, 0U);
	fake_destroy();
}

static u8 *fill(u8 *buf, size_t len, u32 seed)
{
	struct rnd_state state;

	prandom_seed_state(&state, seed);
	prandom_bytes_state(&state, buf, len);
	return buf;
}

static bool holds(const u8 *buf, size_t len, u32 seed)
{
	u8 *want = vmalloc(len);
	bool same;

	if (!want)
		return false;
	same = !memcmp(buf, fill(want, len, seed), len);
	vfree(want);
	return same;
}

/* ---- requests ---- */

struct call {
	struct krdma_req req;
	struct completion over;
	struct krdma_region *sync;
	u8 *seen;
	int status;
};

static void call_done(struct krdma_req *req, int status)
{
	struct call *call = container_of(req, struct call, req);
	const struct krdma_data *local = &req->local;

	call->status = status;
	if (call->sync) {
		krdma_region_sync_for_cpu(call->sync, local->offset, local->len);
		memcpy(call->seen, krdma_region_vaddr(call->sync) +
		       local->offset, local->len);
	}
	complete(&call->over);
}

static struct call *make_call(struct kunit *test, enum krdma_opcode opcode)
{
	struct call *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	init_completion(&call->over);
	call->req.opcode = opcode;
	call->req.done = call_done;
	return call;
}

static int run_call(struct krdma_cb *cb, struct call *call)
{
	int ret = krdma_post(cb, &call->req);

	if (ret)
		return ret;
	wait_for_completion(&call->over);
	return call->status;
}

static struct krdma_remote *learn(struct kunit *test,
				  struct krdma_region *region)
{
	u64 size = krdma_region_size(region);
	ssize_t len = krdma_region_export(region, 0, size, NULL, 0);
	struct krdma_remote *remote;
	void *desc;

	KUNIT_ASSERT_GT(test, len, 0L);
	desc = kunit_kzalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	KUNIT_ASSERT_EQ(test, krdma_region_export(region, 0, size, desc, len),
			len);
	remote = krdma_remote_import(desc, len);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, remote);
	return remote;
}

/* The client transfers @len bytes between @buf and a region of the server. */
static int move_by(struct kunit *test, struct krdma_cb *client,
		   enum krdma_opcode opcode, void *buf, u32 len,
		   const struct krdma_remote *remote, u64 offset)
{
	struct call *call = make_call(test, opcode);

	call->req.local.mem = KRDMA_MEM_VIRT;
	call->req.local.virt = buf;
	call->req.local.len = len;
	call->req.remote = remote;
	call->req.remote_offset = offset;
	return run_call(client, call);
}

static int move(struct kunit *test, enum krdma_opcode opcode, void *buf, u32 len,
		const struct krdma_remote *remote, u64 offset)
{
	return move_by(test, ends.client, opcode, buf, len, remote, offset);
}

static void connect_or_fail(struct kunit *test, u32 flags)
{
	KUNIT_ASSERT_EQ(test, connect_with(flags), 0);
}

#define MEMORY_PAGES 70

/* Allocate memory whose pages are not contiguous for the device. */
static u8 *make_memory(struct kunit *test, struct page **pages)
{
	u8 *memory = vzalloc(MEMORY_PAGES * PAGE_SIZE);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	for (i = 0; i < MEMORY_PAGES; i++)
		pages[i] = vmalloc_to_page(memory + i * PAGE_SIZE);
	return memory;
}

/* The client writes and reads a region of the server at @first. */
static void write_and_read(struct kunit *test, u32 first, u32 len)
{
	struct page *pages[MEMORY_PAGES];
	u8 *memory = make_memory(test, pages);
	struct krdma_region *region;
	struct krdma_remote *remote;
	u8 *buf = kunit_kzalloc(test, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	region = krdma_region_from_pages(ends.server, pages,
					 DIV_ROUND_UP(first + len, PAGE_SIZE),
					 first, len,
					 KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	remote = learn(test, region);

	KUNIT_EXPECT_EQ(test, move(test, KRDMA_WRITE, fill(buf, len, 1), len,
				   remote, 0), 0);
	krdma_region_sync_for_cpu(region, 0, len);
	KUNIT_EXPECT_TRUE(test, holds(memory + first, len, 1));
	fill(memory + first, len, 2);
	krdma_region_sync_for_device(region, 0, len);
	KUNIT_EXPECT_EQ(test, move(test, KRDMA_READ, buf, len, remote, 0), 0);
	KUNIT_EXPECT_TRUE(test, holds(buf, len, 2));

	krdma_remote_free(remote);
	krdma_region_put(region);
	KUNIT_EXPECT_NULL(test, memchr_inv(memory, 0, first));
	KUNIT_EXPECT_NULL(test, memchr_inv(memory + first + len, 0, 64));
	vfree(memory);
}

static void short_region_uses_offset_of_bounce_buffer(struct kunit *test)
{
	connect_or_fail(test, 0);
	write_and_read(test, 256, 64);
	write_and_read(test, 0, 64);
	write_and_read(test, 100, 3000);
}

static void region_within_pages_has_no_gap(struct kunit *test)
{
	connect_or_fail(test, 0);
	write_and_read(test, 256, 5 * PAGE_SIZE);
	write_and_read(test, 0, 3 * PAGE_SIZE + 100);
	write_and_read(test, 2100, 2 * PAGE_SIZE);
}

static void region_of_several_mrs_transfers_all_bytes(struct kunit *test)
{
	fake->ibdev.attrs.max_fast_reg_page_list_len = 8;
	connect_or_fail(test, 0);
	write_and_read(test, 300, 60 * PAGE_SIZE);
	write_and_read(test, 0, 64 * PAGE_SIZE);
}

static void page_size_is_supported_by_device(struct kunit *test)
{
	fake->ibdev.attrs.page_size_cap = SZ_2K | SZ_2M;
	connect_or_fail(test, 0);
	write_and_read(test, 0, 6 * PAGE_SIZE);
	write_and_read(test, 100, 5 * PAGE_SIZE + 10);
}

static void coherent_region_needs_no_sync(struct kunit *test)
{
	struct krdma_caps caps = { .size = sizeof(caps) };

	fake->copies = false;
	connect_or_fail(test, 0);
	KUNIT_EXPECT_EQ(test, krdma_query(ends.server, &caps), 0);
	KUNIT_EXPECT_TRUE(test, caps.coherent);
	write_and_read(test, 256, 5 * PAGE_SIZE);
	write_and_read(test, 256, 64);
}

/* ---- directions ---- */

static void read_only_region_is_not_written_back(struct kunit *test)
{
	u8 *memory = vzalloc(3 * PAGE_SIZE);
	struct krdma_region *region;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	connect_or_fail(test, 0);
	region = krdma_region_from_vmalloc(ends.server, memory, 3 * PAGE_SIZE,
					   KRDMA_REMOTE_READ);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	fill(memory, 3 * PAGE_SIZE, 3);
	krdma_region_put(region);
	KUNIT_EXPECT_TRUE(test, holds(memory, 3 * PAGE_SIZE, 3));
	vfree(memory);
}

static void bounced_memory_is_refused_unchanged(struct kunit *test)
{
	struct krdma_caps caps = { .size = sizeof(caps) };
	struct page *pages[MEMORY_PAGES];
	u8 *memory = make_memory(test, pages);
	struct krdma_region *region;
	unsigned int before;

	connect_or_fail(test, 0);
	KUNIT_EXPECT_EQ(test, krdma_query(ends.server, &caps), 0);
	KUNIT_EXPECT_FALSE(test, caps.coherent);
	before = fake->written_back;
	region = krdma_region_from_pages(ends.server, pages, MEMORY_PAGES, 0,
					 MEMORY_PAGES * PAGE_SIZE,
					 KRDMA_REMOTE_WRITE | KRDMA_NO_SOURCE |
					 KRDMA_COHERENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(region), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, fake->written_back, before);
	vfree(memory);
}

static void sync_leaves_neighbouring_bytes(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;
	u8 *one = kunit_kzalloc(test, 1, GFP_KERNEL), *memory;

	KUNIT_ASSERT_NOT_NULL(test, one);
	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, 2 * PAGE_SIZE,
				    KRDMA_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	memory = krdma_region_vaddr(region);
	remote = learn(test, region);
	/*
	 * The peer writes bytes 20 and 10, and this side stores bytes 20 and
	 * 30.
	 */
	KUNIT_EXPECT_EQ(test, move(test, KRDMA_WRITE, one, 1, remote, 20), 0);
	memory[20] = 7;
	krdma_region_sync_for_device(region, 20, 1);
	*one = 1;
	KUNIT_EXPECT_EQ(test, move(test, KRDMA_WRITE, one, 1, remote, 10), 0);
	memory[30] = 8;
	krdma_region_sync_for_device(region, 30, 1);
	krdma_region_sync_for_cpu(region, 10, 1);
	KUNIT_EXPECT_EQ(test, memory[10], 1);
	krdma_region_sync_for_cpu(region, 0, 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, memory[10], 1);
	KUNIT_EXPECT_EQ(test, memory[20], 7);
	KUNIT_EXPECT_EQ(test, memory[30], 8);
	/* Ranges beyond the end of the region must have no effect. */
	krdma_region_sync_for_cpu(region, 2 * PAGE_SIZE, 1);
	krdma_region_sync_for_cpu(region, ~0ULL, 2);
	krdma_remote_free(remote);
	krdma_region_put(region);
}

static void exported_set_keeps_bytes_of_peer(struct kunit *test)
{
	u8 buf[8] = "peerpeer", got[8] = {};

	connect_or_fail(test, KRDMA_RW);
	KUNIT_ASSERT_EQ(test, krdma_write_at(ends.client, buf, 8, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, krdma_export_write(ends.server, "ownownow", 8,
						 4096), 0);
	KUNIT_EXPECT_EQ(test, krdma_export_read(ends.server, got, 8, 0), 0);
	KUNIT_EXPECT_EQ(test, memcmp(got, buf, 8), 0);
	KUNIT_EXPECT_EQ(test, krdma_read_at(ends.client, got, 8, 4096, 0), 0);
	KUNIT_EXPECT_EQ(test, memcmp(got, "ownownow", 8), 0);
}

/* One end writes and reads the exported buffer of the other end. */
static void move_exported(struct kunit *test, struct krdma_cb *from,
			  struct krdma_cb *to)
{
	u32 len = SZ_128K;
	u8 *buf = vmalloc(len);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_EXPECT_EQ(test, krdma_write_at(from, fill(buf, len, 5), len, 100,
					     0), 0);
	memset(buf, 0, len);
	KUNIT_EXPECT_EQ(test, krdma_export_read(to, buf, len, 100), 0);
	KUNIT_EXPECT_TRUE(test, holds(buf, len, 5));
	memset(buf, 0, len);
	KUNIT_EXPECT_EQ(test, krdma_read_at(from, buf, len, 100, 0), 0);
	KUNIT_EXPECT_TRUE(test, holds(buf, len, 5));
	vfree(buf);
}

static void exported_buffer_transfers_all_bytes(struct kunit *test)
{
	/* Limit MRs to 8 pages, so that the bounce buffer needs several MRs. */
	fake->ibdev.attrs.max_fast_reg_page_list_len = 8;
	connect_or_fail(test, KRDMA_RW);
	move_exported(test, ends.client, ends.server);
}

/*
 * Limit some MRs to 8 pages. Then the bounce buffer of one end has two MRs, and
 * the exported buffer of the other end has one. A work request must not cross
 * the border between the two MRs of the bounce buffer.
 */
static void work_request_stays_within_staging_mr(struct kunit *test)
{
	fake->ibdev.attrs.max_fast_reg_page_list_len = 8;
	fake->grows_after = 2;
	connect_or_fail(test, KRDMA_RW);
	move_exported(test, ends.client, ends.server);
	move_exported(test, ends.server, ends.client);
}

/*
 * The client reads into a region by READ, and done() checks the read data at
 * once.
 */
static void completion_callback_may_sync_region(struct kunit *test)
{
	struct krdma_region *region, *sink;
	struct krdma_remote *remote;
	struct call *call;

	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, 2 * PAGE_SIZE,
				    KRDMA_REMOTE_READ);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	fill(krdma_region_vaddr(region), 2 * PAGE_SIZE, 6);
	krdma_region_sync_for_device(region, 0, 2 * PAGE_SIZE);
	remote = learn(test, region);
	sink = krdma_region_alloc(ends.client, 3 * PAGE_SIZE,
				  KRDMA_READ_SINK | KRDMA_NO_SOURCE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sink);

	call = make_call(test, KRDMA_READ);
	call->sync = sink;
	call->seen = kunit_kzalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);
	call->req.local.mem = KRDMA_MEM_REGION;
	call->req.local.region = sink;
	call->req.local.offset = 1000;
	call->req.local.len = 2 * PAGE_SIZE;
	call->req.remote = remote;
	KUNIT_EXPECT_EQ(test, run_call(ends.client, call), 0);
	KUNIT_EXPECT_TRUE(test, holds(call->seen, 2 * PAGE_SIZE, 6));

	krdma_remote_free(remote);
	krdma_region_put(sink);
	krdma_region_put(region);
}

static void request_against_dma_direction_is_refused(struct kunit *test)
{
	struct krdma_region *region, *readable;
	struct krdma_remote *remote;
	struct call *call;

	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, PAGE_SIZE,
				    KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE);
	remote = learn(test, region);
	readable = krdma_region_alloc(ends.client, PAGE_SIZE, KRDMA_REMOTE_READ);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, readable);
	call = make_call(test, KRDMA_READ);
	call->req.local.mem = KRDMA_MEM_REGION;
	call->req.local.region = readable;
	call->req.local.len = 8;
	call->req.remote = remote;
	KUNIT_EXPECT_EQ(test, krdma_post(ends.client, &call->req), -EINVAL);
	krdma_remote_free(remote);
	krdma_region_put(readable);
	krdma_region_put(region);
}

/* ---- memory of requests ---- */

/* dma_map_page() maps memory of a PCI device wrongly, without an error. */
static void memory_of_a_pci_device_is_refused(struct kunit *test)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct bio_vec bvec = { .bv_page = page, .bv_len = 100 };
	struct krdma_region *region, *wrong;
	struct krdma_remote *remote;
	struct call *call;

	KUNIT_ASSERT_NOT_NULL(test, page);
	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, 100, KRDMA_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	remote = learn(test, region);
	call = make_call(test, KRDMA_WRITE);
	call->req.local.mem = KRDMA_MEM_PAGES;
	call->req.local.pages = &bvec;
	call->req.local.nents = 1;
	call->req.local.len = 100;
	call->req.remote = remote;
	KUNIT_EXPECT_EQ(test, run_call(ends.client, call), 0);
	fake->p2p_page = page;
	KUNIT_EXPECT_EQ(test, krdma_post(ends.client, &call->req), -EINVAL);
	wrong = krdma_region_from_pages(ends.client, &page, 1, 0, 100,
					KRDMA_REMOTE_READ);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(wrong), -EINVAL);
	krdma_remote_free(remote);
	krdma_region_put(region);
	__free_page(page);
}

static void long_linear_memory_is_mapped_in_pieces(struct kunit *test)
{
	u32 len = 5 * SZ_16K + 100;
	u8 *buf = kmalloc(len, GFP_KERNEL);
	struct krdma_region *region;
	struct krdma_remote *remote;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	fake->max_map = SZ_16K;
	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, len,
				    KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	remote = learn(test, region);
	KUNIT_EXPECT_EQ(test, move(test, KRDMA_WRITE, fill(buf, len, 7), len,
				   remote, 0), 0);
	krdma_region_sync_for_cpu(region, 0, len);
	KUNIT_EXPECT_TRUE(test, holds(krdma_region_vaddr(region), len, 7));
	memset(buf, 0, len);
	KUNIT_EXPECT_EQ(test, move(test, KRDMA_READ, buf, len, remote, 0), 0);
	KUNIT_EXPECT_TRUE(test, holds(buf, len, 7));
	KUNIT_EXPECT_LE(test, fake->longest, (size_t)SZ_16K);
	krdma_remote_free(remote);
	krdma_region_put(region);
	kfree(buf);
}

static void long_sg_entry_is_mapped_in_pieces(struct kunit *test)
{
	u32 len = 3 * SZ_16K, i;
	u8 *buf = kmalloc(len, GFP_KERNEL);
	struct krdma_region *region;
	struct krdma_remote *remote;
	struct scatterlist sg;
	struct bio_vec bvec;
	struct call *call;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	fake->max_map = SZ_8K;
	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, len, KRDMA_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	remote = learn(test, region);
	sg_init_one(&sg, buf, len);
	bvec = (struct bio_vec){
		.bv_page = virt_to_page(buf),
		.bv_offset = offset_in_page(buf),
		.bv_len = len,
	};
	for (i = 0; i < 2; i++) {
		fill(buf, len, 8 + i);
		call = make_call(test, KRDMA_WRITE);
		call->req.local.mem = i ? KRDMA_MEM_SG : KRDMA_MEM_PAGES;
		call->req.local.nents = 1;
		call->req.local.len = len;
		if (i)
			call->req.local.sg = &sg;
		else
			call->req.local.pages = &bvec;
		call->req.remote = remote;
		KUNIT_EXPECT_EQ(test, run_call(ends.client, call), 0);
		krdma_region_sync_for_cpu(region, 0, len);
		KUNIT_EXPECT_TRUE(test, holds(krdma_region_vaddr(region), len,
					      8 + i));
	}
	krdma_remote_free(remote);
	krdma_region_put(region);
	kfree(buf);
}

static void memory_without_pages_is_refused(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;
	struct call *call, *far;

	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, PAGE_SIZE,
				    KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	remote = learn(test, region);
	KUNIT_EXPECT_EQ(test, move(test, KRDMA_WRITE, (void *)PAGE_SIZE, 1000,
				   remote, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, move(test, KRDMA_WRITE, (void *)PAGE_SIZE, 8,
				   remote, 0), -EINVAL);
	if (!is_vmalloc_addr(static_bytes) && !virt_addr_valid(static_bytes))
		KUNIT_EXPECT_EQ(test, move(test, KRDMA_READ, static_bytes, 8,
					   remote, 0), -EINVAL);
	far = vmalloc(sizeof(*far));
	KUNIT_ASSERT_NOT_NULL(test, far);
	call = make_call(test, KRDMA_SEND);
	*far = *call;
	KUNIT_EXPECT_EQ(test, krdma_post(ends.client, &far->req), -EINVAL);
	vfree(far);
	krdma_remote_free(remote);
	krdma_region_put(region);
}

/* ---- messages ---- */

static void exchange(struct kunit *test, struct krdma_cb *from,
		     struct krdma_cb *to, u32 skip, u32 len, u32 seed)
{
	u8 *sent = vmalloc(skip + len + 1), *got = vmalloc(len + 1);

	KUNIT_ASSERT_NOT_NULL(test, sent);
	KUNIT_ASSERT_NOT_NULL(test, got);
	fill(sent + skip, len, seed);
	/*
	 * The send call does not wait for krdma_receive_len(): a worker of the
	 * peer receives the message, or reads it by READ if it is long.
	 */
	KUNIT_EXPECT_EQ(test, krdma_send_timeout(from, sent + skip, len, 0), 0);
	KUNIT_EXPECT_EQ(test, krdma_receive_len(to, got, len, WAIT_MS),
			(int)len);
	KUNIT_EXPECT_TRUE(test, !len || holds(got, len, seed));
	vfree(sent);
	vfree(got);
}

/*
 * Exchange messages of one part, messages of several parts, and long messages,
 * which the receiver reads by READ.
 */
static void exchange_all(struct kunit *test)
{
	static const u32 lens[] = { 0, 60, 4000, 20000, 100001 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		exchange(test, ends.client, ends.server, 0, lens[i], 10 + i);
		exchange(test, ends.server, ends.client, 100, lens[i], 30 + i);
		exchange(test, ends.client, ends.server, 2999, lens[i], 50 + i);
	}
}

static void messages_of_any_length_arrive(struct kunit *test)
{
	connect_or_fail(test, 0);
	exchange_all(test);
}

static void messages_arrive_on_device_with_small_limits(struct kunit *test)
{
	fake->ibdev.attrs.max_fast_reg_page_list_len = 4;
	fake->ibdev.attrs.max_send_sge = 2;
	fake->ibdev.attrs.max_sge_rd = 1;
	fake->ibdev.attrs.max_qp_wr = 64;
	fake->max_inline = 0;
	fake->max_map = SZ_4K;
	connect_or_fail(test, 0);
	exchange_all(test);
}

static void messages_arrive_with_iwarp_keys(struct kunit *test)
{
	fake->ibdev.port_data[1].immutable.core_cap_flags =
		RDMA_CORE_CAP_PROT_IWARP;
	connect_or_fail(test, 0);
	exchange_all(test);
}

static u64 count_of(struct krdma_cb *cb, u32 counter)
{
	struct krdma_conn *conn = krdma_conn(cb);
	unsigned long flags;
	u64 count;

	spin_lock_irqsave(&conn->lock, flags);
	count = conn->stats.counts[counter];
	spin_unlock_irqrestore(&conn->lock, flags);
	return count;
}

/* ---- messages of the level encrypt ---- */

static void connect_sealed(struct kunit *test)
{
	static const u8 key[KRDMA_KEY_SIZE] = { 1, 2, 3 };

	ends.keys = krdma_keys_make(key, 1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ends.keys);
	ends.security = KRDMA_SECURITY_ENCRYPT;
	connect_or_fail(test, 0);
}

/* A longer message would need a task that receives its first parts. */
static void sealed_messages_of_any_length_arrive(struct kunit *test)
{
	static const u32 lens[] = { 0, 60, 4064, 4065, 20000 };
	u32 i;

	connect_sealed(test);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		exchange(test, ends.client, ends.server, 0, lens[i], 10 + i);
		exchange(test, ends.server, ends.client, 100, lens[i], 30 + i);
		exchange(test, ends.client, ends.server, 2999, lens[i], 50 + i);
	}
	KUNIT_EXPECT_EQ(test, 0ULL, count_of(ends.server, KRDMA_COUNT_BREACH +
					     KRDMA_BREACH_SEAL));
}

static void short_sealed_message_is_inline(struct kunit *test)
{
	const u32 max = 220 - KRDMA_SEAL_EXTRA;

	fake->max_inline = 220;
	connect_sealed(test);
	exchange(test, ends.client, ends.server, 0, max + 1, 10);
	KUNIT_EXPECT_LT(test, fake->longest_inline, 220U);
	exchange(test, ends.client, ends.server, 0, max, 30);
	KUNIT_EXPECT_EQ(test, fake->longest_inline, 220U);
}

/* Send a message out of a region with several chunks, whole and in parts. */
static void sealed_messages_out_of_chunks_arrive(struct kunit *test)
{
	static const u32 ranges[][2] = { { 0, 300 }, { 3 * PAGE_SIZE, 4000 },
					 { 8190, 3000 }, { 5, 60000 } };
	struct page *pages[MEMORY_PAGES];
	struct krdma_region *region;
	u8 *memory, *got;
	struct call *call;
	u32 i;

	fake->ibdev.attrs.max_fast_reg_page_list_len = 4;
	fake->max_map = SZ_4K;
	memory = make_memory(test, pages);
	got = kunit_kzalloc(test, 60000, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, got);
	fill(memory, MEMORY_PAGES * PAGE_SIZE, 5);
	connect_sealed(test);
	region = krdma_region_from_pages(ends.client, pages, MEMORY_PAGES, 100,
					 MEMORY_PAGES * PAGE_SIZE - 100, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		call = make_call(test, KRDMA_SEND);
		call->req.local.mem = KRDMA_MEM_REGION;
		call->req.local.region = region;
		call->req.local.offset = ranges[i][0];
		call->req.local.len = ranges[i][1];
		KUNIT_EXPECT_EQ(test, krdma_post(ends.client, &call->req), 0);
		KUNIT_EXPECT_EQ(test, (int)ranges[i][1],
				krdma_receive_len(ends.server, got, 60000,
						  WAIT_MS));
		KUNIT_EXPECT_EQ(test, 0, memcmp(got, memory + 100 + ranges[i][0],
						ranges[i][1]));
		wait_for_completion(&call->over);
		KUNIT_EXPECT_EQ(test, call->status, 0);
	}
	krdma_region_put(region);
	vfree(memory);
}

/*
 * Unmapping copies bounce buffers to memory. A message that was opened before,
 * and that nobody has received yet, stays as it is.
 */
static void sealed_message_survives_the_end(struct kunit *test)
{
	u8 *sent = kunit_kzalloc(test, 3000, GFP_KERNEL);
	u8 *got = kunit_kzalloc(test, 3000, GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, sent);
	KUNIT_ASSERT_NOT_NULL(test, got);
	connect_sealed(test);
	fill(sent, 3000, 7);
	KUNIT_EXPECT_EQ(test, krdma_send_timeout(ends.client, sent, 3000, 0), 0);
	krdma_disconnect(ends.server);
	for (i = 0; i < WAIT_MS && krdma_get_state(ends.server) != KRDMA_CLOSED;
	     i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, krdma_get_state(ends.server), KRDMA_CLOSED);
	KUNIT_EXPECT_EQ(test, krdma_receive_len(ends.server, got, 3000, WAIT_MS),
			3000);
	KUNIT_EXPECT_TRUE(test, holds(got, 3000, 7));
}

static void device_with_one_sge_is_refused(struct kunit *test)
{
	fake->ibdev.attrs.max_send_sge = 1;
	KUNIT_EXPECT_NE(test, connect_within(0, 300), 0);
}

static void device_without_read_sge_is_refused(struct kunit *test)
{
	fake->ibdev.attrs.max_sge_rd = 0;
	KUNIT_EXPECT_NE(test, connect_within(0, 300), 0);
}

/*
 * A message of 1 MiB in MRs of two pages is read by 128 READs. The send queue has
 * room for all of them, but at most 64 are posted in one go.
 */
static void long_message_is_read_in_several_goes(struct kunit *test)
{
	fake->ibdev.attrs.max_fast_reg_page_list_len = 2;
	ends.send_depth = 200;
	connect_or_fail(test, 0);
	exchange(test, ends.client, ends.server, 0, SZ_1M, 1);
	KUNIT_EXPECT_GT(test, count_of(ends.server, KRDMA_COUNT_POST_PAUSES),
			0ULL);
}

/* A lack of memory is no limit of the device, so later QPs have inline data. */
static void inline_size_is_tried_again_after_enomem(struct kunit *test)
{
	fake->max_inline = 220;
	fake->lacks_inline_memory = true;
	connect_or_fail(test, 0);
	KUNIT_EXPECT_EQ(test, krdma_conn(ends.client)->limits.max_inline, 0);
	release_ends(&ends);
	fake->lacks_inline_memory = false;
	connect_or_fail(test, 0);
	KUNIT_EXPECT_EQ(test, krdma_conn(ends.client)->limits.max_inline, 220);
}

static struct krdma_conn *released_conn(struct kunit *test)
{
	struct krdma_params params = { .size = sizeof(params) };
	struct krdma_cb *cb = krdma_create(&params);
	struct krdma_conn *conn;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cb);
	conn = krdma_conn(cb);
	krdma_conn_get(conn);
	krdma_release_cb(cb);
	return conn;
}

/* Teardown does not wait for the timer, which may run when no cm_id exists. */
static void late_timer_has_no_effect(struct kunit *test)
{
	struct krdma_conn *conn = released_conn(test);

	conn->life.flushed = true;
	krdma_conn_get(conn);
	krdma_conn_timer_work(&conn->work.timer.work);
	KUNIT_EXPECT_EQ(test, conn->error, -ESHUTDOWN);
	krdma_conn_put(conn);
}

/*
 * The owner releases the connection before connect succeeds. The end of the
 * connection is counted once, as that of any established connection.
 */
static void end_of_dropped_connection_is_counted(struct kunit *test)
{
	struct krdma_conn *conn = released_conn(test);
	u64 ended = 0;
	int why;

	krdma_conn_hand_over(conn);
	for (why = 0; why < KRDMA_WHYS; why++)
		ended += count_of(&conn->cb, KRDMA_COUNT_ENDED + why);
	KUNIT_EXPECT_EQ(test, ended, 1ULL);
	krdma_conn_put(conn);
}

/* KRDMA_NEVER and 0 mean no limit in every call that takes a time. */
static void never_is_no_time_limit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, krdma_deadline(0), 0UL);
	KUNIT_EXPECT_EQ(test, krdma_deadline(KRDMA_NEVER), 0UL);
	KUNIT_EXPECT_NE(test, krdma_deadline(1), 0UL);
	KUNIT_EXPECT_NE(test, krdma_deadline(KRDMA_NEVER - 1), 0UL);
}

/*
 * siw never completes a READ that gets an error response. The READ fails when
 * the connection ends.
 */
static void read_without_completion_fails_at_end(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;
	struct call *call;
	u8 *buf = kunit_kzalloc(test, 100, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	fake->ibdev.ops.driver_id = RDMA_DRIVER_SIW;
	fake->forgets_reads = true;
	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, 100, KRDMA_REMOTE_READ);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	remote = learn(test, region);
	krdma_region_put(region);
	call = make_call(test, KRDMA_READ);
	call->req.local.mem = KRDMA_MEM_VIRT;
	call->req.local.virt = buf;
	call->req.local.len = 100;
	call->req.remote = remote;
	KUNIT_EXPECT_EQ(test, krdma_post(ends.client, &call->req), 0);
	krdma_disconnect(ends.client);
	wait_for_completion(&call->over);
	KUNIT_EXPECT_NE(test, call->status, 0);
	KUNIT_EXPECT_EQ(test, count_of(ends.client, KRDMA_COUNT_WR_FAILED +
				       KRDMA_READ), 1ULL);
	KUNIT_EXPECT_EQ(test, count_of(ends.client, KRDMA_COUNT_WR_DONE +
				       KRDMA_READ), 0ULL);
	krdma_remote_free(remote);
}

/* A worker that waits in a blocking call of the client. */
struct caller {
	struct work_struct work;
	bool writes;
	u8 buf[100];
	int ret;
	unsigned long sleeps;
	struct completion over;
};

static void caller_run(struct work_struct *work)
{
	struct caller *caller = container_of(work, struct caller, work);

	caller->ret = caller->writes ?
		krdma_write_at(ends.client, caller->buf, 100, 0, WAIT_MS) :
		krdma_send_timeout(ends.client, caller->buf, 100, WAIT_MS);
	complete(&caller->over);
}

static bool client_has_ended(void)
{
	unsigned int i;

	for (i = 0; i < WAIT_MS && krdma_is_established(ends.client); i++)
		usleep_range(1000, 2000);
	return !krdma_is_established(ends.client);
}

/* Wait until the server's exported buffer begins with @want. */
static void wait_until_exported(struct kunit *test, u8 *got, const u8 *want)
{
	unsigned int i;

	for (i = 0; i < WAIT_MS && memcmp(got, want, 100); i++) {
		KUNIT_EXPECT_EQ(test,
				krdma_export_read(ends.server, got, 100, 0), 0);
		usleep_range(1000, 2000);
	}
}

/*
 * Test a blocking write (if @writes is true) or send. Its data arrive, and then
 * the connection ends before the work request completes. The call must succeed.
 */
static void completed_before_end(struct kunit *test, bool writes)
{
	struct caller *caller = kunit_kzalloc(test, sizeof(*caller), GFP_KERNEL);
	u8 got[100] = {};

	KUNIT_ASSERT_NOT_NULL(test, caller);
	connect_or_fail(test, KRDMA_RW);
	caller->writes = writes;
	fill(caller->buf, 100, 10);
	init_completion(&caller->over);
	fake->holds_sends = true;
	INIT_WORK(&caller->work, caller_run);
	queue_work(system_unbound_wq, &caller->work);
	if (writes)
		wait_until_exported(test, got, caller->buf);
	else
		KUNIT_EXPECT_EQ(test, krdma_receive_len(ends.server, got, 100,
							WAIT_MS), 100);
	krdma_disconnect(ends.server);
	KUNIT_EXPECT_TRUE(test, client_has_ended());
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&caller->over,
							  HZ / 20), 0UL);
	fake_release_sends();
	flush_work(&caller->work);
	KUNIT_EXPECT_EQ(test, caller->ret, 0);
	KUNIT_EXPECT_TRUE(test, holds(got, 100, 10));
}

static void sleeper_run(struct work_struct *work)
{
	struct caller *caller = container_of(work, struct caller, work);
	unsigned long before = current->nvcsw;

	caller->ret = krdma_receive_len(ends.client, caller->buf, 100, WAIT_MS);
	caller->sleeps = current->nvcsw - before;
}

/*
 * A task waits for a message while the client sends 100 messages. Each of their
 * completions wakes the wait queue of the client, but not that task.
 */
static void completions_wake_their_own_task_only(struct kunit *test)
{
	struct caller *caller = kunit_kzalloc(test, sizeof(*caller), GFP_KERNEL);
	u8 got[100];
	int i;

	KUNIT_ASSERT_NOT_NULL(test, caller);
	connect_or_fail(test, 0);
	INIT_WORK(&caller->work, sleeper_run);
	queue_work(system_unbound_wq, &caller->work);
	for (i = 0; i < WAIT_MS && !wq_has_sleeper(&krdma_conn(ends.client)->wait);
	     i++)
		usleep_range(1000, 2000);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_EQ(test, krdma_send_timeout(ends.client, "x", 1,
							 WAIT_MS), 0);
		KUNIT_EXPECT_EQ(test, krdma_receive_len(ends.server, got, 100,
							WAIT_MS), 1);
	}
	KUNIT_EXPECT_EQ(test, krdma_send_timeout(ends.server, "end", 3, WAIT_MS),
			0);
	flush_work(&caller->work);
	KUNIT_EXPECT_EQ(test, caller->ret, 3);
	KUNIT_EXPECT_GE(test, caller->sleeps, 1UL);
	KUNIT_EXPECT_LE(test, caller->sleeps, 10UL);
}

static void send_completed_before_end_succeeds(struct kunit *test)
{
	completed_before_end(test, false);
}

static void write_completed_before_end_succeeds(struct kunit *test)
{
	completed_before_end(test, true);
}

/* ---- keys ---- */

static void keep_rx_msg(struct krdma_cb *cb, struct krdma_rx_msg *rx_msg)
{
	if (ends.nrx_msgs < MESSAGES)
		ends.rx_msgs[ends.nrx_msgs++] = rx_msg;
	complete(&ends.received);
}

static const struct krdma_ops keeping_ops = {
	.connected = client_connected,
	.receive = keep_rx_msg,
};

/* Create a region of the client, and let the server invalidate it. */
static struct krdma_region *invalidated(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;
	struct call *call;

	region = krdma_region_alloc(ends.client, 100, KRDMA_REMOTE_READ |
				    KRDMA_REMOTE_INVALIDATE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	remote = learn(test, region);
	call = make_call(test, KRDMA_SEND_INV);
	call->req.remote = remote;
	KUNIT_ASSERT_EQ(test, run_call(ends.server, call), 0);
	wait_for_completion(&ends.received);
	krdma_remote_free(remote);
	return region;
}

/*
 * A message invalidates the first region, and is released. Its receive buffer
 * then gets the message that invalidates the last region. Putting the first
 * region must not change that last message.
 */
static void region_put_clears_own_message_only(struct kunit *test)
{
	struct krdma_region *regions[MESSAGES];
	struct krdma_rx_msg *rx_msg;
	unsigned int n = 0, i;

	init_completion(&ends.received);
	ends.ops = &keeping_ops;
	connect_or_fail(test, 0);
	do {
		if (n)
			krdma_rx_msg_release(ends.rx_msgs[n - 1]);
		regions[n] = invalidated(test);
		rx_msg = ends.rx_msgs[n++];
	} while (n < MESSAGES && (n == 1 || rx_msg != ends.rx_msgs[0]));
	KUNIT_EXPECT_PTR_EQ(test, rx_msg, ends.rx_msgs[0]);
	KUNIT_EXPECT_GT(test, n, 1U);
	krdma_region_put(regions[0]);
	KUNIT_EXPECT_PTR_EQ(test, rx_msg->invalidated, regions[n - 1]);
	krdma_region_put(regions[n - 1]);
	KUNIT_EXPECT_NULL(test, rx_msg->invalidated);
	krdma_rx_msg_release(rx_msg);
	for (i = 1; i + 1 < n; i++)
		krdma_region_put(regions[i]);
}

/* The client invalidates the key of the server's region by a message. */
static void send_invalidation(struct kunit *test, struct krdma_remote *remote)
{
	struct call *call = make_call(test, KRDMA_SEND_INV);

	call->req.remote = remote;
	KUNIT_EXPECT_EQ(test, run_call(ends.client, call), 0);
}

/*
 * The server receives the message with the invalidation, and the connection
 * continues to work.
 */
static void receive_invalidation(struct kunit *test,
				 struct krdma_region *region,
				 struct krdma_remote *remote)
{
	u8 got[8];

	KUNIT_EXPECT_EQ(test, krdma_receive_len(ends.server, got, 8, WAIT_MS), 0);
	KUNIT_EXPECT_FALSE(test, krdma_region_is_live(region));
	krdma_region_put(region);
	krdma_remote_free(remote);
	exchange(test, ends.server, ends.client, 0, 100, 9);
}

/*
 * The peer's message has invalidated the key of the region, but its receive has
 * not completed yet on this side. Check that the owner can revoke the region
 * now.
 */
static void revoke_after_peer_invalidate_succeeds(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;

	fake->refuses_inv = true;
	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, 100, KRDMA_REMOTE_READ |
				    KRDMA_REMOTE_INVALIDATE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	remote = learn(test, region);
	fake->holds_recvs = true;
	send_invalidation(test, remote);
	KUNIT_EXPECT_EQ(test, krdma_region_revoke(region, 0), 0);
	fake_release_recvs();
	receive_invalidation(test, region, remote);
}

/*
 * The second region gets an MR with the same index in the adapter as the MR of
 * the first one. A key contains this index.
 */
static void region_put_with_reused_index_succeeds(struct kunit *test)
{
	const u32 access = KRDMA_REMOTE_READ | KRDMA_REMOTE_INVALIDATE;
	struct krdma_region *first, *second;
	struct krdma_remote *remote;

	fake->reuses_indices = true;
	connect_or_fail(test, 0);
	first = krdma_region_alloc(ends.server, 100, access);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, first);
	KUNIT_EXPECT_EQ(test, krdma_region_revoke(first, 0), 0);
	KUNIT_EXPECT_NE(test, fake->free_index, 0U);
	second = krdma_region_alloc(ends.server, 100, access);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, second);
	KUNIT_EXPECT_EQ(test, fake->free_index, 0U);
	remote = learn(test, second);
	krdma_region_put(first);
	send_invalidation(test, remote);
	receive_invalidation(test, second, remote);
}

/* Memory of krdma_region_alloc() is mapped in whole pages, so it has one MR. */
static void region_alloc_uses_one_mr(struct kunit *test)
{
	struct krdma_region *region;

	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, 2 * PAGE_SIZE + 100,
				    KRDMA_REMOTE_WRITE | KRDMA_REMOTE_INVALIDATE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	KUNIT_EXPECT_EQ(test, krdma_region_export(region, 0, 100, NULL, 0),
			krdma_region_export(region, 0, 2 * PAGE_SIZE + 100, NULL,
					    0));
	krdma_region_put(region);
}

/* The first key of an MR is random, so that a peer cannot guess it. */
static void first_keys_of_connections_differ(struct kunit *test)
{
	struct krdma_region *regions[8];
	u8 desc[32], first = 0;
	bool differ = false;
	int i;

	connect_or_fail(test, 0);
	for (i = 0; i < 8; i++) {
		regions[i] = krdma_region_alloc(ends.server, 100,
						KRDMA_REMOTE_READ);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, regions[i]);
		krdma_region_export(regions[i], 0, 100, desc, sizeof(desc));
		/*
		 * desc[24] is the lowest byte of the key of the only segment.
		 */
		differ |= i && desc[24] != first;
		first = desc[24];
	}
	KUNIT_EXPECT_TRUE(test, differ);
	for (i = 0; i < 8; i++)
		krdma_region_put(regions[i]);
}

/* ---- regions of domains ---- */

#define SHARED_LEN (3 * PAGE_SIZE)

static void connect_others(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, connect_ends(&others, 0, WAIT_MS), 0);
}

/*
 * Connect both pairs of ends. Their servers share a domain if @one is true,
 * otherwise each has its own.
 */
static void connect_both(struct kunit *test, bool one)
{
	ends.domain = krdma_domain_create("ends");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ends.domain);
	others.domain = one ? ends.domain : krdma_domain_create("others");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, others.domain);
	connect_or_fail(test, 0);
	connect_others(test);
}

static struct krdma_region *share(struct kunit *test)
{
	struct krdma_region *region;

	region = krdma_region_alloc(ends.server, SHARED_LEN,
				    KRDMA_REMOTE_READ | KRDMA_REMOTE_WRITE |
				    KRDMA_DOMAIN);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, region);
	return region;
}

/* Let @client write the pattern of @seed to the whole region, and read it. */
static void use_shared(struct kunit *test, struct krdma_cb *client,
		       struct krdma_region *region,
		       const struct krdma_remote *remote, u32 seed)
{
	u8 *buf = kunit_kzalloc(test, SHARED_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	fill(buf, SHARED_LEN, seed);
	KUNIT_EXPECT_EQ(test, move_by(test, client, KRDMA_WRITE, buf, SHARED_LEN,
				      remote, 0), 0);
	krdma_region_sync_for_cpu(region, 0, SHARED_LEN);
	KUNIT_EXPECT_TRUE(test, holds(krdma_region_vaddr(region), SHARED_LEN,
				      seed));
	memset(buf, 0, SHARED_LEN);
	KUNIT_EXPECT_EQ(test, move_by(test, client, KRDMA_READ, buf, SHARED_LEN,
				      remote, 0), 0);
	KUNIT_EXPECT_TRUE(test, holds(buf, SHARED_LEN, seed));
}

static int read_shared(struct kunit *test, struct krdma_cb *client,
		       const struct krdma_remote *remote)
{
	u8 *buf = kunit_kzalloc(test, 64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return move_by(test, client, KRDMA_READ, buf, 64, remote, 0);
}

static void domain_region_is_registered_once(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;
	unsigned int before;

	connect_both(test, true);
	before = fake->registered;
	region = share(test);
	remote = learn(test, region);
	KUNIT_EXPECT_TRUE(test, krdma_region_is_valid_on(region, ends.server));
	KUNIT_EXPECT_TRUE(test, krdma_region_is_valid_on(region, others.server));
	KUNIT_EXPECT_FALSE(test, krdma_region_is_valid_on(region, ends.client));
	use_shared(test, ends.client, region, remote, 1);
	use_shared(test, others.client, region, remote, 2);
	release_ends(&others);
	connect_others(test);
	use_shared(test, others.client, region, remote, 3);
	KUNIT_EXPECT_EQ(test, fake->registered - before, 1U);
	krdma_remote_free(remote);
	krdma_region_put(region);
	KUNIT_EXPECT_EQ(test, fake->allocated, 0U);
}

/*
 * The region of a domain is still usable after the domain has had no connection
 * for a while.
 */
static void domain_region_outlives_its_connection(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;

	connect_both(test, true);
	region = share(test);
	remote = learn(test, region);
	release_ends(&ends);
	KUNIT_EXPECT_TRUE(test, krdma_region_is_live(region));
	use_shared(test, others.client, region, remote, 1);
	release_ends(&others);
	connect_others(test);
	use_shared(test, others.client, region, remote, 2);
	krdma_remote_free(remote);
	krdma_region_put(region);
}

static void domain_region_is_local_on_all_connections(struct kunit *test)
{
	struct krdma_region *region, *target;
	struct krdma_remote *remote;
	struct call *call;

	connect_both(test, true);
	region = share(test);
	fill(krdma_region_vaddr(region), SHARED_LEN, 4);
	krdma_region_sync_for_device(region, 0, SHARED_LEN);
	target = krdma_region_alloc(others.client, SHARED_LEN,
				    KRDMA_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, target);
	remote = learn(test, target);
	call = make_call(test, KRDMA_WRITE);
	call->req.local.mem = KRDMA_MEM_REGION;
	call->req.local.region = region;
	call->req.local.len = SHARED_LEN;
	call->req.remote = remote;
	KUNIT_EXPECT_EQ(test, run_call(others.server, call), 0);
	krdma_region_sync_for_cpu(target, 0, SHARED_LEN);
	KUNIT_EXPECT_TRUE(test, holds(krdma_region_vaddr(target), SHARED_LEN, 4));
	krdma_remote_free(remote);
	krdma_region_put(target);
	krdma_region_put(region);
}

static void domain_key_is_refused_in_another_domain(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;
	struct call *call;

	connect_both(test, false);
	region = share(test);
	remote = learn(test, region);
	KUNIT_EXPECT_FALSE(test, krdma_region_is_valid_on(region, others.server));
	call = make_call(test, KRDMA_WRITE);
	call->req.local.mem = KRDMA_MEM_REGION;
	call->req.local.region = region;
	call->req.local.len = 64;
	call->req.remote = remote;
	KUNIT_EXPECT_EQ(test, krdma_post(others.server, &call->req), -EINVAL);
	KUNIT_EXPECT_NE(test, read_shared(test, others.client, remote), 0);
	use_shared(test, ends.client, region, remote, 5);
	krdma_remote_free(remote);
	krdma_region_put(region);
}

static void domain_region_registers_on_second_connection(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;

	connect_both(test, true);
	fake->fails_regs = 1;
	region = share(test);
	KUNIT_EXPECT_NE(test, krdma_get_state(ends.server), KRDMA_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, fake->allocated, 1U);
	remote = learn(test, region);
	use_shared(test, others.client, region, remote, 6);
	krdma_remote_free(remote);
	krdma_region_put(region);
}

static void failed_registration_ends_one_connection(struct kunit *test)
{
	struct krdma_region *region;
	unsigned int mapped;

	connect_both(test, true);
	mapped = fake->mapped;
	fake->refuses_regs = true;
	region = krdma_region_alloc(ends.server, SHARED_LEN,
				    KRDMA_REMOTE_READ | KRDMA_DOMAIN);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(region), -EIO);
	KUNIT_EXPECT_EQ(test, krdma_get_state(others.server), KRDMA_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, fake->allocated, 0U);
	KUNIT_EXPECT_LE(test, fake->mapped, mapped);
}

static void revoked_domain_key_is_refused_everywhere(struct kunit *test)
{
	struct krdma_region *region;
	struct krdma_remote *remote;

	connect_both(test, true);
	region = share(test);
	remote = learn(test, region);
	release_ends(&ends);
	KUNIT_EXPECT_EQ(test, krdma_region_revoke(region, 0), 0);
	KUNIT_EXPECT_EQ(test, krdma_region_revoke(region, 0), -EALREADY);
	KUNIT_EXPECT_FALSE(test, krdma_region_is_live(region));
	KUNIT_EXPECT_EQ(test, fake->allocated, 0U);
	KUNIT_EXPECT_EQ(test, krdma_get_state(others.server), KRDMA_ESTABLISHED);
	KUNIT_EXPECT_NE(test, read_shared(test, others.client, remote), 0);
	krdma_remote_free(remote);
	krdma_region_put(region);
}

static void device_removal_unregisters_domain_regions(struct kunit *test)
{
	struct krdma_region *region, *second;

	connect_both(test, true);
	region = share(test);
	second = share(test);
	release_ends(&ends);
	release_ends(&others);
	fake_remove_device();
	KUNIT_EXPECT_FALSE(test, krdma_region_is_live(region));
	KUNIT_EXPECT_EQ(test, fake->allocated, 0U);
	KUNIT_EXPECT_EQ(test, fake->mapped, 0U);
	KUNIT_EXPECT_EQ(test, krdma_region_revoke(region, 0), -EALREADY);
	krdma_region_put(region);
	fake_add_device();
	connect_or_fail(test, 0);
	KUNIT_EXPECT_FALSE(test, krdma_region_is_valid_on(second, ends.server));
	krdma_region_put(second);
}

static void region_without_a_domain_is_refused(struct kunit *test)
{
	struct krdma_region *region;

	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, SHARED_LEN, KRDMA_DOMAIN);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(region), -EINVAL);
	ends.domain = krdma_domain_create("ends");
	release_ends(&ends);
	connect_or_fail(test, 0);
	region = krdma_region_alloc(ends.server, 64, KRDMA_DOMAIN |
				    KRDMA_REMOTE_READ | KRDMA_REMOTE_INVALIDATE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(region), -EINVAL);
}

/* ---- ends of connections ---- */

/* Let the device be an iWARP adapter. Its peers are silent after a disconnect. */
static void make_silent_iwarp(void)
{
	fake->ibdev.port_data[1].immutable.core_cap_flags =
		RDMA_CORE_CAP_PROT_IWARP;
	fake->holds_ends = true;
}

/* Wait until the close_work of @cb has run, but not until its timer runs it. */
static void wait_for_close_work(struct krdma_cb *cb)
{
	flush_work(&krdma_conn(cb)->work.close.work);
}

static bool becomes_closed(struct krdma_cb *cb)
{
	return !krdma_conn_wait_closed(krdma_conn(cb), krdma_deadline(WAIT_MS));
}

static void report_end(struct krdma_cb *cb)
{
	struct krdma_conn *conn = krdma_conn(cb);

	/* The cm_id is destroyed if the time limit of the close is over. */
	mutex_lock(&conn->setup);
	if (cb->cm_id)
		fake_report_end(cb->cm_id);
	mutex_unlock(&conn->setup);
	fake_cm_flush();
}

/* An adapter may reset the TCP connection when the QP moves to ERROR. */
static void iwarp_qp_leaves_rts_after_peer_has_closed(struct kunit *test)
{
	unsigned long begin;

	make_silent_iwarp();
	connect_or_fail(test, 0);
	begin = jiffies;
	krdma_disconnect(ends.client);
	wait_for_close_work(ends.client);
	KUNIT_EXPECT_EQ(test, fake->disconnects, 1U);
	KUNIT_EXPECT_TRUE(test, !fake->errors ||
			  time_after_eq(fake->error_at, begin + HZ));
	report_end(ends.client);
	wait_for_close_work(ends.client);
	KUNIT_EXPECT_EQ(test, krdma_get_state(ends.client), KRDMA_CLOSED);
}

static void release_on_iwarp_waits_a_second_for_silent_peer(struct kunit *test)
{
	unsigned long begin;

	make_silent_iwarp();
	connect_or_fail(test, 0);
	begin = jiffies;
	krdma_release_cb(ends.client);
	ends.client = NULL;
	KUNIT_EXPECT_GT(test, fake->errors, 0U);
	KUNIT_EXPECT_TRUE(test, time_after_eq(fake->error_at, begin + HZ));
}

/*
 * The queue of teardowns has one worker. Each connection disconnects before the
 * time limit for the peer of the first one is over.
 */
static void silent_iwarp_peers_hold_up_no_other_teardown(struct kunit *test)
{
	make_silent_iwarp();
	connect_or_fail(test, 0);
	connect_others(test);
	workqueue_set_max_active(krdma_wq, 1);
	krdma_disconnect(ends.client);
	krdma_disconnect(ends.server);
	krdma_disconnect(others.client);
	krdma_disconnect(others.server);
	KUNIT_EXPECT_TRUE(test, becomes_closed(ends.client));
	KUNIT_EXPECT_TRUE(test, becomes_closed(ends.server));
	KUNIT_EXPECT_TRUE(test, becomes_closed(others.client));
	KUNIT_EXPECT_TRUE(test, becomes_closed(others.server));
	KUNIT_EXPECT_EQ(test, fake->disconnects_at_error, 4U);
	workqueue_set_max_active(krdma_wq, WQ_DFL_ACTIVE);
}

/* Times in jiffies of the closing callback of a raw connection. */
static struct {
	unsigned long called;
	unsigned long drained;
	struct completion over;
} closing;

static void drain_in_closing(struct krdma_cb *cb, int error)
{
	closing.called = jiffies;
	krdma_drain(cb);
	closing.drained = jiffies;
	complete(&closing.over);
}

static const struct krdma_ops draining_ops = {
	.connected = client_connected,
	.closing = drain_in_closing,
};

/* closing() runs in a worker that calls other owners as well. */
static void drain_in_closing_waits_for_no_iwarp_peer(struct kunit *test)
{
	unsigned long begin;

	make_silent_iwarp();
	ends.ops = &draining_ops;
	init_completion(&closing.over);
	connect_or_fail(test, KRDMA_RAW);
	begin = jiffies;
	krdma_disconnect(ends.client);
	KUNIT_ASSERT_GT(test,
			wait_for_completion_timeout(&closing.over, 5 * HZ),
			0UL);
	KUNIT_EXPECT_TRUE(test, time_after_eq(closing.called, begin + HZ));
	KUNIT_EXPECT_LT(test, closing.drained - closing.called,
			(unsigned long)HZ / 2);
}

/* Wait until the listener has an accepted connection that no call returned. */
static struct krdma_conn *get_accepted(struct kunit *test)
{
	struct krdma_conn *listener = krdma_conn(ends.listener), *conn = NULL;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < WAIT_MS && !conn; i++) {
		usleep_range(1000, 2000);
		spin_lock_irqsave(&listener->lock, flags);
		conn = list_first_entry_or_null(&listener->listen.accepted,
						struct krdma_conn, acc.link);
		if (conn)
			krdma_conn_get(conn);
		spin_unlock_irqrestore(&listener->lock, flags);
	}
	KUNIT_ASSERT_NOT_NULL(test, conn);
	return conn;
}

/* So a listener can drop many connections without a wait for each of them. */
static void dropped_iwarp_connection_waits_for_no_peer(struct kunit *test)
{
	struct krdma_conn *conn;

	make_silent_iwarp();
	fake->holds_recvs = true;
	KUNIT_ASSERT_EQ(test, begin_ends(&ends, 0, WAIT_MS), 0);
	KUNIT_EXPECT_EQ(test, krdma_accept_timeout(ends.listener, 200,
						   &ends.server), -ETIMEDOUT);
	fake_release_recvs();
	conn = get_accepted(test);
	krdma_release_cb(ends.listener);
	ends.listener = NULL;
	KUNIT_EXPECT_EQ(test, krdma_get_state(&conn->cb), KRDMA_CLOSED);
	KUNIT_EXPECT_TRUE(test, krdma_conn_was_established(conn));
	KUNIT_EXPECT_EQ(test, conn->cm.hang_up_until, 0UL);
	krdma_conn_put(conn);
}

/* ---- removal of the device while a connection is being set up ---- */

/*
 * The CM must not find a cm_id whose route is being resolved when it removes
 * the device.
 */
static void device_removal_waits_for_connection_without_route(struct kunit *test)
{
	fake->holds_routes = true;
	KUNIT_ASSERT_EQ(test, begin_ends(&ends, 0, WAIT_MS), 0);
	fake_cm_flush();
	KUNIT_ASSERT_EQ(test, krdma_get_state(ends.client),
			KRDMA_RESOLVING_ROUTE);
	fake_remove_device();
	KUNIT_EXPECT_EQ(test, krdma_get_state(ends.client), KRDMA_CLOSED);
	KUNIT_EXPECT_EQ(test, krdma_last_error(ends.client), -ENODEV);
	fake_add_device();
}

/* A worker that removes the device, while a task is in qp_ready. */
static struct {
	struct work_struct work;
	struct completion over;
	bool early;
} removal;

static void removal_run(struct work_struct *work)
{
	fake_remove_device();
	complete(&removal.over);
}

static int remove_in_qp_ready(struct krdma_cb *cb)
{
	unsigned int i;

	schedule_work(&removal.work);
	for (i = 0; i < WAIT_MS && !krdma_last_error(cb); i++)
		usleep_range(1000, 2000);
	removal.early = completion_done(&removal.over);
	return 0;
}

static const struct krdma_ops removing_ops = {
	.qp_ready = remove_in_qp_ready,
};

static void device_removal_waits_for_accept(struct kunit *test)
{
	struct krdma_params params = {
		.size = sizeof(params),
		.flags = KRDMA_RAW,
		.ops = &removing_ops,
	};

	INIT_WORK(&removal.work, removal_run);
	init_completion(&removal.over);
	KUNIT_ASSERT_EQ(test, begin_ends(&ends, KRDMA_RAW, WAIT_MS), 0);
	KUNIT_ASSERT_EQ(test, krdma_wait_request(ends.listener, WAIT_MS,
						 &ends.server), 0);
	KUNIT_ASSERT_EQ(test, krdma_set_request_params(ends.server, &params), 0);
	KUNIT_EXPECT_EQ(test, krdma_accept_request(ends.server, NULL, 0),
			-ENODEV);
	KUNIT_EXPECT_FALSE(test, removal.early);
	/* The owner must free what qp_ready has created before the device. */
	KUNIT_EXPECT_FALSE(test, completion_done(&removal.over));
	release_ends(&ends);
	wait_for_completion(&removal.over);
	fake_add_device();
}

/* ---- parameters of a request ---- */

static void request_or_fail(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, begin_ends(&ends, 0, WAIT_MS), 0);
	KUNIT_ASSERT_EQ(test, krdma_wait_request(ends.listener, WAIT_MS,
						 &ends.server), 0);
}

/* The caller may free that memory after the call. */
static void request_params_keep_no_pointers(struct kunit *test)
{
	struct sockaddr_in src = { .sin_family = AF_INET };
	struct krdma_params params = {
		.size = sizeof(params),
		.net = &init_net,
		.src = (const struct sockaddr *)&src,
		.private_data = &src,
		.private_data_len = sizeof(src),
		.context = &src,
	};
	const struct krdma_params *kept;

	request_or_fail(test);
	params.domain = krdma_domain_create("request");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, params.domain);
	KUNIT_EXPECT_EQ(test, krdma_set_request_params(ends.server, &params), 0);
	krdma_domain_put(params.domain);
	kept = &krdma_conn(ends.server)->p;
	KUNIT_EXPECT_PTR_EQ(test, ends.server->context, (void *)&src);
	KUNIT_EXPECT_NULL(test, kept->net);
	KUNIT_EXPECT_NULL(test, kept->src);
	KUNIT_EXPECT_NULL(test, kept->private_data);
	KUNIT_EXPECT_NULL(test, kept->domain);
}

static void request_params_have_flags_of_listener(struct kunit *test)
{
	struct krdma_params params = { .size = sizeof(params) };

	request_or_fail(test);
	params.flags = KRDMA_NOIO;
	KUNIT_EXPECT_EQ(test, krdma_set_request_params(ends.server, &params),
			-EINVAL);
	params.flags = KRDMA_LISTEN_V6ONLY | KRDMA_LISTEN_WAIT;
	KUNIT_EXPECT_EQ(test, krdma_set_request_params(ends.server, &params), 0);
	KUNIT_EXPECT_EQ(test, krdma_conn(ends.server)->p.flags, 0U);
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(short_region_uses_offset_of_bounce_buffer),
	KUNIT_CASE(region_within_pages_has_no_gap),
	KUNIT_CASE(region_of_several_mrs_transfers_all_bytes),
	KUNIT_CASE(page_size_is_supported_by_device),
	KUNIT_CASE(coherent_region_needs_no_sync),
	KUNIT_CASE(read_only_region_is_not_written_back),
	KUNIT_CASE(bounced_memory_is_refused_unchanged),
	KUNIT_CASE(sync_leaves_neighbouring_bytes),
	KUNIT_CASE(exported_set_keeps_bytes_of_peer),
	KUNIT_CASE(exported_buffer_transfers_all_bytes),
	KUNIT_CASE(work_request_stays_within_staging_mr),
	KUNIT_CASE(completion_callback_may_sync_region),
	KUNIT_CASE(request_against_dma_direction_is_refused),
	KUNIT_CASE(long_linear_memory_is_mapped_in_pieces),
	KUNIT_CASE(long_sg_entry_is_mapped_in_pieces),
	KUNIT_CASE(memory_without_pages_is_refused),
	KUNIT_CASE(memory_of_a_pci_device_is_refused),
	KUNIT_CASE(messages_of_any_length_arrive),
	KUNIT_CASE(messages_arrive_on_device_with_small_limits),
	KUNIT_CASE(messages_arrive_with_iwarp_keys),
	KUNIT_CASE(sealed_messages_of_any_length_arrive),
	KUNIT_CASE(short_sealed_message_is_inline),
	KUNIT_CASE(sealed_messages_out_of_chunks_arrive),
	KUNIT_CASE(sealed_message_survives_the_end),
	KUNIT_CASE(device_with_one_sge_is_refused),
	KUNIT_CASE(device_without_read_sge_is_refused),
	KUNIT_CASE(long_message_is_read_in_several_goes),
	KUNIT_CASE(inline_size_is_tried_again_after_enomem),
	KUNIT_CASE(never_is_no_time_limit),
	KUNIT_CASE(late_timer_has_no_effect),
	KUNIT_CASE(end_of_dropped_connection_is_counted),
	KUNIT_CASE(read_without_completion_fails_at_end),
	KUNIT_CASE(completions_wake_their_own_task_only),
	KUNIT_CASE(send_completed_before_end_succeeds),
	KUNIT_CASE(write_completed_before_end_succeeds),
	KUNIT_CASE(region_put_clears_own_message_only),
	KUNIT_CASE(revoke_after_peer_invalidate_succeeds),
	KUNIT_CASE(region_put_with_reused_index_succeeds),
	KUNIT_CASE(region_alloc_uses_one_mr),
	KUNIT_CASE(first_keys_of_connections_differ),
	KUNIT_CASE(domain_region_is_registered_once),
	KUNIT_CASE(domain_region_outlives_its_connection),
	KUNIT_CASE(domain_region_is_local_on_all_connections),
	KUNIT_CASE(domain_key_is_refused_in_another_domain),
	KUNIT_CASE(domain_region_registers_on_second_connection),
	KUNIT_CASE(failed_registration_ends_one_connection),
	KUNIT_CASE(revoked_domain_key_is_refused_everywhere),
	KUNIT_CASE(device_removal_unregisters_domain_regions),
	KUNIT_CASE(region_without_a_domain_is_refused),
	KUNIT_CASE(iwarp_qp_leaves_rts_after_peer_has_closed),
	KUNIT_CASE(release_on_iwarp_waits_a_second_for_silent_peer),
	KUNIT_CASE(silent_iwarp_peers_hold_up_no_other_teardown),
	KUNIT_CASE(drain_in_closing_waits_for_no_iwarp_peer),
	KUNIT_CASE(dropped_iwarp_connection_waits_for_no_peer),
	KUNIT_CASE(device_removal_waits_for_connection_without_route),
	KUNIT_CASE(device_removal_waits_for_accept),
	KUNIT_CASE(request_params_keep_no_pointers),
	KUNIT_CASE(request_params_have_flags_of_listener),
	{}
};

static int device_suite_init(struct kunit_suite *suite)
{
	return fake_cm_init();
}

static void device_suite_exit(struct kunit_suite *suite)
{
	fake_cm_exit();
}

static struct kunit_suite device_suite = {
	.name = "krdma_device",
	.suite_init = device_suite_init,
	.suite_exit = device_suite_exit,
	.init = device_init,
	.exit = device_exit,
	.test_cases = device_cases,
};

kunit_test_suite(device_suite);
