// SPDX-License-Identifier: GPL-2.0
/*
 * newlink NAME INTERFACE: add an RDMA link of type "ntr", as "rdma link add" does, while the Nth allocation of the task
 * fails, for N = 1, 2, ... until no allocation fails. From N = EACH on, only a random one of STEP allocations fails,
 * because the core makes more than a thousand for files and events, and can do without most of them. Author: The krdma
 * developers.
 *
 * A device that exists after an attempt must have an active port, and is removed, except the last one. Print a line for
 * each result, "WRONG COUNT TEXT": WRONG is 0 if the result is allowed, and # for a comment. The exit status is 0 if
 * the last attempt, in which no allocation failed, has succeeded.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EACH 60
#define STEP 80
/* Limits of the number of allocations, and of the errnos that are counted on their own. */
#define MOST 10000
#define MOST_ERRNO 200
/* Number of attempts between two comments. */
#define OFTEN 100

struct request {
	struct nlmsghdr head;
	char attrs[256];
};

static const char *name;

static struct request request_of(int command, int flags)
{
	struct request request = {
		.head = {
			.nlmsg_len = NLMSG_HDRLEN,
			.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command),
			.nlmsg_flags = NLM_F_REQUEST | flags,
		},
	};

	return request;
}

static void add(struct request *request, int type, const void *value, size_t bytes)
{
	struct nlattr *attr = (void *)request + NLMSG_ALIGN(request->head.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + bytes;
	if (NLMSG_ALIGN(request->head.nlmsg_len) + attr->nla_len > sizeof(*request))
		errx(2, "too many attributes");
	memcpy((char *)attr + NLA_HDRLEN, value, bytes);
	request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) + NLA_ALIGN(attr->nla_len);
}

/* Send the request, and receive its first answer. Return the errno of the answer, or of the calls. */
static int call(int fd, const struct request *request, void *answer, size_t bytes)
{
	struct nlmsghdr *head = answer;

	if (send(fd, request, request->head.nlmsg_len, 0) < 0 || recv(fd, answer, bytes, MSG_DONTWAIT) < 0)
		return errno;
	return head->nlmsg_type == NLMSG_ERROR ? -((struct nlmsgerr *)NLMSG_DATA(head))->error : 0;
}

/* Return the index of the device if this answer is about it, or -1. */
static int index_in(const struct nlmsghdr *head)
{
	const char *end = (const char *)head + head->nlmsg_len, *at;
	const struct nlattr *attr;
	int index = -1, ours = 0;

	for (at = NLMSG_DATA(head); at + NLA_HDRLEN <= end; at += NLA_ALIGN(attr->nla_len)) {
		attr = (const void *)at;
		if (attr->nla_len < NLA_HDRLEN)
			break;
		if (attr->nla_type == RDMA_NLDEV_ATTR_DEV_INDEX)
			memcpy(&index, at + NLA_HDRLEN, sizeof(index));
		if (attr->nla_type == RDMA_NLDEV_ATTR_DEV_NAME)
			ours = !strcmp(at + NLA_HDRLEN, name);
	}
	return ours ? index : -1;
}

/* Return the index of the device, or -1. The kernel sends an answer for each device. */
static int find_index(int fd)
{
	struct request list = request_of(RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	char answer[4096];
	const struct nlmsghdr *head = (void *)answer;
	int found = -1, index, ret = call(fd, &list, answer, sizeof(answer));

	while (!ret && head->nlmsg_type != NLMSG_DONE) {
		index = index_in(head);
		found = index < 0 ? found : index;
		ret = recv(fd, answer, sizeof(answer), MSG_DONTWAIT) < 0;
	}
	return found;
}

/*
 * Let the Nth allocation of this task fail; 0: none. Return the number of allocations that were left until the one that
 * was to fail before: 0 if it has failed. The file is opened only once, because an allocation of open() could fail.
 */
static int fail_nth(int n)
{
	static int fd = -1;
	char digits[16] = "", text[16];
	int length = snprintf(text, sizeof(text), "%d", n);

	if (fd < 0)
		fd = open("/proc/self/fail-nth", O_RDWR);
	if (fd < 0 || pread(fd, digits, sizeof(digits) - 1, 0) <= 0 || pwrite(fd, text, length, 0) != length)
		err(2, "/proc/self/fail-nth");
	return atoi(digits);
}

/* Create the device while the allocation N fails. Return the errno, and set *FAILED if that allocation exists. */
static int attempt(const struct request *request, int n, int *failed)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	char answer[1024];
	int result;

	if (fd < 0)
		err(2, "socket");
	fail_nth(n);
	result = call(fd, request, answer, sizeof(answer));
	*failed = !fail_nth(0);
	close(fd);
	return result;
}

/* Wait up to 10 s until the port of the device is active. Return whether it is. */
static int active(void)
{
	char path[128], state[32] = "";
	FILE *port;
	int i;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/state", name);
	for (i = 0; i < 1000 && !strstr(state, "ACTIVE"); i++) {
		usleep(10000);
		port = fopen(path, "r");
		if (!port || !fgets(state, sizeof(state), port))
			state[0] = 0;
		if (port)
			fclose(port);
	}
	return i < 1000;
}

/* Wait up to 5 s until the device has no files. Return whether it still has them. */
static int stays(void)
{
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", name);
	for (i = 0; i < 500 && !access(path, F_OK); i++)
		usleep(10000);
	return i == 500;
}

/* A program for that would take longer than all else. */
static int delete_link(void)
{
	struct request request = request_of(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA);
	char answer[1024];
	int index, ret = ENOENT;

	if (fd < 0)
		err(2, "socket");
	index = find_index(fd);
	if (index >= 0) {
		add(&request, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
		ret = call(fd, &request, answer, sizeof(answer));
	}
	close(fd);
	return ret;
}

static void check(int n, int result)
{
	if (!result) {
		if (!active())
			printf("1 %d the device of attempt %d is not active\n", n, n);
		result = delete_link();
		if (result)
			printf("1 %d the removal fails with errno %d\n", n, result);
	}
	if (stays())
		printf("1 %d the device of attempt %d stays\n", n, n);
}

int main(int argc, char **argv)
{
	struct request request = request_of(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	int counts[MOST_ERRNO + 1] = {};
	int n, result, failed, i, attempts = 0;
	time_t start = time(NULL);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 3)
		errx(2, "usage: newlink NAME INTERFACE");
	name = argv[1];
	add(&request, RDMA_NLDEV_ATTR_DEV_NAME, name, strlen(name) + 1);
	add(&request, RDMA_NLDEV_ATTR_LINK_TYPE, "ntr", sizeof("ntr"));
	add(&request, RDMA_NLDEV_ATTR_NDEV_NAME, argv[2], strlen(argv[2]) + 1);
	srand(start);
	for (n = 1; n < MOST; n += n < EACH ? 1 : 1 + rand() % (2 * STEP - 1)) {
		result = attempt(&request, n, &failed);
		if (!failed)
			break;
		counts[result < MOST_ERRNO ? result : MOST_ERRNO]++;
		check(n, result);
		if (++attempts % OFTEN == 0)
			printf("# %d attempts in %ld s\n", attempts, time(NULL) - start);
	}
	/* ENOBUFS is for the message itself, and EAGAIN for the answer. */
	for (i = 0; i <= MOST_ERRNO; i++)
		if (counts[i])
			printf("%d %d errno %d\n", i && i != ENOMEM && i != ENOBUFS && i != EAGAIN, counts[i], i);
	printf("%d %d attempts, at most %d allocations, then errno %d\n", result || failed || n < EACH, attempts, n - 1,
	       result);
	return result || failed;
}
