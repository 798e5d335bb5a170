// SPDX-License-Identifier: GPL-2.0
/*
 * The Ethernet interface of a fabric that has no other network.
 *
 * It gives the RDMA device its addresses: rdma_cm finds a peer by ARP or
 * neighbour discovery over this interface. Its packets have a ring of their own
 * to each peer, so they do not delay RDMA. A frame has a struct virtio_net_hdr
 * before the packet: checksums are not computed, and a segment for segmentation
 * offload travels whole. The memory between the two sides does not corrupt data,
 * and the receiver validates the header.
 *
 * There is a transmit queue for each peer, and one for packets to several peers.
 * A queue stops while the ring of its peer has no room, so a slow peer does not
 * delay the packets to others.
 *
 * The interface exists longer than the device: back ends create it first and
 * destroy it last. Access to the device by ntrdma_eth.dev:
 *
 * - The transmit function runs in an RCU read-side section.
 * - The work item: ntrdma_eth_detach() clears the pointer, then waits for the
 *   work item.
 *
 * ntrdma_peer.eth_lock makes the queues the only producer of a ring. The poll of
 * the lane %NTRDMA_ETH_RING is the only consumer.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <linux/virtio_net.h>
#include <net/sch_generic.h>

#include <compat.h>
#include <version.h>

#include "dev.h"
#include "eth.h"
#include "win.h"

/* Default MTU, if a chunk is large enough. */
#define NTRDMA_ETH_MTU		9000
/* Bytes of a frame that are not payload of IP: header, Ethernet, VLAN. */
#define NTRDMA_ETH_OVERHEAD	(NTRDMA_ETH_HDR + ETH_HLEN + 2 * VLAN_HLEN)
/* The queue for packets to several peers. The others have their numbers. */
#define NTRDMA_ETH_FLOOD	NTRDMA_MEMBERS
#define NTRDMA_ETH_QUEUES	(NTRDMA_MEMBERS + 1)
/* Packets of up to this size are received into one piece of memory. */
#define NTRDMA_ETH_LINEAR	1536
/* Of longer packets, this number of bytes is in the first piece. */
#define NTRDMA_ETH_HEAD		256

static_assert(sizeof(struct virtio_net_hdr) <= NTRDMA_ETH_HDR);

/* Counters of the interface, in the order of ntrdma_eth_stat_names. */
enum ntrdma_eth_stat {
	NTRDMA_ETH_TX_PACKETS,
	NTRDMA_ETH_TX_BYTES,
	NTRDMA_ETH_TX_NO_LINK,
	NTRDMA_ETH_TX_TOO_LONG,
	NTRDMA_ETH_TX_NO_ROOM,
	NTRDMA_ETH_TX_WAITS,
	NTRDMA_ETH_RX_PACKETS,
	NTRDMA_ETH_RX_BYTES,
	NTRDMA_ETH_RX_NO_MEMORY,
	NTRDMA_ETH_RX_INVALID,
	NTRDMA_ETH_STATS,
};

static const char ntrdma_eth_stat_names[NTRDMA_ETH_STATS][ETH_GSTRING_LEN] = {
	[NTRDMA_ETH_TX_PACKETS]	  = "tx_packets",
	[NTRDMA_ETH_TX_BYTES]	  = "tx_bytes",
	[NTRDMA_ETH_TX_NO_LINK]	  = "tx_no_link",
	[NTRDMA_ETH_TX_TOO_LONG]  = "tx_too_long",
	[NTRDMA_ETH_TX_NO_ROOM]	  = "tx_no_room",
	[NTRDMA_ETH_TX_WAITS]	  = "tx_waits",
	[NTRDMA_ETH_RX_PACKETS]	  = "rx_packets",
	[NTRDMA_ETH_RX_BYTES]	  = "rx_bytes",
	[NTRDMA_ETH_RX_NO_MEMORY] = "rx_no_memory",
	[NTRDMA_ETH_RX_INVALID]	  = "rx_invalid",
};

/**
 * struct ntrdma_eth - private data of the interface
 * @dev: device, or NULL
 * @netdev: interface
 * @bus: name of the device on its bus
 * @work: follows the links of the device, and the state of the interface
 * @chunk: maximum bytes of a frame to all peers
 * @sized: the MTU has been adapted to a device; rtnl
 * @greet: a link has come up, so its peer must learn the addresses; xchg()
 * @stats: counters
 */
