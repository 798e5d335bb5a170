// SPDX-License-Identifier: GPL-2.0
/*
 * vbench - measure vrfm as programs use it, and compare it with verbs code
 *
 *   vbench serve RDMADEV ADDRESS PORT DEVICE FAST
 *   vbench TEST VARIANT,... RDMADEV ADDRESS PORT ROUNDS [NAME=NUMBER]...
 *   vbench longest DEVICE SIZE MS
 *   vbench poker DEVICE MS NAME ROUND
 *   vbench feeder DEVICE MS NAME ROUND
 *   vbench dirty DEVICE PAGES
 *   vbench cycle DEVICE PAGES MS
 *
 * In each round, every variant has a turn, as in krdma_bench. For each turn, vbench prints a line "VARIANT ROUND
 * NAME=NUMBER...", with the number of operations, the duration in ns, and percentiles of round trips, see quantiles.h.
 * Round 0 is the warm-up, and is not printed.
 *
 * Tests:
 *   rate    write blocks of SIZE bytes to the whole memory, at a distance of STRIDE bytes (default: SIZE), and wait
 *           until the peer has them
 *   ping    write 8 bytes, and poll for the 8 bytes that the server writes back; the server also polls
 *   event   send an event, and wait for the one that the server sends back; both sleep while they wait
 *   read    copy 1 MiB from a mapping
 *   burst   receive bursts of 100 events, which rfm2g1 sends
 *   cover   learn of the writes of 4 bytes of another process, which writes at full speed
 *   control write eight blocks and a counter, and send an event
 *   update  update 64 words of 4 bytes
 *   pages   RDMA READ a tenth of 64 MiB, page by page; only for the variant raw
 *   longest write a block every 100 us, and print the longest time of a write as max; has a single turn
 *   poker   write 4 bytes every ms with real-time priority; has a single turn, of a variant called NAME
 *   feeder  let a thread of the program write 4 bytes every ms, without system calls; has a single turn
 *   dirty   store into PAGES pages every ms until it is killed
 *   cycle   claim PAGES pages, store into each every ms with real-time priority, and print the number of cycles
 *
 * Variants:
 *   raw     RDMA WRITE, and SEND and RECV, from user space
 *   vrfm    /dev/rfm2g0 by write() or ioctl()
 *   store   /dev/rfm2g2, which has flush_us=0, by stores into a mapping
 *   alone   /dev/rfm2g4, which has no peer
 *   three   /dev/rfm2g5, which has three peers
 *   manual  /dev/rfm2g0 by a manual mapping and VRFM_OP_PUBLISH
 *   ring    /dev/rfm2g0 with a ring
 *   batch   /dev/rfm2g0 by VRFM_BATCH
 *   tapped  /dev/rfm2g0 with a tap that records no bytes, and that this program reads
 *   copied  /dev/rfm2g0 with a tap that records up to 4 KiB of each write
 *   idle    /dev/rfm2g0 with a tap that records none of the writes and messages
 *   plain   ordinary memory
 *   small   /dev/rfm2g0
 *   large   /dev/rfm2g2, which has more memory than rfm2g0
 *   one, two, four, eight, sixteen
 *           /dev/rfm2g0 to /dev/rfm2g4, which have 1, 2, 4, 8 and 16 peers
 *
 * Only tests with round trips, and the variant raw, need a server.
 *
 * A task that polls memory calls sched_yield() after each read, because there may be only one processor.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <rfm2g.h>
#include <vrfm.h>

#include "vbench.h"

#define SPAN (4u << 20)
#define DEPTH 16
#define SIGNAL_EVERY 8
/* Number of pages that join_writes() of node.sh writes: a tenth of 64 MiB. */
#define PAGES 1639u
#define MESSAGE 8
/* Maximum number of variants in a command. */
#define TURNS 5
/* Flag in the number of a round trip, which the client sets: the server must end its turn after this round trip. */
#define LAST 0x80000000u
/* Offsets at which the client (MINE) and the server (THEIRS) of ping write. */
#define MINE 0
#define THEIRS 4096

