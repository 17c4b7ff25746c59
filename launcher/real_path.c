// SPDX-License-Identifier: Apache-2.0
#include "real_path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sys.h"

/* Absolute, and without "//", "/./", "/../" and a slash at the end. */
static bool is_normal(const char *path)
{
	if (*path != '/')
		return false;
	while (*path == '/') {
		const char *end = strchrnul(path + 1, '/');
		size_t part = (size_t)(end - path) - 1;

		if (part == 0 || (path[1] == '.' && (part == 1 || (part == 2 && path[2] == '.'))))
			return false;
		path = end;
	}
	return true;
}

/* realpath(3) asks about each component. That there is no link, the usual case, one look tells. */
const char *real_path(struct arena *arena, const char *path)
{
	char real[PATH_MAX];

	if (is_normal(path)) {
		int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC, RESOLVE_NO_SYMLINKS);

		if (fd >= 0) {
			close(fd);
			return path;
		}
	}
	return realpath(path, real) != NULL ? arena_strdup(arena, real) : NULL;
}
