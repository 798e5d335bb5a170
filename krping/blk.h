/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krping_blk: disks that send the requests of programs to a server by RDMA.
 *
 * A command of /proc/krping_blk creates a disk (blk_disk.c), which has a local
 * storage and a connection (blk_link.c, or blk_raw.c with bio_raw), or a server
 * (blk_server.c), which has a target (blk_target.c) and connections
 * (blk_conn.c).
 *
 * Locks, from the outermost to the innermost: krping_blk_mutex (list of disks
 * and servers), krping_blk_server.lock (connections and images of a server),
 * krping_blk_link.post (order of requests), krping_blk_link.lock (slots, state),
 * krping_blk_conn.lock (received requests). krping_blk_raw.post is outside of
 * krping_blk_raw.lock (connection).
 */
#ifndef KRPING_BLK_H
#define KRPING_BLK_H

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <krdma.h>

#include "blk_opts.h"
#include "blk_wire.h"

struct cgroup;
struct dentry;
struct krping_blk_link;
struct krping_blk_raw;
struct krping_blk_server;
struct krping_blk_store;

/**
 * struct krping_blk_disk - disk whose requests go to a server
 * @opts: command that created the disk; constant
 * @gd: the disk
 * @name: name of the disk
 * @capacity: capacity in bytes
 * @store: local storage, or NULL if @lower is the storage
 * @lower: block device below this one, or unused
 * @cgroup: control group of the filter, or NULL
 * @ios: memory of &struct krping_blk_io
 * @refs: one of the creator, and one of each request in flight
 * @idle: completed when @refs is 0
 * @link: connection to the server, or NULL with bio_raw
 * @raw: connection to the peer with bio_raw, or NULL
 */
struct krping_blk_disk {
	const struct krping_blk_opts *opts;
	struct gendisk *gd;
	char name[KRPING_BLK_NAME_MAX];
	u64 capacity;
	struct krping_blk_store *store;
	struct krdma_bdev lower;
	struct cgroup *cgroup;
	struct bio_set ios;
	refcount_t refs;
	struct completion idle;
	struct krping_blk_link *link;
	struct krping_blk_raw *raw;
};

/**
 * struct krping_blk_io - request of a disk, until it completes
 * @disk: the disk
 * @bio: request of the block layer
 * @start: time for the statistics of the block layer
 * @refs: one of submit_bio(), one of the lower device, one of the link
 * @op: operation
 * @offset: first byte
 * @bytes: number of bytes; 0: flush
 * @status: first error, or 0
 * @in_flight: in krping_blk_link.in_flight, if @number is not 0
 * @number: number of the request in this list, from 1
 * @clone: copy of @bio for the lower device; unused if there is none
 */
struct krping_blk_io {
	struct krping_blk_disk *disk;
	struct bio *bio;
	unsigned long start;
	refcount_t refs;
	enum krping_blk_op op;
	u64 offset;
	u32 bytes;
	blk_status_t status;
	struct list_head in_flight;
	u64 number;
	struct bio clone;
};

/**
 * struct krping_blk_image - storage of a server for one disk
 * @link: in krping_blk_server.images
 * @id: number of the disk
 * @capacity: capacity in bytes
 * @store: KRPING_BLK_MEM: the storage; otherwise NULL
 * @in_use: a connection uses the image
 * @dir: file of the image in debugfs
 */
struct krping_blk_image {
	struct list_head link;
	u8 id[KRPING_BLK_ID_LEN];
	u64 capacity;
	struct krping_blk_store *store;
	bool in_use;
	struct dentry *dir;
};

/**
 * struct krping_blk_server_stats - counters of a server
 * @requests: requests received
 * @bytes: bytes of stored writes
 * @flushes: requests to flush the cache of the target, also before a write
 * @fua: requests to store on the medium
 * @crc_errors: writes with a wrong checksum, which were not stored
 * @errors: requests that the target did not do
 * @violations: connections that ended because the client violated the protocol
 */
struct krping_blk_server_stats {
	atomic64_t requests;
	atomic64_t bytes;
	atomic64_t flushes;
	atomic64_t fua;
	atomic64_t crc_errors;
	atomic64_t errors;
	atomic64_t violations;
};

/**
 * struct krping_blk_server - server
 * @opts: command that created the server; constant
 * @id: number of the server
 * @listener: listener
 * @addr: address and port of the listener
 * @bdev: KRPING_BLK_BDEV: block device that stores the requests
 * @dir: folder in debugfs
 * @lock: protects the members below
 * @conns: connections
 * @images: images
 * @ring_bytes: memory of all rings
 * @refs: one of the creator, and one of each connection
 * @idle: completed when @refs is 0
 * @acks: acknowledgments sent
 * @stats: counters
 */
struct krping_blk_server {
	const struct krping_blk_opts *opts;
	u32 id;
	struct krdma_cb *listener;
	struct sockaddr_storage addr;
	struct krdma_bdev bdev;
	struct dentry *dir;
	struct mutex lock; /* protects conns, images and ring_bytes */
	struct list_head conns;
	struct list_head images;
	u64 ring_bytes;
	refcount_t refs;
	struct completion idle;
	atomic_t acks;
	struct krping_blk_server_stats stats;
};

