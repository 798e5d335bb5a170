/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Author: The krdma developers
 *
 * Capture of frames, and changes of RoCE packets on their way through the switch.
 */
#ifndef MEDDLE_H
#define MEDDLE_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*meddle_forward)(int from, const unsigned char *data, size_t len);

void capture_open(const char *path);
void capture(const unsigned char *data, size_t len);
bool meddle_add(const char *text);
void meddle_watch(const char *path);
void meddle(int from, unsigned char *data, size_t len, meddle_forward forward);

#endif
