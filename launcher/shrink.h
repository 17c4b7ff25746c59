// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_SHRINK_H
#define SBOX_SHRINK_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

/*
 * Compresses what is kept (gzip, so that zcat reads it), fast rather than
 * small. False when it would not pay: too little of it, or the first part of it
 * hardly shrinks. The result is in the arena.
 */
enum { SHRINK_MIN = 16 * 1024 };

bool shrink(struct arena *arena, const void *data, size_t len, const void **ret_data,
	    size_t *ret_len);

#endif
