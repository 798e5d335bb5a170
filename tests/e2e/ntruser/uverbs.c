// SPDX-License-Identifier: GPL-2.0
/*
 * uverbs: verbs of a program on a device of ntrdma, through libibverbs.
 *
 *   uverbs list               print the names of all cases, with a description
 *   uverbs DEVICE GID CASE    run a case
 *
 * GID is the index of the GID. The exit status is 0 if the case has passed.
 */
#include "pair.h"

static const size_t sizes[] = { 0, 1, 8, 15, 16, 17, 63, 64, 65, 4095, 4096, 4097, 65536, 300001 };
#define N_SIZES (sizeof(sizes) / sizeof(*sizes))

static void send_sizes(enum ibv_wr_opcode opcode)
{
	int has_receive = opcode != IBV_WR_RDMA_WRITE;

	pair(IBV_QPT_RC);
	for (size_t i = 0; i < N_SIZES; i++) {
		struct ibv_sge from = sge_of(3, sizes[i]), to = sge_of(THERE + 5, sizes[i]);
		struct ibv_send_wr wr = request(opcode, &from, 1, THERE + 5);

		fill(3, sizes[i]);
		memset(memory + THERE, 0, LENGTH - THERE);
		if (has_receive)
			must(!receive(b, &to, opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? 0 : 1), "no receive");
		post(a, &wr);
		completion(7, IBV_WC_SUCCESS);
		if (has_receive) {
			struct ibv_wc wc = completion(1000, IBV_WC_SUCCESS);

			if (wc.byte_len != sizes[i] || wc.qp_num != b->qp_num)
				fail("the receive has %u bytes", wc.byte_len);
			if (opcode != IBV_WR_SEND && (!(wc.wc_flags & IBV_WC_WITH_IMM) ||
						      be32toh(wc.imm_data) != 0xabcd1234))
				fail("immediate data %#x", be32toh(wc.imm_data));
		}
		same(3, THERE + 5, sizes[i]);
	}
}

static void case_send(void) { send_sizes(IBV_WR_SEND); }
static void case_send_imm(void) { send_sizes(IBV_WR_SEND_WITH_IMM); }
static void case_write(void) { send_sizes(IBV_WR_RDMA_WRITE); }
static void case_write_imm(void) { send_sizes(IBV_WR_RDMA_WRITE_WITH_IMM); }

static void case_read(void)
{
	pair(IBV_QPT_RC);
	for (size_t i = 0; i < N_SIZES; i++) {
		struct ibv_sge to = sge_of(9, sizes[i]);
		struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, &to, 1, THERE + 1);

		fill(THERE + 1, sizes[i]);
		memset(memory, 0, THERE);
		post(a, &wr);
		completion(7, IBV_WC_SUCCESS);
		same(9, THERE + 1, sizes[i]);
	}
}

static void case_sges(void)
{
	struct ibv_sge from[SGES], to[SGES];
	struct ibv_send_wr wr = request(IBV_WR_SEND, from, SGES, 0);

	pair(IBV_QPT_RC);
	fill(0, 10000);
	for (int i = 0; i < SGES; i++) {
		from[i] = sge_of(i * 2500, 2500);
		to[i] = sge_of(THERE + i * 3000, i == SGES - 1 ? 1000 : 3000);
	}
	must(!receive(b, to, SGES), "no receive");
	post(a, &wr);
	completion(7, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
	same(0, THERE, 10000);
}

static void case_inline(void)
{
	struct ibv_sge from[2] = { sge_of(0, 30), sge_of(30, INLINE - 30) }, to = sge_of(THERE, INLINE);
	struct ibv_send_wr wr = request(IBV_WR_SEND, from, 2, 0);

	pair(IBV_QPT_RC);
	fill(0, INLINE);
	memcpy(memory + 4096, memory, INLINE);
	from[0].lkey = 0;
	from[1].lkey = 12345;
	wr.send_flags |= IBV_SEND_INLINE;
	must(!receive(b, &to, 1), "no receive");
	post(a, &wr);
	memset(memory, 0, INLINE);
	completion(7, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
	same(4096, THERE, INLINE);
}

static void case_atomics(void)
{
	struct ibv_sge result = sge_of(0, 8);
	struct ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, &result, 1, THERE);
	volatile uint64_t *local = (void *)memory, *remote = (void *)(memory + THERE);

	pair(IBV_QPT_RC);
	*remote = 40;
	wr.wr.atomic.compare_add = 2;
	post(a, &wr);
	completion(7, IBV_WC_SUCCESS);
	if (*local != 40 || *remote != 42)
		fail("add: %lu and %lu", *local, *remote);
	wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, &result, 1, THERE);
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 1;
	post(a, &wr);
	completion(7, IBV_WC_SUCCESS);
	if (*local != 42 || *remote != 1)
		fail("compare and swap: %lu and %lu", *local, *remote);
}