struct ntrdma_eth {
	struct ntrdma_dev __rcu *dev;
	struct net_device *netdev;
	const char *bus;
	struct delayed_work work;
	u32 chunk;
	bool sized;
	bool greet;
	atomic64_t stats[NTRDMA_ETH_STATS];
};

static void ntrdma_eth_count(struct net_device *netdev,
			     enum ntrdma_eth_stat stat)
{
	struct ntrdma_eth *eth = netdev_priv(netdev);

	atomic64_inc(&eth->stats[stat]);
}

/*
 * Sending.
 */

static void ntrdma_eth_copy(const struct ntrdma_slot *slot, struct sk_buff *skb,
			    const struct virtio_net_hdr *hdr)
{
	void __iomem *to = slot->data + NTRDMA_ETH_HDR;
	u8 begin[NTRDMA_ETH_HDR] = {};
	struct skb_seq_state seq;
	unsigned int done = 0, len;
	const u8 *data;

	memcpy(begin, hdr, sizeof(*hdr));
	ntrdma_win_write(slot->peer, slot->data, begin, sizeof(begin));
	skb_prepare_seq_read(skb, 0, skb->len, &seq);
	while ((len = skb_seq_read(done, &data, &seq))) {
		ntrdma_win_write(slot->peer, to + done, data, len);
		done += len;
	}
}

/* Return false if the ring of the peer has no room. */
static bool ntrdma_eth_put(struct ntrdma_peer *peer, struct sk_buff *skb,
			   const struct virtio_net_hdr *hdr)
{
	struct ntrdma_frame frame = { .kind = NTRDMA_ETH };
	struct ntrdma_slot slot;
	bool done;

	spin_lock(&peer->eth_lock);
	done = ntrdma_slot_reserve(&slot, peer, NTRDMA_ETH_RING,
				   NTRDMA_ETH_HDR + skb->len);
	if (done) {
		ntrdma_eth_copy(&slot, skb, hdr);
		ntrdma_slot_commit(&slot, &frame, NULL);
	}
	spin_unlock(&peer->eth_lock);
	return done;
}

/* Send to a peer. Return the counter of the result. */
static enum ntrdma_eth_stat ntrdma_eth_send_to(struct ntrdma_peer *peer,
					       struct sk_buff *skb,
					       const struct virtio_net_hdr *hdr)
{
	if (NTRDMA_ETH_HDR + skb->len > peer->chunk)
		return NTRDMA_ETH_TX_TOO_LONG;
	if (ntrdma_eth_put(peer, skb, hdr))
		return NTRDMA_ETH_TX_PACKETS;
	return ntrdma_ring_is_stuck(peer, NTRDMA_ETH_RING) ?
	       NTRDMA_ETH_TX_NO_ROOM : NTRDMA_ETH_TX_WAITS;
}

/* Send to all peers. A peer that has no room does not get the packet. */
static enum ntrdma_eth_stat ntrdma_eth_flood(struct net_device *netdev,
					     struct ntrdma_dev *dev,
					     struct sk_buff *skb,
					     const struct virtio_net_hdr *hdr)
{
	enum ntrdma_eth_stat stat, result = NTRDMA_ETH_TX_NO_LINK;
	struct ntrdma_peer *peer;
	unsigned int i;

	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = rcu_dereference(dev->peers[i]);
		if (!peer || i == dev->config.member ||
		    !smp_load_acquire(&peer->open)) /* ntrdma_lane_open() */
			continue;
		stat = ntrdma_eth_send_to(peer, skb, hdr);
		if (stat == NTRDMA_ETH_TX_PACKETS) {
			result = stat;
			continue;
		}
		if (stat == NTRDMA_ETH_TX_WAITS)
			stat = NTRDMA_ETH_TX_NO_ROOM;
		ntrdma_eth_count(netdev, stat);
	}
	return result;
}

/* Return the peer of a packet, or NULL if several may be meant. */
static struct ntrdma_peer *ntrdma_eth_peer(struct ntrdma_dev *dev,
					   const struct sk_buff *skb)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;

	if (is_multicast_ether_addr(eth->h_dest))
		return NULL;
	return ntrdma_peer_by_mac(dev, eth->h_dest);
}

