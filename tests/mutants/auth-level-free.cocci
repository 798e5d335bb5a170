// SPDX-License-Identifier: GPL-2.0
// A listener with a level accepts requests without one, so everybody gets a connection without the key.
//
// file: krdma/auth.c
// caught-by: auth-uml
// rule: krdma/auth.c#krdma_auth_check_req
@@
expression hello, listener;
@@
- hello->level != listener->p.security
+ hello->level > listener->p.security
