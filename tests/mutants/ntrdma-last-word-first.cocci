// SPDX-License-Identifier: GPL-2.0
// The last word of a message becomes visible before the others.
//
// file: ntrdma/mem.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma.rst#Verbs
@@
expression to, from, rest, word;
@@
- memcpy(to, from, rest);
+ ntrdma_store_word(to + rest, from + rest, word);
  smp_wmb();
- ntrdma_store_word(to + rest, from + rest, word);
+ memcpy(to, from, rest);