/* Packets to the own address are sent to nobody. */
static u16 ntrdma_eth_select_queue(struct net_device *netdev,
				   struct sk_buff *skb,
				   struct net_device *sb_dev)
{
	struct ntrdma_eth *eth = netdev_priv(netdev);
	struct ntrdma_peer *peer = NULL;
	struct ntrdma_dev *dev;
	u16 queue;

	rcu_read_lock();
	dev = rcu_dereference(eth->dev);
	if (dev && skb->len >= ETH_HLEN)
		peer = ntrdma_eth_peer(dev, skb);
	queue = peer ? peer->member : NTRDMA_ETH_FLOOD;
	rcu_read_unlock();
	return queue;
}

/*
 * Stop the queue until the peer has consumed. The poll may have found the queue
 * running just before, so look again afterwards.
 */
static void ntrdma_eth_wait(struct net_device *netdev, struct ntrdma_peer *peer,
			    u16 queue)
{
	netif_stop_subqueue(netdev, queue);
	smp_mb(); /* Pairs with ntrdma_eth_wake(). */
	if (ntrdma_ring_has_moved(peer, NTRDMA_ETH_RING) ||
	    ntrdma_ring_is_stuck(peer, NTRDMA_ETH_RING))
		netif_start_subqueue(netdev, queue);
}

/*
 * The peer may have changed since the queue was selected. A queue stops only for
 * its own peer, because only that peer starts it again.
 */
static enum ntrdma_eth_stat ntrdma_eth_send(struct net_device *netdev,
					    struct ntrdma_dev *dev,
					    struct sk_buff *skb)
{
	u16 queue = skb_get_queue_mapping(skb);
	struct virtio_net_hdr hdr = {};
	struct ntrdma_peer *peer;
	enum ntrdma_eth_stat stat;

	if (skb->len < ETH_HLEN ||
	    virtio_net_hdr_from_skb(skb, &hdr, true, false, 0))
		return NTRDMA_ETH_TX_TOO_LONG;
	peer = ntrdma_eth_peer(dev, skb);
	if (peer && peer->member == dev->config.member)
		return NTRDMA_ETH_TX_NO_LINK;
	if (!peer)
		return ntrdma_eth_flood(netdev, dev, skb, &hdr);
	stat = ntrdma_eth_send_to(peer, skb, &hdr);
	if (stat != NTRDMA_ETH_TX_WAITS)
		return stat;
	if (queue != peer->member)
		return NTRDMA_ETH_TX_NO_ROOM;
	ntrdma_eth_wait(netdev, peer, queue);
	return stat;
}

static netdev_tx_t ntrdma_eth_xmit(struct sk_buff *skb,
				   struct net_device *netdev)
{
	enum ntrdma_eth_stat stat = NTRDMA_ETH_TX_NO_LINK;
	struct ntrdma_eth *eth = netdev_priv(netdev);
	unsigned int bytes = skb->len;
	struct ntrdma_dev *dev;

	rcu_read_lock();
	dev = rcu_dereference(eth->dev);
	if (dev) {
		skb_tx_timestamp(skb);
		stat = ntrdma_eth_send(netdev, dev, skb);
		ntrdma_lane_expect(&dev->lane[NTRDMA_ETH_RING]);
	}
	rcu_read_unlock();
	ntrdma_eth_count(netdev, stat);
	if (stat == NTRDMA_ETH_TX_WAITS)
		return NETDEV_TX_BUSY;
	if (stat == NTRDMA_ETH_TX_PACKETS) {
		atomic64_add(bytes, &eth->stats[NTRDMA_ETH_TX_BYTES]);
		dev_consume_skb_any(skb);
	} else {
		dev_kfree_skb_any(skb);
	}
	return NETDEV_TX_OK;
}

/**
 * ntrdma_eth_wake - let the interface send to a peer again
 * @peer: peer with a ring for Ethernet, which may have consumed
 *
 * Context: any.
 */
void ntrdma_eth_wake(struct ntrdma_peer *peer)
{
	struct net_device *netdev = peer->dev->config.netdev;

	smp_mb(); /* Pairs with ntrdma_eth_wait(). */
	if (__netif_subqueue_stopped(netdev, peer->member))
		netif_wake_subqueue(netdev, peer->member);
}

