/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of vrfmctl share. */
#ifndef VRFMCTL_CTL_H
#define VRFMCTL_CTL_H

#include "conf.h"

/* What a command returns, and the program with it. */
enum ctl_result {
	CTL_OK,
	CTL_FAILED,
	CTL_USAGE,
};

/* configfs.c */
#define CTL_CONFIGFS "/sys/kernel/config/vrfm"

bool ctl_load(void);
bool ctl_exists(unsigned int unit);
bool ctl_is_enabled(unsigned int unit);
bool ctl_get(unsigned int unit, const char *name, char *value, size_t room);
bool ctl_make(unsigned int unit);
bool ctl_set(unsigned int unit, const char *name, const char *value);
bool ctl_add_peer(unsigned int unit, const struct conf_peer *peer);
bool ctl_keep_peers(const struct conf_device *device);
bool ctl_has_peer(unsigned int unit, unsigned int id);
bool ctl_remove(unsigned int unit);

/* status.c */
enum ctl_result ctl_status(bool json, const char *only);

/* up.c */
enum ctl_result ctl_up(struct conf_device *device);
enum ctl_result ctl_down(unsigned int unit);

#endif /* VRFMCTL_CTL_H */
