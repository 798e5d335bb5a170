/* SPDX-License-Identifier: GPL-2.0 */
/* The Ethernet interface of a fabric that has no other network. */
#ifndef NTRDMA_ETH_H
#define NTRDMA_ETH_H

#include <linux/types.h>

struct net_device;
struct ntrdma_dev;
struct ntrdma_frame;
struct ntrdma_lane;
struct ntrdma_peer;

struct net_device *ntrdma_eth_create(const char *bus);
void ntrdma_eth_set_mac(struct net_device *netdev, const u8 *mac);
void ntrdma_eth_attach(struct net_device *netdev, struct ntrdma_dev *dev,
		       size_t bytes);
void ntrdma_eth_detach(struct net_device *netdev);
void ntrdma_eth_destroy(struct net_device *netdev);
void ntrdma_eth_changed(struct ntrdma_dev *dev, bool opened);
void ntrdma_eth_wake(struct ntrdma_peer *peer);
void ntrdma_eth_take(struct ntrdma_lane *lane, const struct ntrdma_frame *frame,
		     const void *data);

#endif /* NTRDMA_ETH_H */