/*
 * Receiving.
 */

static struct sk_buff *ntrdma_eth_alloc_skb(u32 bytes)
{
	u32 head = bytes <= NTRDMA_ETH_LINEAR ? bytes : NTRDMA_ETH_HEAD;
	struct sk_buff *skb;
	int ret;

	skb = alloc_skb_with_frags(NET_SKB_PAD + NET_IP_ALIGN + head,
				   bytes - head, PAGE_ALLOC_COSTLY_ORDER, &ret,
				   GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
	skb_put(skb, head);
	skb->data_len = bytes - head;
	skb->len += bytes - head;
	return skb;
}

/*
 * Check what the peer says about a packet, as far as virtio_net_hdr_to_skb()
 * does not: only offloads of this interface, and no checksum inside the header
 * of Ethernet, which is taken off the packet.
 */
static bool ntrdma_eth_hdr_ok(const struct virtio_net_hdr *hdr)
{
	u8 gso = hdr->gso_type & ~VIRTIO_NET_HDR_GSO_ECN;

	if (gso != VIRTIO_NET_HDR_GSO_NONE && gso != VIRTIO_NET_HDR_GSO_TCPV4 &&
	    gso != VIRTIO_NET_HDR_GSO_TCPV6)
		return false;
	return !(hdr->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) ||
	       __virtio16_to_cpu(true, hdr->csum_start) >=
	       ETH_HLEN + sizeof(struct iphdr);
}

/* The packet is copied before anything in it is used. */
static enum ntrdma_eth_stat ntrdma_eth_receive(struct ntrdma_lane *lane,
					       const void *data, u32 bytes)
{
	struct net_device *netdev = lane->dev->config.netdev;
	u64 begin[NTRDMA_ETH_HDR / sizeof(u64)];
	struct virtio_net_hdr hdr;
	struct sk_buff *skb;

	skb = ntrdma_eth_alloc_skb(bytes);
	if (!skb)
		return NTRDMA_ETH_RX_NO_MEMORY;
	ntrdma_win_copy(begin, data, sizeof(begin));
	memcpy(&hdr, begin, sizeof(hdr));
	skb_store_bits(skb, 0, data + NTRDMA_ETH_HDR, bytes);
	skb->dev = netdev;
	skb_reset_mac_header(skb);
	if (!ntrdma_eth_hdr_ok(&hdr) || virtio_net_hdr_to_skb(skb, &hdr, true)) {
		kfree_skb(skb);
		return NTRDMA_ETH_RX_INVALID;
	}
	skb->protocol = eth_type_trans(skb, netdev);
	napi_gro_receive(&lane->napi, skb);
	return NTRDMA_ETH_RX_PACKETS;
}

/**
 * ntrdma_eth_take - receive a packet
 * @lane: lane of the Ethernet rings
 * @frame: header, which ntrdma_frame_decode() has checked
 * @data: payload, which the peer may change at any time
 *
 * The links end some time after the interface is down. Packets that arrive in
 * this time are dropped: the interface may move to another network namespace.
 *
 * Context: poll of @lane.
 */
void ntrdma_eth_take(struct ntrdma_lane *lane, const struct ntrdma_frame *frame,
		     const void *data)
{
	struct net_device *netdev = lane->dev->config.netdev;
	u32 bytes = frame->bytes - NTRDMA_ETH_HDR;
	struct ntrdma_eth *eth = netdev_priv(netdev);
	enum ntrdma_eth_stat stat;

	if (!netif_running(netdev))
		return;
	stat = ntrdma_eth_receive(lane, data, bytes);
	ntrdma_eth_count(netdev, stat);
	if (stat == NTRDMA_ETH_RX_PACKETS)
		atomic64_add(bytes, &eth->stats[NTRDMA_ETH_RX_BYTES]);
}

/*
 * State of the links and of the interface.
 */

/* Return true if a peer is up, and the maximum frame that all of them take. */
static bool ntrdma_eth_links(struct ntrdma_dev *dev, u32 *chunk)
{
	struct ntrdma_peer *peer;
	bool up = false;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < NTRDMA_MEMBERS; i++) {
		peer = rcu_dereference(dev->peers[i]);
		if (!peer || i == dev->config.member ||
		    !smp_load_acquire(&peer->open)) /* ntrdma_lane_open() */
			continue;
		*chunk = min(*chunk, peer->chunk);
		up = true;
	}
	rcu_read_unlock();
	return up;
}

