// SPDX-License-Identifier: Apache-2.0
#include "judge_look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sys.h"

enum { LINKS_MAX = 40, SLOW_MAX = 64 };

int look_inside(const struct judge *judge, const char *path, bool no_follow)
{
	return sys_openat2(judge->root_fd, path,
			   O_PATH | O_CLOEXEC | (no_follow ? (unsigned)O_NOFOLLOW : 0),
			   RESOLVE_IN_ROOT);
}

bool look_path_of(int fd, char ret_path[PATH_MAX])
{
	static const char gone[] = " (deleted)";
	char link[40];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, ret_path, PATH_MAX - 1);
	/* what covers hidden names has no name of its own any more, its place is still the path */
	ssize_t before = len - (ssize_t)(sizeof(gone) - 1);
	if (before > 0 && memcmp(ret_path + before, gone, sizeof(gone) - 1) == 0 &&
	    fstat(fd, &st) == 0 && st.st_nlink == 0)
		len = before;
	ret_path[len > 0 ? len : 0] = '\0';
	return len > 0 && ret_path[0] == '/';
}

bool look_parent(const char *path, char ret_parent[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL || slash[1] == '\0')
		return false;
	snprintf(ret_parent, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	return true;
}

bool look_plain(const char *path, char ret_path[PATH_MAX])
{
	size_t len = 0;

	while (*path != '\0') {
		size_t part = strcspn(path, "/");

		if (part == 2 && path[0] == '.' && path[1] == '.')
			return false;
		if (part > 0 && !(part == 1 && path[0] == '.')) {
			if (len + part + 2 > PATH_MAX)
				return false;
			ret_path[len++] = '/';
			memcpy(ret_path + len, path, part);
			len += part;
		}
		path += part + (path[part] == '/');
	}
	if (len == 0)
		ret_path[len++] = '/';
	ret_path[len] = '\0';
	return true;
}

/* ---- the host ---- */

static bool is_slow_type(const char *type)
{
	static const char *const types[] = {"nfs",    "nfs4",  "cifs", "smb3",   "9p",
					    "autofs", "ceph",  "afs",  "lustre", "ncpfs",
					    "gfs2",   "ocfs2", "coda", "beegfs"};

	if (strncmp(type, "fuse", 4) == 0)
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i], type) == 0)
			return true;
	return false;
}

/* "\040" is a space. */
static char *unescape(char *text)
{
	char *out = text;

	for (const char *at = text; *at != '\0'; out++) {
		if (at[0] == '\\' && at[1] != '\0' && at[2] != '\0' && at[3] != '\0') {
			*out = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
			at += 4;
		} else {
			*out = *at++;
		}
	}
	*out = '\0';
	return text;
}

/* The whole tree may lie on one of these (a virtual machine's 9p): then that is how it is. */
static void note_mount(struct judge *judge, char *line)
{
	char *save = NULL, *point = NULL, *type = NULL;
	int field = 0;

	for (char *word = strtok_r(line, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		if (field++ == 4)
			point = word;
		if (strcmp(word, "-") == 0 && field > 6) {
			type = strtok_r(NULL, " ", &save);
			break;
		}
	}
	if (type == NULL || !is_slow_type(type) || strcmp(point, "/") == 0)
		return;
	*ARENA_PUSH(judge->arena, judge->slow, judge->slow_count) =
		arena_strdup(judge->arena, unescape(point));
}

static void find_slow(struct judge *judge)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;

	judge->slow_known = true;
	if (file == NULL) {
		*ARENA_PUSH(judge->arena, judge->slow, judge->slow_count) = "/";
		return;
	}
	while (getline(&line, &size, file) > 0)
		note_mount(judge, line);
	free(line);
	fclose(file);
}

/* The program sees what is mounted there, so a link of its own may lead into it. */
static bool shows_slow(const struct judge *judge)
{
	for (size_t i = 0; i < judge->slow_count; i++)
		for (size_t j = 0; j < judge->entries->count; j++)
			if (path_is_below(judge->slow[i], judge->entries->items[j].path) ||
			    path_is_below(judge->entries->items[j].path, judge->slow[i]))
				return true;
	return false;
}

static bool has_way_up(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2)
		if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
			return true;
	return false;
}

