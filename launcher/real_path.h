// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_REAL_PATH_H
#define SBOX_REAL_PATH_H

#include "arena.h"

/* An absolute path without links, "." and ".."; NULL, with errno, where it leads nowhere. */
const char *real_path(struct arena *arena, const char *path);

#endif