/* Address of a queue pair and its memory. Both sides exchange these before they connect their queue pairs. */
struct card {
	uint32_t qpn;
	uint32_t rkey;
	uint64_t addr;
	union ibv_gid gid;
};

/* Request of the client to the server, to take part in the round trips of a turn. */
struct request {
	char test;	/* 'p', 'e' */
	char variant;	/* 'r', 'v', 's', 'p', 'e' */
	uint32_t from;
};

struct verbs {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *sent;
	struct ibv_cq *received;
	struct ibv_comp_channel *channel;
	struct ibv_qp *qp;
	uint8_t *memory;
	struct card peer;
	int gid_index;
	uint32_t unsignalled;
	uint32_t flying;
	uint32_t posted;
};

static struct verbs verbs;
uint64_t samples[SAMPLES];
/* Number of the last round trip. It grows on both sides, and is not reset between turns. */
static uint32_t counter;

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Poll a word until it contains NUMBER, with or without the flag LAST. Return the word. */
static uint32_t await(volatile uint8_t *at, uint32_t number)
{
	volatile uint64_t *word = (volatile uint64_t *)at;
	uint32_t value, looks = 0;
	uint64_t end = 0;

	while (((value = *word) & ~LAST) != number) {
		sched_yield();
		if (++looks % 4096)
			continue;
		if (!end)
			end = now_ns() + PATIENCE_NS;
		if (now_ns() > end)
			errx(1, "no answer: %u instead of %u", value, number);
	}
	return value;
}

/* ---- verbs ---- */

/* Find the first GID that is made from an IPv4 address, and set verbs.gid_index. */
static void find_gid(union ibv_gid *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	for (verbs.gid_index = 0; verbs.gid_index < 16; verbs.gid_index++)
		if (!ibv_query_gid(verbs.context, 1, verbs.gid_index, gid) &&
		    !memcmp(gid->raw, prefix, sizeof(prefix)))
			return;
	errx(1, "no GID of an IPv4 address");
}

static void open_verbs(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i] && strcmp(ibv_get_device_name(list[i]), name); i++)
		;
	if (!list || !list[i])
		errx(1, "%s: RDMA device not found", name);
	verbs.context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!verbs.context)
		err(1, "%s", name);
}

static void make_verbs(const char *name, struct card *own)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 2 * DEPTH, .max_recv_wr = 2 * DEPTH, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	open_verbs(name);
	verbs.memory = mmap(NULL, SPAN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	verbs.pd = ibv_alloc_pd(verbs.context);
	verbs.channel = ibv_create_comp_channel(verbs.context);
	verbs.sent = ibv_create_cq(verbs.context, 2 * DEPTH, NULL, NULL, 0);
	verbs.received = ibv_create_cq(verbs.context, 2 * DEPTH, NULL, verbs.channel, 0);
	if (!verbs.pd || !verbs.channel || !verbs.sent || !verbs.received || verbs.memory == MAP_FAILED)
		err(1, "verbs");
	verbs.mr = ibv_reg_mr(verbs.pd, verbs.memory, SPAN, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_READ);
	init.send_cq = verbs.sent;
	init.recv_cq = verbs.received;
	verbs.qp = ibv_create_qp(verbs.pd, &init);
	if (!verbs.mr || !verbs.qp)
		err(1, "ibv_create_qp");
	*own = (struct card){ .qpn = verbs.qp->qp_num, .rkey = verbs.mr->rkey, .addr = (uintptr_t)verbs.memory };
	find_gid(&own->gid);
}

static void post_recv(void)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)verbs.memory + SPAN - 64, .length = MESSAGE, .lkey = verbs.mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(verbs.qp, &wr, &bad))
		err(1, "ibv_post_recv");
}

