// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <string.h>

#include "file_entries.h"
#include "run.h"
#include "toolchain.h"

/* A program that is there and not visible: which line of a profile shows it, and which of
 * the profiles that come with sbox has such a line. Only on the way to an error. */

static bool has_path(const struct path_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (path_is_below(path, list->items[i].path))
			return true;
	return false;
}

static bool has_toolchain(const struct profile *profile, const struct toolchain *toolchain)
{
	const struct string_list *list = &profile->file.toolchains;

	for (size_t i = 0; toolchain != NULL && i < list->count; i++)
		if (strcmp(list->items[i], "@all") == 0 ||
		    strcmp(list->items[i], toolchain->name) == 0)
			return true;
	return false;
}

static bool shows(struct run *run, const char *name, const char *path,
		  const struct toolchain *toolchain)
{
	struct profile *profile = arena_alloc(run->arena, sizeof(*profile));
	struct error err;

	return profile_load(run->arena, &run->context, name, NULL, 0, profile, NULL, &err) == 0 &&
	       !has_path(&profile->file.hide, path) &&
	       (has_toolchain(profile, toolchain) || has_path(&profile->file.exec, path) ||
		has_path(&profile->file.write, path));
}

/* "agent, python" */
static const char *shipped_showing(struct run *run, const char *path,
				   const struct toolchain *toolchain)
{
	const char *folder = run->context.shipped_dir, *text = "";
	struct dirent **entries = NULL;
	int count = folder != NULL ? scandir(folder, &entries, NULL, alphasort) : 0;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		size_t len = strlen(name);

		if (len > 4 && strcmp(name + len - 4, ".ini") == 0 &&
		    shows(run, arena_printf(run->arena, "%s/%s", folder, name), path, toolchain))
			text = arena_printf(run->arena, "%s%s%.*s", text, *text != '\0' ? ", " : "",
					    (int)len - 4, name);
	}
	return text;
}

int program_not_visible(struct run *run, const char *name, const char *path, struct error *err)
{
	struct path_fact fact;
	/* the link's own folder may be listed; what it leads to is what is missing */
	const char *there =
		host_resolve(run->arena, &run->host, path, &fact) == 0 ? fact.path : path;
	const char *slash = strrchr(there, '/');
	const struct toolchain *toolchain =
		toolchain_showing(run->arena, &run->context, path, there);
	const char *line = toolchain != NULL
				   ? arena_printf(run->arena, "toolchains = %s", toolchain->name)
				   : arena_printf(run->arena, "exec = %.*s",
						  slash > there ? (int)(slash - there) : 1, there);
	const char *shipped = shipped_showing(run, there, toolchain);

	return error_set(err, ERROR_NOT_FOUND,
			 "%s: %s exists but is not visible inside; to show it: [file] %s%s%s%s",
			 name, path, line, *shipped != '\0' ? " (--profile " : "", shipped,
			 *shipped != '\0' ? " has it)" : "");
}
