// SPDX-License-Identifier: GPL-2.0
// A percentile is that of the next bucket.
//
// file: krping/hist.c
// caught-by: kunit-uml
// rule: Documentation/krping.rst#Results
@@
expression hist, i, wanted, seen;
@@
- hist->buckets[i] >= wanted - seen
+ hist->buckets[i] > wanted - seen
