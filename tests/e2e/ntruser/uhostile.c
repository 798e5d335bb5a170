// SPDX-License-Identifier: GPL-2.0
/*
 * uhostile: programs that end at any time, or do not follow the rules, on a device of ntrdma.
 *
 *   uhostile DEVICE GID kill N        kill 3 * N programs at random moments, while they transfer data
 *   uhostile DEVICE GID scribble S    for S seconds, programs write random bytes to the queues that the library shares
 *   uhostile DEVICE GID threads S     for S seconds, threads reset and connect a QP, post to it, and move its indexes
 *   uhostile DEVICE GID faults N      create and use each kind of object while the first allocation fails, then the
 *                                     second one, and so on, until no allocation fails, at most N times
 *
 * GID is the index of the GID. The exit status is 0 if programs have made progress, and all could be ended in time.
 */
#include "pair.h"

/* Maximum time until a program has set up its QPs on a slow machine, in s. */
#define SETUP 30

/* Progress of all programs, in shared memory. */
static unsigned int *progress;

static void step(void)
{
	__atomic_add_fetch(progress, 1, __ATOMIC_RELAXED);
}

/* Transfer data in both directions until the program is killed. */
static void traffic(void)
{
	struct ibv_sge from = sge_of(0, 3000), to = sge_of(THERE, 3000);
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc[16];

	pair(IBV_QPT_RC);
	for (int n = 0;; n++) {
		struct ibv_qp *qp = n & 1 ? a : b;

		receive(n & 1 ? b : a, &to, 1);
		wr = request(n % 3 ? IBV_WR_SEND : IBV_WR_RDMA_READ, &from, 1, THERE);
		ibv_post_send(qp, &wr, &bad);
		while (ibv_poll_cq(cq, 16, wc) > 0)
			if (wc[0].status == IBV_WC_SUCCESS)
				step();
	}
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	must(pid >= 0, "no process");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_device();
	run();
	exit(0);
}

static void kill_programs(int n)
{
	for (int i = 0; i < n; i++) {
		unsigned int before = *progress;
		time_t end = time(NULL) + 20;
		pid_t pid[3];

		for (int k = 0; k < 3; k++)
			pid[k] = start(traffic);
		while (*progress == before && time(NULL) < end)
			usleep(1000);
		usleep(rand() % 30000);
		for (int k = 0; k < 3; k++) {
			kill(pid[k], SIGKILL);
			waitpid(pid[k], NULL, 0);
		}
		must(*progress != before, "no program has transferred data");
	}
}

/* The library may crash, or loop, because of what it finds in its queues. */
static void scribbled(void)
{
	unsigned int seed = getpid() ^ time(NULL);
	size_t bytes = 0;
	uint8_t *queue;

	signal(SIGALRM, SIG_DFL);
	alarm(SETUP);
	pair(IBV_QPT_RC);
	alarm(2);
	for (;;) {
		queue = shared(rand_r(&seed) % 5, &bytes);
		for (int i = 0; queue && i < 50; i++) {
			size_t index = rand_r(&seed) & 1 ? offsetof(struct rxe_queue_buf, producer_index) :
							   offsetof(struct rxe_queue_buf, consumer_index);
			size_t at = rand_r(&seed) % 4 ? rand_r(&seed) % bytes : index;

			((volatile uint8_t *)queue)[at] = rand_r(&seed) % 3 ? rand_r(&seed) : 0xff;
		}
		if (!ring(rand_r(&seed) & 1 ? a : b))
			step();
		if (!(rand_r(&seed) % 50)) {
			set_state(a, IBV_QPS_ERR);
			ring(a);
			set_state(a, IBV_QPS_RESET);
			set_state(b, IBV_QPS_RESET);
			connect_qps(1);
		}
	}
}

static void scribble(int seconds)
{
	time_t end = time(NULL) + seconds;

	/* On a slow machine, it takes longer until the programs have posted 1000 times. The caller limits the time. */
	while (time(NULL) < end || *progress <= 1000) {
		pid_t pid[2] = { start(scribbled), start(scribbled) };

		for (int k = 0; k < 2; k++)
			waitpid(pid[k], NULL, 0);
	}
}

static volatile int over;

static void *resets(void *unused)
{
	unsigned int seed = (uintptr_t)&seed;

	while (!over) {
		set_state(a, IBV_QPS_RESET);
		set_init(a);
		/* The number of the peer decides which lane the QP uses. */
		set_rtr(a, rand_r(&seed) & 1 ? b->qp_num : b->qp_num ^ 1, 4);
		if (!set_rts(a, 4, 1))
			step();
		if (!(rand_r(&seed) % 4))
			set_state(a, IBV_QPS_ERR);
		if (!(rand_r(&seed) % 16)) {
			set_state(b, IBV_QPS_RESET);
			set_init(b);
			set_rtr(b, a->qp_num, 4);
			set_rts(b, 4, 1);
		}
	}
	return unused;
}

static void *posts(void *unused)
{
	while (!over) {
		ring(a);
		ring(b);
	}
	return unused;
}