static void case_srq(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = DEPTH, .max_sge = SGES } };
	struct ibv_srq_attr limit = { .srq_limit = 2 };
	struct ibv_sge from = sge_of(0, 100), to = sge_of(THERE, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);

	srq = ibv_create_srq(pd, &init);
	must(!!srq, "no SRQ");
	pair(IBV_QPT_RC);
	for (int i = 0; i < 3; i++)
		must(!receive(NULL, &to, 1), "no receive");
	must(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "no limit");
	fill(0, 100);
	for (int i = 0; i < 2; i++) {
		post(i ? b : a, &wr);
		completion(7, IBV_WC_SUCCESS);
		completion(1000, IBV_WC_SUCCESS);
	}
	same(0, THERE, 100);
	event_is(IBV_EVENT_SRQ_LIMIT_REACHED);
}

static void case_ud(void)
{
	struct ibv_ah_attr attr = address();
	struct ibv_sge from = sge_of(0, 1000), to = sge_of(THERE, 1040);
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_IMM, &from, 1, 0);
	struct ibv_wc wc;

	pair(IBV_QPT_UD);
	fill(0, 1000);
	must(!receive(b, &to, 1), "no receive");
	wr.wr.ud.ah = ibv_create_ah(pd, &attr);
	must(!!wr.wr.ud.ah, "no address handle");
	wr.wr.ud.remote_qpn = b->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	post(a, &wr);
	completion(7, IBV_WC_SUCCESS);
	wc = completion(1000, IBV_WC_SUCCESS);
	if (wc.byte_len != 1040 || wc.src_qp != a->qp_num || !(wc.wc_flags & IBV_WC_GRH))
		fail("%u bytes of QP %#x, flags %#x", wc.byte_len, wc.src_qp, wc.wc_flags);
	same(0, THERE + 40, 1000);
	must(!ibv_destroy_ah(wr.wr.ud.ah), "the address handle is not destroyed");
}

/* A handle that was destroyed has a number that no other handle has yet. */
static void case_ud_destroyed_handle(void)
{
	struct ibv_ah_attr attr = address();
	struct ibv_sge from = sge_of(0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);
	struct ibv_ah *ah;
	char copy[256];

	pair(IBV_QPT_UD);
	ah = ibv_create_ah(pd, &attr);
	must(!!ah, "no address handle");
	memcpy(copy, ah, sizeof(copy));
	must(!ibv_destroy_ah(ah), "the address handle is not destroyed");
	wr.wr.ud.ah = (void *)copy;
	wr.wr.ud.remote_qpn = b->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	post(a, &wr);
	completion(7, IBV_WC_LOC_QP_OP_ERR);
}

static void case_ud_foreign_handle(void)
{
	struct ibv_ah_attr attr = address();
	struct ibv_sge from = sge_of(0, 100);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);

	pair(IBV_QPT_UD);
	wr.wr.ud.ah = ibv_create_ah(ibv_alloc_pd(context), &attr);
	must(!!wr.wr.ud.ah, "no address handle");
	wr.wr.ud.remote_qpn = b->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	post(a, &wr);
	completion(7, IBV_WC_LOC_QP_OP_ERR);
}

