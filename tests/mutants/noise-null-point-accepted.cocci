// SPDX-License-Identifier: GPL-2.0
// A peer that has the key may choose a public key for which the product is 0: the session keys then depend on no secret.
//
// file: krdma/noise.c
// caught-by: kunit-uml
// rule: krdma/noise.c#krdma_noise_read_second
@@
expression shared, secret, remote;
@@
- !curve25519(shared, secret, remote)
+ (!curve25519(shared, secret, remote) && IS_ENABLED(CONFIG_KRDMA_NONE))
