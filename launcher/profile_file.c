// SPDX-License-Identifier: Apache-2.0
#include "profile_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "real_path.h"

/*
 * A profile is policy, so it is read only when nobody but root and the caller
 * can have written it. Everything is asked of the open descriptor.
 */

static int refuse(const struct source *source, struct error *err, const char *why)
{
	return error_at(err, source->shown, 0, "%s", why);
}

/* errno kept, file named. */
static int refuse_errno(const struct source *source, struct error *err, const char *what)
{
	int saved = errno;

	error_at(err, source->shown, 0, "%s: %s", what, strerror(saved));
	err->errnum = saved;
	return -1;
}

const char *profile_folder(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return ".";
	return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

bool profile_folder_is_shared(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) && !(st->st_mode & S_ISVTX);
}

static int check_folder(struct arena *arena, const struct source *source, const char *path,
			struct error *err)
{
	const char *folder = profile_folder(arena, path);
	struct stat st;

	if (stat(folder, &st) < 0)
		return refuse_errno(source, err, "its folder cannot be looked at");
	if (profile_folder_is_shared(&st))
		return error_at(err, source->shown, 0,
				"its folder %s can be written by everyone: chmod o-w it, or move "
				"the profile",
				text_show_bare(arena, folder));
	return 0;
}

/* What the kernel shows for a user that a user namespace does not know. */
enum { OVERFLOW_UID = 65534 };

/* In a user namespace without all users root's own files can be shown as nobody's. */
static bool may_be_roots(uid_t uid)
{
	unsigned long first = 0, outside = 0, count = 0;

	if (uid != OVERFLOW_UID)
		return uid == 0;
	FILE *map = fopen("/proc/self/uid_map", "re");
	if (map == NULL)
		return false;
	bool known =
		fscanf(map, "%lu %lu %lu", &first, &outside, &count) != 3 || count >= UINT32_MAX;
	fclose(map);
	return !known;
}

static int check_file(struct arena *arena, uid_t uid, struct source *source, const struct stat *st,
		      struct error *err)
{
	if (!S_ISREG(st->st_mode))
		return refuse(source, err, "is not a regular file");
	if (st->st_uid != uid && !may_be_roots(st->st_uid))
		return error_at(err, source->shown, 0,
				"belongs to uid %u, and only you (uid %u) or root may write "
				"profiles: copy it, or chown it",
				(unsigned int)st->st_uid, (unsigned int)uid);
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return error_at(err, source->shown, 0, "can be written by %s: chmod go-w %s",
				st->st_mode & S_IWOTH ? "everyone" : "its group",
				text_show_bare(arena, source->shown));
	if (st->st_size > PROFILE_FILE_BYTES)
		return refuse(source, err, "is larger than 1 MiB: that is no profile");
	source->size = (size_t)st->st_size;
	source->device = st->st_dev;
	source->inode = st->st_ino;
	return 0;
}

/* One byte more than there should be is asked for, so that a file that grows is noticed. */
static int read_bytes(struct arena *arena, int fd, struct source *source, struct error *err)
{
	size_t room = source->size + 1, size = 0;
	char *bytes = arena_alloc(arena, room + 1);
	ssize_t got;

	do {
		got = read(fd, bytes + size, room - size);
		if (got > 0)
			size += (size_t)got;
	} while ((got > 0 && size < room) || (got < 0 && errno == EINTR));
	if (got < 0)
		return refuse_errno(source, err, "cannot be read");
	if (size != source->size)
		return refuse(source, err, "changed while it was read: try again");
	source->bytes = bytes;
	return 0;
}

/* By its text alone, for what is not there (any more): no ".", "..", or empty part is left. */
static const char *plain_path(struct arena *arena, const char *path)
{
	char *plain = arena_alloc(arena, strlen(path) + 2), *end = plain;

	for (size_t len; *path != '\0'; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (len == 0 || (len == 1 && path[0] == '.'))
			continue;
		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (end > plain && *--end != '/')
				;
			continue;
		}
		*end++ = '/';
		memcpy(end, path, len);
		end += len;
	}
	*end = '\0';
	return end > plain ? plain : "/";
}

const char *path_resolved(struct arena *arena, const char *path)
{
	const char *real = real_path(arena, path);

	if (real != NULL)
		return real;
	return path[0] == '/' ? plain_path(arena, path) : path;
}

/* The folder of the file, and of what it is a link to. */
static int check_folders(struct arena *arena, const struct source *source, struct error *err)
{
	struct stat st;

	if (check_folder(arena, source, source->path, err) < 0)
		return -1;
	if (lstat(source->path, &st) == 0 && !S_ISLNK(st.st_mode))
		return 0;
	return check_folder(arena, source, path_resolved(arena, source->path), err);
}

static int read_open(struct arena *arena, uid_t uid, int fd, struct source *source,
		     struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return refuse_errno(source, err, "cannot be looked at");
	if (check_file(arena, uid, source, &st, err) < 0)
		return -1;
	if (check_folders(arena, source, err) < 0)
		return -1;
	return read_bytes(arena, fd, source, err);
}

int source_read(struct arena *arena, uid_t uid, struct source *source, struct error *err)
{
	int fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return refuse_errno(source, err, "cannot be opened");
	int rc = read_open(arena, uid, fd, source, err);
	close(fd);
	return rc;
}