static void case_events(void)
{
	struct ibv_sge from = sge_of(0, 8), to = sge_of(THERE, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *which;
	void *unused;

	pair(IBV_QPT_RC);
	/* The completion of the send must not be an event. */
	must(!ibv_req_notify_cq(cq, 1), "the CQ is not armed");
	must(!receive(b, &to, 1), "no receive");
	post(a, &wr);
	completion(7, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
	must(poll(&fd, 1, 200) == 0, "an event that was not requested");
	must(!receive(b, &to, 1), "no receive");
	wr.send_flags |= IBV_SEND_SOLICITED;
	post(a, &wr);
	must(poll(&fd, 1, 20000) == 1, "no solicited event");
	must(!ibv_get_cq_event(channel, &which, &unused) && which == cq, "no event");
	ibv_ack_cq_events(cq, 1);
	completion(7, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
}

/* The receive is posted while the peer waits after a NAK. */
static void case_late_receive(void)
{
	struct ibv_sge from = sge_of(0, 5000), to = sge_of(THERE, 5000);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);
	struct ibv_wc wc;

	pair(IBV_QPT_RC);
	fill(0, 5000);
	post(a, &wr);
	usleep(100000);
	must(ibv_poll_cq(cq, 1, &wc) == 0, "a completion without a receive");
	must(!receive(b, &to, 1), "no receive");
	completion(7, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
	same(0, THERE, 5000);
}

static void case_no_receive(void)
{
	struct ibv_sge from = sge_of(0, 10);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);

	a = create(IBV_QPT_RC);
	b = create(IBV_QPT_RC);
	connect_qps(1);
	post(a, &wr);
	completion(7, IBV_WC_RNR_RETRY_EXC_ERR);
}

/* Post a request that must fail with this status, and check that later ones are flushed. */
static void fails(struct ibv_send_wr *wr, enum ibv_wc_status status)
{
	post(a, wr);
	completion(7, status);
	post(a, wr);
	completion(7, IBV_WC_WR_FLUSH_ERR);
}

static void bad_local(uint32_t lkey, size_t offset, enum ibv_wr_opcode opcode, enum ibv_wc_status status)
{
	struct ibv_sge from = sge_of(offset, 100);
	struct ibv_send_wr wr = request(opcode, &from, 1, THERE);

	pair(IBV_QPT_RC);
	from.lkey = lkey;
	fails(&wr, status);
}

static void bad_remote(uint32_t rkey, size_t offset, uint32_t bytes, enum ibv_wr_opcode opcode)
{
	struct ibv_sge from = sge_of(0, bytes);
	struct ibv_send_wr wr = request(opcode, &from, 1, offset);

	pair(IBV_QPT_RC);
	wr.wr.rdma.rkey = rkey;
	fails(&wr, IBV_WC_REM_ACCESS_ERR);
}

static void case_local_key_0(void) { bad_local(0, 0, IBV_WR_SEND, IBV_WC_LOC_PROT_ERR); }
static void case_read_to_key_0(void) { bad_local(0, 0, IBV_WR_RDMA_READ, IBV_WC_LOC_PROT_ERR); }
static void case_local_key(void) { bad_local(mr->lkey ^ 0x100, 0, IBV_WR_SEND, IBV_WC_LOC_PROT_ERR); }
static void case_local_range(void) { bad_local(mr->lkey, LENGTH - 99, IBV_WR_SEND, IBV_WC_LOC_PROT_ERR); }
static void case_remote_key(void) { bad_remote(mr->rkey ^ 1, 0, 100, IBV_WR_RDMA_WRITE); }
static void case_remote_range(void) { bad_remote(mr->rkey, LENGTH - 99, 100, IBV_WR_RDMA_WRITE); }
static void case_remote_read(void) { bad_remote(mr->rkey, LENGTH - 99, 100, IBV_WR_RDMA_READ); }

static void case_other_domain(void)
{
	struct ibv_pd *other = ibv_alloc_pd(context);
	struct ibv_mr *foreign = ibv_reg_mr(other, memory, LENGTH, ALL_ACCESS);

	must(!!foreign, "no region");
	bad_remote(foreign->rkey, 0, 100, IBV_WR_RDMA_WRITE);
}

static void case_rights(void)
{
	struct ibv_mr *read_only = ibv_reg_mr(pd, memory, LENGTH, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);

	must(!!read_only, "no region");
	bad_remote(read_only->rkey, 0, 100, IBV_WR_RDMA_WRITE);
}

static void case_deregistered(void)
{
	struct ibv_mr *gone = ibv_reg_mr(pd, memory, LENGTH, ALL_ACCESS);
	uint32_t rkey;

	must(!!gone, "no region");
	rkey = gone->rkey;
	must(!ibv_dereg_mr(gone), "the region is not destroyed");
	bad_remote(rkey, 0, 100, IBV_WR_RDMA_WRITE);
}

static void case_read_only_memory(void)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(page != MAP_FAILED, "no memory");
	must(!ibv_reg_mr(pd, page, 4096, ALL_ACCESS), "memory that the program cannot write is registered for writing");
}

static void case_unmapped_memory(void)
{
	void *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(page != MAP_FAILED && !munmap(page, 8192), "no memory");
	must(!ibv_reg_mr(pd, page, 4096, ALL_ACCESS), "memory that is not mapped is registered");
}

static void case_iova(void)
{
	struct ibv_mr *shifted = ibv_reg_mr_iova(pd, memory + THERE + 5, 10000, 0x1005, ALL_ACCESS);
	struct ibv_sge from = sge_of(0, 9000);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &from, 1, 0);

	must(!!shifted, "no region");
	pair(IBV_QPT_RC);
	fill(0, 9000);
	wr.wr.rdma.remote_addr = 0x1005 + 100;
	wr.wr.rdma.rkey = shifted->rkey;
	post(a, &wr);
	completion(7, IBV_WC_SUCCESS);
	same(0, THERE + 105, 9000);
}

