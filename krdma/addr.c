// SPDX-License-Identifier: GPL-2.0
/* Convert host and port in text form to a socket address. */
#include <linux/export.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/nsproxy.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "priv.h"

/**
 * krdma_addr_same_host - compare two addresses without their ports
 * @a: first address, IPv4 or IPv6
 * @b: second address, IPv4 or IPv6
 *
 * Context: any.
 * Return: true if the two IP addresses are equal, including the scope of IPv6.
 */
bool krdma_addr_same_host(const struct sockaddr_storage *a,
			  const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return a6->sin6_scope_id == b6->sin6_scope_id &&
	       !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

/**
 * krdma_addr_port - return the port of an address
 * @addr: IPv4 or IPv6
 *
 * Context: any.
 * Return: the port, in network order.
 */
__be16 krdma_addr_port(const struct sockaddr_storage *addr)
{
	/* IPv4 and IPv6 socket addresses have the port at the same offset. */
	return ((const struct sockaddr_in *)addr)->sin_port;
}

/**
 * krdma_callers_net - return the network namespace of the calling task
 *
 * Return: the namespace, without a reference; init_net for kernel threads.
 */
struct net *krdma_callers_net(void)
{
	/* nsproxy is NULL in a task that is exiting. */
	return current->nsproxy ? current->nsproxy->net_ns : &init_net;
}

/**
 * krdma_parse_addr - turn a host and a port into a socket address
 * @net: network namespace for the interface names of IPv6 scopes; NULL: that of
 *	the calling task
 * @host: IPv4 dotted quad, or IPv6 address with an optional %interface or
 *	%number; NULL or "" means 0.0.0.0
 * @port: decimal number from 0 to 65535; NULL or "" means 0. For a listener 0
 *	means any free port
 * @addr: result
 *
 * Does not resolve names, because the kernel has no resolver that a module can
 * call without a helper in user space.
 *
 * Context: any that may take rcu_read_lock().
 * Return: 0, or -EINVAL.
 */
int krdma_parse_addr(struct net *net, const char *host, const char *port,
		     struct sockaddr_storage *addr)
{
	struct sockaddr_storage result = {};
	u16 number = 0;
	int ret;

	if (port && *port && kstrtou16(port, 10, &number))
		return -EINVAL;
	if (!host || !*host)
		host = "0.0.0.0";
	ret = inet_pton_with_scope(net ?: krdma_callers_net(), AF_UNSPEC, host, NULL,
				   &result);
	/*
	 * inet_pton_with_scope() parses IPv4 with in4_pton(), which ignores a
	 * colon and everything after it. So reject a host with a colon.
	 */
	if (ret || (result.ss_family == AF_INET && strchr(host, ':')))
		return -EINVAL;

	/* IPv4 and IPv6 socket addresses have the port at the same offset. */
	((struct sockaddr_in *)&result)->sin_port = htons(number);
	*addr = result;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_parse_addr, KRDMA_NS);
