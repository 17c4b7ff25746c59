// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "host.h"
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

/* False for a symbolic link; then nothing is filled. */
static bool fill_fact(int fd, struct path_fact *fact)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		fact->errnum = errno;
		return true;
	}
	if (S_ISLNK(st.st_mode))
		return false;
	fact->mode = st.st_mode;
	fact->device = st.st_dev;
	fact->device_number = st.st_rdev;
	fact->inode = st.st_ino;
	fact->uid = st.st_uid;
	fact->gid = st.st_gid;
	return true;
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

/* The usual path has no link in it: one openat2 says so. Else links are expanded one by one. */
int host_resolve(struct arena *arena, struct host *host, const char *path,
		 struct path_fact *ret_fact)
{
	struct path_fact fact = {.path = path};

	for (int links = 0; links <= LINKS_MAX; links++) {
		int fd = sys_openat2(AT_FDCWD, fact.path, O_PATH | O_CLOEXEC | O_NOFOLLOW,
				     RESOLVE_NO_SYMLINKS);
		if (fd >= 0) {
			bool is_there = fill_fact(fd, &fact);

			close(fd);
			if (is_there) {
				*ret_fact = fact;
				return 0;
			}
		} else if (errno != ELOOP) {
			break;
		}
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
		return 0;
	}
	fact.rule = rule;
	if (kind == PATH_WRITE)
		fill_file_system(&fact);
	*ARENA_PUSH(arena, facts->items, facts->count) = fact;
	return 0;
}

int host_probe_paths(struct arena *arena, const struct profile *profile, struct host *host,
		     struct error *err)
{
	for (enum path_kind kind = 0; kind < PATH_KIND_MAX; kind++) {
		const struct path_list *list = profile_paths(profile, kind);

		for (size_t i = 0; i < list->count; i++)
			if (probe_rule(arena, &list->items[i], kind, host, err) != 0)
				return -1;
	}
	return 0;
}