static void case_long_message(void)
{
	struct ibv_sge from = sge_of(0, 200), to = sge_of(THERE, 199);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);

	pair(IBV_QPT_RC);
	must(!receive(b, &to, 1), "no receive");
	post(a, &wr);
	completion(7, IBV_WC_REM_INV_REQ_ERR);
	completion(1000, IBV_WC_LOC_LEN_ERR);
}

/* Return the element of a send queue that has this wr_id. */
static uint8_t *find_request(uint64_t wr_id)
{
	size_t bytes;
	uint8_t *queue;

	for (unsigned int i = 0; (queue = shared(i, &bytes)); i++)
		for (size_t at = sizeof(struct rxe_queue_buf); at + 64 <= bytes; at += 64)
			if (*(uint64_t *)(queue + at) == wr_id && *(uint32_t *)(queue + at + OPCODE) == IBV_WR_SEND)
				return queue + at;
	fail("the request is not found");
	return NULL;
}

/*
 * Complete one SEND whose element stays in the queue. Then let the queue have the element once more, with another word
 * at this offset.
 */
static void altered(size_t offset, uint32_t word, enum ibv_wc_status status)
{
	struct ibv_sge from = sge_of(0, 16), to = sge_of(THERE, 16);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);
	struct rxe_queue_buf *queue;
	uint8_t *element;

	pair(IBV_QPT_RC);
	must(!receive(b, &to, 1), "no receive");
	wr.wr_id = 0x1122334455667788;
	post(a, &wr);
	completion(1000, IBV_WC_SUCCESS);
	completion(wr.wr_id, IBV_WC_SUCCESS);
	element = find_request(wr.wr_id);
	queue = (void *)(element - sizeof(*queue));
	must(queue->producer_index == 1, "the first element is not the request");
	memcpy(element + (1 << queue->log2_elem_size), element, 1 << queue->log2_elem_size);
	element += 1 << queue->log2_elem_size;
	*(uint64_t *)element = 7;
	*(uint32_t *)(element + offset) = word;
	__atomic_store_n(&queue->producer_index, 2, __ATOMIC_RELEASE);
	must(!ring(a), "the post fails");
	completion(7, status);
}

