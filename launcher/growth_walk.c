// SPDX-License-Identifier: Apache-2.0
#include "growth.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_new(const struct growth_walk *walk, const struct stat *st)
{
	return st->st_ctim.tv_sec * (int64_t)1000000000 + st->st_ctim.tv_nsec >= walk->since_ns;
}

static void count(struct growth_walk *walk, const struct stat *st)
{
	if (!is_new(walk, st))
		return;
	uint64_t bytes = (uint64_t)st->st_blocks * 512;
	/* a file with several names is met once for each */
	if (!S_ISDIR(st->st_mode) && st->st_nlink > 1)
		bytes /= st->st_nlink;
	walk->found.bytes += bytes;
	walk->found.files++;
}

static bool is_root(const struct growth *growth, const struct stat *st)
{
	for (size_t i = 0; i < growth->root_count; i++) {
		if (growth->roots[i].device == st->st_dev && growth->roots[i].inode == st->st_ino)
			return true;
	}
	return false;
}

static void push(struct growth_walk *walk, int fd)
{
	struct growth_level *level = &walk->levels[walk->depth++];

	level->fd = fd;
	level->at = level->len = 0;
}

static void enter(struct growth_walk *walk, int dir_fd, const char *name, const struct stat *st)
{
	if (walk->depth == GROWTH_DEPTH) {
		walk->found.hidden = true;
		return;
	}
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		push(walk, fd);
	else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && is_new(walk, st))
		walk->found.hidden = true; /* chmod 0 changes the ctime */
}

static void enter_root(const struct growth *growth, struct growth_walk *walk)
{
	const struct growth_root *root = &growth->roots[walk->root++];
	struct stat st;

	if (fstat(root->fd, &st) < 0)
		return;
	count(walk, &st);
	if (S_ISDIR(st.st_mode))
		enter(walk, root->fd, ".", &st);
}

static void visit(const struct growth *growth, struct growth_walk *walk, const char *name)
{
	int dir_fd = walk->levels[walk->depth - 1].fd;
	dev_t device = growth->roots[walk->root - 1].device;
	struct stat st;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
		return;
	/* another mount, or a root of its own that has its own turn */
	if (st.st_dev != device || is_root(growth, &st))
		return;
	count(walk, &st);
	if (S_ISDIR(st.st_mode))
		enter(walk, dir_fd, name, &st);
}

/* The next entry of the deepest folder; NULL when that is at its end. */
static const struct dirent64 *next_entry(struct growth_level *level)
{
	if (level->at >= level->len) {
		level->at = 0;
		level->len = getdents64(level->fd, level->entries, sizeof(level->entries));
		if (level->len <= 0)
			return NULL;
	}
	const struct dirent64 *entry = (const struct dirent64 *)(level->entries + level->at);
	level->at += entry->d_reclen;
	return entry;
}

bool growth_walk_roots(const struct growth *growth, struct growth_walk *walk, size_t entries)
{
	while (walk->depth > 0 || walk->root < growth->root_count) {
		if (walk->depth == 0) {
			enter_root(growth, walk);
			continue;
		}
		if (entries-- == 0)
			return false;
		struct growth_level *level = &walk->levels[walk->depth - 1];
		const struct dirent64 *entry = next_entry(level);
		if (entry != NULL) {
			visit(growth, walk, entry->d_name);
			continue;
		}
		close(level->fd);
		walk->depth--;
	}
	return true;
}

void growth_walk_close(struct growth_walk *walk)
{
	while (walk->depth > 0)
		close(walk->levels[--walk->depth].fd);
}
