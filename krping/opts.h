/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of one test. Pure: no verbs, no sleeping, no globals.
 *
 * A command is a list of tokens between commas, each "name" or "name=value".
 * Names and defaults are those that krping has had since 2006: scripts depend
 * on them.
 */
#ifndef KRPING_OPTS_H
#define KRPING_OPTS_H

#include <linux/socket.h>
#include <linux/types.h>

#define KRPING_SIZE_MAX 131072
#define KRPING_SIZE_DEFAULT 64
/* An IPv6 address with the name of an interface behind it, and more. */
#define KRPING_ADDR_MAX 128

enum krping_role {
	KRPING_ROLE_NONE = 0,
	KRPING_ROLE_CLIENT,
	KRPING_ROLE_SERVER,
};

/**
 * struct krping_opts - what a command says
 * @role: who dials
 * @family: AF_INET or AF_INET6 as @addr was given, AF_UNSPEC: not given
 * @addr: as text; client: the server's, server: where to listen
 * @port: in host order; server: 0 lets the kernel choose
 * @count: pings that a client does, 0: until it is stopped
 * @size: bytes of a ping; server: most that a client may use
 * @validate: client: compare what comes back
 * @verbose: log the payload
 */
struct krping_opts {
	enum krping_role role;
	sa_family_t family;
	char addr[KRPING_ADDR_MAX];
	u32 port;
	u32 count;
	u32 size;
	bool validate;
	bool verbose;
};

char *krping_opts_next_command(char **text);
int krping_opts_parse(char *command, struct krping_opts *opts);

#endif /* KRPING_OPTS_H */
