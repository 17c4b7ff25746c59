// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_entries.h"
#include "run.h"

/*
 * The program's environment is made anew: a few names every program expects,
 * what the profile lets through by name, what it sets.
 */

struct variables {
	char **items;
	size_t count;
};

static bool same_name(const char *a, const char *b)
{
	size_t len = strcspn(a, "=");

	return strncmp(a, b, len + 1) == 0 || (strncmp(a, b, len) == 0 && b[len] == '=');
}

static void put(struct run *run, struct variables *variables, const char *assignment)
{
	for (size_t i = 0; i < variables->count; i++)
		if (same_name(variables->items[i], assignment)) {
			variables->items[i] = (char *)assignment;
			return;
		}
	*ARENA_PUSH(run->arena, variables->items, variables->count) = (char *)assignment;
}

/* "LC_*" or "LANG" against the name in NAME=VALUE. */
static bool matches(const char *pattern, const char *assignment)
{
	size_t name = strcspn(assignment, "="), len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return name >= len - 1 && strncmp(pattern, assignment, len - 1) == 0;
	return name == len && strncmp(pattern, assignment, len) == 0;
}

static void keep_listed(struct run *run, struct variables *variables)
{
	const struct string_list *keep = &run->profile.environment.keep;

	for (char **at = environ; at != NULL && *at != NULL; at++)
		for (size_t i = 0; strchr(*at, '=') != NULL && i < keep->count; i++)
			if (matches(keep->items[i], *at))
				put(run, variables, arena_strdup(run->arena, *at));
}

/* The caller's PATH without entries that are relative, empty or not visible inside. */
const char *environment_path(struct run *run)
{
	const char *at = run->host.path;
	const char *text = "";

	while (*at != '\0') {
		size_t len = strcspn(at, ":");
		const char *folder = arena_strndup(run->arena, at, len);
		struct path_fact fact;

		if (folder[0] == '/' && host_resolve(run->arena, &run->host, folder, &fact) == 0 &&
		    file_entry_for(run->arm.entries, fact.path) != NULL)
			text = arena_printf(run->arena, "%s%s%s", text, *text != '\0' ? ":" : "",
					    folder);
		at += len + (at[len] == ':');
	}
	return *text != '\0' ? text : "/usr/local/bin:/usr/bin:/bin";
}

char *const *environment_make(struct run *run)
{
	struct variables variables = {0};
	bool home = run->profile.file.home == HOME_PRIVATE;

	put(run, &variables, arena_printf(run->arena, "PATH=%s", environment_path(run)));
	put(run, &variables, home ? "HOME=" INNER_HOME : "HOME=/nonexistent");
	put(run, &variables, "USER=" INNER_USER);
	put(run, &variables, "LOGNAME=" INNER_USER);
	put(run, &variables, "SHELL=/bin/sh");
	keep_listed(run, &variables);
	for (size_t i = 0; i < run->profile.environment.set.count; i++)
		put(run, &variables, run->profile.environment.set.items[i]);
	*ARENA_PUSH(run->arena, variables.items, variables.count) = NULL;
	return variables.items;
}
