// SPDX-License-Identifier: GPL-2.0
// With the level encrypt, messages have tags but are sent in clear.
//
// file: krdma/auth.c
// caught-by: eavesdrop-uml
// rule: Documentation/security.rst#S5
@@
expression conn;
@@
- conn->p.security == KRDMA_SECURITY_ENCRYPT
+ conn->p.security > KRDMA_SECURITY_ENCRYPT
