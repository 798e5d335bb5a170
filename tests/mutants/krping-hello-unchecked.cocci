// SPDX-License-Identifier: GPL-2.0
// A server of pings accepts a client with a larger size.
//
// file: krping/wire.c
// caught-by: kunit-uml
// rule: Documentation/krping.rst#New peers
@@
expression client, differs;
@@
  if (client->test == KRPING_TEST_FR)
  	return KRPING_AGREED;
- if (differs)
- 	return KRPING_DIFFERENT_SIZE;
