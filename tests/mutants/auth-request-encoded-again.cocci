// SPDX-License-Identifier: GPL-2.0
// A server encodes the request again for the prologue, so a client with features that it does not know is not connected.
//
// file: krdma/auth.c
// caught-by: handshake-uml
// rule: krdma/auth.c#krdma_auth_check_req
@@
expression new, from, size, auth;
@@
  memcpy(new->req, from, size);
+ krdma_hello_encode((void *)new->req, hello);
  *auth = new;
