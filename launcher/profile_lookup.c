// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nearest.h"

/*
 * A bare name is looked up in the profile folders and never in the current
 * one: what an earlier run left in the workspace must not become the next
 * run's policy.
 */

enum { FOLDERS = 3 };

static void folders_of(const struct profile_context *context, const char *ret_folders[FOLDERS])
{
	ret_folders[0] = context->user_dir;
	ret_folders[1] = context->system_dir;
	ret_folders[2] = context->shipped_dir;
}

const char *lookup_bare_name(struct arena *arena, const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	size_t len = strlen(base);

	if (len > 4 && strcmp(base + len - 4, ".ini") == 0)
		len -= 4;
	return arena_strndup(arena, base, len);
}

/* Absent is the only reason to look further: an unreadable folder must not change the policy. */
static int try_folder(struct arena *arena, const char *folder, const char *bare,
		      struct source *found, struct error *err)
{
	struct stat st;
	const char *path = arena_printf(arena, "%s/%s.ini", folder, bare);

	if (stat(path, &st) == 0) {
		found->path = path;
		found->shown = path;
		return 1;
	}
	if (errno == ENOENT || errno == ENOTDIR)
		return 0;
	error_sys(err, "%s cannot be looked up", text_show_bare(arena, path));
	err->kind = ERROR_PROFILE;
	return -1;
}

int lookup_profile(struct arena *arena, const struct profile_context *context, const char *name,
		   struct source *found, struct error *err)
{
	const char *folders[FOLDERS];
	const char *bare = lookup_bare_name(arena, name);

	if (strchr(name, '/') != NULL) {
		found->shown = name;
		found->path =
			name[0] == '/' ? name : arena_printf(arena, "%s/%s", context->cwd, name);
		return 0;
	}
	folders_of(context, folders);
	for (size_t i = 0; i < FOLDERS && bare[0] != '\0'; i++) {
		int rc = folders[i] ? try_folder(arena, folders[i], bare, found, err) : 0;

		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	return error_set(err, ERROR_PROFILE, "%s", lookup_missing(arena, context, name));
}

bool lookup_is_absent(struct arena *arena, const struct profile_context *context, const char *name)
{
	const char *folders[FOLDERS];
	const char *bare = lookup_bare_name(arena, name);
	struct stat st;

	if (strchr(name, '/') != NULL)
		return stat(name, &st) != 0 && errno == ENOENT;
	folders_of(context, folders);
	for (size_t i = 0; i < FOLDERS; i++) {
		if (folders[i] == NULL)
			continue;
		/* what cannot be looked at is not absent */
		if (stat(arena_printf(arena, "%s/%s.ini", folders[i], bare), &st) == 0 ||
		    (errno != ENOENT && errno != ENOTDIR))
			return false;
	}
	return true;
}

/* Regular file NAME or NAME.ini in the current folder, as "./NAME", or NULL. */
static const char *in_cwd(struct arena *arena, const struct profile_context *context,
			  const char *bare, struct stat *ret_st)
{
	static const char *const endings[] = {".ini", ""};

	for (size_t i = 0; i < 2 && context->cwd != NULL; i++) {
		const char *path = arena_printf(arena, "%s/%s%s", context->cwd, bare, endings[i]);

		if (stat(path, ret_st) == 0 && S_ISREG(ret_st->st_mode))
			return arena_printf(arena, "./%s%s", bare, endings[i]);
	}
	return NULL;
}

static void consider_folder(struct arena *arena, const char *folder, struct nearest *nearest)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		size_t len = strlen(entry->d_name);

		if (len > 4 && strcmp(entry->d_name + len - 4, ".ini") == 0)
			nearest_consider(nearest, lookup_bare_name(arena, entry->d_name));
	}
	if (dir != NULL)
		closedir(dir);
}

const char *lookup_missing(struct arena *arena, const struct profile_context *context,
			   const char *name)
{
	const char *folders[FOLDERS];
	const char *bare = lookup_bare_name(arena, name);
	struct nearest nearest = {.wanted = bare};
	struct text text = {.arena = arena};
	struct stat st;

	folders_of(context, folders);
	text_printf(&text, "%s is not a profile in ", text_show(arena, bare));
	for (size_t i = 0, shown = 0; i < FOLDERS; i++) {
		if (folders[i] == NULL)
			continue;
		text_printf(&text, "%s%s", shown++ ? ", " : "", text_show_bare(arena, folders[i]));
		consider_folder(arena, folders[i], &nearest);
	}
	const char *here = bare[0] ? in_cwd(arena, context, bare, &st) : NULL;

	if (here != NULL)
		text_printf(&text, " (write %s to use the one in this folder)", here);
	else if (nearest.best != NULL)
		text_printf(&text, "; did you mean %s?", text_show_bare(arena, nearest.best));
	else
		text_puts(&text, "; a path needs a /");
	return text_string(&text);
}

const char *lookup_note(struct arena *arena, const struct profile_context *context,
			const char *name, const struct source *taken)
{
	const char *bare = lookup_bare_name(arena, name);
	const char *shipped = context->shipped_dir
				      ? arena_printf(arena, "%s/%s.ini", context->shipped_dir, bare)
				      : "";
	struct text text = {.arena = arena};
	struct stat st;

	if (strchr(name, '/') != NULL)
		return NULL;
	const char *here = in_cwd(arena, context, bare, &st);

	if (here != NULL && st.st_dev == taken->device && st.st_ino == taken->inode)
		here = NULL;
	bool shadows = stat(shipped, &st) == 0 &&
		       (st.st_dev != taken->device || st.st_ino != taken->inode);

	if (here == NULL && !shadows)
		return NULL;
	text_printf(&text, "sbox: %s: using %s, not ", text_show_bare(arena, bare),
		    text_show_bare(arena, taken->path));
	if (here != NULL)
		text_printf(&text, "%s (write %s to use that one)", text_show_bare(arena, here),
			    text_show_bare(arena, here));
	if (shadows)
		text_printf(&text, "%sthe shipped %s", here ? ", nor " : "",
			    text_show_bare(arena, shipped));
	return text_string(&text);
}
