/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The properties that the models check. Each guarantee of vrfm has a variable of
 * its own, so that a failed assertion names the broken guarantee. The variables
 * are hidden: spin does not store them as a part of the state.
 */
hidden byte G2 = true;
hidden byte G3 = true;
hidden byte G5 = true;
hidden byte G6 = true;
hidden byte G8 = true;
hidden byte G9 = true;
/* Batches: no other write of the node comes between the operations of a batch. */
hidden byte BA = true;
/* Events: no event is lost between nodes that stay connected, and no event arrives twice. */
hidden byte EV = true;
/*
 * ntrdma's sessions. N1: a frame is taken only by the life for which it was
 * made. N2: both sides come UP. N3: the sizes are those of the accepted life.
 */
hidden byte N1 = true;
hidden byte N2 = true;
hidden byte N3 = true;
/*
 * ntrdma's rings. N4: no consumer sleeps while there are frames. N5: no
 * producer waits while there is room.
 */
hidden byte N4 = true;
hidden byte N5 = true;
/*
 * krdma's handshake. S1: only a client with the key is connected. S2: a
 * connection ends only if a later connect is proved. S3: both ends agree.
 */
hidden byte S1 = true;
hidden byte S2 = true;
hidden byte S3 = true;
/*
 * Sealed messages of krdma. S4: the peer accepts what was posted, in order and
 * without a gap. NONCES: no nonce is used twice. OPENS: without an attacker each
 * message opens.
 */
hidden byte S4 = true;
hidden byte NONCES = true;
hidden byte OPENS = true;
