// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "host.h"
#include "passwd.h"
#include "real_path.h"
#include "sys.h"

enum { LINKS_MAX = 40 };

const char *const path_kind_names[PATH_KIND_MAX] = {"exec", "read",    "write", "noexec",
						    "hide", "protect", "device"};

const struct path_list *profile_paths(const struct profile *profile, enum path_kind kind)
{
	const struct path_list *lists[PATH_KIND_MAX] = {
		[PATH_EXEC] = &profile->file.exec,     [PATH_READ] = &profile->file.read,
		[PATH_WRITE] = &profile->file.write,   [PATH_NOEXEC] = &profile->file.noexec,
		[PATH_HIDE] = &profile->file.hide,     [PATH_PROTECT] = &profile->file.protect,
		[PATH_DEVICE] = &profile->file.device,
	};

	return lists[kind];
}

static void add_link(struct arena *arena, struct host *host, const char *at, const char *target)
{
	for (size_t i = 0; i < host->link_count; i++)
		if (strcmp(host->links[i].at, at) == 0)
			return;
	struct link_fact *link = ARENA_PUSH(arena, host->links, host->link_count);
	link->at = at;
	link->target = target;
}

/*
 * Replaces the first symbolic link in an absolute path by its target. Returns
 * the new path, or NULL when there is none (or on an error: errno is set).
 */
static const char *expand_first_link(struct arena *arena, struct host *host, const char *path)
{
	char target[PATH_MAX];

	errno = 0;
	for (const char *end = path + 1;; end++) {
		if (*end != '/' && *end != '\0')
			continue;
		const char *prefix = arena_strndup(arena, path, (size_t)(end - path));
		ssize_t len = readlink(prefix, target, sizeof(target) - 1);
		if (len > 0) {
			target[len] = '\0';
			const char *text = arena_strdup(arena, target);
			add_link(arena, host, prefix, text);
			const char *slash = strrchr(prefix, '/');
			if (target[0] == '/')
				return arena_printf(arena, "%s%s", text, end);
			return arena_printf(arena, "%.*s/%s%s", (int)(slash - prefix), prefix, text,
					    end);
		}
		if (errno != EINVAL || *end == '\0')
			return errno = errno == EINVAL ? 0 : errno, NULL;
	}
}

