// SPDX-License-Identifier: GPL-2.0
// A registration has the page offset of the memory instead of the DMA address: data are shifted.
//
// file: krdma/registration.c
// caught-by: kunit-uml
// rule: krdma/registration.c#ib_map_mr_sg
@@
expression start, mr;
@@
- ALIGN_DOWN(start, PAGE_SIZE) + (mr->iova & ~PAGE_MASK)
+ start
