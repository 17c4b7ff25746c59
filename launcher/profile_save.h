// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_PROFILE_SAVE_H
#define SBOX_PROFILE_SAVE_H

#include "profile.h"

/* A profile that a program of sbox's own writes for the caller: a file of theirs that nobody else
 * may write, and no link. */
struct profile_save {
	const char *path;
	bool is_new;        /* it is not there yet */
	const char *before; /* its text; "" when it is new */
};

/* Fills is_new and before. */
int profile_save_read(struct arena *arena, struct profile_save *save, struct error *err);
/* Puts `after` in its place: written beside it, checked as a profile, renamed over it. */
int profile_save_write(struct arena *arena, const struct profile_save *save,
		       const struct profile_context *context, const char *after, struct error *err);

#endif
