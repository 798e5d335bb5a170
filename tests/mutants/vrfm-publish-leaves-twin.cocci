// SPDX-License-Identifier: GPL-2.0
// PUBLISH does not update the twin of a page: the scanner sends the same stores once more.
//
// file: vrfm/mem.c
// caught-by: batch-uml
// rule: Documentation/batches.rst#Publishing stores
@@
expression vdev, offset, buf, part, own;
@@
  vrfm_copy_out(buf, ...);
- vrfm_mem_written(vdev, offset, buf, part, own);
