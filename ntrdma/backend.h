/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface between the device and its back ends. A back end provides windows
 * and doorbells, and knows nothing of rings, sessions or verbs.
 */
#ifndef NTRDMA_BACKEND_H
#define NTRDMA_BACKEND_H

#include <linux/bits.h>
#include <linux/types.h>

struct net_device;
struct ntrdma_dev;
struct ntrdma_lane;
struct ntrdma_peer;

/* Both sides cache the same memory, so a fence orders a load after a store. */
#define NTRDMA_COHERENT	BIT(0)
/* A doorbell reaches the peer. Without it, a timer polls each lane. */
#define NTRDMA_BELLS	BIT(1)

/**
 * struct ntrdma_window - the two windows between this member and a peer
 * @in: inbox, which the peer writes and this member reads; cached memory, at
 *	least %NTRDMA_INBOX_MIN bytes
 * @out: inbox of the peer, which this member writes and never reads. With
 *	%NTRDMA_COHERENT it is ordinary memory
 * @size: bytes of each of the two
 */
struct ntrdma_window {
	void *in;
	void __iomem *out;
	size_t size;
};

/**
 * struct ntrdma_backend_ops - functions of a back end
 * @name: name for sysfs and logs
 * @flags: %NTRDMA_COHERENT, %NTRDMA_BELLS
 * @lanes: return the number of doorbells that the back end can distinguish
 * @start: begin to use the windows. May sleep. It calls ntrdma_peer_add() for
 *	each peer, now or later. Returns 0 or an error code
 * @stop: end it. May sleep. After it returns, the back end calls no function of
 *	the device except ntrdma_peer_remove(); the windows are still mapped
 * @release: free what belongs to the back end, after the device has removed all
 *	peers. Called after @stop, and only if @start has succeeded. May sleep.
 *	NULL: nothing is to be freed
 * @ring: ring the doorbell of a lane of a peer. Called with bottom halves
 *	disabled, under no lock. If the peer is this member, the device itself
 *	schedules its lane. NULL without %NTRDMA_BELLS
 * @unmask: take doorbells of a lane again. The back end may ignore them after it
 *	has called ntrdma_bell(). Called from softirq before the lane looks at
 *	its rings for the last time. Optional
 */
struct ntrdma_backend_ops {
	const char *name;
	u32 flags;
	unsigned int (*lanes)(struct ntrdma_dev *dev);
	int (*start)(struct ntrdma_dev *dev);
	void (*stop)(struct ntrdma_dev *dev);
	void (*release)(struct ntrdma_dev *dev);
	void (*ring)(struct ntrdma_dev *dev, u8 member, u8 lane);
	void (*unmask)(struct ntrdma_dev *dev, u8 lane);
};

/**
 * struct ntrdma_copy_buf - buffer from which a DMA engine copies to the window
 * @from: memory of %NTRDMA_CHUNK_MAX bytes; @alloc of the engine sets it
 * @dma: for the engine
 * @offset: place in the window to the peer, a multiple of %NTRDMA_CELL
 * @bytes: number of bytes to copy, a multiple of %NTRDMA_CELL
 * @lane: lane of the buffer
 * @peer: peer, the same for all buffers of a device
 * @to: address of @offset
 * @start: index prod before the frame
 * @begun: time in jiffies when the copy began
 * @state: &enum ntrdma_copy_state; set by ntrdma_copy_done()
 */
struct ntrdma_copy_buf {
	void *from;
	dma_addr_t dma;
	size_t offset;
	size_t bytes;
	struct ntrdma_lane *lane;
	struct ntrdma_peer *peer;
	void __iomem *to;
	u32 start;
	unsigned long begun;
	int state;
};

/**
 * struct ntrdma_copy_ops - functions of a DMA engine
 * @alloc: allocate @from of a buffer. May sleep. Returns 0 or an error code
 * @free: free it. May sleep
 * @start: begin to copy. Returns 0, and ntrdma_copy_done() is called later, or
 *	an error code if the engine cannot take the copy now. Called with bottom
 *	halves disabled
 * @stop: stop the engine. May sleep. After it returns, the engine neither writes
 *	nor calls ntrdma_copy_done() for a copy that was begun before
 */
struct ntrdma_copy_ops {
	int (*alloc)(struct ntrdma_dev *dev, struct ntrdma_copy_buf *copy);
	void (*free)(struct ntrdma_dev *dev, struct ntrdma_copy_buf *copy);
	int (*start)(struct ntrdma_dev *dev, struct ntrdma_copy_buf *copy);
	void (*stop)(struct ntrdma_dev *dev);
};

/**
 * struct ntrdma_config - properties of a device
 * @ops: functions of its back end
 * @priv: data of the back end, see ntrdma_dev_priv()
 * @name: name of the RDMA device; may have a %d
 * @member: number of this member
 * @members: number of members, 2 to %NTRDMA_MEMBERS
 * @bells: number of doorbells that this member takes; 0: it polls. All members
 *	must have the same number
 * @ring_kb: maximum size of a ring, in KiB; 0: the default of the core
 * @netdev: interface with the addresses of the device; the device takes a
 *	reference of its own
 * @eth: @netdev is an interface of ntrdma_eth_create(), whose packets go
 *	through the windows. Only the back end can remove such a device
 * @lease: word that has the value @lease_value as long as the member may use
 *	its windows, or NULL. It stays readable until @ops->release()
 * @lease_value: value of the word
 * @dma_device: device for the DMA API, see ntrdma_dma_device_get(); NULL:
 *	addresses of work requests are kernel addresses
 * @copy_ops: DMA engine that copies to the window of the only peer, or NULL
 * @copy_priv: data of the engine
 * @copy_min: minimum bytes of a payload for which it is used; more than
 *	%NTRDMA_SHORT. Larger than any payload if the engine was stopped
 */
struct ntrdma_config {
	const struct ntrdma_backend_ops *ops;
	void *priv;
	const char *name;
	u8 member;
	u8 members;
	u16 bells;
	u32 ring_kb;
	struct net_device *netdev;
	bool eth;
	const __le64 *lease;
	__le64 lease_value;
	struct device *dma_device;
	const struct ntrdma_copy_ops *copy_ops;
	void *copy_priv;
	u32 copy_min;
};

struct ntrdma_dev *ntrdma_dev_create(const struct ntrdma_config *config);
void ntrdma_dev_destroy(struct ntrdma_dev *dev, char name[IB_DEVICE_NAME_MAX]);
int ntrdma_peer_add(struct ntrdma_dev *dev, u8 member,
		    const struct ntrdma_window *window);
void ntrdma_peer_remove(struct ntrdma_dev *dev, u8 member);
bool ntrdma_bell(struct ntrdma_dev *dev, u8 lane);
void ntrdma_copy_done(struct ntrdma_copy_buf *copy, bool ok);
bool ntrdma_dev_has_ended(const struct ntrdma_dev *dev);
void *ntrdma_dev_priv(const struct ntrdma_dev *dev);

#endif /* NTRDMA_BACKEND_H */
