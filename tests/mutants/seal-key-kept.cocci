// SPDX-License-Identifier: GPL-2.0
// A key is never replaced by its successor: a stolen key opens all earlier messages of the connection.
//
// file: krdma/seal.c
// caught-by: kunit-uml
// rule: krdma/seal.h#KRDMA_SEAL_REKEY
@@
expression half;
@@
- krdma_noise_rekey(half->key);
