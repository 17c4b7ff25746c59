// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_LOCATE_H
#define SBOX_LOCATE_H

#include "arena.h"
#include "error.h"
#include "options.h"
#include "profile.h"

/*
 * Where things are: profiles and helper programs relative to sbox's own file
 * (PREFIX/bin/sbox, or the build folder of a source tree), never by PATH or
 * by the current folder.
 */
const char *locate_profiles(struct arena *arena, const char *own_file);
/* This program's file as /proc shows it, or NULL. */
const char *locate_own_file(struct arena *arena);
/* PREFIX/libexec/sbox/NAME, or NULL. */
const char *locate_helper(struct arena *arena, const char *name);
/* The caller's facts that profiles are read with, and the store. */
int locate_context(struct arena *arena, const struct options *options,
		   struct profile_context *ret_context, struct error *err);

#endif