static void connect_verbs(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
										   IBV_ACCESS_REMOTE_READ,
	};
	int i;

	if (ibv_modify_qp(verbs.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		err(1, "INIT");
	for (i = 0; i < DEPTH; i++)
		post_recv();
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = verbs.peer.qpn, .min_rnr_timer = 1,
		.max_dest_rd_atomic = DEPTH,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = verbs.peer.gid, .sgid_index = verbs.gid_index, .hop_limit = 64 } },
	};
	if (ibv_modify_qp(verbs.qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		err(1, "RTR");
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7,
				     .max_rd_atomic = DEPTH };
	if (ibv_modify_qp(verbs.qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		err(1, "RTS");
}

/*
 * Poll until at most MOST work requests are in flight. The completion of a signalled request also stands for the
 * unsignalled ones before it.
 */
static void reap(uint32_t most)
{
	struct ibv_wc wc;
	int n;

	while (verbs.flying > most) {
		n = ibv_poll_cq(verbs.sent, 1, &wc);
		if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
			errx(1, "completion: %s", n < 0 ? "error" : ibv_wc_status_str(wc.status));
		if (n)
			verbs.flying -= wc.wr_id;
		else
			sched_yield();
	}
}

/* Post a work request for the same OFFSET in both memories. Every SIGNAL-th request is signalled. */
static void post_send(enum ibv_wr_opcode opcode, uint32_t offset, uint32_t size, uint32_t signal)
{
	struct ibv_sge sge = { .addr = (uintptr_t)verbs.memory + offset, .length = size, .lkey = verbs.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { .remote_addr = verbs.peer.addr + offset, .rkey = verbs.peer.rkey },
	}, *bad;

	if (++verbs.unsignalled >= signal) {
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr_id = verbs.unsignalled;
		verbs.unsignalled = 0;
	}
	verbs.flying++;
	if (ibv_post_send(verbs.qp, &wr, &bad))
		err(1, "ibv_post_send");
}

/* Sleep until a message arrives, and return its number. */
static uint32_t receive(void)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;
	uint32_t value;
	int n;

	while (!(n = ibv_poll_cq(verbs.received, 1, &wc))) {
		if (ibv_req_notify_cq(verbs.received, 0))
			err(1, "ibv_req_notify_cq");
		n = ibv_poll_cq(verbs.received, 1, &wc);
		if (n)
			break;
		if (ibv_get_cq_event(verbs.channel, &cq, &context))
			err(1, "ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
	if (n < 0 || wc.status != IBV_WC_SUCCESS)
		errx(1, "receive: %s", n < 0 ? "error" : ibv_wc_status_str(wc.status));
	memcpy(&value, verbs.memory + SPAN - 64, sizeof(value));
	post_recv();
	return value;
}

static void raw_put(uint32_t offset, uint32_t value)
{
	*(volatile uint64_t *)(verbs.memory + offset) = value;
	reap(DEPTH - 1);
	post_send(IBV_WR_RDMA_WRITE, offset, 8, SIGNAL_EVERY);
}

static void raw_send(uint32_t value)
{
	reap(DEPTH - 1);
	memcpy(verbs.memory + SPAN - 128, &value, sizeof(value));
	post_send(IBV_WR_SEND, SPAN - 128, MESSAGE, SIGNAL_EVERY);
}

/* ---- devices ---- */

struct rfm open_rfm(const char *path)
{
	struct rfm rfm = { .fd = open(path, O_RDWR) };

	if (rfm.fd < 0)
		err(1, "%s", path);
	rfm.size = lseek(rfm.fd, 0, SEEK_END);
	rfm.memory = mmap(NULL, SPAN, PROT_READ | PROT_WRITE, MAP_SHARED, rfm.fd, 0);
	rfm.manual = mmap(NULL, SPAN, PROT_READ | PROT_WRITE, MAP_SHARED, rfm.fd, VRFM_MMAP_MANUAL);
	if (rfm.memory == MAP_FAILED || rfm.manual == MAP_FAILED)
		err(1, "%s: mmap", path);
	return rfm;
}

static void rfm_put(const struct rfm *rfm, uint32_t offset, uint32_t value)
{
	uint64_t word = value;

	if (pwrite(rfm->fd, &word, sizeof(word), offset) != sizeof(word))
		err(1, "write");
}

static void rfm_store(const struct rfm *rfm, uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(rfm->memory + offset) = value;
}

void rfm_send(const struct rfm *rfm, uint32_t event, uint32_t node, uint32_t value)
{
	struct rfm2g_event_info info = { .event = event, .node_id = node, .extended_info = value };

	if (ioctl(rfm->fd, RFM2G_SEND_EVENT, &info))
		err(1, "RFM2G_SEND_EVENT");
}

uint32_t rfm_wait(const struct rfm *rfm)
{
	struct rfm2g_event_info info = { .event = RFM2G_EVENT_INTR1, .timeout = PATIENCE_NS / 1000000 };

	if (ioctl(rfm->fd, RFM2G_WAIT_FOR_EVENT, &info))
		err(1, "RFM2G_WAIT_FOR_EVENT");
	return info.extended_info;
}

static void rfm_enable(const struct rfm *rfm)
{
	struct rfm2g_event_info info = { .event = RFM2G_EVENT_INTR1 };

	if (ioctl(rfm->fd, RFM2G_ENABLE_EVENT, &info))
		err(1, "RFM2G_ENABLE_EVENT");
}

/* ---- functions for both sides of a round trip ---- */

/* Ring that takes the events of a turn of the variant ring. */
static struct ring events;

static void begin_turn(char variant, const struct rfm *rfm)
{
	if (variant == 'e')
		ring_open_events(&events, rfm);
}

static void end_turn(char variant)
{
	if (variant == 'e')
		ring_close(&events);
}

static void put(char variant, const struct rfm *rfm, uint32_t offset, uint32_t value)
{
	if (variant == 'r')
		raw_put(offset, value);
	else if (variant == 's')
		rfm_store(rfm, offset, value);
	else if (variant == 'p')
		publish(rfm, offset, value);
	else
		rfm_put(rfm, offset, value);
}

static volatile uint8_t *memory_of(char variant, const struct rfm *rfm)
{
	return variant == 'r' ? verbs.memory : rfm->memory;
}

static void say(char variant, const struct rfm *rfm, uint32_t node, uint32_t value)
{
	if (variant == 'r')
		raw_send(value);
	else
		rfm_send(rfm, RFM2G_EVENT_INTR1, node, value);
}

static uint32_t hear(char variant, const struct rfm *rfm)
{
	return variant == 'r' ? receive() : variant == 'e' ? ring_wait_event(&events) : rfm_wait(rfm);
}

/* ---- the server ---- */

static void answer(int fd, const struct request *request, const struct rfm *rfm)
{
	uint32_t i = request->from, value = 0;

	begin_turn(request->variant, rfm);
	if (write(fd, "", 1) != 1)
		err(1, "ready");
	for (; !(value & LAST); i++) {
		if (request->test == 'p') {
			value = await(memory_of(request->variant, rfm) + MINE, i);
			put(request->variant, rfm, THEIRS, i);
		} else {
			value = hear(request->variant, rfm);
			say(request->variant, rfm, 1, i);
		}
	}
	end_turn(request->variant);
}

static int serve(char **arg)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(atoi(arg[2])) };
	struct rfm slow = open_rfm(arg[3]), fast = open_rfm(arg[4]);
	int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	struct request request;
	struct card own;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)) || listen(listener, 1))
		err(1, "listen");
	rfm_enable(&slow);
	fd = accept(listener, NULL, NULL);
	make_verbs(arg[0], &own);
	if (write(fd, &own, sizeof(own)) != sizeof(own) ||
	    recv(fd, &verbs.peer, sizeof(own), MSG_WAITALL) != sizeof(own))
		err(1, "greeting");
	connect_verbs();
	if (write(fd, "", 1) != 1)
		err(1, "greeting");
	while (recv(fd, &request, sizeof(request), MSG_WAITALL) == sizeof(request))
		answer(fd, &request, request.variant == 's' ? &fast : &slow);
	return 0;
}