/* Whatever the kernel takes, let there always be more, and take whatever it adds. */
static void *moves(void *unused)
{
	size_t bytes;
	uint8_t *queue;

	while (!over)
		for (unsigned int i = 0; (queue = shared(i, &bytes)); i++)
			for (int k = 0; k < 10000; k++) {
				struct rxe_queue_buf *buf = (void *)queue;
				uint32_t cons = __atomic_load_n(&buf->consumer_index, __ATOMIC_ACQUIRE);
				uint32_t prod = __atomic_load_n(&buf->producer_index, __ATOMIC_ACQUIRE);

				if (k & 1)
					__atomic_store_n(&buf->consumer_index, prod, __ATOMIC_RELEASE);
				else
					__atomic_store_n(&buf->producer_index, (cons - 1) & buf->index_mask,
							 __ATOMIC_RELEASE);
			}
	return unused;
}

/* Keep all queues full. */
static void *pushes(void *unused)
{
	struct rxe_queue_buf *queue;
	size_t bytes;

	while (!over)
		for (unsigned int i = 0; (queue = (void *)shared(i, &bytes)); i++)
			for (int k = 0; k < 1000; k++)
				__atomic_store_n(&queue->producer_index,
						 (queue->consumer_index - 1) & queue->index_mask, __ATOMIC_RELEASE);
	return unused;
}

static void threads(int seconds)
{
	void *(*const run[])(void *) = { resets, resets, posts, posts, moves };
	pthread_t thread[5];

	signal(SIGALRM, SIG_DFL);
	alarm(seconds + 100);
	open_device();
	pair(IBV_QPT_RC);
	for (int i = 0; i < 5; i++)
		must(!pthread_create(&thread[i], NULL, run[i], NULL), "no thread");
	sleep(seconds);
	__atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 5; i++)
		pthread_join(thread[i], NULL);
	/* A post ends although the queue never becomes empty. */
	over = 0;
	must(!pthread_create(&thread[0], NULL, pushes, NULL), "no thread");
	set_state(a, IBV_QPS_ERR);
	for (int i = 0; i < 10; i++)
		ring(a);
	over = 1;
	pthread_join(thread[0], NULL);
	must(*progress > 10, "the QP was hardly connected");
	must(!ibv_destroy_qp(a) && !ibv_destroy_qp(b), "a QP is not destroyed");
	must(!ibv_destroy_cq(cq), "the CQ is not destroyed");
}

/* Write N to the file of this task, or return what is left if N is -1. */
static int fail_nth(int n)
{
	char text[16] = "";
	int fd = open("/proc/thread-self/fail-nth", O_RDWR);
	int left = 0;

	must(fd >= 0, "no fail-nth");
	if (n < 0) {
		left = read(fd, text, sizeof(text) - 1) > 0 ? atoi(text) : 0;
		n = 0;
	}
	snprintf(text, sizeof(text), "%d", n);
	must(write(fd, text, strlen(text)) > 0, "no fail-nth");
	close(fd);
	return left;
}

/* Create each kind of object and transfer data. Any failure ends the program. */
static void use_all(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = DEPTH, .max_sge = SGES } };
	struct ibv_sge from = sge_of(0, 5000), to = sge_of(THERE, 5000);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &from, 1, 0);
	struct ibv_ah_attr attr = address();

	must(!!ibv_create_ah(pd, &attr), "no address handle");
	pair(IBV_QPT_RC);
	must(!receive(b, &to, 1), "no receive");
	post(a, &wr);
	completion(7, IBV_WC_SUCCESS);
	completion(1000, IBV_WC_SUCCESS);
	srq = ibv_create_srq(pd, &init);
	must(!!srq, "no SRQ");
	must(!!create(IBV_QPT_RC), "no QP with an SRQ");
	must(!ibv_dereg_mr(mr), "the region is not destroyed");
}

/* The exit status is 0 if the allocation has failed, whatever the result; 3 if there was no such allocation. */
static int attempt(int n)
{
	pid_t pid = fork();
	int status;

	must(pid >= 0, "no process");
	if (!pid) {
		alarm(60);
		must(!!freopen("/dev/null", "w", stdout), "no output");
		fail_nth(n);
		open_device();
		use_all();
		exit(fail_nth(-1) ? 3 : 0);
	}
	waitpid(pid, &status, 0);
	must(WIFEXITED(status), "a program has crashed, or waits");
	return WEXITSTATUS(status);
}

/*
 * The list makes the library read its files now, and the first program brings its code into memory. A network file
 * system with the library does not work any more after one of its allocations has failed.
 */
static void faults(int most)
{
	int n = 1;

	must(!!ibv_get_device_list(NULL), "no devices");
	must(!attempt(0), "a program fails without a failed allocation");
	while (n < most && attempt(n) != 3)
		n++;
	printf("%d allocations\n", n - 1);
	must(n < most && n > 50, "not the expected number of allocations");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 5)
		return 2;
	device_name = argv[1];
	gid_index = atoi(argv[2]);
	progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(progress != MAP_FAILED, "no memory");
	if (!strcmp(argv[3], "kill"))
		kill_programs(atoi(argv[4]));
	else if (!strcmp(argv[3], "scribble"))
		scribble(atoi(argv[4]));
	else if (!strcmp(argv[3], "faults"))
		faults(atoi(argv[4]));
	else
		threads(atoi(argv[4]));
	return 0;
}
