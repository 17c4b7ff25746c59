// SPDX-License-Identifier: Apache-2.0
#include "locate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "passwd.h"
#include "real_path.h"
#include "store.h"

const char *locate_own_file(struct arena *arena)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	return len > 0 ? arena_strndup(arena, path, (size_t)len) : NULL;
}

/* The folder that sbox's own file is in; "" if that is not known. */
static const char *own_folder(struct arena *arena, const char *own_file)
{
	const char *path = own_file != NULL ? own_file : locate_own_file(arena);
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return slash != NULL ? arena_strndup(arena, path, (size_t)(slash - path)) : "";
}

static const char *first_existing(struct arena *arena, const char *own_file,
				  const char *const *patterns, size_t count, const char *name)
{
	const char *folder = own_folder(arena, own_file);

	for (size_t i = 0; i < count; i++) {
		const char *pattern = patterns[i], *slash = strrchr(folder, '/');
		const char *start = *pattern == '/' ? "" : folder;
		int len = (int)strlen(start);

		/* what /proc/self/exe says has no link in it */
		if (own_file == NULL && slash != NULL && strncmp(pattern, "../", 3) == 0) {
			pattern += 2;
			len = (int)(slash - folder);
		}
		const char *whole =
			real_path(arena, arena_printf(arena, "%.*s%s%s%s", len, start,
						      *pattern == '/' ? "" : "/", pattern, name));
		if (whole != NULL)
			return whole;
	}
	return NULL;
}

const char *locate_profiles(struct arena *arena, const char *own_file)
{
	static const char *const patterns[] = {"../share/sbox/", "../", SBOX_DATADIR "/"};

	return first_existing(arena, own_file, patterns, 3, "profiles");
}

const char *locate_helper(struct arena *arena, const char *name)
{
	static const char *const patterns[] = {"../libexec/sbox/", "", SBOX_LIBEXECDIR "/"};

	return first_existing(arena, NULL, patterns, 3, name);
}

static const char *absolute_env(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] == '/' ? value : NULL;
}

int locate_context(struct arena *arena, const struct options *options,
		   struct profile_context *ret_context, struct error *err)
{
	char cwd[PATH_MAX];
	struct profile_context context = {.home = absolute_env("HOME"),
					  .uid = geteuid(),
					  .store = options->store_dir,
					  .system_dir = SBOX_SYSCONFDIR "/profiles",
					  .shipped_dir = locate_profiles(arena, options->own_file)};
	const char *config = absolute_env("XDG_CONFIG_HOME");

	if (getcwd(cwd, sizeof(cwd)) != NULL && cwd[0] == '/')
		context.cwd = arena_strdup(arena, cwd);
	struct passwd_entry entry;
	if (passwd_by_uid(arena, context.uid, &entry))
		context.user = entry.name;
	if (config != NULL)
		context.user_dir = arena_printf(arena, "%s/sbox/profiles", config);
	else if (context.home != NULL)
		context.user_dir = arena_printf(arena, "%s/.config/sbox/profiles", context.home);
	if (context.store == NULL &&
	    store_default_dir(arena, context.uid, &context.store, err) != 0)
		return -1;
	*ret_context = context;
	return 0;
}
