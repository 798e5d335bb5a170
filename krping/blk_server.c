// SPDX-License-Identifier: GPL-2.0
/*
 * A server: a listener, its connections, and the target that stores the requests
 * of all clients.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "blk.h"

static int krping_blk_server_listen(struct krping_blk_server *server)
{
	struct sockaddr_storage addr;
	int ret;

	ret = krdma_parse_addr(NULL, server->opts->addr, server->opts->port,
			       &addr) ?:
	      krping_blk_conn_listen(server, &addr);
	if (ret)
		return ret;
	/* The kernel has chosen the port if the command says port=0. */
	if (krdma_local_addr(server->listener, &server->addr))
		server->addr = addr;
	pr_info("%u: listening on %pISpc\n", server->id, &server->addr);
	return 0;
}

/**
 * krping_blk_server_create - start a server
 * @opts: command, which exists as long as the server
 * @id: number of the server
 * @result: the server, for krping_blk_server_destroy()
 *
 * Return: 0 or a negative errno.
 */
int krping_blk_server_create(const struct krping_blk_opts *opts, u32 id,
			     struct krping_blk_server **result)
{
	struct krping_blk_server *server = kzalloc(sizeof(*server), GFP_KERNEL);
	char name[16];
	int ret;

	if (!server)
		return -ENOMEM;
	server->opts = opts;
	server->id = id;
	mutex_init(&server->lock);
	INIT_LIST_HEAD(&server->conns);
	INIT_LIST_HEAD(&server->images);
	refcount_set(&server->refs, 1);
	init_completion(&server->idle);
	ret = krping_blk_target_open(server);
	if (ret)
		goto err_free;
	snprintf(name, sizeof(name), "%u", id);
	server->dir = debugfs_create_dir(name, krping_blk_debugfs);
	ret = krping_blk_server_listen(server);
	if (ret)
		goto err_close_target;
	*result = server;
	return 0;

err_close_target:
	debugfs_remove(server->dir);
	krping_blk_target_close(server);
err_free:
	mutex_destroy(&server->lock);
	kfree(server);
	return ret;
}

/**
 * krping_blk_server_destroy - end a server
 * @server: server
 *
 * Context: process; waits for the target and for krdma.
 */
void krping_blk_server_destroy(struct krping_blk_server *server)
{
	krping_blk_conn_unlisten(server);
	krping_blk_target_close(server);
	debugfs_remove(server->dir);
	mutex_destroy(&server->lock);
	kfree(server);
}

/**
 * krping_blk_server_show - print the line of a server
 * @m: output
 * @server: server
 */
void krping_blk_server_show(struct seq_file *m,
			    struct krping_blk_server *server)
{
	static const char *const targets[] = {
		[KRPING_BLK_MEM] = "mem",
		[KRPING_BLK_NULL] = "null",
		[KRPING_BLK_BDEV] = "bdev",
	};
	const struct krping_blk_server_stats *stats = &server->stats;
	size_t clients;

	mutex_lock(&server->lock);
	clients = list_count_nodes(&server->conns);
	mutex_unlock(&server->lock);
	seq_printf(m, "server %pISpc target=%s clients=%zu requests=%lld bytes=%lld flushes=%lld fua=%lld crc_errors=%lld errors=%lld violations=%lld\n",
		   &server->addr, targets[server->opts->target], clients,
		   atomic64_read(&stats->requests),
		   atomic64_read(&stats->bytes),
		   atomic64_read(&stats->flushes), atomic64_read(&stats->fua),
		   atomic64_read(&stats->crc_errors),
		   atomic64_read(&stats->errors),
		   atomic64_read(&stats->violations));
}
