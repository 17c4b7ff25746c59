// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_REDACT_H
#define SBOX_REDACT_H

#include <stddef.h>

#include "arena.h"
#include "string_list.h"

/*
 * [audit] redact: what is blanked before anything is written or hashed.
 *
 *   --token    an option: the value in --token=VALUE, and the whole argument
 *              after a bare --token; for one letter (-p) also -pVALUE
 *   *_KEY=*    a pattern with '=': the value of a NAME=VALUE argument it matches
 *   sk-*       any other pattern: the whole argument it matches
 *
 * '*', '?' and [..] work in all three. Case matters.
 */
#define REDACTED "[redacted]"

/* How many leading bytes of the argument stay in front of REDACTED; SIZE_MAX: all,
 * nothing is blanked. `previous` is the argument before it as it was, or NULL. */
size_t redact_keep(const struct string_list *patterns, const char *arg, const char *previous);

/* The argument as it may be written: itself, or a new string in the arena. */
const char *redact_argument(struct arena *arena, const struct string_list *patterns,
			    const char *arg, const char *previous);

#endif
