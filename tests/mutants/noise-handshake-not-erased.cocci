// SPDX-License-Identifier: GPL-2.0
// The ephemeral secret stays in memory after the handshake. With it and the shared key, recorded messages can be read.
//
// file: krdma/noise.c
// caught-by: kunit-uml
// rule: krdma/noise.c#krdma_noise_split
@@
struct krdma_noise *noise;
@@
- memzero_explicit(noise, sizeof(*noise));