/* Set what depends on the maximum frame. rtnl is held. */
static void ntrdma_eth_resize(struct ntrdma_eth *eth, u32 chunk)
{
	struct net_device *netdev = eth->netdev;
	int max = chunk - NTRDMA_ETH_OVERHEAD;

	ASSERT_RTNL();
	WRITE_ONCE(eth->chunk, chunk);
	netdev->max_mtu = max;
	netif_set_tso_max_size(netdev, chunk - NTRDMA_ETH_HDR);
	if (!eth->sized)
		dev_set_mtu(netdev, min(max, NTRDMA_ETH_MTU));
	eth->sized = true;
	if (netdev->mtu <= max)
		return;
	netdev_info(netdev, "MTU %u is too long for a peer, it is %d now\n",
		    netdev->mtu, max);
	dev_set_mtu(netdev, max);
}

/*
 * Tell new peers the addresses. A machine whose number has changed has another
 * MAC address. A peer that has links to others keeps its carrier, and with it
 * the old address in its neighbour table, until it learns the new one.
 *
 * After the carrier has come, the queues drop packets until the stack activates
 * them in a work item of its own (net/core/link_watch.c). So wait for that.
 */
static void ntrdma_eth_greet(struct ntrdma_eth *eth)
{
	if (!READ_ONCE(eth->greet) || !netif_running(eth->netdev))
		return;
	if (qdisc_tx_is_noop(eth->netdev))
		queue_delayed_work(ntrdma_wq, &eth->work, 1);
	else if (xchg(&eth->greet, false))
		netdev_notify_peers(eth->netdev);
}

static void ntrdma_eth_set_carrier(struct ntrdma_eth *eth, u32 chunk)
{
	rtnl_lock();
	ntrdma_eth_resize(eth, chunk);
	rtnl_unlock();
	netif_carrier_on(eth->netdev);
	ntrdma_eth_greet(eth);
}

static void ntrdma_eth_work(struct work_struct *work)
{
	struct ntrdma_eth *eth =
		container_of(work, struct ntrdma_eth, work.work);
	u32 chunk = NTRDMA_CHUNK_MAX;
	struct ntrdma_dev *dev;

	/* ntrdma_eth_detach() waits for this work item. */
	rcu_read_lock();
	dev = rcu_dereference(eth->dev);
	rcu_read_unlock();
	if (!dev)
		return;
	if (ntrdma_eth_links(dev, &chunk))
		ntrdma_eth_set_carrier(eth, chunk);
	else
		netif_carrier_off(eth->netdev);
	if (netif_running(eth->netdev))
		netif_tx_wake_all_queues(eth->netdev);
	ntrdma_netdev_update(dev);
}

/**
 * ntrdma_eth_changed - let the interface follow the links of its device
 * @dev: device, with or without an Ethernet interface
 * @opened: a link has come up
 *
 * Context: any.
 */
void ntrdma_eth_changed(struct ntrdma_dev *dev, bool opened)
{
	struct ntrdma_eth *eth;

	if (!dev->config.eth)
		return;
	eth = netdev_priv(dev->config.netdev);
	if (opened)
		xchg(&eth->greet, true);
	mod_delayed_work(ntrdma_wq, &eth->work, 0);
}

static int ntrdma_eth_changed_state(struct net_device *netdev)
{
	struct ntrdma_eth *eth = netdev_priv(netdev);

	mod_delayed_work(ntrdma_wq, &eth->work, 0);
	return 0;
}

static int ntrdma_eth_open(struct net_device *netdev)
{
	netif_tx_start_all_queues(netdev);
	return ntrdma_eth_changed_state(netdev);
}

static int ntrdma_eth_stop(struct net_device *netdev)
{
	netif_tx_stop_all_queues(netdev);
	return ntrdma_eth_changed_state(netdev);
}

/* Another address is another session, so it changes while the links are off. */
static int ntrdma_eth_set_address(struct net_device *netdev, void *address)
{
	int ret = eth_mac_addr(netdev, address);

	return ret ?: ntrdma_eth_changed_state(netdev);
}

