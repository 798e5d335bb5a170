// SPDX-License-Identifier: GPL-2.0
// A client accepts any START, so a server with a recorded reply gets a connection without the key.
//
// file: krdma/auth.c
// caught-by: handshake-uml
// rule: krdma/auth.c#krdma_auth_open_start
@@
expression conn, len;
identifier ret;
@@
- if (ret >= 0)
-	*len = ret;
+ *len = max(ret, 0);
  return krdma_auth_step(conn, KRDMA_AUTH_START,
-			 ret < 0 ? -EKEYREJECTED : 0
+			 0
			 );