/* Takes "." and ".." and doubled slashes out of a path whose links are known. */
static const char *normalise(struct arena *arena, const char *path)
{
	char *out = arena_alloc(arena, strlen(path) + 2);
	size_t len = 0;

	for (const char *at = path; *at != '\0';) {
		const char *end = strchrnul(at, '/');
		size_t part = (size_t)(end - at);

		if (part == 2 && at[0] == '.' && at[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
		} else if (part > 0 && !(part == 1 && at[0] == '.')) {
			out[len++] = '/';
			memcpy(out + len, at, part);
			len += part;
		}
		at = *end == '/' ? end + 1 : end;
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

static void fill_fact(const struct stat *st, struct path_fact *fact)
{
	fact->mode = st->st_mode;
	fact->device = st->st_dev;
	fact->device_number = st->st_rdev;
	fact->inode = st->st_ino;
	fact->uid = st->st_uid;
	fact->gid = st->st_gid;
}

/* Only what is written to needs it: can it be idmapped, can it be written at all. */
static void fill_file_system(struct path_fact *fact)
{
	struct statfs fs;

	if (statfs(fact->path, &fs) != 0) {
		fact->errnum = errno;
		return;
	}
	fact->fs_type = (uint32_t)fs.f_type;
	fact->read_only = (fs.f_flags & ST_RDONLY) != 0;
}

/* As mountinfo writes it, with octal numbers for blanks: enough for a message. */
static const char *find_mount_below(struct arena *arena, const char *folder)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	size_t size = 0, len = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
	char *line = NULL, point[PATH_MAX];
	const char *found = NULL;

	while (file != NULL && found == NULL && getline(&line, &size, file) > 0)
		if (sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1 &&
		    strncmp(point, folder, len) == 0 && point[len] == '/' && point[len + 1] != '\0')
			found = arena_strdup(arena, point);
	free(line);
	if (file != NULL)
		fclose(file);
	return found;
}

/* Where openat2(2) is refused, as inside another sandbox: folder by folder. */
static bool has_no_link(struct arena *arena, const char *path)
{
	struct stat st;

	for (const char *end = path; *end != '\0';) {
		end = strchrnul(end + 1, '/');
		if (lstat(arena_strndup(arena, path, (size_t)(end - path)), &st) != 0)
			return false;
		errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
		if (!S_ISDIR(st.st_mode))
			return false;
	}
	return true;
}

/* Folders without a link on the way to them: many paths share one, so it is asked about once. */
static bool is_plain_folder(struct arena *arena, struct host *host, const char *path)
{
	for (size_t i = 0; i < host->plain_count; i++)
		if (strcmp(host->plain[i], path) == 0)
			return true;
	int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC, RESOLVE_NO_SYMLINKS);
	if (fd < 0 && !(errno == ENOSYS && has_no_link(arena, path)))
		return false;
	if (fd >= 0)
		close(fd);
	*ARENA_PUSH(arena, host->plain, host->plain_count) = path;
	return true;
}

/* 1: there and no link on the way; 0: a link; -1: errno. What is found here is compared
 * again, by descriptor, when it is mounted. */
static int look(struct arena *arena, struct host *host, const char *path, struct stat *st)
{
	const char *slash = strrchr(path, '/');

	if (slash != path &&
	    !is_plain_folder(arena, host, arena_strndup(arena, path, (size_t)(slash - path))))
		return errno == ELOOP || errno == ENOTDIR ? 0 : -1;
	if (fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	return S_ISLNK(st->st_mode) ? 0 : 1;
}

/* "." and ".." come from the caller only (PATH, argv[0]), never from a profile: the kernel
 * knows what they mean. */
static const char *without_dots(struct arena *arena, const char *path)
{
	for (const char *at = path; (at = strstr(at, "/.")) != NULL; at++) {
		const char *end = at + 2 + (at[2] == '.');

		if (*end == '/' || *end == '\0') {
			const char *real = real_path(arena, path);

			return real != NULL ? real : path;
		}
	}
	return path;
}

/* The usual path has no link in it. Else links are expanded one by one. */
int host_resolve(struct arena *arena, struct host *host, const char *path,
		 struct path_fact *ret_fact)
{
	struct path_fact fact = {.path = without_dots(arena, path)};
	struct stat st;

	for (int links = 0; links <= LINKS_MAX; links++) {
		int found = look(arena, host, fact.path, &st);

		if (found > 0) {
			fill_fact(&st, &fact);
			*ret_fact = fact;
			return 0;
		}
		if (found < 0)
			break;
		const char *next = expand_first_link(arena, host, fact.path);
		if (next == NULL)
			break;
		fact.path = normalise(arena, next);
		errno = ELOOP;
	}
	fact.errnum = errno != 0 ? errno : ENOENT;
	*ret_fact = fact;
	return -1;
}

/* Most of them lie in the same folder: that is looked at once. */
static void note_absent(struct arena *arena, const struct path_rule *rule, struct host *host)
{
	const char *slash = strrchr(rule->path, '/');
	const char *folder = arena_strndup(arena, rule->path, (size_t)(slash - rule->path));
	size_t links = host->link_count;
	struct path_fact fact;

	if (folder[0] == '\0' || slash[1] == '\0')
		return;
	for (size_t i = host->absent_count; i-- > 0;) {
		const struct absent_fact known = host->absent[i];

		if (strncmp(known.rule->path, folder, strlen(folder)) != 0 ||
		    strchr(known.rule->path + strlen(folder) + 1, '/') != NULL ||
		    known.rule->path[strlen(folder)] != '/')
			continue;
		*ARENA_PUSH(arena, host->absent, host->absent_count) = (struct absent_fact){
			rule, known.folder, slash + 1, known.device, known.inode};
		return;
	}
	bool there = host_resolve(arena, host, folder, &fact) == 0 && S_ISDIR(fact.mode);
	host->link_count = links;
	if (there)
		*ARENA_PUSH(arena, host->absent, host->absent_count) =
			(struct absent_fact){rule, fact.path, slash + 1, fact.device, fact.inode};
}

static int probe_rule(struct arena *arena, const struct path_rule *rule, enum path_kind kind,
		      struct host *host, struct error *err)
{
	struct path_facts *facts = &host->paths[kind];
	struct path_fact fact;

	if (host_resolve(arena, host, rule->path, &fact) != 0) {
		if (!rule->optional)
			return error_at(err, rule->file != NULL ? rule->file : "default",
					rule->line,
					"[file] %s: %s: %s (write \"-%s\" if it may be absent)",
					path_kind_names[kind], rule->path, strerror(fact.errnum),
					rule->path);
		if (kind == PATH_PROTECT && fact.errnum == ENOENT)
			note_absent(arena, rule, host);
		return 0;
	}
	if (strcmp(fact.path, "/") == 0)
		return error_at(err, rule->file != NULL ? rule->file : "default", rule->line,
				"[file] %s: %s is " WHOLE_SYSTEM, path_kind_names[kind],
				rule->path);
	fact.rule = rule;
	if (kind == PATH_WRITE)
		fill_file_system(&fact);
	*ARENA_PUSH(arena, facts->items, facts->count) = fact;
	return 0;
}

/* Its files need no idmap. Who is not in /etc/passwd is an error later. */
static void find_user(struct arena *arena, const char *name, struct host *host)
{
	struct passwd_entry entry;
	char *end;
	unsigned long number = strtoul(name, &end, 10);

	host->user_uid = host->uid;
	host->user_gid = host->gid;
	if (!host->can_become || strcmp(name, "auto") == 0)
		return;
	bool numeric = *name != '\0' && *end == '\0' && number < UINT32_MAX;
	if (!(numeric ? passwd_by_uid(arena, (uid_t)number, &entry)
		      : passwd_by_name(arena, name, &entry)))
		entry = (struct passwd_entry){.uid = (uid_t)number, .gid = (gid_t)number};
	host->user_uid = entry.uid;
	host->user_gid = entry.gid;
}

int host_probe_paths(struct arena *arena, const struct profile *profile, struct host *host,
		     struct error *err)
{
	const struct path_facts *roots = &host->paths[PATH_WRITE];

	find_user(arena, profile->privilege.user, host);
	for (enum path_kind kind = 0; kind < PATH_KIND_MAX; kind++) {
		const struct path_list *list = profile_paths(profile, kind);

		for (size_t i = 0; i < list->count; i++)
			if (probe_rule(arena, &list->items[i], kind, host, err) != 0)
				return -1;
	}
	for (size_t i = 0; profile->file.writes == WRITES_DISCARD && i < roots->count; i++)
		roots->items[i].mount_below = find_mount_below(arena, roots->items[i].path);
	return 0;
}
