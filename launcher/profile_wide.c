// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file_entries.h"
#include "verbs.h"

/*
 * What makes a profile wider than it looks: a line that gives more than a folder,
 * since something outside the sandbox acts on what is in it later.
 */

struct warnings {
	struct arena *arena;
	const struct profile *profile;
	const char **items;
	size_t count;
};

#define WARN(warnings, ...)                                                                        \
	(*ARENA_PUSH((warnings)->arena, (warnings)->items, (warnings)->count) =                    \
		 arena_printf((warnings)->arena, __VA_ARGS__))

static const struct path_rule *rule_above(const struct path_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (path_is_below(path, list->items[i].path))
			return &list->items[i];
	return NULL;
}

/* The write rule that lets a path be changed, unless it is protected or hidden. */
static const struct path_rule *writable(const struct warnings *warnings, const char *path)
{
	const struct profile *profile = warnings->profile;

	if (profile->file.writes != WRITES_KEEP ||
	    rule_above(&profile->file.protect, path) != NULL ||
	    rule_above(&profile->file.hide, path) != NULL)
		return NULL;
	return rule_above(&profile->file.write, path);
}

static void warn_of_path(struct warnings *warnings, const char *path)
{
	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");
		const char *folder = arena_strndup(warnings->arena, path, len);
		const struct path_rule *rule = folder[0] == '/' ? writable(warnings, folder) : NULL;

		if (rule != NULL)
			WARN(warnings,
			     "[file] write = %s: %s is on your PATH; what a run leaves there, your "
			     "shell executes later",
			     rule->path, folder);
		path += len + (path[len] == ':');
	}
}

static void warn_of_start_files(struct warnings *warnings, const char *home)
{
	static const char *const names[] = {".bashrc",
					    ".bash_profile",
					    ".bash_login",
					    ".profile",
					    ".zshrc",
					    ".zshenv",
					    ".zprofile",
					    ".config/fish/config.fish",
					    ".ssh/authorized_keys"};

	for (size_t i = 0; home != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path = arena_printf(warnings->arena, "%s/%s", home, names[i]);
		const struct path_rule *rule = writable(warnings, path);

		if (rule != NULL)
			WARN(warnings,
			     "[file] write = %s: %s can be changed, and takes effect outside the "
			     "sandbox when you next log in",
			     rule->path, path);
	}
}

static void warn_of_hooks(struct warnings *warnings)
{
	const struct path_list *list = &warnings->profile->file.write;

	for (size_t i = 0; i < list->count; i++) {
		const char *git = arena_printf(warnings->arena, "%s/.git", list->items[i].path);
		const char *hooks = arena_printf(warnings->arena, "%s/hooks", git);

		if (access(git, F_OK) == 0 && writable(warnings, hooks) != NULL)
			WARN(warnings,
			     "[file] write = %s: %s can be changed; your own git executes what is "
			     "there (protect = %s)",
			     list->items[i].path, hooks, hooks);
	}
}

static void warn_of_home(struct warnings *warnings, const char *home)
{
	const struct profile *profile = warnings->profile;
	const struct {
		const char *key;
		const struct path_list *list;
	} lists[] = {{"read", &profile->file.read},
		     {"exec", &profile->file.exec},
		     {"write", &profile->file.write}};

	for (size_t k = 0; home != NULL && k < sizeof(lists) / sizeof(lists[0]); k++) {
		const struct path_rule *rule = rule_above(lists[k].list, home);

		if (rule != NULL)
			WARN(warnings,
			     "[file] %s = %s: the whole of your home folder is in it, with keys "
			     "and "
			     "passwords; name the folders that are needed",
			     lists[k].key, rule->path);
	}
}

static void warn_of_exec(struct warnings *warnings)
{
	const struct path_list *list = &warnings->profile->file.exec;

	for (size_t i = 0; i < list->count; i++) {
		const struct path_rule *rule = writable(warnings, list->items[i].path);

		if (rule != NULL)
			WARN(warnings,
			     "[file] exec = %s lies in write = %s: what is executed from there can "
			     "be changed by the run",
			     list->items[i].path, rule->path);
	}
}

const char *const *profile_warnings(struct arena *arena, const struct profile_context *context,
				    const struct profile *profile, size_t *ret_count)
{
	struct warnings warnings = {.arena = arena, .profile = profile};

	warn_of_path(&warnings, getenv("PATH"));
	warn_of_start_files(&warnings, context->home);
	warn_of_hooks(&warnings);
	warn_of_home(&warnings, context->home);
	warn_of_exec(&warnings);
	if (profile->network.mode == NETWORK_HOST)
		WARN(&warnings, "[network] mode = host: every address that this machine reaches, "
				"its own services and its neighbours' included");
	*ret_count = warnings.count;
	return warnings.items;
}
