// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile_save.h"

enum { FILE_BYTES_MAX = 1 << 20 };

/* The file is the caller's to write: no link, no other owner, nobody else may change it. */
static const char *fault_of(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	if (st->st_uid != geteuid())
		return "it belongs to somebody else";
	if ((st->st_mode & 022) != 0)
		return "others may write it";
	if (st->st_size > FILE_BYTES_MAX)
		return "it is larger than a profile can be";
	return NULL;
}

static int read_all(struct arena *arena, struct profile_save *save, int fd, size_t size,
		    struct error *err)
{
	char *text = arena_alloc(arena, size + 1);
	size_t len = 0;
	ssize_t got;

	while (len < size && (got = read(fd, text + len, size - len)) > 0)
		len += (size_t)got;
	if (memchr(text, '\0', len) != NULL)
		return error_set(err, ERROR_PROFILE, "%s: it has a zero byte in it", save->path);
	save->before = text;
	return 0;
}

/* What would refuse the file at the end is said before anything is done for it. */
static int check_folder(struct arena *arena, const struct profile_save *save, struct error *err)
{
	const char *folder = profile_folder(arena, save->path);
	struct stat st;

	if (stat(folder, &st) != 0)
		return error_sys(err, "%s: cannot look at its folder", save->path);
	if (!S_ISDIR(st.st_mode) || access(folder, W_OK | X_OK) != 0)
		return error_sys(err, "%s: cannot write to its folder", save->path);
	if (profile_folder_is_shared(&st))
		return error_set(err, ERROR_PROFILE,
				 "%s: its folder %s can be written by everyone: chmod o-w it, or "
				 "name a file elsewhere",
				 save->path, folder);
	return 0;
}

int profile_save_read(struct arena *arena, struct profile_save *save, struct error *err)
{
	struct stat st;

	if (check_folder(arena, save, err) != 0)
		return -1;
	int fd = open(save->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	save->is_new = fd < 0 && errno == ENOENT;
	save->before = "";
	if (save->is_new)
		return 0;
	if (fd < 0)
		return errno == ELOOP ? error_set(err, ERROR_PROFILE,
						  "%s is a link: name the file that it leads to",
						  save->path)
				      : error_sys(err, "cannot open %s", save->path);
	const char *fault = fstat(fd, &st) != 0 ? "it cannot be looked at" : fault_of(&st);
	int rc = fault != NULL ? error_set(err, ERROR_PROFILE, "%s: %s", save->path, fault)
			       : read_all(arena, save, fd, (size_t)st.st_size, err);
	close(fd);
	return rc;
}

static int write_all(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t done = write(fd, text, len);

		if (done < 0)
			return -1;
		text += done;
		len -= (size_t)done;
	}
	return fsync(fd);
}

/* The name stands for the new text or for the old one, never for a part; also after a crash. */
static int replace(struct arena *arena, const struct profile_save *save, const char *beside,
		   struct error *err)
{
	const char *slash = strrchr(save->path, '/');
	const char *folder =
		slash == NULL ? "."
			      : arena_printf(arena, "%.*s/", (int)(slash - save->path), save->path);

	if (save->is_new ? link(beside, save->path) != 0 : rename(beside, save->path) != 0)
		return error_sys(err, "cannot put %s in its place", save->path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	return 0;
}

int profile_save_write(struct arena *arena, const struct profile_save *save,
		       const struct profile_context *context, const char *after, struct error *err)
{
	const char *beside =
		arena_printf(arena, "%s%s.%d.new", strchr(save->path, '/') == NULL ? "./" : "",
			     save->path, (int)getpid());
	struct profile *profile = arena_alloc(arena, sizeof(*profile));
	struct stat st = {.st_mode = 0644};

	if (!save->is_new && lstat(save->path, &st) != 0)
		return error_sys(err, "cannot look at %s", save->path);
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      st.st_mode & 0755);
	if (fd < 0)
		return error_sys(err, "cannot make %s", beside);
	int rc = write_all(fd, after);
	if (rc != 0)
		error_sys(err, "cannot write %s", beside);
	close(fd);
	/* what sbox itself would not take is not put there */
	if (rc == 0)
		rc = profile_load(arena, context, beside, NULL, 0, profile, NULL, err);
	if (rc == 0)
		rc = replace(arena, save, beside, err);
	unlink(beside);
	return rc;
}
