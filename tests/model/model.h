/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The properties of all models, one for each guarantee, so that a counter-example
 * names the guarantee that it breaks. They are hidden, and not part of a state.
 */
hidden byte G2 = true;
hidden byte G3 = true;
hidden byte G5 = true;
hidden byte G6 = true;
hidden byte G8 = true;
hidden byte G9 = true;
/* Events: none is lost between nodes that stay connected, and none arrives twice. */
hidden byte EV = true;