bool look_is_slow(struct judge *judge, const char *path)
{
	if (!judge->slow_known) {
		find_slow(judge);
		if (shows_slow(judge))
			*ARENA_PUSH(judge->arena, judge->slow, judge->slow_count) = "/";
	}
	/* where ".." leads only a look could tell */
	if (judge->slow_count > 0 && has_way_up(path))
		return true;
	for (size_t i = 0; i < judge->slow_count; i++)
		if (path_is_below(path, judge->slow[i]))
			return true;
	return false;
}

/* Replaces the first symbolic link on the way; false: there is none, or it got too long. */
static bool expand_link(char path[PATH_MAX])
{
	char target[PATH_MAX], next[2 * PATH_MAX];

	for (char *end = path + 1;; end++) {
		if (*end != '/' && *end != '\0')
			continue;
		char kept = *end;
		*end = '\0';
		ssize_t len = readlink(path, target, sizeof(target) - 1);
		if (len > 0 && target[0] != '/')
			*(strrchr(path, '/') + 1) = '\0';
		int folder = len > 0 && target[0] != '/' ? (int)strlen(path) : 0;
		*end = kept;
		if (len > 0) {
			target[len] = '\0';
			snprintf(next, sizeof(next), "%.*s%s%s", folder, path, target, end);
			return snprintf(path, PATH_MAX, "%s", next) < PATH_MAX;
		}
		if (kept == '\0')
			return false;
	}
}

/* Link by link, so that none leads to where nobody may answer. */
static int open_host(struct judge *judge, char path[PATH_MAX], bool no_follow)
{
	struct stat st;

	for (int links = 0; links <= LINKS_MAX; links++) {
		if (look_is_slow(judge, path)) {
			errno = EAGAIN;
			return -1;
		}
		int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC,
				     RESOLVE_NO_SYMLINKS);
		if (fd < 0 && errno != ELOOP)
			return -1;
		if (fd >= 0 && (no_follow || (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode))))
			return fd;
		if (fd >= 0)
			close(fd);
		if (!expand_link(path))
			break;
	}
	errno = ELOOP;
	return -1;
}

int look_host(struct judge *judge, const char *path, bool no_follow, char ret_path[PATH_MAX],
	      struct stat *ret_st)
{
	if (snprintf(ret_path, PATH_MAX, "%s", path) >= PATH_MAX)
		return errno = ENAMETOOLONG, -1;
	int fd = open_host(judge, ret_path, no_follow);
	if (fd < 0)
		return -1;
	bool done = fstat(fd, ret_st) == 0 && look_path_of(fd, ret_path);
	close(fd);
	return done ? 0 : -1;
}

bool look_mode_allows(const struct judge *judge, const struct stat *st, int mode)
{
	unsigned bits = st->st_mode & 07;

	if (st->st_uid == judge->uid)
		bits = st->st_mode >> 6 & 07;
	return (bits & (unsigned)mode) == (unsigned)mode;
}

/* A write path comes to the run's own user with its owner's rights, whoever that is. */
bool look_may(const struct judge *judge, const char *path, const struct stat *st, int mode)
{
	if (!judge->by_mode)
		return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
	if ((mode & W_OK) != 0)
		return true;
	return look_mode_allows(judge, st, mode);
}

/* ---- inside ---- */

uint64_t look_mount(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) != 0 ||
	    (st.stx_mask & STATX_MNT_ID) == 0)
		return 0;
	return st.stx_mnt_id;
}

bool look_read_only(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_RDONLY) != 0;
}

bool look_noexec(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (fs.f_flags & ST_NOEXEC) != 0;
}

const struct file_entry *look_entry(const struct judge *judge, const char *path)
{
	const struct file_entry *found = NULL;

	for (size_t i = 0; i < judge->entries->count; i++) {
		const struct file_entry *entry = &judge->entries->items[i];

		if (!path_is_below(path, entry->path) || entry->hidden || entry->redundant)
			continue;
		found = entry;
		if ((entry->kinds & KIND(PATH_HIDE)) != 0)
			break;
	}
	return found;
}

/* One file and one folder without any mode bit lie over all of them: see child_new_root(). The
 * program can make such files too, so this is only what tells when to look closer. */
bool look_is_cover(struct judge *judge, int fd)
{
	struct stat st;

	if (!judge->device_known && fstat(judge->root_fd, &st) == 0) {
		judge->device = st.st_dev;
		judge->device_known = true;
	}
	return judge->hides && fstat(fd, &st) == 0 && st.st_dev == judge->device &&
	       (st.st_mode & 07777) == 0;
}