/* A segment that is longer than a frame is cut by the stack. */
static netdev_features_t ntrdma_eth_features(struct sk_buff *skb,
					     struct net_device *netdev,
					     netdev_features_t features)
{
	const struct ntrdma_eth *eth = netdev_priv(netdev);

	if (skb_is_gso(skb) &&
	    NTRDMA_ETH_HDR + skb->len > READ_ONCE(eth->chunk))
		features &= ~NETIF_F_GSO_MASK;
	return vlan_features_check(skb, features);
}

static u64 ntrdma_eth_stat(const struct ntrdma_eth *eth,
			   enum ntrdma_eth_stat stat)
{
	return atomic64_read(&eth->stats[stat]);
}

static void ntrdma_eth_get_stats(struct net_device *netdev,
				 struct rtnl_link_stats64 *stats)
{
	const struct ntrdma_eth *eth = netdev_priv(netdev);

	stats->tx_packets = ntrdma_eth_stat(eth, NTRDMA_ETH_TX_PACKETS);
	stats->tx_bytes = ntrdma_eth_stat(eth, NTRDMA_ETH_TX_BYTES);
	stats->tx_dropped = ntrdma_eth_stat(eth, NTRDMA_ETH_TX_NO_LINK) +
			    ntrdma_eth_stat(eth, NTRDMA_ETH_TX_TOO_LONG) +
			    ntrdma_eth_stat(eth, NTRDMA_ETH_TX_NO_ROOM);
	stats->rx_packets = ntrdma_eth_stat(eth, NTRDMA_ETH_RX_PACKETS);
	stats->rx_bytes = ntrdma_eth_stat(eth, NTRDMA_ETH_RX_BYTES);
	stats->rx_dropped = ntrdma_eth_stat(eth, NTRDMA_ETH_RX_NO_MEMORY);
	stats->rx_errors = ntrdma_eth_stat(eth, NTRDMA_ETH_RX_INVALID);
}

static const struct net_device_ops ntrdma_eth_ops = {
	.ndo_features_check = ntrdma_eth_features,
	.ndo_get_stats64 = ntrdma_eth_get_stats,
	.ndo_open = ntrdma_eth_open,
	.ndo_select_queue = ntrdma_eth_select_queue,
	.ndo_set_mac_address = ntrdma_eth_set_address,
	.ndo_start_xmit = ntrdma_eth_xmit,
	.ndo_stop = ntrdma_eth_stop,
	.ndo_validate_addr = eth_validate_addr,
};

static void ntrdma_eth_get_drvinfo(struct net_device *netdev,
				   struct ethtool_drvinfo *info)
{
	const struct ntrdma_eth *eth = netdev_priv(netdev);

	strscpy(info->driver, "ntrdma", sizeof(info->driver));
	strscpy(info->version, KRDMA_VERSION, sizeof(info->version));
	strscpy(info->bus_info, eth->bus, sizeof(info->bus_info));
}

static int ntrdma_eth_get_sset_count(struct net_device *netdev, int set)
{
	return set == ETH_SS_STATS ? NTRDMA_ETH_STATS : -EOPNOTSUPP;
}

static void ntrdma_eth_get_strings(struct net_device *netdev, u32 set,
				   u8 *strings)
{
	memcpy(strings, ntrdma_eth_stat_names, sizeof(ntrdma_eth_stat_names));
}

static void ntrdma_eth_get_ethtool_stats(struct net_device *netdev,
					 struct ethtool_stats *unused,
					 u64 *values)
{
	const struct ntrdma_eth *eth = netdev_priv(netdev);
	unsigned int i;

	for (i = 0; i < NTRDMA_ETH_STATS; i++)
		values[i] = ntrdma_eth_stat(eth, i);
}

static const struct ethtool_ops ntrdma_eth_ethtool_ops = {
	.get_drvinfo = ntrdma_eth_get_drvinfo,
	.get_ethtool_stats = ntrdma_eth_get_ethtool_stats,
	.get_link = ethtool_op_get_link,
	.get_sset_count = ntrdma_eth_get_sset_count,
	.get_strings = ntrdma_eth_get_strings,
};

/*
 * Life.
 */

