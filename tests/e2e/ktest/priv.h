/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma_test - krdma's calls for shell scripts
 *
 * A command is one line written to /proc/krdma_test. It runs in the writing
 * task, so that killing this task ends a wait of the command. The command
 * "kthread" runs another command in a kernel thread. write() returns the errno
 * of the command, and read() on the same descriptor returns its result, "ret ms
 * text". A read() without a previous write() lists the slots. The command
 * "help" lists all commands, in the lines behind its result.
 *
 * A slot is a name for a connection or a listener. While one task waits in a
 * call, other tasks can query, disconnect and release the object of the slot.
 *
 * Lock order: ktest_mutex, ktest_slot.lock. Under these locks krdma is called
 * only to query an object, and to get or put a reference to it.
 */
#ifndef KRDMA_TEST_PRIV_H
#define KRDMA_TEST_PRIV_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include <krdma.h>

#define KTEST_NAME_LEN 24
#define KTEST_TEXT_LEN 560
#define KTEST_RAW_RECVS 8
#define KTEST_RAW_LEN 64

/*
 * Timeout of calls that are expected to succeed, in ms. Two debug kernels on
 * emulated processors need more than 10 s for the data of twenty connections.
 */
#define KTEST_WAIT_MS 40000

/**
 * struct ktest_raw - resources of the owner of a raw connection
 * @mr: MR that qp_ready allocates; the device cannot be removed before the MR
 *	is freed
 * @buf: memory of sends in the first half, of receives in the second half
 * @dma: DMA address of @buf
 * @dev: device for which @buf is mapped; NULL if @buf is not mapped
 * @send_cqe: CQE of the only send in flight
 * @recv_cqe: CQE of all receives
 * @sent: completion that the end of the send completes
 * @status: status of the last send
 * @received: number of receives that completed without error
 * @lock: protects @over; held during a send, so that @buf and @mr are not freed
 * @over: posting is not allowed any more, because the connection is released
 */
struct ktest_raw {
	struct ib_mr *mr;
	u8 *buf;
	u64 dma;
	struct ib_device *dev;
	struct ib_cqe send_cqe;
	struct ib_cqe recv_cqe;
	struct completion sent;
	enum ib_wc_status status;
	atomic_t received;
	struct mutex lock; /* protects @over */
	bool over;
};

/**
 * struct ktest_slot - a name for a krdma_cb
 * @link: in ktest_slots, under ktest_mutex
 * @ref: number of references: one for the list, one for each command that uses
 *	the slot, and one for @cb, put by the task that releases @cb
 * @net: network namespace in which @name is valid; two test nodes may be
 *	namespaces of one kernel
 * @name: name of the slot in commands
 * @lock: protects @cb, @asyncs and @in_space
 * @cb: connection or listener; the task that sets @cb to NULL releases it
 * @ret: result of the last call on @cb
 * @closing: reason that the closing callback got; 0 if it was not called
 * @is_raw: @cb is in raw mode
 * @raw: resources of the owner in raw mode
 * @pause_us: length of a pause in state KRDMA_NEW, and of another pause in the
 *	callback qp_ready, in us
 * @asyncs: requests that the write_space callback posts, or NULL
 * @in_space: number of running callbacks that use @asyncs
 */
struct ktest_slot {
	struct list_head link;
	struct kref ref;
	const struct net *net;
	char name[KTEST_NAME_LEN];
	spinlock_t lock; /* see @lock above */
	struct krdma_cb *cb;
	int ret;
	int closing;
	bool is_raw;
	struct ktest_raw raw;
	u32 pause_us;
	struct ktest_asyncs *asyncs;
	u32 in_space;
};

struct ktest_asyncs;
struct ktest_load;

/**
 * struct ktest_ctx - one run of a command
 * @net: network namespace of the task that wrote the command, even if a kernel
 *	thread runs the command
 * @text: text to print behind the result
 * @help: the command was "help", so print the list of commands as well
 */
struct ktest_ctx {
	struct net *net;
	char text[KTEST_TEXT_LEN];
	bool help;
};

/* Words of a command line; the first one is the name of the command. */
struct ktest_args {
	int n;
	char **words;
};

typedef int (*ktest_slot_call)(struct ktest_ctx *ctx,
			       const struct ktest_args *args,
			       struct ktest_slot *slot);

/* main.c */
struct ktest_slot *ktest_slot_find(const struct ktest_ctx *ctx,
				   const char *name);
struct ktest_slot *ktest_slot_make(const struct ktest_ctx *ctx,
				   const char *name);
void ktest_slot_put(struct ktest_slot *slot);
void ktest_slot_forget(struct ktest_slot *slot);
int ktest_slot_set(struct ktest_slot *slot, struct krdma_cb *cb);
struct krdma_cb *ktest_slot_get_cb(struct ktest_slot *slot);
struct krdma_cb *ktest_slot_take_cb(struct ktest_slot *slot);
int ktest_slot_release(struct ktest_slot *slot);

/* command.c */
int ktest_run(struct ktest_ctx *ctx, char *line);
bool ktest_is_named(const char *usage, const char *name);
char *ktest_help_text(const char *head);
int ktest_on_slot(struct ktest_ctx *ctx, const struct ktest_args *args,
		  ktest_slot_call call);
