// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"

/*
 * What is in the folder was made by a program that nobody trusts: it may be deeper than a
 * path can say, and closed to its owner. Nothing is reached but by descriptor, no link is
 * followed, and what lies too deep for recursion is moved up before it is removed.
 */

enum { DEPTH_MAX = 128 };

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int open_below(int fd, const char *name)
{
	return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A copy of the descriptor to read from, since the caller's goes on being used. */
static DIR *read_folder(int fd)
{
	int copy = open_below(fd, ".");
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;

	if (dir == NULL && copy >= 0)
		close(copy);
	return dir;
}

static bool measure(int fd, int depth, uint64_t *bytes)
{
	DIR *dir = depth < DEPTH_MAX ? read_folder(fd) : NULL;
	const struct dirent *entry;
	bool whole = dir != NULL;

	while (dir != NULL && whole && (entry = readdir(dir)) != NULL) {
		struct stat st;

		if (is_dot(entry->d_name))
			continue;
		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
			whole = errno == ENOENT;
			continue;
		}
		*bytes += (uint64_t)st.st_blocks * 512;
		if (!S_ISDIR(st.st_mode))
			continue;
		int below = open_below(fd, entry->d_name);
		whole = below >= 0 && measure(below, depth + 1, bytes);
		if (below >= 0)
			close(below);
	}
	if (dir != NULL)
		closedir(dir);
	return whole;
}

bool cache_measure(int folder_fd, uint64_t *ret_bytes)
{
	*ret_bytes = 0;
	return measure(folder_fd, 0, ret_bytes);
}

/* To the top, under a name that nothing there has. */
static int move_up(int top_fd, int fd, const char *name)
{
	static unsigned number;
	char unique[32];

	do
		snprintf(unique, sizeof(unique), ".deep-%u", number++);
	while (faccessat(top_fd, unique, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	return renameat(fd, name, top_fd, unique);
}

static int empty(int top_fd, int fd, int depth);

static int remove_folder(int top_fd, int fd, const char *name, int depth)
{
	int below = open_below(fd, name);

	/* its owner, which we are, closed it to itself */
	if (below < 0 && errno == EACCES && fchmodat(fd, name, 0700, 0) == 0)
		below = open_below(fd, name);
	if (below < 0)
		return -1;
	int failed = fchmod(below, 0700) != 0 || empty(top_fd, below, depth + 1) != 0;
	close(below);
	return failed || unlinkat(fd, name, AT_REMOVEDIR) != 0 ? -1 : 0;
}

static int empty(int top_fd, int fd, int depth)
{
	DIR *dir = read_folder(fd);
	const struct dirent *entry;
	int failed = 0;

	if (dir == NULL)
		return -1;
	while (failed == 0 && (entry = readdir(dir)) != NULL) {
		if (is_dot(entry->d_name) || unlinkat(fd, entry->d_name, 0) == 0)
			continue;
		if (errno != EISDIR && errno != EPERM)
			failed = -1;
		else if (depth == DEPTH_MAX)
			failed = move_up(top_fd, fd, entry->d_name);
		else
			failed = remove_folder(top_fd, fd, entry->d_name, depth);
	}
	closedir(dir);
	return failed;
}

/* Again as long as something was moved up meanwhile. */
int cache_empty(int folder_fd)
{
	for (bool more = true; more;) {
		const struct dirent *entry;

		if (empty(folder_fd, folder_fd, 0) != 0)
			return -1;
		DIR *dir = read_folder(folder_fd);
		if (dir == NULL)
			return -1;
		more = false;
		while ((entry = readdir(dir)) != NULL)
			more |= !is_dot(entry->d_name);
		closedir(dir);
	}
	return 0;
}