/* ---- the client ---- */

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sort COUNT samples, and set the figures of RESULT about them. */
static void rank(size_t count, struct result *result)
{
	size_t i;

	qsort(samples, count, sizeof(*samples), compare);
	result->min = samples[0];
	for (i = 0; i < BENCH_QUANTILES; i++)
		result->quantiles[i] = samples[count * bench_quantiles[i].of_1000 / 1000];
	result->max = samples[count - 1];
}

static void ask(const struct job *job, char test, char variant)
{
	struct request request = { .test = test, .variant = variant, .from = counter + 1 };
	char ready;

	/* An event that came before the server has its ring would be lost. */
	if (write(job->control, &request, sizeof(request)) != sizeof(request) ||
	    recv(job->control, &ready, 1, MSG_WAITALL) != 1)
		err(1, "request");
}

/* Run a round trip. If LAST is not 0, the server ends its turn afterwards. */
static void trip(char test, char variant, const struct rfm *rfm, uint32_t last)
{
	counter++;
	if (test == 'p') {
		put(variant, rfm, MINE, counter | last);
		await(memory_of(variant, rfm) + THEIRS, counter);
	} else {
		say(variant, rfm, 2, counter | last);
		hear(variant, rfm);
	}
}

static void trips(const struct job *job, char test, char variant, const struct rfm *rfm, struct result *result)
{
	uint64_t begin, start, end;

	begin_turn(variant, rfm);
	ask(job, test, variant);
	begin = now_ns();
	start = begin;
	do {
		trip(test, variant, rfm, 0);
		end = now_ns();
		samples[result->n++] = end - start;
		start = end;
	} while (result->n < SAMPLES && end - begin < job->ms * 1000000ull);
	trip(test, variant, rfm, LAST);
	end_turn(variant);
	result->ns = end - begin;
	rank(result->n, result);
}

