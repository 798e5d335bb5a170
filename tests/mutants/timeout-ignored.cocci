// SPDX-License-Identifier: GPL-2.0
// A connect ignores its timeout: a listener that never accepts blocks it.
//
// file: krdma/conn.c
// caught-by: connect-uml
// rule: Documentation/krdma.rst#Waits and errors
@@
expression conn, ms;
@@
- queue_delayed_work(krdma_wq, &conn->work.timer, msecs_to_jiffies(ms))
+ false
