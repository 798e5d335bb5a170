// SPDX-License-Identifier: GPL-2.0
// A connection that seals its messages may register regions that its peer may access.
//
// file: krdma/registration.c
// caught-by: sealed-uml
// rule: Documentation/security.rst#S6
@@
expression conn, access;
@@
- if (krdma_conn_is_sealed(conn) && access & KRDMA_REGION_REMOTE)
- 	return -EOPNOTSUPP;