/* Return the number of operations between two reads of the clock. On emulated processors a read is a system call. */
static uint32_t batch(const struct job *job)
{
	return job->size >= 65536 ? 1 : job->size >= 4096 ? 16 : 64;
}

static void raw_rate(const struct job *job, struct result *result)
{
	uint64_t begin = now_ns();
	uint32_t i;

	do {
		for (i = 0; i < batch(job); i++, result->n++) {
			reap(DEPTH - 1);
			post_send(IBV_WR_RDMA_WRITE, result->n * job->size % (SPAN - 2 * job->size) & ~7, job->size, 1);
		}
	} while (now_ns() - begin < job->ms * 1000000ull);
	reap(0);
	result->ns = now_ns() - begin;
}

static void raw_pages(struct result *result)
{
	uint64_t begin = now_ns();

	for (; result->n < PAGES; result->n++) {
		reap(DEPTH - 1);
		post_send(IBV_WR_RDMA_READ, result->n * 10 * PAGE % (SPAN - PAGE) & ~(PAGE - 1), PAGE, 1);
	}
	reap(0);
	result->ns = now_ns() - begin;
}

uint8_t block[1 << 20];

/* Return the sum of the idle times of all processors, with a resolution of 10 ms. */
static uint64_t idle_ns(void)
{
	FILE *file = fopen("/proc/uptime", "r");
	double idle;

	if (!file || fscanf(file, "%*f %lf", &idle) != 1)
		errx(1, "/proc/uptime");
	fclose(file);
	return idle * 1e9;
}

/* Write as fast as possible. The times of operations are those of several writes, divided by their number. */
static void rate(const struct job *job, const struct rfm *rfm, struct ring *tap, struct result *result)
{
	uint64_t messages = messages_sent(rfm), idle = idle_ns(), begin = now_ns(), room = rfm->size - 2 * job->size;
	uint32_t i, count = 0;
	uint64_t start;

	do {
		start = now_ns();
		for (i = 0; i < batch(job); i++, result->n++)
			if (pwrite(rfm->fd, block, job->size, result->n * job->stride % room & ~7) != job->size)
				err(1, "write");
		if (count < SAMPLES)
			samples[count++] = (now_ns() - start) / batch(job);
		if (tap)
			ring_release_all(tap);
	} while (now_ns() - begin < job->ms * 1000000ull);
	if (fsync(rfm->fd))
		err(1, "fsync");
	result->ns = now_ns() - begin;
	result->cpu_ns = get_nprocs() * result->ns - (idle_ns() - idle);
	result->messages = messages_sent(rfm) - messages;
	rank(count, result);
}

