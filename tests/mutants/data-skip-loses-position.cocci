// SPDX-License-Identifier: GPL-2.0
// A part of a sealed message begins behind its first byte: data are missing.
//
// file: krdma/span.c
// caught-by: kunit-uml
// rule: krdma/span.c#krdma_data_skip
@@
struct krdma_data *data;
u32 first;
@@
- data->offset -= first;
