// SPDX-License-Identifier: GPL-2.0
// A connection or a listener holds no reference to the module: the module can be unloaded.
//
// file: krdma/life.c
// caught-by: call-states-uml
// rule: Documentation/krdma.rst#Lifetime
@@
@@
- module_put(THIS_MODULE);

@@
@@
- __module_get(THIS_MODULE);
