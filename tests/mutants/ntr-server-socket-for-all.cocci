// SPDX-License-Identifier: GPL-2.0
// Each user can connect to the server, and so write to the memory of all machines.
//
// file: tools/ntr-server/ntr-server.c
// caught-by: ntr-server
// rule: Documentation/ntrdma.rst#Virtual machines
@@
@@
- umask(0177);
+ umask(0);
