/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects of libibverbs for the programs of this folder: a device, a region of memory, and two QPs that are connected
 * to each other.
 */
#ifndef PAIR_H
#define PAIR_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LENGTH 0x100000
#define THERE (LENGTH / 2)
#define DEPTH 64
#define SGES 4
#define INLINE 64
#define QKEY 0x1234
#define OPCODE offsetof(struct rxe_send_wqe, wr.opcode)
#define NUM_SGE offsetof(struct rxe_send_wqe, dma.num_sge)
#define REMOTE_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)
#define ALL_ACCESS (IBV_ACCESS_LOCAL_WRITE | REMOTE_ACCESS)

static const char *device_name;
static int gid_index;

static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_qp *a, *b;
static uint8_t *memory;
static union ibv_gid gid;

/* A case fails by ending the program with a reason. */
static inline void fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf(" (%s)\n", strerror(errno));
	exit(1);
}

static inline void must(int good, const char *what)
{
	if (!good)
		fail("%s", what);
}

static inline void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	must(!!list, "no list of devices");
	for (int i = 0; list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), device_name))
			context = ibv_open_device(list[i]);
	must(!!context, "the device cannot be opened");
	must(!ibv_query_gid(context, 1, gid_index, &gid), "no GID");
	channel = ibv_create_comp_channel(context);
	must(!!channel, "no completion channel");
	pd = ibv_alloc_pd(context);
	must(!!pd, "no protection domain");
	cq = ibv_create_cq(context, 4 * DEPTH, NULL, channel, 0);
	must(!!cq, "no CQ");
	memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory != MAP_FAILED, "no memory");
	mr = ibv_reg_mr(pd, memory, LENGTH, ALL_ACCESS);
	must(!!mr, "no region");
}

static inline struct ibv_qp *create(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.qp_type = type,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = SGES,
			.max_recv_sge = SGES,
			.max_inline_data = INLINE,
		},
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	must(!!qp, "no QP");
	return qp;
}

static inline int set_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = REMOTE_ACCESS,
	};
	int what = qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | what);
}

static inline struct ibv_ah_attr address(void)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = gid, .sgid_index = gid_index, .hop_limit = 64 },
	};
}

static inline int set_rtr(struct ibv_qp *qp, uint32_t peer, uint8_t reads)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.rq_psn = 1,
		.max_dest_rd_atomic = reads,
		.min_rnr_timer = 12,
		.ah_attr = address(),
	};
	int rc = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
		 IBV_QP_MIN_RNR_TIMER;

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | (qp->qp_type == IBV_QPT_UD ? 0 : rc));
}

static inline int set_rts(struct ibv_qp *qp, uint8_t reads, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = rnr_retry,
		.max_rd_atomic = reads,
	};
	int rc = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | (qp->qp_type == IBV_QPT_UD ? 0 : rc));
}

static inline int set_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static inline void connect_qps(uint8_t rnr_retry)
{
	must(!set_init(a) && !set_init(b), "no INIT");
	must(!set_rtr(a, b->qp_num, 4) && !set_rtr(b, a->qp_num, 4), "no RTR");
	must(!set_rts(a, 4, rnr_retry) && !set_rts(b, 4, rnr_retry), "no RTS");
}

static inline void pair(enum ibv_qp_type type)
{
	a = create(type);
	b = create(type);
	connect_qps(7);
}

static inline void fill(size_t offset, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		memory[offset + i] = (i * 7 + i / 251 + bytes) & 0xff;
}

static inline void same(size_t x, size_t y, size_t bytes)
{
	if (memcmp(memory + x, memory + y, bytes))
		fail("%zu bytes differ", bytes);
}

static inline struct ibv_sge sge_of(size_t offset, uint32_t bytes)
{
	return (struct ibv_sge){ .addr = (uintptr_t)memory + offset, .length = bytes, .lkey = mr->lkey };
}

static inline int receive(struct ibv_qp *qp, struct ibv_sge *sge, int sges)
{
	struct ibv_recv_wr wr = { .wr_id = 1000, .sg_list = sge, .num_sge = sges }, *bad;

	return srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad);
}

static inline struct ibv_send_wr request(enum ibv_wr_opcode opcode, struct ibv_sge *sge, int sges, size_t remote)
{
	struct ibv_send_wr wr = {
		.wr_id = 7,
		.opcode = opcode,
		.sg_list = sge,
		.num_sge = sges,
		.send_flags = IBV_SEND_SIGNALED,
	};

	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)memory + remote;
		wr.wr.atomic.rkey = mr->rkey;
	} else if (opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM) {
		wr.wr.rdma.remote_addr = (uintptr_t)memory + remote;
		wr.wr.rdma.rkey = mr->rkey;
	}
	wr.imm_data = htobe32(0xabcd1234);
	return wr;
}

static inline void post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	must(!ibv_post_send(qp, wr, &bad), "the post fails");
}

static inline int poll_once(struct ibv_wc *wc)
{
	time_t end = time(NULL) + 20;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc)) && time(NULL) < end)
		sched_yield();
	return n;
}

/* Wait for the completion of a request (7), or of a receive (1000). */
static inline struct ibv_wc completion(uint64_t wr_id, enum ibv_wc_status status)
{
	static struct ibv_wc kept;
	static int has_kept;
	struct ibv_wc wc;

	if (has_kept && kept.wr_id == wr_id) {
		has_kept = 0;
		wc = kept;
	} else {
		must(poll_once(&wc) == 1, "no completion");
		if (wc.wr_id != wr_id) {
			kept = wc;
			has_kept = 1;
			must(poll_once(&wc) == 1, "no second completion");
		}
	}
	if (wc.wr_id != wr_id || wc.status != status)
		fail("completion of %d: %s instead of %s", (int)wc.wr_id, ibv_wc_status_str(wc.status),
		     ibv_wc_status_str(status));
	return wc;
}

static inline void event_is(enum ibv_event_type want)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	must(poll(&fd, 1, 20000) == 1, "no event");
	must(!ibv_get_async_event(context, &event), "no event");
	if (event.event_type != want)
		fail("event %s instead of %s", ibv_event_type_str(event.event_type), ibv_event_type_str(want));
	ibv_ack_async_event(&event);
}

/* Return a queue that the library shares with the kernel, or NULL if there are fewer. */
static inline uint8_t *shared(unsigned int index, size_t *bytes)
{
	static unsigned long found[32][2];
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int n = 0;

	must(!!maps, "no list of mappings");
	while (fgets(line, sizeof(line), maps) && n < 32)
		if (strstr(line, "/dev/infiniband/uverbs") && sscanf(line, "%lx-%lx", &found[n][0], &found[n][1]) == 2)
			n++;
	fclose(maps);
	if (index >= n)
		return NULL;
	*bytes = found[index][1] - found[index][0];
	return (uint8_t *)found[index][0];
}

/* Post an empty list, as the library does after it has written requests. */
static inline int ring(struct ibv_qp *qp)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_post_send command;
	} call = {};
	struct ib_uverbs_post_send_resp answer;

	call.header.command = IB_USER_VERBS_CMD_POST_SEND;
	call.header.in_words = sizeof(call) / 4;
	call.header.out_words = sizeof(answer) / 4;
	call.command.response = (uintptr_t)&answer;
	call.command.qp_handle = qp->handle;
	call.command.wqe_size = sizeof(struct ib_uverbs_send_wr);
	return write(context->cmd_fd, &call, sizeof(call)) == sizeof(call) ? 0 : errno;
}

#endif /* PAIR_H */