/*
 * The test "rate" with a tap. That of the variant "idle" records events only, and no program sends any. The device
 * switches off the hooks of taps a second after the last tap. Wait that long, because the next turn may have no tap.
 */
static void tapped_rate(const struct job *job, const struct rfm *rfm, char letter, struct result *result)
{
	const uint32_t kinds = letter == 'i' ? VRFM_TAP_KIND(VRFM_REC_RAISED) : VRFM_TAP_KINDS;
	struct ring tap;

	ring_open_tap(&tap, rfm, kinds, letter == 'c' ? PAGE : 0);
	rate(job, rfm, &tap, result);
	ring_close(&tap);
	sleep(2);
}

static void read_rate(const struct job *job, const volatile void *from, struct result *result)
{
	static uint8_t to[1 << 20];
	uint64_t begin = now_ns();

	do {
		memcpy(to, (const void *)from, sizeof(to));
		__asm__ volatile("" : : "r"(to) : "memory");
		result->n++;
	} while (now_ns() - begin < job->ms * 1000000ull);
	result->ns = now_ns() - begin;
}

/* Allocate memory with small pages, because the memory of a device has small pages. */
static void *plain_memory(void)
{
	void *memory = mmap(NULL, SPAN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "memory");
	madvise(memory, SPAN, MADV_NOHUGEPAGE);
	memset(memory, 1, SPAN);
	return memory;
}

static const struct variant {
	const char *name;
	const char *device;
	char letter;
} variants[] = {
	{ "raw", NULL, 'r' }, { "vrfm", "/dev/rfm2g0", 'v' }, { "store", "/dev/rfm2g2", 's' },
	{ "alone", "/dev/rfm2g4", 'v' }, { "three", "/dev/rfm2g5", 'v' }, { "plain", NULL, 'm' },
	{ "manual", "/dev/rfm2g0", 'p' }, { "ring", "/dev/rfm2g0", 'e' }, { "batch", "/dev/rfm2g0", 'b' },
	{ "tapped", "/dev/rfm2g0", 't' }, { "copied", "/dev/rfm2g0", 'c' },
	{ "idle", "/dev/rfm2g0", 'i' },
	{ "small", "/dev/rfm2g0", 'v' }, { "large", "/dev/rfm2g2", 'v' },
	{ "one", "/dev/rfm2g0", 'v' }, { "two", "/dev/rfm2g1", 'v' }, { "four", "/dev/rfm2g2", 'v' },
	{ "eight", "/dev/rfm2g3", 'v' }, { "sixteen", "/dev/rfm2g4", 'v' },
};

/* A variant, and the device or memory that it uses. */
struct turn {
	const struct variant *variant;
	struct rfm rfm;
};

static void run(const struct job *job, const char *test, const struct turn *turn, struct result *result)
{
	char letter = turn->variant->letter;

	if (!strcmp(test, "rate") && letter == 'r')
		raw_rate(job, result);
	else if (!strcmp(test, "rate") && strchr("tci", letter))
		tapped_rate(job, &turn->rfm, letter, result);
	else if (!strcmp(test, "rate"))
		rate(job, &turn->rfm, NULL, result);
	else if (!strcmp(test, "pages"))
		raw_pages(result);
	else if (!strcmp(test, "read"))
		read_rate(job, turn->rfm.memory, result);
	else if (!strcmp(test, "burst"))
		burst(job, letter, &turn->rfm, result);
	else if (!strcmp(test, "cover"))
		cover(job, letter, &turn->rfm, result);
	else if (!strcmp(test, "control"))
		control(job, letter, &turn->rfm, result);
	else if (!strcmp(test, "update"))
		update(job, letter, &turn->rfm, result);
	else
		trips(job, *test, letter, &turn->rfm, result);
}

