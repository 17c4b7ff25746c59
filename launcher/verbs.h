// SPDX-License-Identifier: Apache-2.0
#ifndef SBOX_VERBS_H
#define SBOX_VERBS_H

#include "options.h"
#include "profile.h"

/* The verbs that do not run a program; each returns the exit status. */
int verb_run(struct arena *arena, const struct options *options);

/* A profile in one of the profile folders. */
struct listed_profile {
	const char *name, *path;
	const char *from;         /* "user", "system", "shipped" */
	const char *used_instead; /* path of the one that the name stands for, or NULL */
	const char *description, *sha256, *fault;
};

/* verb_profiles.c: in the order of look-up; only the files' names are read. */
void profile_list(struct arena *arena, const struct profile_context *context,
		  struct listed_profile **ret, size_t *ret_count);
int verb_profiles(struct arena *arena, const struct options *options, struct error *err);
/* profile_wide.c: what makes it wider than it looks, a sentence each. */
const char *const *profile_warnings(struct arena *arena, const struct profile_context *context,
				    const struct profile *profile, size_t *ret_count);
/* verb_complete.c */
int verb_complete(struct arena *arena, const struct options *options, struct error *err);

#endif
