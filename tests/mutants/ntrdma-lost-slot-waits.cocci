// SPDX-License-Identifier: GPL-2.0
// A machine that has lost its slot waits until its peers are silent.
//
// file: ntrdma/ivshmem.c
// caught-by: ntr-members-stock-6.1-ntr-shm
// rule: Documentation/ntrdma.rst#Virtual machines
@@
expression shm;
@@
- ntrdma_links_stop(shm->dev);
  ntrdma_shm_leave(shm);
