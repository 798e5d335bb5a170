/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all models have: a property for each guarantee, so that a counter-example
 * says which one it breaks. They are hidden: no part of a state.
 */
hidden byte G2 = true;
hidden byte G3 = true;
hidden byte G5 = true;
hidden byte G6 = true;
hidden byte G8 = true;
hidden byte G9 = true;
/* Events: none is lost between nodes that stay, none comes twice. */
hidden byte EV = true;