static void case_opcode_local_inv(void) { altered(OPCODE, IBV_WR_LOCAL_INV, IBV_WC_LOC_QP_OP_ERR); }
static void case_opcode_reg_mr(void) { altered(OPCODE, 0x20, IBV_WC_LOC_QP_OP_ERR); }
static void case_opcode_unknown(void) { altered(OPCODE, 0xffffffff, IBV_WC_LOC_QP_OP_ERR); }
static void case_num_sge(void) { altered(NUM_SGE, 0xffff, IBV_WC_LOC_QP_OP_ERR); }

/* Requests in a system call would name addresses of the kernel. */
static void case_request_in_call(void)
{
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_post_send command;
		struct ib_uverbs_send_wr wr;
		struct ib_uverbs_sge sge;
	} call = {};
	struct ib_uverbs_post_send_resp answer;

	pair(IBV_QPT_RC);
	call.header.command = IB_USER_VERBS_CMD_POST_SEND;
	call.header.in_words = sizeof(call) / 4;
	call.header.out_words = sizeof(answer) / 4;
	call.command.response = (uintptr_t)&answer;
	call.command.qp_handle = a->handle;
	call.command.wr_count = 1;
	call.command.sge_count = 1;
	call.command.wqe_size = sizeof(call.wr);
	call.wr.opcode = IBV_WR_SEND;
	call.wr.num_sge = 1;
	call.wr.send_flags = IBV_SEND_INLINE;
	call.sge.addr = 0xffff888000000000;
	call.sge.length = 16;
	must(write(context->cmd_fd, &call, sizeof(call)) < 0 && errno == EINVAL, "a request in a call is accepted");
}

static void case_post_in_init(void)
{
	struct ibv_sge from = sge_of(0, 10), to = sge_of(THERE, 10);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0), *bad;
	struct ibv_wc wc;

	a = create(IBV_QPT_RC);
	b = create(IBV_QPT_RC);
	must(!set_init(a), "no INIT");
	must(ibv_post_send(a, &wr, &bad), "a post in INIT succeeds");
	must(!set_rtr(a, b->qp_num, 4) && !set_rts(a, 4, 7), "no RTS");
	must(!set_init(b) && !set_rtr(b, a->qp_num, 4) && !set_rts(b, 4, 7), "no RTS");
	must(!receive(b, &to, 1), "no receive");
	usleep(100000);
	must(ibv_poll_cq(cq, 1, &wc) == 0, "the request of INIT is sent");
	wr.wr_id = 8;
	post(a, &wr);
	completion(8, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
}

static void case_reset(void)
{
	struct ibv_sge from = sge_of(0, 10), to = sge_of(THERE, 10);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);
	struct ibv_wc wc;

	pair(IBV_QPT_RC);
	for (int i = 0; i < 10; i++)
		must(!receive(a, &to, 1), "no receive");
	must(!set_state(a, IBV_QPS_RESET) && !set_state(b, IBV_QPS_RESET), "no RESET");
	must(ibv_poll_cq(cq, 1, &wc) == 0, "RESET completes a receive");
	connect_qps(7);
	post(b, &wr);
	usleep(100000);
	must(ibv_poll_cq(cq, 1, &wc) == 0, "a receive is left after RESET");
	must(!receive(a, &to, 1), "no receive");
	completion(7, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
}

static void case_flush(void)
{
	struct ibv_sge to = sge_of(THERE, 10);
	struct ibv_wc wc;

	pair(IBV_QPT_RC);
	for (int i = 0; i < DEPTH; i++)
		must(!receive(a, &to, 1), "no receive");
	must(!set_state(a, IBV_QPS_ERR), "no ERROR");
	for (int i = 0; i < DEPTH; i++)
		completion(1000, IBV_WC_WR_FLUSH_ERR);
	/* A receive of a QP in the error state is flushed as well, without another call. */
	must(!receive(a, &to, 1), "no receive");
	completion(1000, IBV_WC_WR_FLUSH_ERR);
	must(ibv_poll_cq(cq, 1, &wc) == 0, "a completion too much");
}