static void open_turn(struct turn *turn, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(variants) / sizeof(*variants) && strcmp(variants[i].name, name); i++)
		;
	if (i == sizeof(variants) / sizeof(*variants))
		errx(1, "%s: no such variant", name);
	turn->variant = &variants[i];
	if (variants[i].device)
		turn->rfm = open_rfm(variants[i].device);
	else if (variants[i].letter == 'm')
		turn->rfm.memory = plain_memory();
	if (variants[i].device)
		rfm_enable(&turn->rfm);
}

static void report(const char *name, uint32_t round, const struct result *result)
{
	size_t i;

	printf("%s %u n=%llu ns=%llu", name, round, (unsigned long long)result->n, (unsigned long long)result->ns);
	if (result->cpu_ns)
		printf(" cpu_ns=%llu", (unsigned long long)result->cpu_ns);
	if (result->calls)
		printf(" calls=%llu", (unsigned long long)result->calls);
	if (result->messages)
		printf(" messages=%llu", (unsigned long long)result->messages);
	if (result->max) {
		printf(" min=%llu", (unsigned long long)result->min);
		for (i = 0; i < BENCH_QUANTILES; i++)
			printf(" %s=%llu", bench_quantiles[i].name, (unsigned long long)result->quantiles[i]);
		printf(" max=%llu", (unsigned long long)result->max);
	}
	putchar('\n');
}

static void rounds(const struct job *job, const char *test, char *names)
{
	struct turn turns[TURNS] = { };
	struct result result;
	uint32_t n, round, i, at;
	char *name;

	for (n = 0; n < TURNS && (name = strsep(&names, ",")); n++)
		open_turn(&turns[n], name);
	for (round = 0; round <= job->rounds; round++) {
		for (i = 0; i < n; i++) {
			at = round & 1 ? n - 1 - i : i;
			result = (struct result){ };
			run(job, test, &turns[at], &result);
			if (!round)
				continue;
			report(turns[at].variant->name, round, &result);
		}
	}
}

static int dial(const char *device, const char *host, const char *port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	struct card own;
	char ready;
	int i, fd;

	inet_pton(AF_INET, host, &addr.sin_addr);
	for (i = 0; i < 100; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			break;
		close(fd);
		usleep(50000);
	}
	make_verbs(device, &own);
	if (recv(fd, &verbs.peer, sizeof(own), MSG_WAITALL) != sizeof(own) ||
	    write(fd, &own, sizeof(own)) != sizeof(own))
		err(1, "greeting");
	connect_verbs();
	if (recv(fd, &ready, 1, MSG_WAITALL) != 1)
		err(1, "greeting");
	return fd;
}

/* Check whether a test needs a server, as round trips and the variant raw do. */
static bool needs_server(const char *test, const char *names)
{
	return !strcmp(test, "ping") || !strcmp(test, "event") || strstr(names, "raw");
}

static int longest(char **arg)
{
	struct rfm rfm = open_rfm(arg[0]);
	const struct timespec pause = { .tv_nsec = 100000 };
	uint64_t begin = now_ns(), end = begin + atoi(arg[2]) * 1000000ull, start, took;
	uint32_t size = atoi(arg[1]);
	struct result result = { };

	while ((start = now_ns()) < end) {
		if (pwrite(rfm.fd, block, size, result.n++ * size % (SPAN - size) & ~7) != size)
			err(1, "write");
		took = now_ns() - start;
		result.max = took > result.max ? took : result.max;
		nanosleep(&pause, NULL);
	}
	printf("n=%llu ns=%llu max=%llu\n", (unsigned long long)result.n, (unsigned long long)(end - begin),
	       (unsigned long long)result.max);
	return 0;
}

/* Set a real-time priority, as control loops do. */
static void be_in_time(void)
{
	struct sched_param param = { .sched_priority = 50 };

	if (mlockall(MCL_CURRENT | MCL_FUTURE) || sched_setscheduler(0, SCHED_FIFO, &param))
		err(1, "real time");
}

