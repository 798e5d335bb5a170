// SPDX-License-Identifier: GPL-2.0
/* Tracepoints: their bodies, once. */
#define CREATE_TRACE_POINTS
#include "trace.h"