static void case_full_cq(void)
{
	struct ibv_sge from = sge_of(0, 10);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &from, 1, THERE), *bad;

	must(!ibv_destroy_cq(cq), "the CQ is not destroyed");
	cq = ibv_create_cq(context, 8, NULL, NULL, 0);
	must(!!cq, "no CQ");
	pair(IBV_QPT_RC);
	for (int i = 0; i < DEPTH && !ibv_post_send(a, &wr, &bad); i++)
		usleep(1000);
	event_is(IBV_EVENT_CQ_ERR);
	event_is(IBV_EVENT_QP_FATAL);
}

static void case_full_queue(void)
{
	struct ibv_sge from = sge_of(0, 10);
	struct ibv_sge to = sge_of(THERE, 10);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0), *bad;
	int n = 0;

	pair(IBV_QPT_RC);
	while (n < 10 * DEPTH && !ibv_post_send(a, &wr, &bad))
		n++;
	if (n < DEPTH || n >= 10 * DEPTH)
		fail("%d requests are accepted", n);
	for (int i = 0; i < n; i++) {
		must(!receive(b, &to, 1), "no receive");
		completion(7, IBV_WC_SUCCESS);
		completion(1000, IBV_WC_SUCCESS);
		/* The first completion makes room for one request. */
		if (!i)
			post(a, &wr);
		must(i || ibv_post_send(a, &wr, &bad), "more than one request is accepted");
	}
	must(!receive(b, &to, 1), "no receive");
	completion(7, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
}

/* A queue that is always full: each completion makes room for one request. */
static void case_exactly_full_queue(void)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
					 .cap = { .max_send_wr = 3, .max_recv_wr = 1, .max_send_sge = 1 } };
	struct ibv_sge from = sge_of(0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &from, 1, THERE);

	a = ibv_create_qp(pd, &init);
	must(a && init.cap.max_send_wr >= 3, "no QP");
	init.cap.max_send_wr = 3;
	b = ibv_create_qp(pd, &init);
	must(!!b, "no QP");
	connect_qps(7);
	for (int i = 0; i < 3; i++)
		post(a, &wr);
	for (int i = 0; i < 20000; i++) {
		completion(7, IBV_WC_SUCCESS);
		post(a, &wr);
	}
}

/* The library does not mark inline data of the extended calls. */
static void case_extended(void)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_inline_data = INLINE },
	};
	struct ibv_qp_ex *ex;

	a = ibv_create_qp_ex(context, &init);
	must(!!a, "no QP");
	b = create(IBV_QPT_RC);
	connect_qps(7);
	fill(0, 5000);
	ex = ibv_qp_to_qp_ex(a);
	ex->wr_id = 7;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)memory + THERE);
	ibv_wr_set_inline_data(ex, memory, INLINE);
	must(!ibv_wr_complete(ex), "no post");
	completion(7, IBV_WC_SUCCESS);
	same(0, THERE, INLINE);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, mr->rkey, (uintptr_t)memory + THERE);
	ibv_wr_set_sge(ex, mr->lkey, (uintptr_t)memory, 5000);
	must(!ibv_wr_complete(ex), "no post");
	completion(7, IBV_WC_SUCCESS);
	same(0, THERE, 5000);
}

static void case_refused(void)
{
	struct ibv_qp_init_attr init = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UC };
	void *map;

	must(!ibv_create_qp(pd, &init), "a QP of type UC is created");
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_wr = 16385;
	must(!ibv_create_qp(pd, &init), "a queue that is too long is created");
	init.cap.max_send_wr = 1;
	init.cap.max_inline_data = 257;
	must(!ibv_create_qp(pd, &init), "a QP with 257 bytes of inline data is created");
	must(ibv_resize_cq(cq, 100), "a CQ is resized");
	must(!ibv_alloc_mw(pd, IBV_MW_TYPE_1), "a memory window is created");
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, context->cmd_fd, 1 << 30);
	must(map == MAP_FAILED && errno == EINVAL, "an unknown offset is mapped");
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, context->cmd_fd, 0);
	must(map == MAP_FAILED && errno == EINVAL, "a queue is mapped privately");
	map = mmap(NULL, 1 << 22, PROT_READ, MAP_SHARED, context->cmd_fd, 0);
	must(map == MAP_FAILED && errno == EINVAL, "more than a queue is mapped");
}