/* Advance @at by a millisecond, and sleep until then. */
static void next_ms(struct timespec *at)
{
	at->tv_nsec += 1000000;
	if (at->tv_nsec >= 1000000000) {
		at->tv_nsec -= 1000000000;
		at->tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL);
}

/* Write 4 bytes every ms with real-time priority, by a function that returns the number of its system calls. */
static int in_time(const struct rfm *rfm, char **arg, uint32_t (*put)(const struct rfm *rfm, uint32_t value))
{
	uint32_t n, count = atoi(arg[1]);
	struct result result = { .n = count, .ns = count * 1000000ull };
	struct timespec at;
	uint64_t start;

	if (!count || count > SAMPLES)
		errx(2, "%u writes", count);
	be_in_time();
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (n = 0; n < count; n++) {
		next_ms(&at);
		start = now_ns();
		result.calls += put(rfm, n);
		samples[n] = now_ns() - start;
	}
	rank(result.n, &result);
	report(arg[2], atoi(arg[3]), &result);
	return 0;
}

static uint32_t poke(const struct rfm *rfm, uint32_t value)
{
	if (pwrite(rfm->fd, &value, sizeof(value), SPAN) != sizeof(value))
		err(1, "write");
	return 1;
}

static int poker(char **arg)
{
	const struct rfm rfm = open_rfm(arg[0]);

	return in_time(&rfm, arg, poke);
}

static uint32_t feed(const struct rfm *rfm, uint32_t value)
{
	(void)rfm;
	return feed_word(SPAN, value);
}

/* As poker, but another thread executes the writes. */
static int feeder(char **arg)
{
	const struct rfm rfm = open_rfm(arg[0]);

	feed_begin(&rfm);
	return in_time(&rfm, arg, feed);
}

static void store_pages(const struct rfm *rfm, uint32_t pages, uint32_t value)
{
	uint32_t i;

	for (i = 0; i < pages; i++)
		rfm_store(rfm, i * PAGE, value);
}

static int dirty(char **arg)
{
	struct rfm rfm = open_rfm(arg[0]);
	uint32_t pages = atoi(arg[1]), n;

	for (n = 1;; n++) {
		store_pages(&rfm, pages, n);
		usleep(1000);
	}
	return 0;	/* gcc demands it, although the loop never ends */
}

static int cycle(char **arg)
{
	struct rfm rfm = open_rfm(arg[0]);
	uint32_t pages = atoi(arg[1]), n, count = atoi(arg[2]);
	struct vrfm_claim claim = { .length = pages * PAGE };
	struct timespec at;

	if (ioctl(rfm.fd, VRFM_CLAIM, &claim))
		err(1, "VRFM_CLAIM");
	be_in_time();
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (n = 1; n <= count; n++) {
		next_ms(&at);
		store_pages(&rfm, pages, n);
	}
	printf("%u\n", count);
	return 0;
}

int main(int argc, char **argv)
{
	struct job job = { .size = 8, .ms = 500 };
	int i;

	if (argc == 7 && !strcmp(argv[1], "serve"))
		return serve(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "longest"))
		return longest(argv + 2);
	if (argc == 6 && !strcmp(argv[1], "poker"))
		return poker(argv + 2);
	if (argc == 6 && !strcmp(argv[1], "feeder"))
		return feeder(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "dirty"))
		return dirty(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "cycle"))
		return cycle(argv + 2);
	if (argc < 7)
		errx(2, "see vbench.c");
	job.rounds = atoi(argv[6]);
	for (i = 7; i < argc; i++)
		if (sscanf(argv[i], "size=%u", &job.size) != 1 && sscanf(argv[i], "ms=%u", &job.ms) != 1 &&
		    sscanf(argv[i], "stride=%u", &job.stride) != 1)
			errx(2, "%s: size=..., stride=... or ms=...", argv[i]);
	if (!job.stride)
		job.stride = job.size;
	if (needs_server(argv[1], argv[2]))
		job.control = dial(argv[3], argv[4], argv[5]);
	rounds(&job, argv[1], argv[2]);
	return 0;
}
