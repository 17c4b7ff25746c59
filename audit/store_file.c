// SPDX-License-Identifier: Apache-2.0
#include "store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Never through a link, never a terminal or a FIFO that blocks, never inherited. */
enum { SAFE_FLAGS = O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

static const char *way_out(int errnum)
{
	switch (errnum) {
	case ENOSPC:
		return "; free space on its file system, or name another [audit] store";
	case EDQUOT:
		return "; free space within your quota";
	case EFBIG:
		return "; raise the file size limit (ulimit -f)";
	case EROFS:
	case EACCES:
		return "; the store must be in a folder that you can write to";
	case ELOOP:
		return "; it is a symbolic link: move it away";
	default:
		return "";
	}
}

int store_fail(struct error *err, const char *fmt, ...)
{
	int saved = errno;
	char text[sizeof(err->text) / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	error_set(err, ERROR_AUDIT, "%s: %s%s", text, strerror(saved), way_out(saved));
	err->errnum = saved;
	return -1;
}

int store_check_name(const char *name, struct error *err)
{
	size_t len = strlen(name);

	if (len == 0 || len > 128 || name[0] == '.' ||
	    name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")])
		return error_set(err, ERROR_AUDIT,
				 "audit store: a name in it is 1-128 letters, digits, '.', '_' and "
				 "'-' and starts with no dot");
	return 0;
}

static const char *refusal(const struct stat *st, mode_t type, uid_t owner)
{
	if ((st->st_mode & S_IFMT) != type)
		return type == S_IFREG ? "not a regular file: move it away"
				       : "not a folder: move it away";
	if (st->st_uid != owner)
		return "belongs to another user: move it away";
	if (type == S_IFREG && st->st_nlink > 1)
		return "has another name (a hard link): move it away";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "can be written by others: chmod go-w";
	return NULL;
}

static int check_fd(int fd, const char *where, const char *name, mode_t type, uid_t owner,
		    struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return store_fail(err, "audit store %s/%s", where, name);
	const char *why = refusal(&st, type, owner);
	if (why != NULL)
		return error_set(err, ERROR_AUDIT, "audit store %s/%s: refused: %s", where, name,
				 why);
	return 0;
}

/* Makes the file unless it is there; an odd umask must not lock us out of it. */
static int open_or_make(int dir_fd, const char *name, int flags, bool *made)
{
	int fd = -1;

	for (int tries = 0; fd < 0 && tries < 10; tries++) {
		fd = openat(dir_fd, name, (flags & ~O_CREAT) | SAFE_FLAGS);
		if (fd >= 0 || errno != ENOENT || !(flags & O_CREAT))
			return fd;
		fd = openat(dir_fd, name, flags | O_EXCL | SAFE_FLAGS, 0600);
		*made = fd >= 0;
		if (fd < 0 && errno != EEXIST)
			return -1;
	}
	if (fd >= 0)
		fchmod(fd, 0600);
	return fd;
}

int store_file_open(int dir_fd, const char *where, const char *name, int flags, uid_t owner,
		    bool *ret_made, struct error *err)
{
	bool made = false;
	int fd = open_or_make(dir_fd, name, flags, &made);

	if (fd < 0)
		return store_fail(err, "audit store %s/%s: cannot open", where, name);
	if (check_fd(fd, where, name, S_IFREG, owner, err) < 0) {
		close(fd);
		return -1;
	}
	if (ret_made != NULL)
		*ret_made = made;
	return fd;
}

int store_folder_open(const struct store *store, const char *name, bool make, struct error *err)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(store->dir_fd, name, flags);

	if (fd < 0 && errno == ENOENT && make) {
		if (mkdirat(store->dir_fd, name, 0700) < 0 && errno != EEXIST)
			return store_fail(err, "audit store %s/%s: cannot make", store->dir, name);
		fd = openat(store->dir_fd, name, flags);
	}
	if (fd < 0)
		return store_fail(err, "audit store %s/%s: cannot open", store->dir, name);
	if (check_fd(fd, store->dir, name, S_IFDIR, store->owner, err) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int store_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len > 0) {
		ssize_t done = write(fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		at += done;
		len -= (size_t)done;
	}
	return 0;
}