static void ntrdma_eth_setup(struct net_device *netdev)
{
	ether_setup(netdev);
	netdev->netdev_ops = &ntrdma_eth_ops;
	netdev->ethtool_ops = &ntrdma_eth_ethtool_ops;
	netdev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_TSO |
			      NETIF_F_TSO6;
	netdev->features = netdev->hw_features | NETIF_F_HIGHDMA;
	netdev->vlan_features = netdev->features;
	netdev->min_mtu = ETH_MIN_MTU;
}

/**
 * ntrdma_eth_create - create an interface without a device
 * @bus: name of the device on its bus; stays valid as long as the interface
 *
 * Context: may sleep; takes rtnl.
 * Return: interface, or an error pointer.
 */
struct net_device *ntrdma_eth_create(const char *bus)
{
	struct net_device *netdev;
	struct ntrdma_eth *eth;
	int ret;

	netdev = alloc_netdev_mqs(sizeof(*eth), "ntr%d", NET_NAME_ENUM,
				  ntrdma_eth_setup, NTRDMA_ETH_QUEUES, 1);
	if (!netdev)
		return ERR_PTR(-ENOMEM);
	eth = netdev_priv(netdev);
	eth->netdev = netdev;
	eth->bus = bus;
	eth->chunk = NTRDMA_CHUNK_MIN;
	INIT_DELAYED_WORK(&eth->work, ntrdma_eth_work);
	eth_hw_addr_random(netdev);
	netif_carrier_off(netdev);
	ret = register_netdev(netdev);
	if (!ret)
		return netdev;
	free_netdev(netdev);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(ntrdma_eth_create, NTRDMA_NS);

/**
 * ntrdma_eth_set_mac - change the address of the interface
 * @netdev: interface
 * @mac: address; an address that the user has set is not changed
 *
 * Context: may sleep; takes rtnl.
 */
void ntrdma_eth_set_mac(struct net_device *netdev, const u8 *mac)
{
	rtnl_lock();
	if (netdev->addr_assign_type != NET_ADDR_SET &&
	    !ether_addr_equal(netdev->dev_addr, mac)) {
		eth_hw_addr_set(netdev, mac);
		call_netdevice_notifiers(NETDEV_CHANGEADDR, netdev);
	}
	rtnl_unlock();
}
EXPORT_SYMBOL_NS_GPL(ntrdma_eth_set_mac, NTRDMA_NS);

/**
 * ntrdma_eth_attach - give the interface its device
 * @netdev: interface
 * @dev: device whose back end starts
 * @bytes: bytes of each window of the device
 *
 * Context: may sleep; takes rtnl.
 */
void ntrdma_eth_attach(struct net_device *netdev, struct ntrdma_dev *dev,
		       size_t bytes)
{
	struct ntrdma_eth *eth = netdev_priv(netdev);
	u32 ring_bytes, chunk;

	/* ntrdma_peer_add() has checked that the windows are large enough. */
	ntrdma_sizes_fit(bytes, dev->lanes, true, ntrdma_ring_limit(dev),
			 &ring_bytes, &chunk);
	rtnl_lock();
	ntrdma_eth_resize(eth, chunk);
	rtnl_unlock();
	rcu_assign_pointer(eth->dev, dev);
}
EXPORT_SYMBOL_NS_GPL(ntrdma_eth_attach, NTRDMA_NS);

/**
 * ntrdma_eth_detach - take the device from the interface
 * @netdev: interface
 *
 * Context: may sleep.
 */
void ntrdma_eth_detach(struct net_device *netdev)
{
	struct ntrdma_eth *eth = netdev_priv(netdev);

	RCU_INIT_POINTER(eth->dev, NULL);
	synchronize_net();
	cancel_delayed_work_sync(&eth->work);
	netif_carrier_off(netdev);
}
EXPORT_SYMBOL_NS_GPL(ntrdma_eth_detach, NTRDMA_NS);

/**
 * ntrdma_eth_destroy - destroy an interface without a device
 * @netdev: interface
 *
 * Context: may sleep; takes rtnl.
 */
void ntrdma_eth_destroy(struct net_device *netdev)
{
	struct ntrdma_eth *eth = netdev_priv(netdev);

	unregister_netdev(netdev);
	cancel_delayed_work_sync(&eth->work);
	free_netdev(netdev);
}
EXPORT_SYMBOL_NS_GPL(ntrdma_eth_destroy, NTRDMA_NS);
