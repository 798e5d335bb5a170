// SPDX-License-Identifier: GPL-2.0
// A consumer goes to sleep without a barrier between the word bell and its last look at prod: both sides can miss the
// other one's store, and a frame waits for the next tick.
//
// file: ntrdma/lane.c
// caught-by: kunit-uml
// rule: Documentation/ntrdma-protocol.rst#Doorbells
@@
expression peer, word;
identifier ring;
@@
  ntrdma_win_set(peer, word, ring->bell);
- ntrdma_win_mb();
