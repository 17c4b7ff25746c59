// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_entries.h"
#include "run.h"
#include "toolchain_table.h"

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

static bool is_listed(const char *patterns, const char *assignment)
{
	while (*patterns != '\0') {
		char pattern[64];
		size_t len = strcspn(patterns, " ");

		if (len < sizeof(pattern)) {
			memcpy(pattern, patterns, len);
			pattern[len] = '\0';
			if (matches(pattern, assignment))
				return true;
		}
		patterns += len + (patterns[len] == ' ');
	}
	return false;
}

/* Shims look for their root in a variable or below HOME, which is another one inside. */
static void put_toolchains(struct run *run, struct variables *variables)
{
	for (size_t i = 0; i < run->host.toolchain_count; i++) {
		const struct toolchain_fact *fact = &run->host.toolchains[i];
		const struct toolchain *toolchain = fact->toolchain;

		if (fact->fault != NULL)
			continue;
		for (char **at = environ; toolchain->also != NULL && *at != NULL; at++)
			if (strchr(*at, '=') != NULL && is_listed(toolchain->also, *at))
				put(run, variables, arena_strdup(run->arena, *at));
		bool first = true;
		for (size_t j = 0; j < i; j++)
			first &= run->host.toolchains[j].toolchain != toolchain ||
				 run->host.toolchains[j].fault != NULL;
		if (toolchain->passed && first)
			put(run, variables,
			    arena_printf(run->arena, "%s=%s", toolchain->variable, fact->root));
	}
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

const char *environment_home(const struct run *run)
{
	return run->scratch == NULL ? INNER_HOME
				    : arena_printf(run->arena, "%s/home", run->scratch);
}

const char *environment_scratch(const struct run *run)
{
	return run->scratch == NULL ? "/tmp" : arena_printf(run->arena, "%s/tmp", run->scratch);
}

/* Where /tmp is the host's, scratch is found by name. */
static void put_scratch(struct run *run, struct variables *variables)
{
	static const char *const names[] = {"TMPDIR", "TMP", "TEMP"};

	for (size_t i = 0; run->scratch != NULL && i < sizeof(names) / sizeof(names[0]); i++)
		put(run, variables,
		    arena_printf(run->arena, "%s=%s", names[i], environment_scratch(run)));
}

char *const *environment_arguments(const struct run *run)
{
	char **given = run->options->arguments;
	size_t count = 0;

	while (given[count] != NULL)
		count++;
	char **copy = arena_alloc(run->arena, (count + 1) * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_strdup(run->arena, given[i]);
	return copy;
}

char *const *environment_make(struct run *run)
{
	struct variables variables = {0};
	bool home = run->profile.file.home == HOME_PRIVATE;

	put(run, &variables, arena_printf(run->arena, "PATH=%s", environment_path(run)));
	put(run, &variables,
	    home ? arena_printf(run->arena, "HOME=%s", environment_home(run))
		 : "HOME=/nonexistent");
	put_scratch(run, &variables);
	put(run, &variables, "USER=" INNER_USER);
	put(run, &variables, "LOGNAME=" INNER_USER);
	put(run, &variables, "SHELL=/bin/sh");
	/* without it a program does not know its terminal */
	if (run->terminal.is_on && getenv("TERM") != NULL)
		put(run, &variables, arena_printf(run->arena, "TERM=%s", getenv("TERM")));
	put_toolchains(run, &variables);
	for (size_t i = 0; run->host.cache.made && cache_variables[i] != NULL; i++)
		put(run, &variables, cache_variables[i]);
	keep_listed(run, &variables);
	for (size_t i = 0; i < run->profile.environment.set.count; i++)
		put(run, &variables, run->profile.environment.set.items[i]);
	*ARENA_PUSH(run->arena, variables.items, variables.count) = NULL;
	return variables.items;
}

/* Where the program starts: where sbox was started, if that is there inside. */
const char *environment_cwd(const struct run *run)
{
	const char *cwd = run->host.cwd;

	if (cwd != NULL && file_entry_for(run->arm.entries, cwd) != NULL)
		return cwd;
	return run->profile.file.home == HOME_PRIVATE ? environment_home(run)
						      : environment_scratch(run);
}
