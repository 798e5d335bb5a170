// SPDX-License-Identifier: GPL-2.0
// Both directions have the same key: a message that is sent back to its sender opens there.
//
// file: krdma/seal.c
// caught-by: kunit-uml
// rule: krdma/seal.h#krdma_seal_half
@@
expression noise, first, second;
@@
  krdma_noise_split(noise, first->key, second->key);
+ memcpy(second->key, first->key, sizeof(first->key));