static const struct {
	const char *name;
	void (*run)(void);
	const char *what;
} cases[] = {
	{ "send", case_send, "SEND of each size" },
	{ "send-imm", case_send_imm, "SEND with immediate data of each size" },
	{ "write", case_write, "WRITE of each size" },
	{ "write-imm", case_write_imm, "WRITE with immediate data of each size" },
	{ "read", case_read, "READ of each size" },
	{ "sges", case_sges, "several SGEs at both ends" },
	{ "inline", case_inline, "inline data, whose keys do not matter" },
	{ "atomics", case_atomics, "both atomics" },
	{ "srq", case_srq, "a shared receive queue, and its limit event" },
	{ "ud", case_ud, "a datagram with a GRH" },
	{ "ud-handle", case_ud_destroyed_handle, "a datagram whose address handle is destroyed fails" },
	{ "ud-domain", case_ud_foreign_handle, "a datagram with an address handle of another protection domain fails" },
	{ "events", case_events, "solicited events" },
	{ "late-receive", case_late_receive, "a receive that is posted after the message has arrived" },
	{ "no-receive", case_no_receive, "RNR without a receive" },
	{ "lkey-0", case_local_key_0, "the local key 0 gives no access to memory of the kernel" },
	{ "lkey-0-read", case_read_to_key_0, "a READ to the local key 0 fails" },
	{ "lkey", case_local_key, "an invalid local key" },
	{ "lkey-range", case_local_range, "local memory beyond the region" },
	{ "rkey", case_remote_key, "an invalid remote key" },
	{ "rkey-range", case_remote_range, "a WRITE beyond the region" },
	{ "rkey-range-read", case_remote_read, "a READ beyond the region" },
	{ "domain", case_other_domain, "a key of another protection domain" },
	{ "rights", case_rights, "a region without the right to write" },
	{ "deregistered", case_deregistered, "a region that is destroyed" },
	{ "read-only", case_read_only_memory, "memory that the program cannot write is not registered for writing" },
	{ "unmapped", case_unmapped_memory, "memory that is not mapped is not registered" },
	{ "iova", case_iova, "a region with an address of its own" },
	{ "too-long", case_long_message, "a message that is longer than its receive" },
	{ "local-inv", case_opcode_local_inv, "a LOCAL_INV in the queue of a program fails" },
	{ "reg-mr", case_opcode_reg_mr, "a REG_MR in the queue of a program fails" },
	{ "opcode", case_opcode_unknown, "an unknown opcode in the queue fails" },
	{ "num-sge", case_num_sge, "a number of SGEs beyond the limit in the queue fails" },
	{ "call", case_request_in_call, "a request in a system call is refused" },
	{ "init", case_post_in_init, "a request that is posted in INIT is refused and never sent" },
	{ "reset", case_reset, "RESET drops receives, and the QP can be used again" },
	{ "flush", case_flush, "receives are flushed, also those that are posted later" },
	{ "full-cq", case_full_cq, "a full CQ" },
	{ "full-queue", case_full_queue, "a full send queue refuses requests and loses none" },
	{ "exactly-full", case_exactly_full_queue, "a send queue that is always full has room after each completion" },
	{ "extended", case_extended, "the extended calls, with inline data and with an SGE" },
	{ "refused", case_refused, "unsupported objects and invalid mappings are refused" },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			printf("%s %s\n", cases[i].name, cases[i].what);
		return 0;
	}
	if (argc != 4)
		return 2;
	device_name = argv[1];
	gid_index = atoi(argv[2]);
	open_device();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[3], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
