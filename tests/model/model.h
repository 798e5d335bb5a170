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
/* Events: no event is lost between nodes that stay connected, and no event arrives twice. */
hidden byte EV = true;
/* ntrdma's sessions: frames and lives, both sides come UP, sizes of the accepted life. */
hidden byte N1 = true;
hidden byte N2 = true;
hidden byte N3 = true;
/* ntrdma's rings: no consumer sleeps beside frames, and no producer waits beside room. */
hidden byte N4 = true;
hidden byte N5 = true;
