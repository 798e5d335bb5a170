/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The path of a connection, as both ends describe it. No verbs, unlike path.c.
 */
#ifndef KRDMA_PATH_H
#define KRDMA_PATH_H

#include <linux/minmax.h>
#include <linux/types.h>

/**
 * struct krdma_path - path of a connection
 * @mtu: path MTU that the connection uses, in bytes; 0: not known
 * @local_mtu: largest path MTU of the local interface, in bytes; 0: not known
 * @peer_mtu: largest path MTU of the peer's interface, in bytes; 0: not known
 * @gid_type: &enum krdma_gid_type of the local GID
 * @peer_gid_type: &enum krdma_gid_type of the peer's GID
 * @tclass: traffic class of both directions, chosen by the client
 */
struct krdma_path {
	u16 mtu;
	u16 local_mtu;
	u16 peer_mtu;
	u8 gid_type;
	u8 peer_gid_type;
	u8 tclass;
};

/**
 * enum krdma_path_fit - result of comparing the MTUs of a path
 * @KRDMA_PATH_FITS: both interfaces have the same MTU, or the MTU of one is not
 *	known
 * @KRDMA_PATH_LOWERED: the MTUs differ, and the path uses at most the smaller
 *	one
 * @KRDMA_PATH_TOO_LONG: the path MTU is larger than the MTU of an interface
 */
enum krdma_path_fit {
	KRDMA_PATH_FITS = 0,
	KRDMA_PATH_LOWERED,
	KRDMA_PATH_TOO_LONG,
};

/**
 * krdma_path_fit - compare the MTUs of a path
 * @path: path
 *
 * Context: any.
 * Return: see &enum krdma_path_fit.
 */
static inline enum krdma_path_fit krdma_path_fit(const struct krdma_path *path)
{
	u16 least = min_not_zero(path->local_mtu, path->peer_mtu);

	if (least && path->mtu > least)
		return KRDMA_PATH_TOO_LONG;
	if (path->local_mtu && path->peer_mtu &&
	    path->local_mtu != path->peer_mtu)
		return KRDMA_PATH_LOWERED;
	return KRDMA_PATH_FITS;
}

#endif /* KRDMA_PATH_H */