/*
 * Queues for the work of links and of servers. Requests of disks wait for both.
 * A server may store on a disk of this module, so its work must not delay that
 * of links.
 */
extern struct workqueue_struct *krping_blk_wq;
extern struct workqueue_struct *krping_blk_server_wq;
/* Folder of the module in debugfs. */
extern struct dentry *krping_blk_debugfs;

/* blk_store.c */
struct krping_blk_store *krping_blk_store_create(void);
void krping_blk_store_destroy(struct krping_blk_store *store);
int krping_blk_store_write(struct krping_blk_store *store, u64 offset,
			   const void *data, size_t len);
void krping_blk_store_read(struct krping_blk_store *store, u64 offset,
			   void *data, size_t len);
void krping_blk_store_zero(struct krping_blk_store *store, u64 offset, u64 len);

/* blk_link.c */
struct krping_blk_link *krping_blk_link_create(struct krping_blk_disk *disk);
int krping_blk_link_start(struct krping_blk_link *link);
void krping_blk_link_stop(struct krping_blk_link *link);
void krping_blk_link_destroy(struct krping_blk_link *link);
int krping_blk_link_send(struct krping_blk_link *link,
			 struct krping_blk_io *io);
void krping_blk_link_send_copy(struct krping_blk_link *link,
			       struct krping_blk_request *req,
			       const void *data);
void krping_blk_link_end_io(struct krping_blk_link *link,
			    struct krping_blk_io *io);
void krping_blk_link_io_ended(struct krping_blk_link *link);
void krping_blk_link_show(struct seq_file *m, struct krping_blk_link *link);

/* blk_raw.c */
struct krping_blk_raw *krping_blk_raw_create(struct krping_blk_disk *disk);
int krping_blk_raw_start(struct krping_blk_raw *raw);
void krping_blk_raw_stop(struct krping_blk_raw *raw);
void krping_blk_raw_destroy(struct krping_blk_raw *raw);
int krping_blk_raw_send(struct krping_blk_raw *raw, struct krping_blk_io *io);
void krping_blk_raw_show(struct seq_file *m, struct krping_blk_raw *raw);

/* blk_tap.c */
struct krping_blk_tap *krping_blk_tap_create(struct krping_blk_link *link,
					     const struct krping_blk_opts *opts);
bool krping_blk_tap_send(struct krping_blk_tap *tap,
			 const struct krping_blk_io *io);
void krping_blk_tap_kick(struct krping_blk_tap *tap);
void krping_blk_tap_stop(struct krping_blk_tap *tap);
void krping_blk_tap_destroy(struct krping_blk_tap *tap);

/* blk_cgroup.c */
#ifdef CONFIG_CGROUPS
int krping_blk_cgroup_get(u64 id, struct cgroup **cgroup);
void krping_blk_cgroup_put(struct cgroup *cgroup);
bool krping_blk_cgroup_has(struct cgroup *cgroup, struct bio *bio);
#else
/* A disk with a control group does not exist. */
static inline int krping_blk_cgroup_get(u64 id, struct cgroup **cgroup)
{
	return id ? -EOPNOTSUPP : 0;
}

static inline void krping_blk_cgroup_put(struct cgroup *cgroup) { }

static inline bool krping_blk_cgroup_has(struct cgroup *cgroup,
					 struct bio *bio)
{
	return false;
}
#endif

/* blk_disk.c */
void krping_blk_io_put(struct krping_blk_io *io, blk_status_t status);
void krping_blk_io_copy(const struct krping_blk_io *io, void *to);
struct krping_blk_request
krping_blk_io_request(const struct krping_blk_io *io);
int krping_blk_disk_read(struct krping_blk_disk *disk, u64 offset, void *data,
			 u32 len);
int krping_blk_disk_create(const struct krping_blk_opts *opts,
			   const char *name, struct krping_blk_disk **result);
bool krping_blk_disk_is_open(struct krping_blk_disk *disk);
void krping_blk_disk_destroy(struct krping_blk_disk *disk, bool force);
void krping_blk_disk_show(struct seq_file *m, struct krping_blk_disk *disk);

/* blk_target.c */
int krping_blk_bdev_move(struct block_device *bdev, blk_opf_t opf, u64 offset,
			 void *data, u32 len);
int krping_blk_target_open(struct krping_blk_server *server);
void krping_blk_target_close(struct krping_blk_server *server);
struct krping_blk_image *
krping_blk_image_get(struct krping_blk_server *server,
		     const struct krping_blk_hello *hello);
void krping_blk_image_put(struct krping_blk_server *server,
			  struct krping_blk_image *image);
int krping_blk_target_do(struct krping_blk_server *server,
			 struct krping_blk_image *image,
			 const struct krping_blk_request *req, void *data);

/* blk_conn.c */
int krping_blk_conn_listen(struct krping_blk_server *server,
			   const struct sockaddr_storage *addr);
void krping_blk_conn_unlisten(struct krping_blk_server *server);

/* blk_server.c */
int krping_blk_server_create(const struct krping_blk_opts *opts, u32 id,
			     struct krping_blk_server **result);
void krping_blk_server_destroy(struct krping_blk_server *server);
void krping_blk_server_show(struct seq_file *m,
			    struct krping_blk_server *server);

#endif /* KRPING_BLK_H */
