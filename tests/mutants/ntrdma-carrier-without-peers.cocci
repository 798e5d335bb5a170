// SPDX-License-Identifier: GPL-2.0
// The interface keeps its carrier when the last peer is lost.
//
// file: ntrdma/eth.c
// caught-by: ntr-net-stock-6.1-ntr-shm
// rule: Documentation/ntrdma.rst#Virtual machines
@@
expression dev, eth, chunk;
@@
  if (ntrdma_eth_links(dev, &chunk))
  	ntrdma_eth_set_carrier(eth, chunk);
- else
- 	netif_carrier_off(eth->netdev);