int ktest_dispatch(struct ktest_ctx *ctx, struct ktest_args *args);
const char *ktest_arg(const struct ktest_args *args, int i);
u32 ktest_number(const struct ktest_args *args, int i, u32 def);
u32 ktest_option(const struct ktest_args *args, const char *name, u32 def);
const char *ktest_text_option(const struct ktest_args *args, const char *name);

int ktest_fill_params(struct ktest_ctx *ctx, const struct ktest_args *args,
		      struct ktest_slot *slot, struct krdma_params *p,
		      struct sockaddr_storage *src);

/* traffic.c */
bool ktest_is_call(const char *name);
bool ktest_call_help(int i, const char **usage, const char **help);
int ktest_dispatch_call(struct ktest_ctx *ctx, const struct ktest_args *args);
int ktest_cmd_rounds(struct ktest_ctx *ctx, struct ktest_args *args);

void ktest_fill(u8 *buf, size_t len);
int ktest_check(const u8 *buf, size_t len);
void ktest_fill_seed(u8 *buf, size_t len, u32 seed);
int ktest_check_seed(const u8 *buf, size_t len, u32 seed);

/* load.c */
struct ktest_load *ktest_load_begin(u32 len, bool requests);
int ktest_load_end(struct ktest_load *load, u32 *requests);
int ktest_load_on(struct ktest_load *load, struct krdma_cb *cb, bool known);
int ktest_load_round(struct ktest_load *load, u32 timeout_ms);

/* long.c */
int ktest_long_send(const struct ktest_args *args, struct krdma_cb *cb);
int ktest_long_sendv(const struct ktest_args *args, struct krdma_cb *cb);
int ktest_long_receive(const struct ktest_args *args, struct krdma_cb *cb);

/* reconnect.c */
int ktest_cmd_reconnect(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_kept(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_brief(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_reconnect_end(void);

/* async.c */
extern const struct krdma_ops ktest_space_ops;
int ktest_do_async(struct ktest_ctx *ctx, const struct ktest_args *args,
		   struct krdma_cb *cb);

/* kill.c */
int ktest_cmd_kill(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_until(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_failnth(struct ktest_ctx *ctx, struct ktest_args *args);

/* many.c */
int ktest_cmd_server(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_clients(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_server_end(void);

/* rxcb.c */
int ktest_cmd_rxcb(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_do_talk(struct ktest_ctx *ctx, const struct ktest_args *args,
		  struct krdma_cb *cb, u8 *buf);
void ktest_rxcb_receive(struct krdma_cb *cb, struct krdma_rx_msg *rx_msg);
void ktest_rxcb_give_back(u32 keep);

/* tell.c */
int ktest_cmd_tell(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_stuck(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_do_ask(struct ktest_ctx *ctx, const struct ktest_args *args,
		 struct krdma_cb *cb);
struct krdma_remote *ktest_tell_import(struct krdma_cb *cb);
void ktest_tell_fill(struct krdma_req *req, u32 i, u32 len);
void ktest_tell_end(void);

/* domain.c */
struct krdma_domain *ktest_domain(u32 i);
int ktest_cmd_undomain(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_domains_end(void);

/* keys.c */
int ktest_fill_keys(const struct ktest_args *args, struct krdma_params *p);
int ktest_cmd_unkey(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_keys_end(void);

/* early.c */
int ktest_cmd_early(struct ktest_ctx *ctx, struct ktest_args *args);

/* hold.c */
int ktest_cmd_hold(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_hold_end(void);

/* late.c */
int ktest_do_late(const struct ktest_args *args, struct krdma_cb *cb);
int ktest_cmd_intime(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_late_end(void);

/* region.c */
int ktest_do_expose(struct ktest_ctx *ctx, const struct ktest_args *args,
		    struct krdma_cb *cb, u8 *buf);
int ktest_do_learn(const struct ktest_args *args, struct krdma_cb *cb, u8 *buf);
int ktest_do_fetch(const struct ktest_args *args, struct krdma_cb *cb);
int ktest_do_store(const struct ktest_args *args, struct krdma_cb *cb);
int ktest_do_regions(struct ktest_ctx *ctx, const struct ktest_args *args,
		     struct krdma_cb *cb);
int ktest_cmd_withdraw(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_forget(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_holds(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_regions_end(void);

/* spy.c */
int ktest_do_spy(const struct ktest_args *args, struct krdma_cb *cb);
int ktest_cmd_spied(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_spy_end(void);

/* wrap.c */
int ktest_do_wrap(const struct ktest_args *args, struct krdma_cb *cb);

/* wrong.c */
int ktest_do_wrong(const struct ktest_args *args, struct krdma_cb *cb);

/* job.c */
int ktest_cmd_kthread(struct ktest_ctx *ctx, struct ktest_args *args);
int ktest_cmd_stop(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_jobs_stop(void);

/* raw.c */
extern const struct krdma_ops ktest_raw_ops;
int ktest_cmd_rawping(struct ktest_ctx *ctx, struct ktest_args *args);
void ktest_raw_end(struct ktest_slot *slot, struct krdma_cb *cb);

#endif /* KRDMA_TEST_PRIV_H */
