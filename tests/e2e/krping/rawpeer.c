// SPDX-License-Identifier: GPL-2.0
/*
 * rawpeer ADDRESS PORT BYTES: an RDMA target that knows nothing of krping_blk,
 * such as an adapter with memory of its own. It accepts each connection, and
 * lets the peer write and read BYTES at the fixed address 0x61000000. It prints
 * the key of this memory, and sends no message.
 *
 * The memory is descriptor 3, so /proc/PID/fd/3 is its content. It is 0xff at
 * first, so that zeroes are noticed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *const place = (void *)0x61000000;

static void *memory(size_t len)
{
	int fd = memfd_create("rawpeer", 0);
	void *at;

	if (fd < 0 || ftruncate(fd, len))
		err(1, "memory");
	if (fd != 3 && dup2(fd, 3) != 3)
		err(1, "descriptor 3");
	at = mmap(place, len, PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_FIXED_NOREPLACE, 3, 0);
	if (at != place)
		err(1, "mmap");
	memset(at, 0xff, len);
	return at;
}

static struct rdma_cm_id *listener(struct rdma_event_channel *channel,
				   const char *addr, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct rdma_cm_id *id;

	sin.sin_port = htons(atoi(port));
	if (inet_pton(AF_INET, addr, &sin.sin_addr) != 1)
		errx(2, "address %s", addr);
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&sin) || rdma_listen(id, 4))
		err(1, "listen");
	return id;
}

static void accept_one(struct rdma_cm_id *id, struct ibv_pd *pd)
{
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
	};

	if (!cq || rdma_create_qp(id, pd, &attr) || rdma_accept(id, &param))
		err(1, "accept");
}

static void end_one(struct rdma_cm_id *id)
{
	struct ibv_cq *cq = id->send_cq ? id->send_cq : id->qp->send_cq;

	rdma_destroy_qp(id);
	ibv_destroy_cq(cq);
	rdma_destroy_id(id);
}

/* Handle an event. Destroying an ID waits until its events are acknowledged. */
static void handle(struct rdma_event_channel *channel, struct ibv_pd *pd)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		err(1, "event");
	type = event->event;
	id = event->id;
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		accept_one(id, pd);
	else if (type == RDMA_CM_EVENT_DISCONNECTED ||
		 type == RDMA_CM_EVENT_CONNECT_ERROR)
		end_one(id);
}

int main(int argc, char **argv)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	size_t len;
	void *at;

	if (argc != 4)
		errx(2, "usage: rawpeer ADDRESS PORT BYTES");
	len = strtoul(argv[3], NULL, 0);
	at = memory(len);
	channel = rdma_create_event_channel();
	if (!channel)
		err(1, "channel");
	id = listener(channel, argv[1], argv[2]);
	pd = ibv_alloc_pd(id->verbs);
	mr = pd ? ibv_reg_mr(pd, at, len, access) : NULL;
	if (!mr)
		err(1, "register");
	printf("%#x\n", mr->rkey);
	fflush(stdout);
	for (;;)
		handle(channel, pd);
}
