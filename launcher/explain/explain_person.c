// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "explain.h"
#include "file_entries.h"
#include "keys.h"
#include "toolchain.h"
#include "verbs.h"

/*
 * Which lines are a person's to decide. The program chooses what it tries, so it chooses
 * what is refused and named: a line may be written without a look only if it
 * gives what it seems to give.
 */

/* "/home/ana/.ssh/config": any part of the way may be what makes it one. */
static bool names_a_secret(struct arena *arena, const char *path)
{
	size_t len;

	for (const char *at = path; *at != '\0'; at += len) {
		at += strspn(at, "/");
		len = strcspn(at, "/");
		bool last = at[len + strspn(at + len, "/")] == '\0';
		if (len > 0 && toolchain_is_secret(arena_strndup(arena, at, len), !last))
			return true;
	}
	return false;
}

/* How many warnings `sbox check` has for the run's profile with one more line; SIZE_MAX: it
 * would be none. `line` NULL: as it is. */
static size_t warnings_with(struct explain *explain, const struct profile_context *context,
			    const char *name, const char *line)
{
	const struct profile_override override = {.text = line};
	struct profile *profile = arena_alloc(explain->arena, sizeof(*profile));
	struct error err = {0};
	size_t count;

	if (profile_load(explain->arena, context, name, &override, line != NULL, profile, NULL,
			 &err) != 0)
		return SIZE_MAX;
	profile_warnings(explain->arena, context, profile, &count);
	return count;
}

/* A home folder, a folder on PATH, start files, hooks. Where it cannot be told it is so. */
static bool widens(struct explain *explain, const struct profile_context *context,
		   const struct change *change)
{
	const json_t *asked = json_object_get(explain->start, "profile");
	const char *name = json_string_value(json_object_get(asked, "path"));
	const char *cwd = json_string_value(json_object_get(explain->start, "cwd"));
	struct profile_context then = *context;

	if (cwd != NULL)
		then.cwd = cwd; /* what ${cwd} stood for */
	size_t before = name != NULL ? warnings_with(explain, &then, name, NULL) : SIZE_MAX;
	if (before == SIZE_MAX) {
		/* the run's profile is not there any more */
		name = "base";
		before = warnings_with(explain, &then, name, NULL);
	}
	size_t after = warnings_with(explain, &then, name,
				     arena_printf(explain->arena, "%s.%s+=%s", change->section,
						  change->key, change->value));
	return after == SIZE_MAX || after > before;
}

bool explain_is_for_a_person(struct explain *explain, const struct profile_context *context,
			     const struct change *change)
{
	if (strcmp(change->section, "network") == 0 || change->value[0] == '!')
		return true;
	if (strcmp(change->section, "file") != 0 || !key_is_list(change->known))
		return false;
	return names_a_secret(explain->arena, change->value) || widens(explain, context, change);
}
