// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_entries.h"
#include "run.h"

/* argv[0] as execvp(3) would find it, but inside: on the PATH that the program
 * gets, below paths that the profile shows. No shell takes part. */

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool is_visible(struct run *run, const char *path)
{
	struct path_fact fact;

	return host_resolve(run->arena, &run->host, path, &fact) == 0 &&
	       file_entry_for(run->arm.entries, fact.path) != NULL;
}

/* The first program of that name on a PATH, or NULL. */
static const char *search(struct run *run, const char *folders, const char *name, bool visible)
{
	for (const char *at = folders; *at != '\0';) {
		size_t len = strcspn(at, ":");
		const char *path = arena_printf(run->arena, "%.*s/%s", (int)len, at, name);

		if (len > 0 && at[0] == '/' && is_program(path) &&
		    (!visible || is_visible(run, path)))
			return path;
		at += len + (at[len] == ':');
	}
	return NULL;
}

static int not_found(struct run *run, const char *name, const char *inside_path, struct error *err)
{
	const char *outside = search(run, run->host.path, name, false);

	if (outside != NULL)
		return program_not_visible(run, name, outside, err);
	if (strcmp(name, "python") == 0 && search(run, inside_path, "python3", true) != NULL)
		return error_set(err, ERROR_NOT_FOUND,
				 "python: not found, but python3 is there: sbox python3 ...");
	for (size_t i = 0; i < verb_count; i++)
		if (strcmp(name, verb_table[i].name) == 0)
			return error_set(err, ERROR_NOT_FOUND,
					 "%s: a verb only as the first argument: sbox %s ...", name,
					 name);
	return error_set(err, ERROR_NOT_FOUND, "%s: not found on the PATH inside (%s)", name,
			 inside_path);
}

static int find_by_path(struct run *run, const char *name, const char **ret_path, struct error *err)
{
	const char *path = name;
	struct stat st;

	if (name[0] != '/') {
		if (run->host.cwd == NULL)
			return error_set(err, ERROR_NOT_FOUND,
					 "%s: the current folder is gone; write the whole path",
					 name);
		path = arena_printf(run->arena, "%s/%s", run->host.cwd, name);
	}
	if (stat(path, &st) != 0)
		return error_set(err,
				 errno == ENOENT || errno == ENOTDIR ? ERROR_NOT_FOUND
								     : ERROR_NOT_EXECUTABLE,
				 "%s: %s", name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(err, ERROR_NOT_EXECUTABLE, "%s: is a folder", name);
	if (!S_ISREG(st.st_mode) || access(path, X_OK) != 0)
		return error_set(
			err, ERROR_NOT_EXECUTABLE,
			"%s: not executable (chmod +x, or name the interpreter: sbox python3 %s)",
			name, name);
	if (!is_visible(run, path))
		return program_not_visible(run, name, path, err);
	*ret_path = path;
	return 0;
}

int program_find(struct run *run, const char **ret_host_path, struct error *err)
{
	const char *name = run->options->arguments[0];

	if (name[0] == '\0')
		return error_set(err, ERROR_NOT_FOUND, "the program's name is empty");
	if (strchr(name, '/') != NULL)
		return find_by_path(run, name, ret_host_path, err);
	const char *folders = environment_path(run);
	const char *path = search(run, folders, name, true);
	if (path == NULL)
		return not_found(run, name, folders, err);
	*ret_host_path = path;
	return 0;
}
